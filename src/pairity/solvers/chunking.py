"""Chunking: solve on a working set of many pairs, then learn about all pairs by one product.

Each round takes the pairs that violate the KKT conditions most (and keeps those that are between
their bounds), solves the problem restricted to them with a resident Gram block, and updates the
gradient of *all* pairs by one product through the object Gram matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.losses.piecewise import PiecewiseLinear
from pairity.solvers._block_loops import pair_steps_on_block, single_steps_on_block
from pairity.solvers.polish import Block, polish
from pairity.solvers.problem import Problem, Solution, SolverOptions, Vector
from pairity.solvers.smo import feasible_start
from pairity.threads import ENTRIES_PER_CALL, stop_if_abandoned

__all__ = ["LARGEST_SET", "solve_chunking"]

#: Working set at first, and at most when more variables than that are free; a Gram block takes 8
#: times the square of this in bytes, the polish as much again.
_WORKING_SET, LARGEST_SET = 4096, 16384
#: Pairs up to which half of that is enough.
_MANY_PAIRS = 10_000
#: The inner solve goes on until its violation is this share of the outer one.
_INNER_SHARE = 0.1
#: Rounds without a lower objective after which rounding is to blame.
_MOST_IDLE_ROUNDS = 5
#: Share of a working set that free variables of the last one may take.
_KEPT_SHARE = 0.8
#: Steps per variable before active sets are taken as nearly known.
_STEPS_BEFORE_POLISH = 2
#: Steps on n variables that take as long as a polish, in units of (free variables)^3 / n.
_POLISH_COST = 0.002
#: Violation (in units of the margin) from which on inner solves are exact.
_CLOSE = 0.3
#: Steps of one inner solve.
_MOST_INNER_STEPS = 200_000
#: With a large C a small violation may leave a large gap: some exact rounds are then added.
_FAIR_GAP, _MOST_EXTRA_ROUNDS = 1e-2, 4
#: Tolerances below this call for decision values free of the drift of many updates.
_DRIFT = 1e-6
_LOST = "steps are lost in rounding: tol is below what float64 can reach here"


@dataclass(frozen=True)
class _Merit:
    """How much each variable violates: positive entries may be improved."""

    violation: float
    merit: Vector
    relative_gap: float


def _measure(problem: Problem, theta: Vector, values: Vector) -> _Merit:
    """Violation, and by how much each variable is on the wrong side of the middle bias."""
    loss = problem.loss
    rise, fall = loss.targets(theta)
    middle = 0.0
    if problem.has_bias:
        low, high = loss.bias_interval(theta, values)
        if not np.isfinite(low - high):
            return _Merit(0.0, np.full(len(theta), -np.inf), 0.0)
        middle = 0.5 * (low + high)
        violation = low - high
    merit = np.maximum(rise - values - middle, values + middle - fall)
    if not problem.has_bias:
        violation = float(merit.max(initial=0.0))
    quadratic = 0.5 * float(np.dot(theta, values))
    primal = quadratic + float(np.sum(loss.value(values + middle)))
    gap = primal + quadratic + float(np.sum(loss.conjugate(theta)))
    return _Merit(max(0.0, violation), merit, gap / max(primal, 1e-300))


def _choose(
    merit: Vector, free: NDArray[np.bool_], previous: NDArray[np.intp], size: int
) -> NDArray[np.intp]:
    """The worst violators, and from the previous set the variables between their bounds."""
    kept = previous[free[previous]]
    most = int(_KEPT_SHARE * size)
    if len(kept) > most:
        kept = kept[np.argsort(-merit[kept], kind="stable")[:most]]
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
    block: NDArray[np.float64],
    theta: Vector,
    values: Vector,
    tol: float,
    patient: bool,
    options: SolverOptions,
) -> tuple[Vector, int, bool]:
    """Dual variables of the working set, all others fixed; the steps it took; whether polished.

    Steps of SMO first; where they take long, the active sets are by then nearly known and one
    polish is exact.
    """
    loss = problem.loss.take(chosen)
    inside, inside_values = theta[chosen].copy(), values[chosen].copy()
    outside = inside_values - block @ inside
    # far from the optimum a rough solve is enough; where rough is all there will be, it is not
    far = tol > _INNER_SHARE * _CLOSE * loss.scale and not options.rough
    n, n_free = len(chosen), int(np.count_nonzero(loss.is_free(inside)))
    before_polish = _STEPS_BEFORE_POLISH * n + 1000
    if patient:
        before_polish += int(_POLISH_COST * n_free**3 / n)
    total = 0
    for allowance in (before_polish, _MOST_INNER_STEPS):
        allowed = min(allowance, options.max_iter)
        steps, ended = _take_steps(problem, block, inside_values, inside, loss, tol, allowed)
        total += steps
        if ended or far or total >= options.max_iter:
            break
        whole = float(inside.sum()) if problem.has_bias else None
        polished = polish(Block(block, outside, loss, whole), inside)
        if polished is not None:
            return polished, total, True
    return inside, total, False


def _take_steps(
    problem: Problem,
    block: NDArray[np.float64],
    values: Vector,
    theta: Vector,
    loss: PiecewiseLinear,
    tol: float,
    allowed: int,
) -> tuple[int, bool]:
    """Steps of SMO in place, a fraction of a second a call; their number, and whether they ended."""
    steps_on_block = pair_steps_on_block if problem.has_bias else single_steps_on_block
    bounds = loss.low, loss.high, loss.below, loss.above
    most = max(1, ENTRIES_PER_CALL // max(1, len(theta)))
    total = 0
    while True:
        stop_if_abandoned()
        steps, ended = steps_on_block(
            block, values, theta, *bounds, tol, min(most, allowed - total)
        )
        total += int(steps)
        if ended or total >= allowed:
            return total, bool(ended)


def solve_chunking(
    problem: Problem,
    options: SolverOptions,
    start: Vector | None = None,
    largest_set: int = LARGEST_SET,
) -> Solution:
    """Minimise the dual to a KKT violation of at most ``options.tol``."""
    run = _Run(problem, options, feasible_start(problem, start), largest_set)
    reason = run.iterate()
    return Solution(run.theta, run.n_iter, reason == "tolerance reached", reason)


class _Run:
    """State of the rounds: dual variables and decision values of all pairs."""

    def __init__(
        self, problem: Problem, options: SolverOptions, theta: Vector, largest_set: int
    ) -> None:
        self.problem, self.options = problem, options
        self.theta = theta
        self.largest_set = largest_set
        many = len(theta) > _MANY_PAIRS
        self.working_set = min(_WORKING_SET if many else _WORKING_SET // 2, largest_set)
        self.chosen = np.zeros(0, dtype=np.intp)
        self._memory = np.zeros(0)
        self.patient = True  # steps that had to be polished once will have to be again
        self.n_iter = 0
        self.objective, self.idle_rounds, self.extra_rounds = np.inf, 0, 0
        self.refresh()

    def refresh(self) -> None:
        """Decision values from scratch: one full product."""
        self.values = self.problem.operator.product(self.theta)
        self.fresh = True

    def iterate(self) -> str:
        """Rounds until the tolerance is reached, or a reason why not."""
        options = self.options
        while True:
            state = _measure(self.problem, self.theta, self.values)
            if options.report is not None:
                options.report(f"chunking, step {self.n_iter}", state.violation)
            if state.violation <= options.tol:
                if not self.fresh and options.tol < _DRIFT:
                    self.refresh()
                    continue
                fair = options.rough or state.relative_gap <= _FAIR_GAP
                if fair or self.extra_rounds == _MOST_EXTRA_ROUNDS:
                    return "tolerance reached"
                self.extra_rounds += 1
            if self.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if self._is_idle():
                return _LOST
            if not self._round(state):  # what violates is below the rounding of the bias
                return "tolerance reached" if state.violation <= options.tol else _LOST

    def _block(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Gram block of a working set, in memory that is used again from round to round."""
        size = len(chosen)
        if self._memory.size < size * size:
            self._memory = np.empty(size * size)
        out = self._memory[: size * size].reshape(size, size)
        return self.problem.operator.block(chosen, chosen, out=out)

    def _is_idle(self) -> bool:
        objective = self.problem.objective(self.theta, self.values)
        better = objective < self.objective - 1e-14 * abs(objective)
        self.idle_rounds = 0 if better else self.idle_rounds + 1
        self.objective = min(self.objective, objective)
        return self.idle_rounds > _MOST_IDLE_ROUNDS

    def _round(self, state: _Merit) -> bool:
        """Choose a working set, solve on it, update all decision values; False without a set."""
        problem, theta = self.problem, self.theta
        free = problem.loss.is_free(theta)
        if np.count_nonzero(free) > _KEPT_SHARE * self.working_set:
            self.working_set = min(2 * self.working_set, self.largest_set)
        self.chosen = chosen = _choose(state.merit, free, self.chosen, self.working_set)
        if not len(chosen):
            return False
        if len(chosen) == len(theta):
            tol = 0.9 * self.options.tol
        else:
            tol = max(_INNER_SHARE * state.violation, 0.5 * self.options.tol)
        if self.extra_rounds:
            tol = 1e-3 * self.options.tol
        block = self._block(chosen)
        inside, steps, polished = _solve_inside(
            problem, chosen, block, theta, self.values, tol, self.patient, self.options
        )
        self.patient = self.patient and not polished
        change = np.zeros(len(theta))
        change[chosen] = inside - theta[chosen]
        theta[chosen] = inside
        self.values += problem.operator.product(change)
        self.fresh = False
        self.n_iter += max(1, steps)
        return True
