"""The operator against the dense Gram matrix: one test for all kernels and all its methods."""

import numpy as np
import pytest

import cases
from pairity.kernels import (
    Balanced,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    Polynomial,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.operators import PairOperator

#: Few objects in many pairs make products go through object matrices; many objects do not.
SHAPES = {
    "few objects": {"n": 260, "m": 8},
    "as many as pairs": {"n": 40, "m": 40},
    "one pair": {"n": 1, "m": 3},
}


def left_and_right(shape, widths):
    left = cases.random_pairs(1, widths=widths, **SHAPES[shape])
    right = cases.random_pairs(2, widths=widths, **SHAPES[shape])
    return left, right


def assert_acts_like_the_gram_matrix(kernel, left, right):
    operator = PairOperator(kernel, left, right)
    gram = kernel.gram(left, right)
    scale = np.abs(gram).max()
    assert operator.shape == gram.shape

    index = np.array([len(left) - 1, 0, len(left) // 2], dtype=np.intp)
    np.testing.assert_allclose(operator.rows(index), gram[index], rtol=0, atol=1e-12 * scale)

    rng = np.random.default_rng(3)
    for share_of_zeros in (0.0, 0.7, 1.0):
        vector = rng.normal(size=len(right)) * (rng.random(len(right)) >= share_of_zeros)
        bound = 1e-12 * (scale * np.abs(vector).sum() + np.finfo(float).tiny)
        np.testing.assert_allclose(operator.product(vector), gram @ vector, rtol=0, atol=bound)

    np.testing.assert_allclose(operator.diagonal(), np.diagonal(gram), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_with_group_features(case, shape):
    assert_acts_like_the_gram_matrix(case.kernel, *left_and_right(shape, cases.WIDTHS))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", cases.cases_without_group(), ids=repr)
def test_with_individual_features_alone(case, shape):
    assert_acts_like_the_gram_matrix(case.kernel, *left_and_right(shape, (3, 0, 0)))


@pytest.mark.parametrize("case", cases.cases_without_group(), ids=repr)
def test_with_sparse_objects(case):
    left, right = left_and_right("few objects", (3, 0, 0))
    assert_acts_like_the_gram_matrix(case.kernel, cases.sparse_twin(left), cases.sparse_twin(right))


@pytest.mark.parametrize(
    "kernel",
    [
        Linear() + 1e-14 * Polynomial(3),
        Balanced(Polynomial(4)),
        SkewBalanced(Polynomial(5)),
        MetricLearning(Gaussian(0.5)) * Tensor(Linear()),
        TensorMetric(Polynomial(2)) + DirectSum(Gaussian(2.0)),
        Tensor(Gaussian(1.0)) * Tensor(Linear()) * DirectSum(Polynomial(2)),
        (SkewBalanced(Linear()) * SkewBalanced(Linear())) * SkewBalanced(Linear()),
        (Linear() + Gaussian(1.0)) * (Polynomial(2) + 0.5 * Linear()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("scale", [0.7, 50.0])
def test_longer_expansions(kernel, scale):
    """Tiny weights, many terms, all four edges in one product."""
    left, right = (
        cases.random_pairs(seed, n=120, m=6, widths=(3, 0, 0), scale=scale) for seed in (4, 5)
    )
    assert_acts_like_the_gram_matrix(kernel, left, right)


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_square_operator_is_that_of_the_pairs_with_themselves(case):
    pairs = cases.random_pairs(6, n=30)
    vector = np.random.default_rng(7).normal(size=30)
    one, two = PairOperator(case.kernel, pairs), PairOperator(case.kernel, pairs, pairs)
    assert np.array_equal(one.product(vector), two.product(vector))
    assert one.shape == (30, 30)


THREADED = [
    (Gaussian(1.0), (3, 0, 0)),
    (Gaussian(1.0), (2, 2, 2)),
    (Balanced(Gaussian(1.0)), (3, 0, 0)),
    (Tensor(Linear()), (3, 0, 0)),
    (Balanced(Polynomial(2)), (2, 2, 2)),
    (DirectSum(Gaussian(1.0), k2=Gaussian(1.0), k3=Linear()), (2, 2, 2)),
]


@pytest.mark.parametrize(("kernel", "widths"), THREADED, ids=repr)
def test_same_bits_with_any_number_of_threads(kernel, widths, threads):
    left = cases.random_pairs(8, n=700, m=400, widths=widths)
    right = cases.random_pairs(9, n=1800, m=400, widths=widths)
    vector = np.random.default_rng(10).normal(size=1800)
    index = np.arange(0, 700, 2)
    results = []
    for count in (1, 2, 3):
        threads(count)
        operator = PairOperator(kernel, left, right)
        results.append((operator.rows(index), operator.product(vector)))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_no_columns_and_no_rows():
    pairs = cases.random_pairs(11)
    for case in cases.all_cases():
        assert PairOperator(case.kernel, pairs, pairs[:0]).product(np.zeros(0)).tolist() == [0] * 14
        assert len(PairOperator(case.kernel, pairs[:0], pairs).product(np.ones(14))) == 0
