"""fit, predict, rank, inspect and check: what they write is what the library says."""

import json
import re
import shlex
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import click
import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import tables_made  # noqa: E402
from tables_made import FIT_GAMES, FIT_RECORDS, run  # noqa: E402

import pairity  # noqa: E402
from pairity import Pairs, PairSVC  # noqa: E402
from pairity.app.cli.commands import main  # noqa: E402
from pairity.app.cli.options import read_config  # noqa: E402
from pairity.inspection import group_objects, rank_objects  # noqa: E402
from pairity.io import (  # noqa: E402
    read_model_file,
    read_table,
    write_table,
)
from pairity.kernels import Gaussian, Linear  # noqa: E402


@pytest.fixture
def games(tmp_path, monkeypatch):
    """games.csv and players.csv in the working directory."""
    monkeypatch.chdir(tmp_path)
    players = tables_made.make_players()
    write_table(players, tmp_path / "players.csv")
    write_table(tables_made.make_games(players), tmp_path / "games.csv")
    return tmp_path


@pytest.fixture
def records(tmp_path, monkeypatch):
    """pairs.parquet and records.parquet, whose ids are whole numbers."""
    monkeypatch.chdir(tmp_path)
    write_table(tables_made.make_records(), tmp_path / "records.parquet")
    write_table(tables_made.make_matches(), tmp_path / "pairs.parquet")
    return tmp_path


WITH_PLAYERS = [*FIT_GAMES, "--objects", "players.csv", "--id", "name"]
WITH_RECORDS = [*FIT_RECORDS, "--objects", "records.parquet"]


def test_games_from_beginning_to_end(games):
    options = ["--antisymmetric-feature", "home", "--kernel", "gaussian(1.5) + linear", "--C", 2]
    run("fit", "games.csv", *WITH_PLAYERS, *options, "--output", "m.pairity")
    run("predict", "m.pairity", "games.csv", "--output", "out.csv")
    run("rank", "m.pairity", "--output", "ranking.csv")

    frame, players = read_table(games / "games.csv"), read_table(games / "players.csv")
    pairs = Pairs.from_frame(
        frame,
        first="white",
        second="black",
        objects=players,
        id="name",
        antisymmetric=["home"],
    )
    model = PairSVC("antisymmetric", kernel=Gaussian(1.5) + Linear(), C=2.0).fit(
        pairs, frame["result"]
    )
    out = read_table(games / "out.csv")
    assert list(out.columns) == [*frame.columns, "decision", "label"]
    assert out["white"].tolist() == frame["white"].tolist()
    assert (out["decision"] == model.decision_function(pairs)).all()
    assert (out["label"] == model.predict(pairs)).all()
    flat = np.zeros((66, 1))
    everyone = Pairs.complete(pairs.objects, antisymmetric=flat, ids=players["name"].to_numpy())
    expected = rank_objects(model, everyone).to_frame()
    found = read_table(games / "ranking.csv")
    assert found["id"].tolist() == expected["id"].tolist()
    assert (found["score"] == expected["score"]).all()


def test_records_from_beginning_to_end(records):
    run(
        "fit",
        "pairs.parquet",
        *WITH_RECORDS,
        "--kernel",
        "metric_learning",
        "--output",
        "m.pairity",
    )
    run("predict", "m.pairity", "pairs.parquet", "--output", "out.parquet")
    run("rank", "m.pairity", "--method", "components", "--output", "groups.parquet")
    out = read_table(records / "out.parquet")
    assert out["one"].dtype == np.int64
    assert set(out["label"]) == {"same", "other"}
    assert ((out["decision"] > 0) == (out["label"] == "same")).all()

    model = pairity.load(records / "m.pairity")
    table = read_table(records / "records.parquet")
    expected = group_objects(model, table[["x", "y"]].to_numpy(), method="components")
    groups = read_table(records / "groups.parquet").set_index("id")["group"]
    assert groups.loc[table["id"]].tolist() == expected.labels.tolist()
    assert groups.dtype.kind == "i"


def test_ids_alone_are_bradley_terry(games):
    run("fit", "games.csv", *FIT_GAMES, "--learner", "logistic", "--output", "m.pairity")
    run("predict", "m.pairity", "games.csv", "--output", "out.csv")
    out = read_table(games / "out.csv")
    assert repr(pairity.load("m.pairity").kernel) == "'linear'"
    chances = out[["probability -1", "probability 1"]].to_numpy()
    assert (chances.sum(axis=1) == 1.0).all()
    run("rank", "m.pairity", "--output", "ranking.csv", "--method", "wins")
    players = read_table(games / "players.csv").set_index("name")["strength"]
    order = read_table(games / "ranking.csv")["id"]
    assert np.corrcoef(players.loc[order], -np.arange(len(order)))[0, 1] > 0.8


@pytest.mark.parametrize("learner", ["svr", "ridge"])
def test_numbers_to_predict(learner, games):
    options = [argument if argument != "result" else "margin" for argument in WITH_PLAYERS]
    run(
        "fit",
        "games.csv",
        *options,
        "--learner",
        learner,
        "--kernel",
        "linear",
        "--output",
        "m.pairity",
    )
    said = run("predict", "m.pairity", "games.csv", "--output", "out.csv", "--json").stdout
    frame, out = read_table(games / "games.csv"), read_table(games / "out.csv")
    assert list(out.columns) == [*frame.columns, "value"]
    error = np.abs(out["value"] - frame["margin"]).mean()
    assert json.loads(said)["mean absolute error"] == pytest.approx(error)
    assert error < 0.3


@pytest.mark.parametrize(
    ("labels", "tie"), [((-1, 1), "0"), ((0, 1), ""), (("lost", "won"), "tie")], ids=str
)
def test_a_tie_is_written_as_with_workers(labels, tie, tmp_path, monkeypatch):
    """The middle of two numbers where it is a number of their type, "tie" between texts."""
    monkeypatch.chdir(tmp_path)
    games = pd.DataFrame({"white": list("abca"), "black": list("bcdc")})
    games["result"] = [labels[1], labels[0], labels[1], labels[0]]
    games.to_csv("games.csv", index=False)
    positive = ["--positive", "won"] if "won" in labels else []
    run("fit", "games.csv", *FIT_GAMES, *positive, "--output", "m.pairity")
    pd.DataFrame({"white": list("aab"), "black": list("aba")}).to_csv("asked.csv", index=False)
    run("predict", "m.pairity", "asked.csv", "--output", "out.csv")
    said = pd.read_csv("out.csv", dtype=str, keep_default_na=False)["label"].tolist()
    assert said[0] == tie
    assert sorted(said[1:]) == sorted(map(str, labels))


def test_probabilities_and_draws(games):
    frame = read_table(games / "games.csv")
    frame["outcome"] = np.where(frame["margin"].abs() < 0.3, "drawn", "lost")
    frame.loc[frame["margin"] >= 0.3, "outcome"] = "won"
    write_table(frame, games / "games.csv")
    run("fit", "games.csv", *WITH_PLAYERS, "--probabilities", "--output", "two.pairity")
    run("predict", "two.pairity", "games.csv", "--output", "two.csv")
    assert list(read_table(games / "two.csv").columns)[-2:] == ["probability -1", "probability 1"]
    three = [argument if argument != "result" else "outcome" for argument in WITH_PLAYERS]
    three += ["--positive", "won", "--draw", "drawn"]
    run("fit", "games.csv", *three, "--output", "three.pairity")
    run("predict", "three.pairity", "games.csv", "--output", "three.csv")
    out = read_table(games / "three.csv")
    names = ["probability lost", "probability drawn", "probability won"]
    assert (out[names].to_numpy().sum(axis=1) == 1.0).all()
    assert (out["label"] == frame["outcome"]).mean() > 0.6


def test_tuned(games):
    options = [*WITH_PLAYERS, "--tune", "--kernel", "linear", "--output", "m.pairity", "--json"]
    content = json.loads(run("fit", "games.csv", *options).stdout)
    assert content["estimator"] == "PairSVCCV of PairSVC"
    assert 0.5 < content["held-out scores"]["accuracy"] <= 1.0
    run("predict", "m.pairity", "games.csv", "--output", "out.csv")
    assert "probability 1" in read_table(games / "out.csv").columns
    assert run("inspect", "m.pairity").stdout.count("held-out scores") == 1


def test_new_objects(games):
    run("fit", "games.csv", *WITH_PLAYERS, "--output", "m.pairity")
    new = tables_made.make_players(seed=9)
    new["name"] = [f"new {number}" for number in range(len(new))]
    table = new.rename(columns={"name": "who"})[["age", "who", "strength"]]  # in another order
    write_table(table, games / "new.parquet")
    write_table(
        pd.DataFrame({"p": new["name"][:6], "q": new["name"][6:].to_list()}), games / "q.csv"
    )
    names = ["--objects", "new.parquet", "--id", "who", "--first", "p", "--second", "q"]
    run("predict", "m.pairity", "q.csv", *names, "--output", "out.csv")
    objects = new[["strength", "age"]].to_numpy(dtype=float)
    pairs = Pairs(objects, first=range(6), second=range(6, 12))
    model = pairity.load("m.pairity")
    assert (read_table(games / "out.csv")["decision"] == model.decision_function(pairs)).all()
    run("rank", "m.pairity", "new.parquet", "--id", "who", "--output", "ranking.csv")
    assert set(read_table(games / "ranking.csv")["id"]) == set(new["name"])


def test_tables_of_either_kind_give_the_same_model(games):
    for name in ("games", "players"):
        write_table(read_table(games / f"{name}.csv"), games / f"{name}.parquet")
    parquet = [argument.replace(".csv", ".parquet") for argument in WITH_PLAYERS]
    run("fit", "games.csv", *WITH_PLAYERS, "--output", "one.pairity")
    run("fit", "games.parquet", *parquet, "--output", "two.pairity")
    run("predict", "one.pairity", "games.parquet", "--output", "one.csv")
    run("predict", "two.pairity", "games.csv", "--output", "two.csv")
    assert (games / "one.csv").read_bytes() == (games / "two.csv").read_bytes()


@pytest.mark.parametrize("kinds", [("csv", "parquet"), ("parquet", "csv")], ids="-".join)
def test_whole_numbers_in_one_table_are_texts_in_the_other(kinds, records):
    for name in ("pairs", "records"):
        write_table(read_table(records / f"{name}.parquet"), records / f"{name}.csv")
    pairs, table = f"pairs.{kinds[0]}", f"records.{kinds[1]}"
    run("fit", pairs, *FIT_RECORDS, "--objects", table, "--output", "m.pairity")
    run("predict", "m.pairity", "pairs.csv", "--output", "one.csv")
    run("predict", "m.pairity", "pairs.parquet", "--output", "two.csv")
    assert (records / "one.csv").read_bytes() == (records / "two.csv").read_bytes()


def test_missing_numbers_are_filled_as_in_training(games):
    players = read_table(games / "players.csv")
    players.loc[[2, 5], "age"] = np.nan
    write_table(players, games / "players.csv")
    run("fit", "games.csv", *WITH_PLAYERS, "--impute", "median", "--output", "m.pairity")
    found = read_model_file("m.pairity")
    assert found.metadata.feature_names["objects"] == ["strength", "age", "age missing"]
    players["age missing"] = players["age"].isna().astype(float)
    players["age"] = players["age"].fillna(players["age"].median())
    frame = read_table(games / "games.csv")
    pairs = Pairs.from_frame(frame, first="white", second="black", objects=players, id="name")
    run("predict", "m.pairity", "games.csv", "--output", "out.csv")
    expected = PairSVC("antisymmetric").fit(pairs, frame["result"]).decision_function(pairs)
    assert (read_table(games / "out.csv")["decision"] == expected).all()


def test_chosen_features_and_labels_left_out(games):
    frame = read_table(games / "games.csv")
    frame.loc[frame["margin"].abs() < 0.2, "result"] = 0
    write_table(frame, games / "games.csv")
    base = ["fit", "games.csv", *WITH_PLAYERS, "--drop-label", "0"]
    said = run(*base, "--feature", "strength", "--output", "one.pairity", "--json").stdout
    run(*base, "--ignore", "age", "--output", "two.pairity")
    assert (games / "one.pairity").read_bytes() == (games / "two.pairity").read_bytes()
    content = json.loads(said)
    assert content["rows left out"] == int((frame["result"] == 0).sum())
    assert content["pairs"] + content["rows left out"] == len(frame)


# The report -------------------------------------------------------------------------------------


def use_report(monkeypatch, write_report):
    """Put a module in the place of the one that writes reports."""
    module = ModuleType("pairity.app.report")
    module.__spec__ = ModuleSpec("pairity.app.report", None)
    module.write_report = write_report
    monkeypatch.setitem(sys.modules, "pairity.app.report", module)


def test_a_report_is_written_beside_the_model(games, monkeypatch):
    def write_report(model, pairs, y, path, **more):
        path.write_text(f"{type(model).__name__} {len(pairs)} {len(y)}")

    use_report(monkeypatch, write_report)
    outputs = ["--output", "m.pairity", "--report", "r.html"]
    said = run("fit", "games.csv", *WITH_PLAYERS, *outputs, "--json").stdout
    assert (games / "r.html").read_text() == "PairSVC 90 90"
    assert json.loads(said)["report"] == "r.html"


def test_no_model_without_its_report(games, monkeypatch):
    def write_report(model, pairs, y, path, **more):
        path.write_text("half")
        raise ValueError("got no ink; expected some.")

    use_report(monkeypatch, write_report)
    before = sorted(path.name for path in games.iterdir())
    outputs = ["--output", "m.pairity", "--report", "r.html"]
    result = run("fit", "games.csv", *WITH_PLAYERS, *outputs, code=2)
    assert result.stderr == "pairity: got no ink; expected some.\n"
    assert sorted(path.name for path in games.iterdir()) == before


# A TOML file is equal to the flags --------------------------------------------------------------

TOML = """
first = "white"
second = "black"
label = "result"
symmetry = "antisymmetric"
objects = "players.csv"
id = "name"
ignore = ["age"]
antisymmetric-feature = "home"
C = 3
kernel = "gaussian(2)"
probabilities = true

[fit]
pairs = "games.csv"
output = "toml.pairity"

[predict]
model = "toml.pairity"
pairs = "games.csv"
output = "out.csv"
"""
FLAGS = [
    *WITH_PLAYERS,
    *("--ignore", "age", "--antisymmetric-feature", "home", "--C", "3"),
    *("--kernel", "gaussian(2)", "--probabilities"),
]


def test_toml_is_equal_to_flags(games):
    (games / "fit.toml").write_text(TOML)
    run("fit", "--config", "fit.toml")
    run("fit", "games.csv", *FLAGS, "--output", "flags.pairity")
    assert (games / "toml.pairity").read_bytes() == (games / "flags.pairity").read_bytes()


def test_flags_win_over_toml(games):
    (games / "fit.toml").write_text(TOML)
    run("fit", "--config", "fit.toml", "--C", "5", "--ignore", "strength", "--output", "m.pairity")
    model = pairity.load("m.pairity").estimator_
    assert model.C == 5.0
    assert not (games / "toml.pairity").exists()
    assert read_model_file("m.pairity").metadata.feature_names["objects"] == ["age"]


def test_a_table_of_another_command_is_left_alone(games):
    (games / "all.toml").write_text(TOML.split("[fit]")[0] + "[predict]\nmodel = 'm'\n")
    run("fit", "games.csv", "--config", "all.toml", "--output", "m.pairity")


# What is said -----------------------------------------------------------------------------------


def test_summaries_are_json_on_demand(games):
    fitted = run("fit", "games.csv", *WITH_PLAYERS, "--output", "m.pairity", "--json").stdout
    content = json.loads(fitted)
    assert content["estimator"] == "PairSVC"
    assert content["certificate"]["holds"] is True
    assert content["label counts"].keys() == {"-1", "1"}
    inspected = json.loads(run("inspect", "m.pairity", "--json").stdout)
    for name in ("estimator", "kernel", "certificate", "objective"):
        assert inspected[name] == content[name]
    assert inspected["checksum"] == read_model_file("m.pairity").checksum
    predicted = json.loads(
        run("predict", "m.pairity", "games.csv", "--output", "out.csv", "--json").stdout
    )
    assert predicted["agree with it"] == content["accuracy on the training pairs"]
    ranked = json.loads(run("rank", "m.pairity", "--output", "r.csv", "--json").stdout)
    assert ranked["objects"] == 12
    assert ranked["explained by the ranking"] + ranked["cyclic"] == pytest.approx(1.0)


def test_summaries_for_people(games):
    result = run("fit", "games.csv", *WITH_PLAYERS, "--output", "m.pairity")
    assert result.stderr == ""
    assert "certificate" in result.stdout
    said = run("inspect", "m.pairity").stdout
    for text in ("antisymmetric", "Gaussian", "strength, age", "games.csv", "KKT violation"):
        assert text in said


def test_inspect_opens_any_model_file(games):
    pairs = Pairs(np.array([[0.0], [1.0]]), [0], [1])
    pairity.save(
        pairity.PairRidge("antisymmetric", kernel="linear").fit(pairs, [1.0]), "plain.pairity"
    )
    assert "PairRidge" in run("inspect", "plain.pairity").stdout


@pytest.mark.filterwarnings("default::pairity.exceptions.PairityWarning")
def test_a_warning_is_one_line(games):
    frame = read_table(games / "games.csv")
    turned = frame.rename(columns={"white": "black", "black": "white"}).assign(
        result=-frame["result"]
    )
    write_table(pd.concat([frame, turned]), games / "games.csv")
    result = run("fit", "games.csv", *WITH_PLAYERS, "--output", "m.pairity")
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("pairity: warning: the 180 rows hold every pair together")


# check ------------------------------------------------------------------------------------------


def check(*arguments, code=0):
    result = run("check", *arguments, "--json", code=code)
    return json.loads(result.stdout), result.stderr


def test_check_counts(games):
    content, said = check("games.csv", *FIT_GAMES[:6], "--objects", "players.csv", "--id", "name")
    frame = read_table(games / "games.csv")
    unordered = {frozenset(pair) for pair in zip(frame["white"], frame["black"], strict=True)}
    assert said == ""
    assert content["problems"] == []
    assert content["rows"] == len(frame)
    assert content["distinct pairs"] == len(unordered)
    assert content["rows that repeat a pair"] == len(frame) - len(unordered)
    assert content["objects in pairs"] == 12
    assert content["features"] == ["strength", "age"]


def observations(*rows):
    return pd.DataFrame(rows, columns=["a", "b", "y"])


def test_check_sees_contradictions_and_self_pairs(tmp_path):
    path = tmp_path / "t.csv"
    write_table(
        observations(("p", "q", 1), ("p", "q", -1), ("q", "p", 1), ("r", "r", 1), ("r", "q", 1)),
        path,
    )
    content, _ = check(path, "--first", "a", "--second", "b", "--label", "y")
    assert content["pairs with different labels in one order"] == 1
    assert content["pairs written in both orders"] == 1
    assert content["pairs of an object with itself"] == 1
    assert content["comparisons of both orders"] == {"same label": 1, "other label": 1}
    assert content["symmetry"].startswith("neither clearly")


@pytest.mark.parametrize(("factor", "verdict"), [(1, "symmetric"), (-1, "antisymmetric")])
def test_check_sees_the_symmetry(factor, verdict, tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for a in range(12):
        for b in range(a):
            label = rng.choice([-1, 1])
            rows += [(f"o{a}", f"o{b}", label), (f"o{b}", f"o{a}", factor * label)]
    write_table(observations(*rows), tmp_path / "t.csv")
    content, _ = check(tmp_path / "t.csv", "--first", "a", "--second", "b", "--label", "y")
    assert content["symmetry"].startswith(f"{verdict}:")
    assert "mirror images" in content["note on rows"]


def test_check_cannot_see_what_is_not_there(tmp_path):
    write_table(observations(("p", "q", 1), ("r", "q", -1)), tmp_path / "t.csv")
    content, _ = check(tmp_path / "t.csv", "--first", "a", "--second", "b", "--label", "y")
    assert content["symmetry"].startswith("cannot be seen")


PROBLEMS = {
    "missing id": ("a,b,y\n,q,1\np,q,1\n", "id,x\np,1\nq,2\n", "1 missing id(s) in column 'a'"),
    "unknown id": ("a,b,y\np,z,1\n", "id,x\np,1\nq,2\n", "1 id(s) without an object"),
    "repeated id": ("a,b,y\np,q,1\n", "id,x\np,1\nq,2\np,3\n", "1 repeated id(s)"),
    "missing number": ("a,b,y\np,q,1\n", "id,x\np,\nq,2\n", "missing numbers in 1 column(s)"),
    "text": ("a,b,y\np,q,1\n", "id,x\np,red\nq,blue\n", "text in column 'x'"),
    "missing label": ("a,b,y\np,q,\nq,p,1\n", "id,x\np,1\nq,2\n", "1 missing label(s)"),
}


@pytest.mark.parametrize(("pairs", "objects", "problem"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_check_finds_what_fit_refuses(pairs, objects, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text(pairs)
    (tmp_path / "o.csv").write_text(objects)
    tables = ["p.csv", "--first", "a", "--second", "b", "--label", "y", "--objects", "o.csv"]
    content, said = check(*tables, code=2)
    assert problem in content["problems"][0]
    assert problem in said
    assert len(said.splitlines()) == 1
    run("fit", *tables, "--symmetry", "antisymmetric", "--output", "m.pairity", code=2)


# Examples in the help ---------------------------------------------------------------------------


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


def commands_in(text):
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip().startswith("pairity "):
            yield shlex.split(line)[1:]


def examples():
    """Commands in the help texts and in the guide."""
    texts = [command.epilog or "" for command in (main, *main.commands.values())]
    blocks = re.findall(r"```\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = [command for text in (*texts, *blocks) for command in commands_in(text)]
    return [pytest.param(command, id=" ".join(command)[:60]) for command in found]


@pytest.mark.parametrize("arguments", examples())
def test_examples_in_the_help_are_commands(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "season.toml").write_text(
        "pairs = 'p.csv'\nfirst = 'a'\nsecond = 'b'\nlabel = 'y'\nsymmetry = 'none'\noutput = 'm'\n"
    )
    command = main.commands[arguments[0]]
    with click.Context(main, info_name="pairity") as parent:
        context = command.make_context(arguments[0], arguments[1:], parent=parent)
    assert context.params


def test_the_guide_has_a_file_of_options(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "c.toml").write_text(block)
    with click.Context(main, info_name="pairity"):
        options = {
            name: read_config(tmp_path / "c.toml", main.commands[name])
            for name in ("fit", "predict")
        }
    assert options["fit"]["tune"] is True
    assert options["fit"]["first"] == options["predict"]["first"] == "left"
    assert options["predict"]["output"] == "predictions.csv"


def test_every_command_has_examples():
    assert {"fit", "predict", "rank", "inspect", "check"} <= {
        name for name, command in main.commands.items() if "Examples" in (command.epilog or "")
    }
