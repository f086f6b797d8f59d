"""Features shuffled so that nothing but their meaning is lost.

An object feature is shuffled across *objects*: an object has one value wherever it occurs, on
either end of a pair.  A group feature is shuffled across pairs; an antisymmetric one is read in a
fixed direction of each pair (from the object with the lower number to the other) and written
back in the direction of the pair that gets it, so that its sign says what it said before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.pairs import ObjectTable, Pairs
from pairity.transform.tables import object_numbers

__all__ = ["Columns", "ShuffleFrame"]


@dataclass(frozen=True)
class Columns:
    """Columns that are shuffled together, by kind."""

    objects: tuple[int, ...] = ()
    symmetric: tuple[int, ...] = ()
    antisymmetric: tuple[int, ...] = ()


@dataclass(frozen=True)
class Shuffle:
    """Which object, and which pair, each takes its values from."""

    objects: NDArray[np.intp]  # (number of distinct objects,)
    rows: NDArray[np.intp]  # (n,)


class ShuffleFrame:
    """Pairs with what stays the same through all shuffles."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs.without_unused_objects()
        self.numbers = object_numbers(self.pairs)  # of each row of the table
        self.representative = np.unique(self.numbers, return_index=True)[1]
        place = np.empty(len(self.numbers), dtype=np.intp)  # by number, lookalikes by row
        place[np.argsort(self.numbers, kind="stable")] = np.arange(len(place))
        first, second = place[self.pairs.first], place[self.pairs.second]
        #: +1 where the pair is written from the lower number to the higher, -1 otherwise.
        self.direction = np.where(first <= second, 1.0, -1.0)
        self.alone = first == second

    def draw(self, generator: np.random.Generator) -> Shuffle:
        """A random shuffle; pairs of an object with itself are shuffled among themselves."""
        rows = np.arange(len(self.pairs))
        for kind in (False, True):
            places = np.flatnonzero(self.alone == kind)
            rows[places] = places[generator.permutation(len(places))]
        return Shuffle(generator.permutation(len(self.representative)), rows)

    def shuffled(self, columns: Columns, shuffle: Shuffle) -> Pairs:
        """The pairs with some columns shuffled."""
        pairs, rows = self.pairs, shuffle.rows
        objects, symmetric, antisymmetric = pairs.objects, pairs.symmetric, pairs.antisymmetric
        if columns.objects:
            source = self.representative[shuffle.objects][self.numbers]
            objects = _replaced(objects, objects[source], list(columns.objects))
        if columns.symmetric:
            symmetric = symmetric.copy()
            chosen = list(columns.symmetric)
            symmetric[:, chosen] = pairs.symmetric[rows][:, chosen]
        if columns.antisymmetric:
            turned = (self.direction * self.direction[rows])[:, np.newaxis]
            antisymmetric = antisymmetric.copy()
            chosen = list(columns.antisymmetric)
            antisymmetric[:, chosen] = (turned * pairs.antisymmetric[rows])[:, chosen]
        return Pairs(objects, pairs.first, pairs.second, symmetric, antisymmetric, ids=pairs.ids)


def _replaced(table: ObjectTable, source: ObjectTable, columns: list[int]) -> ObjectTable:
    """The table with some columns taken from another of the same shape."""
    taken = np.zeros((1, table.shape[1]))
    taken[:, columns] = 1.0
    if sp.issparse(table):
        kept = sp.csr_array(table).multiply(1.0 - taken)
        return sp.csr_array(kept + sp.csr_array(source).multiply(taken))
    return np.where(taken > 0.0, source, table)
