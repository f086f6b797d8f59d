"""Certificates: how far a solution is from optimal, computed apart from any solver.

For dual variables theta (``g = K theta``) a certificate evaluates the primal and the dual at the
model that theta defines, and the KKT conditions: every decision ``g_i + bias`` lies where
``theta_i`` rests.  For the hinge that is

    y g + y bias >= 1 where |theta| < C,      y g + y bias <= 1 where |theta| > 0.

Decisions of some rows are recomputed from the features in extended precision
(:mod:`pairity.operators.operator`): they tell how much rounding there is in the rest.  Where that
could matter, many more are, or all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.elementary import spread_rows
from pairity.losses.loss import Vector
from pairity.runtime.resources import run_in_ranges
from pairity.solvers.problem import AnyProblem, SomeLoss

#: A relative gap below this is narrow, whatever the tolerance.
_FINEST_GAP = 1e-5
#: Kernel values that are recomputed in extended precision, at first and where rounding could matter;
#: rows at least.
_FIRST_ENTRIES, _PRECISE_ENTRIES, _LEAST_ROWS = 400, 300_000, 6
#: Rows whose losses are added up at a time.
_ROWS_PER_RANGE = 100_000
#: Share of the tolerance up to which rounding does not matter; the least objective to divide by.
_NEGLIGIBLE, _TINY = 1e-3, np.finfo(float).tiny


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
        Violation, and relative gap, that was asked for.
    rounding : float
        Largest difference found between decisions in double and in extended precision.
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
    rounding: float = 0.0
    measure: str = "KKT violation"

    @property
    def holds(self) -> bool:
        """Whether violation with rounding, and relative gap, are at most the tolerance."""
        return self.is_at_rest and self.gap_is_narrow

    @property
    def is_at_rest(self) -> bool:
        """Whether the violation, with what rounding may hide, is at most the tolerance."""
        return self.violation + self.rounding <= self.tol * (1.0 + 1e-9) + 1e-14

    @property
    def gap_is_narrow(self) -> bool:
        """Whether the relative gap is at most the tolerance, or 1e-5 if that is less."""
        return abs(self.relative_gap) <= max(self.tol, _FINEST_GAP) * (1.0 + 1e-9)

    def __str__(self) -> str:
        shown = f"relative gap {self.relative_gap:.2e}"
        if self.measure != "relative gap":
            shown += f", {self.measure} {self.violation:.2e}"
        if self.rounding > 0.01 * self.tol:
            shown += f", rounding {self.rounding:.2e}"
        return f"primal {self.primal:.10g}, dual {-self.dual:.10g}, {shown} (tol {self.tol:.0e})"


def middle_of(low: float, high: float) -> float:
    """Midpoint of an interval of biases, or its finite end, or 0."""
    ends = [end for end in (low, high) if np.isfinite(end)]
    return sum(ends) / len(ends) if ends else 0.0


def certify(
    problem: AnyProblem[SomeLoss], theta: Vector, tol: float, lost: float = 0.0
) -> Certificate:
    """Evaluate primal, dual, gap and KKT violation of ``theta``; ``lost`` is counted with the gap."""
    values = problem.operator.product(theta)
    n_support = max(1, int(np.count_nonzero(theta)))
    some, many = (
        max(_LEAST_ROWS, entries // n_support) for entries in (_FIRST_ENTRIES, _PRECISE_ENTRIES)
    )
    rough = _certify_rows(problem, theta, values, some, tol, lost)
    if some >= len(problem) or _rounding_is_negligible(problem, theta, rough):
        return rough
    return _certify_rows(problem, theta, values, many, tol, lost)


def _certify_rows(
    problem: AnyProblem[SomeLoss],
    theta: Vector,
    values: Vector,
    n_rows: int,
    tol: float,
    lost: float,
) -> Certificate:
    """The certificate with so many decisions in extended precision."""
    rows = _rows_to_recompute(problem, n_rows)
    precise = problem.operator.precise_product(rows, theta)
    rounding = float(np.abs(precise - values[rows]).max(initial=0.0)) / problem.loss.unit
    if len(rows) == len(values):
        values = precise.astype(np.float64)
    return certify_values(problem, theta, values, tol, lost, rounding)


def _rounding_is_negligible(
    problem: AnyProblem[SomeLoss], theta: Vector, certificate: Certificate
) -> bool:
    """Whether neither decisions nor the gap, ``2 sum_i |theta_i| rounding_i``, could be told apart."""
    rounding, tol = certificate.rounding, _NEGLIGIBLE * certificate.tol
    in_gap = 2.0 * float(np.abs(theta).sum()) * rounding * problem.loss.unit
    return rounding <= tol and in_gap <= tol * abs(certificate.primal)


def _rows_to_recompute(problem: AnyProblem[SomeLoss], most: int) -> NDArray[np.intp]:
    """All rows where there are few; else those of the largest diagonal, and some spread evenly."""
    n = len(problem)
    if n <= most:
        return np.arange(n)
    largest = np.argpartition(-problem.operator.diagonal(), most // 2)[: most // 2]
    return np.concatenate([largest, spread_rows(n, most - most // 2)])


def _sums(loss: SomeLoss, theta: Vector, decisions: Vector) -> Vector:
    """Loss of the decisions, loss of the function 0, and dual term: sums over all rows.

    Those of ranges of rows, which do not depend on the number of threads, are added up in order.
    """
    if len(loss) <= _ROWS_PER_RANGE:
        return loss.sums(theta, decisions)
    sums = np.zeros((-(-len(loss) // _ROWS_PER_RANGE), 3))

    def some(start: int, stop: int) -> None:
        part = slice(start, stop)
        of_part = loss.take(part).sums(theta[part], decisions[part])
        sums[start // _ROWS_PER_RANGE] = of_part

    run_in_ranges(some, len(loss), _ROWS_PER_RANGE)
    return sums.sum(axis=0)


def certify_values(
    problem: AnyProblem[SomeLoss],
    theta: Vector,
    values: Vector,
    tol: float,
    lost: float = 0.0,
    rounding: float = 0.0,
) -> Certificate:
    """The same from known ``values = K theta``, taken at their word up to ``rounding``."""
    loss = problem.loss
    low = high = bias = 0.0
    quadratic = 0.5 * float(np.dot(theta, values))
    finite = bool(np.isfinite(theta).all() and np.isfinite(values).all())
    if problem.has_bias and finite:
        low, high = loss.bias_interval(theta, values)
        bias = middle_of(low, high)
    decisions = values + bias
    if low != high:  # an interval that is empty, or has room
        violation = max(0.0, low - high)
    else:
        violation = loss.violation(theta, decisions) if finite else np.inf
    of_model, of_zero, conjugate = map(float, _sums(loss, theta, decisions))
    primal, dual = quadratic + of_model, quadratic + conjugate
    gap = primal + dual + lost
    if problem.has_bias:  # a dual bound holds for sum(theta) = 0 alone: count what is missing
        gap += abs(float(theta.sum()) * bias)
    # a gap is relative to the objective, or to a billionth of that of the function 0
    size = max(abs(primal), abs(dual), 1e-9 * of_zero, _TINY)
    interval = low, high, bias
    return Certificate(
        primal, dual, gap, gap / size, violation, *interval, *loss.support(theta), tol, rounding
    )
