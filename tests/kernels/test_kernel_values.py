"""Every kernel against its plain twin, and Gram, diagonal and PSD against each other."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import cases
import naive
from pairity import Pairs
from pairity.kernels import Gaussian, Linear, Polynomial, Precomputed, Tensor
from pairity.kernels._distance_loops import to_exponentials
from pairity.kernels.elementary import squared_distances


def assert_close(got, expected, relative=1e-12):
    """Equal up to ``relative`` of the largest entry."""
    scale = np.abs(expected).max()
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=relative * scale)


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_gram_equals_the_formula_of_the_paper(case):
    left, right = cases.random_pairs(1, n=6), cases.random_pairs(2, n=5)
    expected = naive.gram(case.twin, left.to_rows(), right.to_rows(), cases.WIDTHS)
    assert_close(case.kernel.gram(left, right), expected)


@pytest.mark.parametrize("case", cases.cases_without_group(), ids=repr)
def test_gram_on_individual_features_alone(case):
    left, right = (cases.random_pairs(seed, n=5, widths=(3, 0, 0)) for seed in (3, 4))
    expected = naive.gram(case.twin, left.to_rows(), right.to_rows(), (3, 0, 0))
    assert_close(case.kernel.gram(left, right), expected)


@pytest.mark.parametrize("widths", [(2, 3, 0), (2, 0, 3)])
@pytest.mark.parametrize("case", cases.elementary_cases(), ids=repr)
def test_gram_with_one_kind_of_group_features(case, widths):
    left, right = (cases.random_pairs(seed, n=5, widths=widths) for seed in (5, 6))
    expected = naive.gram(case.twin, left.to_rows(), right.to_rows(), widths)
    assert_close(case.kernel.gram(left, right), expected)


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_gram_of_sparse_objects_equals_dense(case):
    pairs = cases.random_pairs(7)
    assert_close(case.kernel.gram(cases.sparse_twin(pairs)), case.kernel.gram(pairs))


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_diagonal_is_that_of_the_gram_matrix(case):
    pairs = cases.random_pairs(8)
    gram = case.kernel.gram(pairs)
    np.testing.assert_allclose(
        case.kernel.diagonal(pairs), np.diagonal(gram), rtol=0, atol=1e-12 * np.abs(gram).max()
    )


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_calling_a_kernel_is_its_gram_matrix(case):
    pairs = cases.random_pairs(9, n=5)
    assert np.array_equal(case.kernel(pairs), case.kernel.gram(pairs, pairs))


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_gram_is_symmetric_and_positive_semidefinite(case):
    gram = case.kernel.gram(cases.random_pairs(10, n=30, m=9).with_mirrored())
    scale = np.abs(gram).max()
    assert np.abs(gram - gram.T).max() <= 1e-12 * scale
    assert np.linalg.eigvalsh(gram)[0] >= -1e-12 * scale * len(gram)


@pytest.mark.parametrize("n1", [3, 80])
def test_gaussian_of_near_rows_far_from_the_origin(n1):
    """Both ways to square a distance keep their digits: 3 columns and 80 take different ones."""
    rng = np.random.default_rng(11)
    objects = 1000.0 + 1e-2 * rng.normal(size=(5, n1))
    pairs = Pairs(objects, [0, 1, 2], [3, 4, 0])
    expected = naive.gram(naive.pair_gaussian(0.05), pairs.to_rows(), pairs.to_rows(), (n1, 0, 0))
    np.testing.assert_allclose(Gaussian(0.05).gram(pairs), expected, rtol=0, atol=1e-9)


def test_precomputed_looks_values_up():
    rng = np.random.default_rng(12)
    features = rng.normal(size=(6, 4))
    gram = features @ features.T
    known = Pairs(features, [0, 1, 5], [2, 3, 4])
    looked_up = Pairs(np.arange(6)[:, None], [0, 1, 5], [2, 3, 4])
    assert_close(Precomputed(gram).gram(looked_up), Linear().gram(known))
    assert_close(Tensor(Precomputed(gram)).gram(looked_up), Tensor(Linear()).gram(known))
    assert_close(Precomputed(gram).diagonal(looked_up), Linear().diagonal(known))


def test_blocks_of_rows_join_without_a_seam(monkeypatch):
    pairs = cases.random_pairs(13, n=11)
    whole = Polynomial(2).gram(pairs)
    monkeypatch.setattr("pairity.kernels.atoms._BLOCK_ENTRIES", 25)
    np.testing.assert_allclose(Polynomial(2).gram(pairs), whole, rtol=1e-14, atol=0)


@pytest.mark.parametrize("n_left", [0, 1])
def test_gram_of_few_pairs(n_left):
    pairs = cases.random_pairs(14, n=4)
    for case in cases.all_cases():
        assert case.kernel.gram(pairs[:n_left], pairs).shape == (n_left, 4)
        assert case.kernel.diagonal(pairs[:n_left]).shape == (n_left,)


def exact(value):
    """A number in extended precision as a fraction."""
    upper = float(value)
    return Fraction(upper) + Fraction(float(value - np.longdouble(upper)))


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_distances_in_extended_precision_are_those_of_fractions(shift):
    """Of rows that are no doubles, too, and far from the origin, where differences cancel."""
    rng = np.random.default_rng(0)
    left, right = (
        (rng.normal(size=(n, 3)) + shift).astype(np.longdouble) / np.longdouble(3.0) for n in (4, 9)
    )
    right[0] = left[0]
    found = squared_distances(left, right)
    assert found.dtype == np.longdouble
    assert found[0, 0] == 0.0
    for row, distances in zip(left, found, strict=True):
        for other, distance in zip(right, distances, strict=True):
            expected = sum((exact(x) - exact(z)) ** 2 for x, z in zip(row, other, strict=True))
            assert abs(float(exact(distance) - expected)) <= 1e-18 * float(expected)


def test_exponentials_in_two_doubles():
    """Against decimals of 60 digits, both sides of every power of the table and next to 0."""
    rng = np.random.default_rng(1)
    factor = -0.37
    steps = np.log(2.0) / 128.0 / -factor * np.arange(0, 300)
    upper = np.concatenate([[0.0, 1e-300, 1e-17], steps, rng.exponential(30.0, 300), [1800.0]])
    lower = upper * rng.uniform(-1e-16, 1e-16, len(upper))
    found, rest = upper.copy(), lower.copy()
    to_exponentials(factor, found, rest)
    with localcontext() as context:
        context.prec = 60
        for x, x_rest, value, value_rest in zip(upper, lower, found, rest, strict=True):
            expected = (Decimal(factor) * (Decimal(x) + Decimal(x_rest))).exp()
            assert abs(Decimal(value) + Decimal(value_rest) - expected) <= expected * Decimal(
                "1e-19"
            )


def test_exponentials_in_two_doubles_where_doubles_end():
    found, rest = np.array([0.0, 1e4, np.inf, np.nan]), np.array([0.0, 0.0, np.nan, np.nan])
    to_exponentials(-0.5, found, rest)
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(rest, [0.0, 0.0, 0.0, np.nan])


@pytest.mark.parametrize("sigma", [0.3, 40.0])
def test_gaussians_in_extended_precision_are_those_of_decimals(sigma):
    rng = np.random.default_rng(2)
    left, right = (
        rng.normal(size=(n, 2)).astype(np.longdouble) / np.longdouble(3.0) for n in (4, 9)
    )
    found = Gaussian(sigma).on_features(left, right)
    assert found.dtype == np.longdouble
    factor = Fraction(-0.5 / sigma**2)
    with localcontext() as context:
        context.prec = 60
        for row, values in zip(left, found, strict=True):
            for other, value in zip(right, values, strict=True):
                exponent = factor * sum(
                    (exact(x) - exact(z)) ** 2 for x, z in zip(row, other, strict=True)
                )
                expected = (Decimal(exponent.numerator) / exponent.denominator).exp()
                got = Decimal(exact(value).numerator) / exact(value).denominator
                assert abs(got - expected) <= expected * Decimal("2e-19")
