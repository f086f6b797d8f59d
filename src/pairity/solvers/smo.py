"""Sequential minimal optimisation (Section 5): the driver around the loops.

With a bias, steps move two variables (26); without, one variable (Theorem 3(b) on the halved
set).  Kernel rows come on demand through a bounded cache; variables that sit firmly on a bound
are set aside ("shrinking") and checked again before the end.
"""

from __future__ import annotations

import numpy as np

from pairity.solvers._smo_loops import (
    CONVERGED,
    MISSING_ROW,
    OUT_OF_STEPS,
    STALLED,
    count_unshrinkable,
    pair_steps,
    single_steps,
)
from pairity.solvers.problem import (
    Iterate,
    Problem,
    Solution,
    SolverOptions,
    Vector,
    balanced,
)
from pairity.solvers.row_cache import RowCache
from pairity.threads import ENTRIES_PER_CALL, stop_if_abandoned

__all__ = ["feasible_start", "solve_smo"]

#: Tolerances below this call for decision values free of the drift of many updates.
_DRIFT = 1e-6
#: Candidates looked at when rows are fetched ahead of need.
_LOOKAHEAD = 256


def feasible_start(problem: Problem, start: Vector | None) -> Vector:
    """Dual variables inside their bounds, with ``sum(theta) = 0`` where there is a bias."""
    if start is None:
        return np.zeros(len(problem))
    start = np.asarray(start, dtype=np.float64)
    return balanced(problem, np.clip(start, problem.loss.low, problem.loss.high))


class _State:
    """Variables, decision values and active set of a run."""

    def __init__(self, problem: Problem, options: SolverOptions, theta: Vector) -> None:
        self.problem, self.options = problem, options
        self.theta = theta
        self.n_iter = 0
        self.values = np.zeros(len(problem))
        if theta.any():
            self.refresh_values()
        self.diagonal = np.ascontiguousarray(problem.operator.diagonal())
        self.active = np.arange(len(problem))
        self.fresh_at = 0
        self.cache = RowCache(problem.operator, options.row_megabytes)
        self.violation, self.most, self.least = np.inf, np.inf, -np.inf

    def refresh_values(self) -> None:
        """Decision values of every row, from scratch."""
        self.values = self.problem.operator.product(self.theta)
        self.fresh_at = self.n_iter

    @property
    def _terms(self) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
        loss = self.problem.loss
        return self.theta, self.values, loss.low, loss.high, loss.below, loss.above

    @property
    def settled(self) -> bool:
        """Whether a reached tolerance can be believed: all variables, no drift that matters."""
        complete = len(self.active) == len(self.problem)
        return complete and (self.options.tol >= _DRIFT or self.fresh_at == self.n_iter)

    def run(self, max_steps: int) -> int:
        """Run the loop for at most that many steps, a fraction of a second a call; its status."""
        most = max(1, ENTRIES_PER_CALL // max(1, len(self.active)))
        last = self.n_iter + max_steps
        while True:
            stop_if_abandoned()
            status = self._call(min(most, last - self.n_iter))
            if status != OUT_OF_STEPS or self.n_iter >= last:
                return status

    def _call(self, max_steps: int) -> int:
        shared = (
            *self._terms,
            self.diagonal,
            self.active,
            self.cache.rows,
            self.cache.slot,
            self.cache.last_used,
            self.n_iter,
            self.options.second_order,
        )
        tail = (self.options.tol, max_steps)
        if self.problem.has_bias:
            status, steps, missing, self.violation, self.most, self.least = pair_steps(
                *shared, self.options.mirror_sign, *tail
            )
        else:
            status, steps, missing, self.violation = single_steps(*shared, *tail)
            self.most, self.least = self.violation, -self.violation
        self.n_iter += steps
        if status == MISSING_ROW:
            self.cache.fetch(missing, self._likely_next(), self.n_iter)
        return int(status)

    def _likely_next(self) -> np.ndarray:
        """Variables with large violations: their rows will be asked for soon."""
        middle = self.bias
        rise, fall = self.problem.loss.targets(self.theta)
        merit = np.maximum(rise - self.values - middle, self.values + middle - fall)[self.active]
        if len(merit) > _LOOKAHEAD:
            chosen = np.argpartition(-merit, _LOOKAHEAD)[:_LOOKAHEAD]
            chosen = chosen[np.argsort(-merit[chosen], kind="stable")]
            return self.active[chosen]
        return self.active[np.argsort(-merit, kind="stable")]

    def shrink(self) -> None:
        """Set aside what sits firmly on a bound."""
        keep = np.zeros(len(self.active), dtype=np.bool_)
        kept = count_unshrinkable(*self._terms, self.active, self.most, self.least, keep)
        if kept < 0.9 * len(self.active):
            self.active = self.active[keep]

    def unshrink(self) -> None:
        """Bring every variable back, with fresh decision values."""
        self.active = np.arange(len(self.problem))
        self.refresh_values()

    @property
    def bias(self) -> float:
        """Midpoint of (26), or 0.0 without a bias."""
        if not self.problem.has_bias or not np.isfinite(self.most + self.least):
            return 0.0
        return 0.5 * (self.most + self.least)


def solve_smo(problem: Problem, options: SolverOptions, start: Vector | None = None) -> Solution:
    """Minimise the dual to a KKT violation of at most ``options.tol``."""
    state = _State(problem, options, feasible_start(problem, start))
    reason = _run_to_the_end(state, problem, options)
    return Solution(state.theta, state.n_iter, reason == "tolerance reached", reason)


def _run_to_the_end(state: _State, problem: Problem, options: SolverOptions) -> str:
    """Run the loops until the tolerance is reached, or say why not."""
    watched = options.callback is not None
    shrinks = options.shrinking and not watched and options.mirror_sign == 0.0
    chunk = 1 if watched else max(1000, min(len(problem), 5000))
    while True:
        before = state.n_iter
        status = state.run(min(chunk, options.max_iter - state.n_iter))
        stepped = state.n_iter > before
        if options.callback is not None and stepped and options.callback(_iterate(state)):
            return "stopped by the callback"
        if options.report is not None and status != MISSING_ROW:
            options.report(f"SMO, step {state.n_iter}", state.violation)
        if status == CONVERGED:
            if state.settled:
                return "tolerance reached"
            state.unshrink()
        elif status == STALLED:
            if state.settled or state.fresh_at == state.n_iter:
                return "steps are lost in rounding: tol is below what float64 can reach here"
            state.unshrink()
        elif status != MISSING_ROW:
            if state.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if shrinks:
                state.shrink()


def _iterate(state: _State) -> Iterate:
    return Iterate(
        iteration=state.n_iter,
        theta=state.theta.copy(),
        objective=state.problem.objective(state.theta, state.values),
        violation=state.violation,
        bias=state.bias,
    )
