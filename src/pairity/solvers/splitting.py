"""Spectral splitting: the tensor kernels solved on the full grid of pairs of objects.

Douglas-Rachford splitting (ADMM) between the quadratic term, whose resolvent is closed form on
the grid (:mod:`pairity.operators.spectral`), and the loss, whose prox is entrywise.  Pairs that
were not observed have the box [0, 0].  Over-relaxed, Anderson-accelerated, with a step that
balances the two residuals.  The number of rounds hardly depends on the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.losses.cells import Cells, combine, spread_over_rows
from pairity.losses.piecewise import PiecewiseLinear
from pairity.operators.spectral import SpectralGrid, TensorStructure
from pairity.solvers._splitting_loops import grid_violation, project_cells
from pairity.solvers.anderson import AndersonAcceleration
from pairity.solvers.problem import (
    Problem,
    Solution,
    SolverOptions,
    Vector,
    balanced,
)
from pairity.threads import stop_if_abandoned

__all__ = ["solve_splitting"]

Array: TypeAlias = NDArray[np.floating]

_OVER_RELAXATION = 1.6
_ROUNDS_BETWEEN_STEP_CHANGES = 10
_MOST_ROUNDS = 400
_SNAP = 1e-6
#: The estimate of the violation is checked by a product; up to this many tolerances the finishing
#: solver is quicker than more rounds.
_WORTH_CHECKING, _GOOD_ENOUGH = 3.0, 5.0
_ROUNDS_BETWEEN_ESTIMATES, _ROUNDS_BETWEEN_CHECKS = 2, 6
#: After a check that failed the estimate must have fallen to this share before the next one.
_NEXT_CHECK = 0.6
#: A violation (in units of the targets) above this after so many rounds: another solver is quicker.
_USEFUL, _ROUNDS_TO_SHOW_PROMISE = 0.5, 100


@dataclass(frozen=True)
class _Grid:
    """Cells of the m x m grid that the rows of a problem fall into.

    Entry (a, b) of a coefficient matrix is half of the cell's theta, entry (b, a) the same with
    the sign of the parity, so that decision values are ``w K S K``; on the diagonal it is all.
    """

    cell: NDArray[np.intp]  # flat upper-triangle place of each row
    signs: Vector  # +-1: whether the row is written as its cell, or swapped (odd parity)
    loss: PiecewiseLinear  # of the rows, written as their cells
    cells: Cells  # (m, m), bounds of matrix entries

    @classmethod
    def of(cls, problem: Problem, parity_sign: float) -> _Grid | None:
        """Add up the observations of each unordered pair; None where they do not fit a cell."""
        pairs, m = problem.operator.left, problem.operator.left.n_objects
        swapped = pairs.first > pairs.second
        low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
        cell = low * m + high
        signs = np.where(swapped, parity_sign, 1.0)
        loss = problem.loss.signed(signs)
        combined = combine(loss, cell, m * m)
        if combined is None:
            return None
        plain = Cells(*(part.reshape(m, m) for part in combined.parts()))
        mirrored = Cells(*(part.T for part in plain.swapped(parity_sign).parts()))
        upper = np.triu(np.ones((m, m), dtype=np.bool_))
        share = np.where(np.eye(m, dtype=np.bool_), 1.0, 0.5)
        both = [
            np.where(upper, one, two)
            for one, two in zip(plain.parts(), mirrored.parts(), strict=True)
        ]
        bounds = [share * part for part in both[:3]]
        return cls(cell, signs, loss, Cells(*bounds, *both[3:]))

    def to_rows(self, feasible: Vector) -> Vector:
        """Dual variable of each row: its share of its cell."""
        return self.signs * spread_over_rows(self.loss, self.cells, self.cell, feasible, _SNAP)


def solve_splitting(
    problem: Problem,
    structure: TensorStructure,
    options: SolverOptions,
) -> Solution:
    """Approach the optimum of the dual on the grid, in single precision unless told otherwise.

    The result is feasible; the last digits are for a finishing solver that starts from it.
    ``converged`` says whether it is worth starting from.
    """
    spectral = problem.operator.spectral_grid
    assert spectral is not None
    grid = _Grid.of(problem, structure.parity.sign)
    if grid is None:
        reason = "a pair with more than one target does not fit the grid"
        return Solution(np.zeros(len(problem)), 0, False, reason)
    run = _Run(spectral, grid, options, problem)
    close = run.iterate()
    reason = "close to the optimum" if close else "not worth starting from"
    theta = balanced(problem, grid.to_rows(run.feasible.astype(np.float64)))
    return Solution(theta, run.rounds, close, reason)


class _Run:
    """State of the iteration."""

    def __init__(
        self, spectral: SpectralGrid, grid: _Grid, options: SolverOptions, problem: Problem
    ) -> None:
        self.spectral, self.options, self.has_bias = spectral, options, problem.has_bias
        self.tol, self.rounds = options.tol, 0
        self.dtype: type[np.floating] = np.float32 if options.single_precision else np.float64
        self.cells = tuple(part.astype(self.dtype) for part in grid.cells.parts())
        self.scale = problem.loss.scale
        widths = problem.loss.high - problem.loss.low
        bound = float(np.median(widths[widths > 0])) / 2.0 / self.scale  # rows of weight 0 aside
        self.rho = float(np.sqrt(spectral.typical_eigenvalue())) * 0.5 / np.sqrt(bound)
        shape = grid.cells.low.shape
        self.point: Array = np.zeros(shape, self.dtype)
        self.feasible = np.zeros(shape, self.dtype)
        self.reflected = np.zeros(shape, self.dtype)
        self.acceleration = AndersonAcceleration()

    def iterate(self) -> bool:
        """Rounds until the violation is small enough; whether the result is worth starting from."""
        next_check, violation = 0, np.inf
        worth_checking = _WORTH_CHECKING * self.tol
        most_rounds = _MOST_ROUNDS // 2 if self.options.rough else _MOST_ROUNDS
        for rounds in range(1, most_rounds + 1):
            stop_if_abandoned()
            self.rounds = rounds
            before = self.feasible.copy() if rounds % _ROUNDS_BETWEEN_STEP_CHANGES == 0 else None
            self._project(self.point)
            smooth = self.spectral.solve(
                self.reflected * self.dtype(self.rho), self.rho, constrained=self.has_bias
            )
            if rounds % _ROUNDS_BETWEEN_ESTIMATES == 0:
                violation = self._violation(smooth)
            if self.options.report is not None:
                self.options.report(f"splitting, round {rounds}", violation)
            if violation <= worth_checking and rounds >= next_check:
                if self._exact_violation() <= _GOOD_ENOUGH * self.tol:
                    return True
                next_check = rounds + _ROUNDS_BETWEEN_CHECKS
                worth_checking = max(_NEXT_CHECK * violation, 0.5 * self.tol)
            if rounds == _ROUNDS_TO_SHOW_PROMISE and violation > _USEFUL * self.scale:
                return False
            residual = self.dtype(_OVER_RELAXATION) * (smooth - self.feasible)
            image = self.point + residual
            if before is not None and self._rebalance(smooth, before, image):
                continue
            self.point = self.acceleration.next_point(image, residual)
        return self._exact_violation() <= _USEFUL * self.scale

    def _project(self, point: Array) -> None:
        step = self.dtype(1.0 / self.rho)
        project_cells(point, step, *self.cells, self.feasible, self.reflected)

    def _violation(self, smooth: Array) -> float:
        """KKT violation of Z with the decision values of S: ``w K S K = rho (2 Z - point - S)``."""
        return self._measure(self.dtype(self.rho) * (self.reflected - smooth))

    def _exact_violation(self) -> float:
        """KKT violation of Z with its own decision values."""
        return self._measure(self.spectral.apply(self.feasible))

    def _measure(self, values: Array) -> float:
        low, high = grid_violation(self.feasible, values, *self.cells)
        return float(low - high) if self.has_bias else float(max(low, -high, 0.0))

    def _rebalance(self, smooth: Array, before: Array, image: Array) -> bool:
        """Change rho where one residual is much smaller than the other."""
        norm = np.linalg.norm
        scale = max(float(norm(smooth)), float(norm(self.feasible)), 1e-30)
        primal = float(norm(smooth - self.feasible)) / scale
        dual = float(norm(self.feasible - before)) / max(
            float(norm(self.point - self.feasible)), 1e-30
        )
        factor = float(np.sqrt(primal / max(dual, 1e-30)))
        if 0.4 < factor < 2.5:
            return False
        factor = min(max(factor, 0.2), 5.0)
        self._project(image)
        self.point = self.feasible + (image - self.feasible) / self.dtype(factor)
        self.rho *= factor
        self.acceleration.reset()
        return True
