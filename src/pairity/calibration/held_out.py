"""Decisions about pairs by models that have not seen them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from pairity.exceptions import CalibrationWarning
from pairity.pairs import Pairs
from pairity.selection import PairKFold, leakage_report
from pairity.selection.identity import ends_of
from pairity.selection.splitter import PairSplitter

__all__ = ["GivenRows", "HeldOut", "decide_held_out", "read_splits", "shared_weights"]

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]
Split = tuple[Rows, Rows]

_FOLDS = 5


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decisions, each by a model of a fold that trained without the pair.

    ``shares`` add up to 1 for each row: a pair that is held out k times has k decisions, each of
    which counts 1/k.
    """

    rows: Rows  # (k,)
    decisions: Vector
    folds: Rows
    shares: Vector


@dataclass(frozen=True, eq=False)
class GivenRows:
    """All rows that were given, and which of them count (have a weight above 0)."""

    pairs: Pairs
    targets: NDArray[Any]
    groups: NDArray[Any] | None
    counted: Rows

    def __post_init__(self) -> None:
        if self.groups is not None and self.groups.shape != (len(self.pairs),):
            raise ValueError(
                f"got groups of shape {self.groups.shape} for {len(self.pairs)} pairs; expected one"
                " per pair."
            )


def read_splits(cv: Any, given: GivenRows, *, stratify: bool) -> list[Split]:
    """Training and held-out rows among those that count, without rows on both sides.

    ``cv`` is a splitter, a number of folds, ready splits of all rows, or ``None`` for five folds
    in which each unordered pair is held out once.
    """
    pairs, targets, counted = (
        given.pairs[given.counted],
        given.targets[given.counted],
        given.counted,
    )
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
        trusted = True
        grouped = given.groups is not None
        cv = _default_splitter(pairs, None if cv is None else int(cv), targets, stratify, grouped)
    if hasattr(cv, "split") and not isinstance(cv, str):
        groups = None if given.groups is None else given.groups[counted]
        splits = list(cv.split(pairs, targets, groups))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        splits = [_among(counted, len(given.pairs), split) for split in cv]
    else:
        raise ValueError(
            f"got cv={cv!r}; expected a splitter of pairity.selection, a number of folds, or a list"
            " of (train, test) row numbers."
        )
    if not splits:
        raise ValueError(f"got no folds from cv={cv!r}; expected at least one.")
    _check_splits(splits, pairs, trusted=trusted)
    return splits


def _default_splitter(
    pairs: Pairs, n_folds: int | None, targets: NDArray[Any], stratify: bool, grouped: bool
) -> Any:
    """Folds of groups or unordered pairs; of rows where these are no pairs of objects at all."""
    n_unordered = len(np.unique(ends_of(pairs, "auto").unordered()))
    if n_unordered == 1 and pairs.n_object_features == 0 and not grouped:
        return _row_splitter(len(pairs), n_folds, targets, stratify)
    if n_unordered < 2 and not grouped:
        raise ValueError(
            f"got {len(pairs)} observations of one unordered pair; expected at least 2 different"
            " pairs, to hold one out: add pairs, or pass cv= with splits of your own."
        )
    n_folds = min(_FOLDS, n_unordered) if n_folds is None else n_folds
    return PairKFold(n_folds, new=(0, 1, 2), stratify=stratify)


def _row_splitter(n_rows: int, n_folds: int | None, targets: NDArray[Any], stratify: bool) -> Any:
    """Folds of rows, stratified where each class has a row for every fold."""
    n_folds = min(_FOLDS, n_rows) if n_folds is None else n_folds
    if n_folds > n_rows:
        raise ValueError(f"got cv={n_folds} for {n_rows} rows; expected at most a fold per row.")
    rarest = int(np.unique(targets, return_counts=True)[1].min()) if stratify else 0
    folds = StratifiedKFold if rarest >= n_folds else KFold
    return folds(n_folds, shuffle=True, random_state=0)


def _among(counted: Rows, n_rows: int, split: Any) -> Split:
    """Numbers among the rows that count, of the rows that a ready split names."""
    place = np.full(n_rows, -1, dtype=np.intp)
    place[counted] = np.arange(len(counted))
    try:
        train, test = (place[np.asarray(side)] for side in split)
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
            " that probabilities will be too sure; a splitter of pairity.selection keeps all"
            " observations of a pair together: cv=PairKFold(5).",
            CalibrationWarning,
            stacklevel=5,
        )


def decide_held_out(
    splits: list[Split],
    pairs: Pairs,
    fit: Callable[[Rows], Any],
    decide: Callable[[Any, Pairs], Vector],
) -> HeldOut:
    """Fit on the training rows of each fold and decide about its held-out rows.

    ``fit`` returns ``None`` for a fold that cannot be trained on; its pairs are left out.
    """
    rows, decisions, folds, skipped = [], [], [], []
    for number, (train, test) in enumerate(splits):
        model = fit(np.asarray(train))
        if model is None:
            skipped.append(number)
            continue
        rows.append(np.arange(len(pairs))[test])
        decisions.append(np.asarray(decide(model, pairs[test]), dtype=np.float64))
        folds.append(np.full(len(rows[-1]), number, dtype=np.intp))
    if skipped:
        _report_skipped(skipped, len(splits))
    shares = shared_weights(np.ones(len(pairs)), rows)
    return HeldOut(
        np.concatenate(rows),
        np.concatenate(decisions),
        np.concatenate(folds),
        np.concatenate(shares),
    )


def shared_weights(weights: Vector, held_out: Sequence[Rows]) -> list[Vector]:
    """Weights of the held-out rows of each fold; one held out k times counts 1/k each time."""
    times = np.bincount(np.concatenate(held_out), minlength=len(weights))
    return [weights[rows] / times[rows] for rows in held_out]


def _report_skipped(skipped: list[int], n_folds: int) -> None:
    named = ", ".join(map(str, skipped))
    if len(skipped) == n_folds:
        raise ValueError(
            f"got one class only in the training pairs of every fold ({named}); expected both:"
            " use stratified folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    warnings.warn(
        f"fold {named} of {n_folds} trains on one class only, so that its held-out pairs are not"
        " calibrated on; stratified folds share out the rare class: cv=PairKFold(5, stratify=True).",
        CalibrationWarning,
        stacklevel=5,
    )
