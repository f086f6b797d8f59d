"""The door: what users hand in is checked here, once, with one sentence when it is wrong.

Each message says what was got, what was expected, and what to do.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pairity.exceptions import KernelError

#: Largest size of a feature to learn from: sums of squares must stay finite.
_LARGEST = 1e150
#: Largest weight of an observation, and inverse of the smallest.
LARGEST_WEIGHT = 1e40
#: Largest size of a target.
_LARGEST_TARGET = 1e60
#: What to do with dates: no unit is the right one for all of them.
_DATES = "(column - origin) / numpy.timedelta64(1, 'D') gives days since an origin"


def as_feature_table(
    table: ArrayLike | sp.spmatrix | sp.sparray, name: str
) -> NDArray[np.float64] | sp.csr_array:
    """Return finite float64 features of shape (rows, columns), dense or canonical CSR."""
    if sp.issparse(table):
        return _as_sparse_table(table, name)
    array = plain_numbers(table, name)
    if array.ndim != 2:
        raise ValueError(
            f"got {name} with {array.ndim} dimension(s); expected a 2-D table, one row each:"
            " reshape(-1, 1) makes a table of one column."
        )
    _refuse_nonfinite(array, name)
    return np.ascontiguousarray(array)


def _as_sparse_table(table: Any, name: str) -> sp.csr_array:
    refuse_lossy(table, name)
    sparse = sp.csr_array(table, dtype=np.float64, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    _refuse_nonfinite(sparse.data, name)
    return sparse


def refuse_lossy(values: Any, name: str) -> None:
    """Refuse what a conversion to plain numbers would lose: masks, dates, imaginary parts."""
    parts = values if isinstance(values, list | tuple) else (values,)
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise ValueError(
            f"got masked values in {name}; expected a value in every place: fill them or drop those"
            " rows first."
        )
    types: Any = getattr(values, "dtypes", None)  # of a pandas table, column by column
    if not hasattr(types, "items"):
        types = {"": values.dtype if hasattr(values, "dtype") else _as_array(values, name).dtype}
    for column, kind in types.items():
        place = f"column {column!r} of {name}" if column != "" else name
        if getattr(kind, "kind", "O") in "mM":
            raise ValueError(f"got {place} of type {kind}; expected numbers: {_DATES}.")
        if getattr(kind, "kind", "O") == "c":
            raise ValueError(
                f"Complex data not supported: got complex {place}; expected real numbers: pass real"
                " and imaginary parts as columns of their own."
            )


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(
            f"got {name} with rows of different lengths; expected a table or a column."
        ) from None


def plain_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """The values as float64, nothing lost on the way; NaN and infinity are left as they are."""
    refuse_lossy(values, name)
    array = _as_array(values, name)
    try:
        with np.errstate(over="ignore"):  # beyond float64 is infinite, and refused as that
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
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


def as_times(values: Any, name: str, length: int) -> NDArray[np.float64]:
    """Finite times of shape (length,): numbers as they are, dates as days since 1970-01-01."""
    array = _as_array(values, name)
    if array.dtype.kind in "OU":
        try:
            array = array.astype("datetime64[us]")
        except (TypeError, ValueError):
            if any(isinstance(value, str) for value in array.flat):
                raise ValueError(
                    f"got {name} with text such as {str(array.flat[0])!r}; expected numbers, dates, or"
                    " text such as 2024-01-31: pandas.to_datetime reads other forms."
                ) from None
    if array.dtype.kind == "M":
        since = array.astype("datetime64[us]") - np.datetime64(0, "us")
        array = np.where(np.isnat(since), np.nan, since / np.timedelta64(1, "D"))
    times = plain_numbers(array, name)
    if times.shape != (length,):
        raise ValueError(
            f"got {name} of shape {times.shape}; expected ({length},): one time per pair."
        )
    _refuse_nonfinite(times, name)
    _refuse_written_dates(times, name)
    return np.ascontiguousarray(times)


def _refuse_written_dates(times: NDArray[np.float64], name: str) -> None:
    """Refuse 20240131: from December to January such numbers leap by 8870."""
    year, month, day = times // 10000, times // 100 % 100, times % 100
    calendar = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (times % 1 == 0)
    if len(times) and (calendar & (year >= 1500) & (year <= 2500)).all():
        raise ValueError(
            f"got {name} such as {times[0]:.0f}, a date written as a number; expected dates, or a number"
            " that grows with time: pandas.to_datetime(column, format='%Y%m%d')."
        )


def refuse_large_features(table: Any, name: str) -> None:
    """Refuse features to learn from whose squares are no numbers."""
    if not table.shape[1]:
        return
    largest = np.abs(table.data if sp.issparse(table) else table).max(initial=0.0)
    if largest > _LARGEST:
        raise ValueError(
            f"got values of size {largest:.1e} in {name}; expected at most {_LARGEST:.0e}, whose squares"
            " are still numbers: divide the columns by a common factor."
        )


def refuse_extreme_weights(weights: NDArray[np.float64], name: str) -> None:
    """Refuse weights whose products with kernel values, or whose inverses, are no numbers."""
    positive = weights[weights > 0.0]
    extreme = positive[(positive < 1.0 / LARGEST_WEIGHT) | (positive > LARGEST_WEIGHT)]
    if len(extreme):
        raise ValueError(
            f"got {name} such as {extreme[0]:.1e}; expected 0, or numbers from"
            f" {1.0 / LARGEST_WEIGHT:.0e} to {LARGEST_WEIGHT:.0e}: divide all of them by their mean."
        )


def refuse_large_targets(targets: NDArray[np.float64]) -> None:
    """Refuse targets whose squares, times weights, are no numbers."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"got targets of size {largest:.1e}; expected at most {_LARGEST_TARGET:.0e}: divide them by"
            " a common factor."
        )


def distinct_labels(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """The distinct labels in their order, which labels of several types do not have."""
    if labels.dtype.kind in "iuf" and len(labels):
        ends = np.array([labels.min(), labels.max()])
        if ((labels == ends[0]) | (labels == ends[1])).all():
            return ends if ends[0] != ends[1] else ends[:1]
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in labels.tolist()})
        raise ValueError(
            f"got values of several types ({', '.join(kinds)}) in {name}; expected one type: write all"
            " as text or all as numbers, and drop the rows without a value."
        ) from None


def as_object_indices(indices: ArrayLike, name: str, n_objects: int) -> NDArray[np.intp]:
    """Integer row numbers in ``range(n_objects)``, as a copy."""
    refuse_lossy(indices, name)
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
    array = plain_numbers(features, name)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[0] != n_pairs:
        raise ValueError(
            f"got {name} group features of shape {array.shape} for {n_pairs} pairs; expected one row"
            " per pair."
        )
    _refuse_nonfinite(array, name)
    return np.array(array, dtype=np.float64)


def plain_repr(value: Any) -> str:
    """How Python writes a value; a number of NumPy as a plain number."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def check_choice(
    value: Any, name: str, choices: tuple[str, ...], error: type[ValueError] = ValueError
) -> None:
    """Refuse a value that is not one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise error(
            f"got {name}={plain_repr(value)}; expected one of {', '.join(map(repr, choices))}."
        )


def check_positive(value: Any, name: str) -> None:
    """Refuse anything but a finite number above zero."""
    if not _is_finite_number(value) or not float(value) > 0.0:
        raise ValueError(f"got {name}={plain_repr(value)}; expected a finite number above 0.")


def check_strength(value: Any, name: str, *, largest: float = LARGEST_WEIGHT) -> None:
    """Refuse anything but a number whose products with kernel values, and inverse, are numbers."""
    check_positive(value, name)
    if not 1.0 / largest <= float(value) <= largest:
        raise ValueError(
            f"got {name}={plain_repr(value)}; expected a number from {1.0 / largest:.0e} to"
            f" {largest:.0e}: divide the features by a common factor instead."
        )


def check_not_negative(value: Any, name: str) -> None:
    """Refuse anything but a finite number from zero on."""
    if not _is_finite_number(value) or float(value) < 0.0:
        raise ValueError(f"got {name}={plain_repr(value)}; expected a finite number, 0 or more.")


def check_count(
    value: Any, name: str, least: int = 1, error: type[ValueError] = ValueError
) -> None:
    """Refuse anything but a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise error(f"got {name}={plain_repr(value)}; expected a whole number, {least} or more.")


def check_level(value: Any, name: str = "level") -> None:
    """Refuse anything but a number between 0 and 1."""
    if not _is_finite_number(value) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"got {name}={plain_repr(value)}; expected a number between 0 and 1.")


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, float | numbers.Real):
        return False
    return math.isfinite(value)


def as_symmetric_matrix(values: Any, name: str) -> NDArray[np.float64]:
    """Return a finite symmetric square matrix, or say what is wrong with it."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise KernelError(f"got {name} of shape {matrix.shape}; expected a square matrix.")
    if not np.isfinite(matrix).all():
        raise KernelError(f"got NaN or infinite entries in {name}; expected finite numbers.")
    scale = np.abs(matrix).max(initial=0.0)
    asymmetry = np.abs(matrix - matrix.T).max(initial=0.0)
    if asymmetry > 1e-10 * scale:
        raise KernelError(
            f"got {name} that differs from its transpose by {asymmetry:.3g}; expected a symmetric"
            " matrix: use (M + M.T) / 2 if that is what you mean."
        )
    return matrix


def refuse_other_length(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Refuse ends of pairs that are not as many."""
    if len(first) != len(second):
        raise ValueError(
            f"got {len(first)} entries in first and {len(second)} in second; expected"
            " the same number, one per pair: pass index arrays of equal length."
        )


def refuse_one_sided(with_itself: NDArray[np.bool_], antisymmetric: NDArray[Any]) -> None:
    """Refuse antisymmetric features other than 0 of an object with itself."""
    offending = with_itself & np.any(antisymmetric != 0.0, axis=1)
    if offending.any():
        raise ValueError(
            f"pair {int(np.argmax(offending))} is an object with itself but has a nonzero"
            " antisymmetric feature; a feature that flips sign under a swap must be 0 there:"
            " set it to 0 or drop the pair."
        )


def refuse_other_ids(n_ids: int, n_objects: int) -> None:
    """Refuse ids that are not as many as the objects."""
    if n_ids != n_objects:
        raise ValueError(f"got {n_ids} ids for {n_objects} objects; expected one id per object.")
