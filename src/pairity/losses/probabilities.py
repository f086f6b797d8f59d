"""Probabilities of two or three outcomes that add up to 1 exactly, and mirror under a swap.

Two outcomes.  The smaller probability is computed, ``q = expit(-|f|) <= 1/2``, and the larger one
is ``1 - q``: ``q + (1 - q) == 1.0`` in floating point, because the rounding error of ``1 - q`` is
at most half a unit in the last place below 1.  Decisions f and -f give the same two numbers,
exchanged.

Three outcomes (loss, draw, win of the first object) of an ordered logit with a score s that
changes sign under a swap and a threshold t >= 0:

    P(win) = expit(s - t),   P(loss) = expit(-s - t),   P(draw) = 1 - P(win) - P(loss).

All are computed from ``|s|``; the sign of s only says which of the two decided outcomes is which,
so s and -s give the same three numbers, mirrored.  Multiples of 2^-53 up to 1 are exact in
floating point, and so are their sums up to 1.  Two of the three are rounded to such multiples and
the largest is what they leave, so that the sum is exactly 1.0 in every order of summation.  (What
is below 2^-54, too small to be told from 0 beside a 1, is kept as it is: a sum that is off by so
little rounds to 1.0, in every order.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Vector = NDArray[np.float64]

#: Probabilities of three outcomes are multiples of this, and kept as they are below half of it.
_GRID = 2.0**-53


def two_probabilities(decisions: Vector) -> Vector:
    """Columns: probability of the negative and of the positive label, shape (n, 2)."""
    smaller = expit(-np.abs(decisions))
    return _in_order(decisions, smaller, 1.0 - smaller)


def moderated(decisions: Vector, variance: Vector) -> Vector:
    """Log-odds of the mean probability of unsure decisions: ``f / sqrt(1 + pi v / 8)``.

    MacKay, "The evidence framework applied to classification networks", Neural Computation 4, 1992.
    """
    return np.asarray(decisions / np.sqrt(1.0 + np.pi * variance / 8.0))


def two_log_probabilities(decisions: Vector) -> Vector:
    """Logarithms of the two probabilities, to full relative accuracy, shape (n, 2)."""
    size = np.abs(decisions)
    smaller, larger = -np.logaddexp(0.0, size), -np.logaddexp(0.0, -size)
    return _in_order(decisions, smaller, larger)


def _in_order(decisions: Vector, smaller: Vector, larger: Vector) -> Vector:
    """Columns of the negative and of the positive label, from what was found for ``|f|``."""
    positive, larger = decisions > 0.0, np.where(decisions == 0.0, smaller, larger)
    negative_label, positive_label = np.where(positive, (smaller, larger), (larger, smaller))
    return np.column_stack([negative_label, positive_label])


def three_probabilities(scores: Vector, threshold: float) -> Vector:
    """Columns: probability of loss, draw and win, shape (n, 3), for a threshold of at least 0."""
    size = np.abs(scores)
    against = expit(-size - threshold)  # the favourite loses: never the largest
    favoured = np.where(size > 0.0, np.maximum(expit(size - threshold), against), against)
    drawn = -np.expm1(-2.0 * threshold) * expit(threshold - size) * expit(threshold + size)
    small = _on_grid(against)
    # the largest is the rest; but where rounding would favour the wrong side, or there is no
    # favourite at all, the draw is
    draw_is_rest = drawn >= favoured
    draw_is_rest |= (size == 0.0) | (1.0 - (small + _on_grid(drawn)) < small)
    rest = 1.0 - (small + _on_grid(np.where(draw_is_rest, favoured, drawn)))
    favoured = np.where(draw_is_rest, _kept(favoured), rest)
    drawn = np.where(draw_is_rest, rest, _kept(drawn))
    loss, win = _in_order(scores, _kept(against), favoured).T
    return np.column_stack([loss, drawn, win])


def _on_grid(values: Vector) -> Vector:
    """The nearest multiples of the grid."""
    return np.rint(values / _GRID) * _GRID


def _kept(values: Vector) -> Vector:
    """The same, where that is not 0; what is nearer to 0 stays as it is."""
    return np.where(values < 0.5 * _GRID, values, _on_grid(values))


def three_log_probabilities(scores: Vector, threshold: float) -> Vector:
    """Logarithms of the three probabilities, to full relative accuracy, shape (n, 3).

    With ``P(draw) = (1 - exp(-2 t)) expit(t - s) expit(t + s)``, which is free of cancellation.
    """
    size = np.abs(scores)
    against, favoured = -np.logaddexp(0.0, size + threshold), -np.logaddexp(0.0, threshold - size)
    below, above = np.logaddexp(0.0, size - threshold), np.logaddexp(0.0, -size - threshold)
    with np.errstate(divide="ignore"):  # no draws at all with a threshold of 0
        drawn = np.log(-np.expm1(-2.0 * threshold)) - (below + above)
    loss, win = _in_order(scores, against, favoured).T
    return np.column_stack([loss, drawn, win])
