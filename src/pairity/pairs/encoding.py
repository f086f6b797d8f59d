"""Columns of any type as numbers, by a rule that is learnt from training tables and kept.

=========  ======================================================================================
kind       columns
=========  ======================================================================================
number     itself; the median where it is missing
date       years since 1970; the median where it is missing
category   one of 0 and 1 for each category of training; all 0 for a category never seen
text       the most frequent words of training, tf-idf, unit length
=========  ======================================================================================

A column with missing values in training has another beside it that is 1 where one is missing.  Types
tell what a column is; of texts the content does (:mod:`.column_kinds`), those of few distinct values
being categories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.exceptions import DataError
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.column_kinds import (
    Kind,
    Texts,
    day_in,
    kind_of_column,
    number_in,
    plain_texts,
    readings,
)
from pairity.pairs.from_tables import as_objects, as_pandas, column_of

_KINDS = ("number", "date", "category", "text")
#: Distinct values of a category at most, and as a share of the rows; words of a text.
_MOST_CATEGORIES, _REPEATED, _MOST_WORDS = 50, 0.5, 64
_DAYS_TO_1970, _DAYS_OF_A_YEAR = 719_163.0, 365.25


@dataclass(frozen=True)
class ColumnEncoding:
    """How one column becomes numbers.

    Attributes
    ----------
    name, kind : str
        The column; "number", "date", "category" or "text".
    fill : float
        What a missing number or date becomes.
    flagged : bool
        Whether a column says where values are missing.
    levels : tuple of str
        Categories or words.
    weights : tuple of float
        Rarity of each word.
    """

    name: str
    kind: str
    fill: float = 0.0
    flagged: bool = False
    levels: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        texts = all(isinstance(level, str) for level in (self.name, *self.levels))
        numbers = all(np.isfinite(value) for value in (self.fill, *self.weights))
        if self.kind not in _KINDS or not (texts and numbers):
            raise ValueError(
                "got an encoding of a column that cannot be; expected one learnt here."
            )

    @classmethod
    def learn(cls, name: str, column: Any, kind: str | None = None) -> ColumnEncoding:
        """The rule for one column of training."""
        texts = plain_texts(column.tolist())
        kind = kind or _kind(column, texts)
        values = _values(texts, kind)
        missing = np.isnan(values) if kind in ("number", "date") else texts == ""
        if missing.all():
            raise DataError(
                f"got column {name!r} without a single value that can be read as a {kind}; expected"
                " some: leave the column out."
            )
        flagged = bool(missing.any())
        if kind in ("number", "date"):
            return cls(name, kind, float(np.median(values[~missing])), flagged)
        if kind == "category":
            levels = tuple(sorted(set(texts[~missing].tolist())))
            return cls(name, kind, flagged=flagged, levels=levels)
        return cls(name, kind, 0.0, flagged, *_vocabulary(texts[~missing]))

    @property
    def columns(self) -> list[str]:
        """Names of the columns of numbers."""
        shown = {
            "number": [self.name],
            "date": [f"{self.name} (year)"],
            "category": [f"{self.name}={level}" for level in self.levels],
            "text": [f"{self.name}: {level}" for level in self.levels],
        }[self.kind]
        return [*shown, *([f"{self.name} missing"] if self.flagged else [])]

    def apply(self, column: Any) -> Matrix:
        """The numbers of a column, shape (n, columns)."""
        texts = plain_texts(column.tolist())
        if self.kind in ("number", "date"):
            values = _values(texts, self.kind)
            missing = np.isnan(values)
            unread = missing & (texts != "")  # values that are there are not missing
            if unread.any():
                raise DataError(
                    f"got {texts[int(np.argmax(unread))]!r} in column {self.name!r}; expected a"
                    f" {self.kind}, as in training: correct it, or leave it empty."
                )
            block = np.where(missing, self.fill, values)[:, np.newaxis]
        else:
            missing = texts == ""
            if self.kind == "category":
                block = (texts[:, np.newaxis] == as_objects(self.levels)).astype(np.float64)
            else:
                block = self._words(texts)
        return np.column_stack([block, missing]) if self.flagged else block

    def _words(self, texts: Texts) -> Matrix:
        """Weights of the words that are in each text, unit rows."""
        place = {word: at for at, word in enumerate(self.levels)}
        block = np.zeros((len(texts), len(self.levels)))
        for row, text in enumerate(texts.tolist()):
            for word in set(text.split()) & place.keys():
                block[row, place[word]] = self.weights[place[word]]
        length = np.sqrt(np.sum(block**2, axis=1, keepdims=True))
        return block / np.where(length > 0.0, length, 1.0)


@dataclass(frozen=True)
class TableEncoding:
    """How the columns of a table become features: a :class:`ColumnEncoding` for each.

    Examples
    --------
    >>> import pandas as pd
    >>> from pairity.pairs import TableEncoding
    >>> wines = pd.DataFrame({"colour": ["red", "white", "red"], "year": [2001, None, 2005]})
    >>> encoding = TableEncoding.learn(wines)
    >>> encoding.columns
    ['colour=red', 'colour=white', 'year', 'year missing']
    >>> encoding.apply(pd.DataFrame({"colour": ["rosé"], "year": [2003]})).tolist()
    [[0.0, 0.0, 2003.0, 0.0]]
    """

    parts: tuple[ColumnEncoding, ...]

    @classmethod
    def learn(
        cls, table: Any, names: Sequence[str] | None = None, kinds: dict[str, str] | None = None
    ) -> TableEncoding:
        """The rule for some columns of a training table, all of them by default.

        ``kinds`` overrules what types and content say: "number", "date", "category" or "text".
        """
        table = as_pandas(table)
        chosen = list(map(str, table.columns)) if names is None else list(names)
        given = kinds or {}
        for name, kind in given.items():
            if kind not in _KINDS:
                raise DataError(
                    f"got {kind!r} for column {name!r}; expected one of {', '.join(_KINDS)}."
                )
        columns = ((name, column_of(table, name), given.get(name)) for name in chosen)
        return cls(tuple(ColumnEncoding.learn(*column) for column in columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table that are read."""
        return tuple(part.name for part in self.parts)

    @property
    def kinds(self) -> dict[str, str]:
        """What each of them is taken for."""
        return {part.name: part.kind for part in self.parts}

    @property
    def columns(self) -> list[str]:
        """Names of the features."""
        return [name for part in self.parts for name in part.columns]

    def apply(self, table: Any, source: str = "") -> Matrix:
        """Features of the rows of a table, shape (n, features)."""
        table = as_pandas(table)
        blocks = [part.apply(column_of(table, part.name, source)) for part in self.parts]
        return np.column_stack([np.zeros((len(table), 0)), *blocks])


def _kind(column: Any, texts: Texts) -> str:
    """What a column is taken for: by its type, or by its content."""
    letter = getattr(column.dtype, "kind", "O")
    if letter in "iufb" and str(column.dtype) != "category":
        return "number"
    if letter == "M":
        return "date"
    if str(column.dtype) == "category":
        return "category"
    kind = kind_of_column(texts)
    if kind is None or kind is Kind.NUMBER:
        return "number"
    if kind is Kind.DATE:
        return "date"
    there = [text for text in texts.tolist() if text]
    distinct = len(set(there))
    few = distinct <= _MOST_CATEGORIES and distinct <= max(2, _REPEATED * len(there))
    return "category" if few else "text"


def _values(texts: Texts, kind: str) -> Vector:
    """Numbers, or years; NaN for texts."""
    if kind == "number":
        truths = {"true": "1", "false": "0"}
        return readings(as_objects(truths.get(text, text) for text in texts.tolist()), number_in)
    if kind == "date":
        return (readings(texts, day_in) - _DAYS_TO_1970) / _DAYS_OF_A_YEAR + 1970.0
    return np.full(len(texts), np.nan)


def _vocabulary(texts: Texts) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The words of most texts, in alphabetical order, and their rarity."""
    rows_with = Counter(word for text in texts.tolist() for word in set(text.split()))
    several = {word: count for word, count in rows_with.items() if count > 1} or rows_with
    by_count = sorted(several, key=lambda word: (-several[word], word))
    words = tuple(sorted(by_count[:_MOST_WORDS]))
    rarity = (float(np.log((1.0 + len(texts)) / (1.0 + several[word])) + 1.0) for word in words)
    return words, tuple(rarity)
