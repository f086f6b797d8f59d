"""What stands for the outcome of a pair: one of two labels, or a number.

A label of an antisymmetric model says whether the first object is ahead of the second.  -1 and 1, 0 and
1, False and True speak for themselves: the one above 0 says that it is.  Which of two texts does, or of
numbers such as 1 and 2, ``positive`` has to say.  A fit does not depend on it (the function for the
other label is the negative one), so that it is asked for where it is said who is ahead: by rankings,
effects, judges and reports, as scikit-learn's metrics ask for ``pos_label``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from pairity.pairs.parity import Parity
from pairity.runtime.validation import (
    distinct_labels,
    plain_repr,
    refuse_large_targets,
    refuse_lossy,
)

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BinaryLabels:
    """Two labels as the user writes them, and the signs of the rows: ``classes[1]`` is +1."""

    classes: NDArray[Any]
    signs: Vector


def read_labels(y: Any, n_pairs: int, parity: Parity | None, positive: Any = None) -> BinaryLabels:
    """Signs of labels of any two values; one value alone only where a swap gives the other.

    ``positive``, where it is given, is one of them.
    """
    labels = finite_per_pair(y, n_pairs, "label")
    classes = distinct_labels(labels, "y")
    if len(classes) > 2:
        check_classification_targets(labels)
        raise ValueError(
            "Only binary classification is supported. The type of the target is"
            f" {type_of_target(labels)}: got {len(classes)} labels {classes[:5].tolist()}; expected"
            " two. Draws are for PairDrawClassifier, or leave those pairs out."
        )
    if len(classes) == 1:
        classes = _complete_classes(classes[0], parity)
    if positive is not None and _place_of(positive, classes) is None:
        raise ValueError(
            f"got positive={positive!r}, which is none of the labels {_named(classes)}; expected the"
            " label that says that the first object is ahead, or that the two are alike."
        )
    return BinaryLabels(classes, np.where(labels == classes[1], 1.0, -1.0))


def _complete_classes(label: Any, parity: Parity | None) -> NDArray[Any]:
    """Both labels from one: in the antisymmetric case a swap shows the other sign."""
    if parity is not Parity.ODD:
        raise ValueError(
            f"got one class only, {plain_repr(label)}; expected pairs of two classes: the classifier"
            " can't train when only one class is present."
        )
    if isinstance(label, bool | np.bool_):
        return np.array([False, True])
    if isinstance(label, int | float | np.number) and label != 0:
        size = abs(label.item() if isinstance(label, np.number) else label)
        return np.array([-size, size])
    raise ValueError(
        f"got one class only, {plain_repr(label)}, whose opposite cannot be named; expected labels such"
        " as +1 and -1, or pairs of both classes."
    )


# Which label says that the first object is ahead ------------------------------------------------


def speak_for_themselves(classes: NDArray[Any]) -> bool:
    """Whether one of two labels is a number above 0 and the other is not."""
    return classes.dtype.kind in "biuf" and bool(classes[0] <= 0 < classes[1])


def direction_of(classes: NDArray[Any], positive: Any) -> float:
    """+1 where a decision above 0, for ``classes[1]``, says "ahead" or "alike"; -1 where it does not."""
    return -1.0 if positive is not None and _place_of(positive, classes) == 0 else 1.0


def refuse_ambiguous(classes: NDArray[Any], positive: Any) -> None:
    """Refuse two labels of which nothing says which one means that the first object is ahead."""
    if positive is None and not speak_for_themselves(classes):
        raise ValueError(
            f"got a model of the labels {_named(classes)}; expected to know which of them says that the"
            " first object is ahead: pass positive=... to the estimator, before the fit or by"
            " set_params after it, or fit to labels -1 and +1."
        )


def _place_of(label: Any, classes: NDArray[Any]) -> int | None:
    same = [place for place, one in enumerate(classes.tolist()) if one == label]
    return same[0] if same else None


def _named(classes: NDArray[Any]) -> str:
    return " and ".join(repr(label) for label in classes.tolist())


# One value per pair -----------------------------------------------------------------------------


def one_per_pair(y: Any, n_pairs: int, noun: str) -> NDArray[Any]:
    """A column of as many values as there are pairs; ``noun`` is what one of them is called."""
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None: pass one {noun} per"
            " pair."
        )
    refuse_lossy(y, "y")
    plain = type(y) is np.ndarray and y.ndim == 1
    values = y if plain else column_or_1d(y, warn=True)
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


def read_targets(y: Any, n_pairs: int) -> Vector:
    """Real targets, one per pair."""
    values = one_per_pair(y, n_pairs, "target")
    try:
        with np.errstate(over="ignore"):  # beyond float64 is infinite, and refused as that
            targets = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"got targets of type {values.dtype}; expected numbers: labels are for PairSVC."
        ) from None
    if not np.isfinite(targets).all():
        raise ValueError("got NaN or infinity in y; expected numbers: drop or fill those rows.")
    refuse_large_targets(targets)
    return targets
