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
#: Differences up to this, of decision values or relative to the largest variable, are rounding.
_ROUNDING = 1e-10


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


class _FreeSystem:
    """``gram_FF x = b`` for sets F that differ little from each other.

    One Cholesky factorisation of a first set F0 serves later sets: variables that left (R) are
    held at zero by multipliers, those that came (A) border the system, and both are eliminated by
    a Schur complement of size |R| + |A|.
    """

    def __init__(self, gram: NDArray[np.float64]) -> None:
        self._gram = gram
        self._jitter = _JITTER * max(float(gram.diagonal().mean()), 1e-300)
        self._place = np.zeros(0, dtype=np.intp)
        self._factor: tuple[NDArray[np.float64], bool] | None = None

    def solve(self, free: NDArray[np.bool_], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Solutions on the free set, zero elsewhere, for right sides of shape (n, k)."""
        base = np.zeros(len(free), dtype=np.bool_)
        base[self._place] = True
        changed = int(np.count_nonzero(base != free))
        if self._factor is None or changed > max(32, len(self._place) // 8):
            self._refactor(free)
            base, changed = free, 0
        solution = np.zeros_like(right)
        if not changed:
            solution[self._place] = self._back(right[self._place])
            return solution
        removed = np.flatnonzero(~free[self._place])
        added = np.flatnonzero(free & ~base)
        self._bordered(removed, added, np.where(free[:, np.newaxis], right, 0.0), solution)
        return solution

    def _refactor(self, free: NDArray[np.bool_]) -> None:
        self._place = np.flatnonzero(free)
        inside = self._gram[np.ix_(self._place, self._place)]
        inside[np.diag_indices(len(inside))] += self._jitter
        self._factor = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)

    def _back(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        return cho_solve(self._factor, right, check_finite=False)

    def _bordered(
        self,
        removed: NDArray[np.intp],
        added: NDArray[np.intp],
        right: NDArray[np.float64],
        solution: NDArray[np.float64],
    ) -> None:
        size, n_added = len(self._place), len(added)
        border = np.zeros((size, n_added + len(removed)))
        border[:, :n_added] = self._gram[np.ix_(self._place, added)]
        border[removed, n_added + np.arange(len(removed))] = 1.0
        answers = self._back(np.hstack([border, right[self._place]]))
        through, plain = answers[:, : border.shape[1]], answers[:, border.shape[1] :]
        corner = np.zeros((border.shape[1], border.shape[1]))
        corner[:n_added, :n_added] = self._gram[np.ix_(added, added)]
        corner[np.arange(n_added), np.arange(n_added)] += self._jitter
        lower = np.zeros((border.shape[1], right.shape[1]))
        lower[:n_added] = right[added]
        small = np.linalg.solve(corner - border.T @ through, lower - border.T @ plain)
        inner = plain - through @ small
        inner[removed] = 0.0
        solution[self._place] = inner
        solution[added] = small[:n_added]


def polish(block: Block, theta: Vector) -> Vector | None:
    """Exact theta of the block from a good guess of its active sets; None if they do not settle."""
    system = _FreeSystem(block.gram)
    at_low, at_high = theta <= block.low, theta >= block.high
    for _ in range(_MOST_ROUNDS):
        free = ~(at_low | at_high)
        if not free.any() and block.total is not None:
            return None  # no variable to read the bias off
        fixed = np.where(at_low, block.low, np.where(at_high, block.high, 0.0))
        try:
            candidate, bias = _solve_free(block, system, free, fixed)
        except LinAlgError:
            return None
        residual = block.labels - block.gram @ candidate - block.outside - bias
        slack = _ROUNDING * float(np.abs(candidate).max(initial=0.0))
        leaves_down = free & (candidate < block.low - slack)
        leaves_up = free & (candidate > block.high + slack)
        pulled = (at_low & (residual > _ROUNDING)) | (at_high & (residual < -_ROUNDING))
        if not (leaves_down | leaves_up | pulled).any():
            return np.clip(candidate, block.low, block.high)
        at_low = (at_low & ~pulled) | leaves_down
        at_high = (at_high & ~pulled) | leaves_up
    return None


def _solve_free(
    block: Block, system: _FreeSystem, free: NDArray[np.bool_], fixed: Vector
) -> tuple[Vector, float]:
    """Free variables and bias for given fixed ones."""
    if not free.any():
        return fixed, 0.0
    right = block.labels - block.outside - block.gram @ fixed
    answers = system.solve(free, np.column_stack([right, np.ones(len(right))]))
    solution, border = answers.T
    bias = 0.0
    if block.total is not None:
        bias = float((solution.sum() - (block.total - fixed.sum())) / border.sum())
    return np.where(free, solution - bias * border, fixed), bias
