"""Probabilities of two outcomes that add up to 1 exactly, and mirror exactly under a swap.

The smaller of the two is computed, ``q = expit(-|f|) <= 1/2``, and the larger one is ``1 - q``:
``q + (1 - q) == 1.0`` in floating point, because the rounding error of ``1 - q`` is at most half a
unit in the last place below 1.  Decisions f and -f give the same two numbers, exchanged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["two_probabilities"]


def two_probabilities(decisions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns: probability of the negative and of the positive label, shape (n, 2)."""
    smaller = expit(-np.abs(decisions))
    larger = 1.0 - smaller
    positive = decisions > 0
    return np.column_stack(
        [np.where(positive, smaller, larger), np.where(positive, larger, smaller)]
    )
