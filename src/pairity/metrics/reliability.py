"""Reliability: of the games called 70 %, are 70 % won?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from pairity.metrics.forecasts import read_forecasts, read_row_weights
from pairity.validation import check_choice, check_count

__all__ = ["ReliabilityCurve", "reliability_curve", "wilson_interval"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Bins of predicted probability that hold at least one row, lowest first.

    Attributes
    ----------
    low, high : ndarray
        Bounds of each bin.
    count : ndarray of int
        Rows in it.
    weight : ndarray
        Their share of the total weight.
    predicted : ndarray
        Mean predicted probability.
    observed : ndarray
        Observed frequency.
    lower, upper : ndarray
        Wilson interval of the observed frequency.
    confidence : float
        Its level.
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
        lines = [f"predicted  observed  {self.confidence:.0%} interval   rows"]
        for row in range(len(self)):
            lines.append(
                f"{self.predicted[row]:9.3f}  {self.observed[row]:8.3f}"
                f"  {self.lower[row]:.3f} to {self.upper[row]:.3f}  {self.count[row]:5d}"
            )
        return "\n".join(lines)


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
        As in :func:`~pairity.metrics.brier_score`.
    confidence : float
        Level of the Wilson intervals.  With weights they are those of the effective number of
        rows, ``(sum w)^2 / sum w^2``.

    Examples
    --------
    >>> from pairity.metrics import reliability_curve
    >>> print(reliability_curve([0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9], n_bins=2))
    predicted  observed  95% interval   rows
        0.200     0.333  0.061 to 0.792      3
        0.850     1.000  0.342 to 1.000      2
    """
    check_count(n_bins, "n_bins")
    check_choice(strategy, "strategy", ("uniform", "quantile"))
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"got confidence={confidence!r}; expected a number between 0 and 1.")
    forecasts = read_forecasts(y, probabilities, classes, sample_weight)
    if forecasts.probabilities.shape[1] != 2:
        raise ValueError(
            f"got {forecasts.probabilities.shape[1]} columns of probabilities; expected two"
            " outcomes: ask for one at a time, reliability_curve(y == 0, probabilities[:, 1])."
        )
    chances = forecasts.probabilities[:, 1]
    edges = _edges(chances, n_bins, strategy)
    place = np.searchsorted(edges[1:-1], chances)
    weights = read_row_weights(sample_weight, len(chances))
    total, squares, predicted, observed = (
        np.bincount(place, values, minlength=n_bins)
        for values in (weights, weights**2, weights * chances, weights * forecasts.happened)
    )
    kept = total > 0.0
    total, squares = total[kept], squares[kept]
    frequency = observed[kept] / total
    lower, upper = wilson_interval(frequency, total**2 / squares, confidence)
    return ReliabilityCurve(
        low=edges[:-1][kept],
        high=edges[1:][kept],
        count=np.bincount(place, weights > 0.0, minlength=n_bins).astype(np.intp)[kept],
        weight=total / total.sum(),
        predicted=predicted[kept] / total,
        observed=frequency,
        lower=lower,
        upper=upper,
        confidence=float(confidence),
    )


def _edges(chances: Vector, n_bins: int, strategy: str) -> Vector:
    steps = np.linspace(0.0, 1.0, n_bins + 1)
    return steps if strategy == "uniform" else np.percentile(chances, 100.0 * steps)


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
    return np.minimum(np.maximum(lower, 0.0), frequency), np.maximum(
        np.minimum(upper, 1.0), frequency
    )
