"""Pairs that stay where they are: in Parquet files, or in the partitions of a Dask DataFrame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.cluster import client_for, compute_each
from pairity.distributed.parts import Columns, FramePart, find_files, ids_of, parquet_parts, pin
from pairity.exceptions import DataError, gist
from pairity.pairs.data import ObjectTable
from pairity.pairs.from_tables import indicators, object_table, refuse_absent

#: Labels of a model for those of a column, by how often each of them is there.
LabelChoice = Callable[[Counter[Any]], Mapping[Any, Any]]

#: Pairs of a part at most, pairs that are worth a part, and parts for each thread of the cluster.
_MOST_PAIRS, _FEWEST_PAIRS, _PARTS_PER_THREAD = 4_000_000, 100_000, 2


@dataclass(frozen=True)
class RunOptions:
    """Who works, and what is kept in case they stop."""

    client: Any = None
    checkpoint: Path | None = None
    every: int = 1
    resume: bool = False
    pairs_per_part: int | None = None


class PairDataset:
    """A table of pairs that is read by the workers of a Dask cluster, never as a whole.

    Make one with :meth:`from_parquet` or :meth:`from_dask`; give it to
    :func:`~pairity.distributed.fit` and :func:`~pairity.distributed.write_predictions`.
    """

    def __init__(
        self, source: Any, columns: Columns, objects: ObjectTable | None, ids: NDArray[Any] | None
    ) -> None:
        self._source, self.columns = source, columns
        self.objects, self.ids = objects, ids
        self.run = RunOptions()
        self.label_choice: LabelChoice | None = None

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        first: str,
        second: str,
        objects: Any = None,
        id: str | None = None,
        features: Sequence[str] | None = None,
        symmetric: Sequence[str] = (),
        antisymmetric: Sequence[str] = (),
    ) -> PairDataset:
        """Pairs in Parquet files.

        Parameters
        ----------
        paths : str, path or list of them
            Files, folders or patterns such as ``"pairs/*.parquet"``; workers must be able to read
            them.  They must stay as they are: a file that changes after the dataset was made (its
            size, modification time or footer) is refused, and so is a copy of another time.
        first, second, objects, id, features, symmetric, antisymmetric
            As in :meth:`pairity.Pairs.from_frame`; ``objects`` may be the path of a Parquet file.
        """
        files = [pin(path) for path in find_files(paths)]
        columns = Columns(first, second, tuple(symmetric), tuple(antisymmetric))
        parquet_parts(files, columns.names, _MOST_PAIRS)  # refuses bad files at once
        return cls(files, columns, *_read_objects(objects, id, features))

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        *,
        first: str,
        second: str,
        objects: Any = None,
        id: str | None = None,
        features: Sequence[str] | None = None,
        symmetric: Sequence[str] = (),
        antisymmetric: Sequence[str] = (),
    ) -> PairDataset:
        """Pairs in a Dask DataFrame, one row a pair; the rest as in :meth:`from_parquet`."""
        columns = Columns(first, second, tuple(symmetric), tuple(antisymmetric))
        refuse_absent(columns.names, frame.columns, "the Dask DataFrame")
        return cls(frame, columns, *_read_objects(objects, id, features))

    def using(
        self,
        client: Any = None,
        *,
        checkpoint: str | Path | None = None,
        every: int = 1,
        resume: bool = False,
        pairs_per_part: int | None = None,
    ) -> PairDataset:
        """The same pairs, worked on in another way.

        Parameters
        ----------
        client : distributed.Client or str, optional
            A client or the address of a scheduler.  By default the client that is current, or
            that of a cluster on this machine for the length of the fit.
        checkpoint : path, optional
            File that keeps the state of a fit; it is whole at any time.
        every : int
            Steps between checkpoints.
        resume : bool
            Go on from the checkpoint, which must be of the same problem.
        pairs_per_part : int, optional
            Pairs of Parquet files that are worked on at a time, at least one row group; by default
            two parts for each thread of the cluster.
        """
        if pairs_per_part is not None and pairs_per_part < 1:
            raise ValueError(f"got pairs_per_part={pairs_per_part!r}; expected at least 1.")
        if every < 1:
            raise ValueError(f"got every={every!r}; expected at least 1 step between checkpoints.")
        if resume and checkpoint is None:
            raise ValueError(
                "got resume=True without a checkpoint; expected the file to go on from."
            )
        path = None if checkpoint is None else Path(checkpoint)
        twin = copy(self)
        twin.run = RunOptions(client, path, int(every), bool(resume), pairs_per_part)
        return twin

    def with_labels(self, choose: LabelChoice) -> PairDataset:
        """The same pairs with other labels for a classifier.

        ``choose`` gets how often each label is there once all pairs were read, and returns the
        label of the model for each of them, or refuses them with an exception.
        """
        twin = copy(self)
        twin.label_choice = choose
        return twin

    def with_target(self, target: Any, weight: Any) -> Columns:
        """Columns with those of the target and the weights, which must be there."""
        for name, what in ((target, "y"), (weight, "sample_weight")):
            if name is not None and not isinstance(name, str):
                raise ValueError(
                    f"got {what} of type {type(name).__name__} with a PairDataset; expected the name"
                    " of one of its columns."
                )
        if target is None:
            raise ValueError("got no y; expected the name of a column of the PairDataset.")
        columns = replace(self.columns, target=target, weight=weight)
        if not isinstance(self._source, list):
            refuse_absent(columns.names, self._source.columns, "the Dask DataFrame")
        return columns

    def __array__(self, *_: object, **__: object) -> Any:
        """Refuse: the pairs stay where they are."""
        raise TypeError(
            "got a PairDataset where pairs or rows in memory are expected: fit with"
            " pairity.distributed.fit(model, dataset, target), predict with"
            " pairity.distributed.write_predictions."
        )

    def client(self) -> AbstractContextManager[Any]:
        """The client to work with."""
        return client_for(self.run.client)

    def parts(self, client: Any, columns: Columns, most_pairs: int | None = None) -> list[Any]:
        """Parts of about equal size, some for each thread of the cluster.

        Partitions of a Dask DataFrame are parts of their own, still to be computed.
        """
        if not isinstance(self._source, list):
            from dask import delayed

            make = delayed(FramePart, pure=False)
            frames = self._source[columns.names].to_delayed()
            return [make(number, frame) for number, frame in enumerate(frames)]
        import pyarrow.parquet as pq

        most_pairs = most_pairs or self.run.pairs_per_part
        if most_pairs is not None:
            return list(parquet_parts(self._source, columns.names, most_pairs))
        threads = max(1, sum(client.nthreads().values()))
        n_rows = sum(pq.read_metadata(file.path).num_rows for file in self._source)
        share = -(-n_rows // (_PARTS_PER_THREAD * threads))
        most_pairs = min(_MOST_PAIRS, max(share, _FEWEST_PAIRS))
        return list(parquet_parts(self._source, columns.names, most_pairs, threads))

    def with_objects(self, client: Any) -> PairDataset:
        """The same with its objects known: those that the pairs name, where no table was given."""
        if self.objects is not None:
            return self
        import pandas as pd

        parts = [(part, self.columns) for part in self.parts(client, self.columns)]
        each = client.gather(compute_each(client, ids_of, parts))
        ids = reduce(lambda known, more: known.union(more, sort=False), each)
        try:
            ids = ids.sort_values()
        except TypeError:
            ids = pd.Index(sorted(ids, key=str))
        twin = copy(self)
        twin.ids = ids.to_numpy()
        twin.objects = indicators(len(ids))
        return twin

    def __repr__(self) -> str:
        where = (
            f"{len(self._source)} files" if isinstance(self._source, list) else "a Dask DataFrame"
        )
        objects = "objects known by their ids" if self.ids is None else f"{len(self.ids)} objects"
        return f"PairDataset({where}; {objects})"


def _read_objects(
    objects: Any, id_column: str | None, features: Sequence[str] | None
) -> tuple[ObjectTable | None, NDArray[Any] | None]:
    if objects is None:
        return None, None
    if isinstance(objects, str | Path):
        import pandas as pd

        try:
            objects = pd.read_parquet(objects)
        except FileNotFoundError:
            raise DataError(f"got {objects}, which is no file; expected a Parquet file.") from None
        except (OSError, ValueError) as error:
            raise DataError(
                f"got {objects}, which is no whole Parquet file ({gist(error)}); expected one."
            ) from None
    table, ids = object_table(objects, id_column, features)
    if not len(ids):
        raise DataError("got a table of objects without rows; expected at least one object.")
    if not np.isfinite(table).all():
        row = int(np.argmax(~np.isfinite(table).all(axis=1)))
        raise DataError(
            f"got NaN or infinity in the features of object {ids[row]!r}; expected numbers: fill them"
            " in or drop the object."
        )
    return table, ids
