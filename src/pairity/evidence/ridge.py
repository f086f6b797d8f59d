"""Kernel ridge regression on a Gram matrix, its penalty chosen by leaving whole pairs out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["RidgeFit", "fit_ridge", "units_by_size"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Penalties tried, relative to the mean of the diagonal.
_PENALTIES = 10.0 ** np.arange(-3.0, 2.5)


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """``f = K theta`` with the penalty that predicts pairs left out best.

    ``left_out_error`` is the mean squared error on the unordered pairs left out one at a time.
    """

    theta: Vector
    penalty: float
    left_out_error: float


def units_by_size(units: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Rows of the units, one array of shape (units, rows in each) for each size of unit."""
    _, codes, sizes = np.unique(units, return_inverse=True, return_counts=True)
    order = np.argsort(codes.reshape(-1), kind="stable")
    starts = np.cumsum(sizes) - sizes
    return [
        order[starts[sizes == size][:, np.newaxis] + np.arange(size)] for size in np.unique(sizes)
    ]


def fit_ridge(gram: Matrix, targets: Vector, rows_of_units: list[NDArray[np.intp]]) -> RidgeFit:
    """Solve ``(K + penalty) theta = y`` for every penalty by one eigendecomposition.

    Without the rows u of a unit the prediction error on them is ``[A^-1]_uu^-1 theta_u`` with
    ``A = K + penalty``: exact, and no refit is needed.
    """
    eigenvalues, vectors = eigh(gram, driver="evd")
    eigenvalues = np.maximum(eigenvalues, 0.0)
    scale = float(np.mean(np.diagonal(gram)))
    rotated = vectors.T @ targets
    best: RidgeFit | None = None
    for penalty in _PENALTIES * (scale if scale > 0.0 else 1.0):
        weights = 1.0 / (eigenvalues + penalty)
        theta = vectors @ (weights * rotated)
        error = _left_out_error(vectors, weights, theta, rows_of_units)
        if best is None or error < best.left_out_error:
            best = RidgeFit(theta, float(penalty), error)
    assert best is not None
    return best


def _left_out_error(
    vectors: Matrix, weights: Vector, theta: Vector, rows_of_units: list[NDArray[np.intp]]
) -> float:
    total = 0.0
    for rows in rows_of_units:  # (units, size)
        if rows.shape[1] == 1:
            inverse = (vectors[rows[:, 0]] ** 2) @ weights
            residual = theta[rows] / inverse[:, np.newaxis]
        else:
            picked = vectors[rows]  # (units, size, n)
            inverse = (picked * weights) @ np.swapaxes(picked, 1, 2)
            residual = np.asarray(np.linalg.solve(inverse, theta[rows][:, :, np.newaxis]))
        total += float(np.sum(residual**2))
    return total / len(theta)
