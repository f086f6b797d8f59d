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

from pairity.losses.hinge import HingeCells
from pairity.operators.spectral import SpectralGrid, TensorStructure
from pairity.solvers._splitting_loops import grid_violation, project_cells
from pairity.solvers.anderson import AndersonAcceleration
from pairity.solvers.problem import INTERRUPTED, Problem, Solution, SolverOptions, Vector
from pairity.solvers.smo import balanced

__all__ = ["solve_splitting"]

Array: TypeAlias = NDArray[np.floating]

_OVER_RELAXATION = 1.6
_ROUNDS_BETWEEN_STEP_CHANGES = 10
_MOST_ROUNDS = 400
_SNAP = 1e-6
#: The estimate of the violation is checked by a product; up to this many tolerances the finishing
#: solver is quicker than more rounds.
_WORTH_CHECKING, _GOOD_ENOUGH = 3.0, 5.0
_ROUNDS_BETWEEN_ESTIMATES, _ROUNDS_BETWEEN_CHECKS, _MOST_CHECKS = 2, 6, 6
#: A violation (in units of the margin) above this after so many rounds: another solver is quicker.
_USEFUL, _ROUNDS_TO_SHOW_PROMISE = 0.5, 100


@dataclass(frozen=True)
class _Grid:
    """Cells of the m x m grid that the rows of a problem fall into.

    Entry (a, b) of a coefficient matrix is half of the cell's theta, entry (b, a) the same with
    the sign of the parity, so that decision values are ``w K S K``; on the diagonal it is all.
    """

    cell: NDArray[np.intp]  # flat upper-triangle place of each row
    signs: Vector  # +-1: sign of theta of the row inside its cell
    n_objects: int
    positive: Vector  # (m, m): summed upper bounds of observations of +1
    negative: Vector
    share: Vector  # 1/2 off the diagonal, 1 on it

    @classmethod
    def of(cls, problem: Problem, parity_sign: float) -> _Grid:
        """Add up the observations of each unordered pair."""
        pairs, m = problem.operator.left, problem.operator.left.n_objects
        swapped = pairs.first > pairs.second
        low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
        cell = low * m + high
        signs = problem.labels * np.where(swapped, parity_sign, 1.0)
        share = np.full((m, m), 0.5)
        np.fill_diagonal(share, 1.0)
        sums = [
            np.bincount(cell, np.where(signs * side > 0, problem.upper, 0.0), m * m).reshape(m, m)
            for side in (1.0, -1.0)
        ]
        upper = np.triu(np.ones((m, m), dtype=np.bool_))
        mirrored = [sums[0].T, sums[1].T] if parity_sign > 0 else [sums[1].T, sums[0].T]
        positive, negative = (
            np.where(upper, plain, other) for plain, other in zip(sums, mirrored, strict=True)
        )
        return cls(cell, signs, m, positive * share, negative * share, share)

    def to_rows(self, problem: Problem, feasible: Vector) -> Vector:
        """Dual variable of each row: its share of its cell."""
        cells = HingeCells(self.positive.ravel()[self.cell], self.negative.ravel()[self.cell])
        plus, minus = cells.split(feasible.ravel()[self.cell])
        used = np.where(self.signs > 0, plus, minus)
        available = np.where(self.signs > 0, cells.positive, cells.negative)
        part = used / np.where(available > 0, available, 1.0)
        part[part < _SNAP] = 0.0  # what single precision puts on a bound is on the bound
        part[part > 1.0 - _SNAP] = 1.0
        return problem.upper * part


def solve_splitting(
    problem: Problem,
    structure: TensorStructure,
    options: SolverOptions,
) -> Solution:
    """Approach the optimum of the dual on the grid, in single precision unless told otherwise.

    The result is feasible; the last digits are for a finishing solver that starts from it.
    ``converged`` says whether it is worth starting from.
    """
    spectral = SpectralGrid(structure, constrained=problem.has_bias)
    grid = _Grid.of(problem, structure.parity.sign)
    run = _Run(spectral, grid, options, problem)
    reason = "not worth starting from"
    try:
        if run.iterate():
            reason = "close to the optimum"
    except KeyboardInterrupt:
        reason = INTERRUPTED
    feasible = run.feasible.astype(np.float64)
    beta = balanced(problem, grid.to_rows(problem, feasible))
    return Solution(beta, run.rounds, reason == "close to the optimum", reason)


class _Run:
    """State of the iteration."""

    def __init__(
        self, spectral: SpectralGrid, grid: _Grid, options: SolverOptions, problem: Problem
    ) -> None:
        self.spectral, self.options, self.has_bias = spectral, options, problem.has_bias
        self.tol, self.rounds = options.tol, 0
        self.dtype: type[np.floating] = np.float32 if options.single_precision else np.float64
        cells = HingeCells(grid.positive, grid.negative)
        self.low, self.high, self.bend = (
            part.astype(self.dtype) for part in (cells.low, cells.high, cells.bend)
        )
        bound = float(np.median(problem.upper)) / 2.0
        self.rho = float(np.sqrt(spectral.typical_eigenvalue())) * 0.5 / np.sqrt(bound)
        shape = (grid.n_objects, grid.n_objects)
        self.point: Array = np.zeros(shape, self.dtype)
        self.feasible = np.zeros(shape, self.dtype)
        self.reflected = np.zeros(shape, self.dtype)
        self.acceleration = AndersonAcceleration()

    def iterate(self) -> bool:
        """Rounds until the violation is small enough; whether the result is worth starting from."""
        next_check, checks, violation = 0, 0, np.inf
        for rounds in range(1, _MOST_ROUNDS + 1):
            self.rounds = rounds
            before = self.feasible.copy() if rounds % _ROUNDS_BETWEEN_STEP_CHANGES == 0 else None
            project_cells(
                self.point,
                self.dtype(1.0 / self.rho),
                self.low,
                self.high,
                self.bend,
                self.feasible,
                self.reflected,
            )
            smooth = self.spectral.solve(self.reflected * self.dtype(self.rho), self.rho)
            if rounds % _ROUNDS_BETWEEN_ESTIMATES == 0:
                violation = self._violation(smooth)
            if self.options.report is not None:
                self.options.report(f"splitting, round {rounds}", violation)
            if violation <= _WORTH_CHECKING * self.tol and rounds >= next_check:
                exact = self._exact_violation()
                checks += 1
                next_check = rounds + _ROUNDS_BETWEEN_CHECKS
                if exact <= _GOOD_ENOUGH * self.tol or checks == _MOST_CHECKS:
                    return exact <= _USEFUL
            if rounds == _ROUNDS_TO_SHOW_PROMISE and violation > _USEFUL:
                return False
            residual = self.dtype(_OVER_RELAXATION) * (smooth - self.feasible)
            image = self.point + residual
            if before is not None and self._rebalance(smooth, before, image):
                continue
            self.point = self.acceleration.next_point(image, residual)
        return self._exact_violation() <= _USEFUL

    def _violation(self, smooth: Array) -> float:
        """KKT violation of Z with the decision values of S: ``w K S K = rho (2 Z - point - S)``."""
        return self._measure(self.dtype(self.rho) * (self.reflected - smooth))

    def _exact_violation(self) -> float:
        """KKT violation of Z with its own decision values."""
        return self._measure(self.spectral.apply(self.feasible))

    def _measure(self, values: Array) -> float:
        low, high = grid_violation(self.feasible, values, self.low, self.high, self.bend)
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
        step = self.dtype(1.0 / self.rho)
        project_cells(image, step, self.low, self.high, self.bend, self.feasible, self.reflected)
        self.point = self.feasible + (image - self.feasible) / self.dtype(factor)
        self.rho *= factor
        self.acceleration.reset()
        return True
