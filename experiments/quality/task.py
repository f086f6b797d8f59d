"""A task: labelled pairs, the setting they are measured in, and the splits that keep to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity import Pairs

#: The shared data lie beside the repository; they are read in place.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

#: What a test pair has in common with training.
SETTINGS = ("both seen", "pairs held out", "one new", "both new", "time")

#: Inner splits of the training pairs, the same for every method.
N_INNER = 3

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


@dataclass(frozen=True, eq=False)
class Task:
    """Labelled pairs with an outer splitter to measure and an inner one of the same kind to tune.

    Attributes
    ----------
    name, question : str
        Short name, and what a label answers.
    symmetry : str
        "symmetric" or "antisymmetric".
    setting : str
        One of :data:`SETTINGS`: "pairs held out" keeps all test pairs, whether their objects were
        seen or not; "both seen" drops those with a new object.
    pairs : Pairs
        Its ``ids`` name the objects: rows of the object table with equal ids are one object at
        different times.
    y : ndarray of shape (n,)
        Labels +1 and -1.
    outer, inner : splitter
        Splitters of :mod:`pairity.selection`; ``inner`` acts on the training pairs alone.
    why : str
        Why this split does not leak.
    features : str
        What describes objects and pairs, and that it is known without labels and future.
    groups : ndarray of shape (n,), optional
        Given to both splitters: who answered, or when.
    identities : bool
        Whether objects come back, so that knowing who it is can help.
    common_scale : bool
        Whether the object features share a unit (pixels, coordinates), which a user knows.
    measure : str
        The first number to look at: "accuracy", or "auc" where classes are uneven.
    same_share : bool
        Holding out groups drops pairs of different groups more often than pairs of the same, so
        that the share of matches depends on how much is held out.  Then the class that is too
        many on a side is thinned at random until all sides have the share of the training pairs.
    n_splits : int
        Outer splits in a full run.
    """

    name: str
    question: str
    symmetry: str
    setting: str
    pairs: Pairs
    y: NDArray[np.int64]
    outer: Any
    inner: Any
    why: str
    features: str
    groups: NDArray[Any] | None = None
    identities: bool = False
    common_scale: bool = False
    measure: str = "accuracy"
    same_share: bool = False
    n_splits: int = 3
    feature_names: Sequence[str] = field(default=())

    def outer_splits(self, number: int | None = None) -> list[Split]:
        """Row numbers of training and test pairs; in a time split the latest ones."""
        found = self._some(self.outer, np.arange(len(self.y)), number or self.n_splits)
        if not self.same_share:
            return found
        return [(train, self._thinned(test, train)) for train, test in found]

    def inner_splits(self, train: Rows) -> list[Split]:
        """Splits of the training rows; numbers count within ``train``."""
        found = self._some(self.inner, train, N_INNER)
        if not self.same_share:
            return found
        rows = np.arange(len(train))
        labels = replace(self, y=self.y[train])
        return [(labels._thinned(fit, rows), labels._thinned(test, rows)) for fit, test in found]

    def _some(self, splitter: Any, rows: Rows, number: int) -> list[Split]:
        groups = None if self.groups is None else self.groups[rows]
        found = list(splitter.split(self.pairs[rows], self.y[rows], groups))
        return found[-number:] if self.setting == "time" else found[:number]

    def _thinned(self, rows: Rows, model: Rows) -> Rows:
        """Some of the rows, with the share of positive labels that the model rows have."""
        share = np.mean(self.y[model] > 0)
        positive, negative = rows[self.y[rows] > 0], rows[self.y[rows] < 0]
        most = min(len(positive) / share, len(negative) / (1.0 - share))
        rng = np.random.default_rng(len(rows))
        kept = [
            rng.choice(side, max(1, int(part * most)), replace=False)
            for side, part in ((positive, share), (negative, 1.0 - share))
        ]
        return np.sort(np.concatenate(kept))

    def part(self, rows: Rows) -> tuple[Pairs, NDArray[np.int64]]:
        """Pairs and labels of some rows."""
        return self.pairs[rows], self.y[rows]

    @property
    def n_objects(self) -> int:
        """Different objects that occur in a pair."""
        used = np.unique(np.concatenate([self.pairs.first, self.pairs.second]))
        return len(used) if self.pairs.ids is None else len(set(self.pairs.ids[used].tolist()))


def standardised(table: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and spread 1; constant ones stay 0."""
    spread = table.std(axis=0)
    return (table - table.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
