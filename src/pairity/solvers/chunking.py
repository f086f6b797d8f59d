"""Chunking: solve on a working set of many pairs, then learn about all pairs by one product.

A rough start (:mod:`pairity.solvers.rough_start`) settles the stiff directions.  Each round takes
pairs between their bounds and pairs that violate the KKT conditions, most of them at random, solves
the problem restricted to them with a resident Gram block, and updates the gradient of *all* pairs by
one product.  On a block steps of SMO come first.  Once it is nearly known which variables are free,
a polish is exact (:mod:`pairity.solvers.polish`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.elementary import spread_rows
from pairity.losses.loss import Vector
from pairity.operators.operator import KernelOperator
from pairity.runtime.resources import ENTRIES_PER_CALL, stop_if_abandoned
from pairity.solvers._block_loops import (
    keep_rows_and_columns,
    new_state,
    pair_steps_on_block,
    single_steps_on_block,
)
from pairity.solvers.polish import Block, Gram, Index, Mask, polish, times
from pairity.solvers.problem import (
    DRIFT,
    LOST,
    REACHED,
    Problem,
    Solution,
    SolverOptions,
    feasible_start,
    merits,
)
from pairity.solvers.rough_start import rough_start

#: Working set at first, as a share of the pairs between two numbers; at most when more variables
#: than that are free: a Gram block takes 4 times the square of this in bytes, the polish 8 times
#: that of the free variables.
_FIRST_SHARE, _FIRST_SETS, LARGEST_SET = 1 / 8, (2500, 4000), 16384
#: Pairs from which on a rough start pays; room for free variables; which violations, in units of
#: the tolerance, are candidates; the share of a working set for the worst of them, and their number
#: at least.
_MANY_PAIRS, _ROOM, _NEARLY, _WORST_SHARE, _LEAST_WORST = 3000, 1.5, 0.3, 0.1, 8
#: Relative gap from which on most variables are free that will be.
_NEAR = 1e-2
#: Shares of the least violation so far above which a round was slow, or got nowhere, and such rounds
#: after which the working set is doubled, or the kernel taken to be stiff.
_SLOW, _STUCK, _PATIENCE = 0.5, 0.9, 3
#: Tolerances below which products, and kernel values of sets, are in double precision.
_FINE = 1e-5
#: Decision values that are evaluated again before rough ones are believed: at most, at least, and
#: kernel values for them.
_ROWS_TO_CHECK, _LEAST_ROWS, _ENTRIES_TO_CHECK = 64, 16, 500_000
#: The inner solve goes on until its violation is this share of the outer one, for so many steps at
#: most; it is exact from a violation of so many margins on.
_INNER_SHARE, _MOST_INNER_STEPS, _CLOSE = 0.1, 200_000, 0.3
#: Rounds without a lower objective after which rounding is to blame.
_MOST_IDLE_ROUNDS = 5
#: Steps per variable before active sets are taken as nearly known, and steps on n variables that
#: take as long as a polish, in units of (free variables)^3 / n.
_STEPS_BEFORE_POLISH, _POLISH_COST = 2, 0.015
#: Rounds without a question, and steps on few pairs that take as long as each more of them.
_FEW_ROUNDS, _STEPS_OF_A_ROUND = 100, 500
#: With a large C a small violation may leave a large gap: some exact rounds are then added.
_FAIR_GAP, _MOST_EXTRA_ROUNDS = 1e-2, 4
#: Share of the margin by which rounding may move decisions before a fit is given up, beyond ten times
#: the tolerance.
_DROWNED = 1e-2
#: Sets up to which kernel values are in double precision, and the share of a set that must be in the
#: last one for its kernel values to be kept.
_SMALL_SET, _MOST_OF_IT = 2048, 0.5


def _choose(
    merit: Vector, free: Mask, size: int, tol: float, generator: np.random.Generator
) -> Index:
    """Variables between their bounds, and violators: the worst ones, the others at random.

    The worst violators share one direction: a set of them alone takes a long way round.
    """
    candidates = np.flatnonzero(free | (merit > _NEARLY * tol))
    if len(candidates) <= size:
        return candidates
    n_worst = min(size, max(_LEAST_WORST, int(_WORST_SHARE * size)))
    order = np.argpartition(-merit[candidates], n_worst - 1)
    rest = generator.permutation(order[n_worst:])[: size - n_worst]
    return np.sort(candidates[np.concatenate([order[:n_worst], rest])])


def solve_chunking(
    problem: Problem,
    options: SolverOptions,
    start: Vector | None = None,
    largest_set: int = LARGEST_SET,
) -> Solution:
    """Minimise the dual to a KKT violation of at most ``options.tol``."""
    if start is None and len(problem) > _MANY_PAIRS:
        start = rough_start(problem, options.budget)
    run = _Run(problem, options, feasible_start(problem, start), largest_set)
    reason = run.iterate()
    return Solution(run.theta, run.n_iter, reason == REACHED, reason)


class _Run:
    """State of the rounds: dual variables and decision values of all pairs."""

    def __init__(
        self, problem: Problem, options: SolverOptions, theta: Vector, largest_set: int
    ) -> None:
        self.problem, self.options = problem, options
        self.theta, self.largest_set = theta, largest_set
        first = int(np.clip(_FIRST_SHARE * len(theta), *_FIRST_SETS))
        self.working_set = min(first, largest_set)
        self.chosen = np.zeros(0, dtype=np.intp)
        self.generator = np.random.default_rng(0)
        self.block = GramBlock(problem.operator, options.tol)
        self.patient = True  # steps that had to be polished once will have to be again
        self.n_iter = self.n_rounds = 0
        self.objective, self.idle_rounds, self.extra_rounds = np.inf, 0, 0
        self.best_violation, self.has_tried_all = np.inf, False
        self.slow_rounds = self.stuck_rounds = self.next_look = 0
        self.largest_value = float(problem.operator.diagonal().max(initial=0.0))
        self.values = problem.operator.rough_product(theta)
        self.fresh = not problem.operator.has_rough_products

    def _refresh(self) -> None:
        """Decision values from scratch: one full product."""
        self.values = self.problem.operator.product(self.theta)
        self.fresh = True

    def _is_exact(self) -> bool:
        """Whether some of the decision values, evaluated again, are what they are taken to be."""
        if self.fresh or not self.problem.operator.has_rough_products:
            return self.fresh or self.options.tol >= DRIFT
        most = _ENTRIES_TO_CHECK // max(1, int(np.count_nonzero(self.theta)))
        n_rows = int(np.clip(most, _LEAST_ROWS, _ROWS_TO_CHECK))
        rows = self.generator.permutation(len(self.theta))[:n_rows]
        off = np.abs(self._evaluated(rows) - self.values[rows])
        return float(off.max()) <= 0.02 * self.options.tol

    def _evaluated(self, rows: Index) -> Vector:
        """Decision values of some rows in double precision, from kernel values."""
        used = np.flatnonzero(self.theta)
        return self.problem.operator.block(rows, used) @ self.theta[used]

    def iterate(self) -> str:
        """Rounds until the tolerance is reached, or a reason why not."""
        options = self.options
        while True:
            violation, merit, relative_gap = self._measure()
            if options.report is not None:
                options.report(f"chunking, step {self.n_iter}", violation)
            if violation <= options.tol:
                if not self._is_exact():
                    self._refresh()
                    continue
                fair = options.rough or relative_gap <= _FAIR_GAP
                if fair or self.extra_rounds == _MOST_EXTRA_ROUNDS:
                    return REACHED
                self.extra_rounds += 1
            most_rounds = max(_FEW_ROUNDS, options.max_iter // _STEPS_OF_A_ROUND)
            if self.n_iter >= options.max_iter or self.n_rounds >= most_rounds:
                self.n_iter = max(self.n_iter, options.max_iter)  # rounds count as steps here
                return f"max_iter={options.max_iter} steps used up"
            if self._is_drowned():
                return LOST
            if self._is_idle():
                if not self._tries_more():
                    return LOST
                continue
            if not self._round(violation, merit, relative_gap):
                # what violates is below the rounding of the bias
                return REACHED if violation <= options.tol else LOST

    def _is_drowned(self) -> bool:
        """Whether rounding alone moves decisions by much of the margin: no round will help.

        Looked at where it may be so, after one round, two, four and so on, and once rounds get
        nowhere: the tolerance is much then, no certificate could hold.
        """
        if self.n_rounds < self.next_look:
            return False
        allowed = max(_DROWNED * self.problem.loss.scale, 10.0 * self.options.tol)
        if self._is_stiff:
            allowed = self.options.tol
        self.next_look = max(1, 2 * self.n_rounds)
        at_most = self.largest_value * float(np.abs(self.theta).sum()) * np.finfo(float).eps
        if at_most <= allowed:
            return False
        rows = spread_rows(len(self.theta), _LEAST_ROWS)
        precise = self.problem.operator.precise_product(rows, self.theta)
        return float(np.abs(precise - self._evaluated(rows)).max()) > allowed

    def _measure(self) -> tuple[float, Vector, float]:
        """Violation, by how much each variable is off the middle bias, and the relative gap."""
        loss, theta, values = self.problem.loss, self.theta, self.values
        low = high = 0.0
        if self.problem.has_bias:
            low, high = loss.bias_interval(theta, values)
            if not np.isfinite(low - high):
                return 0.0, np.full(len(theta), -np.inf), 0.0
        middle = 0.5 * (low + high)
        merit = merits(loss, theta, values, middle)
        violation = low - high if self.problem.has_bias else float(merit.max(initial=0.0))
        quadratic = 0.5 * float(np.dot(theta, values))
        primal = quadratic + float(np.sum(loss.value(values + middle)))
        gap = primal + quadratic + float(np.sum(loss.conjugate(theta)))
        return max(0.0, violation), merit, gap / max(primal, 1e-300)

    def _is_idle(self) -> bool:
        objective = self.problem.objective(self.theta, self.values)
        better = objective < self.objective - 1e-14 * abs(objective)
        self.idle_rounds = 0 if better else self.idle_rounds + 1
        self.objective = min(self.objective, objective)
        return self.idle_rounds > _MOST_IDLE_ROUNDS

    def _tries_more(self) -> bool:
        """Larger sets and fresh decision values where rounds were idle; False where these are all."""
        largest = min(self.largest_set, len(self.theta))
        if self.working_set >= largest:
            if self.has_tried_all:
                return False
            self.has_tried_all = True
        self.working_set, self.idle_rounds = min(2 * self.working_set, largest), 0
        self._refresh()
        self.objective = np.inf  # as far as the values were off, so was it
        return True

    def _round(self, violation: float, merit: Vector, relative_gap: float) -> bool:
        """Choose a working set, solve on it, update all decision values; False without a set."""
        theta, operator = self.theta, self.problem.operator
        free = self.problem.loss.is_free(theta)
        # far from the optimum many variables are free that will not be
        wanted = int(_ROOM * np.count_nonzero(free)) if relative_gap <= _NEAR else 0
        if violation > _STUCK * self.best_violation:
            self.stuck_rounds += 1
            if self.stuck_rounds == _PATIENCE:
                self._refresh()
                self.next_look = self.n_rounds
                return True
        if violation > _SLOW * self.best_violation:
            self.slow_rounds += 1
            if self.slow_rounds % _PATIENCE == 0:
                wanted = max(wanted, 2 * self.working_set)
        self.best_violation = min(violation, self.best_violation)
        self.working_set = min(max(self.working_set, wanted), self.largest_set)
        tol = self.options.tol
        chosen = _choose(merit, free, self.working_set, tol, self.generator)
        size = len(chosen)
        if not size:
            return False
        self.chosen, gram = self.block.of(chosen, precise=self._is_stiff)
        chosen = self.chosen
        if self.extra_rounds:
            tol = 1e-3 * tol
        else:
            tol = 0.9 * tol if size == len(theta) else max(_INNER_SHARE * violation, 0.5 * tol)
        inside, steps = self._solve_inside(gram, tol)
        change = np.zeros(len(theta))
        change[chosen] = inside - theta[chosen]
        theta[chosen] = inside
        fine = self.options.tol < _FINE or self._is_stiff
        self.values += operator.product(change) if fine else operator.rough_product(change)
        self.fresh = False
        self.n_iter += max(1, steps)
        self.n_rounds += 1
        return True

    @property
    def _is_stiff(self) -> bool:
        """Whether rounds got nowhere: some directions of the kernel are far stiffer than others."""
        return self.stuck_rounds >= _PATIENCE

    def _solve_inside(self, gram: Gram, tol: float) -> tuple[Vector, int]:
        """Dual variables of the working set, all others fixed, and the steps it took.

        Steps of SMO first; where they take long, the active sets are by then nearly known and one
        polish is exact.
        """
        loss, most = self.problem.loss.take(self.chosen), self.options.max_iter
        inside, values = self.theta[self.chosen], self.values[self.chosen]
        outside = values - times(gram, inside)
        # far from the optimum a rough solve is enough; where rough is all there will be, it is not
        rough = tol > _INNER_SHARE * _CLOSE * loss.scale and not self.options.rough
        far = rough and not self._is_stiff
        n, n_free = len(inside), int(np.count_nonzero(loss.is_free(inside)))
        before_polish = _STEPS_BEFORE_POLISH * n + 1000
        if self.patient:
            before_polish += int(_POLISH_COST * n_free**3 / n)
        steps_on_block = pair_steps_on_block if self.problem.has_bias else single_steps_on_block
        pieces = loss.low, loss.high, loss.below, loss.above
        take = partial(steps_on_block, gram, values, inside, pieces, tol, new_state(n))  # in place
        total = 0
        for allowance in (before_polish, _MOST_INNER_STEPS):
            steps, ended = _take_steps(take, n, min(allowance, most))
            total += steps
            if ended or far or total >= most:
                break
            whole = float(inside.sum()) if self.problem.has_bias else None
            block = Block(gram, outside, loss, whole)
            polished = polish(block, inside)
            if polished is not None:
                self.patient = False
                return polished, total
            from pairity.solvers.proximal import MOST_FREE, settle  # few fits come here

            if np.count_nonzero(loss.is_free(inside)) <= MOST_FREE:
                return settle(block, inside, tol), total
        return inside, total


def _take_steps(take: Callable[[int], tuple[int, bool]], n: int, allowed: int) -> tuple[int, bool]:
    """Steps of SMO, a fraction of a second a call; how many, and whether they ended."""
    most = max(1, ENTRIES_PER_CALL // max(1, n))
    total, ended = 0, False
    while not ended and total < allowed:
        stop_if_abandoned()
        steps, ended = take(min(most, allowed - total))
        total += int(steps)
    return total, bool(ended)


class GramBlock:
    """The square of kernel values of a working set, in memory that is used again and again.

    What sets that follow one another share is kept.  Large ones are in single precision: what that
    loses, the next product sets right.
    """

    def __init__(self, operator: KernelOperator, tol: float) -> None:
        self._operator, self._tol = operator, tol
        self._memory: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._last: Index = np.zeros(0, dtype=np.intp)
        self._dtype: np.dtype = np.dtype(np.float64)

    def of(self, wanted: Index, *, precise: bool = False) -> tuple[Index, Gram]:
        """The set, those first that were in the last one as well, and its kernel values."""
        size = len(wanted)
        fine = precise or size <= _SMALL_SET or self._tol < _FINE
        dtype = np.dtype(np.float64 if fine else np.float32)
        kept = np.flatnonzero(np.isin(self._last, wanted))
        known = dtype == self._dtype and size <= len(self._last)
        if known and len(kept) >= _MOST_OF_IT * size:
            order, block = self._grown(kept, wanted)
        else:
            order, block = wanted, self._room(size, dtype)
            self._operator.square(wanted, block)
        self._last, self._dtype = order, dtype
        return order, block

    def _room(self, size: int, dtype: np.dtype) -> Gram:
        needed = size * size * dtype.itemsize
        if len(self._memory) < needed:
            self._memory = np.empty(0, dtype=np.uint8)  # goes before the next one comes
            self._memory = np.empty(needed, dtype=np.uint8)
        return self._memory[:needed].view(dtype).reshape(size, size)

    def _grown(self, kept: Index, wanted: Index) -> tuple[Index, Gram]:
        """Rows and columns at the places ``kept`` of the last set, followed by new ones."""
        old, size, n_kept = len(self._last), len(wanted), len(kept)
        memory = self._room(old, self._dtype).reshape(-1)
        keep_rows_and_columns(memory, kept, old, size)
        order = np.concatenate([self._last[kept], np.setdiff1d(wanted, self._last)])
        block = self._room(size, self._dtype)
        if n_kept < size:
            part = np.empty((size - n_kept, size), dtype=self._dtype)
            self._operator.block(order[n_kept:], order, part)
            block[n_kept:], block[:n_kept, n_kept:] = part, part[:, :n_kept].T
            corner = block[n_kept:, n_kept:]
            corner[...] = (corner + corner.T) * corner.dtype.type(0.5)
        return order, block
