"""What a step of Newton's method asks of the losses of all rows, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.losses.loss import Logistic, PiecewiseLinear, Vector
from pairity.runtime.resources import run_in_ranges
from pairity.solvers._primal_loops import (
    FIRST_ROWS,
    pass_logistic,
    pass_rounded,
    slope_of_rounded,
    worst_logistic,
)
from pairity.solvers.primal_design import Design

#: Rows that one range of work covers.
_ROWS_PER_RANGE = 100_000


@dataclass(frozen=True, eq=False)
class Passed:
    """Dual variables at some decisions, and how much they change with them."""

    pull: Vector
    curvature: Vector
    off: float = 0.0  # how far a curved row is off its margin at most, where losses are rounded
    price: float = 0.0  # what rounding adds to the duality gap: ``width |theta| (1 - |theta| / c)``


@dataclass(frozen=True, eq=False)
class State:
    """Parameters, decisions, and what the rounded losses are there."""

    parameters: Vector
    decisions: Vector
    passed: Passed
    gradient: Vector


class RowLosses:
    """Losses of the rows; piecewise linear ones rounded over a width about dual variables."""

    def __init__(self, loss: Any) -> None:
        self.loss, self.is_rounded = loss, isinstance(loss, PiecewiseLinear)
        self.centre = np.zeros(len(loss) if self.is_rounded else 0)
        if self.is_rounded:
            self._pieces = loss.low, loss.high, loss.below, loss.above

    def at(self, decisions: Vector, width: float) -> Passed:
        """All of it at some decisions."""
        if self.is_rounded:
            pull, curvature = np.empty(len(decisions)), np.empty(len(decisions))
            rounded = pass_rounded(decisions, self._pieces, width, self.centre, pull, curvature)
            return Passed(pull, curvature, *rounded)
        if not isinstance(self.loss, Logistic):
            return Passed(self.loss.pull(decisions), self.loss.curvature(decisions))
        return self._logistic_at(decisions)

    def _logistic_at(self, decisions: Vector) -> Passed:
        """One compiled pass, over ranges of rows."""
        pull, curvature = np.empty(len(decisions)), np.empty(len(decisions))
        targets, weights = self.loss.targets, self.loss.weights

        def some(start: int, stop: int) -> None:
            part = slice(start, stop)
            given = decisions[part], targets[part], weights[part]
            pass_logistic(*given, pull[part], curvature[part])

        run_in_ranges(some, len(decisions), _ROWS_PER_RANGE)
        return Passed(pull, curvature)

    def state(
        self, design: Design, parameters: Vector, decisions: Vector | None, width: float
    ) -> State:
        """All of it at some parameters, with decisions from them, not from sums of steps: no drift."""
        decisions = design.times(parameters) if decisions is None else decisions
        passed = self.at(decisions, width)
        gradient = design.penalty * parameters - design.transposed(passed.pull)
        return State(parameters, decisions, passed, gradient)

    def error(self, design: Design, state: State, tol: float) -> float:
        """How far dual variables are from the decisions that they define.

        ``K theta = Z w - Z gradient``: for rounded losses the largest entry of the last product,
        for smooth ones the violation that follows from it.  Logistic losses some of which are off
        by more than the tolerance are not looked at further.
        """
        direction = design.penalty * state.gradient
        if not isinstance(self.loss, Logistic):
            moved = design.times(direction)
            if self.is_rounded:
                return float(np.abs(moved).max(initial=0.0))
            return float(self.loss.violation(state.passed.pull, state.decisions - moved))
        error = self._logistic_error(design, state, direction, FIRST_ROWS)
        if error > tol or len(state.decisions) <= FIRST_ROWS:
            return error
        return self._logistic_error(design, state, direction, None)

    def _logistic_error(
        self, design: Design, state: State, direction: Vector, most: int | None
    ) -> float:
        """Largest difference of a dual variable and what it rests at, among so many rows at most."""
        moved, rows = design.times(direction, most), slice(most)
        losses = self.loss.targets[rows], self.loss.weights[rows]
        pull, decisions = state.passed.pull[rows], state.decisions[rows]
        return float(worst_logistic(decisions, moved, *losses, pull))

    def slope(self, decisions: Vector, change: Vector, length: float, width: float) -> float:
        """``sum_i pull_i change_i`` at ``decisions + length change``."""
        if self.is_rounded:
            rounding = self._pieces, width, self.centre
            return float(slope_of_rounded(decisions, change, length, *rounding))
        pull = self.at(decisions + length * change, width).pull
        return float(np.einsum("i,i->", pull, change))
