"""Newton's method on the parameters of a linear model, to rounding, also without one effect.

Minimises ``F(w) = 1/2 |w|^2 + sum_i loss_i(z_i w)``, on the plane ``t' w = 0`` where a direction t is
given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pairity.pairs.arrays import Vector
from pairity.solvers.primal_design import Design

#: Newton steps at most, how often one is halved, and the share of the objective that ends them.
_MOST_STEPS, _MOST_HALVINGS, _SETTLED = 100, 40, 1e-14


@dataclass(frozen=True, eq=False)
class Minimum:
    """The smallest value, and the parameters there."""

    value: float
    parameters: Vector


def minimise(design: Design, loss: Any, start: Vector, direction: Vector | None = None) -> Minimum:
    """Minimum of F, on ``direction' w = 0`` if there is one."""
    parameters = start.copy()
    if direction is not None:
        parameters -= direction * (direction @ parameters) / (direction @ direction)

    def value(at: Vector) -> float:
        return 0.5 * float(design.penalty @ at**2) + float(loss.value(design.times(at)).sum())

    last = value(parameters)
    for _ in range(_MOST_STEPS):
        decisions = design.times(parameters)
        gradient = design.penalty * parameters - design.transposed(loss.pull(decisions))
        inverse = design.solver(loss.curvature(decisions), 1e-12)
        step = _within(-inverse(gradient), inverse, direction)
        length = 1.0
        now = value(parameters + step)
        for _ in range(_MOST_HALVINGS):
            if now <= last + _SETTLED * abs(last):
                break
            length /= 2.0
            now = value(parameters + length * step)
        parameters = parameters + length * step
        if last - now <= _SETTLED * abs(last):
            return Minimum(min(now, last), parameters)
        last = now
    return Minimum(last, parameters)


def _within(step: Vector, inverse: Callable[[Vector], Vector], direction: Vector | None) -> Vector:
    """The Newton step on the plane across a direction."""
    if direction is None:
        return step
    along = inverse(direction)
    return step - along * float(direction @ step) / float(direction @ along)
