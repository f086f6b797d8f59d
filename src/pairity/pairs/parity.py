"""Even and odd under a swap, and the one place that imposes it.

A function of a pair is *even* (symmetric) when ``f(b, a) = f(a, b)``, formula (3), and *odd*
(antisymmetric) when ``f(b, a) = -f(a, b)``, formula (4).  Every function of a pair splits into
an even and an odd part; :func:`impose` keeps one of them.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

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
