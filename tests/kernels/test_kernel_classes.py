"""The classes (a)-(d): derived from the formula, measured on pairs, and kept under swaps."""

from functools import reduce
from math import comb
from operator import add, mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cases
from pairity import Pairs
from pairity.exceptions import KernelError
from pairity.kernels import (
    Balanced,
    Bilinear,
    Callable,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    OrderInvariant,
    Polynomial,
    Precomputed,
    Product,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.kernels.atoms import expand
from pairity.kernels.classes import is_order_invariant, measure_laws, parity_of, project
from pairity.pairs.parity import Parity

EVEN, ODD = Parity.EVEN, Parity.ODD
PARITY_CASES = [case for case in cases.all_cases() if case.parity is not None]


def measured_parity(laws):
    if laws.balanced <= 1e-12:
        return EVEN
    return ODD if laws.skew_balanced <= 1e-12 else None


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_measured_class_is_the_known_one(case):
    laws = measure_laws(case.kernel, cases.random_pairs(1))
    assert measured_parity(laws) is case.parity
    assert (laws.order_invariant <= 1e-12) is case.order_invariant


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_class_follows_from_the_formula(case):
    """A user's function and K_P are opaque: nothing can be derived, and nothing is claimed."""
    opaque = case.name in ("function-of-rows", "K_P")
    assert parity_of(case.kernel, 2, 2) is case.parity
    assert is_order_invariant(case.kernel, 2, 2) is (case.order_invariant and not opaque)


@pytest.mark.parametrize("widths", [(2, 0, 0), (2, 2, 0), (2, 0, 2)])
@pytest.mark.parametrize("case", cases.cases_without_group(), ids=repr)
def test_derived_class_agrees_with_the_measured_one_for_any_features(case, widths):
    laws = measure_laws(case.kernel, cases.random_pairs(2, widths=widths))
    assert parity_of(case.kernel, *widths[1:]) is measured_parity(laws)
    if is_order_invariant(case.kernel, *widths[1:]):
        assert laws.order_invariant <= 1e-12


@pytest.mark.parametrize("case", PARITY_CASES, ids=repr)
def test_swap_law_of_the_gram_matrix_bit_for_bit(case):
    pairs, other = cases.random_pairs(3), cases.random_pairs(4, n=9)
    gram = case.kernel.gram(pairs, other)
    assert np.array_equal(case.kernel.gram(pairs.swap(), other), case.parity.sign * gram)
    assert np.abs(gram).max() > 0.0


@pytest.mark.parametrize("case", PARITY_CASES, ids=repr)
def test_swap_law_of_the_diagonal(case):
    """K(ba, ba) = K(ab, ab) for both parities."""
    pairs = cases.random_pairs(5)
    np.testing.assert_allclose(
        case.kernel.diagonal(pairs.swap()), case.kernel.diagonal(pairs), rtol=1e-12, atol=1e-14
    )


# Grading --------------------------------------------------------------------------------------

EVEN_KERNELS = [Tensor(Gaussian()), DirectSum(Linear()), Balanced(Polynomial(2))]
ODD_KERNELS = [SkewBalanced(Gaussian()), DirectSum(Linear(), k3=Linear()), SkewBalanced(Linear())]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (EVEN_KERNELS, EVEN_KERNELS, EVEN),
        (ODD_KERNELS, ODD_KERNELS, EVEN),
        (EVEN_KERNELS, ODD_KERNELS, ODD),
        (ODD_KERNELS, EVEN_KERNELS, ODD),
    ],
    ids=["b*b=b", "s*s=b", "b*s=s", "s*b=s"],
)
def test_grading_of_products(left, right, expected):
    pairs, other = cases.random_pairs(6), cases.random_pairs(7)
    for mine in left:
        for yours in right:
            product = mine * yours
            assert parity_of(product, 2, 2) is expected
            assert measured_parity(measure_laws(product, pairs)) is expected
            np.testing.assert_allclose(
                product.gram(pairs, other),
                mine.gram(pairs, other) * yours.gram(pairs, other),
                rtol=1e-14,
                atol=0,
            )


@pytest.mark.parametrize(("kernels", "parity"), [(EVEN_KERNELS, EVEN), (ODD_KERNELS, ODD)])
def test_sums_stay_in_their_class(kernels, parity):
    total = kernels[0] + 3.0 * kernels[1] + kernels[2]
    assert parity_of(total, 2, 2) is parity
    assert parity_of(total + (EVEN_KERNELS if parity is ODD else ODD_KERNELS)[0], 2, 2) is None


def test_parity_enum_multiplies_as_signs_do():
    assert [EVEN * EVEN, ODD * ODD, EVEN * ODD, ODD * EVEN] == [EVEN, EVEN, ODD, ODD]
    assert (EVEN.sign, ODD.sign) == (1.0, -1.0)


# Identities of MATH.md, section 1 ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Balanced(Gaussian(0.9)), Tensor(Gaussian(0.9))),
        (Balanced(Linear()), DirectSum(Linear())),
        (Balanced(Product(Polynomial(2))), Tensor(Polynomial(2))),
        (SkewBalanced(Linear()) * SkewBalanced(Linear()), MetricLearning(Linear())),
        (Tensor(Linear()) + MetricLearning(Linear()), TensorMetric(Linear())),
        (SkewBalanced(Gaussian()), SkewBalanced(Product(Gaussian()))),
    ],
    ids=lambda kernel: repr(kernel),
)
def test_kernels_that_are_the_same_kernel(one, two):
    pairs = cases.random_pairs(8, widths=(3, 0, 0))
    np.testing.assert_allclose(one.gram(pairs), two.gram(pairs), rtol=1e-12, atol=1e-13)
    assert expand(one, 0, 0).equals(expand(two, 0, 0))


def test_different_kernels_have_different_expansions():
    assert not expand(Tensor(Linear()), 0, 0).equals(expand(MetricLearning(Linear()), 0, 0))
    assert not expand(Gaussian(1.0), 0, 0).equals(expand(Gaussian(2.0), 0, 0))


def test_small_weights_are_not_small_terms():
    """A term with a tiny weight can be the largest one: it stays in the expansion."""
    kernel = Linear() + 1e-14 * Polynomial(4)
    assert len(expand(kernel, 0, 0).terms) > len(expand(Linear(), 0, 0).terms)


# Projection, and what it refuses ----------------------------------------------------------------


@pytest.mark.parametrize("parity", [EVEN, ODD])
def test_projection_imposes_the_parity(parity):
    pairs = cases.random_pairs(9)
    for case in cases.trainable_cases(parity):
        projected = project(case.kernel, parity, pairs)
        assert measured_parity(measure_laws(projected, pairs)) is parity, case


@pytest.mark.parametrize("case", PARITY_CASES, ids=repr)
def test_projection_leaves_a_kernel_of_the_parity_alone(case):
    assert project(case.kernel, case.parity, cases.random_pairs(10)) is case.kernel


@pytest.mark.parametrize(
    "kernel", [Tensor(Gaussian()), DirectSum(Linear(), k3=Polynomial(2)), Balanced(Linear())]
)
def test_a_balanced_kernel_has_no_odd_part(kernel):
    with pytest.raises(KernelError, match=r"balanced kernel, for an antisymmetric model"):
        project(kernel, ODD, cases.random_pairs(11))


@pytest.mark.parametrize("kernel", [SkewBalanced(Gaussian()), DirectSum(Linear(), k3=Linear())])
def test_a_skew_kernel_has_no_even_part(kernel):
    with pytest.raises(KernelError, match=r"skew-balanced kernel, for a symmetric model"):
        project(kernel, EVEN, cases.random_pairs(12))


def balanced_function(X, Z):
    """A user's kernel that happens to be balanced: <x_a + x_b, x_c + x_d>."""
    half = X.shape[1] // 2
    return (X[:, :half] + X[:, half:]) @ (Z[:, :half] + Z[:, half:]).T


def skew_function(X, Z):
    """A user's kernel that happens to be skew: <x_a - x_b, x_c - x_d>."""
    half = X.shape[1] // 2
    return (X[:, :half] - X[:, half:]) @ (Z[:, :half] - Z[:, half:]).T


@pytest.mark.parametrize(
    ("kernel", "parity", "part"),
    [
        (Callable(balanced_function), ODD, "odd"),
        (Callable(skew_function), EVEN, "even"),
        (OrderInvariant(Callable(balanced_function)), ODD, "odd"),
        (Bilinear(np.kron(np.ones((2, 2)), np.eye(3))), ODD, "odd"),
        (0.0 * Gaussian(), EVEN, "even"),
    ],
    ids=["function-b", "function-s", "wrapped-function-b", "bilinear-b", "zero"],
)
def test_a_part_that_vanishes_is_refused_even_if_it_must_be_measured(kernel, parity, part):
    pairs = cases.random_pairs(13, widths=(3, 0, 0))
    with pytest.raises(KernelError, match=f"{part} part is zero"):
        project(kernel, parity, pairs)


def test_the_other_part_of_such_a_function_serves():
    pairs = cases.random_pairs(13, widths=(3, 0, 0))
    for function, parity in [(balanced_function, EVEN), (skew_function, ODD)]:
        projected = project(Callable(function), parity, pairs)
        assert measured_parity(measure_laws(projected, pairs)) is parity


@pytest.mark.parametrize("parity", [EVEN, ODD])
def test_a_kernel_that_is_not_order_invariant_is_refused(parity):
    pairs = cases.random_pairs(14)
    with pytest.raises(KernelError, match=r"not order-invariant .*OrderInvariant\(kernel\)"):
        project(Bilinear(cases.tridiagonal()), parity, pairs)
    assert project(OrderInvariant(Bilinear(cases.tridiagonal())), parity, pairs) is not None


def test_without_a_symmetry_any_kernel_serves():
    kernel = Bilinear(cases.tridiagonal())
    assert project(kernel, None, cases.random_pairs(15)) is kernel


def asymmetric(X, Z):
    return X[:, :1] * np.ones((1, len(Z)))


def indefinite(X, Z):
    return -(X @ Z.T)


@pytest.mark.parametrize("parity", [EVEN, ODD, None])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Callable(asymmetric), "expected a symmetric kernel"),
        (Callable(indefinite), "expected a positive semi-definite kernel"),
        (Product(Callable(asymmetric)), "expected a symmetric kernel"),
    ],
    ids=["asymmetric", "indefinite", "asymmetric-on-objects"],
)
def test_a_function_that_is_no_kernel_is_refused(kernel, message, parity):
    with pytest.raises(KernelError, match=message):
        project(kernel, parity, cases.random_pairs(16))


def test_a_precomputed_matrix_that_is_not_psd_is_refused():
    pairs = Pairs(np.arange(3)[:, None], [0, 1, 2], [1, 2, 0])
    with pytest.raises(KernelError, match=r"eigenvalue -.*positive semi-definite"):
        project(Precomputed(np.diag([1.0, 1.0, -0.5])), EVEN, pairs)


def test_one_bad_corner_of_a_large_precomputed_matrix_is_found():
    """Not among the few pairs that are looked at, but in the matrix."""
    matrix = np.eye(300)
    matrix[151, 152] = matrix[152, 151] = 1.5
    pairs = Pairs(np.arange(300)[:, None], np.arange(0, 300, 2), np.arange(1, 300, 2))
    for kernel in (Precomputed(matrix), Tensor(Precomputed(matrix))):
        with pytest.raises(KernelError, match=r"eigenvalue -0.5; .*positive semi-definite"):
            project(kernel, EVEN, pairs)
    matrix[151, 152] = matrix[152, 151] = 0.5
    assert project(Precomputed(matrix), EVEN, pairs) is not None


# Laws on any pairs --------------------------------------------------------------------------

#: Numbers that make equal objects, zeros of both signs, and cancellations likely.
AWKWARD = st.sampled_from([-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0]) | st.floats(-2.0, 2.0)


@st.composite
def any_pairs(draw, max_pairs=6):
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, max_pairs))
    features = st.integers(1, 3)
    objects = draw(hnp.arrays(np.float64, (m, draw(features)), elements=AWKWARD))
    index = hnp.arrays(np.intp, n, elements=st.integers(0, m - 1))
    first, second = draw(index), draw(index)
    symmetric = draw(hnp.arrays(np.float64, (n, 2), elements=AWKWARD))
    antisymmetric = draw(hnp.arrays(np.float64, (n, 2), elements=AWKWARD))
    antisymmetric[first == second] = 0.0
    return Pairs(objects, first, second, symmetric, antisymmetric)


LAW_CASES = [case for case in PARITY_CASES if not case.name.startswith("K_P")]


@given(pairs=any_pairs(), place=st.integers(0, len(LAW_CASES) - 1))
def test_law_swap(pairs, place):
    case = LAW_CASES[place]
    gram = case.kernel.gram(pairs, pairs)
    assert np.array_equal(case.kernel.gram(pairs.swap(), pairs), case.parity.sign * gram)


@given(pairs=any_pairs(), place=st.integers(0, len(LAW_CASES) - 1))
def test_law_positive_semidefinite(pairs, place):
    gram = LAW_CASES[place].kernel.gram(pairs.with_mirrored())
    scale = np.abs(gram).max()
    assert np.linalg.eigvalsh((gram + gram.T) / 2.0)[0] >= -1e-12 * max(scale, 1e-300) * len(gram)


@given(pairs=any_pairs(), place=st.integers(0, len(LAW_CASES) - 1), seed=st.integers(0, 99))
def test_law_renumbering_the_objects_changes_nothing(pairs, place, seed):
    order = np.random.default_rng(seed).permutation(pairs.n_objects)
    position = np.argsort(order)
    renumbered = Pairs(
        pairs.objects[order],
        position[pairs.first],
        position[pairs.second],
        pairs.symmetric,
        pairs.antisymmetric,
    )
    kernel = LAW_CASES[place].kernel
    gram = kernel.gram(pairs)
    np.testing.assert_allclose(
        kernel.gram(renumbered), gram, rtol=0, atol=1e-13 * max(1.0, np.abs(gram).max())
    )


@given(pairs=any_pairs(), factor=st.floats(0.0, 100.0))
def test_law_scaling(pairs, factor):
    kernel = Gaussian(0.7) + Tensor(Linear())
    assert np.array_equal((factor * kernel).gram(pairs), kernel.gram(pairs) * factor)


@given(pairs=any_pairs())
def test_law_an_object_with_itself_is_zero_for_odd_kernels(pairs):
    alone = Pairs(
        pairs.objects,
        pairs.first,
        pairs.first,
        pairs.symmetric,
        np.zeros_like(pairs.antisymmetric),
    )
    for case in LAW_CASES:
        if case.parity is ODD:
            assert np.array_equal(case.kernel.gram(alone, pairs), np.zeros((len(pairs),) * 2)), case


ENDLESS = {
    "product of sums": reduce(mul, [Gaussian(1.0) + Gaussian(2.0)] * 40),
    "sum of powers": reduce(add, [Polynomial(12)] * 20),
}


@pytest.mark.parametrize("kernel", ENDLESS.values(), ids=ENDLESS.keys())
def test_formulas_are_multiplied_out_within_bounds(kernel, monkeypatch):
    """A tenth of the true bound, which is reached in a tenth of the time."""
    monkeypatch.setattr("pairity.kernels.atoms._MOST_SYMBOLS", 15_000)
    with pytest.raises(KernelError, match="too many products when it is multiplied out"):
        expand(kernel, 1, 1)


def test_powers_as_high_as_anyone_needs():
    assert len(expand(Polynomial(12), 1, 1).terms) == comb(12 + 3, 3)
    assert len(expand(Polynomial(32), 0, 0).terms) == 33


@pytest.mark.parametrize(("degree", "n_group"), [(15, 1), (50, 0), (1000, 1)])
def test_longer_powers_are_kernels_of_whole_rows(degree, n_group):
    (monomial,) = expand(Polynomial(degree), n_group, n_group).terms
    assert [factor.role for factor in monomial.factors] == ["rows"]
