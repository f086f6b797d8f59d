"""Pairs in many Parquet files, with the objects that their ids name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairity.cli.errors import InputError
from pairity.distributed import PairDataset
from pairity.distributed.parts import find_files, parquet_parts
from pairity.distributed.pins import pin
from pairity.pairs import ObjectTable
from pairity.tables import Columns, Objects
from pairity.tables.identities import as_objects, text_of
from pairity.tables.reading import kind_of

__all__ = ["ParquetPairs"]


class ParquetPairs:
    """Files of pairs, looked at but not read.

    Parameters
    ----------
    sources : sequence of Path
        Files, folders or patterns.
    columns : Columns
        Names of the columns, which all files must have.
    """

    _ALL = 10**12  # pairs of a part: as many as there are

    def __init__(self, sources: Sequence[Path], columns: Columns) -> None:
        self.files = [Path(path) for path in find_files(sources)]
        self.columns = columns
        for path in self.files:
            _refuse_text(path)
        names = [columns.first, columns.second, *columns.symmetric, *columns.antisymmetric]
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


def _refuse_text(path: Path) -> None:
    try:
        kind = kind_of(path)
    except ValueError:  # some other ending: what is inside decides
        return
    if kind != "parquet":
        raise InputError(
            f"got {path} with --distributed; expected Parquet files, which can be read in parts: write"
            " it as Parquet, or leave --distributed out."
        )
