"""Folds of two labels: both are needed to train, and to tell a good model from a bad one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import CalibrationWarning

__all__ = ["warn_of_single_labels", "with_both_classes"]

Vector = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def with_both_classes(splits: Sequence[Split], targets: Vector) -> list[Split]:
    """Folds whose training rows hold both labels; the others cannot be fitted."""
    kept = [split for split in splits if len(np.unique(targets[split[0]])) == 2]
    if not kept:
        raise ValueError(
            "got one class only in the training pairs of every fold; expected both: use stratified"
            " folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    if len(kept) < len(splits):
        warnings.warn(
            f"{len(splits) - len(kept)} of {len(splits)} folds train on one class only and are left"
            " out of the search; stratified folds share out the rare class:"
            " cv=PairKFold(5, stratify=True).",
            CalibrationWarning,
            stacklevel=5,
        )
    return kept


def warn_of_single_labels(splits: Sequence[Split], targets: Vector) -> None:
    """Say so where held-out pairs cannot tell a good model: one label in most folds."""
    single = sum(len(np.unique(targets[test])) < 2 for _, test in splits)
    if 2 * single > len(splits):
        warnings.warn(
            f"the held-out pairs of {single} of {len(splits)} folds have one label only, so that they"
            " cannot tell a good kernel from a bad one; fewer folds, or larger shares of objects or"
            " groups held out, give both labels: cv=ObjectKFold(2, object_groups=...), say.",
            CalibrationWarning,
            stacklevel=5,
        )
