"""Parquet files as they were when a dataset was made: every later read is of the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO

from pairity.exceptions import DataError

__all__ = ["PinnedFile", "pin"]

#: A Parquet file ends with its footer, the length of the footer in 4 bytes, and one of these.
_MARKS = (b"PAR1", b"PARE")


@dataclass(frozen=True)
class PinnedFile:
    """What a file was when it was looked at first."""

    path: str
    size: int
    modified: int  # nanoseconds
    footer: str  # checksum of the footer, which describes all columns of all row groups

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The file, open to be read; one that changed is refused, also if it changes in between."""
        with _open(self.path) as stream:
            self._compare(stream)
            if _checksum_of_footer(stream, self.size) != self.footer:
                raise self._changed("its footer is another")
            yield stream
            self._compare(stream)

    def _compare(self, stream: BinaryIO) -> None:
        status = os.fstat(stream.fileno())
        if status.st_size != self.size:
            raise self._changed(f"it has {status.st_size} bytes, and had {self.size}")
        if status.st_mtime_ns != self.modified:
            raise self._changed("its modification time is another")

    def _changed(self, how: str) -> DataError:
        return DataError(
            f"got {self.path}, which is not the file that it was when the dataset was made ({how});"
            " expected files that stay as they are: make the dataset again and start anew."
        )


def pin(path: str) -> PinnedFile:
    """Look at a file, whether it is a Parquet file or not."""
    with _open(path) as stream:
        status = os.fstat(stream.fileno())
        footer = _checksum_of_footer(stream, status.st_size)
    return PinnedFile(path, status.st_size, status.st_mtime_ns, footer)


def _open(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(
            f"got {path}, which cannot be opened ({error.strerror}); expected a file that stays where"
            " it is and that all workers can read."
        ) from None


def _checksum_of_footer(stream: BinaryIO, size: int) -> str:
    stream.seek(max(0, size - 8))
    ending = stream.read(8)
    length = int.from_bytes(ending[:4], "little") if ending[4:] in _MARKS else 0
    stream.seek(max(0, size - 8 - length))
    checksum = sha256(stream.read(length + 8)).hexdigest()
    stream.seek(0)
    return checksum
