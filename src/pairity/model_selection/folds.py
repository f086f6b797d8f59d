"""Folds: which pairs are held out, and decisions about them along a path of strengths.

All folds share one set of Gram matrices.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairity.estimators.symmetrized import in_one_order
from pairity.exceptions import CalibrationWarning, levels_to_the_caller
from pairity.model_selection.splits import GivenRows, Rows, Split, read_splits
from pairity.operators.blockwise import operator_within
from pairity.operators.operator import KernelOperator
from pairity.operators.restricted import Resident, Restricted, beside, in_memory
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.pairs.same_objects import ends_of
from pairity.runtime.progress import Steps
from pairity.runtime.resources import Budget, get_thread_count, give_back, run_together
from pairity.solvers.certificate import middle_of
from pairity.solvers.plan import Solve, path_of
from pairity.solvers.problem import AnyProblem, SolverOptions, TrainingSet
from pairity.training.read import TrainingData

Vector = NDArray[np.float64]

#: Folds that train on less than this share of the pairs say little about strengths for all.
_SMALL_FOLDS = 0.6
#: Share of rematches among held-out pairs from which on pairs of objects may have effects.
MET_BEFORE = 0.05
#: Pairs up to which the whole Gram matrix is held, whatever an entry costs.
_FEW_PAIRS = 5000
#: Share of the memory for it, and megabytes that a fold works with at least.
_RESIDENT_SHARE, _LEAST_FOR_A_FOLD = 0.7, 20.0
#: Share of what is left for the fits of folds: two at a time leave gaps between their arrays.
_SHARE_OF_FOLDS = 0.75


@dataclass(frozen=True, eq=False)
class TrainingFolds:
    """Training data with each pair in its one order, and the folds.

    A search is full of choices: in one order (:mod:`pairity.pairs.orientation`) none of them can depend
    on how a pair is written.  ``signs`` lead back to the targets and decisions as written.
    """

    data: TrainingData
    splits: list[Split]
    signs: Vector

    @property
    def held(self) -> Rows:
        """Held-out rows of all folds, one after the other."""
        return np.concatenate([test for _, test in self.splits])

    @property
    def shares(self) -> list[Vector]:
        """Weights of the held-out rows of each fold."""
        return shared_weights(self.data.weights, [test for _, test in self.splits])

    def share_met_before(self) -> float:
        """Share of the held-out pairs that were trained on, in either order: a rematch."""
        unordered = ends_of(self.data.pairs).unordered()
        met = [np.isin(unordered[test], unordered[train]) for train, test in self.splits]
        return float(np.mean(np.concatenate(met)))

    def refit_factor(self) -> float:
        """Factor on the weights of the losses in the fit that is kept.

        Where objects are held out, folds train on few of the pairs, and on all pairs a strength that
        was good for them is too much: decisions grow, and probabilities fitted to those of the folds
        are too sure.  Weights times the share of the pairs keep the total weight that was validated.
        """
        share = float(np.mean([self.data.weights[train].sum() for train, _ in self.splits]))
        share /= float(self.data.weights.sum())
        return share if share < _SMALL_FOLDS else 1.0


def read_folds(cv: Any, data: TrainingData, X: Any, groups: Any) -> TrainingFolds:
    """Folds of the rows that count, each of which can be trained on."""
    # ids tell objects apart where features change from pair to pair
    pairs = X[data.rows] if isinstance(X, Pairs) else data.pairs
    groups = None if groups is None else np.asarray(groups)
    given = GivenRows(pairs, data.targets, groups, data.rows, data.n_rows)
    stratify = data.parity is not Parity.ODD and data.classes is not None
    splits = read_splits(cv, given, stratify=stratify)
    if stratify:
        splits = _with_both_classes(splits, data.targets)
        _warn_of_single_labels(splits, data.targets)
    data, signs = in_one_order(data)
    return TrainingFolds(data, splits, signs)


def _with_both_classes(splits: Sequence[Split], targets: Vector) -> list[Split]:
    """Folds whose training rows hold both labels; the others cannot be fitted."""
    kept = [split for split in splits if len(np.unique(targets[split[0]])) == 2]
    if not kept:
        raise ValueError(
            "got one class only in the training pairs of every fold; expected both: use stratified"
            " folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    if len(kept) < len(splits):
        warnings.warn(
            f"{len(splits) - len(kept)} of {len(splits)} folds train on one class only and are left"
            " out of the search; stratified folds share out the rare class:"
            " cv=PairKFold(5, stratify=True).",
            CalibrationWarning,
            stacklevel=levels_to_the_caller(),
        )
    return kept


def _warn_of_single_labels(splits: Sequence[Split], targets: Vector) -> None:
    """Say so where held-out pairs cannot tell a good model: one label in most folds."""
    single = sum(len(np.unique(targets[test])) < 2 for _, test in splits)
    if 2 * single > len(splits):
        warnings.warn(
            f"the held-out pairs of {single} of {len(splits)} folds have one label only, so that they"
            " cannot tell a good kernel from a bad one; fewer folds, or larger shares of objects or"
            " groups held out, give both labels: cv=ObjectKFold(2, object_groups=...), say.",
            CalibrationWarning,
            stacklevel=levels_to_the_caller(),
        )


def shared_weights(weights: Vector, held_out: Sequence[Rows]) -> list[Vector]:
    """Weights of the held-out rows of each fold; one held out k times counts 1/k each time."""
    times = np.bincount(np.concatenate(held_out), minlength=len(weights))
    return [weights[rows] / times[rows] for rows in held_out]


# Held-out decisions ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeldOutPath:
    """Decisions about the held-out rows of every fold, for every strength.

    Strengths that were not tried have NaN everywhere.
    """

    decisions: list[list[Vector]]  # of each strength and fold, one for each held-out row
    seconds: Vector  # (strengths, folds)


@dataclass
class Patience:
    """Ends a path after so many strengths in a row that are clearly worse than the best one.

    Clearly: by more than a standard error over the folds.  Strong penalties take most of the time
    of a path, and where noise sets in they are never the choice.
    """

    score: Callable[[list[Vector]], Vector]
    patience: int | None
    steps: Steps | None
    deadline: float = np.inf  # of time.monotonic
    best: float = -np.inf
    error: float = 0.0
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
        values = self.score(decisions)
        score = np.nan if np.isnan(values).all() else float(np.nanmean(values))
        if score > self.best:
            self.best, self.worse = score, 0
            self.error = float(np.nanstd(values)) / np.sqrt(len(decisions))
        elif score < self.best - self.error:
            self.worse += 1
        return self.worse >= self.patience


def held_out_path(
    data: TrainingSet[Any],
    splits: Sequence[Split],
    factors: Sequence[float],
    options: SolverOptions,
    solve: Solve[Any],
    is_enough: Callable[[list[Vector]], bool],
) -> HeldOutPath:
    """Fit on the training rows of each fold for all factors on the weights of ``data``.

    Strengths are tried from weak to strong, each fit started from the last one of its fold; folds
    run beside one another, each on one thread.  The path ends where decisions are enough.
    """
    operator = _shared_operator(data, options.budget)
    give_back()
    order = np.argsort(factors, kind="stable")
    ascending = [float(factors[place]) for place in order]
    workers, options = _side_by_side(operator, options, min(get_thread_count(), len(splits)))
    folds = [_follow(data, operator, split, ascending, options, solve) for split in splits]
    path = HeldOutPath(
        [[np.full(len(test), np.nan) for _, test in splits] for _ in factors],
        np.full((len(factors), len(splits)), np.nan),
    )
    with threadpool_limits(1):
        for place in order.tolist():
            for number, (decisions, seconds) in enumerate(run_together(next, folds, workers)):
                path.decisions[place][number] = decisions
                path.seconds[place, number] = seconds
            give_back()
            if is_enough(path.decisions[place]):
                break
    return path


def _follow(
    data: TrainingSet[Any],
    operator: KernelOperator,
    split: Split,
    factors: Sequence[float],
    options: SolverOptions,
    solve: Solve[Any],
) -> Iterator[tuple[Vector, float]]:
    """The path of one fold: decisions about its held-out rows, and seconds."""
    train, test = split
    started, inside = time.perf_counter(), Restricted(operator, train)
    whole = AnyProblem(inside, data.halved_loss.take(train), data.has_bias)
    for problem, solution in path_of(whole, factors, options, solve):
        values, bias = inside.everywhere(solution.theta), 0.0
        if data.has_bias:
            bias = middle_of(*problem.loss.bias_interval(solution.theta, values[train]))
        yield values[test] + bias, time.perf_counter() - started
        started = time.perf_counter()


def _side_by_side(
    operator: KernelOperator, options: SolverOptions, most: int
) -> tuple[int, SolverOptions]:
    """How many folds at a time, and what each of them may use beside what they share."""
    rest = beside(operator, options.budget).megabytes
    needed = max(_LEAST_FOR_A_FOLD, 2.0 * operator.object_megabytes)
    workers = int(min(most, max(1.0, rest / needed)))
    return workers, replace(options, memory_limit=_SHARE_OF_FOLDS * rest / workers)


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
