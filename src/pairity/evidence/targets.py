"""Labels and targets as numbers, for questions about their behaviour under a swap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from pairity.validation import distinct_labels, refuse_large_targets, refuse_lossy

__all__ = ["Targets", "read_targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """Numbers for the rows: -1.0 and +1.0 for two labels, as they are for real targets.

    ``labels`` are the values that -1.0 and +1.0 stand for, one of them where all rows have the
    same; None for real targets.
    """

    values: NDArray[np.float64]
    labels: NDArray[Any] | None

    @property
    def are_labels(self) -> bool:
        """Whether the targets are labels."""
        return self.labels is not None

    @property
    def one_label(self) -> bool:
        """Whether all rows have the same label."""
        return self.labels is not None and len(self.labels) == 1


def read_targets(y: Any, n_pairs: int) -> Targets:
    """Two values (or one) are labels, more are real targets."""
    refuse_lossy(y, "y")
    values = column_or_1d(y)
    if len(values) != n_pairs:
        raise ValueError(
            f"got {len(values)} labels or targets for {n_pairs} pairs; expected one per pair."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("got NaN or infinity in y; expected numbers: drop or fill those rows.")
    labels = distinct_labels(values, "y")
    if len(labels) <= 2:
        return Targets(np.where(values == labels[-1], 1.0, -1.0), labels)
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"got {len(labels)} labels {labels[:5].tolist()}; expected two labels, or numbers: leave"
            " draws out, or write outcomes as numbers such as -1, 0 and 1."
        )
    with np.errstate(over="ignore"):  # beyond float64 is too large as well
        numbers = values.astype(np.float64)
    refuse_large_targets(numbers)
    return Targets(numbers, None)
