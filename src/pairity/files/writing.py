"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a stream whose bytes become the file ``path`` when all went well.

    They are written to a temporary file in the same directory, forced to the disk, and moved over
    ``path`` in one step.  Until then, whatever happens, the old file is what it was.
    """
    target = os.path.realpath(path)
    _refuse_special(target, path)
    directory, name = os.path.split(target)
    temporary = os.path.join(directory, f".{name[:100]}.{secrets.token_hex(8)}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _force_entry(directory)


def _refuse_special(target: str, path: str | os.PathLike[str]) -> None:
    """Moving a file over a device or a pipe would remove it."""
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        kind = "a directory" if os.path.isdir(target) else "a device or a pipe"
        raise ValueError(
            f"got {os.fspath(path)}, which is {kind}; expected the name of a file to write."
        )


def _force_entry(directory: str) -> None:
    """Force the new name to the disk, on systems that let directories be opened."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
