"""Outcomes and the probabilities that were given for them, read and checked in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairity.validation import (
    distinct_labels,
    plain_numbers,
    refuse_extreme_weights,
    refuse_lossy,
)

__all__ = ["Forecasts", "read_forecasts", "read_row_weights"]

Vector = NDArray[np.float64]

#: Labels that are understood without being named, for two and for three outcomes.
_USUAL = {2: ((0, 1), (-1, 1)), 3: ((-1, 0, 1), (0, 1, 2))}
#: Rows may miss the sum 1 by this much.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Probabilities, one column an outcome, and the column of the outcome that happened."""

    probabilities: NDArray[np.float64]  # (n, r)
    happened: NDArray[np.intp]  # (n,)
    weights: Vector  # (n,), they add up to 1

    def __len__(self) -> int:
        return len(self.happened)

    def of_what_happened(self) -> Vector:
        """Probability of each row's own outcome, shape (n,)."""
        return self.probabilities[np.arange(len(self)), self.happened]

    def indicators(self) -> Vector:
        """1 in the column of what happened, 0 elsewhere, shape (n, r)."""
        return np.eye(self.probabilities.shape[1])[self.happened]

    def summarise(self, values: Vector, average: bool) -> Any:
        """Weighted mean of row values, or the values themselves."""
        return float(self.weights @ values) if average else values


def read_forecasts(
    y: ArrayLike, probabilities: ArrayLike, classes: ArrayLike | None, sample_weight: Any
) -> Forecasts:
    """Check probabilities (columns, or those of the last class alone) and place the outcomes."""
    table = _read_table(probabilities)
    refuse_lossy(y, "y")
    labels = np.asarray(y)
    if labels.shape != (len(table),):
        raise ValueError(
            f"got y of shape {labels.shape} for {len(table)} rows of probabilities; expected one"
            " outcome per row."
        )
    if not len(table):
        raise ValueError("got 0 rows; expected at least one outcome with its probabilities.")
    names = _read_classes(labels, table.shape[1], classes)
    happened = np.full(len(labels), -1, dtype=np.intp)
    for column, name in enumerate(names):
        happened[labels == name] = column
    if (happened < 0).any():
        row = int(np.argmax(happened < 0))
        raise ValueError(
            f"got outcome {labels[row]!r} in row {row}; expected one of {names.tolist()}: pass the"
            " names of the columns as classes=model.classes_."
        )
    weights = read_row_weights(sample_weight, len(table))
    return Forecasts(table, happened, weights / weights.sum())


def _read_table(probabilities: ArrayLike) -> Vector:
    refuse_lossy(probabilities, "probabilities")
    try:
        table = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "got probabilities that are not numbers; expected what predict_proba gives."
        ) from None
    if table.ndim == 1:
        table = np.column_stack([1.0 - table, table])
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"got probabilities of shape {table.shape}; expected one column for each outcome, or a"
            " 1-D array with the probability of the last of two."
        )
    if not ((table >= 0.0) & (table <= 1.0)).all():  # NaN fails too
        raise ValueError(
            "got probabilities outside 0 to 1 (or NaN); expected what predict_proba gives, not"
            " decisions or log-odds."
        )
    off = np.abs(table.sum(axis=1) - 1.0)
    if len(table) and off.max() > _SUM_TOLERANCE:
        raise ValueError(
            f"got row {int(np.argmax(off))} whose probabilities miss the sum 1 by {off.max():.2g};"
            " expected rows that add up to 1: divide them by their sum."
        )
    return table


def _read_classes(labels: NDArray[Any], n_columns: int, classes: ArrayLike | None) -> Any:
    """Names of the columns: as given, the labels in their order, or the usual numbers."""
    if classes is not None:
        names = np.asarray(classes)
        if names.shape != (n_columns,) or len(set(names.tolist())) != n_columns:
            raise ValueError(
                f"got classes {names.tolist()} for {n_columns} columns of probabilities; expected"
                " one name for each column, no two the same."
            )
        return names
    present = distinct_labels(labels, "y")
    if len(present) == n_columns:
        return present
    if labels.dtype.kind in "biuf":
        for usual in _USUAL.get(n_columns, ()):
            if np.isin(present, usual).all():
                return np.array(usual)
    raise ValueError(
        f"got outcomes {present[:5].tolist()} for {n_columns} columns of probabilities; expected as"
        " many different ones as columns: pass classes=model.classes_, the names of the columns."
    )


def read_row_weights(sample_weight: Any, n_rows: int) -> Vector:
    """One weight a row, 1 by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = plain_numbers(sample_weight, "sample_weight")
    if weights.shape != (n_rows,):
        raise ValueError(
            f"got sample_weight of shape {weights.shape} for {n_rows} rows; expected one per row."
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any() or not (weights > 0.0).any():
        raise ValueError(
            "got sample weights that are negative, not finite, or all 0; expected numbers from 0"
            " on, some above it."
        )
    refuse_extreme_weights(weights, "sample weights")
    return weights
