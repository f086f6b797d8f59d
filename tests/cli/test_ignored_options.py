"""Options have an effect, or are refused with one sentence: nothing is left out in silence."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import tables_made  # noqa: E402
from tables_made import FIT_GAMES, FIT_RECORDS, run  # noqa: E402

from pairity.app.cli import rank_command, training_data  # noqa: E402
from pairity.io import read_table  # noqa: E402

FIT = " ".join(["fit games.csv", *FIT_GAMES, "--output new.pairity"])
CHECK = "check games.csv --first white --second black"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Games with times, judges and odds, records; models with and without times, a symmetric one."""
    folder = tmp_path_factory.mktemp("ignored")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        players = tables_made.make_players()
        players.to_csv("players.csv", index=False)
        games = tables_made.make_games(players)
        games["day"] = np.arange(len(games)) % 30
        games["judge"] = np.arange(len(games)) % 20
        games["odds"], games["price"] = 1.9, 1.0
        games.to_csv("games.csv", index=False)
        games[["white", "black"]].to_csv("undated.csv", index=False)
        names = [f"{name} {street}" for name in ("Ada", "Bob", "Cyd") for street in ("Elm", "Oak")]
        pd.DataFrame({"name": np.repeat(names, 2)}).to_csv("people.csv", index=False)
        tables_made.make_records().to_csv("records.csv", index=False)
        tables_made.make_matches().to_csv("matches.csv", index=False)
        logistic = ["fit", "games.csv", *FIT_GAMES, "--learner", "logistic"]
        drift = ["--time", "day", "--kernel", "identity * drift(10)"]
        run(*logistic, "--output", "m.pairity")
        run(*logistic, *drift, "--output", "t.pairity")
        records = ["--objects", "records.csv", "--kernel", "gaussian", "--output", "s.pairity"]
        run("fit", "matches.csv", *FIT_RECORDS, *records)
    return folder


@pytest.fixture
def tables(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


ODDS = "--odds 1=odds --odds -1=odds"
REFUSED = [
    ("rank m.pairity --pairs games.csv --at 3", "got --at for a model trained without --time"),
    ("suggest m.pairity games.csv --at 3", "got --at for a model trained without --time"),
    ("rank s.pairity --level 0.5", "got --level for a symmetric model; expected"),
    ("rank s.pairity --training matches.csv", "got --training for a symmetric model; expected"),
    ("rank s.pairity --by object", "got --by for a symmetric model; expected"),
    ("rank m.pairity --training games.csv", "got --training without --by COL; expected"),
    (
        "rank m.pairity --intervals --by object --training games.csv",
        "got --training without --by COL; expected",
    ),
    ("rank m.pairity --by object", "got --by object without --intervals, --effects or --judges"),
    ("rank m.pairity --level 0.5", "got --level without --intervals or --effects"),
    ("rank m.pairity --id name", "got --id name without a table of objects; expected"),
    ("predict m.pairity games.csv --id name", "got --id name without a table of objects; expected"),
    (f"predict m.pairity games.csv {ODDS} --every 3", "without --scores; expected both"),
    (f"predict m.pairity games.csv {ODDS} --time day", "without --scores; expected both"),
    (
        "predict m.pairity games.parquet --distributed --skip-unknown",
        "got --skip-unknown with --distributed; expected",
    ),
    (
        "predict m.pairity games.parquet --distributed --every 3",
        "got --every with --distributed; expected",
    ),
    ("match records.csv --first a", "got --first without --labels or --held-out; expected"),
    ("match records.csv --second b", "got --second without --labels or --held-out; expected"),
    ("match records.csv --label y", "got --label without --labels or --held-out; expected"),
    ("match records.csv --number 3", "got --number without --suggestions; expected"),
    ("match records.csv --kind phone=code", "got 'phone', which is no column of the records"),
    ("match records.csv --ignore phone", "got 'phone', which is no column of the records"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_an_option_that_would_do_nothing_is_refused(arguments, sentence, tables):
    before = sorted(tables.iterdir())
    told = run(*arguments.split(), "--output", "new.csv", code=2).stderr
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert sorted(tables.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--tune --tol 1e-9", "got --tol with --tune; expected --kernel beside them"),
        ("--id key", "got --id key without --objects; expected"),
        ("--skip-unknown", "got --skip-unknown without --objects; expected"),
        ("--encode", "got --encode without --objects or --symmetric-feature; expected"),
        ("--impute median", "got --impute without --objects or features of pairs; expected"),
        ("--tune --time day --groups judge", "got --groups judge with --time day; expected one"),
        ("--draw 1 --time day --groups judge", "got --groups judge with --time day; expected one"),
        ("--report -", "got --report - for a report; expected the name of a file"),
        ("--distributed --title T", "got --title with --distributed; expected none"),
        ("--distributed --name name", "got --name with --distributed; expected none"),
    ],
)
def test_an_option_of_fit_that_would_do_nothing_is_refused(options, sentence, tables):
    before = sorted(tables.iterdir())
    told = run(*FIT.split(), *options.split(), code=2).stderr
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert sorted(tables.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--feature x", "got --feature or --ignore without --objects"),
        ("--id key", "got --id key without --objects; expected"),
        ("--ids names", "got --ids names without features of pairs"),
        ("--time when", "got no column 'when' in games.csv"),
    ],
)
def test_check_looks_at_all_columns_without_labels_too(options, sentence, tables):
    assert sentence in run(*CHECK.split(), *options.split(), code=2).stderr


def test_pairs_of_a_table_are_compared_at_the_time_given(tables, tmp_path):
    """With --at times of the table do not matter, and it needs none."""
    out = tmp_path / "out.csv"
    found = {}
    for table, at in (("games", 3), ("games", 25), ("undated", 25)):
        asked = ["rank", "t.pairity", "--pairs", f"{table}.csv", "--at", at]
        run(*asked, "--output", out, "--force")
        found[table, at] = read_table(out).set_index("id")["score"].sort_index()
    assert not np.allclose(found["games", 3], found["games", 25])
    np.testing.assert_array_equal(found["games", 25], found["undated", 25])
    told = run("rank", "t.pairity", "--pairs", "undated.csv", "--output", out, "--force", code=2)
    assert "no column 'day' in undated.csv" in told.stderr


def test_a_pool_is_asked_about_at_the_time_given(tables, tmp_path):
    out, errors = tmp_path / "out.csv", []
    for at in (3, 300):
        run("suggest", "t.pairity", "undated.csv", "--at", at, "--output", out, "--force")
        errors.append(read_table(out)["error"].min())
    assert errors[1] > errors[0]  # far from all games less is known


def test_effects_alone_have_a_level(tables, tmp_path):
    model, out = tmp_path / "h.pairity", tmp_path / "out.csv"
    home = ["--learner", "logistic", "--antisymmetric-feature", "home", "--output", model]
    run("fit", "games.csv", *FIT_GAMES, *home)
    widths = []
    for level in (0.5, 0.95):
        effects = tmp_path / f"{level}.csv"
        made = ["--effects", effects, "--output", out, "--force"]
        run("rank", model, "--level", level, *made)
        table = read_table(effects)
        widths.append(table["upper"][0] - table["lower"][0])
    assert widths[1] > 1.5 * widths[0]


def test_matched_pairs_go_to_standard_output(tables, tmp_path):
    out = tmp_path / "matches.csv"
    run("match", "people.csv", "--output", out)
    result = run("match", "people.csv", "--output", "-", "--json")
    assert result.stdout == out.read_text()
    assert json.loads(result.stderr)["matches"] == len(read_table(out)) > 0


def test_tables_are_read_once(tables, tmp_path, monkeypatch):
    seen = []

    def read(path, *details):
        seen.append(path.name)
        return read_table(path, *details)

    for module in (rank_command, training_data):
        monkeypatch.setattr(module, "read_table", read)
    asked = ["suggest", "m.pairity", "games.csv", "--cost", "price"]
    run(*asked, "--output", tmp_path / "next.csv")
    assert seen == ["games.csv"]
    seen.clear()
    encoded = ["--objects", "players.csv", "--id", "name", "--encode"]
    run("fit", "games.csv", *FIT_GAMES, *encoded, "--output", tmp_path / "e.pairity")
    assert seen == ["games.csv", "players.csv"]
