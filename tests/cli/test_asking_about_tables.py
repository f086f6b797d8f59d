"""Asking about new tables: ids as names, unknown ids, columns kept, scores, standard output."""

import io
import json

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss, roc_auc_score

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import tables_made  # noqa: E402
from tables_made import FIT_GAMES, run  # noqa: E402

from pairity import PairLogistic, Pairs  # noqa: E402

FIT_SIMILARITIES = [
    *("--first", "a", "--second", "b", "--label", "same", "--symmetry", "symmetric"),
    *("--symmetric-feature", "similarity", "--symmetric-feature", "gap"),
    *("--learner", "logistic"),
]


def similarities(prefix, n, seed):
    """Pairs of records, each seen once, with a similarity and a difference."""
    rng = np.random.default_rng(seed)
    same = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "a": [f"{prefix}a{row}" for row in range(n)],
            "b": [f"{prefix}b{row}" for row in range(n)],
            "similarity": np.where(same, 0.7, 0.4) + 0.15 * rng.normal(size=n),
            "gap": np.where(same, 0.3, 1.0) + 0.4 * rng.normal(size=n),
            "same": same.astype(int),
        }
    )


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    similarities("old", 120, 0).to_csv("pairs.csv", index=False)
    similarities("new", 40, 1).to_csv("new.csv", index=False)
    return tmp_path


def test_ids_that_are_names_only(tables):
    """New records can be asked about; the model is that of the group features alone."""
    run("fit", "pairs.csv", *FIT_SIMILARITIES, "--ids", "names", "--output", "m.pairity")
    run("predict", "m.pairity", "new.csv", "--output", "out.csv")
    parts = [
        Pairs.from_frame(
            pd.read_csv(f"{name}.csv"),
            first="a",
            second="b",
            symmetric=["similarity", "gap"],
            ids="names",
        )
        for name in ("pairs", "new")
    ]
    twin = PairLogistic("symmetric").fit(parts[0], pd.read_csv("pairs.csv")["same"])
    out = pd.read_csv("out.csv")
    assert out["decision"].to_numpy() == pytest.approx(twin.decision_function(parts[1]), rel=1e-12)
    said = run("inspect", "m.pairity", "--json").stdout
    assert json.loads(said)["features"] == {"objects": 0, "symmetric": 2, "antisymmetric": 0}


def test_ids_that_are_features_say_so(tables):
    said = run("fit", "pairs.csv", *FIT_SIMILARITIES, "--output", "m.pairity").stdout
    assert "a feature each: only these objects can be asked about; --ids names" in said
    told = run("predict", "m.pairity", "new.csv", "--output", "out.csv", code=2).stderr
    assert "got 40 ids in column 'a' that the model does not have (40 rows)" in told
    assert "--ids names" in told


def test_names_only_need_the_pairs(tables):
    run("fit", "pairs.csv", *FIT_SIMILARITIES, "--ids", "names", "--output", "m.pairity")
    told = run("rank", "m.pairity", "--output", "out.csv", code=2).stderr
    assert "goes by features of pairs alone" in told
    run("rank", "m.pairity", "--pairs", "new.csv", "--output", "groups.csv")
    assert len(pd.read_csv("groups.csv")) == 80


def test_columns_are_kept_and_scores_are_printed(tables):
    run("fit", "pairs.csv", *FIT_SIMILARITIES, "--ids", "names", "--output", "m.pairity")
    said = run("predict", "m.pairity", "new.csv", "--output", "out.csv", "--json").stdout
    given, out, scores = pd.read_csv("new.csv"), pd.read_csv("out.csv"), json.loads(said)
    pd.testing.assert_frame_equal(out[list(given.columns)], given)
    assert list(out.columns[5:]) == ["decision", "label", "probability 0", "probability 1"]
    truth = given["same"]
    assert scores["pairs with a label"] == 40
    assert scores["agree with it"] == pytest.approx((out["label"] == truth).mean())
    assert scores["log-loss"] == pytest.approx(log_loss(truth, out["probability 1"]))
    assert scores["F1"] == pytest.approx(f1_score(truth, out["label"]))
    assert scores["AUC"] == pytest.approx(roc_auc_score(truth, out["decision"]))


def test_a_column_that_gives_way(tables):
    """Results always have the same names; a column of the table that has one of them is renamed."""
    table = pd.read_csv("pairs.csv").rename(columns={"same": "label"})
    table.assign(**{"given label": "mine"}).to_csv("pairs.csv", index=False)
    options = ["label" if word == "same" else word for word in FIT_SIMILARITIES]
    run("fit", "pairs.csv", *options, "--ids", "names", "--output", "m.pairity")
    said = run("predict", "m.pairity", "pairs.csv", "--output", "out.csv", "--json").stdout
    assert json.loads(said)["columns renamed"] == {"label": "given given label"}
    out = pd.read_csv("out.csv")
    assert (out["given given label"] == table["label"]).all()
    assert (out["given label"] == "mine").all()
    agreement = (out["label"] == table["label"]).mean()
    assert json.loads(said)["agree with it"] == pytest.approx(agreement)


def test_standard_output(tables):
    run("fit", "pairs.csv", *FIT_SIMILARITIES, "--ids", "names", "--output", "m.pairity")
    run("predict", "m.pairity", "new.csv", "--output", "out.csv")
    said = run("predict", "m.pairity", "new.csv", "--output", "-")
    assert said.stdout == (tables / "out.csv").read_text()
    assert "agree with it" in said.stderr
    grouped = run("rank", "m.pairity", "--pairs", "new.csv", "--output", "-", "--json")
    assert len(pd.read_csv(io.StringIO(grouped.stdout))) == 80
    assert json.loads(grouped.stderr)["table"] == "standard output"
    assert not (tables / "-").exists()


@pytest.fixture
def games(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    players = tables_made.make_players()
    players.to_csv("players.csv", index=False)
    tables_made.make_games(players).to_csv("games.csv", index=False)
    return pd.read_csv("games.csv")


def test_rows_of_unknown_ids(games):
    """They are left out of training and predictions alike, counted, and nothing else changes."""
    known = (games[["white", "black"]] != "player 3").all(axis=1)
    pd.read_csv("players.csv").query("name != 'player 3'").to_csv("fewer.csv", index=False)
    games[known].to_csv("known.csv", index=False)
    options = [*FIT_GAMES, "--objects", "fewer.csv", "--id", "name"]
    told = run("fit", "games.csv", *options, "--output", "m.pairity", code=2).stderr
    n_first = int((games["white"] == "player 3").sum())
    assert (
        f"got the id 'player 3' in column 'white' that fewer.csv does not have ({n_first}" in told
    )
    said = run("fit", "games.csv", *options, "--skip-unknown", "--json", "--output", "m.pairity")
    assert json.loads(said.stdout)["rows of unknown ids, left out"] == int((~known).sum())
    assert json.loads(said.stdout)["pairs"] == int(known.sum())
    run("predict", "m.pairity", "known.csv", "--output", "known.out.csv")
    said = run("predict", "m.pairity", "games.csv", "--skip-unknown", "--output", "out.csv")
    assert f"rows of unknown ids, left out  {int((~known).sum())}" in said.stdout
    pd.testing.assert_frame_equal(pd.read_csv("out.csv"), pd.read_csv("known.out.csv"))


def test_no_row_of_known_ids(games):
    run("fit", "games.csv", *FIT_GAMES, "--output", "m.pairity")
    games.assign(white="nobody").to_csv("new.csv", index=False)
    told = run(
        "predict", "m.pairity", "new.csv", "--skip-unknown", "--output", "o.csv", code=2
    ).stderr
    assert "got no row of new.csv whose two ids the model has" in told


def test_groups_are_kept_together(games):
    """Probabilities are calibrated on folds of whole groups, as the library does with the same."""
    from pairity import CalibratedPairClassifier, PairSVC

    games = games.assign(day=[f"day {row % 9}" for row in range(len(games))])
    games.to_csv("games.csv", index=False)
    options = [*FIT_GAMES, "--kernel", "linear", "--probabilities", "--groups", "day"]
    run("fit", "games.csv", *options, "--output", "m.pairity")
    run("predict", "m.pairity", "games.csv", "--output", "out.csv")
    pairs = Pairs.from_frame(games, first="white", second="black")
    twin = CalibratedPairClassifier(PairSVC("antisymmetric", kernel="linear"))
    twin.fit(pairs, games["result"], groups=games["day"])
    expected = twin.predict_proba(pairs)[:, 1]
    assert pd.read_csv("out.csv")["probability 1"].to_numpy() == pytest.approx(expected, rel=1e-9)
    free = CalibratedPairClassifier(PairSVC("antisymmetric", kernel="linear"))
    free.fit(pairs, games["result"])
    assert np.abs(free.predict_proba(pairs)[:, 1] - expected).max() > 1e-6
