"""Held-out decisions along a path of strengths, all folds on one set of Gram matrices."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairity.operators.base import KernelOperator
from pairity.operators.pair_operator import PairOperator
from pairity.operators.restricted import Resident, Restricted
from pairity.parity import Parity
from pairity.solvers.certificate import middle_of
from pairity.solvers.path import Solve, path_of
from pairity.solvers.problem import AnyProblem, SolverOptions
from pairity.solvers.training import TrainingSet
from pairity.threads import get_thread_count

__all__ = ["HeldOutPath", "held_out_path"]

Vector = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Pairs up to which the whole Gram matrix is held, if memory allows.
_MOST_RESIDENT = 9000
#: Share of the memory limit that it may take.
_RESIDENT_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class HeldOutPath:
    """Decisions about the held-out rows of every fold, for every strength."""

    decisions: list[Vector]  # one array (strengths, held-out rows) for each fold
    seconds: Vector  # (strengths, folds)
    n_iter: NDArray[np.int64]  # (strengths, folds)


def held_out_path(
    data: TrainingSet[Any],
    splits: Sequence[Split],
    factors: Sequence[float],
    options: SolverOptions,
    solve: Solve[Any],
    progress: Callable[[], None] | None = None,
) -> HeldOutPath:
    """Fit on the training rows of each fold for all factors on the weights of ``data``.

    Folds run beside one another, each on one thread; a path goes from weak to strong, started
    from its last solution.
    """
    operator = _shared_operator(data, options)
    factor = 1.0 if data.parity is None else 2.0
    has_bias = data.with_bias and data.parity is not Parity.ODD
    order = np.argsort(factors, kind="stable")

    def follow(split: Split) -> tuple[Vector, Vector, NDArray[np.int64]]:
        train, test = split
        inside = Restricted(operator, train)
        problem = AnyProblem(inside, data.loss.take(train).times(factor), has_bias)
        decisions = np.empty((len(factors), len(test)))
        seconds, steps = np.zeros(len(factors)), np.zeros(len(factors), dtype=np.int64)
        started = time.perf_counter()
        ascending = [float(factors[place]) for place in order]
        for place, (scaled, solution) in zip(
            order, path_of(problem, ascending, options, solve), strict=True
        ):
            values = inside.everywhere(solution.theta)
            bias = 0.0
            if has_bias:
                bias = middle_of(*scaled.loss.bias_interval(solution.theta, values[train]))
            decisions[place] = values[test] + bias
            seconds[place] = time.perf_counter() - started
            started = time.perf_counter()
            steps[place] = solution.n_iter
            if progress is not None:
                progress()
        return decisions, seconds, steps

    workers = min(get_thread_count(), len(splits))
    with threadpool_limits(1), ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(follow, splits))
    return HeldOutPath(
        [decisions for decisions, _, _ in found],
        np.array([seconds for _, seconds, _ in found]).T,
        np.array([steps for _, _, steps in found]).T,
    )


def _shared_operator(data: TrainingSet[Any], options: SolverOptions) -> KernelOperator:
    """The kernel between all pairs, held in memory where that is small."""
    operator = PairOperator(data.projected, data.pairs)
    n = len(data.pairs)
    if operator.structure is not None:
        operator.spectral_grid  # noqa: B018 - one decomposition for all folds, made before they start
    fits = 16e-6 * n * n <= _RESIDENT_SHARE * options.memory_limit
    dense = operator.structure is not None and n > 2500
    return Resident(operator) if n <= _MOST_RESIDENT and fits and not dense else operator
