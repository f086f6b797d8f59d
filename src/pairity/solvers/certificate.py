"""Certificates: how far a solution is from optimal, computed apart from any solver.

For dual variables theta (``g = K theta``) a certificate evaluates the primal and the dual at the
model that theta defines, and the KKT conditions: every decision ``g_i + bias`` lies where
``theta_i`` rests.  For the hinge that is

    y g + y bias >= 1 where |theta| < C,      y g + y bias <= 1 where |theta| > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairity.solvers.problem import AnyProblem, SomeLoss, Vector

__all__ = ["Certificate", "certify", "middle_of"]


@dataclass(frozen=True)
class Certificate:
    """Optimality of a fit, recomputed from the model.

    Attributes
    ----------
    primal, dual : float
        Objective of the primal (12) or (41), and of the dual as the paper writes it (a minimum,
        so that ``primal + dual`` is the duality gap).
    gap, relative_gap : float
        ``primal + dual``, and the same over the primal.
    violation : float
        Largest violation of the KKT conditions.  Hinge and epsilon-insensitive losses: with a
        bias, by how much the lower end of the bias interval exceeds the upper (the maximal
        violating pair of (26)); without, the largest projected gradient.  Squared loss: the
        relative residual of the linear system.  Logistic loss: the largest difference of a dual
        variable, over its bound, from the probability it stands for.  Low-rank models, of any
        loss, keep no dual variables: for them it is the duality gap relative to the objective
        (or to a billionth of the objective of the function 0, if the optimum is less than that).
    bias_low, bias_high : float
        Ends of the interval of optimal biases; both 0 without a bias.
    bias : float
        Midpoint of the interval, or its finite end, or exactly 0.0 without a bias.
    n_support, n_bounded : int
        Dual variables other than 0, and at an outer bound.
    tol : float
        Violation that was asked for.
    measure : str
        What the violation is: "KKT violation", or "relative gap" of a low-rank model.
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
    measure: str = "KKT violation"

    @property
    def holds(self) -> bool:
        """Whether the violation is at most the tolerance (with room for rounding)."""
        return self.violation <= self.tol * (1.0 + 1e-9) + 1e-14

    def __str__(self) -> str:
        shown = f"relative gap {self.relative_gap:.2e}"
        if self.measure != "relative gap":
            shown += f", {self.measure} {self.violation:.2e}"
        return f"primal {self.primal:.10g}, dual {-self.dual:.10g}, {shown} (tol {self.tol:.0e})"


def middle_of(low: float, high: float) -> float:
    """Midpoint of an interval of biases, or its finite end, or 0."""
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    if np.isfinite(low):
        return low
    return high if np.isfinite(high) else 0.0


def certify(problem: AnyProblem[SomeLoss], theta: Vector, tol: float) -> Certificate:
    """Evaluate primal, dual, gap and KKT violation of ``theta``."""
    loss = problem.loss
    values = problem.operator.product(theta)
    low = high = bias = 0.0
    if problem.has_bias:
        low, high = loss.bias_interval(theta, values)
        bias = middle_of(low, high)
    if problem.has_bias and low > high:
        violation = low - high
    elif problem.has_bias and low < high:
        violation = 0.0
    else:
        violation = loss.violation(theta, values + bias)
    quadratic = 0.5 * float(np.dot(theta, values))
    primal = quadratic + float(np.sum(loss.value(values + bias)))
    dual = quadratic + float(np.sum(loss.conjugate(theta)))
    n_support, n_bounded = loss.support(theta)
    return Certificate(
        primal=primal,
        dual=dual,
        gap=primal + dual,
        relative_gap=(primal + dual) / max(abs(primal), abs(dual), np.finfo(float).tiny),
        violation=violation,
        bias_low=low,
        bias_high=high,
        bias=bias,
        n_support=n_support,
        n_bounded=n_bounded,
        tol=tol,
    )
