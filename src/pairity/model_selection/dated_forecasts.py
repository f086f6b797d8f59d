"""Forecasts and what happened, over time: scores of all, and period by period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairity.model_selection.metrics import brier_score, log_loss, ranked_probability_score
from pairity.pairs.arrays import Matrix, Places, Vector

_SCORES = {
    "log_loss": log_loss,
    "brier_score": brier_score,
    "ranked_probability_score": ranked_probability_score,
}


@dataclass(frozen=True, eq=False)
class DatedForecasts:
    """Probabilities of outcomes, when, and what happened.

    Attributes
    ----------
    times : ndarray of float of shape (n,)
        When.
    probabilities : ndarray of float of shape (n, r)
        Columns in the order of ``classes``.
    y : ndarray of shape (n,)
        What happened.
    classes : ndarray of shape (r,)
        Outcomes, in order.
    periods : ndarray of int of shape (n,)
        The period of each, from 0.
    """

    times: Vector
    probabilities: Matrix
    y: NDArray[Any]
    classes: NDArray[Any]
    periods: Places

    def __len__(self) -> int:
        return len(self.times)

    def scores(self, rows: Any = slice(None)) -> dict[str, float]:
        """Log-loss, Brier score, ranked probability score, accuracy and overconfidence, of some or all.

        Overconfidence is the mean probability of the likeliest outcome less how often it happened: 0
        for calibrated forecasts, above 0 for those that promise too much.
        """
        y, probabilities = self.y[rows], self.probabilities[rows]
        found = {
            name: float(score(y, probabilities, classes=self.classes))
            for name, score in _SCORES.items()
        }
        accuracy = float(np.mean(_credit(y, probabilities, self.classes)))
        promised = float(probabilities.max(axis=1).mean())
        return {**found, "accuracy": accuracy, "overconfidence": promised - accuracy}

    def to_frame(self) -> Any:
        """Scores period by period, as a pandas table."""
        import pandas as pd

        rows = []
        for period in np.unique(self.periods):
            inside = np.flatnonzero(self.periods == period)
            about = {"period": period, "from": self.times[inside].min(), "pairs": len(inside)}
            rows.append({**about, **self.scores(inside)})
        return pd.DataFrame(rows)


def _credit(y: NDArray[Any], probabilities: Matrix, classes: NDArray[Any]) -> Vector:
    """1 where the likeliest outcome happened; shared by those that are equally likely."""
    likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
    happened = y[:, np.newaxis] == classes
    return np.asarray((likeliest & happened).sum(axis=1) / likeliest.sum(axis=1))


def probabilities_of_odds(odds: ArrayLike) -> Matrix:
    """Probabilities that decimal odds imply, one column per outcome: ``1 / odds`` scaled to a sum of 1.

    What the scaling takes away is the bookmaker's margin.

    Examples
    --------
    >>> from pairity.model_selection import probabilities_of_odds
    >>> probabilities_of_odds([[1.5, 4.0, 6.0]]).round(3)
    array([[0.615, 0.231, 0.154]])
    """
    table = np.atleast_2d(np.asarray(odds, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] < 2 or not (table > 1.0).all() or np.isinf(table).any():
        raise ValueError(
            f"got odds of shape {np.shape(odds)} or below or at 1; expected decimal odds above 1, one"
            " column for each outcome: 1.5 pays a half on top of the stake."
        )
    chances = 1.0 / table
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))
