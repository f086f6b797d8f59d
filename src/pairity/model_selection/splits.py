"""Reading ``cv``: which rows train and which are held out, checked for pairs on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from pairity.exceptions import CalibrationWarning, warn_the_caller
from pairity.model_selection.leakage import leakage_report
from pairity.model_selection.splitter import PairKFold, PairSplitter
from pairity.pairs.arrays import distinct_rows
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

_FOLDS = 5
#: Splitters that deal out rows as if each were alone: not by group, time, person or site.
_BY_ROWS = (
    KFold,
    StratifiedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
)
#: Share of held-out rows with a mirror image among the training rows from which on rows are doubled:
#: five folds of such rows have four fifths.
_DOUBLED = 0.7


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
    _check_splits(splits)
    if not trusted and (isinstance(cv, _BY_ROWS) or _mirrored_share(splits, pairs) > _DOUBLED):
        repeated = sum(leakage_report(pairs, train, test).n_repeated for train, test in splits)
        if repeated:
            warn_the_caller(
                f"{repeated} held-out pairs were trained on in the other order or in another row, so"
                " that probabilities will be too sure; a splitter of pairity.model_selection keeps all"
                " observations of a pair together: cv=PairKFold(5).",
                CalibrationWarning,
            )
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


def _check_splits(splits: list[Split]) -> None:
    """Refuse rows on both sides, and folds without rows."""
    for number, (train, test) in enumerate(splits):
        shared = len(np.intersect1d(train, test))
        if shared:
            raise ValueError(
                f"got {shared} rows on both sides of fold {number}; expected none: decisions about"
                " training pairs are too good to calibrate on."
            )
        if not len(train):
            raise ValueError(
                f"got fold {number} without training rows; expected some (of a weight above 0): check"
                " cv."
            )
    if not any(len(test) for _, test in splits):
        raise ValueError(
            "got folds that hold out no rows; expected some (of a weight above 0): check cv."
        )


def _mirrored_share(splits: list[Split], pairs: Pairs) -> float:
    """Share of the held-out rows whose mirror image was trained on: most of them, if doubled."""
    keys = distinct_rows(np.vstack([_row_keys(pairs), _row_keys(pairs.swap())])).inverse
    plain, mirrored = np.split(keys, 2)
    found = [np.isin(mirrored[test], plain[train]) for train, test in splits]
    return float(np.mean(np.concatenate(found)))


def _row_keys(pairs: Pairs) -> NDArray[np.float64]:
    ends = ends_of(pairs)
    group = [pairs.symmetric, pairs.antisymmetric + 0.0]
    group += [] if pairs.time is None else [pairs.clock]
    return np.column_stack([ends.first, ends.second, *group]).astype(np.float64)
