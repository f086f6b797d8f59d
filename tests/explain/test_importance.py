"""Permutation importance: the shuffles against a plain twin, laws of the swap, what it finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from learners import LEARNERS
from pairity import DerivedFeatures, ObjectTransformer, PairRidge, Pairs, PairSVC
from pairity.inspection import Columns, permutation_importance, plot_importance
from pairity.inspection.importance import ShuffleFrame
from pairity.kernels import Gaussian, Linear

BOTH = ["symmetric", "antisymmetric"]


def naive_shuffled(pairs, columns, shuffle, frame):
    """One pair, one end, one column at a time."""
    table = pairs.objects
    first_row = {}
    for row in range(pairs.n_objects):
        first_row.setdefault(int(frame.numbers[row]), row)
    rows = []
    for i in range(len(pairs)):
        j = int(shuffle.rows[i])
        ends = []
        for end in (pairs.first[i], pairs.second[i]):
            x = table[end].tolist()
            donor = first_row[int(shuffle.objects[frame.numbers[end]])]
            for column in columns.objects:
                x[column] = float(table[donor, column])
            ends.append(x)
        kept = pairs.symmetric[i].tolist()
        for column in columns.symmetric:
            kept[column] = float(pairs.symmetric[j, column])
        odd = pairs.antisymmetric[i].tolist()
        for column in columns.antisymmetric:
            same_way = frame.direction[i] == frame.direction[j]
            odd[column] = float(pairs.antisymmetric[j, column]) * (1.0 if same_way else -1.0)
        rows.append([*ends[0], *kept, *odd, *ends[1]])
    return np.array(rows)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "columns",
    [
        Columns(objects=(1,)),
        Columns(symmetric=(0,)),
        Columns(antisymmetric=(1,)),
        Columns((0, 2), (1,), (0, 1)),
    ],
    ids=repr,
)
def test_shuffles_are_those_of_the_plain_twin(columns, sparse, rng):
    pairs = cases.random_pairs(1, n=20, m=8, widths=(3, 2, 2))
    pairs = pairs.without_unused_objects()
    given = cases.sparse_twin(pairs) if sparse else pairs
    frame = ShuffleFrame(given)
    shuffle = frame.draw(rng)
    done = frame.shuffled(columns, shuffle).to_rows()
    done = done.toarray() if sp.issparse(done) else done
    assert np.array_equal(done, naive_shuffled(pairs, columns, shuffle, frame))
    assert not np.array_equal(done, pairs.to_rows())


@given(seed=st.integers(0, 10**6))
def test_a_shuffle_keeps_the_values_and_their_directions(seed):
    """Columns hold the same values as before; read from lower to higher number, so do odd ones."""
    rng = np.random.default_rng(seed)
    pairs = cases.random_pairs(seed, n=15, m=6)
    frame = ShuffleFrame(pairs)
    shuffle = frame.draw(rng)
    done = frame.shuffled(Columns((0,), (0,), (0,)), shuffle)
    before = frame.pairs
    assert np.array_equal(np.sort(done.objects[:, 0]), np.sort(before.objects[:, 0]))
    assert np.array_equal(np.sort(done.symmetric[:, 0]), np.sort(before.symmetric[:, 0]))
    turned = frame.direction * done.antisymmetric[:, 0]
    assert np.array_equal(np.sort(turned), np.sort(frame.direction * before.antisymmetric[:, 0]))
    for kept in (done.objects[:, 1:] == before.objects[:, 1:], done.first == before.first):
        assert kept.all()


@given(seed=st.integers(0, 10**6))
def test_shuffled_pairs_swap_like_the_pairs_themselves(seed):
    pairs = cases.random_pairs(seed, n=12, m=6)
    columns = Columns((0, 1), (1,), (0, 1))
    mask = np.random.default_rng(seed).random(12) < 0.5
    some = Pairs(
        pairs.objects,
        np.where(mask, pairs.second, pairs.first),
        np.where(mask, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(mask[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    frames = [ShuffleFrame(given) for given in (pairs, some)]
    shuffles = [frame.draw(np.random.default_rng(seed)) for frame in frames]
    plain, turned = (f.shuffled(columns, s) for f, s in zip(frames, shuffles, strict=True))
    assert np.array_equal(plain.objects, turned.objects)
    assert np.array_equal(plain.symmetric, turned.symmetric)
    sign = np.where(mask, -1.0, 1.0)[:, None]
    assert np.array_equal(sign * plain.antisymmetric, turned.antisymmetric)


def test_an_object_keeps_one_value_wherever_it_occurs(rng):
    """The same object in several rows of the table, unless ids say otherwise."""
    objects = np.array([[1.0], [2.0], [3.0], [2.0], [1.0]])
    pairs = Pairs(objects, first=[0, 1, 2, 3], second=[1, 2, 4, 0])
    for _ in range(20):
        frame = ShuffleFrame(pairs)
        done = frame.shuffled(Columns(objects=(0,)), frame.draw(rng)).objects[:, 0]
        assert done[0] == done[4]
        assert done[1] == done[3]
    named = ShuffleFrame(Pairs(objects, pairs.first, pairs.second, ids=list("abcde")))
    assert len(named.representative) == 5


def test_pairs_of_an_object_with_itself_keep_their_zero(rng):
    pairs = Pairs(
        np.arange(4.0)[:, None], [0, 1, 2, 3, 3], [0, 2, 3, 3, 1], antisymmetric=[0, 1, 2, 0, 3]
    )
    frame = ShuffleFrame(pairs)
    for _ in range(20):
        done = frame.shuffled(Columns(antisymmetric=(0,)), frame.draw(rng))
        assert done.antisymmetric[[0, 3]].tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_swapped_pairs_have_the_same_importance(learner, symmetry, seed):
    train, new = cases.random_pairs(1, n=24, m=9), cases.random_pairs(seed, n=15)
    model = learner.fit(train, 1, symmetry, Gaussian(1.5))
    y = np.asarray(learner.targets(seed, 15))
    mirrored = y if symmetry == "symmetric" else -y
    there = permutation_importance(model, new, y, n_repeats=2, random_state=seed)
    back = permutation_importance(model, new.swap(), mirrored, n_repeats=2, random_state=seed)
    if hasattr(model, "classes_"):
        assert there.baseline == back.baseline
        assert np.array_equal(there.drops, back.drops)
    elif symmetry == "symmetric":
        assert np.array_equal(there.drops, back.drops)
    else:  # R^2 is taken about the mean of y, whose sign changes
        scoring = "neg_mean_squared_error"
        options = {"n_repeats": 2, "random_state": seed, "scoring": scoring}
        there = permutation_importance(model, new, y, **options)
        assert np.array_equal(
            there.drops, permutation_importance(model, new.swap(), mirrored, **options).drops
        )


def test_drops_are_scores_lost(rng):
    """Computed by hand from the same shuffles."""
    pairs, y = cases.random_pairs(3, n=30, m=10), cases.random_labels(3, 30)
    model = PairSVC("antisymmetric", kernel=Gaussian(1.2)).fit(pairs, y)
    found = permutation_importance(model, pairs, y, n_repeats=3, random_state=7)
    generator, frame = np.random.default_rng(7), ShuffleFrame(pairs)
    shuffles = [frame.draw(generator) for _ in range(3)]
    columns = [Columns((0,)), Columns((1,)), Columns((), (0,)), Columns((), (1,))]
    columns += [Columns(antisymmetric=(0,)), Columns(antisymmetric=(1,))]
    for place, chosen in enumerate(columns):
        for repeat, shuffle in enumerate(shuffles):
            rows = naive_shuffled(frame.pairs, chosen, shuffle, frame)
            expected = found.baseline - model.score(Pairs.from_rows(rows, 2, 2), y)
            assert found.drops[place, repeat] == pytest.approx(expected, abs=1e-12)
    assert found.baseline == model.score(pairs, y)
    assert found.mean.tolist() == found.drops.mean(axis=1).tolist()
    assert np.allclose(found.spread, np.std(found.drops, axis=1, ddof=1))


def test_seeds():
    pairs, y = cases.random_pairs(3, n=30, m=10), cases.random_labels(3, 30)
    model = PairSVC("symmetric", kernel=Gaussian(1.2)).fit(pairs, y)
    drops = [permutation_importance(model, pairs, y, random_state=s).drops for s in (1, 1, 2)]
    assert np.array_equal(drops[0], drops[1])
    assert not np.array_equal(drops[0], drops[2])


def test_important_features_are_found_and_others_are_not(rng):
    objects = rng.normal(size=(40, 3))  # strength, noise, noise
    pairs = Pairs.complete(objects)[::3]
    n = len(pairs)
    home = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    group = {"symmetric": rng.normal(size=n), "antisymmetric": home}
    pairs = Pairs(objects, pairs.first, pairs.second, **group)
    margin = objects[pairs.first, 0] - objects[pairs.second, 0] + home
    y = np.where(margin > 0, 1, -1)
    model = make_pipeline(
        ObjectTransformer(StandardScaler()), PairSVC("antisymmetric", kernel=Linear())
    ).fit(pairs, y)
    names = ["strength", "luck", "shoes", "distance", "home"]
    found = permutation_importance(model, pairs, y, names=names)
    mean = dict(zip(found.names, found.mean, strict=True))
    assert mean["strength"] > 0.15
    assert mean["home"] > 0.15
    assert all(abs(mean[name]) < 0.03 for name in ("luck", "shoes", "distance"))
    assert {found.names[place] for place in found.order[:2]} == {"strength", "home"}


def test_a_flag_that_is_the_same_in_every_row_is_not_without_importance(rng):
    """Hosts are written first in every row: shuffled across rows the flag would not change."""
    objects = rng.normal(size=(30, 1))
    pairs = Pairs.complete(objects)
    turn = rng.random(len(pairs)) < 0.5
    first = np.where(turn, pairs.second, pairs.first)
    second = np.where(turn, pairs.first, pairs.second)
    margin = objects[first, 0] - objects[second, 0] + 1.0
    pairs = Pairs(objects, first, second, antisymmetric=np.ones(len(turn)))
    model = PairRidge("antisymmetric", kernel=Linear(), alpha=0.1).fit(pairs, margin)
    found = permutation_importance(model, pairs, margin, names=["strength", "home"])
    assert found.mean[1] > 0.3


def test_features_that_say_the_same_are_named_as_one(rng):
    strength = rng.normal(size=(30, 1))
    objects = np.hstack([strength, strength, rng.normal(size=(30, 1))])
    pairs = Pairs.complete(objects)[::2]
    y = np.where(strength[pairs.first, 0] > strength[pairs.second, 0], 1, -1)
    model = make_pipeline(
        DerivedFeatures((), ("difference",)), PairSVC("antisymmetric", kernel="linear")
    )
    model.fit(pairs, y)
    alone = permutation_importance(model, pairs, y)
    together = permutation_importance(
        model, pairs, y, features={"strength": [0, 1], "noise": "x2"}, scoring="accuracy"
    )
    assert together.names == ("strength", "noise")
    assert together.mean[0] > 1.5 * alone.mean[:2].max()
    assert together.drops[1].tolist() == alone.drops[2].tolist()


def test_names_and_columns_of_every_kind():
    pairs, y = cases.random_pairs(3, n=20, widths=(2, 1, 1)), cases.random_labels(3, 20)
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    names = ["price", "time", "distance", "home"]
    features = {
        "all": ["price", "time", "distance", "home"],
        "same": Columns((0, 1), (0,), (0,)),
        "home": "home",
        "last": np.int64(1),
    }
    found = permutation_importance(model, pairs, y, features=features, names=names)
    assert np.array_equal(found.drops[0], found.drops[1])
    every = permutation_importance(model, pairs, y, names=names)
    assert every.names == tuple(names)
    assert np.array_equal(found.drops[2], every.drops[3])
    assert np.array_equal(found.drops[3], every.drops[1])
    twice = permutation_importance(model, pairs, y, names=["x", "x", "x", "y"], n_repeats=1)
    assert twice.names == ("x", "x (1)", "x (2)", "y")
    assert (twice.spread == 0.0).all()


def test_any_estimator_with_a_score():
    class Judge:
        def fit(self, pairs, y):
            return self

        def score(self, pairs, y):
            guess = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
            return accuracy_score(y, guess)

    pairs = cases.random_pairs(1, n=40, m=12, widths=(2, 0, 0))
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    found = permutation_importance(Judge(), pairs, y)
    assert found.baseline == 1.0
    assert found.mean[0] > 0.2
    assert found.mean[1] == 0.0


def test_what_people_read():
    pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    pairs, y = cases.random_pairs(3, n=20, widths=(2, 1, 0)), cases.random_labels(3, 20)
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    found = permutation_importance(model, pairs, y, names=["price", "time", "distance"])
    lines = str(found).splitlines()
    assert lines[0] == f"score {found.baseline:.4g}; drop when shuffled 5 times:"
    assert lines[1].split()[0] == found.names[found.order[0]]
    frame = found.to_frame()
    assert frame["mean"].is_monotonic_decreasing
    assert set(frame["feature"]) == {"price", "time", "distance"}


def test_plot(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pairs, y = cases.random_pairs(3, n=20, widths=(2, 1, 0)), cases.random_labels(3, 20)
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    found = permutation_importance(model, pairs, y, names=["price", "time", "distance"])
    ax = plot_importance(found, n=2)
    assert [bar.get_width() for bar in ax.patches] == found.mean[found.order[:2]].tolist()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [found.names[place] for place in found.order[:2]]
    assert plot_importance(found, ax=ax) is ax
    ax.figure.savefig(tmp_path / "importance.png")
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_repeats": 0}, "got n_repeats=0"),
        ({"names": ["price"]}, "got 1 names of features"),
        ({"features": {}}, "got no features"),
        ({"features": {"price": []}}, "got no columns for feature 'price'"),
        (
            {"features": {"price": [5]}},
            r"got column 5 of objects in feature 'price'; expected 0 to 1",
        ),
        ({"features": {"home": Columns(antisymmetric=(2,))}}, "got column 2 of antisymmetric"),
        ({"features": {"price": "cost"}}, r"got column 'cost' in feature 'price'; expected one of"),
    ],
)
def test_refusals(options, message):
    pairs, y = cases.random_pairs(3), cases.random_labels(3, 14)
    model = PairSVC("symmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    with pytest.raises(ValueError, match=message):
        permutation_importance(model, pairs, y, **options)


def test_wide_rows_are_refused():
    with pytest.raises(ValueError, match="got ndarray; expected Pairs, whose objects are shuffled"):
        permutation_importance(PairSVC("symmetric"), np.zeros((3, 4)), [1, -1, 1])
