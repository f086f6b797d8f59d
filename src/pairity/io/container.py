"""The bytes of a model file, and how much its header may unfold to.

======  ======  ===============================================================================
offset  length  content (numbers are unsigned, little-endian)
======  ======  ===============================================================================
0       8       ``89 50 41 49 52 0D 0A 1A``, that is ``\x89PAIR\r\n\x1a``
8       4       format, now 1
12      8       H, the length of the header
20      8       P, the length of the arrays
28      H       header: JSON in ASCII, keys sorted, no spaces
28+H    P       arrays one after the other, each padded with zeros to a multiple of 8
28+H+P  32      SHA-256 of all bytes before
======  ======  ===============================================================================

The file ends there.  Of a file whose checksum is wrong only the first 28 bytes are looked at.

A value that is written once may be referred to many times, and what is referred to may refer to
others: a few lines can stand for 2^60 values.  Whoever shows, hashes or copies such a model walks
through all of them.  So the header is measured as it unfolds, every reference counted as what it
refers to, before anything of it is built, and what unfolds to far more than the file is long is
refused, on saving and on loading.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from pairity._version import __version__
from pairity.exceptions import ModelFileError, gist
from pairity.io.values import array_bytes, padding
from pairity.runtime.resources import available_megabytes

MAGIC = b"\x89PAIR\r\n\x1a"
FORMAT = 1
_PREAMBLE = struct.Struct("<8sIQQ")
_DIGEST = hashlib.sha256().digest_size
#: Longest header that is read, in bytes.
_LONGEST_HEADER = 1 << 28
#: Memory that reading a file takes, in lengths of the file.
_COPIES = 2.5


@dataclass(frozen=True)
class Container:
    """What a file holds: the header as read from JSON, the bytes of the arrays, the checksum."""

    header: Any
    arrays: memoryview
    checksum: str
    n_bytes: int


def header_text(header: Any) -> bytes:
    """The header as it stands in a file."""
    text = json.dumps(
        header, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")
    if len(text) > _LONGEST_HEADER:
        raise ModelFileError(
            f"got a model with {len(text)} bytes of names and settings; expected at most"
            f" {_LONGEST_HEADER}: store ids as numbers, or leave the object table out."
        )
    return text


def length_of(text: bytes, arrays: list[memoryview]) -> int:
    """Bytes of a file with this header and these arrays."""
    return _PREAMBLE.size + len(text) + _length_of_arrays(arrays) + _DIGEST


def _length_of_arrays(arrays: list[memoryview]) -> int:
    return sum(len(part) + padding(len(part)) for part in arrays)


def write_container(stream: BinaryIO, text: bytes, arrays: list[memoryview]) -> None:
    """Write preamble, header, arrays and checksum."""
    digest = hashlib.sha256()
    preamble = _PREAMBLE.pack(MAGIC, FORMAT, len(text), _length_of_arrays(arrays))
    padded = (item for part in arrays for item in (part, bytes(padding(len(part)))))
    for part in (preamble, text, *padded):
        stream.write(part)
        digest.update(part)
    stream.write(digest.digest())


def read_container(path: str | os.PathLike[str]) -> Container:
    """Read a file whose checksum is right; anything else is a :class:`ModelFileError`."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"got {name}, which is no ordinary file; expected a model file.")
        preamble = stream.read(_PREAMBLE.size)
        header_length = _read_preamble(name, preamble, status.st_size)
        content = memoryview(stream.read(status.st_size - len(preamble)))
    digest = hashlib.sha256(preamble)
    digest.update(content[:-_DIGEST])
    if digest.digest() != bytes(content[-_DIGEST:]):
        raise ModelFileError(
            f"got {name}, whose checksum is wrong; expected the bytes that pairity.save wrote: the"
            " file was damaged or changed, copy or make it again."
        )
    header = _parsed(name, bytes(content[:header_length]))
    arrays = content[header_length:-_DIGEST]
    return Container(header, arrays, digest.hexdigest(), status.st_size)


def _read_preamble(name: str, preamble: bytes, size: int) -> int:
    """Length of the header, once the announced lengths are those of the file."""
    if preamble[: len(MAGIC)] != MAGIC:
        raise ModelFileError(
            f"got {name}, which does not begin like a model file; expected one written by"
            " pairity.save: check the path."
        )
    if len(preamble) < _PREAMBLE.size:
        raise ModelFileError(
            f"got {name} of {size} bytes; expected more: the file was cut off, copy it again."
        )
    _, version, header_length, array_length = _PREAMBLE.unpack(preamble)
    if version > FORMAT:
        raise ModelFileError(
            f"got {name} of format {version}; expected at most {FORMAT}, which Pairity {__version__}"
            " reads: install a newer Pairity, or copy the file again if it was damaged."
        )
    announced = _PREAMBLE.size + header_length + array_length + _DIGEST
    if version < 1 or announced != size:
        raise ModelFileError(
            f"got {name} of {size} bytes; expected the {announced} that its beginning announces: the"
            " file was cut off or changed, copy it again."
        )
    if header_length > _LONGEST_HEADER or _COPIES * size > 1e6 * available_megabytes():
        raise ModelFileError(
            f"got {name} of {size} bytes, {header_length} of them header; expected a file that fits"
            " into the memory that is free."
        )
    return int(header_length)


def _parsed(name: str, text: bytes) -> Any:
    def distinct(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(items)) != len(items):
            raise ValueError("a key is there twice")
        return dict(items)

    def refuse_constant(text: str) -> Any:
        raise ValueError(f"{text} is no JSON")

    try:
        return json.loads(
            text.decode("ascii"), object_pairs_hook=distinct, parse_constant=refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"got {name}, whose header cannot be read ({gist(error, 120)}); expected a file written by"
            " pairity.save."
        ) from None


# How much a header may unfold to ----------------------------------------------------------------


class _Size(NamedTuple):
    values: int
    n_bytes: int
    levels: int  # how deep values are inside one another


_COUNTED = ("values", "bytes of arrays", "values inside one another")
_MOST_LEVELS = 150


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
        self._most = _Size(8 * n_bytes + 5_000, 256 * n_bytes + 1_000_000, _MOST_LEVELS)

    def sum_of(self, items: Collection[Any], level: int = 1) -> _Size:
        """Size of some values together, one level above theirs."""
        nested = [item for item in items if type(item) is dict or type(item) is list]
        sizes = [self._of(item, level + 1) for item in nested]
        values = 1 + len(items) - len(nested) + sum(size.values for size in sizes)
        levels = 1 + max((size.levels for size in sizes), default=0)
        return self._allowed(_Size(values, sum(size.n_bytes for size in sizes), levels))

    def _of(self, item: Any, level: int) -> _Size:
        if level > _MOST_LEVELS:
            raise ModelFileError(_too(_COUNTED[2], level, _MOST_LEVELS))
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
        if (kind, place) not in self._known:
            self._known[kind, place] = None  # until it is known
            entry = table[place]
            size = self._of(entry, level + 1) if type(entry) is dict else _Size(1, 0, 1)
            if kind == "array":
                if any(length > self._n_bytes for length in entry["shape"]):
                    raise ModelFileError(
                        _too("rows or columns", max(entry["shape"]), self._n_bytes)
                    )
                size = self._allowed(size._replace(n_bytes=size.n_bytes + array_bytes(entry)))
            self._known[kind, place] = size
        known = self._known[kind, place]
        if known is None:
            raise ModelFileError(
                f"got an {kind} that contains itself; expected only references to one that came before."
            )
        return known

    def _allowed(self, size: _Size) -> _Size:
        for what, got, most in zip(_COUNTED, size, self._most, strict=True):
            if got > most:
                raise ModelFileError(_too(what, got, most))
        return size


def _too(what: str, got: int, most: int) -> str:
    shown = str(got) if got < 10**15 else f"10^{int(math.log10(got))}"
    return f"got a header that unfolds to {shown} {what}; expected at most {most} in a file of its size"
