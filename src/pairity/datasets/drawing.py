"""All or some unordered pairs of objects, each in a random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_pairs"]


def draw_pairs(
    n_objects: int, n_pairs: int | None, generator: np.random.Generator
) -> NDArray[np.intp]:
    """Ends of pairs, shape (2, n), no unordered pair twice."""
    ends = np.stack(np.triu_indices(n_objects, 1), axis=1)
    if n_pairs is not None:
        if not 1 <= n_pairs <= len(ends):
            raise ValueError(
                f"got n_pairs={n_pairs} of {n_objects} objects; expected 1 to {len(ends)}, the number"
                " of their pairs: ask for fewer pairs or more objects."
            )
        ends = ends[generator.choice(len(ends), size=n_pairs, replace=False)]
    return generator.permuted(ends, axis=1).T
