"""Made-up data: tournaments (an order, a circle, or both) and the double interval task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.datasets.real import PairDataset, draw_pairs
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_choice

_PROVENANCE = (
    "Made with a seed as Brunner, Fischer, Luig and Thies describe, Pairwise support vector"
    " machines and their application to large scale problems, JMLR 13, 2012."
)


def make_tournament(
    n_objects: int = 31,
    kind: str = "transitive",
    *,
    n_pairs: int | None = None,
    flipped: float = 0.0,
    seed: int = 0,
) -> PairDataset:
    """Games between players with a strength s and a style, an angle t; ``y`` is +1 for a first win.

    The first player wins where the margin is above 0 (features are s, cos t, sin t):

    ============  =======================================  ========================================
    "transitive"  ``s_a - s_b``                            a ranking explains it
    "cyclic"      ``sin(t_a - t_b)``                       rock-paper-scissors for many: each player
                                                           beats exactly half of the others
    "mixed"       ``s_a - s_b + 2 sin(t_a - t_b)``         both
    ============  =======================================  ========================================

    Strengths are normal, angles evenly spaced and in random order.  ``groups`` number the pairs.

    Parameters
    ----------
    n_objects : int
        Number of players, at least 3; odd, so that no two angles are opposite.
    kind : {"transitive", "cyclic", "mixed"}
        What decides a game.
    n_pairs : int, optional
        Games, no two of the same players; all by default.
    flipped : float
        Share of the outcomes turned round, drawn at random.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> from pairity.datasets import make_tournament
    >>> from pairity.inspection import hodge_rank
    >>> circle = make_tournament(31, "cyclic")
    >>> round(hodge_rank(circle.pairs, circle.y).gradient_share, 9)
    0.0
    """
    check_choice(kind, "kind", ("transitive", "cyclic", "mixed"))
    if n_objects < 3 or n_objects % 2 == 0:
        raise ValueError(f"got n_objects={n_objects}; expected an odd number of at least 3.")
    if not 0.0 <= flipped <= 1.0:
        raise ValueError(f"got flipped={flipped!r}; expected a share from 0 to 1.")
    generator = np.random.default_rng(seed)
    strength = generator.normal(size=n_objects)
    angle = 2.0 * np.pi * generator.permutation(n_objects) / n_objects
    first, second = draw_pairs(n_objects, n_pairs, generator)
    stronger = strength[first] - strength[second]
    round_about = np.sin(angle[first] - angle[second])
    margin = {
        "transitive": stronger,
        "cyclic": round_about,
        "mixed": stronger + 2.0 * round_about,
    }[kind]
    wrong = generator.random(len(margin)) < flipped
    return PairDataset(
        name=f"{kind} tournament",
        pairs=Pairs(np.column_stack([strength, np.cos(angle), np.sin(angle)]), first, second),
        y=np.where((margin > 0) != wrong, 1, -1),
        groups=np.arange(len(margin)),
        feature_names=("strength", "cosine", "sine"),
        provenance="Made with a seed.",
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
