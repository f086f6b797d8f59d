"""Rows of plain numbers for pairs: what an estimator that knows nothing of pairs is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.pairs.arrays import Features, Matrix, as_dense, joined
from pairity.pairs.data import Pairs
from pairity.pairs.derived import derived_features
from pairity.pairs.parity import Parity

#: Wide rows of formula (1), columns made of the two objects, both, and group features alone.
COLUMNS = ("rows", "derived", "all", "group")
#: Columns made of the two objects, for functions of each parity.
_DERIVED = {
    Parity.EVEN: ("absolute_difference", "sum", "product", "symmetric", "absolute_antisymmetric"),
    Parity.ODD: ("difference", "antisymmetric", "sum", "symmetric"),
}


def pair_rows(pairs: Pairs, features: Any, parity: Parity | None) -> Features:
    """One row a pair, as it is written: columns by name, or by a function of pairs."""
    if callable(features):  # of users
        table = features(pairs)
        shape = np.shape(table)
        if len(shape) != 2 or shape[0] != len(pairs):
            raise ValueError(
                f"got a table of shape {shape} from features for {len(pairs)} pairs; expected one row a"
                " pair."
            )
        return table if hasattr(table, "tocsr") else as_dense(table)
    parts = []
    if features in ("rows", "all"):
        parts.append(pairs.to_rows())
    if features in ("derived", "all", "group"):
        names = _DERIVED[Parity.EVEN if parity is Parity.EVEN else Parity.ODD]
        parts.append(derived_features(pairs, names))
    return joined(parts, 1)


def without_objects(pairs: Pairs) -> Pairs:
    """The same pairs, their objects known by name alone."""
    nothing = np.zeros((pairs.n_objects, 0))
    return pairs.with_features(nothing, pairs.symmetric, pairs.antisymmetric)


def with_columns(pairs: Pairs, first: Matrix, second: Matrix) -> Pairs:
    """The same pairs, each of two objects of its own, with more columns for the two."""
    ends = pairs.objects[pairs.first], pairs.objects[pairs.second]
    sides = [joined(list(side), 1) for side in zip(ends, (first, second), strict=True)]
    every, group = np.arange(len(pairs)), (pairs.symmetric, pairs.antisymmetric)
    return Pairs(joined(sides, 0), every, len(pairs) + every, *group)


def same_table(one: Features, two: Features) -> bool:
    """Whether two tables hold the same numbers."""
    different: Any = one != two
    return not (different.nnz if hasattr(different, "nnz") else different.any())
