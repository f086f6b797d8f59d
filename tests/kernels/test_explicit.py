"""Kernels of features as inner products of few columns: polynomials, multiples, sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

import cases
import naive
from pairity import Pairs
from pairity.kernels import Gaussian, Linear, Polynomial, Product
from pairity.kernels.atoms import expand
from pairity.kernels.elementary import ObjectGrams, OnRescaled
from pairity.kernels.object_kernels import monomial_features
from pairity.operators import PairOperator
from pairity.operators.terms import compile_groups


def table(seed, n=9, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


def assert_reproduces(kernel, left, right):
    one, two = kernel.explicit(left), kernel.explicit(right)
    np.testing.assert_allclose(
        np.asarray((one @ two.T).todense() if sp.issparse(one) else one @ two.T),
        kernel.on_features(left, right),
        rtol=1e-10,
        atol=1e-12,
    )


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 4))
def test_monomials_reproduce_the_polynomial_kernel(seed, degree, columns):
    left, right = table(seed, 5, columns), table(seed + 1, 4, columns)
    assert_reproduces(Polynomial(degree), left, right)


@pytest.mark.parametrize(("degree", "columns"), [(2, 3), (3, 4), (5, 2)])
def test_monomials_are_those_of_scikit_learn(degree, columns):
    """Golden: the columns of degree p of PolynomialFeatures, in the same order, up to weights."""
    rows = table(0, 12, columns)
    golden = PolynomialFeatures((degree, degree), include_bias=False).fit(rows)
    mine = monomial_features(rows, degree)
    assert mine.shape[1] == golden.n_output_features_
    weight = naive_weights(golden.powers_)
    np.testing.assert_allclose(mine, golden.transform(rows) * weight, rtol=1e-12)


def naive_weights(powers):
    """sqrt(p! / prod e!), by multiplication."""
    factorial = np.array([1, 1, 2, 6, 24, 120])
    return np.sqrt(factorial[powers.sum(axis=1)] / factorial[powers].prod(axis=1))


def test_two_columns_by_hand():
    rows = np.array([[2.0, 3.0]])
    np.testing.assert_allclose(
        monomial_features(rows, 2), [[4.0, np.sqrt(2.0) * 6.0, 9.0]], rtol=1e-15
    )
    assert monomial_features(rows, 1) is rows


def test_few_means_at_most_1024_and_dense():
    assert Polynomial(2).explicit(np.zeros((1, 44))).shape == (1, 990)
    assert Polynomial(2).explicit(np.zeros((1, 45))) is None
    assert Polynomial(2).explicit(sp.csr_array(table(0))) is None
    sparse = sp.csr_array(table(0))
    assert Polynomial(1).explicit(sparse) is sparse
    assert Polynomial(30).explicit(np.ones((2, 1))).shape == (2, 1)


@pytest.mark.parametrize(
    "kernel",
    [
        2.5 * Linear(),
        0.0 * Linear(),
        Linear() + 0.3 * Polynomial(2),
        2.0 * (Linear() + Polynomial(3)),
        OnRescaled(Polynomial(2), np.array([0.1, -0.2, 0.3]), np.array([2.0, 0.5, 1.0])),
    ],
    ids=repr,
)
def test_multiples_and_sums(kernel):
    assert_reproduces(kernel, table(1), table(2))


def test_multiples_and_sums_of_sparse_features_stay_sparse():
    left, right = sp.csr_array(table(1)), sp.csr_array(table(2))
    kernel = Linear() + 3.0 * Linear()
    assert sp.issparse(kernel.explicit(left))
    assert_reproduces(kernel, left, right)


@pytest.mark.parametrize(
    "kernel", [Gaussian(), 2.0 * Gaussian(), Linear() + Gaussian(), Linear() * Linear()], ids=repr
)
def test_kernels_without_few_features_have_none(kernel):
    assert kernel.explicit(table(0)) is None


# What products of matrices make of it ------------------------------------------------------------


def factors_of(kernel, pairs):
    (group,) = compile_groups(expand(kernel, 0, 0), ObjectGrams(pairs, pairs), pairs, pairs)
    return group.table.factors


def complete(m, columns):
    return Pairs.complete(table(5, m, columns))


def test_the_number_of_features_counts_not_that_of_columns():
    """Ten monomials of degree 2 in four columns: low rank among 40 objects, not among 39."""
    ((left, right),) = factors_of(Product(Polynomial(2)), complete(40, 4))
    assert left is right
    assert left.shape == (40, 10)
    assert factors_of(Product(Polynomial(2)), complete(39, 4)) == (None,)
    assert factors_of(Product(Gaussian()), complete(40, 4)) == (None,)
    sparse = cases.sparse_twin(complete(40, 4))
    assert factors_of(Product(Linear()), sparse) == (None,)
    assert factors_of(Product(Linear() * Linear()), complete(40, 4)) == (None,)


def test_products_through_monomials_agree_with_the_matrix():
    pairs = complete(25, 3)
    kernel = Product(Polynomial(2)) + 0.5 * Product(Linear() + Polynomial(2))
    vector = np.random.default_rng(0).normal(size=len(pairs))
    dense = kernel.gram(pairs)
    np.testing.assert_allclose(
        PairOperator(kernel, pairs).product(vector), dense @ vector, rtol=1e-9, atol=1e-9
    )
    twin = naive.product(naive.polynomial(2))
    expected = naive.gram(twin, pairs[:4].to_rows(), pairs[:5].to_rows(), (3, 0, 0))
    np.testing.assert_allclose(Product(Polynomial(2)).gram(pairs[:4], pairs[:5]), expected)


def test_a_high_degree_is_no_sum_of_monomials(rng):
    """Single monomials of two columns would overflow; the values do not."""
    from pairity import PairSVC

    objects = rng.normal(size=(9, 2))
    objects *= 1.05 / np.linalg.norm(objects, axis=1, keepdims=True)
    pairs = Pairs.complete(objects)
    labels = rng.choice([-1, 1], size=len(pairs))
    assert Polynomial(900).explicit(objects) is None
    model = PairSVC("antisymmetric", kernel=Product(Polynomial(900))).fit(pairs, labels)
    assert model.certificate_.holds
