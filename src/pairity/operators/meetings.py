"""Indicators of two objects: a column for each two that meet, on any side of an operator.

The features of ``Product(Identity())``: an effect of its own for each pair of objects, beside effects
of single objects what preferences that go in circles need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from pairity.pairs.arrays import Places, places_of


@dataclass(frozen=True, eq=False)
class Meetings:
    """Numbers of two objects in their order, for the objects of one side."""

    columns: Places  # the column of each object, of its indicators
    n_columns: int
    occurring: Places  # numbers that occur on any side, sorted

    def numbers(self, first: Places, second: Places) -> Places:
        """A number for each two objects."""
        return self.columns[first] * self.n_columns + self.columns[second]

    def places(self, first: Places, second: Places) -> Places:
        """The places of these numbers among those that occur."""
        return np.searchsorted(self.occurring, self.numbers(first, second))

    def _with_column(self, sign: float) -> Places:
        """Numbers with a column of their own: one for both orders of two objects.

        With the sign -1 an object has none with itself.
        """
        first, second = np.divmod(self.occurring, self.n_columns)
        return self.occurring[first <= second if sign > 0 else first < second]

    def width(self, sign: float) -> int:
        """How many columns there are."""
        return len(self._with_column(sign))

    def rows(
        self, parts: Iterable[tuple[float, Places, Places]], sign: float, n_rows: int
    ) -> sp.csr_array:
        """Weighted indicators added up, shape (n_rows, columns), equal columns folded into one."""
        own = self._with_column(sign)
        total = sp.csr_array((n_rows, len(own)))
        for weight, first, second in parts:
            places = places_of(self.numbers(first, second), own)
            rows = np.flatnonzero(places >= 0)
            with_itself = self.columns[first[rows]] == self.columns[second[rows]]
            data = np.where(with_itself, weight, np.sqrt(2.0) * weight)
            total = total + sp.csr_array((data, (rows, places[rows])), shape=total.shape)
        return sp.csr_array(total)


def meetings_of(
    indicators: Sequence[sp.csr_array], ends: Sequence[Sequence[tuple[Places, Places]]]
) -> list[Meetings]:
    """Those of several sides in one space: indicators of their objects, and which two are named."""
    sides = [
        Meetings(table.indices.astype(np.intp), table.shape[1], np.zeros(0, dtype=np.intp))
        for table in indicators
    ]
    numbers = [side.numbers(*two) for side, named in zip(sides, ends, strict=True) for two in named]
    occurring = np.unique(np.concatenate(numbers))
    return [replace(side, occurring=occurring) for side in sides]
