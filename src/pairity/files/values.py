"""Plain values as JSON, and back.

``None``, truth values, whole numbers, finite fractions, texts and lists are themselves.  Everything
else is an object with the key ``"$"``, which names one of the decoders below or in ``composites``.
"""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pairity.exceptions import ModelFileError
from pairity.files.arrays import ArrayReader, ArrayWriter, scalar_type, type_name

__all__ = [
    "Decoder",
    "Encoder",
    "check_keys",
    "decodes",
    "encodes",
    "encodes_family",
    "is_scalar",
    "refuse_value",
]

#: Bits of a whole number: JSON readers limit the digits they accept.
_MOST_BITS = 10_000

Encode = Callable[["Encoder", Any, str], Any]
Decode = Callable[["Decoder", dict[str, Any]], Any]

#: Kinds of values that are written once each: what a model holds in two places, it still holds
#: in two places after loading, as one object.
SHARED = frozenset({"pairs", "sparse", "kernel", "estimator", "record"})

_SCALARS = (
    *(bool, int, float, str, bytes, np.generic),
    *(datetime.date, datetime.time, decimal.Decimal, uuid.UUID),  # datetimes are dates
)

_encoders: dict[type[Any], Encode] = {}
_families: list[tuple[type[Any], Encode]] = []
_decoders: dict[str, Decode] = {}


class Encoder:
    """Turns values into JSON, and arrays into entries of a table."""

    def __init__(self) -> None:
        self.arrays = ArrayWriter(self.value)
        self.objects: list[Any] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no address is used twice

    def value(self, value: Any, where: str) -> Any:
        """JSON for a value; ``where`` names it in messages."""
        if id(value) not in self._places:
            item = _encoder_of(value)(self, value, where)
            if type(item) is not dict or item["$"] not in SHARED:
                return item
            self._places[id(value)] = len(self.objects)
            self._kept.append(value)
            self.objects.append(item)
        return {"$": "object", "place": self._places[id(value)]}


def _encoder_of(value: Any) -> Encode:
    exact = _encoders.get(type(value))
    if exact is not None:
        return exact
    return next((encode for base, encode in _families if isinstance(value, base)), _refuse)


class Decoder:
    """Turns JSON back into values."""

    def __init__(self, objects: Any, table: Any, content: memoryview) -> None:
        self.arrays = ArrayReader(table, content, self.value)
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
        return _decoders[tag](self, item)


def encodes(*types: type[Any]) -> Callable[[Encode], Encode]:
    """Declare how values of exactly these types are encoded."""

    def declare(function: Encode) -> Encode:
        _encoders.update(dict.fromkeys(types, function))
        return function

    return declare


def encodes_family(*bases: type[Any]) -> Callable[[Encode], Encode]:
    """Declare how values of these types and their subclasses are encoded; the first one counts."""

    def declare(function: Encode) -> Encode:
        _families.extend((base, function) for base in bases)
        return function

    return declare


def decodes(tag: str) -> Callable[[Decode], Decode]:
    """Declare how values with this tag are decoded."""

    def declare(function: Decode) -> Decode:
        _decoders[tag] = function
        return function

    return declare


def _refuse(encoder: Encoder, value: Any, where: str) -> Any:
    return refuse_value(value, where)


def refuse_value(value: Any, where: str) -> Any:
    """Say that a value is none that a file can hold."""
    described = "a function" if callable(value) else f"an object of {type(value).__name__}"
    raise ModelFileError(
        f"got {described} as {where}; expected plain data, which is all that a model file holds:"
        " leave it out, or register a class of yours with pairity.files.register."
    )


def check_keys(item: dict[str, Any], *names: str) -> None:
    """Refuse an object with other keys than these."""
    if set(item) != {"$", *names}:
        raise ModelFileError(f"got a value with other keys than {', '.join(sorted(names))}.")


@decodes("object")
def _read_object(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "place")
    if type(item["place"]) is not int or not 0 <= item["place"] < len(decoder.objects):
        raise ModelFileError("got a reference to an object; expected one that came before.")
    return decoder.objects[item["place"]]


# Values that are themselves ---------------------------------------------------------------------


@encodes(type(None), bool, str)
def _same(encoder: Encoder, value: Any, where: str) -> Any:
    return value


@encodes(int)
def _whole(encoder: Encoder, value: int, where: str) -> Any:
    if value.bit_length() > _MOST_BITS:
        raise ModelFileError(f"got a whole number of {value.bit_length()} bits as {where}.")
    return value


@encodes(float)
def _fraction(encoder: Encoder, value: float, where: str) -> Any:
    return value if math.isfinite(value) else {"$": "float", "value": repr(value)}


@decodes("float")
def _read_fraction(decoder: Decoder, item: dict[str, Any]) -> float:
    check_keys(item, "value")
    if item["value"] not in ("nan", "inf", "-inf"):
        raise ModelFileError("got a number that is none; expected nan, inf or -inf.")
    return float(item["value"])


# Containers -------------------------------------------------------------------------------------


@encodes(list)
def _list(encoder: Encoder, value: list[Any], where: str) -> Any:
    return [encoder.value(entry, f"{where}[{place}]") for place, entry in enumerate(value)]


@encodes(tuple)
def _tuple(encoder: Encoder, value: tuple[Any, ...], where: str) -> Any:
    return {"$": "tuple", "items": _list(encoder, list(value), where)}


@decodes("tuple")
def _read_tuple(decoder: Decoder, item: dict[str, Any]) -> tuple[Any, ...]:
    check_keys(item, "items")
    return tuple(decoder.value(entry) for entry in item["items"])


@encodes(dict)
def _dict(encoder: Encoder, value: dict[Any, Any], where: str) -> Any:
    _refuse_keys(value)
    items = [
        [encoder.value(key, f"a key of {where}"), encoder.value(entry, f"{where}[{key!r}]")]
        for key, entry in value.items()
    ]
    return {"$": "dict", "items": items}


@decodes("dict")
def _read_dict(decoder: Decoder, item: dict[str, Any]) -> dict[Any, Any]:
    check_keys(item, "items")
    pairs = [(decoder.value(key), decoder.value(entry)) for key, entry in item["items"]]
    _refuse_keys(key for key, _ in pairs)  # before one of them is hashed
    return dict(pairs)


def _refuse_keys(keys: Iterable[Any]) -> None:
    """Refuse keys that are more than a value, or a few of them: hashing others may take long."""
    for key in keys:
        parts = key if type(key) is tuple else (key,)
        if not all(is_scalar(part) for part in parts):
            raise ModelFileError("got a key that is no number, text or date; expected one of them.")


def is_scalar(value: Any) -> bool:
    """Whether a value is one number, text, date or the like: what ids and labels are."""
    return value is None or isinstance(value, _SCALARS)


# Numbers and arrays of NumPy --------------------------------------------------------------------


@encodes_family(np.generic)
def _scalar(encoder: Encoder, value: np.generic, where: str) -> Any:
    if value.dtype.kind == "U":
        return {"$": "scalar", "type": "text", "value": str(value)}
    name = type_name(value.dtype)
    if name is None:
        raise ModelFileError(f"got {where} of type {value.dtype}; expected a number or a text.")
    # dates as counts of their unit
    plain = value.view(np.int64).item() if value.dtype.kind in "Mm" else value.item()
    return {"$": "scalar", "type": name, "value": encoder.value(plain, where)}


@decodes("scalar")
def _read_scalar(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "type", "value")
    value = decoder.value(item["value"])
    if item["type"] == "text":
        return np.str_(_expect(value, str))
    dtype = scalar_type(item["type"])
    wanted = {"b": bool, "f": float}.get(dtype.kind, int)
    count = np.array(_expect(value, wanted), dtype=np.int64 if dtype.kind in "Mm" else dtype)
    return count.view(dtype)[()]


@encodes_family(np.ndarray)
def _array(encoder: Encoder, value: Any, where: str) -> Any:
    if type(value) is not np.ndarray:
        raise ModelFileError(
            f"got {type(value).__name__} as {where}; expected a plain array: convert it before saving."
        )
    return {"$": "array", "place": encoder.arrays.add(value, where)}


@decodes("array")
def _read_array(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "place")
    return decoder.arrays[item["place"]]


def _expect(value: Any, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"got {type(value).__name__}; expected {kind.__name__}.")
    return value


# Things that ids and labels are made of ---------------------------------------------------------


def _as_text(tag: str, kind: type[Any], write: Any, read: Any) -> None:
    """Values that have a text form of their own."""

    def encode(encoder: Encoder, value: Any, where: str) -> Any:
        return {"$": tag, "value": write(value)}

    def decode(decoder: Decoder, item: dict[str, Any]) -> Any:
        check_keys(item, "value")
        return read(_expect(item["value"], str))

    encodes(kind)(encode)
    decodes(tag)(decode)


_as_text("bytes", bytes, bytes.hex, bytes.fromhex)
_as_text("date", datetime.date, datetime.date.isoformat, datetime.date.fromisoformat)
_as_text("time", datetime.time, datetime.time.isoformat, datetime.time.fromisoformat)
_as_text(
    "datetime", datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat
)
_as_text("decimal", decimal.Decimal, str, decimal.Decimal)
_as_text("uuid", uuid.UUID, str, uuid.UUID)
