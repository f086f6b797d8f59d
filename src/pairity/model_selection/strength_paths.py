"""Decisions about held-out pairs along a path of strengths; all folds share one set of Gram matrices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pairity.exceptions import warn_the_caller
from pairity.losses.loss import Logistic
from pairity.model_selection.folds import Vector
from pairity.model_selection.splits import Rows, Split
from pairity.operators.blockwise import operator_within
from pairity.operators.modes import Expanded
from pairity.operators.operator import KernelOperator
from pairity.operators.restricted import Copied, Resident, Restricted, beside, in_memory
from pairity.runtime.progress import Steps
from pairity.runtime.resources import (
    Budget,
    get_thread_count,
    give_back,
    megabytes_of,
    run_together,
)
from pairity.solvers.certificate import middle_of
from pairity.solvers.linear_system import MOST_FEATURES
from pairity.solvers.plan import path_of, solve_roughly
from pairity.solvers.problem import AnyProblem, SolverOptions, TrainingSet

#: Pairs up to which the whole Gram matrix is held, whatever an entry costs.
_FEW_PAIRS = 5000
#: Landmarks in whose span the sum of families is validated on more pairs, where its entries are costly;
#: share of the memory for their features.
_LANDMARKS, _EXPANDED_SHARE = 400, 0.2
#: Share of the memory for it, and megabytes that a fold works with at least.
_RESIDENT_SHARE, _LEAST_FOR_A_FOLD = 0.7, 20.0
#: Pairs beyond which the last fit of a smooth loss begins from what the folds found, which saves time;
#: of fewer it is that of the learner alone, to the bit.
_MANY_PAIRS = 2000
#: Share of what is left for copies of the parts that folds train on.
_SHARE_OF_COPIES = 0.5
#: Share of what is left for the fits of folds: two at a time leave gaps between their arrays.
_SHARE_OF_FOLDS = 0.75

#: Scores of the folds, of their decisions.
Score = Callable[[list[Vector]], Vector]


@dataclass(frozen=True, eq=False)
class HeldOutPath:
    """Decisions about the held-out rows of every fold, for every strength.

    Strengths that were not tried have NaN everywhere.
    """

    decisions: list[list[Vector]]  # of each strength and fold, one for each held-out row
    seconds: Vector  # (strengths, folds)
    starts: dict[int, Vector] = field(default_factory=dict)
    """Dual variables of all rows by the number of a strength: means over the folds that have them.

    Of smooth losses and many pairs alone, whose last fit gains from a start.
    """

    def means(self, score: Score) -> Vector:
        """Mean scores of the strengths; minus infinity where one was not tried."""
        return np.array([_mean(score(by_fold)) for by_fold in self.decisions])

    def among(self, places: Sequence[int], count: int) -> HeldOutPath:
        """The same as some of so many strengths."""
        decisions = [[np.full_like(fold, np.nan) for fold in self.decisions[0]]] * count
        seconds = np.full((count, self.seconds.shape[1]), np.nan)
        for place, by_fold, taken in zip(places, self.decisions, self.seconds, strict=False):
            decisions[place], seconds[place] = by_fold, taken
        known = self.starts
        starts = {place: known[at] for at, place in enumerate(places) if at in known}
        return HeldOutPath(decisions, seconds, starts)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel to try along a path of strengths."""

    kernel: Any
    variant_of: int | None = None  # the number of another candidate that it varies


def paths_of(
    candidates: Sequence[Candidate],
    factors: Sequence[float],
    follow: Callable[[Any, Sequence[float]], HeldOutPath],
    score: Score,
) -> list[HeldOutPath]:
    """Paths of all candidates; ``follow`` goes along one, given a kernel and factors.

    A variant is tried with the best strength of what it varies, and with the neighbours of that
    if it is better; otherwise it is the last variant.
    """
    paths: list[HeldOutPath] = []
    given_up: set[int] = set()
    order = np.argsort(factors, kind="stable").tolist()

    def at(kernel: Any, places: Sequence[int]) -> HeldOutPath:
        path = follow(kernel, [factors[place] for place in places])
        return path.among(places, len(factors))

    for candidate in candidates:
        base = candidate.variant_of
        if base is None:
            paths.append(follow(candidate.kernel, factors))
        elif base in given_up:
            paths.append(paths[base].among((), len(factors)))
        else:
            means = paths[base].means(score)
            best = int(np.argmax(means))
            path = at(candidate.kernel, [best])
            if path.means(score)[best] > means[best]:
                middle = order.index(best)
                path = at(candidate.kernel, order[max(0, middle - 1) : middle + 2])
            else:
                given_up.add(base)
            paths.append(path)
    return paths


@dataclass
class Patience:
    """Ends a path after so many strengths in a row that are clearly worse than the best one.

    Clearly: by more than a standard error of the differences over folds.  Strong penalties take most
    of the time of a path, and where noise sets in they are never the choice.
    """

    score: Score
    patience: int | None
    steps: Steps | None
    deadline: float = np.inf  # of time.monotonic
    best: Vector | None = None  # scores of the folds
    worse: int = 0

    def __call__(self, decisions: list[Vector]) -> bool:
        """Whether the decisions of one strength more, fold by fold, are enough."""
        if self.steps is not None:
            for _ in decisions:
                self.steps()
        if time.monotonic() > self.deadline:
            return True
        if self.patience is None:
            return False
        scores = self.score(decisions)
        if self.best is None or _mean(scores) > _mean(self.best):
            self.best, self.worse = scores, 0
        else:
            behind = self.best - scores
            error = float(np.nanstd(behind)) / np.sqrt(len(decisions))
            self.worse += _mean(behind) > error
        return self.worse >= self.patience


def _mean(scores: Vector) -> float:
    """Mean over the folds that have a score."""
    return -np.inf if np.isnan(scores).all() else float(np.nanmean(scores))


@dataclass(frozen=True, eq=False)
class _Found:
    """One fit of a fold: decisions about its held-out rows, dual variables of the others."""

    decisions: Vector
    theta: Vector
    seconds: float


def held_out_path(
    data: TrainingSet[Any],
    operator: KernelOperator,
    splits: Sequence[Split],
    factors: Sequence[float],
    options: SolverOptions,
    is_enough: Callable[[list[Vector]], bool],
) -> HeldOutPath:
    """Fit on the training rows of each fold for all factors on the weights of ``data``.

    ``operator`` is that of :func:`shared_operator`.  Strengths are tried from weak to strong, each
    fit started from the last one of its fold; folds run beside one another, each on one thread.  The
    path ends where decisions are enough.
    """
    give_back()  # what was on the way to the operator
    order = np.argsort(factors, kind="stable")
    ascending = [float(factors[place]) for place in order]
    workers, options, own = _side_by_side(data, operator, splits, options)
    folds = [
        _follow(data, own(operator, train), (train, test), ascending, options)
        for train, test in splits
    ]
    path = HeldOutPath(
        [[np.full(len(test), np.nan) for _, test in splits] for _ in factors],
        np.full((len(factors), len(splits)), np.nan),
    )
    with threadpool_limits(1):
        for place in order.tolist():
            found = run_together(next, folds, workers)
            path.decisions[place] = [one.decisions for one in found]
            path.seconds[place] = [one.seconds for one in found]
            if isinstance(data.loss, Logistic) and len(data.pairs) > _MANY_PAIRS:
                path.starts[place] = _mean_over_folds(found, splits, len(data.pairs))
            give_back()
            if is_enough(path.decisions[place]):
                break
    return path


def _mean_over_folds(found: Sequence[_Found], splits: Sequence[Split], n_rows: int) -> Vector:
    """Dual variables of all rows, each the mean over the folds that train on it."""
    total, times = np.zeros((2, n_rows))
    for (train, _), one in zip(splits, found, strict=True):
        total[train] += one.theta
        times[train] += 1.0
    return (total / np.maximum(times, 1.0)).astype(np.float32)


def _follow(
    data: TrainingSet[Any],
    inside: Restricted,
    split: Split,
    factors: Sequence[float],
    options: SolverOptions,
) -> Iterator[_Found]:
    """The path of one fold."""
    train, test = split
    started = time.perf_counter()
    whole = AnyProblem(inside, data.halved_loss.take(train), data.has_bias)
    for problem, solution in path_of(whole, factors, options, solve_roughly):
        values, bias = inside.everywhere(solution.theta), 0.0
        if data.has_bias:
            bias = middle_of(*problem.loss.bias_interval(solution.theta, values[train]))
        yield _Found(values[test] + bias, solution.theta, time.perf_counter() - started)
        started = time.perf_counter()


def _side_by_side(
    data: TrainingSet[Any],
    operator: KernelOperator,
    splits: Sequence[Split],
    options: SolverOptions,
) -> tuple[int, SolverOptions, type[Restricted]]:
    """How many folds at a time, what each may use beside what they share, and of which matrix.

    Smooth losses take many products: folds have matrices of their own where there is room.
    """
    rest = beside(operator, options.budget).megabytes
    copies = sum(
        megabytes_of(len(train), len(train) + MOST_FEATURES, itemsize=4) for train, _ in splits
    )
    has_own = isinstance(operator, Resident) and isinstance(data.loss, Logistic)
    has_own = has_own and copies <= _SHARE_OF_COPIES * rest
    rest -= copies if has_own else 0.0
    needed = max(_LEAST_FOR_A_FOLD, 2.0 * operator.object_megabytes)
    workers = int(min(get_thread_count(), len(splits), max(1.0, rest / needed)))
    limited = replace(options, memory_limit=_SHARE_OF_FOLDS * rest / workers)
    return workers, limited, Copied if has_own else Restricted


def shared_operator(
    data: TrainingSet[Any], budget: Budget, *, in_span: bool = False
) -> KernelOperator:
    """The kernel between all pairs, held in memory where that is small.

    Validation is rough, so that single precision is enough where double precision is too large.  A
    kernel whose weights were found ``in_span`` of landmarks is validated there as well, of many pairs
    and where entries are costly.
    """
    operator = operator_within(data.projected, data.pairs, budget)
    if operator.structure is not None:
        operator.spectral_grid  # noqa: B018 - one decomposition for all folds, made before they start
        return in_memory(operator, budget)
    n, is_small = len(data.pairs), len(data.pairs) <= _FEW_PAIRS
    is_costly = operator.is_costly and operator.features is None
    if in_span and is_costly and not is_small:
        return Expanded(operator, _landmarks(n, budget))
    if is_small:
        precisions: list[type[np.floating]] = [np.float64, np.float32]
    else:
        held = in_memory(operator, budget)
        if held is not operator or not is_costly:
            return held
        precisions = [np.float32]
    room = budget.without(operator.object_megabytes).share(_RESIDENT_SHARE)
    for dtype in precisions:
        if room.holds(n, n, itemsize=np.dtype(dtype).itemsize):
            return Resident(operator, dtype)
    return operator


def _landmarks(n_pairs: int, budget: Budget) -> Rows:
    """Pairs in whose span a kernel of many pairs is validated, as many as there is room for."""
    fitting = int(budget.share(_EXPANDED_SHARE).columns(n_pairs))
    if fitting < _LANDMARKS:
        warn_the_caller(
            f"strengths were validated with {max(1, fitting)} of {_LANDMARKS} landmark pairs to keep to"
            f" the memory limit of {budget.megabytes:.0f} MB: a larger memory_limit makes the choice"
            " surer."
        )
    count = max(1, min(_LANDMARKS, fitting))
    return np.sort(np.random.default_rng(0).permutation(n_pairs)[:count])
