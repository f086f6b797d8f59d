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
from pairity.runtime.resources import Budget, default_limit

#: Pairs beyond which a member is tuned on one of the folds.
_MOST_WITH_ALL_FOLDS = 20_000
#: Share of the memory for the columns of a member, and pairs that it is given in any case.
_SHARE, _FEWEST = 0.5, 1000


def warn(sentence: str) -> None:
    """A warning at the line of the caller."""
    warnings.warn(sentence, PairityWarning, stacklevel=levels_to_the_caller())


def most_within(folds: TrainingFolds, columns: int, limit: float | None) -> int:
    """Pairs whose columns fit into the memory: both orders, of all pairs and of folds tuned on."""
    count, n_folds = len(folds.data), len(folds.splits)
    tables = 2.0 * (1 + (n_folds if count <= _MOST_WITH_ALL_FOLDS else 1))
    room = Budget(default_limit(limit)).share(_SHARE)
    return max(_FEWEST, int(room.columns(columns, copies=tables)))


def on_sample(
    folds: TrainingFolds,
    most: int,
    setting: Setting,
    name: str,
    learn: Callable[[TrainingFolds], Learnt],
) -> Learnt:
    """Learn from all pairs, or from a sample of very many, which is said.

    One fold of many pairs holds out enough of them to choose by.
    """
    count, some, places = len(folds.data), folds, np.arange(len(folds.held))
    if count > most:
        warn(f"{name}: fitted to a sample of {most} of {count} pairs to save time and memory.")
        some, places = folds_of(folds, drawn(count, most, setting.random_state))
    if len(some.data) > _MOST_WITH_ALL_FOLDS:
        some, inside = _last_fold(some)
        places = places[inside]
    learnt = learn(some)
    held_out = np.full(len(folds.held), np.nan)
    held_out[places] = learnt.held_out
    return replace(learnt, held_out=held_out, nested=learnt.nested if some is folds else None)


def _last_fold(folds: TrainingFolds) -> tuple[TrainingFolds, Rows]:
    """The last fold alone (of folds in time the longest), and the places of its held-out rows."""
    inside = np.arange(len(folds.held) - len(folds.splits[-1][1]), len(folds.held))
    return replace(folds, splits=folds.splits[-1:]), inside


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
