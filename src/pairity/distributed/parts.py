"""Where pairs lie: row groups of Parquet files, or partitions of a Dask DataFrame."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pairity.distributed.pins import PinnedFile
from pairity.exceptions import DataError

__all__ = ["FramePart", "ParquetPart", "Part", "find_files", "parquet_parts"]


class Part(Protocol):
    """Some pairs, read where they are worked on."""

    @property
    def name(self) -> str:
        """How to call the part in a message."""

    def frames(self, columns: list[str]) -> Any:
        """Pairs of (name of the place, pandas table) of these columns, a piece at a time."""


@dataclass(frozen=True)
class ParquetPart:
    """Consecutive row groups of Parquet files."""

    groups: tuple[tuple[PinnedFile, int], ...]  # file, number of the row group

    @property
    def name(self) -> str:
        """First row group."""
        file, number = self.groups[0]
        return _place(file.path, number)

    def frames(self, columns: list[str]) -> Any:
        """Row groups, one at a time."""
        import pyarrow.parquet as pq

        for file, groups in groupby(self.groups, key=itemgetter(0)):
            with file.open() as stream:
                content = pq.ParquetFile(stream)
                for _, number in groups:
                    place = _place(file.path, number)
                    yield place, _read_row_group(content, number, columns, place)


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask DataFrame, by the time it is a pandas table."""

    number: int
    frame: Any

    @property
    def name(self) -> str:
        """Number of the partition."""
        return f"partition {self.number}"

    def frames(self, columns: list[str]) -> Any:
        """The partition as one piece."""
        yield self.name, self.frame[columns]


def find_files(paths: Any) -> list[str]:
    """Absolute paths of Parquet files that a path, a folder, a pattern or a list of them names."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    found: list[str] = []
    for path in listed:
        text = str(path)
        if Path(text).is_dir():
            matches = sorted(str(file) for file in Path(text).rglob("*.parquet"))
        elif glob.has_magic(text):
            matches = sorted(glob.glob(text, recursive=True))
        else:
            matches = [text]
        if not matches:
            raise DataError(f"got {text}, which holds no file; expected Parquet files.")
        found += [os.path.abspath(match) for match in matches]  # workers may be in other folders
    missing = [path for path in found if not Path(path).is_file()]
    if missing:
        raise DataError(f"got {missing[0]}, which is no file; expected a Parquet file.")
    return found


def parquet_parts(
    files: Sequence[PinnedFile], columns: list[str], most_pairs: int, multiple_of: int = 1
) -> list[ParquetPart]:
    """Row groups gathered, in order, into parts of about equal size.

    There are as many parts as it takes to have at most ``most_pairs`` pairs in each, rounded up to
    a multiple (of the threads that share them), but no more than row groups.
    """
    groups: list[tuple[PinnedFile, int]] = []
    sizes: list[int] = []
    for file in files:
        for number, rows in enumerate(_group_sizes(file, columns)):
            if rows:
                groups.append((file, number))
                sizes.append(rows)
    if not groups:
        raise DataError("got Parquet files without rows; expected pairs.")
    ends = np.cumsum(sizes)
    wanted = -(-int(ends[-1]) // most_pairs)
    wanted = -(-wanted // multiple_of) * multiple_of
    middles = ends - np.array(sizes) / 2.0
    place = np.minimum(middles * wanted / ends[-1], wanted - 1).astype(np.intp)
    return [
        ParquetPart(tuple(groups[row] for row in np.flatnonzero(place == number)))
        for number in np.unique(place)
    ]


def _read_row_group(content: Any, number: int, columns: list[str], place: str) -> Any:
    try:
        table = content.read_row_group(number, columns=columns, use_threads=False)
        return table.to_pandas()
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"got {place}, which cannot be read ({_short(error)}); expected a whole Parquet file: write"
            " it again."
        ) from None


def _group_sizes(file: PinnedFile, columns: list[str]) -> list[int]:
    """Rows of each row group of a file that has these columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with file.open() as stream:
            content = pq.ParquetFile(stream)
            metadata, names = content.metadata, set(content.schema_arrow.names)
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"got {file.path}, which is no whole Parquet file ({_short(error)}); expected one: write it"
            " again."
        ) from None
    _refuse_missing(columns, names, file.path)
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _refuse_missing(columns: list[str], names: set[str], path: str) -> None:
    missing = [column for column in columns if column not in names]
    if missing:
        raise DataError(
            f"got no column {missing[0]!r} in {path}; expected one of its columns"
            f" ({', '.join(sorted(names))}): check the name."
        )


def _place(path: str, number: int) -> str:
    return f"{path}, row group {number}"


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]
