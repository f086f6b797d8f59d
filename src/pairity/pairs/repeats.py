"""Rows that repeat others: values of all rows from those of the groups, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairity.pairs.arrays import Places, Vector, sums_at


@dataclass(frozen=True, eq=False)
class Repeats:
    """Groups of rows that are equal up to a sign: row i is ``signs_i`` times that of its group."""

    inverse: Places  # the group of each row
    signs: Vector
    shares: Vector  # of each row in the weight of its group
    n_groups: int

    def spread(self, values: Vector) -> Vector:
        """Values of all rows, in proportion to their weights; of two halves (on I) for both."""
        halves = np.split(values, len(values) // self.n_groups)
        return np.concatenate([self.signs * self.shares * half[self.inverse] for half in halves])

    def gathered(self, values: Vector | None) -> Vector | None:
        """Values of the groups from those of all rows."""
        if values is None:
            return None
        halves = np.split(values, len(values) // len(self.inverse))
        sums = [sums_at(self.inverse, self.signs * half, self.n_groups) for half in halves]
        return np.concatenate(sums)


def few_are_distinct(n_distinct: int, n_tried: int, n_rows: int, share: float) -> bool:
    """Whether at most that share of the rows is distinct, judged by some of them.

    Of s rows in G groups of equal size about ``s^2 / 2G`` meet one that was there before.
    """
    if n_tried == n_rows:
        return n_distinct <= share * n_rows
    return n_tried**2 / (2.0 * (n_tried - n_distinct) + 1.0) <= share * n_rows
