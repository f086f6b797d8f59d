"""Operators on some pairs, and held in memory, against the plain one."""

import numpy as np
import pytest

import cases
from pairity.kernels import Gaussian, Tensor
from pairity.operators.feature_table import FeatureTable
from pairity.operators.pair_operator import PairOperator
from pairity.operators.restricted import (
    Copied,
    HeldRoughly,
    Resident,
    Restricted,
    beside,
    held_for_products,
)
from pairity.operators.tiles import Tiles, terms_of
from pairity.runtime.resources import Budget


@pytest.fixture(params=["plain", "resident"])
def operator(request):
    plain = PairOperator(Tensor(Gaussian(1.1)), cases.random_pairs(0, n=15).compact())
    return plain if request.param == "plain" else Resident(plain)


def test_a_restriction_is_a_part_of_the_matrix(operator):
    chosen = np.array([2, 3, 7, 11])
    part = Restricted(operator, chosen)
    whole = PairOperator(Tensor(Gaussian(1.1)), operator.left).block(slice(None), slice(None))
    expected = whole[np.ix_(chosen, chosen)]
    vector = np.array([0.5, 0.0, -1.0, 2.0])
    np.testing.assert_allclose(part.block(slice(None), slice(None)), expected, atol=1e-14)
    np.testing.assert_allclose(part.block(np.array([1]), np.array([0, 3])), expected[1:2, [0, 3]])
    np.testing.assert_allclose(part.rows(np.array([2])), expected[2:3], atol=1e-14)
    np.testing.assert_allclose(part.product(vector), expected @ vector, atol=1e-14)
    np.testing.assert_allclose(part.diagonal(), np.diag(expected), atol=1e-14)
    np.testing.assert_allclose(part.everywhere(vector), whole[:, chosen] @ vector, atol=1e-13)
    assert part.shape == (4, 4)
    assert len(part.left) == 4


def test_a_copy_has_rough_products_and_keeps_its_features(operator):
    chosen = np.array([2, 3, 7, 11])
    part, copy = Restricted(operator, chosen), Copied(operator, chosen)
    vector = np.array([0.5, 0.0, -1.0, 2.0])
    rough, product = copy.rough_product(vector), part.product(vector)
    assert copy.has_rough_products
    assert rough.dtype == np.float64
    np.testing.assert_allclose(rough, product, rtol=1e-5)
    assert not np.array_equal(rough, product)  # of single precision
    np.testing.assert_array_equal(copy.product(vector), product)
    features = FeatureTable.of(copy, 3, Budget())
    assert FeatureTable.of(copy, 3, Budget()) is features
    assert FeatureTable.of(copy, 2, Budget()) is not features
    np.testing.assert_allclose(
        features.table, FeatureTable.of(part, 3, Budget()).table, rtol=1e-4, atol=1e-5
    )


def test_a_resident_matrix_fills_the_array_given(operator):
    if not isinstance(operator, Resident):
        pytest.skip("about matrices in memory")
    out = np.empty((2, 3))
    rows, columns = np.array([1, 4]), np.array([0, 5, 9])
    assert operator.block(rows, columns, out) is out
    np.testing.assert_allclose(out, operator.block(slice(None), slice(None))[np.ix_(rows, columns)])
    sparse, full = np.zeros(15), np.ones(15)
    sparse[3] = 2.0
    matrix = operator.block(slice(None), slice(None))
    np.testing.assert_allclose(operator.product(sparse), matrix @ sparse)
    np.testing.assert_allclose(operator.product(full), matrix @ full)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squares_of_a_resident_matrix_are_those_of_its_operator(operator, dtype, monkeypatch):
    """In several ranges of rows too; both sides of the diagonal are equal."""
    monkeypatch.setattr("pairity.operators.restricted._ROWS_PER_RANGE", 3)
    monkeypatch.setattr("pairity.operators.restricted._ROWS_TO_GATHER", 2)
    chosen = np.array([11, 2, 3, 14, 7, 0, 9])
    plain = PairOperator(Tensor(Gaussian(1.1)), operator.left)
    squares = [np.full((7, 7), np.nan, dtype) for _ in range(2)]
    for each, square in zip((plain, operator), squares, strict=True):
        each.square(chosen, square)
    np.testing.assert_allclose(*squares, rtol=4.0 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(squares[1], squares[1].T)


def test_structure_is_that_of_all_objects(operator):
    part = Restricted(operator, np.array([0, 1]))
    assert part.structure is not None
    assert part.spectral_grid is operator.spectral_grid
    assert part.structure.gram.shape == (operator.left.n_objects,) * 2


@pytest.mark.parametrize(
    ("megabytes", "most", "kind"), [(1.0, 15, Resident), (1.0, 14, HeldRoughly), (0.001, 14, Tiles)]
)
def test_a_costly_matrix_is_held_within_the_memory(monkeypatch, megabytes, most, kind):
    """In double precision up to a size, in single precision for rough products beyond it."""
    monkeypatch.setattr("pairity.operators.blockwise._MOST_RESIDENT", most)
    pairs, kernel = cases.random_pairs(0, n=15).compact(), Tensor(Gaussian(1.1))
    operator = Tiles(kernel, pairs, terms_of(kernel, pairs, pairs))
    held, vector = held_for_products(operator, Budget(megabytes)), np.cos(np.arange(15.0))
    assert type(held) is kind
    if kind is HeldRoughly:
        assert beside(held, Budget(1.0)).megabytes == pytest.approx(1.0 - 4e-6 * 15**2)
    np.testing.assert_allclose(held.rough_product(vector), operator.product(vector), rtol=1e-5)
    np.testing.assert_allclose(held.product(vector), operator.product(vector), rtol=1e-12)
