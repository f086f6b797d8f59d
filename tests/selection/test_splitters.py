"""Every splitter keeps its promise, on random incomplete pair sets, and works in scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GridSearchCV,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)

from cases import random_pairs
from pairity import Pairs, PairSVC
from pairity.kernels import Gaussian
from pairity.model_selection import (
    ObjectKFold,
    ObjectShuffleSplit,
    PairKFold,
    PairShuffleSplit,
    Repeated,
    TimeSplit,
)

SPLITTERS = {
    "pairs": PairKFold(3),
    "pairs-all": PairKFold(3, new=(0, 1, 2)),
    "pairs-stratified": PairKFold(3, new=(0, 1, 2), stratify=True),
    "pairs-drawn": PairShuffleSplit(3, test_size=0.25),
    "one-new": ObjectKFold(3, new=1),
    "some-new": ObjectKFold(3, new=(1, 2)),
    "both-new": ObjectKFold(2),
    "both-new-drawn": ObjectShuffleSplit(3, test_size=0.4),
    "one-new-drawn": ObjectShuffleSplit(2, test_size=2, new=1),
    "repeated": Repeated(ObjectKFold(2, new=1), 2),
    "time": TimeSplit(3),
    "time-seen": TimeSplit(2, new=0),
}


def promised(splitter):
    splitter = getattr(splitter, "splitter", splitter)
    return {splitter.new} if isinstance(splitter.new, int) else set(splitter.new)


@st.composite
def pair_sets(draw, with_ids=None):
    """Incomplete, repeated, mirrored pairs, pairs (a, a), and rows that look alike."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    n_objects, n = draw(st.integers(6, 14)), draw(st.integers(25, 80))
    features = rng.integers(0, 3, size=(n_objects, draw(st.integers(2, 4)))).astype(float)
    named = draw(st.booleans()) if with_ids is None else with_ids
    ids = [f"team {row // 2}" for row in range(n_objects)] if named else None
    ends = rng.integers(0, n_objects, size=(2, n))
    return Pairs(features, *ends, rng.normal(size=(n, 1)), ids=ids)


def keys_of(pairs):
    """Plain twin of the rule of identity: the id, or the features."""
    if pairs.ids is not None:
        return list(pairs.ids)
    return [tuple(row) for row in pairs.objects.tolist()]


def objects_of(pairs, rows):
    keys = keys_of(pairs)
    return {keys[place] for row in rows for place in (pairs.first[row], pairs.second[row])}


def unordered(pairs, rows):
    keys = keys_of(pairs)
    return {frozenset((keys[pairs.first[row]], keys[pairs.second[row]])) for row in rows}


def splits_or_skip(splitter, pairs, *rest, **options):
    """Sets that are too small for a split are refused with a sentence, and left out here."""
    try:
        return list(splitter.split(pairs, *rest, **options))
    except ValueError as refusal:
        if "; expected" not in str(refusal):
            raise
    return assume(False)


@pytest.mark.parametrize("name", SPLITTERS)
@given(pairs=pair_sets())
def test_promises_hold_on_random_incomplete_sets(name, pairs):
    splitter, keys = SPLITTERS[name], keys_of(pairs)
    labels = np.arange(len(pairs)) % 2
    splits = splits_or_skip(splitter, pairs, labels)
    assert len(splits) == splitter.get_n_splits(pairs)
    for train, test in splits:
        assert len(train) > 0
        assert len(test) > 0
        assert not set(train) & set(test)
        seen = objects_of(pairs, train)
        for row in test:
            ends = keys[pairs.first[row]], keys[pairs.second[row]]
            assert sum(end not in seen for end in ends) in promised(splitter)
        if not isinstance(splitter, TimeSplit):
            assert not unordered(pairs, train) & unordered(pairs, test)
        if promised(splitter) == {2}:
            assert not seen & objects_of(pairs, test)


@pytest.mark.parametrize("name", SPLITTERS)
@given(pairs=pair_sets(), flips=st.integers(0, 2**32 - 1))
def test_the_order_in_which_a_pair_is_written_does_not_matter(name, pairs, flips):
    flip = np.random.default_rng(flips).random(len(pairs)) < 0.5
    first = np.where(flip, pairs.second, pairs.first)
    second = np.where(flip, pairs.first, pairs.second)
    other = Pairs(pairs.objects, first, second, pairs.symmetric, ids=pairs.ids)
    labels = np.arange(len(pairs)) % 2
    one = splits_or_skip(SPLITTERS[name], pairs, labels)
    for (train, test), (other_train, other_test) in zip(
        one, SPLITTERS[name].split(other, labels), strict=True
    ):
        assert np.array_equal(train, other_train)
        assert np.array_equal(test, other_test)


@pytest.mark.parametrize("name", [name for name in SPLITTERS if "time" not in name])
@given(pairs=pair_sets(), seed=st.integers(0, 1000))
def test_the_order_of_the_rows_does_not_matter(name, pairs, seed):
    order = np.random.default_rng(seed).permutation(len(pairs))
    labels = np.arange(len(pairs)) % 2
    one = splits_or_skip(SPLITTERS[name], pairs, labels)
    for (train, test), (moved_train, moved_test) in zip(
        one, SPLITTERS[name].split(pairs[order], labels[order]), strict=True
    ):
        assert set(train) == set(order[moved_train])
        assert set(test) == set(order[moved_test])


@pytest.mark.parametrize("name", SPLITTERS)
@given(pairs=pair_sets(with_ids=False))
def test_wide_rows_are_split_like_their_pairs(name, pairs):
    splitter, labels = SPLITTERS[name], np.arange(len(pairs)) % 2
    one = splits_or_skip(splitter, pairs, labels)
    inner = getattr(splitter, "splitter", splitter)
    inner.n_symmetric = 1
    try:
        other = list(splitter.split(pairs.to_rows(), labels))
    finally:
        inner.n_symmetric = 0
    for (train, test), (rows_train, rows_test) in zip(one, other, strict=True):
        assert np.array_equal(train, rows_train)
        assert np.array_equal(test, rows_test)


@pytest.mark.parametrize("name", [name for name in SPLITTERS if "time" not in name])
@given(pairs=pair_sets(), group_seed=st.integers(0, 100))
def test_groups_of_pairs_are_never_on_both_sides(name, pairs, group_seed):
    groups = np.random.default_rng(group_seed).integers(0, 25, size=len(pairs))
    labels = np.arange(len(pairs)) % 2
    for train, test in splits_or_skip(SPLITTERS[name], pairs, labels, groups):
        assert not set(groups[train]) & set(groups[test])
        assert not unordered(pairs, train) & unordered(pairs, test)


@given(pairs=pair_sets())
def test_pair_folds_with_any_objects_are_a_partition(pairs):
    tests = [test for _, test in splits_or_skip(PairKFold(4, new=(0, 1, 2)), pairs)]
    assert sorted(np.concatenate(tests)) == list(range(len(pairs)))


def test_the_counts_of_the_paper():
    """Section 6: 25 objects, 5 folds: 19 * 20 = 380 and 4 * 5 = 20 ordered pairs."""
    ordered = Pairs.complete(np.random.default_rng(0).normal(size=(25, 2))).with_mirrored()
    assert len(ordered) == 24 * 25
    for fold in ObjectKFold(5).report(ordered):
        assert (fold.n_train, fold.n_test, fold.n_dropped) == (380, 20, 200)
        assert fold.n_crossing == 200
        assert fold.n_shared_objects == 0
        assert fold.setting == "both objects new"
    tested = [ordered[test] for _, test in ObjectKFold(5).split(ordered)]
    held = [set(part.first) | set(part.second) for part in tested]
    assert sorted(place for objects in held for place in objects) == list(range(25))


@pytest.mark.parametrize(("m", "folds"), [(12, 3), (25, 5), (30, 10)])
def test_the_counts_that_the_documentation_states(m, folds):
    pairs, s = Pairs.complete(np.arange(float(m))[:, None]), m // folds
    train = (m - s) * (m - s - 1) // 2
    expected = {
        2: (train, s * (s - 1) // 2, s * (m - s)),
        1: (train, s * (m - s), s * (s - 1) // 2),
        (1, 2): (train, s * (2 * m - s - 1) // 2, 0),
    }
    for new, counts in expected.items():
        for row in ObjectKFold(folds, new=new).report(pairs):
            assert (row.n_train, row.n_test, row.n_dropped) == counts


def test_folds_of_one_new_object_are_balanced_although_degrees_are_not(rng):
    weight = 1.0 / np.arange(1, 61)
    ends = rng.choice(60, size=(2, 4000), p=weight / weight.sum())
    ends = ends[:, ends[0] != ends[1]]
    pairs = Pairs(np.eye(60), *ends)

    def spread(sizes):
        return max(sizes) / min(sizes)

    dealt = [row.n_test for row in ObjectKFold(5, new=(1, 2)).report(pairs)]
    drawn = [
        spread(
            [np.isin(ends, part).any(axis=0).sum() for part in rng.permutation(60).reshape(5, 12)]
        )
        for _ in range(20)
    ]
    assert spread(dealt) < 1.8
    assert np.mean(drawn) > 2.5  # folds of equal size, drawn without a look at the pairs


def test_objects_of_a_group_are_held_out_together(rng):
    pairs = random_pairs(0, n=200, m=20)
    group = rng.integers(0, 6, size=20)
    for train, test in ObjectKFold(3, object_groups=group).split(pairs):
        known = set(group[pairs.first[train]]) | set(group[pairs.second[train]])
        tested = set(group[pairs.first[test]]) | set(group[pairs.second[test]])
        assert not known & tested


def test_groups_of_equal_objects_are_one_group():
    """Rows 0 and 3 are the same object, so their groups cannot part."""
    table = np.array([[0.0], [1.0], [2.0], [0.0], [4.0], [5.0]])
    pairs = Pairs(table, [0, 3, 1, 4, 2], [1, 4, 2, 5, 5])
    group = ["a", "a", "c", "b", "b", "c"]
    held = [set(test) for _, test in ObjectKFold(2, object_groups=group).split(pairs)]
    assert sorted(held, key=len) == [{4}, {0, 1}]
    with pytest.raises(ValueError, match="got 2 groups of objects"):
        next(ObjectKFold(3, object_groups=group).split(pairs))


def test_components_lose_no_pair():
    first = np.array([0, 1, 3, 4, 6, 7, 9])
    pairs = Pairs(np.eye(11), first, first + 1)
    splits = ObjectKFold(4, object_groups="components").report(pairs)
    assert [row.n_dropped for row in splits] == [0] * 4
    assert sum(row.n_test for row in splits) == len(pairs)
    assert all(row.setting == "both objects new" for row in splits)


def test_stratified_folds_share_out_the_rare_label():
    pairs = Pairs.complete(np.eye(25))
    y = np.full(len(pairs), -1)
    y[:10] = 1
    splits = list(PairKFold(5, new=(0, 1, 2), stratify=True).split(pairs, y))
    assert [np.count_nonzero(y[test] == 1) for _, test in splits] == [2] * 5
    with pytest.raises(ValueError, match="no y; expected labels"):
        next(PairKFold(5, stratify=True).split(pairs))


@given(pairs=pair_sets(), gap=st.integers(0, 2), seed=st.integers(0, 1000))
def test_time_never_runs_backwards(pairs, gap, seed):
    times = np.random.default_rng(seed).integers(0, 30, size=len(pairs)) * 0.5
    for train, test in splits_or_skip(TimeSplit(3, gap=gap), pairs, groups=times):
        assert times[train].max() < times[test].min()
        left_out = {time for time in times if times[train].max() < time < times[test].min()}
        assert len(left_out) == gap


def test_time_blocks_hold_equally_many_pairs():
    pairs = random_pairs(0, n=120, m=9)
    sizes = [len(test) for _, test in TimeSplit(5).split(pairs)]
    assert sizes == [20] * 5
    with pytest.raises(ValueError, match="different times with too many pairs"):
        next(TimeSplit(5).split(pairs, groups=np.zeros(120)))


def test_seeds_decide():
    pairs = random_pairs(1, n=60, m=12)

    def rows(splitter):
        return [test.tolist() for _, test in splitter.split(pairs)]

    for make in (PairKFold, ObjectKFold, PairShuffleSplit, ObjectShuffleSplit):
        assert rows(make(3, random_state=1)) == rows(make(3, random_state=1))
        assert rows(make(3, random_state=1)) != rows(make(3, random_state=2))
        rows(make(3, random_state=np.random.RandomState(0)))
    runs = rows(Repeated(ObjectKFold(3), 2))
    assert runs[:3] != runs[3:]
    assert len(list(Repeated(ShuffleSplit(2), 3).split(pairs))) == 6


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_every_splitter_serves_cross_validation_and_search(name, symmetry):
    rng = np.random.default_rng(5)
    objects = rng.normal(size=(24, 2))
    pairs = Pairs.complete(objects)
    left, right = objects[pairs.first, 0], objects[pairs.second, 0]
    y = np.where(left > right if symmetry == "antisymmetric" else left * right > 0, 1, -1)
    model, splitter = PairSVC(symmetry, kernel=Gaussian(1.5)), SPLITTERS[name]
    order = rng.permutation(len(pairs))  # time splits take rows in their order
    pairs, y = pairs[order], y[order]
    scores = cross_val_score(model, pairs, y, cv=splitter, error_score="raise")
    assert len(scores) == splitter.get_n_splits()
    assert scores.mean() > 0.6
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=splitter, error_score="raise")
    search.fit(pairs, y)
    assert search.best_score_ > 0.6
    assert search.n_splits_ == splitter.get_n_splits()
    rows = cross_val_score(model, pairs.to_rows(), y, cv=splitter, error_score="raise")
    assert np.allclose(rows, scores)


def test_groups_reach_the_splitter_through_scikit_learn():
    pairs = random_pairs(3, n=90, m=14, widths=(2, 0, 0))
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    times = np.arange(90) // 10
    model = PairSVC("antisymmetric", kernel="linear")
    done = cross_validate(
        model, pairs, y, cv=TimeSplit(2), groups=times, return_indices=True, error_score="raise"
    )
    assert all(
        times[train].max() < times[test].min()
        for train, test in zip(done["indices"]["train"], done["indices"]["test"], strict=True)
    )
    GridSearchCV(model, {"C": [1.0]}, cv=PairKFold(3)).fit(pairs, y, groups=times)
    predicted = cross_val_predict(model, pairs, y, cv=PairKFold(5, new=(0, 1, 2)))
    assert np.mean(predicted == y) > 0.8


def test_groups_can_be_routed_as_metadata():
    from sklearn import config_context

    pairs = random_pairs(3, n=90, m=14, widths=(2, 0, 0))
    y = np.where(pairs.objects[pairs.first, 0] > pairs.objects[pairs.second, 0], 1, -1)
    with config_context(enable_metadata_routing=True):
        done = cross_validate(
            PairSVC("antisymmetric", kernel="linear"),
            pairs,
            y,
            cv=TimeSplit(2),
            params={"groups": np.arange(90) // 10},
            error_score="raise",
        )
    assert len(done["test_score"]) == 2


def test_splitters_print_as_they_are_made():
    assert repr(ObjectKFold(4, new=1)).startswith("ObjectKFold(identity='auto', n_antisymmetric=0")
    assert "n_splits=4" in repr(ObjectKFold(4, new=1))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: PairKFold(1), "n_splits=1; expected an integer of at least 2"),
        (lambda: ObjectKFold(2.5), "n_splits=2.5; expected an integer"),
        (lambda: ObjectKFold(5, new=3), "new=3; expected 0, 1 or 2"),
        (lambda: PairKFold(5, new=()), r"new=\(\); expected 0, 1 or 2"),
        (lambda: PairKFold(5, identity="name"), "identity='name'; expected one of"),
        (lambda: ObjectKFold(5, object_groups="parts"), "object_groups='parts'; expected one of"),
        (lambda: PairShuffleSplit(test_size=1.5), "test_size=1.5; expected a share"),
        (lambda: ObjectShuffleSplit(test_size=0), "test_size=0; expected a share"),
        (lambda: Repeated(TimeSplit(3)), "expected a splitter with a random_state"),
        (lambda: Repeated(PairKFold(3), 0), "n_repeats=0; expected an integer"),
        (lambda: TimeSplit(3, gap=-1), "gap=-1; expected an integer"),
        (lambda: PairKFold(5, new=None), "new=None; expected 0, 1 or 2"),
        (lambda: PairKFold(5, random_state=-1), "random_state=-1; expected a whole number"),
        (lambda: ObjectKFold(5, random_state="x"), "random_state='x'; expected a whole number"),
        (lambda: Repeated(PairKFold(3), random_state=1.5), "random_state=1.5; expected a whole"),
        (lambda: PairKFold(5, n_symmetric=-1), "n_symmetric=-1; expected an integer"),
        (lambda: TimeSplit(5, n_antisymmetric="x"), "n_antisymmetric='x'; expected an integer"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("splitter", "options", "sentence"),
    [
        (PairKFold(5), {}, "got 3 unordered pairs to hold out for n_splits=5"),
        (ObjectKFold(5), {}, "got 4 objects to hold out for n_splits=5"),
        (ObjectKFold(2, object_groups=[0, 1]), {}, r"object_groups of shape \(2,\)"),
        (PairKFold(2), {"groups": [0]}, r"groups of shape \(1,\); expected \(3,\)"),
        (ObjectKFold(4), {}, "no test pairs with new=2 objects in split"),
        (PairKFold(2, identity="ids"), {}, "identity='ids' for pairs without ids"),
        (ObjectShuffleSplit(test_size=4), {}, "test_size=4 for 4 units"),
        (PairKFold(2, new=(0, 1, 2)), {"groups": [1, 1, 1]}, "got 1 unordered pairs to hold out"),
        (TimeSplit(1, gap=3), {}, "no training pairs in split 0"),
    ],
)
def test_sets_that_cannot_be_split_are_refused(splitter, options, sentence):
    path = Pairs(np.arange(4.0)[:, None], [0, 1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=sentence):
        list(splitter.split(path, **options))


def test_a_share_in_single_precision_is_a_share():
    league = Pairs.complete(np.arange(8.0)[:, None])
    splits = [
        PairShuffleSplit(2, test_size=size).split(league) for size in (0.25, np.float32(0.25))
    ]
    for (train, test), (other, held) in zip(*splits, strict=True):
        assert (train.tolist(), test.tolist()) == (other.tolist(), held.tolist())


def test_object_groups_need_a_table():
    rows = Pairs.complete(np.eye(4)).to_rows()
    with pytest.raises(ValueError, match="object_groups with wide rows; expected Pairs"):
        next(ObjectKFold(2, object_groups=[0, 0, 1, 1]).split(rows))
