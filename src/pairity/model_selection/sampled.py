"""A member of the automatic model on a sample of very many pairs, which a warning says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pairity.exceptions import PairityWarning, levels_to_the_caller
from pairity.model_selection.folds import TrainingFolds
from pairity.model_selection.members import Learnt, Setting, some_rows
from pairity.model_selection.splits import Rows


def warn(sentence: str) -> None:
    """A warning at the line of the caller."""
    warnings.warn(sentence, PairityWarning, stacklevel=levels_to_the_caller())


def on_sample(
    folds: TrainingFolds,
    most: int,
    setting: Setting,
    name: str,
    learn: Callable[[TrainingFolds], Learnt],
) -> Learnt:
    """Learn from all pairs, or from a sample of very many, which is said."""
    count = len(folds.data)
    if count <= most:
        return learn(folds)
    warn(
        f"{name}: fitted to a sample of {most} of {count} pairs to save time and memory; the linear"
        " member is fitted to all of them."
    )
    some, places = folds_of(folds, drawn(count, most, setting.random_state))
    learnt = learn(some)
    held_out = np.full(len(folds.held), np.nan)
    held_out[places] = learnt.held_out
    return replace(learnt, held_out=held_out)


def drawn(count: int, most: int, seed: int) -> Rows:
    """Ascending numbers of at most so many rows."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def folds_of(folds: TrainingFolds, rows: Rows) -> tuple[TrainingFolds, Rows]:
    """Folds of some rows, and the places of their held-out rows among those of all."""
    data, number = folds.data, np.full(len(folds.data), -1)
    number[rows] = np.arange(len(rows))
    splits = [tuple(number[side][number[side] >= 0] for side in split) for split in folds.splits]
    places = np.flatnonzero(number[folds.held] >= 0)
    part = some_rows(data, rows)
    return TrainingFolds(part, splits, folds.signs[rows]), places  # type: ignore[arg-type]
