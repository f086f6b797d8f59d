"""Polish: the exact optimum on a block, once it is nearly known which variables are free.

Primal-dual active sets: with the variables on their bounds fixed, the free ones solve a linear
system (one Cholesky factorisation, the bias by a bordered column); those that leave their box or
whose multiplier has the wrong sign change sides, and so on until nobody moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["Block", "polish"]

Vector = NDArray[np.float64]

_MOST_ROUNDS = 25
_JITTER = 1e-12


@dataclass(frozen=True)
class Block:
    """Part of a problem: ``values = gram theta + outside``, ``low <= theta <= high``.

    ``total`` is what the sum of theta must be, or None where there is no bias.
    """

    gram: NDArray[np.float64]
    outside: Vector
    labels: Vector
    low: Vector
    high: Vector
    total: float | None


def polish(block: Block, theta: Vector) -> Vector | None:
    """Exact theta of the block from a good guess of its active sets; None if they do not settle."""
    at_low, at_high = theta <= block.low, theta >= block.high
    for _ in range(_MOST_ROUNDS):
        free = ~(at_low | at_high)
        if not free.any() and block.total is not None:
            return None  # no variable to read the bias off
        fixed = np.where(at_low, block.low, np.where(at_high, block.high, 0.0))
        solved = _solve_free(block, free, fixed)
        if solved is None:
            return None
        candidate, bias = solved
        residual = block.labels - block.gram @ candidate - block.outside - bias
        leaves_down = free & (candidate < block.low)
        leaves_up = free & (candidate > block.high)
        pulled = (at_low & (residual > 0)) | (at_high & (residual < 0))
        if not (leaves_down | leaves_up | pulled).any():
            return candidate
        at_low = (at_low & ~pulled) | leaves_down
        at_high = (at_high & ~pulled) | leaves_up
    return None


def _solve_free(
    block: Block, free: NDArray[np.bool_], fixed: Vector
) -> tuple[Vector, float] | None:
    """Free variables and bias for given fixed ones."""
    place = np.flatnonzero(free)
    if not len(place):
        return fixed, 0.0
    right = block.labels[place] - block.outside[place] - (block.gram @ fixed)[place]
    inside = block.gram[np.ix_(place, place)]
    inside[np.diag_indices(len(place))] += _JITTER * max(float(inside.diagonal().mean()), 1e-300)
    try:
        factor = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    theta = fixed.copy()
    solution = cho_solve(factor, right, check_finite=False)
    bias = 0.0
    if block.total is not None:
        border = cho_solve(factor, np.ones(len(place)), check_finite=False)
        bias = float((solution.sum() - (block.total - fixed.sum())) / border.sum())
        solution = solution - bias * border
    theta[place] = solution
    return theta, bias
