"""Wide rows of formula (1) taken apart: two tables of objects that share their equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.distinct import distinct_rows
from pairity.validation import as_dense, as_feature_table

__all__ = ["split_rows"]

Table = NDArray[np.float64]
Places = NDArray[np.intp]


def split_rows(
    rows: Any, n_symmetric: int, n_antisymmetric: int
) -> tuple[Any, Places, Places, Table, Table]:
    """Objects, first, second and both kinds of group features of rows ``[x_a | x_ab | x~_ab | x_b]``."""
    table = as_feature_table(rows, "rows")
    width = _object_width(table.shape[1], n_symmetric, n_antisymmetric)
    n_rows = table.shape[0]
    group = as_dense(table[:, width : width + n_symmetric + n_antisymmetric]).copy()
    left, right = table[:, :width], table[:, table.shape[1] - width :]
    if sp.issparse(table):
        stacked: Any = sp.csr_array(sp.vstack([left, right], format="csr"))
    else:
        stacked = np.vstack([left, right])
    found = distinct_rows(stacked)
    first, second = found.inverse[:n_rows], found.inverse[n_rows:].copy()
    chosen = found.representative
    antisymmetric = group[:, n_symmetric:]
    twins = np.flatnonzero((first == second) & np.any(antisymmetric != 0.0, axis=1))
    if len(twins):  # give the second object of such a pair a row of its own
        alike, position = np.unique(first[twins], return_inverse=True)
        second[twins] = len(chosen) + position
        chosen = np.concatenate([chosen, chosen[alike]])
    return stacked[chosen], first, second, group[:, :n_symmetric], antisymmetric


def _object_width(n_columns: int, n_symmetric: int, n_antisymmetric: int) -> int:
    """Columns per object in wide rows, or a sentence saying why there is no such number."""
    rest = n_columns - n_symmetric - n_antisymmetric
    if n_symmetric < 0 or n_antisymmetric < 0 or rest < 0 or rest % 2:
        raise ValueError(
            f"got rows with n_features={n_columns}, n_symmetric={n_symmetric} and"
            f" n_antisymmetric={n_antisymmetric}; expected 2*n1 + n_symmetric + n_antisymmetric"
            " features [x_a | x_ab | x~_ab | x_b]: the two objects need the same number of columns."
        )
    return rest // 2
