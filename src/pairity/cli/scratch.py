"""Hidden folders in which outputs are made before they move into place.

A folder is named after its process and removed when that is done.  A process that was killed
outright (``kill -9``, a power cut) cannot do so: the next command that writes to the same place
removes the folders of processes that are gone.  What stood in the way of an output lies in the
part ``old`` meanwhile, and is put back where its place is empty.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["leftovers", "remove_folder", "scratch_folder"]

_NAME = re.compile(r"\.pairity-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}")
_ours: set[Path] = set()


@contextmanager
def scratch_folder(directory: Path) -> Iterator[Path]:
    """A folder in ``directory`` with parts ``new`` and ``old``, for as long as it is needed."""
    directory = directory.absolute()
    _remove_stale(directory)
    name = f".pairity-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    folder = directory / name
    _ours.add(folder)
    try:
        folder.mkdir(mode=0o700)
        (folder / "new").mkdir()
        (folder / "old").mkdir()
        yield folder
    finally:
        remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Put back what has lost its place, and remove the rest."""
    with suppress(OSError):
        for old in (folder / "old").iterdir():
            place = folder.parent / old.name
            if not os.path.lexists(place):
                old.rename(place)
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        _ours.discard(folder)


def leftovers() -> list[Path]:
    """Folders of this process that are still there: an interrupt of their removal, say."""
    return list(_ours)


def _remove_stale(directory: Path) -> None:
    """Remove folders of processes of this machine that are gone."""
    if os.name != "posix":  # elsewhere asking for a process may end it
        return
    with suppress(OSError):
        for entry in directory.iterdir():
            match = _NAME.fullmatch(entry.name)
            if match is None or match[1] != _machine() or _is_alive(int(match[2])):
                continue
            if entry.is_dir() and not entry.is_symlink():
                remove_folder(entry)


def _machine() -> str:
    """A name of what numbers of processes are unique in: a machine, or a container on it."""
    place = platform.node()
    with suppress(OSError):
        place += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(place.encode(errors="replace")).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # one of another user
        return True
    return True
