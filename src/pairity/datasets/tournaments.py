"""Made-up tournaments: an order that a ranking explains, a circle that none can."""

from __future__ import annotations

import numpy as np

from pairity.datasets.dataset import PairDataset
from pairity.datasets.drawing import draw_pairs
from pairity.pairs import Pairs
from pairity.validation import check_choice

__all__ = ["make_tournament"]

_FEATURES = ("strength", "cosine", "sine")
_KINDS = ("transitive", "cyclic", "mixed")


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
    >>> from pairity.ranking import hodge_rank
    >>> circle = make_tournament(31, "cyclic")
    >>> round(hodge_rank(circle.pairs, circle.y).gradient_share, 9)
    0.0
    """
    check_choice(kind, "kind", _KINDS)
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
        feature_names=_FEATURES,
        provenance="Made with a seed.",
    )
