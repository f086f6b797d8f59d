"""Certificates: how far a solution is from optimal, computed apart from any solver.

For dual variables ``beta`` (``theta = y beta``, ``g = K theta``) a certificate evaluates the
primal (12) and the dual (13), (20) or (22) at the model that ``beta`` defines, and the KKT
conditions

    y g + y bias >= 1 where beta < upper,      y g + y bias <= 1 where beta > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.losses.hinge import Hinge
from pairity.solvers.problem import Problem, Vector

__all__ = ["Certificate", "bias_interval", "certify", "free_directions"]


@dataclass(frozen=True)
class Certificate:
    """Optimality of a fit, recomputed from the model.

    Attributes
    ----------
    primal, dual : float
        Objective of the primal (12), and of the dual as the paper writes it (a minimum, so
        that ``primal + dual`` is the duality gap).
    gap, relative_gap : float
        ``primal + dual``, and the same over the primal.
    violation : float
        Largest violation of the KKT conditions: with a bias, by how much the lower end of the
        bias interval exceeds the upper (the maximal violating pair of (26)); without, the
        largest projected gradient.
    bias_low, bias_high : float
        Ends of the interval of optimal biases; both 0 without a bias.
    bias : float
        Midpoint of the interval, or its finite end, or exactly 0.0 without a bias.
    n_support, n_bounded : int
        Dual variables above 0, and at their upper bound.
    tol : float
        Violation that was asked for.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    bias_low: float
    bias_high: float
    bias: float
    n_support: int
    n_bounded: int
    tol: float

    @property
    def holds(self) -> bool:
        """Whether the violation is at most the tolerance (with room for rounding)."""
        return self.violation <= self.tol * (1.0 + 1e-9) + 1e-14

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}, dual {-self.dual:.10g}, relative gap"
            f" {self.relative_gap:.2e}, KKT violation {self.violation:.2e} (tol {self.tol:.0e})"
        )


def free_directions(
    labels: Vector, upper: Vector, beta: Vector
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which variables may still move theta up, and which down: the sets of (26)."""
    below, above = beta < upper, beta > 0
    return np.where(labels > 0, below, above), np.where(labels > 0, above, below)


def bias_interval(
    labels: Vector, upper: Vector, beta: Vector, values: Vector
) -> tuple[float, float]:
    """Ends of the biases that satisfy the KKT conditions; low > high by the violation if none.

    ``low = max (y - g)`` over variables that may still move theta up, ``high = min (y - g)``
    over those that may move it down; an end without such variables is infinite.
    """
    residual = labels - values
    may_rise, may_fall = free_directions(labels, upper, beta)
    low = float(np.max(residual[may_rise], initial=-np.inf))
    high = float(np.min(residual[may_fall], initial=np.inf))
    return low, high


def _midpoint(low: float, high: float) -> float:
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    if np.isfinite(low):
        return low
    return high if np.isfinite(high) else 0.0


def _projected_violation(problem: Problem, beta: Vector, values: Vector) -> float:
    gradient = problem.labels * values - 1.0
    rise = np.max(-gradient[beta < problem.upper], initial=0.0)
    fall = np.max(gradient[beta > 0], initial=0.0)
    return float(max(rise, fall))


def certify(problem: Problem, beta: Vector, tol: float) -> Certificate:
    """Evaluate primal, dual, gap and KKT violation of ``beta``."""
    theta = problem.labels * beta
    values = problem.operator.product(theta)
    low = high = bias = 0.0
    if problem.has_bias:
        low, high = bias_interval(problem.labels, problem.upper, beta, values)
        bias = _midpoint(low, high)
        violation = max(0.0, low - high) if np.isfinite(low - high) else 0.0
    else:
        violation = _projected_violation(problem, beta, values)
    loss = Hinge()
    quadratic = 0.5 * float(np.dot(theta, values))
    risk = float(np.dot(problem.upper, loss.value(problem.labels, values + bias)))
    primal = quadratic + risk
    dual = quadratic + float(np.sum(loss.conjugate(beta)))
    gap = primal + dual
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / max(abs(primal), abs(dual), np.finfo(float).tiny),
        violation=violation,
        bias_low=low,
        bias_high=high,
        bias=bias,
        n_support=int(np.count_nonzero(beta > 0)),
        n_bounded=int(np.count_nonzero(beta >= problem.upper)),
        tol=tol,
    )
