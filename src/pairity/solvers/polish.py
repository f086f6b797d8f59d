"""The exact solution on a block of pairs, by primal-dual active sets.

With the variables on their bounds fixed, the free ones solve a linear system (one Cholesky
factorisation, the bias by a bordered column); those that leave their box or whose multiplier has the
wrong sign change sides, and so on until nobody moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairity.losses.loss import PiecewiseLinear, Vector
from pairity.operators._operator_loops import dot_rows
from pairity.pairs.arrays import batches
from pairity.runtime.resources import run_in_ranges

Matrix = NDArray[np.float64]
Gram = NDArray[np.floating]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

#: Rounds, what is added to a diagonal of 1, and differences that are rounding, relative to the size
#: of targets or of variables.
_MOST_POLISH_ROUNDS, _JITTER, _ROUNDING = 25, 1e-12, 1e-10
#: Share of the sizes of the variables by which their sum may move.
_SUM_ROUNDING = 1e-12
#: Entries of a product with a block that one range of work covers, and of a block that are copied
#: at a time.
_ENTRIES_PER_RANGE, _ENTRIES_PER_COPY = 2_000_000, 100_000


def times(gram: Gram, vector: Vector) -> Vector:
    """``gram vector``, added up in double precision on both cores."""
    out = np.empty(len(gram))

    def multiply(start: int, stop: int) -> None:
        dot_rows(out[start:stop], gram[start:stop], vector)

    run_in_ranges(multiply, len(out), max(1, _ENTRIES_PER_RANGE // max(1, len(vector))))
    return out


@dataclass(frozen=True)
class Block:
    """Part of a problem: ``values = gram theta + outside``, and the losses of its rows."""

    gram: Gram
    outside: Vector
    loss: PiecewiseLinear
    total: float | None  # what the sum of theta must be; None where there is no bias


def factored(gram: Gram, index: Index, ridge: float) -> tuple[Matrix, bool]:
    """Cholesky factor of ``gram[index, index] + ridge`` in double precision.

    Rows are copied some at a time, so that no second copy is held.
    """
    part = np.empty((len(index), len(index)))
    for rows in batches(len(index), _ENTRIES_PER_COPY // max(1, len(index))):
        part[rows] = gram[np.ix_(index[rows], index)]
    part[np.diag_indices(len(index))] += ridge
    # LAPACK takes columns: a matrix stored by rows would be copied
    return cho_factor(part.T, lower=True, overwrite_a=True, check_finite=False)


class _FreeSystem:
    """``gram_FF x = b`` for sets F that differ little from each other.

    One Cholesky factorisation of a first set F0 serves later sets: variables that left (R) are
    held at zero by multipliers, those that came (A) border the system, and both are eliminated by
    a Schur complement of size |R| + |A|.
    """

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self._jitter = _JITTER * max(float(gram.diagonal().mean()), 1e-300)
        self._base = np.zeros(0, dtype=np.intp)
        self._factor: tuple[Matrix, bool] | None = None

    def solve(self, free: Mask, right: Matrix) -> Matrix:
        """Solutions on the free set, zero elsewhere, for right sides of shape (n, k)."""
        was_free = np.zeros(len(free), dtype=np.bool_)
        was_free[self._base] = True
        changed = int(np.count_nonzero(was_free != free))
        if self._factor is None or changed > max(32, len(self._base) // 8):
            self._base, changed = np.flatnonzero(free), 0
            self._factor = None  # goes before the next one comes
            self._factor = factored(self._gram, self._base, self._jitter)
        if changed:
            removed = np.flatnonzero(~free[self._base])
            added = np.flatnonzero(free & ~was_free)
            return self._bordered(removed, added, np.where(free[:, np.newaxis], right, 0.0))
        solution = np.zeros_like(right)
        solution[self._base] = cho_solve(self._factor, right[self._base], check_finite=False)
        return solution

    def _bordered(self, removed: Index, added: Index, right: Matrix) -> Matrix:
        base, n_added, width = self._base, len(added), len(added) + len(removed)
        border = np.zeros((len(base), width))
        border[:, :n_added] = self._gram[np.ix_(base, added)]
        border[removed, n_added + np.arange(len(removed))] = 1.0
        both = np.hstack([border, right[base]])
        through, plain = np.hsplit(cho_solve(self._factor, both, check_finite=False), [width])
        corner, lower = np.zeros((width, width)), np.zeros((width, right.shape[1]))
        corner[:n_added, :n_added] = self._gram[np.ix_(added, added)]
        corner[np.arange(n_added), np.arange(n_added)] += self._jitter
        lower[:n_added] = right[added]
        small = np.linalg.solve(corner - border.T @ through, lower - border.T @ plain)
        inner = plain - through @ small
        inner[removed] = 0.0
        solution = np.zeros_like(right)
        solution[base], solution[added] = inner, small[:n_added]
        return solution


@dataclass
class _Sides:
    """Where each variable is: inside its lower or upper piece (free), or fixed at a value."""

    in_lower: Mask
    in_upper: Mask
    fixed: Vector  # 0 where free

    @classmethod
    def of(cls, loss: PiecewiseLinear, theta: Vector) -> _Sides:
        free = loss.is_free(theta)
        fixed = np.where(theta <= loss.low, loss.low, np.where(theta >= loss.high, loss.high, 0.0))
        return cls(free & (theta < 0), free & (theta >= 0), np.where(free, 0.0, fixed))

    @property
    def free(self) -> Mask:
        return self.in_lower | self.in_upper

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
    system, loss = _FreeSystem(block.gram), block.loss
    sides = _Sides.of(loss, theta)
    for _ in range(_MOST_POLISH_ROUNDS):
        if not sides.free.any() and block.total is not None:
            return None  # no variable to read the bias off
        try:
            candidate, bias = _solve_free(block, system, sides)
        except LinAlgError:
            return None
        moved = sides.moved(loss, candidate, times(block.gram, candidate) + block.outside + bias)
        if moved is None:
            theta = np.clip(candidate, loss.low, loss.high)
            # of a singular matrix rounding may have moved the sum
            off = 0.0 if block.total is None else abs(float(theta.sum()) - block.total)
            return theta if off <= _SUM_ROUNDING * float(np.abs(theta).sum()) else None
        sides = moved
    return None


def _solve_free(block: Block, system: _FreeSystem, sides: _Sides) -> tuple[Vector, float]:
    """Free variables and bias for given fixed ones."""
    free, fixed, loss = sides.free, sides.fixed, block.loss
    if not free.any():
        return fixed, 0.0
    rests = np.where(sides.in_lower, loss.below, loss.above)
    right = rests - block.outside - times(block.gram, fixed)
    solution, border = system.solve(free, np.column_stack([right, np.ones(len(right))])).T
    bias = 0.0
    if block.total is not None:
        bias = float((solution.sum() - (block.total - fixed.sum())) / border.sum())
    return np.where(free, solution - bias * border, fixed), bias
