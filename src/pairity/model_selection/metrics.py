"""How good probabilities are: proper scores, and whether they mean what they say.

Scores are better when lower, and honest probabilities score best; the reliability curve asks
whether of the games called 70 %, 70 % are won.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from pairity.runtime.validation import (
    check_choice,
    check_count,
    distinct_labels,
    plain_numbers,
    refuse_extreme_weights,
    refuse_lossy,
)

Vector = NDArray[np.float64]

#: Labels that are understood without being named, for two and for three outcomes.
_USUAL = {2: ((0, 1), (-1, 1)), 3: ((-1, 0, 1), (0, 1, 2))}
#: Probabilities are raised to this before their logarithm is taken: 2^-52, as in scikit-learn.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
#: Rows may miss the sum 1 by this much.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Probabilities, one column an outcome, and the column of the outcome that happened."""

    probabilities: Vector  # (n, r)
    happened: NDArray[np.intp]  # (n,)
    weights: Vector  # (n,), they add up to 1

    def indicators(self) -> Vector:
        """1 in the column of what happened, 0 elsewhere, shape (n, r)."""
        return np.eye(self.probabilities.shape[1])[self.happened]

    def summarise(self, values: Vector, average: bool) -> Any:
        """Weighted mean of row values, or the values themselves."""
        return float(self.weights @ values) if average else values


def _read_forecasts(
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
    is_name = np.stack([labels == name for name in names], axis=1)  # (n, r)
    known = is_name.any(axis=1)
    if not known.all():
        row = int(np.argmin(known))
        raise ValueError(
            f"got outcome {labels[row]!r} in row {row}; expected one of {names.tolist()}: pass the"
            " names of the columns as classes=model.classes_."
        )
    weights = _read_row_weights(sample_weight, len(table))
    return Forecasts(table, is_name.argmax(axis=1), weights / weights.sum())


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


def _read_row_weights(sample_weight: Any, n_rows: int) -> Vector:
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


def brier_score(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: Any = None,
    average: bool = True,
) -> Any:
    """Mean squared error of probabilities.

    With ``o`` the indicator of what happened: ``(p - o)^2`` of the last class for two outcomes,
    from 0 to 1; for more, Brier's sum over all columns, from 0 to 2.  (scikit-learn's
    ``brier_score_loss`` makes the same distinction.)

    Parameters
    ----------
    y : array-like of shape (n,)
        Outcomes.
    probabilities : array-like of shape (n, r) or (n,)
        Columns in the order of ``classes``; or of two outcomes the probability of the last.
    classes : array-like of shape (r,), optional
        Names of the columns, as in ``model.classes_``.  By default the sorted values of ``y``;
        where some outcome is absent from ``y``, 0 and 1, -1 and 1, or -1, 0 and 1.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.
    average : bool
        Mean over rows, or one value a row.

    Examples
    --------
    >>> from pairity.model_selection import brier_score
    >>> round(brier_score([1, -1, 1], [0.9, 0.2, 0.5]), 3)
    0.1
    """
    forecasts = _read_forecasts(y, probabilities, classes, sample_weight)
    errors = (forecasts.probabilities - forecasts.indicators()) ** 2
    values = errors[:, 1] if errors.shape[1] == 2 else errors.sum(axis=1)
    return forecasts.summarise(values, average)


def log_loss(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: Any = None,
    average: bool = True,
) -> Any:
    """Mean of ``-log p`` of what happened, natural logarithm.

    Probabilities below 2^-52 (about 2.2e-16) count as that, as in scikit-learn's ``log_loss``: an
    outcome that was called impossible costs 36.04, not infinity.

    Parameters are those of :func:`brier_score`.

    Examples
    --------
    >>> from pairity.model_selection import log_loss
    >>> round(log_loss(["lost", "won"], [[0.5, 0.5], [0.25, 0.75]]), 4)
    0.4904
    """
    forecasts = _read_forecasts(y, probabilities, classes, sample_weight)
    own = forecasts.probabilities[np.arange(len(forecasts.happened)), forecasts.happened]
    values = -np.log(np.maximum(own, LEAST_PROBABILITY))
    return forecasts.summarise(values, average)


def ranked_probability_score(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: Any = None,
    average: bool = True,
) -> Any:
    """Squared error of cumulated probabilities, for outcomes that have an order.

    For r outcomes in the order of the columns (loss, draw, win), with P and O the cumulated
    probabilities and indicators (Epstein 1969, normalised as is usual):

        RPS = 1/(r - 1) sum over k < r of (P_k - O_k)^2,     from 0 to 1.

    A draw called a win costs less than a loss called a win.  For two outcomes it is the Brier
    score.  Parameters are those of :func:`brier_score`; ``classes`` must be in order.

    Examples
    --------
    >>> from pairity.model_selection import ranked_probability_score
    >>> ranked_probability_score([1, 0, -1], [[0.0, 0.0, 1.0]] * 3, average=False)
    array([0. , 0.5, 1. ])
    """
    forecasts = _read_forecasts(y, probabilities, classes, sample_weight)
    miss = np.cumsum(forecasts.probabilities - forecasts.indicators(), axis=1)[:, :-1]
    return forecasts.summarise((miss**2).sum(axis=1) / miss.shape[1], average)


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Bins of predicted probability that hold at least one row, lowest first.

    Attributes
    ----------
    low, high : ndarray
        Bounds of each bin.
    count, weight : ndarray
        Rows in it, and their share of the total weight.
    predicted, observed : ndarray
        Mean predicted probability, and observed frequency.
    lower, upper : ndarray
        Wilson interval of the observed frequency, at the level ``confidence``.
    """

    low: Vector
    high: Vector
    count: NDArray[np.intp]
    weight: Vector
    predicted: Vector
    observed: Vector
    lower: Vector
    upper: Vector
    confidence: float

    def __len__(self) -> int:
        return len(self.count)

    @property
    def calibration_error(self) -> float:
        """Mean of ``|observed - predicted|`` over rows (expected calibration error)."""
        return float(self.weight @ np.abs(self.observed - self.predicted))

    def __str__(self) -> str:
        columns = (self.predicted, self.observed, self.lower, self.upper, self.count)
        lines = [
            f"{predicted:9.3f}  {observed:8.3f}  {lower:.3f} to {upper:.3f}  {count:5d}"
            for predicted, observed, lower, upper, count in zip(*columns, strict=True)
        ]
        return "\n".join([f"predicted  observed  {self.confidence:.0%} interval   rows", *lines])


def reliability_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "uniform",
    classes: ArrayLike | None = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
) -> ReliabilityCurve:
    """Observed frequencies of the last of two outcomes beside its predicted probabilities.

    A row is in bin k when its probability is above the bin's lower bound and at most its upper
    bound (0 itself is in the first bin), as in scikit-learn's ``calibration_curve``.  For draws,
    ask for one outcome at a time: ``reliability_curve(y == 0, probabilities[:, 1])``.

    Parameters
    ----------
    y : array-like of shape (n,)
        Outcomes of two kinds.
    probabilities : array-like of shape (n, 2) or (n,)
        As ``predict_proba`` gives them, or the probability of the last class alone.
    n_bins : int
        Number of bins; those without rows are left out.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or with about equally many rows.
    classes, sample_weight
        As in :func:`~pairity.model_selection.brier_score`.
    confidence : float
        Level of the Wilson intervals.  With weights they are those of the effective number of
        rows, ``(sum w)^2 / sum w^2``.

    Examples
    --------
    >>> from pairity.model_selection import reliability_curve
    >>> print(reliability_curve([0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9], n_bins=2))
    predicted  observed  95% interval   rows
        0.200     0.333  0.061 to 0.792      3
        0.850     1.000  0.342 to 1.000      2
    """
    check_count(n_bins, "n_bins")
    check_choice(strategy, "strategy", ("uniform", "quantile"))
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"got confidence={confidence!r}; expected a number between 0 and 1.")
    forecasts = _read_forecasts(y, probabilities, classes, sample_weight)
    if forecasts.probabilities.shape[1] != 2:
        raise ValueError(
            f"got {forecasts.probabilities.shape[1]} columns of probabilities; expected two"
            " outcomes: ask for one at a time, reliability_curve(y == 0, probabilities[:, 1])."
        )
    chances = forecasts.probabilities[:, 1]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    edges = edges if strategy == "uniform" else np.percentile(chances, 100.0 * edges)
    bins = np.searchsorted(edges[1:-1], chances)
    weights = _read_row_weights(sample_weight, len(chances))
    total, squares, predicted, observed = (
        np.bincount(bins, values, minlength=n_bins)
        for values in (weights, weights**2, weights * chances, weights * forecasts.happened)
    )
    kept = total > 0.0
    total, squares = total[kept], squares[kept]
    frequency = observed[kept] / total
    lower, upper = wilson_interval(frequency, total**2 / squares, confidence)
    return ReliabilityCurve(
        low=edges[:-1][kept],
        high=edges[1:][kept],
        count=np.bincount(bins, weights > 0.0, minlength=n_bins).astype(np.intp)[kept],
        weight=total / total.sum(),
        predicted=predicted[kept] / total,
        observed=frequency,
        lower=lower,
        upper=upper,
        confidence=float(confidence),
    )


def wilson_interval(
    frequency: Vector, n_rows: Vector, confidence: float = 0.95
) -> tuple[Vector, Vector]:
    """Interval of a probability from an observed frequency (Wilson 1927).

    With z the normal quantile: ``(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)``.
    """
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    share = z * z / n_rows
    middle = frequency + 0.5 * share
    reach = np.sqrt(share * (frequency * (1.0 - frequency) + 0.25 * share))
    lower, upper = (middle - reach) / (1.0 + share), (middle + reach) / (1.0 + share)
    # rounding must not push the interval past a frequency of 0 or 1
    return np.clip(lower, 0.0, frequency), np.clip(upper, frequency, 1.0)
