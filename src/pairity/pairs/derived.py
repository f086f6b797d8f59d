"""Features of a pair made from the features of its two objects, and how they take a swap.

==========================  ==========================  ====================
part                        value                       under a swap
==========================  ==========================  ====================
``difference``              ``x_a - x_b``               changes sign (odd)
``absolute_difference``     ``|x_a - x_b|``             stays (even)
``sum``                     ``x_a + x_b``               stays
``product``                 ``x_a * x_b``               stays
``distance``                ``||x_a - x_b||``           stays (Remark 1)
``cosine``                  ``x_a'x_b / |x_a| |x_b|``   stays
``symmetric``               ``x_ab``, as given          stays
``antisymmetric``           ``x~_ab``, as given         changes sign
``absolute_antisymmetric``  ``|x~_ab|``                 stays
``in_context``              odd columns times ``x_ab``  changes sign
==========================  ==========================  ====================

``in_context`` has the product of each difference and antisymmetric feature with each symmetric one:
what a difference means may depend on the circumstances.

All of them obey their law bit for bit: IEEE sums and products commute, and ``x - y == -(y - x)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul, sub

import numpy as np

from pairity.pairs.arrays import Matrix, as_dense
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity


def _combined(pairs: Pairs, combine: Callable[[Matrix, Matrix], Matrix]) -> Matrix:
    """The features of the two objects of each pair, combined."""
    ends = (as_dense(pairs.objects[end]) for end in (pairs.first, pairs.second))
    return combine(*ends)


def _distance(pairs: Pairs) -> Matrix:
    """Euclidean distance of the two objects, one column: the example of Remark 1."""
    return np.sqrt(np.sum(_combined(pairs, sub) ** 2, axis=1, keepdims=True))


def _cosine(pairs: Pairs) -> Matrix:
    """Cosine of the angle between the features of the two objects, one column; 0 where one has none."""
    product = np.sum(_combined(pairs, mul), axis=1, keepdims=True)
    first, second = (as_dense(pairs.objects[end]) for end in (pairs.first, pairs.second))
    lengths = np.sqrt(np.sum(first**2, axis=1) * np.sum(second**2, axis=1))[:, np.newaxis]
    return np.asarray(product / np.where(lengths > 0.0, lengths, 1.0))


def _in_context(pairs: Pairs) -> Matrix:
    """Each odd column times each symmetric one."""
    odd = np.hstack([_combined(pairs, sub), pairs.antisymmetric])
    return np.hstack([odd[:, :0], *(odd * column[:, np.newaxis] for column in pairs.symmetric.T)])


EVEN, ODD = Parity.EVEN, Parity.ODD
#: Parity of each part, the function that computes it, and the name of a column.
PARTS: dict[str, tuple[Parity, Callable[[Pairs], Matrix], str]] = {
    "difference": (ODD, lambda pairs: _combined(pairs, sub), "{0}(a) - {0}(b)"),
    "absolute_difference": (EVEN, lambda pairs: np.abs(_combined(pairs, sub)), "|{0}(a) - {0}(b)|"),
    "sum": (EVEN, lambda pairs: _combined(pairs, add), "{0}(a) + {0}(b)"),
    "product": (EVEN, lambda pairs: _combined(pairs, mul), "{0}(a) * {0}(b)"),
    "distance": (EVEN, _distance, "distance(a, b)"),
    "cosine": (EVEN, _cosine, "cosine(a, b)"),
    "symmetric": (EVEN, lambda pairs: pairs.symmetric, "{0}"),
    "antisymmetric": (ODD, lambda pairs: pairs.antisymmetric, "{0}"),
    "absolute_antisymmetric": (EVEN, lambda pairs: np.abs(pairs.antisymmetric), "|{0}|"),
    "in_context": (ODD, _in_context, "{0}"),
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


def derived_features(pairs: Pairs, parts: Sequence[str]) -> Matrix:
    """Columns of the parts side by side, shape (n, width)."""
    return np.hstack([PARTS[name][1](pairs) for name in check_parts(parts)])


def derived_names(
    parts: Sequence[str],
    objects: Sequence[str],
    symmetric: Sequence[str] = (),
    antisymmetric: Sequence[str] = (),
) -> list[str]:
    """Names of the columns of :func:`derived_features`, from the names of the columns given."""
    columns: dict[str, Sequence[str]] = {"symmetric": symmetric, "antisymmetric": antisymmetric}
    columns["absolute_antisymmetric"] = antisymmetric
    columns["distance"] = columns["cosine"] = ("",)  # one column, whatever the objects have
    odd = [*(f"({name}(a) - {name}(b))" for name in objects), *antisymmetric]
    columns["in_context"] = [f"{one} * {name}" for name in symmetric for one in odd]
    return [
        PARTS[name][2].format(column)
        for name in check_parts(parts)
        for column in columns.get(name, objects)
    ]
