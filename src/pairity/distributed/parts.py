"""Where pairs lie (row groups of Parquet files, or partitions of a Dask DataFrame), as numbers.

Parquet files are pinned when a dataset is made: every later read is of the same files.  What
cannot be turned into numbers is refused with a sentence that names file and row group.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import DataError, gist
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.from_tables import numbers_of, refuse_absent

#: A Parquet file ends with its footer, the length of the footer in 4 bytes, and one of these.
_MARKS = (b"PAR1", b"PARE")


@dataclass(frozen=True)
class PinnedFile:
    """What a file was when it was looked at first."""

    path: str
    size: int
    modified: int  # nanoseconds
    footer: str  # checksum of the footer, which describes all columns of all row groups

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The file, open to be read; one that changed is refused, also if it changes in between."""
        with _open(self.path) as stream:
            self._compare(stream)
            if _checksum_of_footer(stream, self.size) != self.footer:
                raise self._changed("its footer is another")
            yield stream
            self._compare(stream)

    def _compare(self, stream: BinaryIO) -> None:
        status = os.fstat(stream.fileno())
        if status.st_size != self.size:
            raise self._changed(f"it has {status.st_size} bytes, and had {self.size}")
        if status.st_mtime_ns != self.modified:
            raise self._changed("its modification time is another")

    def _changed(self, how: str) -> DataError:
        return DataError(
            f"got {self.path}, which is not the file that it was when the dataset was made ({how});"
            " expected files that stay as they are: make the dataset again and start anew."
        )


def pin(path: str) -> PinnedFile:
    """Look at a file, whether it is a Parquet file or not."""
    with _open(path) as stream:
        status = os.fstat(stream.fileno())
        footer = _checksum_of_footer(stream, status.st_size)
    return PinnedFile(path, status.st_size, status.st_mtime_ns, footer)


def _open(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(
            f"got {path}, which cannot be opened ({error.strerror}); expected a file that stays where"
            " it is and that all workers can read."
        ) from None


def _checksum_of_footer(stream: BinaryIO, size: int) -> str:
    stream.seek(max(0, size - 8))
    ending = stream.read(8)
    length = int.from_bytes(ending[:4], "little") if ending[4:] in _MARKS else 0
    stream.seek(max(0, size - 8 - length))
    checksum = sha256(stream.read(length + 8)).hexdigest()
    stream.seek(0)
    return checksum


@dataclass(frozen=True)
class ParquetPart:
    """Consecutive row groups of Parquet files."""

    groups: tuple[tuple[PinnedFile, int], ...]  # file, number of the row group

    @property
    def name(self) -> str:
        """First row group."""
        file, number = self.groups[0]
        return f"{file.path}, row group {number}"

    def frames(self, columns: list[str]) -> Iterator[tuple[str, Any]]:
        """Row groups, one at a time: what to call each in a message, and its pandas table."""
        import pyarrow.parquet as pq

        for file, groups in groupby(self.groups, key=itemgetter(0)):
            with file.open() as stream:
                content = pq.ParquetFile(stream)
                for _, number in groups:
                    place = f"{file.path}, row group {number}"
                    try:
                        table = content.read_row_group(number, columns=columns, use_threads=False)
                        frame = table.to_pandas()
                    except (OSError, ValueError, KeyError) as error:
                        raise DataError(
                            f"got {place}, which cannot be read ({gist(error)}); expected a whole"
                            " Parquet file: write it again."
                        ) from None
                    yield place, frame


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask DataFrame, by the time it is a pandas table."""

    number: int
    frame: Any

    @property
    def name(self) -> str:
        """Number of the partition."""
        return f"partition {self.number}"

    def frames(self, columns: list[str]) -> Iterator[tuple[str, Any]]:
        """The partition as one piece."""
        yield self.name, self.frame[columns]


#: Some pairs, read where they are worked on.
Part = ParquetPart | FramePart


def find_files(paths: Any) -> list[str]:
    """Absolute paths of Parquet files that a path, a folder, a pattern or a list of them names."""
    files: list[str] = []
    for text in map(str, [paths] if isinstance(paths, str | Path) else paths):
        if Path(text).is_dir():
            matches = sorted(str(file) for file in Path(text).rglob("*.parquet"))
        elif glob.has_magic(text):
            matches = sorted(glob.glob(text, recursive=True))
        else:
            matches = [text]
        if not matches:
            raise DataError(f"got {text}, which holds no file; expected Parquet files.")
        files += [os.path.abspath(match) for match in matches]  # workers may be in other folders
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise DataError(f"got {missing[0]}, which is no file; expected a Parquet file.")
    return files


def parquet_parts(
    files: Sequence[PinnedFile], columns: list[str], most_pairs: int, multiple_of: int = 1
) -> list[ParquetPart]:
    """Row groups gathered, in order, into parts of about equal size.

    There are as many parts as it takes to have at most ``most_pairs`` pairs in each, rounded up to
    a multiple (of the threads that share them), but no more than row groups.
    """
    sized = [
        ((file, number), rows)
        for file in files
        for number, rows in enumerate(_group_sizes(file, columns))
        if rows
    ]
    if not sized:
        raise DataError("got Parquet files without rows; expected pairs.")
    groups, rows = [group for group, _ in sized], np.array([rows for _, rows in sized])
    ends = np.cumsum(rows)
    wanted = -(-int(ends[-1]) // most_pairs)
    wanted = -(-wanted // multiple_of) * multiple_of
    part = np.minimum((ends - rows / 2.0) * wanted / ends[-1], wanted - 1).astype(np.intp)
    return [
        ParquetPart(tuple(groups[row] for row in np.flatnonzero(part == number)))
        for number in np.unique(part)
    ]


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
            f"got {file.path}, which is no whole Parquet file ({gist(error)}); expected one: write it"
            " again."
        ) from None
    refuse_absent(columns, sorted(names), file.path)
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


# Numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """What the columns of a table of pairs are."""

    first: str
    second: str
    symmetric: tuple[str, ...] = ()
    antisymmetric: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        listed = [self.first, self.second, *self.symmetric, *self.antisymmetric]
        listed += [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys(listed))


@dataclass(frozen=True)
class Encoded:
    """Pairs of one piece as row numbers of objects, with everything else as numbers."""

    place: str  # what to call the piece in a message
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    symmetric: NDArray[np.float64]
    antisymmetric: NDArray[np.float64]
    target: Any  # as it stands in the table
    weight: NDArray[np.float64] | None

    def pairs(self, objects: ObjectTable, ids: NDArray[Any] | None = None) -> Pairs:
        """The pairs over a table of all objects."""
        ends = self.first.astype(np.intp), self.second.astype(np.intp)
        return Pairs._trusted(objects, *ends, self.symmetric, self.antisymmetric, ids)

    def some(self, n_rows: int) -> Encoded:
        """At most so many rows, evenly spread."""
        n = len(self.first)
        rows = np.linspace(0, n - 1, min(n, n_rows)).astype(np.intp)
        names = ("first", "second", "symmetric", "antisymmetric")
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        target = None if self.target is None else self.target.iloc[rows]
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, **parts, target=target, weight=weight)

    def checksum(self) -> str:
        """The same for the same pairs in the same order, wherever and whenever they are read."""
        from pandas.util import hash_pandas_object

        digest = sha256(f"{len(self.first)} {self.symmetric.shape[1]}".encode())
        for numbers in (self.first, self.second, self.symmetric, self.antisymmetric):
            digest.update(numbers.tobytes())
        if self.target is not None:
            digest.update(hash_pandas_object(self.target, index=False).to_numpy().tobytes())
        if self.weight is not None:
            digest.update(self.weight.tobytes())
        return digest.hexdigest()


def encode(part: Part, columns: Columns, index: Any, *, odd: bool) -> Iterator[Encoded]:
    """Pieces of a part.  ``index`` is the pandas index of the ids of all objects.

    ``odd`` refuses pairs of an object with itself: an antisymmetric function is 0 there.
    """
    for place, frame in part.frames(columns.names):
        first, second = (
            _locate(frame[name], index, place) for name in (columns.first, columns.second)
        )
        symmetric = _numbers(frame, columns.symmetric, place)
        antisymmetric = _numbers(frame, columns.antisymmetric, place)
        alone = first == second
        if alone.any() and (odd or antisymmetric[alone].any()):
            raise DataError(
                f"got row {int(np.argmax(alone))} of {place} that pairs"
                f" {_shown(index[first[alone][0]])} with itself; expected two objects: an"
                " antisymmetric function or feature is 0 there, so drop such rows."
            )
        target = None if columns.target is None else frame[columns.target]
        if target is not None and target.isna().any():
            raise DataError(
                f"got no value of {columns.target!r} in row {int(target.isna().to_numpy().argmax())} of"
                f" {place}; expected one in every row: drop those rows."
            )
        weight = None
        if columns.weight is not None:
            weight = _numbers(frame, (columns.weight,), place)[:, 0]
            if (weight < 0).any():
                raise DataError(
                    f"got a negative weight in row {int(np.argmax(weight < 0))} of {place}; expected"
                    " weights of at least 0."
                )
        yield Encoded(place, first, second, symmetric, antisymmetric, target, weight)


def ids_of(part: Part, columns: Columns) -> Any:
    """Distinct ids of a part, as a pandas index."""
    import pandas as pd

    ids = pd.Index([])
    for place, frame in part.frames([columns.first, columns.second]):
        for name in (columns.first, columns.second):
            _refuse_missing(frame[name], place)
            values = pd.Index(frame[name].unique())
            ids = ids.union(values, sort=False) if len(ids) else values
    return ids


def _locate(column: Any, index: Any, place: str) -> NDArray[np.int32]:
    rows: NDArray[np.intp] = index.get_indexer(column)
    unknown = rows < 0
    if unknown.any():
        _refuse_missing(column, place)
        row = int(np.argmax(unknown))
        value = column.iloc[row]
        raise DataError(
            f"got the id {_shown(value)} ({type(value).__name__}) in row {row}, column {column.name!r}"
            f" of {place}, which the objects do not have ({int(unknown.sum())} such rows there; their"
            f" ids are like {_shown(index[0])}); expected every id to name an object: add it or drop"
            " the pair."
        )
    return rows.astype(np.int32)


def _shown(value: Any) -> str:
    """An id as a person would write it."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def _refuse_missing(column: Any, place: str) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise DataError(
            f"got no id in row {int(np.argmax(missing))}, column {column.name!r} of {place}; expected"
            " every row to name two objects: fill the ids in or drop those rows."
        )


def _numbers(frame: Any, names: tuple[str, ...], place: str) -> NDArray[np.float64]:
    block = numbers_of(frame, names, place)
    wrong = ~np.isfinite(block).all(axis=1)
    if wrong.any():
        raise DataError(
            f"got NaN or infinity in row {int(np.argmax(wrong))} of {place} among {list(names)};"
            " expected numbers: fill them in or drop those rows."
        )
    return block
