"""Entrywise division in the eigenbasis of the grid."""

from __future__ import annotations

from pairity.compiled import njit

__all__ = ["divide_by_shifted", "divide_with_constraint"]


@njit(cache=True, nogil=True)
def divide_by_shifted(inside, eigenvalues, weight, rho):  # type: ignore[no-untyped-def]
    """``inside_ij /= weight * lam_i * lam_j + rho``."""
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            inside[i, j] /= scale * eigenvalues[j] + rho


@njit(cache=True, nogil=True)
def divide_with_constraint(inside, eigenvalues, ones, weight, rho):  # type: ignore[no-untyped-def]
    """The same for ``inside - bias * ones ones'``, with the bias that makes the sum vanish."""
    numerator = 0.0
    denominator = 0.0
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            direction = ones[i] * ones[j]
            shifted = scale * eigenvalues[j] + rho
            numerator += direction * inside[i, j] / shifted
            denominator += direction * direction / shifted
    bias = numerator / denominator
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            inside[i, j] = (inside[i, j] - bias * ones[i] * ones[j]) / (
                scale * eigenvalues[j] + rho
            )
    return bias
