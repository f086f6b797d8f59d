"""What a step of Newton's method asks of the losses of all rows, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.losses.loss import Logistic, PiecewiseLinear, Vector
from pairity.runtime.resources import run_in_ranges
from pairity.solvers._primal_loops import (
    pass_logistic,
    pass_logistic_rows,
    pass_rounded,
    slope_of_rounded,
    worst_logistic,
    worst_logistic_rows,
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
    inner: Any = None  # second derivatives of the losses, where they are known: the upper triangle


class RowLosses:
    """Losses of the rows; piecewise linear ones rounded over a width about dual variables."""

    def __init__(self, loss: Any) -> None:
        self.loss, self.is_rounded = loss, isinstance(loss, PiecewiseLinear)
        self.centre = np.zeros(len(loss) if self.is_rounded else 0)
        if self.is_rounded:
            self._pieces = loss.low, loss.high, loss.below, loss.above

    def at(self, decisions: Vector, width: float) -> Passed:
        """All of it at some decisions."""
        pull, curvature = np.empty(len(decisions)), np.empty(len(decisions))
        if self.is_rounded:
            rounded = pass_rounded(decisions, self._pieces, width, self.centre, pull, curvature)
            return Passed(pull, curvature, *rounded)
        if not isinstance(self.loss, Logistic):
            return Passed(self.loss.pull(decisions), self.loss.curvature(decisions))
        targets, weights = self.loss.targets, self.loss.weights

        def some(start: int, stop: int) -> None:
            part = slice(start, stop)
            given = decisions[part], targets[part], weights[part]
            pass_logistic(*given, pull[part], curvature[part])

        run_in_ranges(some, len(decisions), _ROWS_PER_RANGE)
        return Passed(pull, curvature)

    def _takes_one_pass(self, design: Design) -> bool:
        """Whether there is a compiled pass over the rows of features and their losses together."""
        return design.is_sparse and isinstance(self.loss, Logistic)

    def state(
        self, design: Design, parameters: Vector, decisions: Vector | None, width: float
    ) -> State:
        """All of it at some parameters, with decisions from them, not from sums of steps: no drift."""
        if self._takes_one_pass(design):
            return self._logistic_state(design, parameters)
        decisions = design.times(parameters) if decisions is None else decisions
        passed = self.at(decisions, width)
        gradient = design.penalty * parameters - design.transposed(passed.pull)
        return State(parameters, decisions, passed, gradient)

    def _logistic_state(self, design: Design, parameters: Vector) -> State:
        """The same in one pass over sparse rows, second derivatives included where they are factored."""
        n, side = len(self.loss), design.n_parameters if design.is_factored else 0
        passed = np.empty(n), np.empty(n), np.empty(n)
        given = design.entries, split(design, parameters), (self.loss.targets, self.loss.weights)

        def some(start: int, stop: int, gathered: Vector, inner: Any) -> None:
            pass_logistic_rows(*given, start, stop, passed, gathered, inner)

        gathered, inner = design.summed(some, (design.n_parameters,), (side, side))
        gradient = design.penalty * parameters - gathered
        known = inner if side else None
        return State(parameters, passed[0], Passed(*passed[1:]), gradient, known)

    def error(self, design: Design, state: State) -> float:
        """How far dual variables are from the decisions that they define.

        ``K theta = Z w - Z gradient``: for rounded losses the largest entry of the last product,
        for smooth ones the violation that follows from it.
        """
        direction, pull = design.penalty * state.gradient, state.passed.pull
        if self._takes_one_pass(design):
            features, shift, _ = split(design, direction)
            losses = self.loss.targets, self.loss.weights
            given = features, shift, losses, state.decisions, pull
            return float(worst_logistic_rows(design.entries, *given))
        moved = design.times(direction)
        if self.is_rounded:
            return float(np.abs(moved).max(initial=0.0))
        return self.violation(pull, state.decisions, moved)

    def violation(self, pull: Vector, decisions: Vector, moved: Vector) -> float:
        """How far dual variables of smooth losses are from resting at ``decisions - moved``."""
        if not isinstance(self.loss, Logistic):
            return float(self.loss.violation(pull, decisions - moved))
        given = self.loss.targets, self.loss.weights, pull
        return float(worst_logistic(decisions, moved, *given))

    def slope(self, decisions: Vector, change: Vector, length: float, width: float) -> float:
        """``sum_i pull_i change_i`` at ``decisions + length change``."""
        if self.is_rounded:
            rounding = self._pieces, width, self.centre
            return float(slope_of_rounded(decisions, change, length, *rounding))
        pull = self.at(decisions + length * change, width).pull
        return float(np.einsum("i,i->", pull, change))


def split(design: Design, parameters: Vector) -> tuple[Vector, float, bool]:
    """Parameters of the features, the bias, and whether there is one."""
    if design.has_bias:
        return parameters[:-1], float(parameters[-1]), True
    return parameters, 0.0, False
