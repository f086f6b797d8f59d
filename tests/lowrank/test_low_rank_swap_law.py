"""The swap law of low-rank models, with ``==``, on pairs of any objects in any order."""

from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import cases
from low_rank_twins import (
    BOTH,
    LEARNERS,
    decisions,
    kernel_of,
    learner,
    mirrored,
    some_pairs,
    targets_of,
    with_self_pairs,
)
from pairity import PairLogistic, Pairs
from pairity.kernels import Additive, Gaussian, Linear, Nystroem, Product

for_each = pytest.mark.parametrize("kind", LEARNERS)
for_both = pytest.mark.parametrize("symmetry", BOTH)
with_and_without_group = pytest.mark.parametrize("group", [False, True])


@lru_cache
def fitted(kind, symmetry, group):
    pairs = some_pairs(group=group)
    model = learner(kind, symmetry, kernel_of(group), solver="low_rank")
    return model.fit(pairs, targets_of(kind, pairs, symmetry))


@lru_cache
def fitted_wide(symmetry):
    """Many features: products of matrices treat rows at the end of a table differently."""
    pairs = cases.random_pairs(1, n=60, m=30, widths=(67, 0, 0), scale=0.1)
    kernel = Nystroem(Product(Gaussian(1.0)), 23) + Additive(Linear())
    return PairLogistic(symmetry, kernel=kernel).fit(pairs, targets_of("logistic", pairs, symmetry))


def assert_law(model, pairs):
    values = decisions(model, pairs)
    assert np.array_equal(decisions(model, pairs.swap()), mirrored(values, model.symmetry))
    return values


@for_each
@for_both
@with_and_without_group
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), m=st.integers(2, 50))
def test_any_pairs_of_new_objects(kind, symmetry, group, seed, n, m):
    """Few pairs of many objects, many pairs of few; some pairs alone; some of an object alone."""
    model = fitted(kind, symmetry, group)
    pairs = some_pairs(seed, n=n, m=m, group=group)
    assert_law(model, pairs)
    assert_law(model, pairs[: n // 2 + 1])
    assert_law(model, pairs[n - 1])
    alone = with_self_pairs(pairs, min(n, 4))
    if symmetry == "antisymmetric":
        assert decisions(model, alone).tolist() == [0.0] * len(alone)
    else:
        assert_law(model, alone)


@for_each
@for_both
@with_and_without_group
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_some_rows_of_a_batch_swapped(kind, symmetry, group, seed, data):
    model = fitted(kind, symmetry, group)
    pairs = some_pairs(seed, n=20, m=9, group=group)
    turned = np.array(data.draw(st.lists(st.booleans(), min_size=20, max_size=20)))
    mixed = Pairs(
        pairs.objects,
        np.where(turned, pairs.second, pairs.first),
        np.where(turned, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(turned[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    values = decisions(model, pairs)
    expected = np.where(turned, mirrored(values, symmetry), values)
    assert np.array_equal(decisions(model, mixed), expected)


@for_both
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n_repeated=st.integers(0, 5))
def test_tables_in_any_order_with_repeated_objects(symmetry, seed, n_repeated):
    model, rng = fitted_wide(symmetry), np.random.default_rng(seed)
    pairs = cases.random_pairs(seed, n=12, m=9, widths=(67, 0, 0), scale=0.1)
    table = np.vstack([pairs.objects, pairs.objects[rng.integers(9, size=n_repeated)]])
    order = rng.permutation(len(table))
    position = np.argsort(order)
    first, second = position[pairs.first], position[pairs.second]
    expected = decisions(model, pairs)
    assert np.array_equal(decisions(model, Pairs(table[order], first, second)), expected)
    assert np.array_equal(
        decisions(model, Pairs(table[order], second, first)), mirrored(expected, symmetry)
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9))
def test_look_alikes_are_exactly_zero(seed, n):
    model = fitted_wide("antisymmetric")
    objects = np.random.default_rng(seed).normal(scale=0.1, size=(n, 67))
    alike = Pairs(np.vstack([objects, objects]), np.arange(n), np.arange(n, 2 * n))
    assert decisions(model, alike).tolist() == [0.0] * n
    assert [decisions(model, single)[0] for single in alike] == [0.0] * n


@for_both
def test_wide_rows(symmetry):
    train = some_pairs(group=True)
    y = targets_of("svc", train, symmetry)
    widths = {"n_symmetric": 2, "n_antisymmetric": 2}
    model = learner("svc", symmetry, kernel_of(True), solver="low_rank", **widths)
    model.fit(train.to_rows(), y)
    pairs = some_pairs(8, n=30, group=True)
    values = decisions(model, pairs.to_rows())
    swapped = decisions(model, pairs.swap().to_rows())
    assert np.array_equal(swapped, mirrored(values, symmetry))
    assert np.abs(values).max() > 0.1


@for_both
def test_sparse_objects_in_sums(symmetry):
    rng = np.random.default_rng(4)
    objects = sp.csr_array(rng.random((20, 300)) * (rng.random((20, 300)) < 0.05))
    first = rng.integers(20, size=60)
    pairs = Pairs(objects, first, (first + rng.integers(1, 20, size=60)) % 20)
    labels = cases.random_labels(4, 60)
    model = PairLogistic(symmetry, kernel=Additive(Linear()), solver="low_rank").fit(pairs, labels)
    assert np.abs(assert_law(model, pairs)).max() > 0.1
    for single in pairs[:5]:
        assert_law(model, single)


@pytest.mark.parametrize("count", [1, 2])
@for_both
def test_threads(symmetry, count, threads):
    model = fitted("logistic", symmetry, True)
    pairs = some_pairs(3, n=20_000, m=150, group=True)
    threads(1)
    expected = decisions(model, pairs)
    threads(count)
    assert np.array_equal(assert_law(model, pairs), expected)


@for_both
def test_objects_changed_in_place_are_seen(symmetry):
    """Features of a table are kept for the next pairs: of equal numbers, not of the same array."""
    model = fitted("logistic", symmetry, False)
    pairs = some_pairs(6)
    table = np.array(pairs.objects)
    before = decisions(model, Pairs(table, pairs.first, pairs.second))
    table[:] = some_pairs(7).objects
    after = decisions(model, Pairs(table, pairs.first, pairs.second))
    assert not np.array_equal(before, after)
    fresh = decisions(model, Pairs(table.copy(), pairs.first, pairs.second))
    assert np.array_equal(after, fresh)


def test_no_pairs_no_values():
    assert decisions(fitted("svc", "symmetric", False), some_pairs()[:0]).shape == (0,)


@for_both
def test_many_objects_are_taken_in_parts(symmetry, monkeypatch):
    """More features of objects than are held at a time: pairs are cut, and the law stays."""
    model, pairs = fitted("logistic", symmetry, True), some_pairs(5, n=60, m=40, group=True)
    whole = decisions(model, pairs)
    monkeypatch.setattr("pairity.solvers.low_rank.function._TABLE_ENTRIES", 8 * 12)
    parts = assert_law(model, pairs)
    np.testing.assert_allclose(parts, whole, rtol=0.0, atol=1e-12)
