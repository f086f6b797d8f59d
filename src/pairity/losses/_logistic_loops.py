"""Logistic losses of all rows in one pass: what a certificate adds up, and its worst row.

Exponentials are those of the C library, not those that solvers take.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from pairity.runtime.resources import njit

_TINY = np.finfo(np.float64).tiny


@njit(cache=True, nogil=True, inline="always")
def _share(target, weight, theta):
    """``u = y theta / c`` in [0, 1], or NaN."""
    share = target * theta / weight
    if share < 0.0:
        return 0.0
    return 1.0 if share > 1.0 else share


# Weights are above 0 where anything is divided by them.
@njit(cache=True, nogil=True, error_model="numpy")
def sum_logistic(targets, weights, theta, decisions):
    """Sums of losses, of those of the decision 0, and of dual terms."""
    loss, weight, dual = 0.0, 0.0, 0.0
    for i in range(len(targets)):
        if weights[i] > 0.0:
            margin, u = targets[i] * decisions[i], _share(targets[i], weights[i], theta[i])
            rest = 1.0 - u
            entropy = u * math.log(max(u, _TINY)) + rest * math.log(max(rest, _TINY))
            loss += weights[i] * (math.log1p(math.exp(-abs(margin))) - min(margin, 0.0))
            weight += weights[i]
            dual += weights[i] * entropy
    return loss, math.log(2.0) * weight, dual


@njit(cache=True, nogil=True, error_model="numpy")
def worst_share(targets, weights, theta, decisions):
    """Largest difference of ``u_i`` and the probability of the other label; NaN if there is one."""
    worst = 0.0
    for i in range(len(targets)):
        if weights[i] > 0.0:
            margin = targets[i] * decisions[i]
            small = math.exp(-abs(margin))
            other = (small if margin > 0.0 else 1.0) / (1.0 + small)
            difference = abs(other - _share(targets[i], weights[i], theta[i]))
            if not difference <= worst:
                worst = difference
                if worst != worst:
                    break
    return worst
