"""Workers for ``--distributed``: those of a scheduler, or of a cluster on this machine."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pairity._version import __version__
from pairity.cli.errors import InputError
from pairity.cli.settings import LOCAL
from pairity.distributed.cluster import client_for

__all__ = ["check_address", "workers_of"]

#: Seconds that a scheduler, and the first of its workers, may take to answer.
_PATIENCE = 10
_TALKERS = ("asyncio", "distributed", "tornado")


def check_address(address: str) -> None:
    """Refuse what cannot be an address, such as a file that stands behind the option."""
    if address == LOCAL or re.fullmatch(r"([a-z]+://)?[^\s/]+:\d+", address):
        return
    if Path(address).exists() or address.endswith((".parquet", ".csv")):
        raise InputError(
            f"got --distributed {address}, which is a file or a folder; expected an address such as"
            " tcp://host:8786, or none: write the files before --distributed."
        )
    raise InputError(
        f"got --distributed {address}; expected the address of a scheduler such as tcp://host:8786, or"
        " none for workers on this machine."
    )


@contextmanager
def workers_of(address: str) -> Iterator[Any]:
    """A client whose workers are there and have this version of Pairity."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "got --distributed without Dask; expected it: pip install 'pairity[distributed]'."
        ) from None
    lost = distributed.KilledWorker, distributed.comm.CommClosedError, CancelledError
    with ExitStack() as stack:
        stack.enter_context(_quiet_loggers())
        client = stack.enter_context(_client(address))
        _refuse_strangers(client, address)
        try:
            yield client
        except lost as error:
            said = " ".join(str(error).split())[:160] or type(error).__name__
            raise InputError(
                f"lost the scheduler or workers that died over and over ({said}); expected them to"
                " stay: give them more memory, write smaller row groups, and go on from a checkpoint."
            ) from None


@contextmanager
def _client(address: str) -> Iterator[Any]:
    import distributed

    with ExitStack() as stack:
        if address == LOCAL:
            with _interrupts_ignored():  # workers inherit it: Ctrl-C is for this process alone
                client = stack.enter_context(client_for(None, quiet=True))
        else:
            try:
                client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
            except (OSError, ValueError, MemoryError) as error:  # MemoryError: of another protocol
                said = " ".join(str(error).split())[:160]
                raise InputError(
                    f"got no scheduler at {address} ({said}); expected one: start it with dask"
                    " scheduler, or leave the address out."
                ) from None
            stack.enter_context(client)
        yield client


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """No lines of Dask on standard error: what goes wrong comes back as an exception."""
    known = logging.root.manager.loggerDict
    loggers = [logging.getLogger(name) for name in known if name.partition(".")[0] in _TALKERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse_strangers(client: Any, address: str) -> None:
    """Refuse a scheduler without workers, and workers of another version."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise InputError(
            f"got a scheduler at {address} without workers; expected at least one: start it with dask"
            " worker."
        ) from None
    if address == LOCAL:
        return
    found = client.get_versions(packages=["pairity"])["workers"]
    for name, facts in found.items():
        version = facts["packages"].get("pairity")
        if version != __version__:
            raise InputError(
                f"got the worker {name} with Pairity {version}; expected {__version__} as here:"
                " install it there."
            )
