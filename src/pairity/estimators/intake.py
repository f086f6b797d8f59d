"""What `fit` and `predict` are given, turned into Pairs, signs and weights, or refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from pairity.distinct import distinct_rows
from pairity.estimators.labels import BinaryLabels
from pairity.exceptions import DoubledRowsWarning
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.validation import (
    as_dense,
    check_not_negative,
    plain_numbers,
    refuse_extreme_weights,
    refuse_lossy,
)

__all__ = [
    "class_factors",
    "read_pairs",
    "read_weights",
    "refuse_self_pairs",
    "warn_if_doubled",
]

Vector = NDArray[np.float64]


def read_pairs(estimator: Any, X: Any, *, reset: bool) -> Pairs:
    """Pairs as given, or from wide rows; widths are remembered on reset and checked otherwise."""
    refuse_lossy(X, "rows")
    if isinstance(X, Pairs):
        pairs = X
        if reset:
            estimator.n_features_in_ = pairs.shape[1]
    else:
        rows = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1
        )
        pairs = _from_rows(estimator, rows)
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
    odd = (rows.shape[1] - n_symmetric - n_antisymmetric) % 2
    if estimator.symmetry == "none" and odd:
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


def warn_if_doubled(pairs: Pairs, targets: Vector, parity: Parity) -> None:
    """Warn when every row stands beside its mirror image (of pairs over distinct objects)."""
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
            stacklevel=4,
        )


def _keys(pairs: Pairs, targets: Vector) -> Vector:
    return np.column_stack(
        [pairs.first, pairs.second, targets + 0.0, pairs.symmetric, pairs.antisymmetric]
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
