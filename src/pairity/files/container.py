r"""The bytes of a model file.

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
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

from pairity._version import __version__
from pairity.exceptions import ModelFileError
from pairity.memory import available_megabytes

__all__ = [
    "ALIGNMENT",
    "FORMAT",
    "Container",
    "header_text",
    "length_of",
    "padding",
    "read_container",
    "write_container",
]

MAGIC = b"\x89PAIR\r\n\x1a"
FORMAT = 1
ALIGNMENT = 8
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


def padding(length: int) -> int:
    """Zeros that follow an array of so many bytes."""
    return -length % ALIGNMENT


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


def length_of(text: bytes, arrays: Iterable[memoryview]) -> int:
    """Bytes of a file with this header and these arrays."""
    return _PREAMBLE.size + len(text) + _length_of_arrays(arrays) + _DIGEST


def _length_of_arrays(arrays: Iterable[memoryview]) -> int:
    return sum(len(part) + padding(len(part)) for part in arrays)


def write_container(stream: BinaryIO, text: bytes, arrays: list[memoryview]) -> None:
    """Write preamble, header, arrays and checksum."""
    digest = hashlib.sha256()
    preamble = _PREAMBLE.pack(MAGIC, FORMAT, len(text), _length_of_arrays(arrays))
    for part in (preamble, text, *_padded(arrays)):
        stream.write(part)
        digest.update(part)
    stream.write(digest.digest())


def _padded(parts: list[memoryview]) -> Iterable[memoryview | bytes]:
    for part in parts:
        yield part
        yield bytes(padding(len(part)))


def read_container(path: str | os.PathLike[str]) -> Container:
    """Read a file whose checksum is right; anything else is a :class:`ModelFileError`."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"got {name}, which is no ordinary file; expected a model file.")
        preamble = stream.read(_PREAMBLE.size)
        header_length = _read_preamble(name, preamble, status.st_size)
        rest = stream.read(status.st_size - len(preamble))
    digest = hashlib.sha256(preamble)
    content = memoryview(rest)
    digest.update(content[:-_DIGEST])
    if digest.digest() != bytes(content[-_DIGEST:]):
        raise ModelFileError(
            f"got {name}, whose checksum is wrong; expected the bytes that pairity.save wrote: the"
            " file was damaged or changed, copy or make it again."
        )
    return Container(
        header=_parsed(name, bytes(content[:header_length])),
        arrays=content[header_length:-_DIGEST],
        checksum=digest.hexdigest(),
        n_bytes=status.st_size,
    )


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
    try:
        return json.loads(
            text.decode("ascii"), object_pairs_hook=_distinct, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"got {name}, whose header cannot be read ({_short(error)}); expected a file written by"
            " pairity.save."
        ) from None


def _distinct(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) != len(items):
        raise ValueError("a key is there twice")
    return found


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
