"""Mixed kernels: the two projections with strengths of their own, and what models do with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import cases
import naive
from pairity import PairRidge, PairSVC
from pairity.exceptions import KernelError
from pairity.inspection import even_odd_parts
from pairity.kernels import (
    Balanced,
    Bilinear,
    Gaussian,
    Linear,
    Mixed,
    Product,
    SkewBalanced,
    Standardized,
    Tensor,
)
from pairity.kernels.classes import measure_laws
from pairity.operators import PairOperator

STRENGTHS = [(1.0, 1.0), (0.3, 1.7), (1.0, 0.0), (0.0, 2.0)]


def naive_mixed(K, even, odd):
    """The definition, with K made order-invariant first, which changes nothing where it is."""
    K = naive.order_invariant(K)
    b, s = naive.balanced(K), naive.skew_balanced(K)
    return lambda X, Z, widths: even * b(X, Z, widths) + odd * s(X, Z, widths)


@pytest.mark.parametrize(("even", "odd"), STRENGTHS[1:])
@pytest.mark.parametrize("case", cases.all_cases()[::3], ids=repr)
def test_values_are_those_of_the_plain_twin(case, even, odd):
    left, right = cases.random_pairs(1, n=5), cases.random_pairs(2, n=4)
    gram = Mixed(case.kernel, even, odd).gram(left, right)
    twin = naive_mixed(case.twin, even, odd)
    expected = naive.gram(twin, left.to_rows(), right.to_rows(), cases.WIDTHS)
    assert np.allclose(gram, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("case", cases.all_cases(), ids=repr)
def test_every_mixture_is_a_kernel(case):
    laws = measure_laws(Mixed(case.kernel, 0.3, 1.7), cases.random_pairs(3))
    assert laws.symmetry < 1e-12
    assert laws.order_invariant < 1e-12
    assert laws.smallest_eigenvalue > -1e-10 * laws.scale * laws.n_pairs
    assert laws.scale > 0.0


@given(seed=st.integers(0, 10**6), even=st.floats(0.1, 5.0))
def test_ends_of_the_scale(seed, even):
    pairs, kernel = cases.random_pairs(seed, n=6), Gaussian(1.3)
    gram = kernel.gram(pairs)
    assert np.allclose(Mixed(kernel, even, even).gram(pairs), even * gram, rtol=1e-13, atol=1e-16)
    assert np.array_equal(Mixed(kernel, 1.0, 0.0).gram(pairs), Balanced(kernel).gram(pairs))
    assert np.array_equal(Mixed(kernel, 0.0, 1.0).gram(pairs), SkewBalanced(kernel).gram(pairs))


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Product(Gaussian(1.1)), Linear()], ids=repr)
def test_products_agree_with_the_matrix(kernel, rng):
    pairs = cases.random_pairs(4, n=300, m=12, widths=(3, 0, 0))
    operator = PairOperator(Mixed(kernel, 0.2, 1.0), pairs)
    vector = rng.normal(size=300)
    dense = Mixed(kernel, 0.2, 1.0).gram(pairs)
    assert np.allclose(operator.product(vector), dense @ vector, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("even", "odd"), STRENGTHS)
def test_the_penalty_weighs_the_two_parts(even, odd):
    """|f|^2 = |f_even|^2 / even + |f_odd|^2 / odd, norms taken with K^b and K^s alone."""
    pairs = cases.random_pairs(5, n=30, m=10)
    model = PairRidge("none", kernel=Mixed(Gaussian(1.5), even, odd), alpha=0.5)
    model.fit(pairs, cases.random_targets(5, 30))
    theta = np.zeros(30)
    theta[model.support_] = model.dual_coef_
    b, s = Balanced(Gaussian(1.5)).gram(pairs), SkewBalanced(Gaussian(1.5)).gram(pairs)
    parts = even_odd_parts(model, pairs)
    assert np.allclose(parts.even, even * b @ theta, atol=1e-10)
    assert np.allclose(parts.odd, odd * s @ theta, atol=1e-10)
    whole = theta @ Mixed(Gaussian(1.5), even, odd).gram(pairs) @ theta
    assert np.isclose(whole, even * (theta @ b @ theta) + odd * (theta @ s @ theta), rtol=1e-10)


def test_strength_of_a_part_grows_with_its_weight():
    pairs, targets = cases.random_pairs(6, n=40, m=12), cases.random_targets(6, 40)
    shares = [
        even_odd_parts(
            PairRidge("none", kernel=Mixed(Gaussian(1.5), even, 1.0), alpha=1.0).fit(
                pairs, targets
            ),
            pairs,
        ).odd_share
        for even in (0.0, 0.1, 1.0, 10.0)
    ]
    assert shares[0] == 1.0
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.5


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_a_law_keeps_its_part_alone(symmetry):
    pairs, labels = cases.random_pairs(7, n=30, m=10), cases.random_labels(7, 30)
    mixed = PairSVC(symmetry, kernel=Mixed(Gaussian(1.2), 2.0, 2.0), tol=1e-8).fit(pairs, labels)
    plain = PairSVC(symmetry, kernel=2.0 * Gaussian(1.2), tol=1e-8).fit(pairs, labels)
    decisions = mixed.decision_function(pairs)
    assert np.allclose(decisions, plain.decision_function(pairs), atol=1e-6)
    assert np.abs(decisions).max() > 0.1


def test_parts_of_a_model_obey_their_laws_exactly():
    pairs, labels = cases.random_pairs(8, n=60, m=15), cases.random_labels(8, 60)
    kernel = Standardized(Mixed(Gaussian("median"), 0.5, 1.0))
    model = PairSVC("none", kernel=kernel).fit(pairs, labels)
    there, back = even_odd_parts(model, pairs), even_odd_parts(model, pairs.swap())
    assert np.array_equal(there.even, back.even)
    assert np.array_equal(there.odd, -back.odd)
    assert 0.0 < there.odd_share < 1.0
    assert np.allclose(there.even + there.odd, model.decision_function(pairs), atol=1e-12)


@pytest.mark.parametrize(("symmetry", "parity"), [("symmetric", 1), ("antisymmetric", -1)])
def test_a_model_with_a_law_has_one_part(symmetry, parity):
    pairs, labels = cases.random_pairs(9, n=30, m=10), cases.random_labels(9, 30)
    parts = even_odd_parts(PairSVC(symmetry, kernel=Gaussian(1.0)).fit(pairs, labels), pairs)
    empty, full = (parts.odd, parts.even) if parity > 0 else (parts.even, parts.odd)
    assert not empty.any()
    assert full.any()
    assert parts.odd_share == (0.0 if parity > 0 else 1.0)


def test_parameters():
    kernel = Mixed(Gaussian(1.0), 0.5)
    assert clone(kernel).set_params(kernel__sigma=2.0, odd=3.0) == Mixed(Gaussian(2.0), 0.5, 3.0)
    assert kernel == Mixed(Gaussian(1.0), 0.5, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mixed(Gaussian(1.0), -0.1), "got even=-0.1; expected a finite strength"),
        (lambda: Mixed(Gaussian(1.0), 1.0, np.nan), "got odd=nan"),
        (lambda: Mixed(Gaussian(1.0), 0.0, 0.0), "got even=0 and odd=0"),
        (lambda: Mixed("gaussian"), "got kernel='gaussian'; expected a kernel of pairs"),
        (
            lambda: PairSVC("symmetric", kernel=Mixed(Gaussian(1.0), 0.0)).fit(
                cases.random_pairs(1), cases.random_labels(1, 14)
            ),
            "a skew-balanced kernel, for a symmetric model",
        ),
        (
            lambda: PairSVC("antisymmetric", kernel=Mixed(Tensor(Gaussian(1.0)))).fit(
                cases.random_pairs(1), cases.random_labels(1, 14)
            ),
            "a balanced kernel, for an antisymmetric model",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(KernelError, match=message):
        make()


def test_a_kernel_that_is_not_order_invariant_is_made_so():
    """K_P^b and K_P^s of an arbitrary P are no symmetric kernels; of the mean over orders they are."""
    P = cases.tridiagonal() + 0.5 * np.diag(np.arange(8.0))
    pairs = cases.random_pairs(10)
    assert measure_laws(Balanced(Bilinear(P)), pairs).symmetry > 1e-3
    assert measure_laws(Mixed(Bilinear(P), 0.4, 1.0), pairs).symmetry < 1e-12
