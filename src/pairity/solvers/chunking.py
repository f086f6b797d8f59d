"""Chunking: solve on a working set of many pairs, then learn about all pairs by one product.

Each round takes the pairs that violate the KKT conditions most (and keeps those that are between
their bounds), solves the problem restricted to them with a resident Gram block, and updates the
gradient of *all* pairs by one product through the object Gram matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.solvers._smo_loops import pair_steps, single_steps
from pairity.solvers.certificate import bias_interval
from pairity.solvers.problem import INTERRUPTED, Problem, Solution, SolverOptions, Vector
from pairity.solvers.smo import feasible_start

__all__ = ["WORKING_SET", "solve_chunking"]

#: Largest working set; its Gram block takes 8 times the square of this in bytes.
WORKING_SET = 4096
#: The inner solve goes on until its violation is this share of the outer one.
_INNER_SHARE = 0.1
#: Rounds without a lower objective after which rounding is to blame.
_MOST_IDLE_ROUNDS = 5
#: Steps of one inner solve: a bound on how long Ctrl-C waits.
_MOST_INNER_STEPS = 200_000
#: Tolerances below this call for decision values free of the drift of many updates.
_DRIFT = 1e-6


@dataclass
class _Merit:
    """How much each variable violates: positive entries may be improved."""

    violation: float
    merit: Vector


def _measure(problem: Problem, beta: Vector, values: Vector) -> _Merit:
    """Violation, and by how much each variable is on the wrong side of the middle bias."""
    labels, upper = problem.labels, problem.upper
    residual = labels - values
    may_rise = np.where(labels > 0, beta < upper, beta > 0)
    may_fall = np.where(labels > 0, beta > 0, beta < upper)
    middle = 0.0
    if problem.has_bias:
        low, high = bias_interval(labels, upper, beta, values)
        if not np.isfinite(low - high):
            return _Merit(0.0, np.full(len(beta), -np.inf))
        middle = 0.5 * (low + high)
        violation = low - high
    rise = np.where(may_rise, residual - middle, -np.inf)
    fall = np.where(may_fall, middle - residual, -np.inf)
    merit = np.maximum(rise, fall)
    if not problem.has_bias:
        violation = float(merit.max(initial=0.0))
    return _Merit(max(0.0, violation), merit)


def _choose(
    merit: Vector, free: NDArray[np.bool_], previous: NDArray[np.intp], size: int
) -> NDArray[np.intp]:
    """The worst violators, and from the previous set the variables between their bounds."""
    kept = previous[free[previous]]
    if len(kept) > size // 2:
        kept = kept[np.argsort(-merit[kept], kind="stable")[: size // 2]]
    rest = merit.copy()
    rest[kept] = -np.inf
    n_new = min(size - len(kept), int(np.count_nonzero(rest > 0)))
    if n_new <= 0:
        return np.sort(kept)
    worst = np.argpartition(-rest, n_new - 1)[:n_new]
    return np.sort(np.concatenate([kept, worst]))


def _solve_inside(
    problem: Problem,
    chosen: NDArray[np.intp],
    beta: Vector,
    values: Vector,
    tol: float,
    options: SolverOptions,
) -> tuple[Vector, int]:
    """Dual variables of the working set, all others fixed; and the steps that it took."""
    block = problem.operator.block(chosen, chosen)
    n = len(chosen)
    inside = beta[chosen].copy()
    labels = problem.labels[chosen]
    gradient = labels * values[chosen] - 1.0
    resident = (
        inside,
        gradient,
        labels,
        problem.upper[chosen],
        np.ascontiguousarray(np.diagonal(block)),
        np.arange(n),
        block,
        np.arange(n),
        np.zeros(n, dtype=np.int64),
        0,
        options.second_order,
    )
    max_steps = min(_MOST_INNER_STEPS, options.max_iter)
    if problem.has_bias:
        steps = pair_steps(*resident, 0.0, tol, max_steps)[1]
    else:
        steps = single_steps(*resident, tol, max_steps)[1]
    return inside, int(steps)


def solve_chunking(
    problem: Problem,
    options: SolverOptions,
    start: Vector | None = None,
    working_set: int = WORKING_SET,
) -> Solution:
    """Minimise the dual to a KKT violation of at most ``options.tol``."""
    run = _Run(problem, options, feasible_start(problem, start), working_set)
    try:
        reason = run.iterate()
    except KeyboardInterrupt:
        reason = INTERRUPTED
    return Solution(run.beta, run.n_iter, reason == "tolerance reached", reason)


class _Run:
    """State of the rounds: dual variables and decision values of all pairs."""

    def __init__(
        self, problem: Problem, options: SolverOptions, beta: Vector, working_set: int
    ) -> None:
        self.problem, self.options = problem, options
        self.beta = beta
        self.working_set = working_set
        self.chosen = np.zeros(0, dtype=np.intp)
        self.n_iter = 0
        self.objective, self.idle_rounds = np.inf, 0
        self.refresh()

    def refresh(self) -> None:
        """Decision values from scratch: one full product."""
        self.values = self.problem.operator.product(self.problem.labels * self.beta)
        self.fresh = True

    def iterate(self) -> str:
        """Rounds until the tolerance is reached, or a reason why not."""
        options = self.options
        while True:
            state = _measure(self.problem, self.beta, self.values)
            if options.report is not None:
                options.report(f"chunking, step {self.n_iter}", state.violation)
            if state.violation <= options.tol:
                if self.fresh or options.tol >= _DRIFT:
                    return "tolerance reached"
                self.refresh()
                continue
            if self.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if self._is_idle():
                return "steps are lost in rounding: tol is below what float64 can reach here"
            self._round(state)

    def _is_idle(self) -> bool:
        theta = self.problem.labels * self.beta
        objective = 0.5 * float(np.dot(theta, self.values)) - float(self.beta.sum())
        better = objective < self.objective - 1e-14 * abs(objective)
        self.idle_rounds = 0 if better else self.idle_rounds + 1
        self.objective = min(self.objective, objective)
        return self.idle_rounds > _MOST_IDLE_ROUNDS

    def _round(self, state: _Merit) -> None:
        """Choose a working set, solve on it, and bring all decision values up to date."""
        problem, beta = self.problem, self.beta
        free = (beta > 0) & (beta < problem.upper)
        self.chosen = chosen = _choose(state.merit, free, self.chosen, self.working_set)
        whole = len(chosen) == len(beta)
        share = 0.9 if whole else 0.5
        tol = max(0.0 if whole else _INNER_SHARE * state.violation, share * self.options.tol)
        inside, steps = _solve_inside(problem, chosen, beta, self.values, tol, self.options)
        change = np.zeros(len(beta))
        change[chosen] = problem.labels[chosen] * (inside - beta[chosen])
        beta[chosen] = inside
        self.values += problem.operator.product(change)
        self.fresh = False
        self.n_iter += max(1, steps)
