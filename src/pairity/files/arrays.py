"""The table of arrays of a model file.

Numbers are raw little-endian bytes in the order of the table, so that no place is written down and
all bytes are accounted for.  Texts and arrays of Python objects are lists in the table itself.
An array that a model holds twice is written once, and is one array again after loading.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import ModelFileError
from pairity.files.container import padding

__all__ = ["ArrayReader", "ArrayWriter", "array_bytes", "scalar_type", "type_name"]

_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
#: Types of raw arrays by their names in files.
_TYPES: dict[str, np.dtype[Any]] = {
    **{
        name: np.dtype(name).newbyteorder("<")
        for name in (
            *("bool", "float16", "float32", "float64"),
            *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        )
    },
    **{
        f"{kind}64[{unit}]": np.dtype(f"<{code}8[{unit}]")
        for kind, code in (("datetime", "M"), ("timedelta", "m"))
        for unit in _UNITS
    },
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_MOST_DIMENSIONS = 4
#: Characters that an array of texts may reserve beyond its longest text.
_RESERVED = 64

Encode = Callable[[Any, str], Any]
Decode = Callable[[Any], Any]


def scalar_type(name: Any) -> np.dtype[Any]:
    """Type of a NumPy number by its name in files."""
    if type(name) is not str or name not in _TYPES:
        raise ModelFileError(f"got a number type that is none of {', '.join(_TYPES)}.")
    return _TYPES[name]


def type_name(dtype: np.dtype[Any]) -> str | None:
    """Name of a type in files; None for one that is not stored."""
    return _NAMES.get(dtype.newbyteorder("<"))


class ArrayWriter:
    """Collects arrays; ``table`` and ``parts`` go into the file."""

    def __init__(self, encode: Encode) -> None:
        self.table: list[dict[str, Any]] = []
        self.parts: list[memoryview] = []
        self._encode = encode
        self._places: dict[int, int] = {}
        self._kept: list[NDArray[Any]] = []  # so that no address is used twice

    def add(self, array: NDArray[Any], where: str) -> int:
        """Place of an array in the table; the same for the same array."""
        if id(array) not in self._places:
            entry = self._entry(array, where)
            self._places[id(array)] = len(self.table)
            self._kept.append(array)
            self.table.append(entry)
        return self._places[id(array)]

    def _entry(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        shape = list(array.shape)
        if array.ndim > _MOST_DIMENSIONS:
            raise ModelFileError(
                f"got {where} with {array.ndim} dimensions; expected at most {_MOST_DIMENSIONS}."
            )
        if array.dtype.kind == "O":
            items = [self._encode(item, where) for item in array.ravel().tolist()]
            return {"type": "objects", "shape": shape, "items": items}
        if array.dtype.kind == "U":
            texts = array.ravel().tolist()
            longest = max(map(len, texts), default=0)
            width = min(array.dtype.itemsize // 4, longest + _RESERVED)
            return {"type": "texts", "shape": shape, "items": texts, "width": width}
        name = type_name(array.dtype)
        if name is None:
            raise ModelFileError(
                f"got {where} of type {array.dtype}; expected numbers, texts or plain objects: convert"
                " it before saving."
            )
        # a matrix product may round differently for another order in memory
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        ordered = np.ascontiguousarray(array.T if by_columns else array, _TYPES[name])
        self.parts.append(ordered.reshape(-1).view(np.uint8).data)
        return {"type": name, "shape": shape, "order": "F" if by_columns else "C"}


class ArrayReader:
    """Arrays of a file by their places; all bytes must be accounted for."""

    def __init__(self, table: Any, content: memoryview, decode: Decode) -> None:
        self._table, self._decode = table, decode
        self._read: dict[int, NDArray[Any]] = {}
        self._parts: dict[int, memoryview] = {}
        start = 0
        for place, entry in enumerate(table):
            if entry["type"] in ("objects", "texts"):
                continue
            length = _size(entry) * scalar_type(entry["type"]).itemsize
            stop = start + length + padding(length)
            if stop > len(content) or any(content[start + length : stop]):
                raise ModelFileError("got arrays longer than announced; expected them to fit.")
            self._parts[place] = content[start : start + length]
            start = stop
        if start != len(content):
            raise ModelFileError("got bytes that belong to no array; expected none.")

    def __getitem__(self, place: Any) -> NDArray[Any]:
        if type(place) is not int or not 0 <= place < len(self._table):
            raise ModelFileError(
                f"got an array that is none of {len(self._table)}; expected one of them."
            )
        if place not in self._read:
            self._read[place] = self._made(place, self._table[place])
        return self._read[place]

    def _made(self, place: int, entry: Any) -> NDArray[Any]:
        shape = tuple(entry["shape"])
        if place in self._parts:
            return _numbers(self._parts[place], entry, shape)
        items = entry["items"]
        if type(items) is not list or len(items) != _size(entry):
            raise ModelFileError("got a list that does not fill its array; expected it to.")
        if entry["type"] == "texts":
            return _texts(items, entry["width"]).reshape(shape)
        values = np.empty(len(items), dtype=object)
        for row, item in enumerate(items):
            values[row] = self._decode(item)
        return values.reshape(shape)


def array_bytes(entry: Any) -> int:
    """Bytes that an array of the table takes in memory."""
    size = _size(entry)
    if entry["type"] == "objects":
        return 8 * size
    if entry["type"] == "texts":
        return 4 * size * _width(entry["items"], entry["width"])
    return size * scalar_type(entry["type"]).itemsize


def _size(entry: Any) -> int:
    shape = entry["shape"]
    whole = type(shape) is list and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
    if not whole or len(shape) > _MOST_DIMENSIONS:
        raise ModelFileError("got an array without a shape; expected a list of whole numbers.")
    return math.prod(shape)


def _numbers(part: memoryview, entry: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    dtype = scalar_type(entry["type"])
    if dtype.kind == "b" and np.frombuffer(part, dtype=np.uint8).max(initial=0) > 1:
        raise ModelFileError("got truth values other than 0 and 1; expected those.")
    # a copy of its own: writeable, aligned, and in the byte order of this machine
    values = np.frombuffer(part, dtype=dtype).astype(dtype.newbyteorder("="), copy=True)
    if entry["order"] == "F":
        return values.reshape(shape[::-1]).T
    return values.reshape(shape)


def _texts(items: list[Any], width: Any) -> NDArray[Any]:
    kind = f"U{_width(items, width)}"
    return np.array(items, dtype=f"<{kind}").astype(f"={kind}")


def _width(items: list[Any], width: Any) -> int:
    """Characters that each text of an array has room for."""
    if type(items) is not list or any(type(item) is not str for item in items):
        raise ModelFileError("got something else than texts in an array of texts.")
    longest = max(map(len, items), default=0)
    if type(width) is not int or not longest <= width <= longest + _RESERVED:
        raise ModelFileError(f"got texts of length {longest} in an array of another width.")
    return max(1, width)
