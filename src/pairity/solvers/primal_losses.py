"""What a step of Newton's method asks of the losses of all rows, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.losses.loss import Logistic, PiecewiseLinear, Vector
from pairity.runtime.resources import run_in_ranges
from pairity.solvers._primal_loops import (
    pass_logistic,
    pass_rounded,
    slope_of_rounded,
    worst_logistic,
)

#: Rows that one range of work covers.
_ROWS_PER_RANGE = 100_000


@dataclass(frozen=True, eq=False)
class Passed:
    """Dual variables at some decisions, and how much they change with them."""

    pull: Vector
    curvature: Vector
    off: float = 0.0  # how far a curved row is off its margin at most, where losses are rounded
    price: float = 0.0  # what rounding adds to the duality gap: ``width |theta| (1 - |theta| / c)``


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
