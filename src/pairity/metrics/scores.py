"""Proper scores of probabilities: lower is better, and honest probabilities score best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairity.metrics.forecasts import read_forecasts

__all__ = ["LEAST_PROBABILITY", "brier_score", "log_loss", "ranked_probability_score"]

#: Probabilities are raised to this before their logarithm is taken: 2^-52, as in scikit-learn.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


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
    >>> from pairity.metrics import brier_score
    >>> round(brier_score([1, -1, 1], [0.9, 0.2, 0.5]), 3)
    0.1
    """
    forecasts = read_forecasts(y, probabilities, classes, sample_weight)
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
    >>> from pairity.metrics import log_loss
    >>> round(log_loss(["lost", "won"], [[0.5, 0.5], [0.25, 0.75]]), 4)
    0.4904
    """
    forecasts = read_forecasts(y, probabilities, classes, sample_weight)
    values = -np.log(np.maximum(forecasts.of_what_happened(), LEAST_PROBABILITY))
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
    >>> from pairity.metrics import ranked_probability_score
    >>> ranked_probability_score([1, 0, -1], [[0.0, 0.0, 1.0]] * 3, average=False)
    array([0. , 0.5, 1. ])
    """
    forecasts = read_forecasts(y, probabilities, classes, sample_weight)
    miss = np.cumsum(forecasts.probabilities - forecasts.indicators(), axis=1)[:, :-1]
    return forecasts.summarise((miss**2).sum(axis=1) / miss.shape[1], average)
