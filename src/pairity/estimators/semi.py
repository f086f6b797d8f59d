"""Training sets some of whose rows have no label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.column import one_per_pair
from pairity.estimators.intake import (
    class_factors,
    read_pairs,
    read_weights,
    refuse_self_pairs,
    warn_if_doubled,
)
from pairity.estimators.labels import read_labels
from pairity.exceptions import PairityWarning
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity

__all__ = ["PartlyLabelled", "read_partly_labelled"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class PartlyLabelled:
    """Pairs with compact objects, signs (0 without a label), weights and classes."""

    pairs: Pairs
    signs: Vector
    unlabelled: NDArray[np.bool_]
    weights: Vector
    classes: NDArray[Any]
    parity: Parity | None


def read_partly_labelled(estimator: Any, X: Any, y: Any, sample_weight: Any) -> PartlyLabelled:
    """Read rows of an estimator with ``unlabelled``, ``class_weight`` and ``symmetry``."""
    parity = SYMMETRIES[estimator.symmetry]
    pairs = read_pairs(estimator, X, reset=True)
    values = one_per_pair(y, len(pairs), "label")
    unlabelled = _is_unlabelled(values, estimator.unlabelled)
    if not unlabelled.any():
        raise ValueError(
            f"got labels for all {len(values)} pairs, none of them {estimator.unlabelled!r};"
            " expected some pairs without a label: use PairSVC, or set unlabelled= to the value"
            " that marks them."
        )
    if unlabelled.all():
        raise ValueError(
            f"got {len(values)} pairs and no label (all are {estimator.unlabelled!r}); expected"
            " some labelled pairs to start from."
        )
    labels = read_labels(values[~unlabelled], int(np.count_nonzero(~unlabelled)), parity)
    if estimator.unlabelled == 0 and set(values[~unlabelled].tolist()) == {1}:
        warnings.warn(
            f"got the labels 0 ({int(unlabelled.sum())} rows) and 1; 0 is taken as 'no label' here:"
            " where it is the other label, write -1 for it, or set unlabelled= to another value.",
            PairityWarning,
            stacklevel=3,
        )
    weights = read_weights(sample_weight, len(pairs))
    weights[~unlabelled] *= class_factors(estimator.class_weight, labels, parity)
    if parity is Parity.ODD:
        refuse_self_pairs(pairs)
    pairs = pairs.compact()
    signs = np.zeros(len(pairs))
    signs[~unlabelled] = labels.signs
    if parity is not None:
        warn_if_doubled(pairs, signs, parity)
    return PartlyLabelled(pairs, signs, unlabelled, weights, labels.classes, parity)


def _is_unlabelled(values: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    if isinstance(marker, float) and np.isnan(marker):
        return np.array([isinstance(v, float) and np.isnan(v) for v in values.tolist()])
    # one by one: False is not 0, and text is not a number, in arrays of any type
    same = (
        isinstance(v, bool) == isinstance(marker, bool) and v == marker for v in values.tolist()
    )
    return np.fromiter(same, dtype=np.bool_, count=len(values))
