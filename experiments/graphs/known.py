"""What a method may see of a graph: all pairs, and the labels of training pairs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pairity import Pairs


@dataclass(frozen=True)
class Draw:
    """The labelled pairs of one seed: ``y`` is +1 or -1."""

    pairs: Pairs
    y: np.ndarray  # (n,)


@dataclass(frozen=True)
class Task:
    """A graph and a question about its pairs."""

    name: str
    title: str
    symmetry: str  # "symmetric" or "antisymmetric"
    measure: str  # "accuracy" or "AUC": what C is chosen by, and what the table shows
    links: bool  # whether only positive pairs are edges; otherwise all labelled pairs are
    read: Callable[[Path], object]  # data folder -> whatever draw needs
    draw: Callable[[object, np.random.Generator], Draw]


@dataclass(frozen=True)
class Known:
    """All pairs of a draw with the labels that are not held out; NaN hides the others.

    Methods are given this and nothing else, so a held-out label, or a held-out edge where edges are
    labels, cannot reach a feature.
    """

    pairs: Pairs
    labels: np.ndarray  # (n,): +1, -1, or NaN
    symmetry: str
    links: bool

    @classmethod
    def of(cls, task: Task, draw: Draw, rows: np.ndarray) -> Known:
        """Show the labels of some rows."""
        labels = np.full(len(draw.y), np.nan)
        labels[rows] = draw.y[rows]
        return cls(draw.pairs, labels, task.symmetry, task.links)

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows whose labels are known."""
        return np.flatnonzero(~np.isnan(self.labels))

    @property
    def edges(self) -> Pairs:
        """The known edges of the graph: linked training pairs, or all of them."""
        return self.pairs[np.flatnonzero(self.labels > 0.0) if self.links else self.rows]
