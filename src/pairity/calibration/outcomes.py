"""Three ordered outcomes as users write them: loss, draw and win of the first object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from pairity.estimators.column import finite_per_pair
from pairity.validation import distinct_labels

__all__ = ["Outcomes", "read_outcomes"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """``classes`` are loss, draw and win; ``values`` are -1, 0 and 1, one a row."""

    classes: NDArray[Any]
    values: NDArray[np.float64]


def read_outcomes(y: Any, n_pairs: int, outcomes: Any) -> Outcomes:
    """Outcomes of the rows; three numbers are in their own order, other labels must be named."""
    labels = finite_per_pair(y, n_pairs, "outcome")
    classes = _classes(labels) if outcomes is None else _named(outcomes)
    values = np.full(n_pairs, np.nan)
    for place, name in enumerate(classes):
        values[labels == name] = place - 1.0
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise ValueError(
            f"got outcome {labels[row]!r} in row {row}; expected one of {classes.tolist()}, loss,"
            " draw and win of the first object."
        )
    if not (values != 0.0).any():
        raise ValueError(
            "got draws only; expected some decided games: a score cannot be learnt from draws alone."
        )
    return Outcomes(classes, values)


def _classes(labels: NDArray[Any]) -> NDArray[Any]:
    """-1, 0 and 1, or whatever three numbers there are, in order."""
    present = distinct_labels(labels, "y")
    if labels.dtype.kind in "iuf":
        if np.isin(present, (-1, 0, 1)).all():
            return np.array([-1, 0, 1])
        if len(present) == 3:
            return present
        if len(present) > 3:
            check_classification_targets(labels)  # measurements are refused as such
    raise ValueError(
        f"got outcomes {present[:5].tolist()} that do not say which is the loss, the draw and the"
        " win; expected -1, 0 and 1 or three other numbers in that order: name them by"
        " outcomes=('lost', 'drawn', 'won')."
    )


def _named(outcomes: Any) -> NDArray[Any]:
    classes = np.asarray(outcomes)
    if classes.shape != (3,) or len(set(classes.tolist())) != 3:
        raise ValueError(
            f"got outcomes={outcomes!r}; expected three different labels, those of loss, draw and"
            " win of the first object, in this order."
        )
    return classes
