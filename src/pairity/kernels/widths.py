"""Widths of Gaussian kernels from the data: the median distance between different rows.

Each distinct row counts once, however often it occurs, so that repeated observations and the
order of rows change nothing.  Features that change sign under a swap count with both signs, so that
the order in which a pair is written changes nothing either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.distinct import distinct_rows
from pairity.kernels.features import Features, squared_distances
from pairity.pairs import Pairs

__all__ = ["distinct_sample", "median_distance", "median_of_pairs", "with_both_signs"]

#: Rows between which distances are taken; more of them would move the median by a percent.
_MOST_ROWS = 1000


def distinct_sample(table: Features, most_rows: int = _MOST_ROWS) -> Features:
    """At most that many distinct rows of a table, spread evenly over their order by content."""
    places = distinct_rows(table).representative
    if len(places) > most_rows:
        places = places[np.linspace(0, len(places) - 1, most_rows).astype(np.intp)]
    return table[places]


def median_distance(table: Features) -> float:
    """Median distance between two different rows; 1.0 where there are no two."""
    sample = distinct_sample(table)
    if sample.shape[0] < 2 or not sample.shape[1]:
        return 1.0
    distances = squared_distances(sample, sample)[np.triu_indices(sample.shape[0], 1)]
    middle = float(np.sqrt(np.median(distances)))
    return middle if np.isfinite(middle) and middle > 0.0 else 1.0


def with_both_signs(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of odd features and their negatives: what the pairs and their swaps have together."""
    return np.vstack([table, -table])


def median_of_pairs(pairs: Pairs) -> float:
    """Width on ``X_ab``: squares add up, those of the objects and of the group features."""
    total = 0.0
    if pairs.n_object_features:
        total += median_distance(pairs.without_unused_objects().objects) ** 2
    if pairs.n_symmetric:
        total += median_distance(pairs.symmetric) ** 2
    if pairs.n_antisymmetric:
        total += median_distance(with_both_signs(pairs.antisymmetric)) ** 2
    return float(np.sqrt(total)) if total > 0.0 else 1.0
