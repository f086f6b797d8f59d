"""The cost of a pass, and what it says about sizes that were not measured.

A pass (decisions and all sums) over n pairs of m objects with r features on w workers takes

    seconds = n (a + b r) / w + c m r^2

a: for every pair, rows of features from places in memory that no cache foresees, and its loss; b: two
inner products of features; c: the products ``Phi W`` and ``Phi' (S Phi)``, which every worker does for
itself.  The three constants are fitted to the measured passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Costs:
    per_pair: float  # a, seconds
    per_feature: float  # b, seconds for one pair and one feature
    per_object: float  # c, seconds for one object and one pair of features

    def seconds(self, pairs: float, objects: float, rank: float, workers: float) -> float:
        """Time of one pass."""
        shared = pairs * (self.per_pair + self.per_feature * rank) / workers
        return shared + self.per_object * objects * rank**2


def terms(row: dict) -> list[float]:
    share = row["pairs"] / row["workers"]
    return [share, share * row["rank"], row["objects"] * row["rank"] ** 2]


def fit(rows: list[dict]) -> Costs:
    """Constants that suit the measured passes, relative errors counted, none below 0."""
    from scipy.optimize import nnls

    measured = np.array([row["pass, s"] for row in rows])
    table = np.array([terms(row) for row in rows]) / measured[:, np.newaxis]
    sizes = np.linalg.norm(table, axis=0)
    found, _ = nnls(table / sizes, np.ones(len(rows)))
    return Costs(*(found / sizes))


def left_out(rows: list[dict]) -> list[float]:
    """Each pass predicted from the other ones, in seconds."""
    predicted = []
    for number, row in enumerate(rows):
        costs = fit([other for place, other in enumerate(rows) if place != number])
        predicted.append(costs.seconds(row["pairs"], row["objects"], row["rank"], row["workers"]))
    return predicted


def memory_bytes(pairs: float, objects: float, rank: float, workers: float) -> float:
    """Of a worker: pairs (second object, label, decision, change, curved pairs) and features.

    Features: Phi, images of the point and of a direction, sums of rows, in single precision.
    """
    return 21.0 * pairs / workers + 4.0 * 4.0 * objects * rank


def traffic_bytes(rank: float, workers: float) -> float:
    """Sent to and from workers in one pass: parameters, and sums of two parts from each."""
    return workers * 3.0 * 8.0 * rank**2
