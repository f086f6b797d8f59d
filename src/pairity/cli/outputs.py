"""Files that appear whole or not at all, and never over existing ones unless asked.

Work is done in a hidden directory on the same file system and moved into place at the end; an
error or an interruption on the way leaves everything as it was.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path

from pairity.cli.errors import InputError

__all__ = ["new_files", "new_folder", "new_paths"]

#: Seconds in which workers that were told to stop may still write.
_LAST_WRITES = 10.0


@contextmanager
def new_files(directory: Path, names: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Give a directory to write the named files into; on success they move to ``directory``.

    Other files in ``directory`` are left alone.  Existing files of these names are refused before
    any work is done, and replaced with ``force``.
    """
    _check(directory, names, force)
    anchor = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    scratch = Path(tempfile.mkdtemp(prefix=".pairity-", dir=anchor))
    try:
        staged = scratch / "new"
        staged.mkdir()
        yield staged
        _check(directory, names, force)
        _publish(staged, directory, names, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


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
        staged = []
        for path in paths:
            scratch = Path(tempfile.mkdtemp(prefix=".pairity-", dir=path.absolute().parent))
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            staged.append(scratch / path.name)
        yield staged
        _check_paths(paths, inputs, force)
        _publish_paths(staged, paths)


@contextmanager
def new_folder(path: Path, inputs: Sequence[Path], pattern: str, *, force: bool) -> Iterator[Path]:
    """Give a place for a folder that others write into; on success it moves to ``path``.

    A folder that is there is refused, and replaced with ``force`` if it holds nothing but files of
    this pattern and none of the ``inputs``.
    """
    _check_folder(path, inputs, pattern, force)
    scratch = Path(tempfile.mkdtemp(prefix=".pairity-", dir=path.absolute().parent))
    try:
        staged = scratch / path.name
        yield staged
        _check_folder(path, inputs, pattern, force)
        if path.exists():
            path.rename(scratch / "old")
        staged.rename(path)
    finally:
        stop = time.monotonic() + _LAST_WRITES
        while scratch.exists() and time.monotonic() < stop:
            shutil.rmtree(scratch, ignore_errors=True)
            time.sleep(0.05 if scratch.exists() else 0.0)


def _check_folder(path: Path, inputs: Sequence[Path], pattern: str, force: bool) -> None:
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"got {path}, but there is no directory {parent}; make it first.")
    if any(given.resolve().is_relative_to(path.resolve()) for given in inputs):
        raise InputError(f"got {path} as input and as output; expected another output.")
    if not os.path.lexists(path):
        return
    if not force:
        raise InputError(f"{path} is there already; choose another name, or --force to replace it.")
    if not path.is_dir() or path.is_symlink():
        raise InputError(f"got {path}, which is no folder; expected the name of a folder to write.")
    others = [entry.name for entry in path.iterdir() if not fnmatch(entry.name, pattern)]
    if others:
        raise InputError(
            f"got --force for the folder {path}, which holds {others[0]}; expected predictions alone:"
            " choose another name."
        )


def _check_paths(paths: Sequence[Path], inputs: Sequence[Path], force: bool) -> None:
    if len({path.resolve() for path in paths}) != len(paths):
        raise InputError(f"got {paths[0]} as two outputs; expected two names.")
    for path in paths:
        parent = path.absolute().parent
        if not parent.is_dir():
            raise InputError(f"got {path}, but there is no directory {parent}; make it first.")
        if any(path.resolve() == given.resolve() for given in inputs):
            raise InputError(f"got {path} as input and as output; expected another output.")
        if path.exists() and not path.is_file():
            raise InputError(f"got {path}, which is no file; expected the name of a file to write.")
        if os.path.lexists(path) and not force:
            raise InputError(
                f"{path} is there already; choose another name, or --force to replace it."
            )


def _publish_paths(staged: Sequence[Path], paths: Sequence[Path]) -> None:
    """Move files into place; if one cannot be moved, put back what was there."""
    kept: list[tuple[Path, Path | None]] = []
    try:
        for new, path in zip(staged, paths, strict=True):
            aside = None
            if os.path.lexists(path):
                aside = new.with_name("old")
                if len(paths) > 1:
                    os.replace(path, aside)
            kept.append((path, aside))
            os.replace(new, path)
    except BaseException:
        for path, aside in kept:
            if aside is not None and os.path.lexists(aside):
                os.replace(aside, path)
            elif aside is None:
                path.unlink(missing_ok=True)
        raise


def _check(directory: Path, names: Sequence[str], force: bool) -> None:
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


def _publish(staged: Path, directory: Path, names: Sequence[str], aside: Path) -> None:
    """Move the files into place; if one cannot be moved, put back what was there."""
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        staged.rename(directory)
        return
    aside.mkdir()
    done: list[str] = []
    try:
        for name in names:
            if os.path.lexists(directory / name):
                os.replace(directory / name, aside / name)
            done.append(name)
            os.replace(staged / name, directory / name)
    except BaseException:
        for name in done:
            (directory / name).unlink(missing_ok=True)
            if os.path.lexists(aside / name):
                os.replace(aside / name, directory / name)
        raise
