"""Tables that a transformer is fitted to, and tables it is applied to, row by row.

Some transformers (PCA through a matrix product) give a row other bits in another table.  So the
table that a transformer sees is made from the *distinct* rows in an order that depends on their
content alone: it is the same for pairs and for swapped pairs, and so is the outcome.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.distinct import distinct_rows
from pairity.pairs import ObjectTable, Pairs
from pairity.parity import Parity, impose
from pairity.validation import as_dense, as_feature_table

__all__ = [
    "apply_per_object",
    "apply_per_row",
    "apply_with_odd_part",
    "each_object_once",
    "object_numbers",
    "with_both_signs",
]

Table = NDArray[np.float64]


def object_numbers(pairs: Pairs) -> NDArray[np.intp]:
    """A number 0, 1, ... for each row of the object table, equal for rows of the same object.

    Rows are the same object when their features are equal, and their ids where there are any.
    Objects are numbered by content, whatever order their rows are in.
    """
    if pairs.n_object_features == 0 and pairs.ids is None:
        return np.arange(pairs.n_objects)
    return distinct_rows(pairs.objects, pairs.id_codes).inverse


def each_object_once(pairs: Pairs) -> ObjectTable:
    """Features of the distinct objects in use, one row each, ordered by content."""
    used = pairs.without_unused_objects()
    rows = np.unique(object_numbers(used), return_index=True)[1]
    return _positive_zeros(used.objects[rows])


def _positive_zeros(table: ObjectTable) -> ObjectTable:
    """-0.0 as 0.0: equal rows have equal bits."""
    return table if sp.issparse(table) else table + 0.0


def _applied(transformer: Any, table: ObjectTable, name: str) -> ObjectTable:
    """Outcome of a fitted transformer: one row for each row, finite numbers."""
    out = as_feature_table(transformer.transform(table), f"{name} after {transformer!r}")
    if out.shape[0] != table.shape[0]:
        raise ValueError(
            f"got {out.shape[0]} rows from {transformer!r} for {table.shape[0]} {name}; expected one"
            " row each: use a transformer that keeps the rows."
        )
    return out


def apply_per_object(transformer: Any, table: ObjectTable) -> ObjectTable:
    """Transform every row of an object table; equal rows get equal bits, in any arrangement."""
    found = distinct_rows(table)
    distinct = _positive_zeros(table[found.representative])
    return _applied(transformer, distinct, "objects")[found.inverse]


def apply_per_row(transformer: Any, table: Table) -> Table:
    """Transform symmetric group features, dense whatever comes out."""
    return as_dense(_applied(transformer, table, "symmetric group features"))


def with_both_signs(pairs: Pairs) -> Table:
    """Antisymmetric features and their negatives, in an order that swapping a pair leaves alone."""
    both = np.vstack([pairs.antisymmetric, -pairs.antisymmetric]) + 0.0
    return both[np.lexsort(both.T[::-1])] if pairs.n_antisymmetric else both


def apply_with_odd_part(transformer: Any, table: Table) -> Table:
    """``g(x) = (t(x) - t(-x)) / 2`` for every row: ``g(-x) == -g(x)``, and 0.0 at 0, exactly."""
    both = np.vstack([table, -table])
    found = distinct_rows(both)
    distinct = both[found.representative] + 0.0
    values = as_dense(_applied(transformer, distinct, "antisymmetric group features"))
    n = len(table)
    odd = impose(Parity.ODD, values[found.inverse[:n]], values[found.inverse[n:]])
    return np.asarray(odd)
