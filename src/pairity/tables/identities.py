"""Ids of any type, compared by their text.

A CSV file knows texts alone, and a Parquet file whole numbers, texts, dates and more.  So that the
tables of one job need not be of one kind, an id is its text: 7 in one file is "7" in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["id_texts", "locate", "refuse_repeated", "text_of"]


def text_of(value: Any) -> str:
    """Text of one id or label; fractions that are whole numbers look like whole numbers."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def id_texts(column: Any, name: str, table: str) -> NDArray[Any]:
    """Texts of a pandas column of ids, none of them missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"got {n_missing} missing id(s) in column {name!r} of {table}; expected every row to have"
            " one: fill the ids in or drop those rows."
        )
    return as_objects(text_of(value) for value in column.tolist())


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """One-dimensional array of Python objects, tuples included."""
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))


def refuse_repeated(texts: NDArray[Any], table: str) -> None:
    """Refuse a table of objects in which an id is there twice."""
    (text, count), *_ = Counter(texts.tolist()).most_common(1) or [("", 0)]
    if count > 1:
        raise ValueError(
            f"got the id {text!r} in {count} rows of {table}; expected each object in one row: drop the"
            " repeated rows."
        )


def locate(texts: NDArray[Any], known: NDArray[Any], name: str, table: str) -> NDArray[np.intp]:
    """Row numbers among the known ids."""
    place = {text: row for row, text in enumerate(known.tolist())}
    unknown = [text for text in texts.tolist() if text not in place]
    if unknown:
        raise ValueError(
            f"got {len(unknown)} id(s) in column {name!r} that {table} does not have, the first"
            f" {unknown[0]!r}; expected every id to name an object: add it or drop the pair."
        )
    return np.array([place[text] for text in texts.tolist()], dtype=np.intp)
