"""Values of C or alpha to try."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.validation import check_strength

__all__ = ["read_strengths"]


def read_strengths(values: Any, name: str) -> NDArray[np.float64]:
    """Numbers above 0 as given, or so many from 0.001 to 1000."""
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        if values < 1:
            raise ValueError(f"got {name}={values}; expected at least 1 value, or a list of them.")
        return np.logspace(-3.0, 3.0, int(values)) if values > 1 else np.ones(1)
    found = np.asarray(values)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"got {name}={values!r}; expected a number of values, or a list of them.")
    for value in found.tolist():
        check_strength(value, name)
    return found.astype(np.float64)
