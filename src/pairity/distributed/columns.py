"""Columns of a table of pairs turned into numbers, or a sentence that names file and row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.parts import Part
from pairity.exceptions import DataError
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.from_tables import numbers_of


@dataclass(frozen=True)
class Columns:
    """What the columns of a table of pairs are."""

    first: str
    second: str
    symmetric: tuple[str, ...] = ()
    antisymmetric: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        listed = [self.first, self.second, *self.symmetric, *self.antisymmetric]
        listed += [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys(listed))


@dataclass(frozen=True)
class Encoded:
    """Pairs of one piece as row numbers of objects, with everything else as numbers."""

    place: str  # what to call the piece in a message
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    symmetric: NDArray[np.float64]
    antisymmetric: NDArray[np.float64]
    target: Any  # as it stands in the table
    weight: NDArray[np.float64] | None

    def pairs(self, objects: ObjectTable, ids: NDArray[Any] | None = None) -> Pairs:
        """The pairs over a table of all objects."""
        ends = self.first.astype(np.intp), self.second.astype(np.intp)
        return Pairs._trusted(objects, *ends, self.symmetric, self.antisymmetric, ids)

    def checksum(self) -> str:
        """The same for the same pairs in the same order, wherever and whenever they are read."""
        from pandas.util import hash_pandas_object

        digest = sha256(f"{len(self.first)} {self.symmetric.shape[1]}".encode())
        for numbers in (self.first, self.second, self.symmetric, self.antisymmetric):
            digest.update(numbers.tobytes())
        if self.target is not None:
            digest.update(hash_pandas_object(self.target, index=False).to_numpy().tobytes())
        if self.weight is not None:
            digest.update(self.weight.tobytes())
        return digest.hexdigest()


def encode(part: Part, columns: Columns, index: Any, *, odd: bool) -> Iterator[Encoded]:
    """Pieces of a part.  ``index`` is the pandas index of the ids of all objects.

    ``odd`` refuses pairs of an object with itself: an antisymmetric function is 0 there.
    """
    for place, frame in part.frames(columns.names):
        first, second = (
            _locate(frame[name], index, place) for name in (columns.first, columns.second)
        )
        symmetric = _numbers(frame, columns.symmetric, place)
        antisymmetric = _numbers(frame, columns.antisymmetric, place)
        alone = first == second
        if alone.any() and (odd or antisymmetric[alone].any()):
            raise DataError(
                f"got row {int(np.argmax(alone))} of {place} that pairs"
                f" {_shown(index[first[alone][0]])} with itself; expected two objects: an"
                " antisymmetric function or feature is 0 there, so drop such rows."
            )
        target = None if columns.target is None else frame[columns.target]
        if target is not None and target.isna().any():
            raise DataError(
                f"got no value of {columns.target!r} in row {int(target.isna().to_numpy().argmax())} of"
                f" {place}; expected one in every row: drop those rows."
            )
        weight = None
        if columns.weight is not None:
            weight = _numbers(frame, (columns.weight,), place)[:, 0]
            if (weight < 0).any():
                raise DataError(
                    f"got a negative weight in row {int(np.argmax(weight < 0))} of {place}; expected"
                    " weights of at least 0."
                )
        yield Encoded(place, first, second, symmetric, antisymmetric, target, weight)


def ids_of(part: Part, columns: Columns) -> Any:
    """Distinct ids of a part, as a pandas index."""
    import pandas as pd

    ids = pd.Index([])
    for place, frame in part.frames([columns.first, columns.second]):
        for name in (columns.first, columns.second):
            _refuse_missing(frame[name], place)
            values = pd.Index(frame[name].unique())
            ids = ids.union(values, sort=False) if len(ids) else values
    return ids


def _locate(column: Any, index: Any, place: str) -> NDArray[np.int32]:
    rows: NDArray[np.intp] = index.get_indexer(column)
    unknown = rows < 0
    if unknown.any():
        _refuse_missing(column, place)
        row = int(np.argmax(unknown))
        value = column.iloc[row]
        raise DataError(
            f"got the id {_shown(value)} ({type(value).__name__}) in row {row}, column {column.name!r}"
            f" of {place}, which the objects do not have ({int(unknown.sum())} such rows there; their"
            f" ids are like {_shown(index[0])}); expected every id to name an object: add it or drop"
            " the pair."
        )
    return rows.astype(np.int32)


def _shown(value: Any) -> str:
    """An id as a person would write it."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def _refuse_missing(column: Any, place: str) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise DataError(
            f"got no id in row {int(np.argmax(missing))}, column {column.name!r} of {place}; expected"
            " every row to name two objects: fill the ids in or drop those rows."
        )


def _numbers(frame: Any, names: tuple[str, ...], place: str) -> NDArray[np.float64]:
    block = numbers_of(frame, names, place)
    wrong = ~np.isfinite(block).all(axis=1)
    if wrong.any():
        raise DataError(
            f"got NaN or infinity in row {int(np.argmax(wrong))} of {place} among {list(names)};"
            " expected numbers: fill them in or drop those rows."
        )
    return block
