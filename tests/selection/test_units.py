"""Dealing is even, joining is transitive, and identity follows its rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity import Pairs
from pairity.model_selection.splitter import deal, deal_groups
from pairity.pairs.same_objects import ends_of, join


@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=60),
    n_folds=st.integers(2, 7),
    seed=st.integers(0, 100),
)
def test_folds_are_even_in_number_and_weight(weights, n_folds, seed):
    weights = np.array(weights)
    folds = deal(weights, n_folds, np.random.default_rng(seed))
    numbers = np.bincount(folds, minlength=n_folds)
    sums = np.bincount(folds, weights=weights, minlength=n_folds)
    assert len(numbers) == n_folds
    assert numbers.max() - numbers.min() <= 1
    assert sums.max() - sums.min() <= weights.max()


@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=60),
    n_folds=st.integers(2, 7),
    seed=st.integers(0, 100),
)
def test_groups_are_even_in_weight_and_leave_no_fold_empty(weights, n_folds, seed):
    weights = np.array(weights)
    folds = deal_groups(weights, n_folds, np.random.default_rng(seed))
    sums = np.bincount(folds, weights=weights, minlength=n_folds)
    assert sums.max() - sums.min() <= weights.max()
    assert len(set(folds.tolist())) == min(n_folds, len(weights))


def test_a_giant_group_stands_alone():
    folds = deal_groups(np.array([100, 5, 5, 5, 5, 5, 5]), 3, np.random.default_rng(0))
    assert np.count_nonzero(folds == folds[0]) == 1


def test_equal_weights_are_dealt_in_random_order():
    deals = {tuple(deal(np.ones(6), 3, np.random.default_rng(seed))) for seed in range(30)}
    assert len(deals) > 10


def test_join_follows_chains():
    left, right = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])
    joined = join(left, right)
    assert joined[0] == joined[1] == joined[2]
    assert len(set(joined.tolist())) == 3


@pytest.fixture
def lookalikes():
    """Rows 0 and 2 have equal features; rows 1 and 2 share an id."""
    return Pairs([[1.0], [5.0], [1.0]], [0, 1], [1, 2], ids=["a", "b", "b"])


@pytest.mark.parametrize(
    ("identity", "ids", "n_objects", "same"),
    [
        ("auto", True, 2, True),
        ("ids", True, 2, True),
        ("content", True, 2, False),
        ("rows", True, 3, False),
        ("auto", False, 2, False),
    ],
)
def test_the_rule_of_identity(lookalikes, identity, ids, n_objects, same):
    pairs = lookalikes
    if not ids:
        pairs = Pairs(pairs.objects, pairs.first, pairs.second)
    ends = ends_of(pairs, identity)
    assert ends.n_objects == n_objects
    assert (ends.first[1] == ends.second[1]) == same


def test_objects_without_features_are_told_apart_by_row():
    pairs = Pairs(np.zeros((4, 0)), [0, 2], [1, 3], symmetric=[[1.0], [2.0]])
    assert ends_of(pairs).n_objects == 4


def test_objects_that_no_pair_has_do_not_count():
    assert ends_of(Pairs(np.eye(9), [7], [3])).n_objects == 2
    assert ends_of(Pairs(np.eye(9), [], [])).n_objects == 0
