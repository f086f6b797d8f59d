"""Forecasts that never see the future: each period is foretold from all pairs before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from pairity.model_selection.dated_forecasts import DatedForecasts
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.validation import as_times, check_strength


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
            current = _learned(current, model, pairs, labels, past, found[-1][0])
            past = np.concatenate([past, found[-1][0]])
        if callback is not None:
            callback(number, current)
        found.append((rows, _asked(current, pairs[rows])))
    rows = np.concatenate([rows for rows, _ in found])
    periods = np.repeat(np.arange(len(found)), [len(rows) for rows, _ in found])
    table = np.concatenate([table for _, table in found])
    what = times[rows], table, labels[rows], current.classes_, periods
    return WalkForward(*what, rows, current)


def _periods(times: Vector, begin: float, every: float | None) -> Iterator[Places]:
    """Rows of each period, in the order of time."""
    later = np.flatnonzero(times >= begin)
    later = later[np.argsort(times[later], kind="stable")]
    places = times[later] if every is None else np.floor((times[later] - begin) / every)
    cuts = np.flatnonzero(np.diff(places)) + 1
    yield from np.split(later, cuts)


def _learned(
    current: Any, model: Any, pairs: Pairs, labels: NDArray[Any], past: Places, rows: Places
) -> Any:
    """The model after one more period."""
    if hasattr(current, "update"):
        return current.update(pairs[rows], labels[rows])
    known = np.concatenate([past, rows])
    return clone(model).fit(pairs[known], labels[known])


def _asked(model: Any, pairs: Pairs) -> Vector:
    name = "predict_averaged_proba" if hasattr(model, "predict_averaged_proba") else "predict_proba"
    return np.asarray(getattr(model, name)(pairs))
