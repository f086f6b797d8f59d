"""The one order in which a pair is evaluated, whichever order it is written in.

A function that is evaluated in one order alone, its value then kept or negated for the other, obeys
the swap law whatever its arithmetic does: matrix products whose last bits depend on the place of a
row, vector instructions that treat the end of an array differently, functions of users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pairity.pairs.arrays import Mask, Matrix, Places
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity


@dataclass(frozen=True)
class Orientation:
    """Rows that stand in the other order, and rows that are their own mirror image.

    Of two objects the one that comes first in a table ordered by content is first; for a pair of
    look-alikes the first antisymmetric feature that is not 0 is positive.
    """

    turned: Mask
    alike: Mask

    @classmethod
    def of(cls, first: Places, second: Places, antisymmetric: Matrix) -> Self:
        """Orientation of pairs of distinct objects, numbered by content (:meth:`Pairs.compact`)."""
        turned, same = first > second, first == second
        differs = same & (antisymmetric != 0.0).any(axis=1)
        rows = np.flatnonzero(differs)
        if len(rows):
            leading = (antisymmetric[rows] != 0.0).argmax(axis=1)
            turned[rows] = antisymmetric[rows, leading] < 0.0
        return cls(turned, same & ~differs)

    @classmethod
    def of_compact(cls, pairs: Pairs) -> Self:
        """The same for :meth:`Pairs.compact` pairs."""
        return cls.of(pairs.first, pairs.second, pairs.antisymmetric)

    def restored(self, parity: Parity, values: Matrix) -> Matrix:
        """Values in the orders given, shape (n, ...), from those in the one order.

        An odd function is exactly 0.0 where a pair is its own mirror image.
        """
        if parity is Parity.EVEN:
            return values
        columns = (-1, *(1 for _ in values.shape[1:]))
        turned, alike = self.turned.reshape(columns), self.alike.reshape(columns)
        return np.where(alike, 0.0, np.where(turned, -values, values))
