"""Series of matrices through products: against SciPy, and against eigenvalues."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.sparse.linalg import expm_multiply

from pairity.exceptions import KernelError
from pairity.kernels.auxiliary import (
    Coefficients,
    Exponential,
    VonNeumann,
    apply_series,
    as_series,
)


def symmetric(seed, n=20, density=0.2):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
    matrix = sp.csr_array(matrix + matrix.T)
    radius = float(np.abs(np.linalg.eigvalsh(matrix.toarray())).max())
    return matrix, radius, rng.normal(size=(n, 3))


@given(seed=st.integers(0, 10**6), reach=st.sampled_from([1e-9, 0.1, 1.0, 7.0, 29.0]))
def test_exponential_against_scipy(seed, reach):
    matrix, radius, vectors = symmetric(seed)
    strength = reach / radius
    found = apply_series(Exponential(), matrix, strength, radius, vectors)
    scale = np.exp(reach) * np.abs(vectors).max()
    exact = expm(strength * matrix.toarray()) @ vectors
    np.testing.assert_allclose(found, exact, atol=1e-13 * scale * len(vectors))
    other = expm_multiply(strength * matrix, vectors, traceA=strength * matrix.trace())
    np.testing.assert_allclose(found, other, atol=1e-13 * scale * len(vectors))


@given(seed=st.integers(0, 10**6), reach=st.sampled_from([1e-9, 0.3, 0.9, 0.999]))
def test_von_neumann_against_a_solve(seed, reach):
    matrix, radius, vectors = symmetric(seed)
    strength = reach / radius
    found = apply_series(VonNeumann(), matrix, strength, radius, vectors)
    exact = np.linalg.solve(np.eye(len(vectors)) - strength * matrix.toarray(), vectors)
    np.testing.assert_allclose(found, exact, atol=1e-12 / (1.0 - reach))


@given(seed=st.integers(0, 10**6), length=st.integers(1, 6))
def test_coefficients_against_powers(seed, length):
    matrix, radius, vectors = symmetric(seed)
    values = tuple(np.random.default_rng(seed).random(length) + 0.1)
    found = apply_series(Coefficients(values), matrix, 0.5, radius, vectors)
    power, total = vectors, np.zeros_like(vectors)
    for value in values:
        total, power = total + value * power, 0.5 * matrix @ power
    np.testing.assert_allclose(found, total, atol=1e-12 * np.abs(total).max())


@pytest.mark.parametrize("series", [Exponential(), VonNeumann(), Coefficients((1.0, 0.5, 0.1))])
def test_a_matrix_of_zeros(series):
    vectors = np.arange(6.0).reshape(3, 2)
    found = apply_series(series, sp.csr_array((3, 3)), 1.0, 0.0, vectors)
    np.testing.assert_allclose(found, vectors)


@pytest.mark.parametrize("series", [Exponential(), VonNeumann(), Coefficients((1.0, 0.5, 0.1))])
def test_chebyshev_coefficients_are_those_of_the_function(series):
    points = np.linspace(-1.0, 1.0, 41)
    coefficients = series.chebyshev(0.8)
    values = np.polynomial.chebyshev.chebval(points, coefficients)
    np.testing.assert_allclose(values, series.on_spectrum(0.8 * points), rtol=1e-13)


@given(
    values=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=6),
    reach=st.floats(0.01, 3.0),
)
def test_alternating_coefficients_are_positive(values, reach):
    series = Coefficients(tuple(values))
    if series.alternates_safely(reach):
        assert series.on_spectrum(np.linspace(-reach, 0.0, 101)).min() >= -1e-12


def test_refused_reaches():
    Exponential().refuse_reach(1.0, 30.0)
    with pytest.raises(KernelError, match="at most 30"):
        Exponential().refuse_reach(1.0, 30.1)
    VonNeumann().refuse_reach(0.499, 2.0)
    with pytest.raises(KernelError, match=r"less than 0\.5, 1 over the spectral radius"):
        VonNeumann().refuse_reach(0.5, 2.0)


def test_names():
    assert as_series("exponential") == Exponential()
    assert as_series([1, 2]) == Coefficients((1.0, 2.0))
    with pytest.raises(KernelError, match="got series='heat'"):
        as_series("heat")
