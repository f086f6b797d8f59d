"""``y`` as it is given: one value per pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from pairity.validation import refuse_lossy

__all__ = ["finite_per_pair", "one_per_pair"]


def one_per_pair(y: Any, n_pairs: int, noun: str) -> NDArray[Any]:
    """A column of as many values as there are pairs; ``noun`` is what one of them is called."""
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None: pass one {noun} per"
            " pair."
        )
    refuse_lossy(y, "y")
    values = column_or_1d(y, warn=True)
    if len(values) != n_pairs:
        raise ValueError(
            f"got {len(values)} {noun}s for {n_pairs} pairs; expected one per pair (inconsistent"
            " numbers of samples)."
        )
    return values


def finite_per_pair(y: Any, n_pairs: int, noun: str) -> NDArray[Any]:
    """The same, and no NaN or infinity among them."""
    values = one_per_pair(y, n_pairs, noun)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"got NaN or infinity in y; expected {noun}s: drop or fill those rows.")
    return values
