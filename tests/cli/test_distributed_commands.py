"""fit and predict with --distributed: the same as in one process, and the same care for bad input."""

import json
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow comes with the command line extra")
dask = pytest.importorskip("distributed", reason="it comes with the extra pairity[distributed]")

import tables_made  # noqa: E402
from tables_made import FIT_GAMES, FIT_RECORDS, run  # noqa: E402

from fresh import Fresh  # noqa: E402
from pairity.app.cli.workers import ParquetPairs  # noqa: E402
from pairity.distributed.predictions import label_column  # noqa: E402
from pairity.io import (  # noqa: E402
    Columns,
    Objects,
    read_model_file,
    read_table,
    write_table,
)

WITH_PLAYERS = [*FIT_GAMES, "--objects", "players.csv", "--id", "name"]
CLOSE = ["--learner", "logistic", "--tol", "1e-6"]


@pytest.fixture(scope="module")
def address():
    """A scheduler with two workers, which are threads here; told everything through sockets."""
    with dask.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Games in one CSV file and in a folder of Parquet files; records whose ids are numbers."""
    monkeypatch.chdir(tmp_path)
    players = tables_made.make_players()
    games = tables_made.make_games(players)
    write_table(players, tmp_path / "players.csv")
    write_table(games, tmp_path / "games.csv")
    in_parts(games, tmp_path / "games")
    matches = tables_made.make_matches()
    write_table(tables_made.make_records(), tmp_path / "records.csv")
    write_table(matches, tmp_path / "matches.parquet")
    in_parts(matches, tmp_path / "matches")
    return tmp_path


def in_parts(table, folder):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        part = table.iloc[rows]
        part.to_parquet(folder / f"{number}.parquet", row_group_size=20, index=False)


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def predictions(folder):
    return pd.concat([read_table(path) for path in sorted(folder.iterdir())], ignore_index=True)


def assert_alike(found, expected, within=2e-3):
    """Workers write ids and results; one process keeps the other columns of the pairs too."""
    assert list(found.columns) == [name for name in expected.columns if name in found.columns]
    for name in found.columns:
        if found[name].dtype.kind == "f":
            assert np.allclose(found[name], expected[name], atol=within), name
        else:
            assert found[name].tolist() == expected[name].tolist(), name


# The same as in one process ---------------------------------------------------------------------


def test_games_as_in_one_process(place, address):
    there = ["--distributed", address]
    kernel = ["--kernel", "nystroem('gaussian', 256)", *CLOSE]
    run("fit", "games.csv", *WITH_PLAYERS, *kernel, "--output", "one.pairity")
    said = run(
        *("fit", "games/0.parquet", "games/1.parquet", "games/2.parquet", *WITH_PLAYERS, *CLOSE),
        *(*there, "--output", "two.pairity", "--json"),
    )
    assert said.stderr == ""
    content = json.loads(said.stdout)
    assert (content["pairs"], content["objects"], content["workers"]) == (90, 12, 2)
    assert content["parts"] >= 1
    assert content["certificate"]["holds"] is True
    assert content["Nystroem error"]["mean"] < 1e-6
    assert sum(content["label counts"].values()) == 90

    for name in ("one", "two"):
        run("predict", f"{name}.pairity", "games.csv", "--output", f"{name}.csv")
        run("rank", f"{name}.pairity", "--output", f"{name}-ranking.csv")
    assert_alike(read_table(place / "two.csv"), read_table(place / "one.csv"))
    rankings = (read_table(place / f"{name}-ranking.csv")["id"] for name in ("one", "two"))
    assert [next(iter(ids)) for ids in rankings].count("player 6") == 2
    inspected = json.loads(run("inspect", "two.pairity", "--json").stdout)
    assert inspected["training"]["files of pairs"] == 3
    assert read_model_file("two.pairity").model.verbose is False

    run("predict", "two.pairity", "games", *there, "--output", "out")
    assert_alike(predictions(place / "out"), read_table(place / "two.csv"), within=1e-12)
    assert not [path.name for path in place.iterdir() if path.name.startswith(".")]
    refused = run("predict", "two.pairity", "games", *there, "--output", "out", code=2)
    assert "out is there already" in refused.stderr
    new = read_table(place / "players.csv").assign(strength=0.0)
    write_table(new, place / "new.parquet")
    options = ["--objects", "new.parquet", "--id", "name", "--output", "out", "--force", "--json"]
    content = json.loads(run("predict", "two.pairity", "games", *there, *options).stdout)
    assert (content["pairs"], content["files"]) == (90, 1)
    (place / "out" / "mine.txt").write_text("precious")
    refused = run("predict", "two.pairity", "games", *there, *options, code=2)
    assert "which holds mine.txt" in refused.stderr


def test_names_of_labels_and_ids_of_another_type(place, address):
    """Ids are numbers in the Parquet files and texts in the table of records."""
    options = [argument if argument != "same" else "other" for argument in FIT_RECORDS]
    options += [*CLOSE, "--objects", "records.csv", "--kernel", "nystroem('gaussian', 64)"]
    run("fit", "matches.parquet", *options, "--output", "one.pairity")
    run("fit", "matches", *options, "--distributed", address, "--output", "two.pairity")
    for name in ("one", "two"):
        run("predict", f"{name}.pairity", "matches.parquet", "--output", f"{name}.parquet")
    one, two = (read_table(place / f"{name}.parquet") for name in ("one", "two"))
    assert_alike(two, one)
    assert set(two["label"]) == {"same", "other"}
    run("predict", "one.pairity", "matches/*", "--distributed", address, "--output", "out")
    found = predictions(place / "out")
    assert_alike(found, one, within=1e-12)
    assert found["one"].dtype == np.int64


def test_ids_alone_are_bradley_terry(place, address):
    run("fit", "games.csv", *FIT_GAMES, *CLOSE, "--output", "one.pairity")
    (place / "two.toml").write_text(f'distributed = "{address}"\npairs = ["games"]\n')
    run("fit", "--config", "two.toml", *FIT_GAMES, *CLOSE, "--output", "two.pairity")
    for name in ("one", "two"):
        run("predict", f"{name}.pairity", "games.csv", "--output", f"{name}.csv")
    assert_alike(read_table(place / "two.csv"), read_table(place / "one.csv"))
    run("predict", "two.pairity", "games", "--distributed", address, "--output", "out")
    assert_alike(predictions(place / "out"), read_table(place / "two.csv"), within=1e-12)


def test_numbers_and_features_of_pairs(place, address):
    options = [argument if argument != "result" else "margin" for argument in WITH_PLAYERS]
    options += ["--antisymmetric-feature", "home", "--learner", "ridge", "--alpha", "0.1"]
    run("fit", "games", *options, "--distributed", address, "--output", "m.pairity")
    run("predict", "m.pairity", "games", "--distributed", address, "--output", "out")
    found = predictions(place / "out")
    assert list(found.columns) == ["white", "black", "value"]
    assert np.abs(found["value"] - read_table(place / "games.csv")["margin"]).mean() < 0.2


def test_ids_as_they_stand_in_a_file(tmp_path):
    """Texts of ids become the type of the column, where they are texts of that type."""
    path = tmp_path / "pairs.parquet"
    columns = Columns("a", "b")
    for column, texts, expected in (
        ([7, 8], ["7", "007", "x", "-3"], [7, "007", "x", -3]),
        (["7", "8"], ["7", "007"], ["7", "007"]),
        (pd.Categorical(["7", "8"]), ["7", "x"], ["7", "x"]),
        ([0.5, 7.0], ["0.5", "7", "1e", "inf"], [0.5, 7.0, "1e", "inf"]),
        ([True, False], ["True"], ["True"]),
    ):
        pd.DataFrame({"a": column, "b": column}).to_parquet(path)
        ids = np.array(texts, dtype=object)
        found = ParquetPairs([path], columns).ids_as_here(Objects(ids, ids, None, "objects"))
        assert [(type(value), value) for value in found] == [(type(x), x) for x in expected]


@pytest.mark.parametrize(
    ("labels", "classes", "names", "expected"),
    [
        ([-1, 1, 0], [-1, 1], None, [-1, 1, 0]),
        ([0.0, 1.0, 0.5], [0, 1], None, [0, 1, None]),
        ([0.0, 1.0, 0.5], [False, True], None, [False, True, None]),
        (["no", "yes", "tie"], ["no", "yes"], None, ["no", "yes", "tie"]),
        ([-1, 1, 0], [-1, 1], ["no", "yes"], ["no", "yes", "tie"]),
        ([-1, 1, 0], [-1, 1], [1, 0], [1, 0, None]),
        ([-1, 1, 0], [-1, 0, 1], ["lost", "drawn", "won"], ["lost", "won", "drawn"]),
    ],
)
def test_labels_are_of_one_type_with_and_without_ties(labels, classes, names, expected):
    classes = np.array(classes)
    found = label_column(np.array(labels), classes, names)
    assert found.to_pylist() == expected
    assert found.type == label_column(np.array(labels)[:2], classes, names).type


# Checkpoints ------------------------------------------------------------------------------------


def test_checkpoints(place, address):
    fit = ["fit", "games", *WITH_PLAYERS, "--kernel", "linear", "--learner", "logistic"]
    fit += ["--distributed", address, "--checkpoint", "c", "--output"]
    content = json.loads(run(*fit, "one.pairity", "--checkpoint-every", "1", "--json").stdout)
    assert content["steps"] >= 1
    refused = run(*fit, "two.pairity", code=2)
    assert "c is there already; choose another name, --resume" in refused.stderr
    again = json.loads(run(*fit, "two.pairity", "--resume", "--json").stdout)
    assert again["objective"] == pytest.approx(content["objective"], rel=1e-3)
    before = files_in(place)
    for other in (["--C", "7"], ["--positive", "-1"]):
        refused = run(*fit, "three.pairity", "--resume", *other, code=2)
        assert "checkpoint c of another problem" in refused.stderr
    (place / "c").write_text("something else")
    refused = run(*fit, "three.pairity", "--resume", code=2)
    assert "got c, which is no checkpoint" in refused.stderr
    assert files_in(place) == before


# Bad input --------------------------------------------------------------------------------------

FIT = f"fit games {' '.join(FIT_GAMES)} --output new.pairity --distributed ADDRESS"
TABLE = f"{FIT} --objects players.csv --id name"
PREDICT = "predict old.pairity games --output new --distributed ADDRESS"

BAD = [
    # at once, without workers
    (
        FIT.replace("fit games", "fit games.csv"),
        "games.csv with --distributed; expected Parquet",
    ),
    (FIT.replace("fit games", "fit nowhere"), "nowhere, which is no file"),
    (FIT.replace("fit games", "fit none*"), r"got none\*, which holds no file"),
    (FIT.replace("fit games", "fit games cut.parquet"), "cut.parquet, which is no whole"),
    (FIT.replace("fit games", "fit games matches"), "no column 'white' in .*matches/0.parquet"),
    (FIT.replace("--label result", "--label won"), "no column 'won' in .*games/0.parquet"),
    (f"{FIT} --symmetric-feature far", "no column 'far' in .*games/0.parquet"),
    (f"{FIT} --tune", "got --tune with --distributed"),
    (f"{FIT} --probabilities", "got --probabilities with --distributed; expected --learner log"),
    (f"{FIT} --report r.html", "got --report with --distributed"),
    (f"{FIT} --draw 0", "got --draw with --distributed"),
    (f"{FIT} --drop-label 0", "got --drop-label with --distributed"),
    (f"{FIT} --impute median", "got --impute with --distributed"),
    (FIT.replace("antisymmetric", "none"), "got --symmetry none with --distributed"),
    (f"{TABLE} --kernel gaussian(2)", r"got --kernel gaussian\(2\) with .*nystroem"),
    (f"{FIT} --alpha 1", "got --alpha for --learner svc"),
    (f"{TABLE} --objects holes.csv", r"got missing numbers in holes.csv: column 'age' \(1\)"),
    (f"{FIT} --resume", "got --resume without --checkpoint"),
    (f"{FIT} --checkpoint-every 3", "got --checkpoint-every without --checkpoint"),
    (f"{FIT} --checkpoint-every 0 --checkpoint c", "Invalid value for '--checkpoint-every'"),
    (f"{FIT} --resume --checkpoint c", "got --resume, but there is no c"),
    (f"{FIT} --checkpoint nowhere/c", "there is no directory"),
    (f"{FIT} --checkpoint players.csv --objects players.csv --force", "as checkpoint and as"),
    (f"{FIT} --checkpoint players.csv", "players.csv is there already"),
    (FIT.replace("ADDRESS", "somewhere"), "got --distributed somewhere; expected the address"),
    (FIT.replace("fit games", "fit").replace("ADDRESS", "games"), "Missing argument"),
    (FIT.replace("ADDRESS", "games/0.parquet"), "write the files before --distributed"),
    (FIT.replace("ADDRESS", "tcp://127.0.0.1:9"), r"got no scheduler at tcp://127.0.0.1:9"),
    (FIT.replace("new.pairity", "old.pairity"), "old.pairity is there already"),
    (PREDICT.replace("games", "games.csv"), "games.csv with --distributed"),
    (PREDICT.replace("games", "matches"), "no column 'white' in .*matches/0.parquet"),
    (PREDICT.replace("new", "games"), "got games as input and as output"),
    (PREDICT.replace("new", "matches"), "matches is there already"),
    (f"{PREDICT.replace('new', 'games.csv')} --force", "got games.csv, which is no folder"),
    (PREDICT.replace("new", "nowhere/new"), "there is no directory"),
    (PREDICT.replace("old.pairity", "games.csv"), "does not begin like a model file"),
    # by the workers
    (
        FIT.replace("fit games", "fit games torn.parquet"),
        "torn.parquet, row group 0, which cannot",
    ),
    (TABLE.replace("players", "few"), r"got the id 'player 11' .*games/\d.parquet, row group \d"),
    (
        FIT.replace("fit games", "fit games self.parquet"),
        r"row 1 of .*self.parquet, row group 0 that",
    ),
    (FIT.replace("fit games", "fit games three.parquet"), "got 3 labels in column 'result'"),
    (FIT.replace("fit games", "fit games nolabel.parquet"), "got no value of 'result' in row 0"),
    (
        FIT.replace("fit games", "fit mixed.parquet numbers.parquet"),
        "got the id '7' as values of 2 types",
    ),
    (f"{FIT} --positive 7", "got --positive 7, which no row"),
    (f"{TABLE} --kernel tensor(linear)", "antisymmetric"),
    (PREDICT.replace("games", "games new.parquet"), r"got the id 'zoe' .*new.parquet, row group 0"),
]


@pytest.fixture(scope="module")
def bad(tmp_path_factory, address):
    """Tables with something wrong, and a model."""
    place = tmp_path_factory.mktemp("bad")
    players = tables_made.make_players()
    games = tables_made.make_games(players)
    write_table(players, place / "players.csv")
    write_table(players.assign(age=[None, *players["age"][1:]]), place / "holes.csv")
    write_table(players[:11], place / "few.csv")
    write_table(games, place / "games.csv")
    in_parts(games, place / "games")
    in_parts(tables_made.make_matches(), place / "matches")
    sound = (place / "games" / "0.parquet").read_bytes()
    (place / "cut.parquet").write_bytes(sound[:-9])
    start = pq.read_metadata(place / "games" / "0.parquet").row_group(0).column(0).data_page_offset
    (place / "torn.parquet").write_bytes(sound[:start] + bytes(40) + sound[start + 40 :])
    some = games[:4]
    names = some["white"].tolist()
    for name, change in {
        "self": {"white": [names[0], some["black"].iloc[1], *names[2:]]},
        "three": {"result": [0, 1, 1, -1]},
        "nolabel": {"result": [None, 1, 1, -1]},
        "mixed": {"white": ["7", *names[1:]]},
        "new": {"white": ["zoe", *names[1:]]},
    }.items():
        some.assign(**change).to_parquet(place / f"{name}.parquet", index=False)
    numbers = some[:2].assign(white=[7, 8], black=[8, 7])
    numbers.to_parquet(place / "numbers.parquet", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        run("fit", "games.csv", *FIT_GAMES, "--output", "old.pairity")
    return place


@pytest.mark.parametrize(("arguments", "pattern"), BAD, ids=[case[0] for case in BAD])
def test_bad_input(arguments, pattern, bad, address, monkeypatch):
    monkeypatch.chdir(bad)
    monkeypatch.setattr("pairity.app.cli.workers._PATIENCE", 2)
    before = files_in(bad)
    given = arguments.replace("ADDRESS", address).split()
    result = run(*given, code=2)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert re.search(pattern, result.stderr), result.stderr
    assert files_in(bad) == before


# Without an address -----------------------------------------------------------------------------


def test_workers_of_this_machine(place, tmp_path_factory):
    """In a process of its own: nothing on standard error, and nothing left behind."""
    code = (
        "import sys; from pairity.app.cli import run; sys.argv[0] = 'pairity';"
        "from pairity.runtime.resources import set_thread_count;"
        "set_thread_count(1); run()"  # as many workers
    )
    options = ["games/*.parquet", *FIT_GAMES, "--learner", "ridge", "--distributed"]
    before = files_in(place)
    words = "fit", *options, "--output", "m.pairity", "--json"
    done = Fresh(code, *words, folder=place, notes=tmp_path_factory.mktemp("notes"))
    assert (done.ended(), done.stderr) == (0, "")
    assert json.loads(done.stdout)["certificate"]["holds"] is True
    assert files_in(place) == before | {"m.pairity"}
