"""Held-out decisions along a path of strengths, all folds on one set of Gram matrices."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairity.operators.blockwise import operator_within
from pairity.operators.operator import KernelOperator
from pairity.operators.restricted import Resident, Restricted, beside, in_memory
from pairity.runtime.resources import Budget, get_thread_count, give_back, run_together
from pairity.solvers.certificate import middle_of
from pairity.solvers.plan import Solve, path_of
from pairity.solvers.problem import AnyProblem, SolverOptions, TrainingSet

Vector = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Pairs up to which the whole Gram matrix is held, whatever an entry costs.
_FEW_PAIRS = 5000
#: Share of the memory for it, and megabytes that a fold works with at least.
_RESIDENT_SHARE, _LEAST_FOR_A_FOLD = 0.7, 20.0


@dataclass(frozen=True, eq=False)
class HeldOutPath:
    """Decisions about the held-out rows of every fold, for every strength.

    Strengths that were not tried have NaN everywhere.
    """

    decisions: list[Vector]  # one array (strengths, held-out rows) for each fold
    seconds: Vector  # (strengths, folds)
    n_iter: NDArray[np.int64]  # (strengths, folds)


#: Told the place of a strength and the decisions about each fold; true ends the path.
Watch = Callable[[int, list[Vector]], bool]


def held_out_path(
    data: TrainingSet[Any],
    splits: Sequence[Split],
    factors: Sequence[float],
    options: SolverOptions,
    solve: Solve[Any],
    watch: Watch,
) -> HeldOutPath:
    """Fit on the training rows of each fold for all factors on the weights of ``data``.

    Strengths are tried from weak to strong, each fit started from the last one of its fold; folds
    run beside one another, each on one thread.
    """
    operator = _shared_operator(data, options.budget)
    give_back()
    order = np.argsort(factors, kind="stable")
    ascending = [float(factors[place]) for place in order]
    workers, options = _side_by_side(operator, options, min(get_thread_count(), len(splits)))
    folds = [_Fold(data, operator, split, ascending, options, solve) for split in splits]
    path = HeldOutPath(
        [np.full((len(factors), len(test)), np.nan) for _, test in splits],
        np.full((len(factors), len(splits)), np.nan),
        np.zeros((len(factors), len(splits)), dtype=np.int64),
    )
    with threadpool_limits(1):
        for place in order:
            for number, found in enumerate(run_together(next, folds, workers)):
                path.decisions[number][place] = found.decisions
                path.seconds[place, number] = found.seconds
                path.n_iter[place, number] = found.n_iter
            give_back()
            if watch(int(place), [decisions[place] for decisions in path.decisions]):
                break
    return path


@dataclass(frozen=True, eq=False)
class _Fit:
    decisions: Vector
    seconds: float
    n_iter: int


class _Fold:
    """The path of one fold, a step at a time."""

    def __init__(
        self,
        data: TrainingSet[Any],
        operator: KernelOperator,
        split: Split,
        factors: Sequence[float],
        options: SolverOptions,
        solve: Solve[Any],
    ) -> None:
        self._train, self._test = split
        self._inside = Restricted(operator, self._train)
        self._has_bias = data.has_bias
        loss = data.halved_loss.take(self._train)
        problem = AnyProblem(self._inside, loss, self._has_bias)
        self._steps = path_of(problem, factors, options, solve)

    def __iter__(self) -> _Fold:
        return self

    def __next__(self) -> _Fit:
        started = time.perf_counter()
        problem, solution = next(self._steps)
        values = self._inside.everywhere(solution.theta)
        bias = 0.0
        if self._has_bias:
            bias = middle_of(*problem.loss.bias_interval(solution.theta, values[self._train]))
        seconds = time.perf_counter() - started
        return _Fit(values[self._test] + bias, seconds, solution.n_iter)


def _side_by_side(
    operator: KernelOperator, options: SolverOptions, most: int
) -> tuple[int, SolverOptions]:
    """How many folds at a time, and what each of them may use beside what they share."""
    rest = beside(operator, options.budget).megabytes
    needed = max(_LEAST_FOR_A_FOLD, 2.0 * operator.object_megabytes)
    workers = int(min(most, max(1.0, rest / needed)))
    return workers, replace(options, memory_limit=rest / workers)


def _shared_operator(data: TrainingSet[Any], budget: Budget) -> KernelOperator:
    """The kernel between all pairs, held in memory where that is small.

    Validation is rough, so that single precision is enough where double precision is too large.
    """
    operator = operator_within(data.projected, data.pairs, budget)
    if operator.structure is not None:
        operator.spectral_grid  # noqa: B018 - one decomposition for all folds, made before they start
    n = len(data.pairs)
    if operator.structure is None and n <= _FEW_PAIRS:
        room = budget.without(operator.object_megabytes).share(_RESIDENT_SHARE)
        for dtype, itemsize in ((np.float64, 8), (np.float32, 4)):
            if room.holds(n, n, itemsize=itemsize):
                return Resident(operator, dtype)
    return in_memory(operator, budget)
