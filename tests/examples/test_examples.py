"""The scripts in ``examples/`` make tables that the command takes."""

import csv
import runpy
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from pairity.app.cli.commands import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def write(path, names, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([names, *rows])


@pytest.fixture
def votes(tmp_path):
    """A folder like that of the votes: longer answers win, equally long ones draw."""
    folder = tmp_path / "data"
    folder.mkdir()
    names = ["Small (7B)", "Middle 13B", "Large", "Larger (70B)"]
    types = ["chat", "chat", "code", "chat"]
    models = [[k, name, "somebody", types[k]] for k, name in enumerate(names)]
    write(folder / "models.csv", ["id", "name", "org", "type"], models)
    answers = [[k, k, 0, "word " * (k + 1), 1000.0 * k, 1] for k in range(4)]
    write(
        folder / "responses.csv", ["id", "model", "prompt", "result", "duration", "rate"], answers
    )
    pairs = [(a, b) for a in range(4) for b in range(4) if a < b] * 5 + [(3, 0), (2, 1)]
    rows = [
        [number, 0, a, b, 0, (0 if {a, b} == {0, 1} else 1 if a > b else -1)]
        for number, (a, b) in enumerate(pairs)
    ]
    write(folder / "comparisons.csv", ["id", "prompt", "model_x", "model_y", "worker", "y"], rows)
    return folder


def test_votes_between_language_models(votes, tmp_path, monkeypatch):
    script = runpy.run_path(str(EXAMPLES / "language_models.py"))
    script["main"](votes, tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    columns = ["--first", "left", "--second", "right", "--label", "better"]
    table = ["--objects", "models.csv", "--id", "model", "--impute", "median"]
    run("check", "votes.csv", *columns, *table)
    options = ["--symmetry", "antisymmetric", "--drop-label", "0", "--output", "m.pairity"]
    run("fit", "votes.csv", *columns, *table, *options)
    said = run("predict", "m.pairity", "new_votes.csv", "--output", "p.csv")
    assert "agree with it" in said
    run("rank", "m.pairity", "--output", "r.csv")
    with Path("r.csv").open(encoding="utf-8") as stream:
        assert next(csv.DictReader(stream))["id"] == "Larger (70B)"


def test_records_of_restaurants(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("records", "matches"):
        text = (files("pairity.datasets") / "data" / f"restaurants_{name}.csv").read_bytes()
        (folder / f"{name}.csv").write_bytes(text)
    script = runpy.run_path(str(EXAMPLES / "restaurants.py"))
    script["main"](folder, tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    columns = ["--first", "fodors", "--second", "zagats", "--label", "match", "--positive", "same"]
    options = [
        "--objects",
        "records.csv",
        "--symmetry",
        "symmetric",
        "--kernel",
        "derived(gaussian)",
    ]
    run("fit", "pairs.csv", *columns, *options, "--C", "10", "--output", "m.pairity")
    said = run("predict", "m.pairity", "new_pairs.csv", "--output", "p.csv")
    agreement = float(said.split("agree with it")[1].split()[0])
    assert agreement > 0.85
