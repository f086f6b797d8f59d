"""``pairity fit --report``: from tables to a page."""

import numpy as np
from click.testing import CliRunner

from pairity.app.cli.commands import main


def test_fit_writes_a_page_with_the_names_of_the_tables(tmp_path):
    generator = np.random.default_rng(0)
    names = [f"player {letter}" for letter in "ABCDEFGHIJ"]
    strength = np.arange(10.0)
    lines = ["one,two,result,home"]
    for _ in range(150):
        a, b = generator.choice(10, size=2, replace=False)
        won = strength[a] - strength[b] + generator.normal() > 0
        lines.append(f"{names[a]},{names[b]},{'win' if won else 'loss'},1")
    (tmp_path / "games.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    page = tmp_path / "page.html"
    arguments = [
        "fit", tmp_path / "games.csv", "--first", "one", "--second", "two", "--label", "result",
        "--positive", "win", "--antisymmetric-feature", "home", "--symmetry", "antisymmetric",
        "--learner", "logistic", "--output", tmp_path / "model.pairity", "--report", page,
        "--title", "A season of <ours>",
    ]  # fmt: skip
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "<h1>A season of &lt;ours&gt;</h1>" in text
    for expected in ("player J", "win: ", "home", "which object it is", "neutral ground"):
        assert expected in text, expected
