"""rank --intervals, --effects and --by, and suggest: what they write is what the library says."""

import json

import numpy as np
import pytest
from scipy.special import expit

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

from tables_made import run  # noqa: E402

import pairity  # noqa: E402
from pairity.inspection import effects  # noqa: E402
from pairity.io import read_table, write_table  # noqa: E402

NAMES = np.array(["ada", "bob", "cyd", "dan", "eve"])
FIT = [
    "fit",
    "votes.csv",
    "--first",
    "left",
    "--second",
    "right",
    "--label",
    "won",
    "--symmetry",
    "antisymmetric",
    "--learner",
    "logistic",
    "--antisymmetric-feature",
    "longer",
    "--drop-label",
    "tie",
    "--positive",
    "left",
    "--output",
    "m.pairity",
]


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    first = random.integers(0, 5, 300)
    second = (first + random.integers(1, 5, 300)) % 5
    longer = random.normal(size=300).round(3)
    margin = 0.8 * (second - first) + 0.5 * longer
    label = np.where(random.random(300) < expit(margin), "left", "right")
    label[::10] = "tie"
    table = pd.DataFrame(
        {"left": NAMES[first], "right": NAMES[second], "won": label, "longer": longer}
    )
    write_table(table.assign(judge=random.integers(0, 9, 300)), tmp_path / "votes.csv")
    run(*FIT)
    return tmp_path


def test_a_leaderboard_with_style_control(votes):
    out = run(
        *[
            "rank",
            "m.pairity",
            "--intervals",
            "--training",
            "votes.csv",
            "--by",
            "judge",
            "--effects",
            "e.csv",
        ],
        *["--output", "r.csv", "--json"],
    )
    said = json.loads(out.stdout)
    assert said["meaning"] == "label left: the first object is ahead"
    assert said["best"][0] == "ada"
    assert 0.0 < said["leader is the best with probability"] <= 1.0
    table = read_table(votes / "r.csv")
    assert list(table["id"]) == sorted(NAMES)
    assert ((table["lower_all"] < table["lower"]) & (table["lower"] < table["score"])).all()
    assert ((table["best_rank"] <= table["rank"]) & (table["rank"] <= table["worst_rank"])).all()
    kept = read_table(votes / "votes.csv").query("won != 'tie'")
    model = pairity.load(votes / "m.pairity")
    expected = effects(model, clusters=kept["judge"], kinds=["antisymmetric"])
    found = read_table(votes / "e.csv")
    assert list(found["name"]) == ["longer"]
    np.testing.assert_allclose(found["error"], expected.errors, rtol=1e-9)
    assert found["lower"][0] < 0.5 < found["upper"][0]


@pytest.mark.parametrize("ties", [["--drop-label", "tie"], ["--draw", "tie"]])
def test_a_leaderboard_is_one_command(ties, votes):
    """fit --ranking writes what rank --intervals would."""
    command = [word for word in FIT if word not in ("--drop-label", "tie")] + ties
    tables = ["--by", "judge", "--level", "0.8", "--effects", "{0}e.csv", "--judges", "{0}j.csv"]
    one, two = ([word.format(name) for word in tables] for name in ("one_", "two_"))
    out = run(*command, "--ranking", "one_r.csv", *one, "--force", "--json")
    said = json.loads(out.stdout)
    assert said["best"][0] == "ada"
    assert said["ranking"] == "one_r.csv"
    again = ["rank", "m.pairity", "--intervals", "--training", "votes.csv", *two]
    run(*again, "--output", "two_r.csv")
    for name in ("r.csv", "e.csv", "j.csv"):
        assert (votes / f"one_{name}").read_bytes() == (votes / f"two_{name}").read_bytes()


def test_judges_have_a_table_of_their_own(votes):
    command = "rank m.pairity --training votes.csv --by judge --effects e.csv --judges j.csv"
    run(*command.split(), "--output", "r.csv")
    table = read_table(votes / "j.csv")
    assert len(table) == 9
    assert table["votes"].sum() == 270
    assert list(read_table(votes / "e.csv")["name"]) == ["longer"]
    out = run(*["rank", "m.pairity", "--judges", "k.csv", "--output", "s.csv"], code=2)
    assert "got --judges without --by COL" in out.stderr


def test_draws_have_intervals_too(votes):
    drawn = [word for word in FIT if word not in ("--drop-label",)]
    drawn[drawn.index("tie")] = "--draw=tie"
    run(*drawn, "--force")
    run("rank", "m.pairity", "--intervals", "--level", "0.8", "--output", "r.csv")
    run(
        *[
            "rank",
            "m.pairity",
            "--intervals",
            "--by",
            "judge",
            "--training",
            "votes.csv",
            "--output",
            "s.csv",
        ]
    )
    assert (read_table(votes / "r.csv")["error"] > 0).all()


@pytest.mark.parametrize(
    "command",
    ["rank m.pairity", "suggest m.pairity", "predict m.pairity votes.csv", "inspect m.pairity"],
)
def test_every_summary_says_who_is_ahead(command, votes):
    output = [] if command.startswith("inspect") else ["--output", "out.csv"]
    out = run(*command.split(), *output, "--json")
    assert json.loads(out.stdout)["meaning"] == "label left: the first object is ahead"


def test_what_to_ask_next(votes):
    run("suggest", "m.pairity", "--number", "4", "--output", "next.csv")
    found = read_table(votes / "next.csv")
    assert list(found) == ["left", "right", "gain", "decision", "error"]
    assert len(found) == 4
    assert set(found["left"]) <= set(NAMES)
    pool = pd.DataFrame({"left": ["ada", "ada"], "right": ["bob", "eve"], "longer": [0.0, 0.0]})
    write_table(pool.assign(price=[1.0, 1e6]), votes / "pool.csv")
    run(
        *[
            "suggest",
            "m.pairity",
            "pool.csv",
            "--cost",
            "price",
            "--output",
            "one.csv",
            "--number",
            "1",
        ]
    )
    assert read_table(votes / "one.csv")["right"].tolist() == ["bob"]
    run(*["suggest", "m.pairity", "pool.csv", "--asked", "pool.csv", "--output", "none.csv"])
    assert (votes / "none.csv").read_text().splitlines() == ["left,right,gain,decision,error"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("rank m.pairity --by judge --intervals --output r.csv", "without --training"),
        ("rank m.pairity --level 0.5 --output r.csv", "got --level without --intervals"),
        (
            "rank m.pairity --intervals --level 5 --output r.csv",
            "expected a number between 0 and 1",
        ),
        (" ".join([*FIT, "--force --by judge"]), "got --by without --ranking"),
        (" ".join([*FIT, "--force --ranking r.csv --learner svc"]), "expected logistic or ridge"),
        (" ".join([*FIT, "--force --ranking r.csv --time longer"]), "expected pairity rank after"),
        ("suggest m.pairity --top 3 --output r.csv", "expected --strategy top"),
        ("suggest m.pairity --cost price --output r.csv", "got --cost without POOL"),
    ],
)
def test_refusals(arguments, sentence, votes):
    assert sentence in run(*arguments.split(), code=2).stderr


def test_another_table_is_not_the_training_table(votes):
    write_table(read_table(votes / "votes.csv").head(20), votes / "few.csv")
    command = "rank m.pairity --intervals --training few.csv --by judge --output r.csv"
    assert "expected the 270 that the model was trained on" in run(*command.split(), code=2).stderr
    command = [word for word in FIT if word not in ("--learner", "logistic")]
    run(*command, "--force")
    out = run(*["rank", "m.pairity", "--intervals", "--output", "r.csv"], code=2)
    assert "PairSVC, which has no posterior" in out.stderr


@pytest.mark.parametrize(
    ("labels", "told"),
    [((1, 2), False), ((0, 1), True), ((-1, 1), True), ((False, True), True), ((3, 7), False)],
)
def test_numbers_that_do_not_tell_who_is_ahead(labels, told, votes):
    table = read_table(votes / "votes.csv").query("won != 'tie'")
    table["won"] = np.where(table["won"] == "left", labels[1], labels[0])
    write_table(table, votes / "numbers.csv")
    command = [word for word in FIT if word not in ("--drop-label", "tie", "--positive", "left")]
    command.insert(command.index("--first") + 1, "left")
    command[1] = "numbers.csv"
    out = run(*command, "--force", code=0 if told else 2)
    if told:
        assert f"label {labels[1]}: the first object is ahead".lower() in out.stdout.lower()
        return
    assert "pass --positive LABEL" in out.stderr
    out = run(*command, "--force", "--positive", labels[0])
    assert f"label {labels[0]}: the first object is ahead" in out.stdout
    assert f"label {labels[0]}: the first object is ahead" in run("inspect", "m.pairity").stdout
    other = [word if word != "antisymmetric" else "none" for word in command]
    run(*other, "--force")
