"""The double interval task: do two patterns of two runs start at the same places?  Symmetric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.datasets.dataset import PairDataset
from pairity.datasets.drawing import draw_pairs
from pairity.pairs import Pairs

__all__ = ["draw_double_intervals", "make_double_interval"]

_PROVENANCE = (
    "Made with a seed as Brunner, Fischer, Luig and Thies describe, Pairwise support vector"
    " machines and their application to large scale problems, JMLR 13, 2012."
)


def draw_double_intervals(
    n_objects: int, n_features: int, n_draws: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw patterns of ``n_draws`` classes.

    A pattern is +1 on the places [i, j] and [k, l] and -1 elsewhere, with 2 <= i <= j, j + 2 <= k
    <= l <= d; its class is (i, k), so of d features there are (d - 3)(d - 2) / 2 classes.  Returns
    the patterns, the draw each came from, and (i, k) of every draw (two draws may agree).
    """
    starts = np.array([_draw_starts(n_features, generator) for _ in range(n_draws)])
    drawn = generator.integers(0, n_draws, n_objects)
    objects = -np.ones((n_objects, n_features))
    for row, (i, k) in enumerate(starts[drawn]):
        j = generator.integers(i, k - 1)
        last = generator.integers(k, n_features + 1)
        objects[row, i - 1 : j] = 1.0
        objects[row, k - 1 : last] = 1.0
    return objects, drawn, starts


def _draw_starts(n_features: int, generator: np.random.Generator) -> tuple[int, int]:
    """i and k with 2 <= i and i + 2 <= k <= n_features."""
    while True:
        i, k = np.sort(generator.integers(2, n_features + 1, 2))
        if i + 2 <= k:
            return int(i), int(k)


def make_double_interval(
    n_objects: int = 200,
    n_features: int = 20,
    *,
    objects_per_class: int = 8,
    n_pairs: int | None = None,
    seed: int = 0,
) -> PairDataset:
    """Patterns of two runs of +1; ``y`` is +1 where both runs of two patterns start alike.

    ``object_groups`` are the classes: held out together, the test asks for classes never seen.
    ``groups`` number the pairs.  The tensor kernel of the linear one can learn the task.

    Parameters
    ----------
    n_objects, n_features : int
        Patterns and their length, at least 2 and 4.
    objects_per_class : int
        Patterns per class drawn, on average.
    n_pairs : int, optional
        Unordered pairs drawn without replacement; all by default.
    seed : int
        Seed of the draw.
    """
    if n_objects < 2 or n_features < 4 or objects_per_class < 1:
        raise ValueError(
            f"got n_objects={n_objects}, n_features={n_features},"
            f" objects_per_class={objects_per_class}; expected at least 2, 4 and 1: shorter patterns"
            " have no two runs."
        )
    generator = np.random.default_rng(seed)
    n_draws = n_objects // objects_per_class + 1
    objects, drawn, starts = draw_double_intervals(n_objects, n_features, n_draws, generator)
    classes = (starts @ [n_features + 1, 1])[drawn]
    first, second = draw_pairs(n_objects, n_pairs, generator)
    return PairDataset(
        name="double interval",
        pairs=Pairs(objects, first, second),
        y=np.where(classes[first] == classes[second], 1, -1),
        groups=np.arange(len(first)),
        feature_names=tuple(f"place {place}" for place in range(1, n_features + 1)),
        provenance=_PROVENANCE,
        object_groups=classes,
    )
