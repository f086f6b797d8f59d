"""Decisions about pairs by clones of an estimator that have not seen them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

from pairity.estimators.unwrap import innermost
from pairity.exceptions import CalibrationWarning
from pairity.model_selection.leakage import leakage_report
from pairity.model_selection.splitter import PairSplitter
from pairity.model_selection.splitters import PairKFold
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.pairs.same_objects import ends_of
from pairity.runtime.validation import check_choice
from pairity.training.read import read_pairs, read_weights

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]
Split = tuple[Rows, Rows]

_FOLDS = 5


def parity_of(estimator: Any) -> Parity | None:
    """What a swap does to the decisions of an estimator."""
    symmetry = innermost(estimator).symmetry
    check_choice(symmetry, "symmetry", tuple(SYMMETRIES))
    return SYMMETRIES[symmetry]


@dataclass(frozen=True, eq=False)
class Trainer:
    """An estimator with all that it may be trained on."""

    estimator: Any
    pairs: Pairs
    targets: NDArray[Any]
    weights: Vector | None

    def fit(self, rows: Rows, classes: NDArray[Any] | None = None) -> Any:
        """A clone fitted on these rows.

        To an antisymmetric classifier of two ``classes`` one label alone is shown in both orders:
        writing one pair the other way round, with the other label, changes nothing but shows the
        classifier how both labels are called.
        """
        pairs, targets = self.pairs[rows], self.targets[rows]
        if classes is not None and len(np.unique(targets)) == 1:
            pairs = pairs.with_swapped(np.arange(len(pairs)) == 0)
            targets = targets.copy()
            targets[0] = classes[0] if targets[0] == classes[1] else classes[1]
        model = clone(self.estimator)
        if self.weights is None:
            return model.fit(pairs, targets)
        return model.fit(pairs, targets, **{_weight_name(model): self.weights[rows]})


def _weight_name(model: Any) -> str:
    """What ``fit`` calls the weights of rows; a search hands them on."""
    is_search = hasattr(model, "estimator") and hasattr(model, "refit")
    if has_fit_parameter(model, "sample_weight") or is_search:
        return "sample_weight"
    if getattr(model, "steps", None):
        return f"{model.steps[-1][0]}__sample_weight"
    raise ValueError(
        f"got sample_weight for {type(model).__name__}, whose fit takes none; expected an estimator"
        " that can weigh rows: leave the weights out."
    )


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decisions, each by a model of a fold that trained without the pair.

    ``weights`` are shared: a pair that is held out k times has k decisions, each of which counts
    1/k of it.
    """

    rows: Rows  # (k,)
    decisions: Vector
    folds: Rows
    weights: Vector


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
    trusted = isinstance(cv, PairSplitter)
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
            stacklevel=5,
        )


def decide_held_out(
    splits: list[Split],
    trainer: Trainer,
    weights: Vector,
    fit: Callable[[Trainer, Rows], Any],
    decide: Callable[[Any, Pairs], Vector],
) -> HeldOut:
    """Fit on the training rows of each fold and decide about its held-out rows.

    ``fit`` returns ``None`` for a fold that cannot be trained on; its pairs are left out.
    """
    decided: dict[int, tuple[Rows, Vector]] = {}
    for number, (train, test) in enumerate(splits):
        model = fit(trainer, np.asarray(train))
        if model is not None:
            rows = np.arange(len(weights))[test]
            decided[number] = rows, decide(model, trainer.pairs[rows])
    skipped = [str(number) for number in range(len(splits)) if number not in decided]
    named = ", ".join(skipped)
    if len(skipped) == len(splits):
        raise ValueError(
            f"got one class only in the training pairs of every fold ({named}); expected both:"
            " use stratified folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    if skipped:
        warnings.warn(
            f"fold {named} of {len(splits)} trains on one class only, so that its held-out pairs"
            " are not calibrated on; stratified folds share out the rare class:"
            " cv=PairKFold(5, stratify=True).",
            CalibrationWarning,
            stacklevel=4,
        )
    held_out = [rows for rows, _ in decided.values()]
    every_row = np.concatenate(held_out)
    shares = np.concatenate(shared_weights(np.ones(len(weights)), held_out))
    return HeldOut(
        every_row,
        np.concatenate([decisions for _, decisions in decided.values()]),
        np.repeat(np.array(list(decided), dtype=np.intp), [len(rows) for rows in held_out]),
        weights[every_row] * shares,
    )


def shared_weights(weights: Vector, held_out: Sequence[Rows]) -> list[Vector]:
    """Weights of the held-out rows of each fold; one held out k times counts 1/k each time."""
    times = np.bincount(np.concatenate(held_out), minlength=len(weights))
    return [weights[rows] / times[rows] for rows in held_out]


class HeldOutCalibration(BaseEstimator):
    """Base of what wraps an estimator of pairs: clones on folds, the estimator on all pairs.

    The law and the widths of wide rows are those of the estimator.
    """

    estimator: Any
    cv: Any

    def _prototype(self) -> Any:
        """The estimator that is cloned and fitted."""
        raise NotImplementedError

    def _read_targets(self, y: Any, pairs: Pairs) -> tuple[NDArray[Any], Vector]:
        """Targets that the estimator is fitted to, and outcomes as numbers; keeps the classes."""
        raise NotImplementedError

    def _keep_curve(self, decisions: Vector, outcomes: Vector, weights: Vector) -> None:
        """Fit what makes probabilities of held-out decisions."""
        raise NotImplementedError

    def _fit_rows(self, trainer: Trainer, rows: Rows) -> Any:
        """A clone fitted on these rows; None where they cannot be trained on."""
        raise NotImplementedError

    def _decisions(self, model: Any, pairs: Pairs) -> Vector:
        """Decisions of a fitted clone."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        self._prototype()

    @property
    def symmetry(self) -> str:
        """That of the estimator."""
        return innermost(self._prototype()).symmetry

    @property
    def n_symmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_symmetric", 0)

    @property
    def n_antisymmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_antisymmetric", 0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the estimator, and the curve from its decisions to probabilities.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, or outcomes for the first object.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, to the estimator and to the curve.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together (travellers, sessions), or times for ``TimeSplit``.
        """
        self._check_parameters()
        pairs = read_pairs(self, X, reset=True)
        targets, outcomes = self._read_targets(y, pairs)
        held = self._hold_out(pairs, targets, sample_weight, groups)
        self._keep_curve(held.decisions, outcomes[self.calibration_rows_], held.weights)
        return self

    def _hold_out(self, pairs: Pairs, targets: NDArray[Any], weights: Any, groups: Any) -> HeldOut:
        """Decide about rows that count, by folds; keep the decisions and the fitted estimator."""
        every_weight = read_weights(weights, len(pairs))
        counted = np.flatnonzero(every_weight > 0.0)
        groups = None if groups is None else np.asarray(groups)
        given = GivenRows(pairs[counted], targets[counted], groups, counted, len(pairs))
        kept = every_weight[counted]
        known = None if weights is None else kept
        trainer = Trainer(self._prototype(), given.pairs, given.targets, known)
        splits = read_splits(self.cv, given, stratify=parity_of(self) is not Parity.ODD)
        held = decide_held_out(splits, trainer, kept, self._fit_rows, self._decisions)
        self.calibration_rows_, self.calibration_folds_ = counted[held.rows], held.folds
        self.calibration_decisions_ = held.decisions
        self.calibration_pairs_ = given.pairs[held.rows]
        self.estimator_ = self._fit_rows(trainer, np.arange(len(counted)))
        return held
