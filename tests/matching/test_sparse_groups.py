"""Groups and one-to-one matches on sparse candidates are those of the dense tables."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment

from pairity.inspection import sparse_groups
from pairity.inspection.sparse_groups import (
    average_groups,
    linked_parts,
    one_to_one,
    pairs_within,
)

SEEDS = st.integers(0, 100_000)


def dense_groups(similarity, method, threshold):
    """SciPy's clustering of all pairs, cut above the threshold."""
    top = similarity.max()
    below = np.nextafter(top - threshold, -np.inf)
    if below < 0:
        return list(range(int((1 + np.sqrt(1 + 8 * len(similarity))) // 2)))
    return fcluster(linkage(top - similarity, method), below, criterion="distance").tolist()


def same_partition(one, two):
    return len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_average_and_single_linkage(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 14))
    first, second = np.triu_indices(n, 1)
    values, threshold = random.normal(size=len(first)), float(random.normal() / 2)
    there = random.uniform(size=len(first)) < random.uniform(0.2, 1.0)
    every = np.where(there, values, -5.0)
    given_pairs = first[there], second[there], values[there]
    turned = second[there], first[there], values[there]
    groups = average_groups(*given_pairs, n, threshold, -5.0)
    assert same_partition(groups.tolist(), dense_groups(every, "average", threshold))
    assert (groups == average_groups(*turned, n, threshold, -5.0)).all()
    parts = linked_parts(*given_pairs, n, threshold)
    assert same_partition(parts.tolist(), dense_groups(every, "single", threshold))
    assert (np.diff(np.bincount(groups)) <= 0).all()  # the largest first


@pytest.mark.parametrize("dense", [4_000_000, 0], ids=["dense parts", "sparse parts"])
@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_one_to_one_is_the_best_assignment(dense, seed):
    random = np.random.default_rng(seed)
    gains = random.normal(size=random.integers(1, 8, 2))
    threshold = float(random.normal() / 3)
    profit = np.maximum(gains - threshold, 0.0)
    best = profit[linear_sum_assignment(profit, maximize=True)].sum()
    first, second = map(np.ravel, np.indices(gains.shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_groups, "_DENSE", dense)
        kept = one_to_one(first, 50 + second, gains.ravel(), threshold)
    assert len(set(first[kept])) == len(set(second[kept])) == kept.sum()
    assert (gains.ravel()[kept] > threshold).all()
    assert (gains.ravel()[kept] - threshold).sum() == pytest.approx(best, abs=1e-12)


def test_degenerate_candidates():
    none = np.zeros(0, dtype=np.intp)
    assert one_to_one(none, none, np.zeros(0), 0.0).tolist() == []
    assert average_groups(none, none, np.zeros(0), 3, 0.0, -1.0).tolist() == [0, 1, 2]
    twice = np.array([0, 1, 0]), np.array([1, 0, 0]), np.array([0.1, 2.0, 9.0])  # and (0, 0)
    assert average_groups(*twice, 2, 1.0, -1.0).tolist() == [0, 0]
    kept = one_to_one(np.array([0, 0]), np.array([5, 5]), np.array([1.0, 2.0]), 0.0)
    assert kept.tolist() == [False, True]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=25), st.integers(0, 40))
def test_pairs_within_parts(labels, most):
    parts = np.unique(labels, return_inverse=True)[1].reshape(-1)
    found = set(zip(*(end.tolist() for end in pairs_within(parts, most)), strict=True))
    every = list(combinations(range(len(parts)), 2))
    inside = {(a, b) for a, b in every if parts[a] == parts[b]}
    assert found <= inside
    assert len(found) <= most
    sizes = sorted(np.bincount(parts).tolist())
    taken, allowed = 0, 0
    for size in sizes:
        taken += size * (size - 1) // 2
        allowed = taken if taken <= most else allowed
    assert len(found) == allowed
