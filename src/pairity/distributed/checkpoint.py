"""The state of a fit in a file that is whole at any time, and back."""

from __future__ import annotations

import os
import zipfile
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

import numpy as np

from pairity.exceptions import DataError
from pairity.lowrank.newton import Progress

__all__ = ["read_checkpoint", "write_checkpoint"]

_NAMES = tuple(field.name for field in fields(Progress))


def write_checkpoint(path: Path, progress: Progress, fingerprint: str) -> None:
    """Write beside the file, then take its place."""
    staged = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with staged.open("wb") as file:
            values = {name: getattr(progress, name) for name in _NAMES}
            np.savez(file, fingerprint=fingerprint, **values)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def read_checkpoint(path: Path, fingerprint: str) -> Progress:
    """The state of a fit of the same problem."""
    try:
        with np.load(path, allow_pickle=False) as found:
            values = {name: found[name] for name in (*_NAMES, "fingerprint")}
    except FileNotFoundError:
        raise DataError(
            f"got no checkpoint {path} to resume from; expected one: leave resume out to start."
        ) from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"got {path}, which is no checkpoint ({type(error).__name__}); expected one written by a"
            " fit: delete it to start anew."
        ) from None
    if str(values["fingerprint"]) != fingerprint:
        raise DataError(
            f"got the checkpoint {path} of another problem; expected one of the same pairs, objects,"
            " kernel and parameters: delete it or name another file."
        )
    return Progress(
        parameters=np.array(values["parameters"], dtype=np.float64),
        width=float(values["width"]),
        n_iter=int(values["n_iter"]),
        gap=float(values["gap"]),
        n_products=int(values["n_products"]),
        precision=str(values["precision"]),
    )
