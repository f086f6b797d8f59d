"""Sections 7.2 to 7.4 and 8 from the shell: pairs without labels, graph kernels, K_P, hard margins."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("pyarrow", reason="pyarrow comes with the command line extra")

import tables_made  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from tables_made import FIT_GAMES, run  # noqa: E402

import pairity  # noqa: E402
from pairity import (  # noqa: E402
    LaplacianPairSVC,
    NeighbourMeans,
    Pairs,
    PairSVC,
    TransductivePairSVC,
)
from pairity.kernels import (  # noqa: E402
    Bilinear,
    Diffusion,
    Linear,
    OrderInvariant,
    SkewBalanced,
    with_neighbour_means,
)

PLAYERS = ["--objects", "players.csv", "--id", "name"]


@pytest.fixture
def games(tmp_path, monkeypatch):
    """Games of which a third has no result yet."""
    monkeypatch.chdir(tmp_path)
    players = tables_made.make_players()
    players.to_csv("players.csv", index=False)
    games = tables_made.make_games(players)
    games["result"] = games["result"].map({1: "won", -1: "lost"}).where(games.index % 3 != 0)
    games.to_csv("games.csv", index=False)
    games.dropna().to_csv("known.csv", index=False)
    return tmp_path


def pairs_of(path):
    frame, players = pd.read_csv(path), pd.read_csv("players.csv")
    pairs = Pairs.from_frame(frame, first="white", second="black", objects=players, id="name")
    return pairs, frame["result"].map({"won": 1, "lost": -1}).fillna(0).astype(int).to_numpy()


def decisions(*options, table="games.csv", asked="games.csv"):
    run("fit", table, *FIT_GAMES, *PLAYERS, "--positive", "won", *options, "--output", "m.pairity")
    run("predict", "m.pairity", asked, "--output", "out.csv")
    return pd.read_csv("out.csv")["decision"].to_numpy()


@pytest.mark.parametrize(
    ("options", "twin"),
    [
        (["--learner", "transductive"], TransductivePairSVC("antisymmetric", kernel="linear")),
        (
            ["--learner", "laplacian", "--manifold", 5, "--neighbors", 3],
            LaplacianPairSVC("antisymmetric", kernel="linear", manifold=5.0, n_neighbors=3),
        ),
    ],
    ids=["transductive", "laplacian"],
)
def test_pairs_without_a_label(games, options, twin):
    found = decisions(*options, "--kernel", "linear")
    pairs, y = pairs_of("games.csv")
    assert found == pytest.approx(twin.fit(pairs, y).decision_function(pairs), rel=1e-9)
    said = json.loads(run("inspect", "m.pairity", "--json").stdout)
    assert said["labels"] == ["lost", "won"]
    assert said["training"]["label counts"]["no label"] == 30


def test_some_labels_must_be_missing(games):
    options = [*FIT_GAMES, *PLAYERS, "--positive", "won", "--learner", "transductive"]
    told = run("fit", "known.csv", *options, "--output", "m.pairity", code=2).stderr
    assert "got a label in every row of column 'result'" in told
    told = run("fit", "games.csv", *options[:-1], "svc", "--output", "m.pairity", code=2).stderr
    assert "30 missing label(s)" in told


def test_neighbour_means(games):
    found = decisions("--neighbour-means", 2, "--kernel", "linear", table="known.csv")
    known, y = pairs_of("known.csv")
    asked, _ = pairs_of("games.csv")
    seen, described = (with_neighbour_means(part, known, hops=2) for part in (known, asked))
    twin = PairSVC("antisymmetric", kernel="linear").fit(seen, y)
    assert found == pytest.approx(twin.decision_function(described), rel=1e-6, abs=1e-9)


def test_neighbour_means_of_other_tables():
    """Edges are found by ids in a table of other objects in another order, and the law holds."""
    rng = np.random.default_rng(0)
    objects = rng.normal(size=(12, 2))
    first, second = rng.integers(12, size=(2, 40))
    known = Pairs(objects, first, (first + 1 + second % 11) % 12, ids=[f"o{k}" for k in range(12)])
    step = NeighbourMeans().fit(known)
    order = rng.permutation(12)[:9]
    new = rng.normal(size=(1, 2))
    asked = Pairs(
        np.vstack([objects[order], new]),
        [0, 1, 2, 9],
        [3, 4, 9, 5],
        ids=[*(f"o{k}" for k in order), "new"],
    )
    whole = Pairs(np.vstack([objects, new]), known.first, known.second)
    place = np.append(order, 12)
    twin = with_neighbour_means(
        Pairs(whole.objects, place[asked.first], place[asked.second]), whole
    )
    found = step.transform(asked)
    assert (found.to_rows() == twin.to_rows()).all()
    assert (step.transform(asked.swap()).to_rows() == found.swap().to_rows()).all()
    names = step.get_feature_names_out(["x", "y"])
    assert len(names) == found.shape[1]
    model = make_pipeline(NeighbourMeans(), PairSVC("antisymmetric", kernel="linear"))
    model.fit(known, np.where(known.first > known.second, 1, -1))
    assert (model.decision_function(asked.swap()) == -model.decision_function(asked)).all()


def test_diffusion(games):
    """The arcs are the pairs of the table; those without a label can be asked about."""
    found = decisions(
        "--kernel",
        "diffusion(skew_balanced(linear()), strength=2)",
        table="known.csv",
        asked="known.csv",
    )
    known, y = pairs_of("known.csv")
    kernel = Diffusion(SkewBalanced(Linear()), known, strength=2)
    twin = PairSVC("antisymmetric", kernel=kernel).fit(known, y)
    assert found == pytest.approx(twin.decision_function(known), rel=1e-6, abs=1e-9)


def test_the_matrix_of_a_bilinear_kernel(games):
    root = np.random.default_rng(0).normal(size=(4, 4))
    matrix = root @ root.T
    np.savetxt("P.csv", matrix, delimiter=",")
    text = "order_invariant(bilinear('P.csv'))"
    found = decisions("--kernel", text, table="known.csv")
    known, y = pairs_of("known.csv")
    asked, _ = pairs_of("games.csv")
    twin = PairSVC("antisymmetric", kernel=OrderInvariant(Bilinear(matrix))).fit(known, y)
    assert found == pytest.approx(twin.decision_function(asked), rel=1e-6, abs=1e-9)
    options = [*FIT_GAMES, *PLAYERS, "--positive", "won", "--kernel", "bilinear('none.csv')"]
    told = run("fit", "known.csv", *options, "--output", "n.pairity", code=2).stderr
    assert "got bilinear('none.csv'), which cannot be read" in told


def test_no_error_allowed(games):
    """C = infinity is the hard margin: the optimum of a large C, and no C at all where none fits."""
    frame = pd.read_csv("known.csv")
    strength = pd.read_csv("players.csv").set_index("name")["strength"]
    gap = frame["white"].map(strength) - frame["black"].map(strength)
    frame = frame.assign(result=np.where(gap > 0, "won", "lost"))
    frame.to_csv("known.csv", index=False)
    found = decisions("--kernel", "linear", "--C", "inf", table="known.csv", asked="known.csv")
    known, y = pairs_of("known.csv")
    hard = PairSVC("antisymmetric", kernel="linear", C=float("inf"), tol=1e-6).fit(known, y)
    margins = y * hard.decision_function(known)
    assert margins.min() == pytest.approx(1.0, abs=1e-4)
    # feasible, and no other feasible function has a smaller norm: the duality gap
    assert hard.certificate_.relative_gap < 1e-4
    soft = PairSVC("antisymmetric", kernel="linear", C=1e7, tol=1e-6).fit(known, y)
    assert hard.objective_ == pytest.approx(soft.objective_, rel=1e-3)
    assert np.sign(found) == pytest.approx(y)
    twice, labels = known[np.arange(4).repeat(2)], np.array([1, -1] * 4)
    with pytest.raises(ValueError, match="got C=inf for pairs that this kernel does not separate"):
        PairSVC("antisymmetric", kernel="linear", C=float("inf")).fit(twice, labels)
    with pytest.raises(ValueError, match="got C=inf; expected a finite number"):
        pairity.PairSVR("antisymmetric", C=float("inf")).fit(known, y)
