"""A Dask client: the one given, the one there is, or one of a cluster on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pairity.memory import available_megabytes
from pairity.threads import get_thread_count

__all__ = ["client_for"]

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
        given = _current(Client)
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


def _current(client_type: Any) -> Any:
    try:
        return client_type.current()
    except ValueError:
        return None
