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
from scipy.linalg import LinAlgError

from pairity.losses.loss import PiecewiseLinear, Vector
from pairity.losses.piecewise import Cells, combine, spread_over_rows
from pairity.operators.group_states import GroupStates
from pairity.operators.spectral import GridStructure
from pairity.pairs.arrays import Mask
from pairity.pairs.data import Pairs
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers._splitting_loops import (
    combine_steps,
    grid_violation,
    project_cells,
    relax,
    remember_step,
)
from pairity.solvers.problem import Problem, Solution, SolverOptions, balanced

Array: TypeAlias = NDArray[np.floating]

_OVER_RELAXATION = 1.6
_ROUNDS_BETWEEN_STEP_CHANGES = 10
_MOST_ROUNDS = 400
_SNAP = 1e-6
#: The estimate of the violation is checked by a product; up to this many tolerances, or this share
#: of the margin, the finishing solver is quicker than more rounds.
_WORTH_CHECKING, _GOOD_ENOUGH = 3.0, 5.0
_NEAR_TO_CHECK, _NEAR_ENOUGH = 0.01, 0.02
_ROUNDS_BETWEEN_ESTIMATES, _ROUNDS_BETWEEN_CHECKS = 2, 6
#: After a check that failed the estimate must have fallen to this share before the next one.
_NEXT_CHECK = 0.6
#: A violation (in units of the targets) above this after so many rounds: another solver is quicker.
_USEFUL, _ROUNDS_TO_SHOW_PROMISE = 0.5, 100


class AndersonAcceleration:
    """Type-II acceleration of ``w -> T(w)`` with a memory of a few steps and a safeguard.

    The next point is ``T(w) - sum_i gamma_i (T(w_i+1) - T(w_i))`` with gamma minimising the
    residual ``T(w) - w`` combined in the same way.  A residual that more than doubles the best one
    is taken back: the last plain step is resumed and the memory cleared.
    """

    def __init__(self, memory: int = 6, regularisation: float = 1e-10) -> None:
        self.memory, self.regularisation = memory, regularisation
        self.reset()

    def reset(self) -> None:
        """Forget the past, for a new map."""
        self._n_steps = 0  # remembered so far, each in the place of the oldest one
        self._last: tuple[Array, Array] | None = None
        self._fallback: Array | None = None
        self._best = np.inf

    def next_point(self, image: Array, residual: Array) -> Array:
        """Next point from ``image = T(w)`` and ``residual = T(w) - w``."""
        size = float(np.linalg.norm(residual))
        if self._fallback is not None and size > 2.0 * self._best:
            fallback = self._fallback
            self.reset()
            return fallback
        self._best = min(self._best, size)
        last, self._last = self._last, (image.ravel(), residual.ravel())
        if last is None:
            return image
        pull = self._remember(*self._last, *last)
        self._fallback = image
        n_known = len(pull)
        gram = self._gram[:n_known, :n_known]
        ridge = self.regularisation * np.trace(gram) * np.eye(n_known)
        gamma = np.linalg.solve(gram + ridge, pull).astype(image.dtype)
        return combine_steps(self._last[0], gamma, self._images[:n_known]).reshape(image.shape)

    def _remember(self, image: Array, residual: Array, *last: Array) -> Vector:
        """Changes of the image and of the residual, and products of the latter with one another.

        Returns those with the residual itself.
        """
        if not self._n_steps:
            self._residuals, self._images = np.empty((2, self.memory, image.size), image.dtype)
            self._gram = np.zeros((self.memory, self.memory))
        place, self._n_steps = self._n_steps % self.memory, self._n_steps + 1
        known = slice(min(self._n_steps, self.memory))
        steps = self._images[known], self._residuals[known]
        products, pull = remember_step(place, image, residual, *last, *steps)
        self._gram[place, known] = self._gram[known, place] = products
        return pull


@dataclass(frozen=True)
class _Grid:
    """Cells of the grid that the rows of a problem fall into: m x m for each state.

    Entry (a, b) of the coefficient matrix of a state is half of the cell's theta, entry (b, a) of the
    mirrored state the same with the sign of the parity, so that decision values are ``w K S K``;
    where the two are one entry it is all.
    """

    cell: NDArray[np.intp]  # flat place of each row, in the half of the grid that is not mirrored
    signs: Vector  # +-1: whether the row is written as its cell, or swapped (odd parity)
    loss: PiecewiseLinear  # of the rows, written as their cells
    cells: Cells  # (states * m, m), bounds of matrix entries

    @classmethod
    def of(cls, problem: Problem, structure: GridStructure) -> _Grid | None:
        """Add up the observations of each unordered pair; None where they do not fit a cell."""
        pairs, states = problem.operator.left, structure.states
        sign, m = structure.tensor.parity.sign, pairs.n_objects
        shape = len(states), m, m
        cell, swapped = _written_cells(pairs, states)
        signs = np.where(swapped, sign, 1.0)
        loss = problem.loss.signed(signs)
        combined = combine(loss, cell, len(states) * m * m)
        if combined is None:
            return None
        own = np.arange(len(states))[:, np.newaxis, np.newaxis]
        mirror = states.mirror[:, np.newaxis, np.newaxis]
        is_written = np.where(own == mirror, np.triu(np.ones((m, m), dtype=np.bool_)), own < mirror)
        is_alone = (own == mirror) & np.eye(m, dtype=np.bool_)

        def everywhere(plain: Array, swapped: Array) -> Array:
            mirrored = swapped.reshape(shape)[states.mirror].swapaxes(1, 2)
            return np.where(is_written, plain.reshape(shape), mirrored).reshape(-1, m)

        parts = zip(combined.parts(), combined.swapped(sign).parts(), strict=True)
        low, bend, high, below, above = (everywhere(*both) for both in parts)
        share = np.where(is_alone, 1.0, 0.5).reshape(-1, m)
        return cls(cell, signs, loss, Cells(share * low, share * bend, share * high, below, above))


def _written_cells(pairs: Pairs, states: GroupStates) -> tuple[NDArray[np.intp], Mask]:
    """Flat place of each pair, of two mirrored ones that of the smaller state, or upper triangle.

    And which of the pairs are written the other way round.
    """
    state, m = states.of(pairs), pairs.n_objects
    mirrored = states.mirror[state]
    swapped = (mirrored < state) | ((mirrored == state) & (pairs.first > pairs.second))
    first, second = (
        np.where(swapped, *ends)
        for ends in ((pairs.second, pairs.first), (pairs.first, pairs.second))
    )
    return (np.minimum(state, mirrored) * m + first) * m + second, swapped


def solve_splitting(problem: Problem, options: SolverOptions) -> Solution:
    """Approach the optimum of the dual on the grid, in single precision unless told otherwise.

    The result is feasible; the last digits are for a finishing solver that starts from it.
    ``converged`` says whether it is worth starting from.
    """
    structure = problem.operator.grid_structure
    assert structure is not None
    grid = _Grid.of(problem, structure)
    if grid is None:
        reason = "a pair with more than one target does not fit the grid"
        return Solution(np.zeros(len(problem)), 0, False, reason)
    run = _Run(grid, options, problem)
    try:
        close = run.iterate()
    except LinAlgError:  # an additive part on a scale beside which the rest is rounding
        close = False
    reason = "close to the optimum" if close else "not worth starting from"
    feasible = run.feasible.astype(np.float64)
    theta = grid.signs * spread_over_rows(grid.loss, grid.cells, grid.cell, feasible, _SNAP)
    return Solution(balanced(problem, theta), run.rounds, close, reason)


class _Run:
    """State of the iteration."""

    def __init__(self, grid: _Grid, options: SolverOptions, problem: Problem) -> None:
        spectral = problem.operator.spectral_grid
        assert spectral is not None
        self.spectral, self.options, self.rounds = spectral, options, 0
        self.has_bias, self.scale = problem.has_bias, problem.loss.scale
        self.dtype: type[np.floating] = np.float32 if options.single_precision else np.float64
        self.cells = tuple(part.astype(self.dtype) for part in grid.cells.parts())
        if spectral.has_free_diagonal:
            np.fill_diagonal(self.cells[0], -np.inf)
            np.fill_diagonal(self.cells[2], np.inf)
        seen = np.zeros(grid.cells.low.size, dtype=np.bool_)
        seen[grid.cell[problem.loss.low < problem.loss.high]] = True
        self.observed = np.flatnonzero(seen)  # of a cell and its mirror image one
        self.observed_cells = [part.ravel()[self.observed] for part in self.cells]
        widths = problem.loss.high - problem.loss.low
        bound = float(np.median(widths[widths > 0])) / 2.0 / self.scale  # rows of weight 0 aside
        self.rho = float(np.sqrt(spectral.typical_eigenvalue())) * 0.5 / np.sqrt(bound)
        self.point: Array
        self.point, self.feasible, self.right = (
            np.zeros(grid.cells.low.shape, self.dtype) for _ in range(3)
        )
        self.acceleration = AndersonAcceleration()

    def iterate(self) -> bool:
        """Rounds until the violation is small enough; whether the result is worth starting from."""
        next_check, violation, tol = 0, np.inf, self.options.tol
        worth_checking = max(_WORTH_CHECKING * tol, _NEAR_TO_CHECK * self.scale)
        good_enough = max(_GOOD_ENOUGH * tol, _NEAR_ENOUGH * self.scale)
        most_rounds = _MOST_ROUNDS // 2 if self.options.rough else _MOST_ROUNDS
        for rounds in range(1, most_rounds + 1):
            stop_if_abandoned()
            self.rounds = rounds
            before = self.feasible.copy() if rounds % _ROUNDS_BETWEEN_STEP_CHANGES == 0 else None
            self._project(self.point)
            smooth = self.spectral.solve(self.right, self.rho, constrained=self.has_bias)
            if rounds % _ROUNDS_BETWEEN_ESTIMATES == 0:
                # of Z with the decision values of S, whose gradient is rho (2 Z - point - S)
                gradient = self.right - self.dtype(self.rho) * smooth
                violation = self._violation(self.spectral.decisions(gradient))
            if self.options.report is not None:
                self.options.report(f"splitting, round {rounds}", violation)
            if violation <= worth_checking and rounds >= next_check:
                if self._violation() <= good_enough:
                    return True
                next_check = rounds + _ROUNDS_BETWEEN_CHECKS
                worth_checking = max(_NEXT_CHECK * violation, 0.5 * tol)
            if rounds == _ROUNDS_TO_SHOW_PROMISE and violation > _USEFUL * self.scale:
                return False
            factor = self.dtype(_OVER_RELAXATION)
            image, residual = relax(self.point, smooth, self.feasible, factor)
            if before is not None and self._rebalance(smooth, before, image):
                continue
            self.point = self.acceleration.next_point(image, residual)
        return self._violation() <= _USEFUL * self.scale

    def _project(self, point: Array) -> None:
        step = self.dtype(1.0 / self.rho)
        project_cells(point, step, *self.cells, self.feasible, self.right)

    def _violation(self, values: Array | None = None) -> float:
        """KKT violation of Z with some decision values, its own by default."""
        if values is None:
            values = self.spectral.apply(self.feasible)
        here = (part.reshape(-1)[self.observed] for part in (self.feasible, values))
        low, high = grid_violation(*here, *self.observed_cells)
        return float(low - high) if self.has_bias else float(max(low, -high, 0.0))

    def _rebalance(self, smooth: Array, before: Array, image: Array) -> bool:
        """Change rho where one residual is much smaller than the other."""
        norm, feasible = np.linalg.norm, self.feasible
        scale = max(float(norm(smooth)), float(norm(feasible)), 1e-30)
        primal = float(norm(smooth - feasible)) / scale
        dual = float(norm(feasible - before)) / max(float(norm(self.point - feasible)), 1e-30)
        factor = float(np.sqrt(primal / max(dual, 1e-30)))
        if 0.4 < factor < 2.5:
            return False
        factor = min(max(factor, 0.2), 5.0)
        self._project(image)
        self.point = self.feasible + (image - self.feasible) / self.dtype(factor)
        self.rho *= factor
        self.acceleration.reset()
        return True
