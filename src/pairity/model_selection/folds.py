"""Folds: which pairs are held out, and decisions about them along a path of strengths.

All folds share one set of Gram matrices.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from pairity.estimators.symmetrized import in_one_order
from pairity.exceptions import CalibrationWarning, levels_to_the_caller
from pairity.model_selection.leakage import leakage_report
from pairity.model_selection.splitter import PairKFold, PairSplitter
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

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]
Split = tuple[Rows, Rows]

_FOLDS = 5
#: Folds that train on less than this share of the pairs say little about strengths for all.
_SMALL_FOLDS = 0.6
#: Pairs up to which the whole Gram matrix is held, whatever an entry costs.
_FEW_PAIRS = 5000
#: Share of the memory for it, and megabytes that a fold works with at least.
_RESIDENT_SHARE, _LEAST_FOR_A_FOLD = 0.7, 20.0


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows that count (have a weight above 0) among all rows that were given."""

    pairs: Pairs  # of the rows that count, with their ids
    targets: NDArray[Any]
    groups: NDArray[Any] | None  # of all rows
    counted: Rows
    n_rows: int

    def __post_init__(self) -> None:
        if self.groups is not None and self.groups.shape != (self.n_rows,):
            raise ValueError(
                f"got groups of shape {self.groups.shape} for {self.n_rows} pairs; expected one per"
                " pair."
            )


class ReadySplits(list[Split]):
    """Splits of all rows that were read and checked before."""


def read_splits(cv: Any, given: GivenRows, *, stratify: bool) -> list[Split]:
    """Training and held-out rows among those that count, without rows on both sides.

    ``cv`` is a splitter, a number of folds, ready splits of all rows, or ``None`` for five folds
    in which each unordered pair is held out once.
    """
    pairs, targets, counted = given.pairs, given.targets, given.counted
    if len(pairs) < 2:
        raise ValueError(
            f"got n_samples={len(pairs)} with a weight above 0; expected at least 2, to hold out one."
        )
    trusted = isinstance(cv, PairSplitter | ReadySplits)
    if cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        if cv is not None and cv < 2:
            raise ValueError(
                f"got cv={cv!r}; expected an integer of at least 2, or None for 5 folds."
            )
        cv, trusted = _default_splitter(cv, given, stratify), True
    if hasattr(cv, "split") and not isinstance(cv, str):
        groups = None if given.groups is None else given.groups[counted]
        splits = list(cv.split(pairs, targets, groups))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        splits = [_among(counted, given.n_rows, split) for split in cv]
    else:
        raise ValueError(
            f"got cv={cv!r}; expected a splitter of pairity.model_selection, a number of folds, or a"
            " list of (train, test) row numbers."
        )
    if not splits:
        raise ValueError(f"got no folds from cv={cv!r}; expected at least one.")
    _check_splits(splits, pairs, trusted=trusted)
    return splits


def _default_splitter(n_folds: Any, given: GivenRows, stratify: bool) -> Any:
    """Folds of groups or unordered pairs; of rows where these are no pairs of objects at all."""
    pairs, n_rows = given.pairs, len(given.pairs)
    n_unordered = len(np.unique(ends_of(pairs, "auto").unordered()))
    if n_unordered >= 2 or given.groups is not None:
        n_folds = min(_FOLDS, n_unordered) if n_folds is None else int(n_folds)
        return PairKFold(n_folds, new=(0, 1, 2), stratify=stratify)
    if pairs.n_object_features:
        raise ValueError(
            f"got {n_rows} observations of one unordered pair; expected at least 2 different"
            " pairs, to hold one out: add pairs, or pass cv= with splits of your own."
        )
    n_folds = min(_FOLDS, n_rows) if n_folds is None else int(n_folds)
    if n_folds > n_rows:
        raise ValueError(f"got cv={n_folds} for {n_rows} rows; expected at most a fold per row.")
    rarest = int(np.unique(given.targets, return_counts=True)[1].min()) if stratify else 0
    folds = StratifiedKFold if rarest >= n_folds else KFold  # a row of each class for every fold
    return folds(n_folds, shuffle=True, random_state=0)


def _among(counted: Rows, n_rows: int, split: Any) -> Split:
    """Numbers among the rows that count, of the rows that a ready split names."""
    number = np.full(n_rows, -1, dtype=np.intp)
    number[counted] = np.arange(len(counted))
    try:
        train, test = (number[np.asarray(side)] for side in split)
    except (IndexError, TypeError, ValueError):
        raise ValueError(
            f"got a fold in cv that is no pair of row numbers below {n_rows}; expected (train, test),"
            " two arrays of row numbers or masks."
        ) from None
    return train[train >= 0], test[test >= 0]


def _check_splits(splits: list[Split], pairs: Pairs, *, trusted: bool) -> None:
    """Refuse rows on both sides, and say so when pairs are."""
    repeated = 0
    for number, (train, test) in enumerate(splits):
        shared = len(np.intersect1d(train, test))
        if shared:
            raise ValueError(
                f"got {shared} rows on both sides of fold {number}; expected none: decisions about"
                " training pairs are too good to calibrate on."
            )
        if not trusted:
            repeated += leakage_report(pairs, train, test).n_repeated
        if not len(train):
            raise ValueError(
                f"got fold {number} without training rows; expected some (of a weight above 0): check"
                " cv."
            )
    if not any(len(test) for _, test in splits):
        raise ValueError(
            "got folds that hold out no rows; expected some (of a weight above 0): check cv."
        )
    if repeated:
        warnings.warn(
            f"{repeated} held-out pairs were trained on in the other order or in another row, so"
            " that probabilities will be too sure; a splitter of pairity.model_selection keeps all"
            " observations of a pair together: cv=PairKFold(5).",
            CalibrationWarning,
            stacklevel=levels_to_the_caller(),
        )


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
