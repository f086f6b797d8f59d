"""What ``fit`` and ``predict`` are given, turned into training data and pairs, or refused."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from pairity.exceptions import DoubledRowsWarning, PairityWarning, levels_to_the_caller
from pairity.pairs.arrays import as_dense, distinct_rows
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.runtime.validation import (
    check_count,
    check_not_negative,
    plain_numbers,
    refuse_extreme_weights,
    refuse_lossy,
)
from pairity.training.labels import (
    BinaryLabels,
    one_per_pair,
    read_labels,
    read_targets,
)
from pairity.training.surroundings import warn_of_halves, warn_of_surroundings

Vector = NDArray[np.float64]
#: What reading leaves on an estimator.
_LEARNT = ("n_features_in_", "feature_widths_", "feature_names_in_", "classes_")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training rows that count, each one observation of an unordered pair: the set J."""

    pairs: Pairs  # of distinct objects
    targets: Vector  # numbers, or signs of labels: 0 without a label
    weights: Vector
    parity: Parity | None
    rows: NDArray[np.intp]  # which of the rows given: those of weight 0 are left out
    n_rows: int  # number of rows given
    classes: NDArray[Any] | None = None  # of a classifier
    unlabelled: NDArray[np.bool_] | None = None  # of one that takes rows without a label

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, eq=False)
class Observations:
    """What a model was fitted to, kept for what is said about its fit later: the rows of J, in order.

    ``weights`` are sample weights, class weights included; ``strength`` is C, or ``1 / alpha``.
    """

    pairs: Pairs
    targets: Vector  # numbers, or signs of labels
    weights: Vector
    strength: float
    rows: NDArray[np.intp]  # which of the rows given
    n_rows: int  # number of rows given

    def __len__(self) -> int:
        return len(self.pairs)


def read(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> TrainingData:
    """Training data of an estimator: pairs or wide rows, labels or numbers, weights.

    The estimator says by its parameters how they are to be read: ``symmetry``, ``n_symmetric``,
    ``n_antisymmetric``, ``decay``, and of a classifier ``positive``, ``class_weight`` and
    ``unlabelled``, where it has them.  It remembers the columns and, of a classifier, ``classes_``.
    """
    parity = SYMMETRIES[estimator.symmetry]
    pairs = read_pairs(estimator, X, reset=True)
    weights = read_weights(sample_weight, len(pairs))
    if getattr(estimator, "decay", None) is not None:
        weights = weights * half_life_weights(pairs.clock[:, 0], estimator.decay)
    if is_classifier(estimator):
        return _read_labelled(estimator, pairs, y, weights, parity)
    targets = read_targets(y, len(pairs))
    if parity is Parity.ODD:
        _refuse_nonzero_at_self_pairs(pairs, targets)
    return _counted(pairs.compact(), targets, weights, parity)


def _read_labelled(
    estimator: Any, pairs: Pairs, y: Any, weights: Vector, parity: Parity | None
) -> TrainingData:
    unlabelled = None
    if hasattr(estimator, "unlabelled"):
        values = one_per_pair(y, len(pairs), "label")
        unlabelled = _read_unlabelled(values, estimator.unlabelled)
        y = values[~unlabelled]
    known: Any = slice(None) if unlabelled is None else ~unlabelled
    labels = read_labels(y, len(weights[known]), parity, estimator.positive)
    if unlabelled is not None and estimator.unlabelled == 0 and set(y.tolist()) == {1}:
        warnings.warn(
            f"got the labels 0 ({int(unlabelled.sum())} rows) and 1; 0 is taken as 'no label' here:"
            " where it is the other label, write -1 for it, or set unlabelled= to another value.",
            PairityWarning,
            stacklevel=levels_to_the_caller(),
        )
    if estimator.class_weight is not None:
        weights[known] *= class_factors(estimator.class_weight, labels, parity)
    if not (weights[known] > 0).any():
        raise ValueError(
            f"got class_weight {estimator.class_weight!r} that leaves no row with a weight above 0;"
            " expected some above 0."
        )
    if parity is Parity.ODD:
        refuse_self_pairs(pairs)
    signs = labels.signs
    if unlabelled is not None:
        signs = np.zeros(len(pairs))
        signs[known] = labels.signs
    estimator.classes_ = labels.classes
    return _counted(pairs.compact(), signs, weights, parity, labels.classes, unlabelled)


def _counted(
    pairs: Pairs,
    targets: Vector,
    weights: Vector,
    parity: Parity | None,
    classes: NDArray[Any] | None = None,
    unlabelled: NDArray[np.bool_] | None = None,
) -> TrainingData:
    """Rows of weight above 0; all of them where an unlabelled row counts by where it lies."""
    if parity is not None:
        _warn_if_doubled(pairs, targets, parity)
    n_rows = len(pairs)
    rows = np.arange(n_rows) if unlabelled is not None else np.flatnonzero(weights > 0.0)
    if len(rows) < n_rows:
        pairs, targets, weights = pairs[rows], targets[rows], weights[rows]
    return TrainingData(pairs, targets, weights, parity, rows, n_rows, classes, unlabelled)


def hand_on(learnt_by: Any, estimator: Any) -> None:
    """What reading left on one estimator, for another one that is fitted to the same data."""
    for name in _LEARNT:
        if hasattr(learnt_by, name):
            setattr(estimator, name, getattr(learnt_by, name))


def read_pairs(estimator: Any, X: Any, *, reset: bool) -> Pairs:
    """Pairs as given, or from wide rows; widths are remembered on reset and checked otherwise."""
    if isinstance(X, Pairs):
        pairs = X
        if reset:
            estimator.n_features_in_ = pairs.shape[1]
    else:
        refuse_lossy(X, "rows")
        rows = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1
        )
        pairs = _from_rows(estimator, rows)
        if reset and getattr(estimator, "symmetry", "none") != "none":
            warn_of_halves(rows, pairs.n_object_features)
    warn_of_surroundings(estimator, pairs, fits=reset)
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    if reset:
        estimator.feature_widths_ = widths
    elif widths != estimator.feature_widths_:
        raise ValueError(
            f"got pairs with {widths} object, symmetric and antisymmetric features; expected"
            f" {estimator.feature_widths_}, as in fit: pass the same columns."
        )
    if reset and not len(pairs):
        raise ValueError("got 0 pairs; expected at least one to fit on.")
    if reset:
        pairs.refuse_large()
    return pairs


def _from_rows(estimator: Any, rows: Any) -> Pairs:
    n_symmetric, n_antisymmetric = estimator.n_symmetric, estimator.n_antisymmetric
    check_count(n_symmetric, "n_symmetric", 0)
    check_count(n_antisymmetric, "n_antisymmetric", 0)
    odd = (rows.shape[1] - n_symmetric - n_antisymmetric) % 2
    if getattr(estimator, "symmetry", None) == "none" and odd:
        # no two objects in there: all columns are features of the pair itself
        values = as_dense(rows)
        place = np.zeros(len(values), dtype=np.intp)
        return Pairs(np.zeros((1, 0)), place, place, symmetric=values)
    return Pairs.from_rows(rows, n_symmetric, n_antisymmetric)


def read_weights(sample_weight: Any, n_pairs: int) -> Vector:
    """One weight per row, 1 by default."""
    if sample_weight is None:
        return np.ones(n_pairs)
    weights = np.array(plain_numbers(sample_weight, "sample_weight"))
    if weights.ndim == 0:
        weights = np.full(n_pairs, float(weights))
    if weights.shape != (n_pairs,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_pairs},): one weight per row, an"
            " unordered pair."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("got negative or non-finite sample weights; expected finite, >= 0.")
    if not (weights > 0).any():
        raise ValueError("got sample weights that are all zero; expected some above 0.")
    refuse_extreme_weights(weights, "sample weights")
    return weights


def half_life_weights(times: Vector, half_life: float) -> Vector:
    """1 for the latest time, 1/2 for one half-life before it, and so on."""
    return np.exp2((times - times.max(initial=-np.inf)) / half_life)


def class_factors(class_weight: Any, labels: BinaryLabels, parity: Parity | None) -> Vector:
    """Factor on the weight of each row by its class; equal ones in the antisymmetric case."""
    if class_weight is None or (parity is Parity.ODD and class_weight == "balanced"):
        return np.ones(len(labels.signs))  # a full antisymmetric set is balanced by itself
    given = np.where(labels.signs > 0, labels.classes[1], labels.classes[0])
    _check_class_weight(class_weight, labels.classes)
    factors = compute_class_weight(class_weight, classes=labels.classes, y=given)
    if parity is Parity.ODD and factors[0] != factors[1]:
        raise ValueError(
            f"got class_weight {class_weight!r} for an antisymmetric model; expected equal weights:"
            " a pair and its swap are in opposite classes and must weigh the same (Lemma 1). Use"
            " sample_weight to weigh whole pairs."
        )
    return np.where(labels.signs > 0, factors[1], factors[0])


def _check_class_weight(class_weight: Any, classes: NDArray[Any]) -> None:
    """Refuse anything but "balanced" and a weight, 0 or more, for each class."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return
    if not isinstance(class_weight, dict) or not set(classes.tolist()) <= set(class_weight):
        raise ValueError(
            f"got class_weight={class_weight!r}; expected None, 'balanced', or a dict with a weight"
            f" for each of the classes {classes.tolist()}."
        )
    for label, weight in class_weight.items():
        check_not_negative(weight, f"class_weight[{label!r}]")
    refuse_extreme_weights(np.array([*class_weight.values()], dtype=np.float64), "class weights")


def _warn_if_doubled(pairs: Pairs, targets: Vector, parity: Parity) -> None:
    """Warn when every row stands beside its mirror image (of pairs over distinct objects)."""
    first, second = (np.bincount(end, None, pairs.n_objects) for end in (pairs.first, pairs.second))
    if not np.array_equal(first, second):  # an object would be first as often as it is second
        return
    table = _keys(pairs, targets)
    mirrored = _keys(pairs.swap(), parity.sign * targets)
    codes = distinct_rows(np.vstack([table, mirrored])).inverse
    plain, swapped = codes[: len(pairs)], codes[len(pairs) :]
    proper = plain != swapped
    if proper.any() and np.array_equal(np.sort(plain[proper]), np.sort(swapped[proper])):
        warnings.warn(
            f"the {len(pairs)} rows hold every pair together with its mirror image; each row counts"
            " as one observation of an unordered pair, so every observation is counted twice (as"
            " if C were doubled). Keep one of the two orders: keep = pairs.first < pairs.second;"
            " fit(pairs[keep], y[keep]); Pairs.from_rows(rows) gives the pairs of plain rows.",
            DoubledRowsWarning,
            stacklevel=levels_to_the_caller(),
        )


def _keys(pairs: Pairs, targets: Vector) -> Vector:
    times = [] if pairs.time is None else [pairs.time]
    return np.column_stack(
        [pairs.first, pairs.second, targets + 0.0, pairs.symmetric, pairs.antisymmetric, *times]
    ).astype(np.float64)


def refuse_self_pairs(pairs: Pairs) -> None:
    """Refuse pairs of an object with itself: an odd function is 0 there."""
    alone = pairs.first == pairs.second
    if alone.any():
        raise ValueError(
            f"got row {int(np.argmax(alone))} that pairs an object with itself"
            f" ({int(np.count_nonzero(alone))} such rows); expected two objects: an antisymmetric"
            " function is 0 there whatever the label, so drop these rows."
        )


def _refuse_nonzero_at_self_pairs(pairs: Pairs, targets: Vector) -> None:
    """An odd function is 0 at (a, a): a target of 0 says nothing, any other cannot be met."""
    wrong = (pairs.first == pairs.second) & (targets != 0.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"got target {targets[row]:g} in row {row}, which pairs an object with itself"
            f" ({int(np.count_nonzero(wrong))} such rows); expected 0 there, the only value of an"
            " antisymmetric function: correct or drop these rows."
        )


def _read_unlabelled(values: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    """Which rows have no label; some, but not all of them."""
    unlabelled = _is_unlabelled(values, marker)
    if not unlabelled.any():
        raise ValueError(
            f"got labels for all {len(values)} pairs, none of them {marker!r};"
            " expected some pairs without a label: use PairSVC, or set unlabelled= to the value"
            " that marks them."
        )
    if unlabelled.all():
        raise ValueError(
            f"got {len(values)} pairs and no label (all are {marker!r}); expected"
            " some labelled pairs to start from."
        )
    return unlabelled


def _is_unlabelled(values: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    if isinstance(marker, float) and np.isnan(marker):
        return np.array([isinstance(v, float) and np.isnan(v) for v in values.tolist()])
    # one by one: False is not 0, and text is not a number, in arrays of any type
    same = (
        isinstance(v, bool) == isinstance(marker, bool) and v == marker for v in values.tolist()
    )
    return np.fromiter(same, dtype=np.bool_, count=len(values))
