"""Sequential minimal optimisation (Section 5): the driver around the loops.

With a bias, steps move two variables (26); without, one variable (Theorem 3(b) on the halved
set).  Kernel rows come on demand through a bounded cache; variables that sit firmly on a bound
are set aside ("shrinking") and checked again before the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import Vector
from pairity.operators.operator import KernelOperator
from pairity.runtime.resources import ENTRIES_PER_CALL, stop_if_abandoned
from pairity.solvers._smo_loops import CONVERGED, MISSING_ROW, STALLED, pair_steps, single_steps
from pairity.solvers.problem import (
    DRIFT,
    LOST,
    REACHED,
    Iterate,
    Problem,
    Solution,
    SolverOptions,
    feasible_start,
    merits,
)

#: Share of the memory limit for kernel rows, and rows fetched along with a missing one, at most.
_ROWS_SHARE, _BATCH = 0.6, 64
#: Candidates looked at when rows are fetched ahead of need.
_LOOKAHEAD = 256


class RowCache:
    """Rows of an operator in one array of at most ``megabytes``, with room for two at least.

    ``rows[slot[i]]`` is row i where ``slot[i] >= 0``; the least recently used rows go first.
    """

    def __init__(self, operator: KernelOperator, megabytes: float) -> None:
        self._operator = operator
        n = operator.shape[1]
        self.capacity = max(2, min(n, int(megabytes * 1e6 / (8 * max(1, n)))))
        self.rows = np.empty((self.capacity, n))
        self.slot = np.full(n, -1, dtype=np.int64)
        self.last_used = np.full(self.capacity, -1, dtype=np.int64)
        self._owner = np.full(self.capacity, -1, dtype=np.int64)

    def fetch(self, missing: int, wanted: NDArray[np.intp], now: int) -> None:
        """Bring in row ``missing``, and those of ``wanted`` that fit beside what is in use."""
        batch = max(1, min(_BATCH, self.capacity // 4))
        extra = wanted[(self.slot[wanted] < 0) & (wanted != missing)][: batch - 1]
        index = np.concatenate([[missing], extra]).astype(np.intp)
        # the row used last is never evicted: it may be the partner of the missing one
        oldest = np.argpartition(self.last_used, min(len(index), self.capacity - 1))
        slots = oldest[: len(index)]
        slots = slots[np.argsort(self.last_used[slots], kind="stable")]
        evicted = self._owner[slots]
        self.slot[evicted[evicted >= 0]] = -1
        self.rows[slots] = self._operator.rows(index)
        self._owner[slots] = index
        self.slot[index] = slots
        self.last_used[slots] = now - 1
        self.last_used[slots[0]] = now


def solve_smo(problem: Problem, options: SolverOptions, start: Vector | None = None) -> Solution:
    """Minimise the dual to a KKT violation of at most ``options.tol``."""
    run = _Run(problem, options, feasible_start(problem, start))
    reason = run.iterate()
    return Solution(run.theta, run.n_iter, reason == REACHED, reason)


class _Run:
    """Variables, decision values and active set."""

    def __init__(self, problem: Problem, options: SolverOptions, theta: Vector) -> None:
        self.problem, self.options, self.theta = problem, options, theta
        loss = problem.loss
        self.pieces = loss.low, loss.high, loss.below, loss.above
        self.n_iter = self.fresh_at = 0
        self.values = problem.operator.product(theta) if theta.any() else np.zeros(len(problem))
        self.diagonal = np.ascontiguousarray(problem.operator.diagonal())
        self.active = np.arange(len(problem))
        allowed = options.budget.share(_ROWS_SHARE).megabytes
        self.cache = RowCache(problem.operator, min(options.cache_size, allowed))
        self.violation, self.most, self.least = np.inf, np.inf, -np.inf

    def iterate(self) -> str:
        """Run the loops until the tolerance is reached, or say why not."""
        options, watched = self.options, self.options.callback is not None
        shrinks = options.shrinking and not watched and options.mirror_sign == 0.0
        chunk = 1 if watched else max(1000, min(len(self.problem), 5000))
        while True:
            before = self.n_iter
            status = self._take_steps(min(chunk, options.max_iter - before))
            if options.callback is not None and self.n_iter > before:
                objective = self.problem.objective(self.theta, self.values)
                how_good = objective, self.violation, self.bias
                if options.callback(Iterate(self.n_iter, self.theta.copy(), *how_good)):
                    return "stopped by the callback"
            if options.report is not None and status != MISSING_ROW:
                options.report(f"SMO, step {self.n_iter}", self.violation)
            if status in (CONVERGED, STALLED):
                # whether it can be believed: all variables, no drift that matters
                fresh = self.fresh_at == self.n_iter
                complete = len(self.active) == len(self.problem)
                if complete and (options.tol >= DRIFT or fresh):
                    return REACHED if status == CONVERGED else LOST
                if status == STALLED and fresh:
                    return LOST
                self.active = np.arange(len(self.problem))
                self.values = self.problem.operator.product(self.theta)
                self.fresh_at = self.n_iter
            elif status != MISSING_ROW:
                if self.n_iter >= options.max_iter:
                    return f"max_iter={options.max_iter} steps used up"
                if shrinks:
                    self._shrink()

    def _take_steps(self, max_steps: int) -> int:
        """Run the loop for at most that many steps, a fraction of a second a call; its status."""
        most = max(1, ENTRIES_PER_CALL // max(1, len(self.active)))
        last = self.n_iter + max_steps
        while True:
            stop_if_abandoned()
            status = self._call(min(most, last - self.n_iter))
            if status in (CONVERGED, MISSING_ROW, STALLED) or self.n_iter >= last:
                return status

    def _call(self, max_steps: int) -> int:
        options, rows = self.options, (self.cache.rows, self.cache.slot, self.cache.last_used)
        state = self.theta, self.values, self.pieces, self.diagonal, self.active, rows, self.n_iter
        if self.problem.has_bias:
            status, steps, missing, self.violation, self.most, self.least = pair_steps(
                *state, options.second_order, options.mirror_sign, options.tol, max_steps
            )
        else:
            status, steps, missing, self.violation = single_steps(
                *state, options.second_order, options.tol, max_steps
            )
            self.most, self.least = self.violation, -self.violation
        self.n_iter += steps
        if status == MISSING_ROW:
            self.cache.fetch(missing, self._likely_next(), self.n_iter)
        return int(status)

    def _likely_next(self) -> NDArray[np.intp]:
        """Variables with the largest violations, worst first: their rows will be asked for soon."""
        merit = merits(self.problem.loss, self.theta, self.values, self.bias)[self.active]
        chosen = np.arange(len(merit))
        if len(merit) > _LOOKAHEAD:
            chosen = np.argpartition(-merit, _LOOKAHEAD)[:_LOOKAHEAD]
        return self.active[chosen[np.argsort(-merit[chosen], kind="stable")]]

    def _shrink(self) -> None:
        """Set aside what sits firmly on a bound."""
        rise, fall = self.problem.loss.targets(self.theta)
        firm = (rise - self.values < self.least) & (fall - self.values > self.most)
        kept = self.active[~firm[self.active]]
        if len(kept) < 0.9 * len(self.active):
            self.active = kept

    @property
    def bias(self) -> float:
        """Midpoint of (26), or 0.0 without a bias."""
        if not self.problem.has_bias or not np.isfinite(self.most + self.least):
            return 0.0
        return 0.5 * (self.most + self.least)
