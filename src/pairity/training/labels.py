"""Two labels as users write them: signs of rows, the label that is missing, and ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from pairity.pairs.parity import Parity
from pairity.runtime.validation import distinct_labels, refuse_large_targets, refuse_lossy

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BinaryLabels:
    """Two labels as the user writes them, and the signs of the rows: ``classes[1]`` is +1."""

    classes: NDArray[Any]
    signs: Vector


def read_labels(y: Any, n_pairs: int, parity: Parity | None) -> BinaryLabels:
    """Signs of labels of any two values; one value alone only where a swap gives the other."""
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
    return BinaryLabels(classes, np.where(labels == classes[1], 1.0, -1.0))


def _complete_classes(label: Any, parity: Parity | None) -> NDArray[Any]:
    """Both labels from one: in the antisymmetric case a swap shows the other sign."""
    if parity is not Parity.ODD:
        raise ValueError(
            f"got one class only, {label!r}; expected pairs of two classes: the classifier can't"
            " train when only one class is present."
        )
    if isinstance(label, bool | np.bool_):
        return np.array([False, True])
    if isinstance(label, int | float | np.number) and label != 0:
        size = abs(label.item() if isinstance(label, np.number) else label)
        return np.array([-size, size])
    raise ValueError(
        f"got one class only, {label!r}, whose opposite cannot be named; expected labels such as +1"
        " and -1, or pairs of both classes."
    )


def label_decisions(decisions: Vector, classes: NDArray[Any], tie_label: Any) -> NDArray[Any]:
    """Label of each decision: ``classes[1]`` above 0, ``classes[0]`` below, the tie label at 0."""
    labels = classes[(decisions > 0).astype(np.intp)]
    ties = decisions == 0.0
    if not ties.any():
        return labels
    tie = _default_tie_label(classes) if tie_label is None else tie_label
    labels = labels.astype(_common_type(labels, np.asarray(tie)))
    labels[ties] = tie
    return labels


def score_decisions(
    decisions: Vector, y: Any, classes: NDArray[Any], sample_weight: Any = None
) -> float:
    """Mean accuracy of decisions; one of exactly 0 counts one half."""
    labels = np.asarray(y).ravel()
    right = np.where(decisions > 0, labels == classes[1], labels == classes[0])
    credit = np.where(decisions == 0.0, 0.5, right.astype(np.float64))
    return float(np.average(credit, weights=sample_weight))


def _default_tie_label(classes: NDArray[Any]) -> Any:
    """0 between -v and +v, the mean between other numbers, "tie" between texts."""
    low, high = classes
    if classes.dtype.kind not in "biuf":
        return "tie"
    middle = (float(low) + float(high)) / 2.0
    return classes.dtype.type(0) if middle == 0.0 else middle


def _common_type(labels: NDArray[Any], tie: NDArray[Any]) -> np.dtype[Any]:
    """A type that holds both as they are: text and numbers together stay what they are."""
    if (labels.dtype.kind in "US") != (tie.dtype.kind in "US"):
        return np.dtype(object)
    return np.result_type(labels, tie)


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
