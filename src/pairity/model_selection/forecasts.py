"""Forecasts and what happened, over time: each period foretold from all pairs before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from pairity.model_selection.metrics import brier_score, log_loss, ranked_probability_score
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.validation import as_times, check_strength

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
        # 1 where the likeliest outcome happened; shared by those that are equally likely
        likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
        happened = y[:, np.newaxis] == self.classes
        credit = (likeliest & happened).sum(axis=1) / likeliest.sum(axis=1)
        accuracy = float(np.mean(credit))
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


@dataclass(frozen=True, eq=False)
class WalkForward(DatedForecasts):
    """Forecasts of pairs in the order of time, and what happened.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Which pairs were foretold.
    model : estimator
        As it was for the last period.
    times, probabilities, y, classes, periods
        As in :class:`~pairity.model_selection.DatedForecasts`.
    """

    rows: Places
    model: Any


def walk_forward(
    model: Any,
    pairs: Pairs,
    y: ArrayLike,
    *,
    start: Any,
    every: float | None = None,
    callback: Callable[[int, Any], object] | None = None,
) -> WalkForward:
    """Foretell each period from all pairs before it, and learn it before the next one.

    The model is fitted to the pairs before ``start``, then updated with each period that has become
    the past, if it has ``update``, or fitted again; the model that is passed is left alone.  Its
    ``predict_averaged_proba`` is asked where it has one, else ``predict_proba``.

    Parameters
    ----------
    model : classifier
        With ``predict_proba``; hyperparameters are yours to choose, on pairs before ``start``.
    pairs : Pairs
        With times.
    y : array-like of shape (n,)
        Labels.
    start : float or date
        First time that is foretold.
    every : float, optional
        Length of a period in the unit of the times; each distinct time by itself by default.
    callback : callable, optional
        Called with the number of each period and the model that foretells it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.kernels import Drift, Identity
    >>> from pairity.model_selection import walk_forward
    >>> games = Pairs(np.eye(3), [0, 1, 0, 0, 1, 0], [1, 2, 2, 1, 2, 2], time=range(6))
    >>> model = PairLogistic("antisymmetric", kernel=Identity() * Drift(5.0))
    >>> walk_forward(model, games, [1, 1, 1, 1, 1, 1], start=3).scores()["accuracy"]
    1.0
    """
    labels = np.asarray(y)
    if len(labels) != len(pairs):
        raise ValueError(f"got {len(labels)} labels for {len(pairs)} pairs; expected one per pair.")
    if every is not None:
        check_strength(every, "every")
    begin = float(as_times([start], "start", 1)[0])
    times = pairs.clock[:, 0]
    past = np.flatnonzero(times < begin)
    if not len(past) or len(past) == len(pairs):
        raise ValueError(
            f"got start={start!r} with {len(past)} of {len(pairs)} pairs before it; expected some before"
            " it, to learn from, and some after it."
        )
    current = clone(model).fit(pairs[past], labels[past])
    found: list[tuple[Places, Vector]] = []
    for number, rows in enumerate(_periods(times, begin, every)):
        if number:
            last = found[-1][0]
            past = np.concatenate([past, last])
            if hasattr(current, "update"):
                current = current.update(pairs[last], labels[last])
            else:
                current = clone(model).fit(pairs[past], labels[past])
        if callback is not None:
            callback(number, current)
        averaged = hasattr(current, "predict_averaged_proba")
        ask = current.predict_averaged_proba if averaged else current.predict_proba
        found.append((rows, np.asarray(ask(pairs[rows]))))
    rows = np.concatenate([rows for rows, _ in found])
    periods = np.repeat(np.arange(len(found)), [len(rows) for rows, _ in found])
    table = np.concatenate([table for _, table in found])
    what = times[rows], table, labels[rows], current.classes_, periods
    return WalkForward(*what, rows, current)


def _periods(times: Vector, begin: float, every: float | None) -> list[Places]:
    """Rows of each period, in the order of time."""
    later = np.flatnonzero(times >= begin)
    later = later[np.argsort(times[later], kind="stable")]
    places = times[later] if every is None else np.floor((times[later] - begin) / every)
    return np.split(later, np.flatnonzero(np.diff(places)) + 1)
