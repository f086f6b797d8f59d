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

from pairity.losses.base import Vector
from pairity.losses.piecewise import PiecewiseLinear

__all__ = ["Block", "polish"]

_MOST_ROUNDS = 25
_JITTER = 1e-12
#: Differences up to this, relative to the size of targets or of variables, are rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Block:
    """Part of a problem: ``values = gram theta + outside``, and the losses of its rows.

    ``total`` is what the sum of theta must be, or None where there is no bias.
    """

    gram: NDArray[np.float64]
    outside: Vector
    loss: PiecewiseLinear
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


@dataclass
class _Sides:
    """Where each variable is: inside its lower or upper piece (free), or fixed at a value."""

    in_lower: NDArray[np.bool_]
    in_upper: NDArray[np.bool_]
    fixed: Vector  # 0 where free

    @classmethod
    def of(cls, loss: PiecewiseLinear, theta: Vector) -> _Sides:
        free = loss.is_free(theta)
        fixed = np.where(theta <= loss.low, loss.low, np.where(theta >= loss.high, loss.high, 0.0))
        return cls(free & (theta < 0), free & (theta >= 0), np.where(free, 0.0, fixed))

    @property
    def free(self) -> NDArray[np.bool_]:
        return self.in_lower | self.in_upper

    def targets(self, loss: PiecewiseLinear) -> Vector:
        """Decision at which each free variable rests."""
        return np.where(self.in_lower, loss.below, loss.above)

    def moved(self, loss: PiecewiseLinear, candidate: Vector, decisions: Vector) -> _Sides | None:
        """Sides after those that left their piece, or are pulled into one, have changed; or None."""
        slack = _ROUNDING * float(np.abs(candidate).max(initial=0.0))
        rounding = _ROUNDING * loss.scale
        bent = loss.below != loss.above
        floor = np.where(self.in_upper & bent, 0.0, loss.low)
        roof = np.where(self.in_lower & bent, 0.0, loss.high)
        sunk = self.free & (candidate < floor - slack)
        risen = self.free & (candidate > roof + slack)
        rise, fall = loss.targets(self.fixed)
        up = ~self.free & (rise - decisions > rounding)
        down = ~self.free & (decisions - fall > rounding)
        if not (sunk | risen | up | down).any():
            return None
        left = sunk | risen
        negative = self.fixed < 0
        return _Sides(
            (self.in_lower & ~left) | (up & negative) | (down & ~(self.fixed > 0)),
            (self.in_upper & ~left) | (up & ~negative) | (down & (self.fixed > 0)),
            np.where(sunk, floor, np.where(risen, roof, np.where(up | down, 0.0, self.fixed))),
        )


def polish(block: Block, theta: Vector) -> Vector | None:
    """Exact theta of the block from a good guess of its active sets; None if they do not settle."""
    system = _FreeSystem(block.gram)
    loss = block.loss
    sides: _Sides | None = _Sides.of(loss, theta)
    for _ in range(_MOST_ROUNDS):
        assert sides is not None
        if not sides.free.any() and block.total is not None:
            return None  # no variable to read the bias off
        try:
            candidate, bias = _solve_free(block, system, sides)
        except LinAlgError:
            return None
        decisions = block.gram @ candidate + block.outside + bias
        sides = sides.moved(loss, candidate, decisions)
        if sides is None:
            return np.clip(candidate, loss.low, loss.high)
    return None


def _solve_free(block: Block, system: _FreeSystem, sides: _Sides) -> tuple[Vector, float]:
    """Free variables and bias for given fixed ones."""
    free, fixed = sides.free, sides.fixed
    if not free.any():
        return fixed, 0.0
    right = sides.targets(block.loss) - block.outside - block.gram @ fixed
    answers = system.solve(free, np.column_stack([right, np.ones(len(right))]))
    solution, border = answers.T
    bias = 0.0
    if block.total is not None:
        bias = float((solution.sum() - (block.total - fixed.sum())) / border.sum())
    return np.where(free, solution - bias * border, fixed), bias
