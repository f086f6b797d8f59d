"""The grid: products and shifted inverses against Kronecker products written out."""

import numpy as np
import pytest

from cases import random_pairs
from pairity.kernels import (
    Balanced,
    Gaussian,
    Linear,
    MetricLearning,
    Polynomial,
    SkewBalanced,
    Tensor,
)
from pairity.operators import PairOperator
from pairity.operators.spectral import SpectralGrid
from pairity.pairs.parity import Parity


def structure(kernel, m=6):
    return PairOperator(kernel, random_pairs(0, n=20, m=m, widths=(2, 0, 0))).structure


@pytest.mark.parametrize(
    ("kernel", "parity"),
    [
        (Tensor(Gaussian(1.0)), Parity.EVEN),
        (Balanced(Gaussian(1.0)), Parity.EVEN),
        (SkewBalanced(Gaussian(1.0)), Parity.ODD),
        (3.0 * Tensor(Linear()), Parity.EVEN),
    ],
    ids=repr,
)
def test_recognises_tensor_kernels(kernel, parity):
    found = structure(kernel)
    assert found is not None
    assert found.parity is parity
    assert found.weight == pytest.approx(3.0 if repr(kernel).startswith("3") else 1.0)


@pytest.mark.parametrize(
    "kernel",
    [MetricLearning(Linear()), Gaussian(1.0), SkewBalanced(Polynomial(3)), Linear()],
    ids=repr,
)
def test_recognises_nothing_else(kernel):
    assert structure(kernel) is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_solve_is_the_inverse_of_the_shifted_kernel(sign, rng):
    grid = SpectralGrid(structure(Tensor(Gaussian(1.0))))
    right = rng.normal(size=(6, 6))
    right = right + sign * right.T
    solution = grid.solve(right, 0.3)
    np.testing.assert_allclose(grid.apply(solution) + 0.3 * solution, right, atol=1e-12)
    dense = np.kron(grid.gram, grid.gram) + 0.3 * np.eye(36)
    np.testing.assert_allclose(solution.ravel(), np.linalg.solve(dense, right.ravel()), atol=1e-10)


def test_constrained_solve_sums_to_zero_and_is_optimal_among_those(rng):
    grid = SpectralGrid(structure(Tensor(Gaussian(1.0))))
    right = rng.normal(size=(6, 6))
    right = right + right.T
    solution = grid.solve(right, 0.3, constrained=True)
    assert solution.sum() == pytest.approx(0.0, abs=1e-12)
    gradient = grid.apply(solution) + 0.3 * solution - right
    np.testing.assert_allclose(gradient, gradient.mean(), atol=1e-12)  # one multiplier: the bias


def test_single_precision_stays_single(rng):
    grid = SpectralGrid(structure(Tensor(Gaussian(1.0))))
    right = rng.normal(size=(6, 6)).astype(np.float32)
    solution = grid.solve(right, 0.5)
    assert solution.dtype == np.float32
    np.testing.assert_allclose(solution, grid.solve(right.astype(np.float64), 0.5), atol=1e-5)
