"""What a method is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.quality.splits import Rows, Split, Splits
from experiments.quality.task import Task
from pairity import Pairs

#: Settings that each method may try on the inner splits.
N_SETTINGS = 12

Vector = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Training pairs, and what a user knows of them; nothing of the test.

    ``inner`` are the splits that ``splitter`` makes of them, given ``groups``.
    """

    pairs: Pairs
    y: Labels
    inner: list[Split]
    splitter: Splits
    groups: NDArray[Any] | None
    symmetry: str
    setting: str
    identities: bool
    common_scale: bool
    n_settings: int = N_SETTINGS

    @property
    def odd(self) -> bool:
        """Whether the labels change sign under a swap."""
        return self.symmetry == "antisymmetric"

    def part(self, rows: Rows) -> tuple[Pairs, Labels]:
        """Pairs and labels of some rows."""
        return self.pairs[rows], self.y[rows]


def problem_of(task: Task, train: Rows, n_settings: int = N_SETTINGS) -> Problem:
    """The training part of a task."""
    pairs, y = task.part(train)
    groups = None if task.groups is None else task.groups[train]
    splitter = task.inner_splitter()
    return Problem(
        pairs=pairs,
        y=y,
        inner=list(splitter.split(pairs, y, groups)),
        splitter=splitter,
        groups=groups,
        symmetry=task.symmetry,
        setting=task.setting,
        identities=task.identities,
        common_scale=task.common_scale,
        n_settings=n_settings,
    )


class Model(Protocol):
    """A fitted method."""

    chosen: dict[str, Any]

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1 for each pair, in the order it is written."""


class Method(Protocol):
    """A way to learn from pairs, with its own tuning on the inner splits."""

    name: str

    def describe(self) -> str:
        """Everything that decides the outcome, for the cache."""

    def applies(self, task: Task) -> bool:
        """Whether the method can be used."""

    def fit(self, problem: Problem) -> Model:
        """Tune on the inner splits, then fit all training pairs."""


def sigmoid(values: Vector) -> Vector:
    """Logistic function."""
    return np.exp(-np.logaddexp(0.0, -values))
