"""Plain values as JSON, arrays as entries of a table, and back.

``None``, truth values, whole numbers, finite fractions, texts and lists are themselves.  Everything
else is an object with the key ``"$"``, which names one of the decoders below or in ``composites``.

Arrays are entries of a table.  Numbers are raw little-endian bytes in the order of the table, so that
no place is written down and all bytes are accounted for.  Texts and arrays of Python objects are
lists in the table itself.  What a model holds in two places is written once, and is one object again
after loading.
"""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import ModelFileError

#: Arrays are padded with zeros to a multiple of this number of bytes.
ALIGNMENT = 8
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
        for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
    },
}
TYPE_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_MOST_DIMENSIONS = 4
#: Characters that an array of texts may reserve beyond its longest text.
_RESERVED = 64
#: Bits of a whole number: JSON readers limit the digits they accept.
_MOST_BITS = 10_000
#: Kinds of values that are written once each.
_SHARED = frozenset({"pairs", "pairs at times", "sparse", "kernel", "estimator", "record"})
_SCALARS = (
    *(bool, int, float, str, bytes, np.generic),
    *(datetime.date, datetime.time, decimal.Decimal, uuid.UUID),  # datetimes are dates
)

Encode = Callable[["Encoder", Any, str], Any]
Decode = Callable[..., Any]
_encoders: dict[type[Any], Encode] = {}
_families: list[tuple[type[Any], Encode]] = []
_decoders: dict[str, tuple[frozenset[str], Decode]] = {}


def padding(length: int) -> int:
    """Zeros that follow an array of so many bytes."""
    return -length % ALIGNMENT


class Encoder:
    """Turns values into JSON; ``objects``, ``table`` and ``parts`` go into the file as well."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.table: list[dict[str, Any]] = []
        self.parts: list[memoryview] = []
        # places by address, and what is there, so that no address is used twice
        self._objects: dict[int, tuple[int, Any]] = {}
        self._arrays: dict[int, tuple[int, Any]] = {}

    def value(self, value: Any, where: str) -> Any:
        """JSON for a value; ``where`` names it in messages."""
        if id(value) not in self._objects:
            encode = _encoders.get(type(value)) or next(
                (encode for base, encode in _families if isinstance(value, base)), refuse_value
            )
            item = encode(self, value, where)
            if type(item) is not dict or item["$"] not in _SHARED:
                return item
            self._objects[id(value)] = len(self.objects), value
            self.objects.append(item)
        return {"$": "object", "place": self._objects[id(value)][0]}

    def array(self, array: NDArray[Any], where: str) -> int:
        """Place of an array in the table; the same for the same array."""
        if id(array) not in self._arrays:
            entry = self._entry(array, where)
            self._arrays[id(array)] = len(self.table), array
            self.table.append(entry)
        return self._arrays[id(array)][0]

    def _entry(self, array: NDArray[Any], where: str) -> dict[str, Any]:
        shape = list(array.shape)
        if array.ndim > _MOST_DIMENSIONS:
            raise ModelFileError(
                f"got {where} with {array.ndim} dimensions; expected at most {_MOST_DIMENSIONS}."
            )
        if array.dtype.kind == "O":
            items = [self.value(item, where) for item in array.ravel().tolist()]
            return {"type": "objects", "shape": shape, "items": items}
        if array.dtype.kind == "U":
            texts = array.ravel().tolist()
            width = min(array.dtype.itemsize // 4, max(map(len, texts), default=0) + _RESERVED)
            return {"type": "texts", "shape": shape, "items": texts, "width": width}
        name = TYPE_NAMES.get(array.dtype.newbyteorder("<"))
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


class Decoder:
    """Turns JSON back into values; all bytes of the arrays must be accounted for."""

    def __init__(self, objects: Any, table: Any, content: memoryview) -> None:
        self._table = table
        self._arrays: dict[int, NDArray[Any]] = {}
        self._parts: dict[int, memoryview] = {}
        start = 0
        for place, entry in enumerate(table):
            if entry["type"] not in ("objects", "texts"):
                length = array_bytes(entry)
                stop = start + length + padding(length)
                if stop > len(content) or any(content[start + length : stop]):
                    raise ModelFileError("got arrays longer than announced; expected them to fit.")
                self._parts[place] = content[start : start + length]
                start = stop
        if start != len(content):
            raise ModelFileError("got bytes that belong to no array; expected none.")
        self.objects: list[Any] = []
        for item in objects:  # each may refer to those before it, so none to itself
            self.objects.append(self.value(item))

    def value(self, item: Any) -> Any:
        """Value of a piece of JSON."""
        if item is None or type(item) in (bool, int, float, str):
            return item
        if type(item) is list:
            return [self.value(entry) for entry in item]
        tag = item.get("$")
        if type(tag) is not str or tag not in _decoders:
            raise ModelFileError("got a value of a kind that is not known; expected another.")
        names, decode = _decoders[tag]
        if set(item) != {"$", *names}:
            raise ModelFileError(f"got a value with other keys than {', '.join(sorted(names))}.")
        return decode(self, **{name: item[name] for name in names})

    def array(self, place: Any) -> NDArray[Any]:
        """Array at a place of the table."""
        if type(place) is not int or not 0 <= place < len(self._table):
            raise ModelFileError(
                f"got an array that is none of {len(self._table)}; expected one of them."
            )
        if place not in self._arrays:
            self._arrays[place] = self._made(place, self._table[place])
        return self._arrays[place]

    def _made(self, place: int, entry: Any) -> NDArray[Any]:
        shape = tuple(entry["shape"])
        if place in self._parts:
            part, dtype = self._parts[place], scalar_type(entry["type"])
            if dtype.kind == "b" and np.frombuffer(part, dtype=np.uint8).max(initial=0) > 1:
                raise ModelFileError("got truth values other than 0 and 1; expected those.")
            # a copy of its own: writeable, aligned, and in the byte order of this machine
            values = np.frombuffer(part, dtype=dtype).astype(dtype.newbyteorder("="), copy=True)
            return values.reshape(shape[::-1]).T if entry["order"] == "F" else values.reshape(shape)
        items = entry["items"]
        if type(items) is not list or len(items) != _size(entry):
            raise ModelFileError("got a list that does not fill its array; expected it to.")
        if entry["type"] == "texts":
            kind = f"U{_text_width(items, entry['width'])}"
            return np.array(items, dtype=f"<{kind}").astype(f"={kind}").reshape(shape)
        return np.fromiter(map(self.value, items), dtype=object, count=len(items)).reshape(shape)


def array_bytes(entry: Any) -> int:
    """Bytes that an array of the table takes in memory."""
    size = _size(entry)
    if entry["type"] == "objects":
        return 8 * size
    if entry["type"] == "texts":
        return 4 * size * _text_width(entry["items"], entry["width"])
    return size * scalar_type(entry["type"]).itemsize


def _size(entry: Any) -> int:
    shape = entry["shape"]
    whole = type(shape) is list and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
    if not whole or len(shape) > _MOST_DIMENSIONS:
        raise ModelFileError("got an array without a shape; expected a list of whole numbers.")
    return math.prod(shape)


def _text_width(items: list[Any], width: Any) -> int:
    """Characters that each text of an array has room for."""
    if type(items) is not list or any(type(item) is not str for item in items):
        raise ModelFileError("got something else than texts in an array of texts.")
    longest = max(map(len, items), default=0)
    if type(width) is not int or not longest <= width <= longest + _RESERVED:
        raise ModelFileError(f"got texts of length {longest} in an array of another width.")
    return max(1, width)


def scalar_type(name: Any) -> np.dtype[Any]:
    """Type of a NumPy number by its name in files."""
    if type(name) is not str or name not in _TYPES:
        raise ModelFileError(f"got a number type that is none of {', '.join(_TYPES)}.")
    return _TYPES[name]


# Declarations -----------------------------------------------------------------------------------


def encodes(*types: type[Any], subclasses: bool = False) -> Callable[[Encode], Encode]:
    """Declare how values of exactly these types are encoded.

    With ``subclasses`` also of those derived from them, where none was declared before.
    """

    def declare(function: Encode) -> Encode:
        if subclasses:
            _families.extend((base, function) for base in types)
        else:
            _encoders.update(dict.fromkeys(types, function))
        return function

    return declare


def decodes(tag: str) -> Callable[[Decode], Decode]:
    """Declare how values with this tag are decoded; parameters of the function are their keys."""

    def declare(function: Decode) -> Decode:
        _, *names = signature(function).parameters  # the first one is the decoder
        _decoders[tag] = frozenset(names), function
        return function

    return declare


def refuse_value(encoder: Encoder, value: Any, where: str) -> Any:
    """Say that a value is none that a file can hold."""
    described = "a function" if callable(value) else f"an object of {type(value).__name__}"
    raise ModelFileError(
        f"got {described} as {where}; expected plain data, which is all that a model file holds:"
        " leave it out, or register a class of yours with pairity.io.register."
    )


@decodes("object")
def _read_object(decoder: Decoder, place: Any) -> Any:
    if type(place) is not int or not 0 <= place < len(decoder.objects):
        raise ModelFileError("got a reference to an object; expected one that came before.")
    return decoder.objects[place]


# Plain values and containers --------------------------------------------------------------------


encodes(type(None), bool, str)(lambda encoder, value, where: value)


@encodes(int)
def _whole(encoder: Encoder, value: int, where: str) -> Any:
    if value.bit_length() > _MOST_BITS:
        raise ModelFileError(f"got a whole number of {value.bit_length()} bits as {where}.")
    return value


@encodes(float)
def _fraction(encoder: Encoder, value: float, where: str) -> Any:
    return value if math.isfinite(value) else {"$": "float", "value": repr(value)}


@decodes("float")
def _read_fraction(decoder: Decoder, value: Any) -> float:
    if value not in ("nan", "inf", "-inf"):
        raise ModelFileError("got a number that is none; expected nan, inf or -inf.")
    return float(value)


@encodes(list)
def _list(encoder: Encoder, value: list[Any], where: str) -> Any:
    return [encoder.value(entry, f"{where}[{place}]") for place, entry in enumerate(value)]


@encodes(tuple)
def _tuple(encoder: Encoder, value: tuple[Any, ...], where: str) -> Any:
    return {"$": "tuple", "items": _list(encoder, list(value), where)}


decodes("tuple")(lambda decoder, items: tuple(decoder.value(entry) for entry in items))


@encodes(dict)
def _dict(encoder: Encoder, value: dict[Any, Any], where: str) -> Any:
    _refuse_keys(value)
    items = [
        [encoder.value(key, f"a key of {where}"), encoder.value(entry, f"{where}[{key!r}]")]
        for key, entry in value.items()
    ]
    return {"$": "dict", "items": items}


@decodes("dict")
def _read_dict(decoder: Decoder, items: Any) -> dict[Any, Any]:
    pairs = [(decoder.value(key), decoder.value(entry)) for key, entry in items]
    _refuse_keys(key for key, _ in pairs)  # before one of them is hashed
    return dict(pairs)


def _refuse_keys(keys: Iterable[Any]) -> None:
    if not all(map(is_name, keys)):
        raise ModelFileError("got a key that is no number, text or date; expected one of them.")


def is_scalar(value: Any) -> bool:
    """Whether a value is one number, text, date or the like: what ids and labels are."""
    return value is None or isinstance(value, _SCALARS)


def is_name(value: Any) -> bool:
    """Whether a value is a scalar, or a few of them in a tuple: hashing others may take long."""
    return all(map(is_scalar, value if type(value) is tuple else (value,)))
