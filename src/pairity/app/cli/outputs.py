"""Files that appear whole or not at all, and never over existing ones unless asked.

Work is done in a hidden folder on the same file system and moved into place at the end; an error
or an interruption on the way leaves everything as it was.  A folder is named after its process and
removed when that is done.  A process that was killed outright (``kill -9``, a power cut) cannot do
so: the next command that writes to the same place removes the folders of processes that are gone.
What stood in the way of an output lies in the part ``old`` meanwhile, and is put back where its
place is empty.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path

from pairity.app.cli.errors import InputError
from pairity.app.cli.interrupts import uninterrupted

_NAME = re.compile(r"\.pairity-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}")
_ours: set[Path] = set()


@contextmanager
def scratch_folder(directory: Path) -> Iterator[Path]:
    """A folder in ``directory`` with parts ``new`` and ``old``, for as long as it is needed."""
    directory = directory.absolute()
    _remove_stale(directory)
    folder = directory / f".pairity-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
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


# Outputs ----------------------------------------------------------------------------------------

#: Seconds in which workers that were told to stop may still write.
_LAST_WRITES = 10.0


@contextmanager
def new_files(directory: Path, names: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Give a directory to write the named files into; on success they move to ``directory``.

    Other files in ``directory`` are left alone.  Existing files of these names are refused before
    any work is done, and replaced with ``force``.
    """
    _check_directory(directory, names, force)
    anchor = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    with scratch_folder(anchor) as scratch:
        staged = scratch / "new"
        yield staged
        with uninterrupted():
            _check_directory(directory, names, force)
            if directory.exists():
                _publish([(staged / name, directory / name, scratch / "old") for name in names])
            else:
                directory.parent.mkdir(parents=True, exist_ok=True)
                staged.rename(directory)
            remove_folder(scratch)


@contextmanager
def new_paths(
    paths: Sequence[Path], inputs: Sequence[Path], *, force: bool
) -> Iterator[list[Path]]:
    """Give places to write some files to; on success they move to ``paths``, all or none.

    Existing files are refused before any work is done, and replaced with ``force``; one of the
    ``inputs`` is never replaced.
    """
    _check_paths(paths, inputs, force)
    with ExitStack() as stack:
        folders = [stack.enter_context(scratch_folder(path.absolute().parent)) for path in paths]
        places = zip(folders, paths, strict=True)
        moves = [(folder / "new" / path.name, path, folder / "old") for folder, path in places]
        yield [staged for staged, _, _ in moves]
        with uninterrupted():
            _check_paths(paths, inputs, force)
            _publish(moves)
            for folder in folders:
                remove_folder(folder)


@contextmanager
def new_folder(path: Path, inputs: Sequence[Path], pattern: str, *, force: bool) -> Iterator[Path]:
    """Give a place for a folder that others write into; on success it moves to ``path``.

    A folder that is there is refused, and replaced with ``force`` if it holds nothing but files of
    this pattern and none of the ``inputs``.
    """
    _check_folder(path, inputs, pattern, force)
    with scratch_folder(path.absolute().parent) as scratch:
        try:
            staged = scratch / "new" / path.name
            yield staged
            with uninterrupted():
                _check_folder(path, inputs, pattern, force)
                if path.exists():
                    path.rename(scratch / "old" / path.name)
                staged.rename(path)
                remove_folder(scratch)
        finally:
            stop = time.monotonic() + _LAST_WRITES
            while scratch.exists() and time.monotonic() < stop:
                remove_folder(scratch)
                time.sleep(0.05 if scratch.exists() else 0.0)


def check_place(path: Path) -> None:
    """Refuse a path in a directory that is not there."""
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"got {path}, but there is no directory {parent}; make it first.")


def _check_output(path: Path, inputs: Sequence[Path], kind: str, force: bool) -> None:
    """Refuse an output that is an input, something else than a file (or folder), or there already."""
    check_place(path)
    place, is_folder = path.resolve(), kind == "folder"
    for given in map(Path.resolve, inputs):
        if given == place or (is_folder and given.is_relative_to(place)):
            raise InputError(f"got {path} as input and as output; expected another output.")
    fits = path.is_dir() and not path.is_symlink() if is_folder else path.is_file()
    if path.exists() and not fits:
        raise InputError(f"got {path}, which is no {kind}; expected the name of a {kind} to write.")
    if os.path.lexists(path) and not force:
        raise InputError(f"{path} is there already; choose another name, or --force to replace it.")


def _check_folder(path: Path, inputs: Sequence[Path], pattern: str, force: bool) -> None:
    _check_output(path, inputs, "folder", force)
    entries = os.listdir(path) if path.exists() else []
    others = [name for name in entries if not fnmatch(name, pattern)]
    if others:
        raise InputError(
            f"got --force for the folder {path}, which holds {others[0]}; expected predictions alone:"
            " choose another name."
        )


def _check_paths(paths: Sequence[Path], inputs: Sequence[Path], force: bool) -> None:
    if len({path.resolve() for path in paths}) != len(paths):
        raise InputError(f"got {paths[0]} as two outputs; expected two names.")
    for path in paths:
        _check_output(path, inputs, "file", force)


def _check_directory(directory: Path, names: Sequence[str], force: bool) -> None:
    if directory.exists() and not directory.is_dir():
        raise InputError(f"got --output {directory}, which is a file; expected a directory.")
    taken = [name for name in names if os.path.lexists(directory / name)]
    if any((directory / name).is_dir() for name in taken):
        raise InputError(f"{directory} has directories where files should go: {', '.join(taken)}.")
    if taken and not force:
        listed = ", ".join(taken[:3]) + (", ..." if len(taken) > 3 else "")
        raise InputError(
            f"{directory} already has {listed}; choose another --output, or --force to replace."
        )


def _publish(moves: Sequence[tuple[Path, Path, Path]]) -> None:
    """Move files into place; if one cannot be moved, put back what was there.

    The place of an old file is never empty, not even for a moment: the new one replaces it in one
    step.  Third in each move is the folder where an old file has a second name meanwhile.
    """
    kept: list[tuple[Path, Path | None]] = []
    try:
        for new, path, folder in moves:
            old = folder / path.name if os.path.lexists(path) else None
            if old is not None and len(moves) > 1:
                _give_second_name(path, old)
            kept.append((path, old))
            os.replace(new, path)
    except BaseException:
        for path, old in kept:
            if old is None:
                path.unlink(missing_ok=True)
            elif os.path.lexists(old):
                os.replace(old, path)
        raise


def _give_second_name(path: Path, name: Path) -> None:
    try:
        os.link(path, name, follow_symlinks=False)
    except OSError:  # a file system without links
        shutil.copy2(path, name, follow_symlinks=False)
