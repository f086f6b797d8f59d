"""How much a header may unfold to, measured before anything of it is built.

A value that is written once may be referred to many times, and what is referred to may refer to
others: a few lines can stand for 2^60 values.  Whoever shows, hashes or copies such a model walks
through all of them.  So the header is measured as it unfolds, every reference counted as what it
refers to, and what unfolds to far more than the file is long is refused, on saving and on loading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pairity.exceptions import ModelFileError
from pairity.files.arrays import array_bytes

__all__ = ["refuse_unfolding"]

#: Values and bytes of arrays, for each byte of the file and at any rate.
_MOST_VALUES, _ANY_VALUES = 8, 5_000
_MOST_BYTES, _ANY_BYTES = 256, 1_000_000
#: How deep values may be inside one another.
_MOST_LEVELS = 150


@dataclass(frozen=True)
class _Size:
    values: int
    n_bytes: int
    levels: int


def refuse_unfolding(header: Any, n_bytes: int) -> None:
    """Refuse a header that unfolds to far more than a file of so many bytes."""
    measure = _Measure(header["objects"], header["arrays"], n_bytes)
    measure.sum_of([header["model"], header["metadata"]])
    # also what nothing refers to is decoded
    for kind, table in (("object", header["objects"]), ("array", header["arrays"])):
        for place in range(len(table)):
            measure.referred(kind, place)


class _Measure:
    """Sizes of the values of a header; those of its two tables are found once."""

    def __init__(self, objects: Any, arrays: Any, n_bytes: int) -> None:
        if type(objects) is not list or type(arrays) is not list:
            raise ModelFileError("got a header without tables; expected lists.")
        self._tables = {"object": objects, "array": arrays}
        self._known: dict[tuple[str, int], _Size | None] = {}
        self._n_bytes = n_bytes
        self._most_values = _MOST_VALUES * n_bytes + _ANY_VALUES
        self._most_bytes = _MOST_BYTES * n_bytes + _ANY_BYTES

    def sum_of(self, items: Any, level: int = 1) -> _Size:
        """Size of some values together, one level above theirs."""
        values, n_bytes, levels = 1, 0, 0
        for item in items:
            if type(item) is dict or type(item) is list:
                size = self._of(item, level + 1)
                values += size.values
                n_bytes += size.n_bytes
                levels = max(levels, size.levels)
            else:
                values += 1
        return self._allowed(_Size(values, n_bytes, levels + 1))

    def _of(self, item: Any, level: int) -> _Size:
        if level > _MOST_LEVELS:
            raise ModelFileError(_too("values inside one another", level, _MOST_LEVELS))
        if type(item) is list:
            return self.sum_of(item, level)
        if item.get("$") in self._tables and set(item) == {"$", "place"}:
            return self.referred(item["$"], item["place"], level)
        if item.get("$") == "sparse":  # names its arrays by their places alone
            places = (item.get(name) for name in ("data", "indices", "indptr"))
            return self.sum_of([{"$": "array", "place": place} for place in places], level)
        return self.sum_of(item.values(), level)

    def referred(self, kind: str, place: Any, level: int = 1) -> _Size:
        """Size of an entry of a table."""
        table = self._tables[kind]
        if type(place) is not int or not 0 <= place < len(table):
            raise ModelFileError(f"got a reference to an {kind} that is not there.")
        key = kind, place
        if key not in self._known:
            self._known[key] = None  # until it is known
            entry = table[place]
            size = self._of(entry, level + 1) if type(entry) is dict else _Size(1, 0, 1)
            if kind == "array":
                size = self._of_array(entry, size)
            self._known[key] = size
        found = self._known[key]
        if found is None:
            raise ModelFileError(
                f"got an {kind} that contains itself; expected only references to one that came before."
            )
        return found

    def _of_array(self, entry: Any, size: _Size) -> _Size:
        if any(length > self._n_bytes for length in entry["shape"]):
            raise ModelFileError(_too("rows or columns", max(entry["shape"]), self._n_bytes))
        return self._allowed(_Size(size.values, size.n_bytes + array_bytes(entry), size.levels))

    def _allowed(self, size: _Size) -> _Size:
        if size.values > self._most_values:
            raise ModelFileError(_too("values", size.values, self._most_values))
        if size.n_bytes > self._most_bytes:
            raise ModelFileError(_too("bytes of arrays", size.n_bytes, self._most_bytes))
        if size.levels > _MOST_LEVELS:
            raise ModelFileError(_too("values inside one another", size.levels, _MOST_LEVELS))
        return size


def _too(what: str, got: int, most: int) -> str:
    shown = str(got) if got < 10**15 else f"10^{int(math.log10(got))}"
    return f"got a header that unfolds to {shown} {what}; expected at most {most} in a file of its size"
