"""Tables become pairs: wide rows of formula (1) taken apart, and tables with ids (pandas).

What columns are there, ids turned into row numbers, columns turned into numbers: the one home of all
three for :meth:`Pairs.from_frame`, :mod:`pairity.io` and :mod:`pairity.distributed`.
"""

from __future__ import annotations

import numbers
import re
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.exceptions import DataError, PairityWarning, levels_to_the_caller
from pairity.pairs.arrays import Matrix, Places, as_dense, distinct_rows, joined
from pairity.runtime.validation import (
    as_feature_table,
    as_times,
    check_choice,
    check_count,
    refuse_lossy,
)


def split_rows(
    rows: Any, n_symmetric: int, n_antisymmetric: int
) -> tuple[Any, Places, Places, Matrix, Matrix]:
    """Objects, first, second and both kinds of group features of rows ``[x_a | x_ab | x~_ab | x_b]``."""
    for name, count in (("n_symmetric", n_symmetric), ("n_antisymmetric", n_antisymmetric)):
        if not isinstance(count, numbers.Integral):  # whole numbers are held against the columns
            check_count(count, name, 0)
    table = as_feature_table(rows, "rows")
    n_rows, n_columns = table.shape
    rest = n_columns - n_symmetric - n_antisymmetric
    if n_symmetric < 0 or n_antisymmetric < 0 or rest < 0 or rest % 2:
        raise ValueError(
            f"got rows with n_features={n_columns}, n_symmetric={n_symmetric} and"
            f" n_antisymmetric={n_antisymmetric}; expected 2*n1 + n_symmetric + n_antisymmetric"
            " features [x_a | x_ab | x~_ab | x_b]: the two objects need the same number of columns."
        )
    width = rest // 2  # of an object
    group = as_dense(table[:, width : width + n_symmetric + n_antisymmetric]).copy()
    stacked = joined([table[:, :width], table[:, n_columns - width :]], 0)
    distinct = distinct_rows(stacked)
    first, second = distinct.inverse[:n_rows], distinct.inverse[n_rows:].copy()
    chosen = distinct.representative
    antisymmetric = group[:, n_symmetric:]
    twins = np.flatnonzero((first == second) & np.any(antisymmetric != 0.0, axis=1))
    if len(twins):  # give the second object of such a pair a row of its own
        alike, position = np.unique(first[twins], return_inverse=True)
        second[twins] = len(chosen) + position
        chosen = np.concatenate([chosen, chosen[alike]])
    return stacked[chosen], first, second, group[:, :n_symmetric], antisymmetric


# Tables with ids --------------------------------------------------------------------------------

#: Names of columns that a message lists, and letters of a value that it shows.
_MOST_LISTED, _LONGEST = 12, 40


def as_pandas(table: Any, name: str = "a table", advice: str = "") -> Any:
    """A pandas table as it is, another one converted; a mapping of columns becomes one."""
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return table
    if hasattr(table, "to_pandas"):  # polars and Arrow tables
        return table.to_pandas()
    import pandas as pd

    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(table).to_pandas()
    if isinstance(table, Mapping):
        return pd.DataFrame(table)
    raise DataError(
        f"got {name} of type {type(table).__name__}; expected a table with named columns, of pandas,"
        f" polars or Arrow, or a mapping of columns{advice}."
    )


def refuse_absent(wanted: Iterable[str], there: Collection[Any], source: str = "") -> None:
    """Refuse names of columns that are not there; ``source`` says where that is."""
    wanted = list(wanted)
    for name in wanted:
        if not isinstance(name, Hashable):
            text = " ".join(repr(name).split())
            shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            raise DataError(
                f"got {type(name).__name__} {shown} as the name of a column; expected one name,"
                " such as 'id': pass the column's name, not its values."
            )
    absent = [name for name in wanted if name not in there]
    if absent:
        names = list(map(str, there))
        listed = ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")
        place = f" in {source}" if source else ""
        expected = f"its columns ({listed})" if source else list(there)
        raise DataError(
            f"got no column {absent[0]!r}{place}; expected one of {expected}: check the name."
        )


def column_of(frame: Any, name: str, source: str = "") -> Any:
    """Column of a pandas table, or a sentence with the names there are."""
    refuse_absent([name], frame.columns, source)
    return frame[name]


def numbers_of(
    frame: Any,
    names: Sequence[str],
    source: str = "",
    otherwise: str = "got column {name!r} of type {dtype}{place}; expected numbers: encode it (one-hot,"
    " for example) or leave it out.",
) -> Matrix:
    """Columns of a table in the order named as a matrix of floats, NaN where one is missing."""
    block = np.empty((len(frame), len(names)))
    for number, name in enumerate(names):
        column = column_of(frame, name, source)
        try:
            block[:, number] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            place = f" in {source}" if source else ""
            raise DataError(
                otherwise.format(name=name, dtype=column.dtype, place=place, source=source)
            ) from None
    return block


def feature_block(frame: Any, names: list[str], encoding: Any = None) -> Matrix:
    """The same of columns that lose nothing (no dates, no imaginary parts), or that are encoded."""
    if encoding is not None:
        return np.asarray(encoding.apply(frame))
    for name in names:
        refuse_lossy(column_of(frame, name), f"column {name!r}")
    return numbers_of(frame, names)


def times_in(frame: Any, name: str, source: str = "") -> NDArray[np.float64]:
    """Times in a column, none of them missing: numbers as they are, dates as days since 1970."""
    place = f"column {name!r}{f' of {source}' if source else ''}"
    column = _complete(column_of(frame, name, source), "time", place, "fill or drop")
    try:
        return as_times(column.to_numpy(), place, len(column))
    except ValueError as error:
        raise DataError(str(error)) from None


def ids_in(frame: Any, name: str, source: str = "") -> list[Any]:
    """Ids in a column, none of them missing."""
    place = f"column {name!r}{f' of {source}' if source else ''}"
    column = _complete(column_of(frame, name, source), "id", place, "fill the ids in or drop")
    return list(column.tolist())


def _complete(column: Any, what: str, place: str, advice: str) -> Any:
    n_missing = int(column.isna().sum())
    if n_missing:
        raise DataError(
            f"got {n_missing} missing {what}(s) in {place}; expected one in every row: {advice} those"
            " rows."
        )
    return column


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """One-dimensional array of Python objects, tuples included."""
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))


def indicators(n_objects: int) -> sp.csr_array:
    """One feature per object, for objects that are known by their ids alone."""
    return sp.csr_array(sp.identity(n_objects, format="csr"))


def refuse_repeated(values: Iterable[Any], otherwise: str, source: str = "") -> None:
    """Refuse a value that is there twice; the sentence names ``value``, ``count``, ``source``."""
    (value, count), *_ = Counter(values).most_common(1) or [(None, 0)]
    if count > 1:
        raise DataError(otherwise.format(value=value, count=count, source=source))


def locate(
    wanted: Iterable[Any],
    ids: NDArray[Any],
    lacking: str,
    advice: str = "add it to the objects, or drop those pairs",
) -> Places:
    """Row numbers of ids among those of the objects; ``lacking`` says where others stand."""
    rows = {identity: row for row, identity in enumerate(ids.tolist())}
    listed = list(wanted)
    unknown = Counter(identity for identity in listed if identity not in rows)
    if unknown:
        names = list(unknown)
        which = f"the id {names[0]!r}" if len(names) == 1 else f"{len(names)} ids"
        first = "" if len(names) == 1 else f", the first {names[0]!r}"
        n_rows = unknown.total()
        raise DataError(
            f"got {which} {lacking} ({n_rows:,} row{'' if n_rows == 1 else 's'}){first}; expected every"
            f" id to name an object: {advice}."
        )
    return np.array([rows[identity] for identity in listed], dtype=np.intp)


#: What to do with features of objects that have no names.
_ARRAYS_OF_OBJECTS = (
    ", one row per object: features in an array or a sparse matrix go into Pairs(objects, first, second,"
    " ids=...) with row numbers, or into pandas.DataFrame.sparse.from_spmatrix(objects, ids)"
)


def object_table(
    objects: Any, id_column: str | None, features: Sequence[str] | None, encoding: Any = None
) -> tuple[Matrix, NDArray[Any]]:
    """Features and ids of an object table; ids are unique and present."""
    objects = as_pandas(objects, "objects", _ARRAYS_OF_OBJECTS)
    ids = as_objects(
        (objects.index if id_column is None else column_of(objects, id_column)).tolist()
    )
    names = [
        name for name in (objects.columns if features is None else features) if name != id_column
    ]
    refuse_repeated(
        ids.tolist(),
        "got object id {value!r} more than once; expected each id in one row: drop the repeated rows.",
    )
    if features is None:
        warn_of_ids_among(objects, names, "pass id={name!r}, or features=[...] without it")
    return feature_block(objects, names, encoding), ids


#: Names of columns that hold ids, whatever is around them.
_IDS = re.compile(
    r"(?i:(?:^|[\s_.-])(?:id|ids|nr|no|index|key|uuid)$|^unnamed: 0$|^$)|[a-z](?:Id|ID)$"
)


def warn_of_ids_among(table: Any, names: Iterable[Any], advice: str) -> None:
    """Warn of columns that are called like ids, whole numbers that are all different."""
    for name in names:
        column = table[name]
        if not _IDS.search(str(name)) or getattr(column.dtype, "kind", "O") not in "iu":
            continue
        if len(column) > 1 and column.is_unique:
            warnings.warn(
                f"column {name!r} of the objects is a whole number that is different in every row and"
                " is called like an id, but is taken for a feature: "
                + advice.format(name=name)
                + ".",
                PairityWarning,
                stacklevel=levels_to_the_caller(),
            )


def locate_ids(frame: Any, column: str, ids: NDArray[Any]) -> Places:
    """Row numbers in the object table of the ids in a column of pairs."""
    lacking = f"in column {column!r} that the objects do not have"
    return locate(ids_in(frame, column), ids, lacking)


def named_objects(
    frame: Any, first: str, second: str, *, as_features: bool
) -> tuple[Any, NDArray[Any], list[Places]]:
    """Objects of the ids, when there is no table of them: one indicator feature each, or none."""
    distinct = dict.fromkeys(ids_in(frame, first) + ids_in(frame, second))
    try:
        ids = as_objects(sorted(distinct))
    except TypeError:  # ids of several types have no order but that of appearance
        ids = as_objects(distinct)
    table = indicators(len(ids)) if as_features else np.zeros((len(ids), 0))
    return table, ids, [locate_ids(frame, name, ids) for name in (first, second)]


def text_of(value: Any) -> str:
    """Text of one id or label; fractions that are whole numbers look like whole numbers."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def read_frame(frame: Any, of_objects: tuple[Any, ...], group: tuple[Any, ...]) -> dict[str, Any]:
    """The parts of :class:`Pairs` from tables.

    ``of_objects`` are the columns of both ends, what ids are, and arguments of :func:`object_table`;
    ``group`` says which columns are symmetric, antisymmetric and times.
    """
    frame = as_pandas(frame, "pairs")
    ends, ids, objects, *how = of_objects
    symmetric, encoding, antisymmetric, time = group
    check_choice(ids, "ids", ("features", "names"))
    if objects is None:
        table, names, places = named_objects(frame, *ends, as_features=ids == "features")
    else:
        table, names = object_table(objects, *how)
        places = [locate_ids(frame, column, names) for column in ends]
    return {
        "objects": table,
        "first": places[0],
        "second": places[1],
        "ids": names,
        "symmetric": feature_block(frame, list(symmetric), encoding),
        "antisymmetric": feature_block(frame, list(antisymmetric)),
        "time": None if time is None else times_in(frame, time),
    }
