"""What the shell says: in the words of the shell, short, and with a hint that helps."""

import json
import re
from io import StringIO

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import tables_made  # noqa: E402
from rich.console import Console  # noqa: E402
from tables_made import FIT_GAMES, run  # noqa: E402

from pairity import Pairs, PairSVC, parity_report  # noqa: E402
from pairity.app.cli.console import show_stages  # noqa: E402

CHECK = ("check", "games.csv", "--first", "white", "--second", "black", "--label", "result")


@pytest.fixture
def games(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    players = tables_made.make_players()
    players.to_csv("players.csv", index=False)
    tables_made.make_games(players).to_csv("games.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("sign", "ending", "says"),
    [
        (";", "csv", "separated by semicolons; save it with commas"),
        ("\t", "csv", "separated by tabs; name it .tsv"),
        ("|", "csv", "separated by bars"),
        (",", "tsv", "expected columns separated by tabs: these seem to be separated by commas"),
    ],
)
def test_other_separators(sign, ending, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"t.{ending}").write_text(f"a{sign}b{sign}y\np{sign}q{sign}1\n")
    told = run("check", f"t.{ending}", "--first", "a", "--second", "b", code=2).stderr
    assert says in told


def test_one_column_is_fine(tmp_path, monkeypatch):
    """A single column whose name has none of the signs is a table like any other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a\np\n")
    told = run("check", "t.csv", "--first", "a", "--second", "b", code=2).stderr
    assert "got no column 'b' in t.csv" in told


def test_check_answers_in_options(games):
    said = json.loads(run(*CHECK, "--json").stdout)["models of each symmetry"]
    frame = pd.read_csv("games.csv")
    report = parity_report(Pairs.from_frame(frame, first="white", second="black"), frame["result"])
    assert "use symmetry='antisymmetric'" in report.sentence  # that is for Python
    assert "use --symmetry antisymmetric" in said
    assert "symmetry=" not in said


def test_check_of_both_laws_answers_in_options(tmp_path, monkeypatch):
    """Advice of two parts is a command that works, and names no class of Python."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    players = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"]).assign(id=range(40))
    first, second = rng.integers(40, size=(2, 600))
    x, y = players["x"].to_numpy(), players["y"].to_numpy()
    value = x[first] - x[second] + 0.7 * (y[first] + y[second])
    table = {"a": first, "b": second, "won": np.where(value > 0, 1, -1)}
    pd.DataFrame(table)[first != second].to_csv("games.csv", index=False)
    players.to_csv("players.csv", index=False)
    options = ["games.csv", "--first", "a", "--second", "b", "--label", "won"]
    options += ["--objects", "players.csv"]
    said = json.loads(run("check", *options, "--json").stdout)["models of each symmetry"]
    assert said.startswith("mixed")
    assert "Mixed(" not in said
    assert "use that law" in said
    symmetry, kernel = re.search(r"--symmetry (\w+) --kernel '(.+?)'", said).groups()
    fitted = run(
        "fit", *options, "--symmetry", symmetry, "--kernel", kernel, "--output", "m.pairity"
    )
    assert "Mixed(" in fitted.stdout


def test_labels_are_called_as_in_the_table(games):
    frame = pd.read_csv("games.csv")
    frame.assign(result=frame["result"].map({1: "won", -1: "lost"})).to_csv("t.csv", index=False)
    said = run("fit", "t.csv", *FIT_GAMES, "--positive", "won", "--output", "m.pairity", "--json")
    assert json.loads(said.stdout)["labels"] == ["lost", "won"]


def test_losses_are_positive(games):
    """Searches keep scores of which more is better; people read losses."""
    tuned = ["--learner", "logistic", "--kernel", "linear", "--tune", "--output", "m.pairity"]
    said = json.loads(run("fit", "games.csv", *FIT_GAMES, *tuned, "--json").stdout)
    scores = said["held-out scores"]
    assert 0.0 < scores["log loss"] < 0.6931
    assert 0.5 < scores["accuracy"] <= 1.0


def test_an_edge_names_its_member(games):
    """Each member has a C of its own: a note on "the best C" would seem to be about another one."""
    tuned = ["--objects", "players.csv", "--id", "name", "--tune", "--output", "m.pairity"]
    said = run("fit", "games.csv", *FIT_GAMES, *tuned).stdout
    (line,) = [line for line in said.splitlines() if "that was tried" in line]
    assert line.startswith("note on kernels ")


@pytest.mark.filterwarnings("default")
def test_an_id_that_would_be_a_feature(games):
    players = pd.read_csv("players.csv").assign(player_id=np.arange(12) + 7)
    players.to_csv("players.csv", index=False)
    options = ["fit", "games.csv", *FIT_GAMES, "--objects", "players.csv", "--id", "name"]
    told = run(*options, "--output", "m.pairity").stderr
    assert told.startswith("pairity: warning: column 'player_id' of the objects")
    assert "pass --id player_id or --ignore player_id" in told
    said = run(*options, "--ignore", "player_id", "--output", "other.pairity").stdout
    assert "objects: 2;" in said


def test_a_long_formula_is_cut_for_people(games):
    kernel = " + ".join(f"{number}.5 * product(gaussian({number}))" for number in range(1, 9))
    said = run("fit", "games.csv", *FIT_GAMES, "--kernel", kernel, "--output", "m.pairity").stdout
    line = next(line for line in said.splitlines() if line.startswith("kernel"))
    assert len(line) < 160
    assert "letters; --json)" in line
    whole = json.loads(run("inspect", "m.pairity", "--json").stdout)["kernel"]
    assert whole.count("Product") == 8


def test_no_bar_stands_still():
    """Stages are counted in words: a bar at 1/3 for minutes would look stuck."""
    console = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with show_stages(console, "reading", 3) as enter:
        enter("training")
    text = console.file.getvalue()
    assert "training (step 2 of 3)" in text
    assert "1/3" not in text


def test_plain_numbers_in_messages():
    pairs = Pairs(np.arange(4.0)[:, np.newaxis], first=[0, 1], second=[2, 3])
    with pytest.raises(ValueError, match=r"got one class only, 1; expected"):
        PairSVC("symmetric").fit(pairs, np.array([1, 1]))
    with pytest.raises(ValueError, match=r"got C=-1\.0; expected"):
        PairSVC("symmetric", C=np.float64(-1.0)).fit(pairs, np.array([1, 0]))
