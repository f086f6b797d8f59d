"""CSV and Parquet in and out, by the ending of the name; ids and labels by their text.

A CSV file knows texts alone, and a Parquet file whole numbers, texts, dates and more.  So that the
tables of one job need not be of one kind, an id is its text: 7 in one file is "7" in the other.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from pairity.exceptions import gist
from pairity.pairs.from_tables import refuse_repeated

ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_VERSION = tuple(int(part) for part in pd.__version__.split(".")[:2])
_SEPARATORS = {"csv": ",", "tsv": "\t"}
#: Numbers are read exactly; from pandas 3.1 on that is the only way there is.
_EXACT = {} if _VERSION >= (3, 1) else {"float_precision": "round_trip"}
#: What stands for a missing number or label in CSV; an id is missing only where there is nothing.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"]


def kind_of(path: Path) -> str:
    """``csv``, ``tsv`` or ``parquet``; texts may be compressed (``.csv.gz``)."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] == ".gz":
        kind = ENDINGS.get(endings[-2] if len(endings) > 1 else "")
        if kind in _SEPARATORS:
            return kind
    elif endings and endings[-1] in ENDINGS:
        return ENDINGS[endings[-1]]
    raise ValueError(
        f"got the file {path}; expected a name that ends in .csv, .csv.gz, .tsv or .parquet."
    )


def read_table(path: Path, texts: Collection[str] | None = ()) -> Any:
    """Read a file into a pandas table; columns named in ``texts`` (ids) are read as they stand.

    None stands for all columns.
    """
    kind = kind_of(path)
    separator = _SEPARATORS.get(kind)
    table = _read_parquet(path) if separator is None else _read_text(path, separator, texts)
    if not len(table):
        raise ValueError(f"got {path} without rows; expected at least one.")
    return table


def _read_parquet(path: Path) -> Any:
    with path.open("rb"):  # a missing file is said to be missing
        pass
    try:
        table = pd.read_parquet(path)
        named = [name for name in table.index.names if name is not None]
        return table.reset_index(named) if named else table
    except (ValueError, OSError) as error:
        raise ValueError(
            f"got {path}, which is no Parquet file ({gist(error)}); expected one."
        ) from None


def _read_text(path: Path, separator: str, texts: Collection[str] | None) -> Any:
    common: dict[str, Any] = {"sep": separator, "encoding": "utf-8-sig"}
    try:
        names = pd.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, **common)
        columns = names.iloc[0].tolist()
        as_they_stand = columns if texts is None else texts
        refuse_repeated(
            columns,
            "got {count} columns named {value!r} in {source}; expected each name once: rename them.",
            str(path),
        )
        _refuse_other_separators(columns, separator, path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            return pd.read_csv(
                path,
                dtype={name: str for name in columns if name in as_they_stand},
                keep_default_na=False,
                na_values={name: [""] if name in as_they_stand else _MISSING for name in columns},
                index_col=False,
                low_memory=False,
                **_EXACT,
                **common,
            )
    except pd.errors.EmptyDataError:
        raise ValueError(f"got {path} without content; expected a first line of names.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        wrong = "is cut short" if isinstance(error, EOFError) else f"is damaged ({gist(error)})"
        raise ValueError(
            f"got {path}, which {wrong}; expected a whole gzip file: copy or compress it again."
        ) from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeError) as error:
        raise ValueError(
            f"got {path}, which cannot be read as text in columns ({gist(error)}); expected CSV in"
            " UTF-8 with a first line of names and as many values in every line."
        ) from None


def _refuse_other_separators(columns: list[str], separator: str, path: Path) -> None:
    """Refuse a table of one column whose name shows how columns were meant to be separated."""
    others = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
    wrong = next((sign for sign in others if sign != separator and sign in columns[0]), None)
    if len(columns) == 1 and wrong is not None:
        remedy = "name it .tsv" if wrong == "\t" else f"save it with {others[separator]}"
        raise ValueError(
            f"got {path} with one column named {columns[0]!r}; expected columns separated by"
            f" {others[separator]}: these seem to be separated by {others[wrong]}; {remedy}."
        )


def table_text(table: Any) -> str:
    """A pandas table as CSV; numbers come back exactly."""
    return str(table.to_csv(index=False, lineterminator="\n"))


def write_table(table: Any, path: Path) -> None:
    """Write a pandas table; numbers come back exactly."""
    kind = kind_of(path)
    if kind == "parquet":  # which wants columns of one type each
        loose = [name for name in table.columns if table[name].dtype == object]
        table = table.assign(**{name: _of_one_type(table[name]) for name in loose})
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False, sep=_SEPARATORS[kind], lineterminator="\n")


def _of_one_type(column: Any) -> Any:
    """Values of several types as texts, whole numbers of more than 63 bits as unsigned or texts."""
    types = {type(value) for value in column}
    if len(types) > 1:
        return column.map(str)
    if types == {int} and not -(2**63) <= min(column) <= max(column) < 2**63:
        unsigned = min(column) >= 0 and max(column) < 2**64
        return column.astype("uint64") if unsigned else column.map(str)
    return column
