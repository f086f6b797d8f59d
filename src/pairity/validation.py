"""The door: what users hand in is checked here, once, with one sentence when it is wrong.

Each message says what was got, what was expected, and what to do.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "as_dense",
    "as_feature_table",
    "as_group_features",
    "as_object_indices",
    "check_choice",
    "check_count",
    "check_not_negative",
    "check_positive",
]


def as_feature_table(
    table: ArrayLike | sp.spmatrix | sp.sparray, name: str
) -> NDArray[np.float64] | sp.csr_array:
    """Return finite float64 features of shape (rows, columns), dense or canonical CSR."""
    if sp.issparse(table):
        return _as_sparse_table(table, name)
    array = _as_float_array(table, name)
    if array.ndim != 2:
        raise ValueError(
            f"got {name} with {array.ndim} dimension(s); expected a 2-D table, one row each:"
            " reshape(-1, 1) makes a table of one column."
        )
    _refuse_nonfinite(array, name)
    return np.ascontiguousarray(array)


def as_dense(table: Any) -> NDArray[np.float64]:
    """Return a table as a plain array, whether it is sparse or not."""
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def _as_sparse_table(table: Any, name: str) -> sp.csr_array:
    sparse = sp.csr_array(table, dtype=np.float64, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    _refuse_nonfinite(sparse.data, name)
    return sparse


def _as_float_array(values: Any, name: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: got complex {name}; expected real numbers.")
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"got {name} of type {array.dtype}; expected numbers: encode text and categories first."
        ) from None


def _refuse_nonfinite(values: NDArray[np.float64], name: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    n_bad = int(finite.size - np.count_nonzero(finite))
    kind = "NaN" if np.isnan(values).any() else "infinite"
    raise ValueError(
        f"got {n_bad} {kind} value(s) in {name}; expected finite numbers (no NaN, no infinity):"
        " impute or drop them first."
    )


def as_object_indices(indices: ArrayLike, name: str, n_objects: int) -> NDArray[np.intp]:
    """Integer row numbers in ``range(n_objects)``, as a copy."""
    array = np.asarray(indices)
    if array.ndim != 1:
        raise ValueError(
            f"got {name} with {array.ndim} dimension(s); expected a 1-D array of object row numbers."
        )
    if array.size == 0:
        return np.zeros(0, dtype=np.intp)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"got {name} of type {array.dtype}; expected integers, row numbers into objects: map ids"
            " to row numbers or use Pairs.from_frame."
        )
    lowest, highest = int(array.min()), int(array.max())
    if lowest < 0 or highest >= n_objects:
        wrong = lowest if lowest < 0 else highest
        raise ValueError(
            f"got object number {wrong} in {name}; expected 0 to {n_objects - 1}, a row of objects:"
            " check the index base and the object table."
        )
    return array.astype(np.intp)


def as_group_features(features: ArrayLike | None, name: str, n_pairs: int) -> NDArray[np.float64]:
    """Finite group features of shape (n_pairs, columns); ``None`` means no columns."""
    if features is None:
        return np.zeros((n_pairs, 0))
    array = _as_float_array(features, name)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[0] != n_pairs:
        raise ValueError(
            f"got {name} group features of shape {array.shape} for {n_pairs} pairs; expected one row"
            " per pair."
        )
    _refuse_nonfinite(array, name)
    return np.array(array, dtype=np.float64)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"got {name}={value!r}; expected one of {', '.join(map(repr, choices))}.")


def check_positive(value: Any, name: str) -> None:
    """Refuse anything but a finite number above zero."""
    if not _is_finite_number(value) or not float(value) > 0.0:
        raise ValueError(f"got {name}={value!r}; expected a finite number above 0.")


def check_not_negative(value: Any, name: str) -> None:
    """Refuse anything but a finite number from zero on."""
    if not _is_finite_number(value) or float(value) < 0.0:
        raise ValueError(f"got {name}={value!r}; expected a finite number, 0 or more.")


def check_count(value: Any, name: str, least: int = 1) -> None:
    """Refuse anything but a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"got {name}={value!r}; expected a whole number, {least} or more.")


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    return bool(np.isfinite(float(value)))
