"""``--distributed``: workers of a scheduler or of this machine, and pairs in many Parquet files."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairity._version import __version__
from pairity.app.cli.errors import InputError
from pairity.app.cli.options import LOCAL
from pairity.distributed import PairDataset
from pairity.distributed.cluster import client_for
from pairity.distributed.parts import find_files, parquet_parts, pin
from pairity.exceptions import gist
from pairity.io import Columns, Objects
from pairity.io.tables import kind_of
from pairity.pairs.data import ObjectTable
from pairity.pairs.from_tables import as_objects, text_of

#: Seconds that a scheduler, and the first of its workers, may take to answer.
_PATIENCE = 10


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
        # no lines of Dask on standard error: what goes wrong comes back as an exception
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.ERROR)
        client = _client(address, stack)
        _refuse_strangers(client, address)
        try:
            yield client
        except lost as error:
            raise InputError(
                f"lost the scheduler or workers that died over and over ({gist(error)}); expected them"
                " to stay: give them more memory, write smaller row groups, and go on from a checkpoint."
            ) from None


def _client(address: str, stack: ExitStack) -> Any:
    """A client that ``stack`` closes."""
    import distributed

    if address == LOCAL:
        with ExitStack() as meanwhile:
            if threading.current_thread() is threading.main_thread():
                # ignored, as workers inherit it: Ctrl-C is for this process alone
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
                meanwhile.callback(signal.signal, signal.SIGINT, before)
            return stack.enter_context(client_for(None, quiet=True))
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, MemoryError) as error:  # MemoryError: of another protocol
        raise InputError(
            f"got no scheduler at {address} ({gist(error)}); expected one: start it with dask"
            " scheduler, or leave the address out."
        ) from None
    return stack.enter_context(client)


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
    for name, facts in client.get_versions(packages=["pairity"])["workers"].items():
        version = facts["packages"].get("pairity")
        if version != __version__:
            raise InputError(
                f"got the worker {name} with Pairity {version}; expected {__version__} as here:"
                " install it there."
            )


# Pairs in many Parquet files, with the objects that their ids name ------------------------------


class ParquetPairs:
    """Files, folders or patterns of pairs, looked at but not read; all have the same columns."""

    _ALL = 10**12  # pairs of a part: as many as there are

    def __init__(self, sources: Sequence[Path], columns: Columns) -> None:
        self.files = [Path(path) for path in find_files(sources)]
        self.columns = columns
        for path in self.files:
            with suppress(ValueError):  # some other ending: what is inside decides
                if kind_of(path) != "parquet":
                    raise InputError(
                        f"got {path} with --distributed; expected Parquet files, which can be read in"
                        " parts: write it as Parquet, or leave --distributed out."
                    )
        names = [*columns.ends, *columns.symmetric, *columns.antisymmetric]
        names += [] if columns.label is None else [columns.label]
        parquet_parts([pin(str(path)) for path in self.files], names, self._ALL)
        self.n_pairs = sum(pq.read_metadata(path).num_rows for path in self.files)

    @property
    def names(self) -> list[str]:
        """Names of the files; of many, the first and the last."""
        names = [path.name for path in self.files]
        return names if len(names) <= 3 else [names[0], "...", names[-1]]

    def dataset(self, ids: Sequence[Any] | None = None, table: ObjectTable | None = None) -> Any:
        """Pairs for a cluster; of the objects with these ids and features, or of those named."""
        columns = self.columns
        data = PairDataset.from_parquet(
            self.files,
            first=columns.first,
            second=columns.second,
            symmetric=columns.symmetric,
            antisymmetric=columns.antisymmetric,
        )
        if ids is not None:
            data.objects, data.ids = table, as_objects(ids)
        return data

    def ids_as_here(self, objects: Objects) -> list[Any]:
        """Ids of objects in the type that the column of first ids has, where their texts allow it.

        Workers compare ids as they stand: 7 in a Parquet file is no "7".
        """
        kind = pq.read_schema(self.files[0]).field(self.columns.first).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        texts = objects.texts.tolist()
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return texts
        make = int if pa.types.is_integer(kind) else float if pa.types.is_floating(kind) else None
        if make is None:
            return objects.ids.tolist()
        return [_number(make, text) for text in texts]


def _number(make: Any, text: str) -> Any:
    """A number whose text this is; the text itself where there is none, such as 007."""
    if not re.fullmatch(r"-?[0-9][0-9.e+-]*", text):
        return text
    try:
        value = make(text)
    except ValueError:
        return text
    return value if np.isfinite(value) and text_of(value) == text else text
