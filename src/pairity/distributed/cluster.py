"""Whom work is given to (a Dask client), and the state of a fit in a file that is always whole."""

from __future__ import annotations

import logging
import os
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from pairity.exceptions import DataError
from pairity.runtime.resources import available_megabytes, get_thread_count
from pairity.solvers.low_rank.minimise import Progress

#: Share of the memory at hand that the workers of a local cluster may use together.
_MEMORY_SHARE = 0.7


@contextmanager
def client_for(given: Any, *, quiet: bool = False) -> Iterator[Any]:
    """A client for the length of a fit; clusters that were started here are closed again.

    ``given`` is a client, the address of a scheduler, or None; ``quiet`` keeps workers started here
    from writing to standard error.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(
            "got a dataset of pairs to work on with Dask, which is not installed; expected it: pip"
            " install 'pairity[distributed]'."
        ) from None
    if isinstance(given, str):
        with Client(given, set_as_default=False) as client:
            yield client
        return
    if given is None:
        with suppress(ValueError):  # there is none
            given = Client.current()
    if given is not None:
        yield given
        return
    workers = get_thread_count()
    memory = int(_MEMORY_SHARE * available_megabytes() * 1e6 / workers)
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address="127.0.0.1:0",  # any free port: no word about one that is taken
            silence_logs=logging.CRITICAL if quiet else logging.WARNING,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def compute_each(
    client: Any, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Any:
    """Futures of a function, called with these arguments; parts among them may be delayed."""
    from dask import delayed

    task = delayed(function, pure=False)
    return client.compute([task(*arguments) for arguments in calls])


def hold_on(client: Any, value: Any) -> Any:
    """A future of a value whose task holds it: workers that die take nothing with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*large (graph|object).*")
        return client.submit(lambda held: held, value, key=f"pairity-hold-{uuid4().hex}")


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """A file beside a path to write to, which takes its place when all went well."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield beside
        if beside.exists():
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_checkpoint(path: Path, progress: Progress, fingerprint: str) -> None:
    """Write the state of a fit."""
    with staged(path) as beside, beside.open("wb") as file:
        np.savez(file, fingerprint=fingerprint, **vars(progress))
        file.flush()
        os.fsync(file.fileno())


def read_checkpoint(path: Path, fingerprint: str) -> Progress:
    """The state of a fit of the same problem."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            values = {field.name: stored[field.name] for field in fields(Progress)}
            written_for = str(stored["fingerprint"])
    except FileNotFoundError:
        raise DataError(
            f"got no checkpoint {path} to resume from; expected one: leave resume out to start."
        ) from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"got {path}, which is no checkpoint ({type(error).__name__}); expected one written by a"
            " fit: delete it to start anew."
        ) from None
    if written_for != fingerprint:
        raise DataError(
            f"got the checkpoint {path} of another problem; expected one of the same pairs, objects,"
            " kernel and parameters: delete it or name another file."
        )
    return Progress(
        **{name: array if array.ndim else array.item() for name, array in values.items()}
    )
