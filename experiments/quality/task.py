"""A task: labelled pairs, the setting they are measured in, and the splits that keep to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.quality.splits import Rows, Split, Splits
from pairity import Pairs

#: The shared data lie beside the repository; they are read in place.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

#: What a test pair has in common with training.
SETTINGS = ("both seen", "pairs held out", "one new", "both new", "time")

#: Inner splits of the training pairs, the same for every method.
N_INNER = 3


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
        Splitters of :mod:`pairity.model_selection`; ``inner`` acts on the training pairs alone.
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
        outer = self._splits(self.outer, number or self.n_splits, thin_training=False)
        return list(outer.split(self.pairs, self.y, self.groups))

    def inner_splitter(self) -> Splits:
        """Splitter for training pairs, the same for every method."""
        return self._splits(self.inner, N_INNER, thin_training=True)

    def _splits(self, splitter: Any, number: int, thin_training: bool) -> Splits:
        latest = self.setting == "time"
        return Splits(splitter, number, latest, self.same_share, thin_training)

    def part(self, rows: Rows) -> tuple[Pairs, NDArray[np.int64]]:
        """Pairs and labels of some rows."""
        return self.pairs[rows], self.y[rows]

    @property
    def n_objects(self) -> int:
        """Different objects that occur in a pair."""
        used = np.unique(np.concatenate([self.pairs.first, self.pairs.second]))
        return len(used) if self.pairs.ids is None else len(set(self.pairs.ids[used].tolist()))
