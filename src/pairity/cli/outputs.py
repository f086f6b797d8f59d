"""Files that appear whole or not at all, and never over existing ones unless asked.

Work is done in a hidden directory on the same file system and moved into place at the end; an
error or an interruption on the way leaves everything as it was.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path

from pairity.cli.errors import InputError
from pairity.cli.interrupts import uninterrupted
from pairity.cli.scratch import remove_folder, scratch_folder

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
    with scratch_folder(anchor) as scratch:
        staged = scratch / "new"
        yield staged
        with uninterrupted():
            _check(directory, names, force)
            if directory.exists():
                _publish([(staged / name, directory / name) for name in names], scratch / "old")
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
        staged = [folder / "new" / path.name for folder, path in zip(folders, paths, strict=True)]
        yield staged
        with uninterrupted():
            _check_paths(paths, inputs, force)
            _publish(list(zip(staged, paths, strict=True)), *(folder / "old" for folder in folders))
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


def _publish(moves: Sequence[tuple[Path, Path]], *asides: Path) -> None:
    """Move files into place; if one cannot be moved, put back what was there.

    The place of an old file is never empty, not even for a moment: the new one replaces it in one
    step.  ``asides`` are where old files have a second name meanwhile, one for all or one for each.
    """
    kept: list[tuple[Path, Path | None]] = []
    folders = asides * (len(moves) if len(asides) == 1 else 1)
    try:
        for (new, path), folder in zip(moves, folders, strict=True):
            old = None
            if os.path.lexists(path):
                old = folder / path.name
                if len(moves) > 1:
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
