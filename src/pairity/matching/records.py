"""Records of one or two raw tables, side by side, each column read once by what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import DataError
from pairity.matching.ngrams import PLACES, counts, weighted
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.column_kinds import (
    Kind,
    Texts,
    day_in,
    kind_of_column,
    latitude_in,
    longitude_in,
    number_in,
    plain_texts,
    readings,
)
from pairity.pairs.from_tables import (
    as_objects,
    as_pandas,
    ids_in,
    refuse_repeated,
    text_of,
)

#: How values of a kind are read as numbers.
_READ = {Kind.NUMBER: (number_in,), Kind.DATE: (day_in,), Kind.GEO: (latitude_in, longitude_in)}


@dataclass(frozen=True, eq=False)
class Column:
    """One column of all records: plain texts, empty where missing, and numbers of those that are."""

    name: str
    kind: Kind
    texts: Texts  # (m,)
    numbers: tuple[Vector, ...]  # (m,) each, NaN where missing

    @classmethod
    def read(cls, name: str, texts: Texts, kind: Kind) -> Column:
        """Read texts as what the column holds; what cannot be read counts as missing."""
        numbers = tuple(readings(texts, read) for read in _READ.get(kind, ()))
        if numbers:
            texts = np.where(np.isnan(numbers[0]), "", texts)
        return cls(name, kind, texts, numbers)

    @cached_property
    def letters(self) -> sp.csr_array:
        """Counts of the n-grams of letters, shape (m, places)."""
        return counts(self.texts, "char_wb")

    def in_records(self) -> sp.csr_array | None:
        """What the column adds to the n-grams of whole records; codes count as a whole too."""
        if self.kind in (Kind.TEXT, Kind.NAME):
            return self.letters
        if self.kind in (Kind.NUMBER, Kind.GEO):  # close numbers share no n-grams
            return None
        marked = [f"{self.name}{text}" if text else "" for text in self.texts.tolist()]
        return sp.csr_array(counts(as_objects(marked), "word") + self.letters)

    @property
    def missing(self) -> Any:
        """Which records have no value, shape (m,)."""
        return self.texts == ""


@dataclass(frozen=True, eq=False)
class Records:
    """All records: those of the first table, then those of the second, if there is one.

    Attributes
    ----------
    ids : ndarray of str of shape (m,)
        Texts of the ids; row numbers where no column holds ids.
    n_left : int
        Records of the first table.
    linking : bool
        Whether there are two tables: pairs are then one record of each.
    columns : tuple of Column
        Those that both tables have, apart from the ids.
    left_out : dict of str to str
        Columns that are not compared, and why.
    """

    ids: Texts
    n_left: int
    linking: bool
    columns: tuple[Column, ...]
    left_out: dict[str, str]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def kinds(self) -> dict[str, str]:
        """What each compared column holds."""
        return {column.name: column.kind.value for column in self.columns}

    @cached_property
    def vectors(self) -> sp.csr_array:
        """N-gram vectors of whole records, unit rows."""
        parts = [part for part in (c.in_records() for c in self.columns) if part is not None]
        return weighted(sum(parts, sp.csr_array((len(self), PLACES))))

    def sides(self) -> tuple[Places, Places]:
        """Rows of the first and of the second table; of one table all rows twice."""
        every = np.arange(len(self))
        return (every[: self.n_left], every[self.n_left :]) if self.linking else (every, every)

    @classmethod
    def read(
        cls,
        left: Any,
        right: Any = None,
        *,
        id: str | None = None,
        kinds: Mapping[str, str] | None = None,
        ignore: Sequence[str] = (),
    ) -> Records:
        """Read one or two tables; ``kinds`` overrules what the content says."""
        tables = [as_pandas(table) for table in (left, right) if table is not None]
        if id is None and all("id" in table.columns for table in tables):
            id = "id"
        ids = [_ids(table, id) for table in tables]
        _refuse_unknown(tables, [*(kinds or {}), *ignore])
        names = [name for name in map(str, tables[0].columns) if name not in (id, *ignore)]
        left_out = dict.fromkeys(ignore, "told to")
        for table in tables:
            left_out |= {
                str(name): "in one table only"
                for name in table.columns
                if str(name) not in (id, *ignore) and any(name not in other for other in tables)
            }
        columns = []
        for name in (name for name in names if name not in left_out):
            texts = plain_texts(value for table in tables for value in table[name].tolist())
            kind = _kind(name, texts, kinds or {})
            if kind is None:
                left_out[name] = "no value"
            else:
                columns.append(Column.read(name, texts, kind))
        if not columns:
            raise DataError(
                "got no column to compare; expected columns of the same name in both tables, besides"
                " the ids: rename them."
            )
        return cls(
            np.concatenate(ids), len(ids[0]), len(tables) == 2, _with_places(columns), left_out
        )


def _refuse_unknown(tables: Sequence[Any], named: Sequence[str]) -> None:
    """Refuse names of columns that no table has."""
    known = {str(column) for table in tables for column in table.columns}
    for name in named:
        if name not in known:
            raise DataError(
                f"got {name!r}, which is no column of the records; expected one of"
                f" {', '.join(sorted(known))}."
            )


def _ids(table: Any, id: str | None) -> Texts:
    """Texts of the ids of a table, each once."""
    if id is None:
        return as_objects(map(str, range(len(table))))
    ids = as_objects(map(text_of, ids_in(table, id)))
    refuse_repeated(
        ids.tolist(),
        "got the id {value!r} in {count} rows; expected each record in one row: drop the repeated"
        " rows, or name another column of ids.",
    )
    return ids


def _kind(name: str, texts: Texts, given: Mapping[str, str]) -> Kind | None:
    if name not in given:
        return kind_of_column(texts)
    try:
        return Kind(given[name])
    except ValueError:
        known = ", ".join(kind.value for kind in Kind)
        raise DataError(
            f"got {given[name]!r} for column {name!r}; expected one of {known}."
        ) from None


def _with_places(columns: list[Column]) -> tuple[Column, ...]:
    """Columns of latitude and longitude as one place."""
    numbers = {column.name.lower(): column for column in columns if column.kind is Kind.NUMBER}
    for north, east in (("latitude", "longitude"), ("lat", "lon"), ("lat", "lng"), ("lat", "long")):
        if north in numbers and east in numbers:
            one, other = pair = numbers[north], numbers[east]
            texts = np.where(one.missing | other.missing, "", one.texts + ", " + other.texts)
            values = one.numbers[0], other.numbers[0]
            place = Column(f"{one.name}, {other.name}", Kind.GEO, texts, values)
            return (*(column for column in columns if column not in pair), place)
    return tuple(columns)
