"""Tables with ids (pandas) turned into index arrays and feature blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.validation import refuse_lossy

__all__ = ["feature_block", "identity_objects", "locate_ids", "object_table"]


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise ValueError(
            f"got no column {name!r}; expected one of {list(frame.columns)}: check the name."
        )
    return frame[name]


def feature_block(frame: Any, names: list[str]) -> NDArray[np.float64]:
    """Numeric columns of a table, in the order named, as a matrix of floats."""
    block = np.empty((len(frame), len(names)))
    for place, name in enumerate(names):
        column = _column(frame, name)
        refuse_lossy(column, f"column {name!r}")
        try:
            block[:, place] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise ValueError(
                f"got column {name!r} of type {column.dtype}; expected numbers: encode it"
                " (one-hot, for example) or leave it out."
            ) from None
    return block


def object_table(
    objects: Any, id_column: str | None, features: Sequence[str] | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Features and ids of an object table; ids are unique and present."""
    ids = objects.index if id_column is None else _column(objects, id_column)
    ids = np.fromiter(ids.tolist(), dtype=object, count=len(ids))
    names = list(objects.columns) if features is None else list(features)
    names = [name for name in names if name != id_column]
    (repeated, count), *_ = Counter(ids.tolist()).most_common(1) or [(None, 0)]
    if count > 1:
        raise ValueError(
            f"got object id {repeated!r} more than once; expected each id in one row: drop the"
            " repeated rows."
        )
    return feature_block(objects, names), ids


def _wanted_ids(frame: Any, name: str) -> list[Any]:
    """Ids in a column of pairs, none of them missing."""
    column = _column(frame, name)
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"got {n_missing} missing id(s) in column {name!r}; expected every row to name two"
            " objects: fill the ids in or drop those rows."
        )
    wanted: list[Any] = column.tolist()
    return wanted


def locate_ids(frame: Any, column: str, ids: NDArray[Any]) -> NDArray[np.intp]:
    """Row numbers in the object table of the ids in a column of pairs."""
    place = {identity: row for row, identity in enumerate(ids.tolist())}
    wanted = _wanted_ids(frame, column)
    unknown = [identity for identity in wanted if identity not in place]
    if unknown:
        raise ValueError(
            f"got {len(unknown)} ids in column {column!r} that the objects do not have, the first"
            f" {unknown[0]!r}; expected every id to name an object: add it or drop the pair."
        )
    return np.array([place[identity] for identity in wanted], dtype=np.intp)


def identity_objects(
    frame: Any, first: str, second: str
) -> tuple[sp.csr_array, NDArray[Any], list[NDArray[np.intp]]]:
    """One indicator feature per id, when there is no table of objects."""
    found = dict.fromkeys(_wanted_ids(frame, first) + _wanted_ids(frame, second))
    try:
        ordered = sorted(found)
    except TypeError:  # ids of several types have no order but that of appearance
        ordered = list(found)
    ids = np.fromiter(ordered, dtype=object, count=len(ordered))
    places = [locate_ids(frame, name, ids) for name in (first, second)]
    return sp.csr_array(sp.identity(len(ids), format="csr")), ids, places
