"""The two orders of a pair: even and odd under a swap, and the one place that imposes it.

A function of a pair is *even* (symmetric) when ``f(b, a) = f(a, b)``, formula (3), and *odd*
(antisymmetric) when ``f(b, a) = -f(a, b)``, formula (4).  Every function of a pair splits into
an even and an odd part; :func:`impose` keeps one of them.

A function that is evaluated in one order alone, its value then kept or negated for the other, obeys
the swap law whatever its arithmetic does: matrix products whose last bits depend on the place of a
row, vector instructions that treat the end of an array differently, functions of users.  Which order
that is says :class:`Orientation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from pairity.pairs.arrays import Mask, Matrix, Places

if TYPE_CHECKING:
    from pairity.pairs.data import Pairs

Value = TypeVar("Value")


class Parity(Enum):
    """What a swap of the two objects does: ``EVEN`` keeps the value, ``ODD`` flips its sign."""

    EVEN = 1
    ODD = -1

    def __mul__(self, other: Parity) -> Parity:
        """Grading of products: even*even = even, odd*odd = even, even*odd = odd."""
        return Parity(self.value * other.value)

    @property
    def sign(self) -> float:
        """+1.0 for even, -1.0 for odd."""
        return float(self.value)


#: The names users write, and the parity each asks for (``None``: no law is imposed).
SYMMETRIES: dict[str, Parity | None] = {
    "symmetric": Parity.EVEN,
    "antisymmetric": Parity.ODD,
    "none": None,
}


def impose(parity: Parity | None, value: Value, mirrored: Value) -> Value:
    """Part of the asked parity of a function, from its values on the pairs and their swaps.

    With ``p = g(a, b)`` and ``q = g(b, a)`` this is ``(p + q) / 2`` or ``(p - q) / 2``: the
    projections (6) and (7).  Exchanging ``p`` and ``q`` returns the same value or its exact
    negative, because IEEE addition commutes and ``p - q == -(q - p)``; equal ``p`` and ``q``
    give exactly 0.0 in the odd case.  So the swap law holds bit for bit for any ``g`` that
    gives equal results for equal inputs.

    ``value`` and ``mirrored`` are arrays or anything else with ``+``, ``-`` and ``*``.
    """
    if parity is None:
        return value
    if parity is Parity.EVEN:
        return (value + mirrored) * 0.5  # type: ignore[operator]
    return (value - mirrored) * 0.5  # type: ignore[operator]


def halved_weight(parity: Parity | None) -> float:
    """Theorem 2: a weight C on the full set I is 2C on the halved set J; C without a symmetry."""
    return 1.0 if parity is None else 2.0


def unordered(first: Places, second: Places) -> tuple[Places, Places, Mask]:
    """The smaller end of each pair, the larger one, and whether the pair is written backwards."""
    return np.minimum(first, second), np.maximum(first, second), first > second


def unordered_keys(first: Places, second: Places, n_objects: int) -> Places:
    """A number for each pair, ``low * n_objects + high``: the same in either order."""
    low, high, _ = unordered(first, second)
    return low * n_objects + high


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
