"""The one order of a pair: the same for a pair and its swap, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from pairity import Pairs
from pairity.pairs.parity import Orientation, Parity


def some_pairs(seed):
    """Pairs of few objects, some with themselves, some of look-alikes; some odd features are 0."""
    rng = np.random.default_rng(seed)
    objects = cases.random_pairs(seed, m=5).objects[[0, 1, 2, 3, 4, 0, 1]]
    first, second = rng.integers(7, size=(2, 20))
    odd = rng.integers(-1, 2, size=(20, 2)).astype(float)
    odd[first == second] = 0.0
    return Pairs(objects, first, second, antisymmetric=odd).compact()


def in_one_order(pairs):
    return pairs.with_swapped(Orientation.of_compact(pairs).turned)


@given(seed=st.integers(0, 10**6), rows=st.lists(st.booleans(), min_size=20, max_size=20))
def test_any_rows_written_in_the_other_order_have_the_same_one_order(seed, rows):
    pairs = some_pairs(seed)
    one, other = in_one_order(pairs), in_one_order(pairs.with_swapped(np.array(rows)))
    for name in ("first", "second", "symmetric", "antisymmetric"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert mine.tobytes() == yours.tobytes()  # no -0.0 on one side
    alike = Orientation.of_compact(pairs).alike
    itself = (pairs.first == pairs.second) & ~pairs.antisymmetric.any(axis=1)
    assert np.array_equal(alike, itself)


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_values_in_the_orders_given(shape):
    order = Orientation(np.array([True, False, False]), np.array([False, False, True]))
    values = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    assert np.array_equal(order.restored(Parity.EVEN, values), values)
    signs = np.array([-1.0, 1.0, 0.0]).reshape(3, *(1 for _ in shape[1:]))
    assert np.array_equal(order.restored(Parity.ODD, values), signs * values)


def test_rows_of_a_mask_are_swapped():
    pairs, rows = cases.random_pairs(3), np.arange(14) % 2 == 0
    turned, swapped = pairs.with_swapped(rows), pairs.swap()
    for name in ("first", "second", "symmetric", "antisymmetric"):
        expected = getattr(pairs, name).copy()
        expected[rows] = getattr(swapped, name)[rows]
        assert np.array_equal(getattr(turned, name), expected)
