"""Features of a pair made from the features of its two objects, and how they take a swap.

==========================  =========================  ====================
part                        value                      under a swap
==========================  =========================  ====================
``difference``              ``x_a - x_b``              changes sign (odd)
``absolute_difference``     ``|x_a - x_b|``            stays (even)
``sum``                     ``x_a + x_b``              stays
``product``                 ``x_a * x_b``              stays
``symmetric``               ``x_ab``, as given         stays
``antisymmetric``           ``x~_ab``, as given        changes sign
``absolute_antisymmetric``  ``|x~_ab|``                stays
==========================  =========================  ====================

All of them obey their law bit for bit: IEEE sums and products commute, and ``x - y == -(y - x)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.validation import as_dense

__all__ = ["PARTS", "check_parts", "common_parity", "derived_features", "derived_names"]

Table = NDArray[np.float64]


def _ends(pairs: Pairs) -> tuple[Table, Table]:
    return as_dense(pairs.objects[pairs.first]), as_dense(pairs.objects[pairs.second])


def _difference(pairs: Pairs) -> Table:
    first, second = _ends(pairs)
    return first - second


def _sum(pairs: Pairs) -> Table:
    first, second = _ends(pairs)
    return first + second


def _product(pairs: Pairs) -> Table:
    first, second = _ends(pairs)
    return first * second


#: Parity of each part, and the function that computes it.
PARTS: dict[str, tuple[Parity, Callable[[Pairs], Table]]] = {
    "difference": (Parity.ODD, _difference),
    "absolute_difference": (Parity.EVEN, lambda pairs: np.abs(_difference(pairs))),
    "sum": (Parity.EVEN, _sum),
    "product": (Parity.EVEN, _product),
    "symmetric": (Parity.EVEN, lambda pairs: pairs.symmetric),
    "antisymmetric": (Parity.ODD, lambda pairs: pairs.antisymmetric),
    "absolute_antisymmetric": (Parity.EVEN, lambda pairs: np.abs(pairs.antisymmetric)),
}


def check_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple, or say which of them is no part."""
    names = (parts,) if isinstance(parts, str) else tuple(parts)
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        got = f"part {unknown[0]!r}" if unknown else "no parts"
        raise ValueError(f"got {got}; expected some of {', '.join(map(repr, PARTS))}.")
    return names


def common_parity(parts: Sequence[str]) -> Parity:
    """Return the parity that all parts share, or refuse a mixture."""
    parities = {PARTS[name][0] for name in check_parts(parts)}
    if len(parities) > 1:
        raise ValueError(
            f"got parts {tuple(parts)!r}, some that stay and some that change sign under a swap;"
            " expected one kind: use one list for each."
        )
    return parities.pop()


def derived_features(pairs: Pairs, parts: Sequence[str]) -> Table:
    """Columns of the parts side by side, shape (n, width)."""
    return np.hstack([PARTS[name][1](pairs) for name in check_parts(parts)])


def derived_names(
    parts: Sequence[str],
    objects: Sequence[str],
    symmetric: Sequence[str] = (),
    antisymmetric: Sequence[str] = (),
) -> list[str]:
    """Names of the columns of :func:`derived_features`, from the names of the columns given."""
    shown = {
        "difference": "{0}(a) - {0}(b)",
        "absolute_difference": "|{0}(a) - {0}(b)|",
        "sum": "{0}(a) + {0}(b)",
        "product": "{0}(a) * {0}(b)",
        "symmetric": "{0}",
        "antisymmetric": "{0}",
        "absolute_antisymmetric": "|{0}|",
    }
    columns = {"symmetric": symmetric, "antisymmetric": antisymmetric}
    columns["absolute_antisymmetric"] = antisymmetric
    return [
        shown[name].format(column)
        for name in check_parts(parts)
        for column in columns.get(name, objects)
    ]
