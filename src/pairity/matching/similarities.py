"""How alike the two records of a pair are: symmetric features, by what each column holds.

=========  =======================================================================================
kind       similarities, all from 0 to 1
=========  =======================================================================================
text       cosines of letters (n-grams) and of words, shared words weighted by rarity, ratios of
           sorted and of common words (RapidFuzz), numbers in common, the rarest word without a
           partner on either side
name       Jaro-Winkler, ratio of sorted words, cosine of letters, equal
code       equal, ratio of letters and digits, Jaro-Winkler
number     equal, ratio of the smaller to the larger, closeness in units of the spread
date       equal, closeness in days and in years, ratio of the digits
geo        closeness in kilometres, near and far
=========  =======================================================================================

A missing value is evidence of its own: similarities are then 0 beside two columns that say whether
it is missing in one record or in both.  Pairs of texts are compared in the order of their letters,
so that features of (a, b) and of (b, a) are the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from pairity.matching.ngrams import Words, cosines, counts, found_in, numbers_in, weighted
from pairity.matching.records import Column, Records
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.column_kinds import Kind, Texts
from pairity.pairs.from_tables import as_objects
from pairity.runtime.resources import get_thread_count

#: Kilometres, and days, at which closeness is 1/e.
_KILOMETRES, _DAYS, _YEARS = (1.0, 50.0), 30.0, 5 * 365.25


@dataclass(frozen=True, eq=False)
class Similarities:
    """Features of pairs.

    Attributes
    ----------
    names : tuple of str
        "column: what".
    values : ndarray of shape (n, features)
        From 0 to 1.
    """

    names: tuple[str, ...]
    values: Matrix

    def column(self, name: str) -> Vector:
        """One of them."""
        return self.values[:, self.names.index(name)]


class Comparison:
    """Similarities of any pairs of some records; what they share is made once."""

    def __init__(self, records: Records) -> None:
        _rapidfuzz()
        self.records = records
        self._parts = [part for column in records.columns for part in _parts_of(column)]
        self._parts += _whole_records(records)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for names, _ in self._parts for name in names)

    def of(self, first: Places, second: Places) -> Similarities:
        """Similarities of pairs of record numbers."""
        values, start = np.empty((len(first), len(self.names))), 0
        for names, compare in self._parts:
            values.T[start : start + len(names)] = compare(first, second)
            start += len(names)
        return Similarities(self.names, values)


#: Similarities of pairs, shape (n,), or several at once, shape (similarities, n); with their names.
Compare = Callable[[Places, Places], Vector | Matrix]
Part = tuple[tuple[str, ...], Compare]


def _rapidfuzz() -> Any:
    try:
        import rapidfuzz
        import rapidfuzz.process
    except ImportError:
        raise ImportError(
            "got no RapidFuzz; expected it for similarities of texts: pip install"
            " 'pairity[matching]'."
        ) from None
    return rapidfuzz


def _parts_of(column: Column) -> Iterator[Part]:
    """Features of one column: similarities where both values are there, and what is missing."""
    missing = np.asarray(column.missing, dtype=np.bool_)
    for names, compare in _SIMILARITIES[column.kind](column):
        here = tuple(f"{column.name}: {name}" for name in names)
        yield here, partial(_where_present, compare, missing, len(names))
    if missing.any():
        names = tuple(f"{column.name}: missing in {ends}" for ends in ("one", "both"))
        yield names, lambda a, b: np.stack([missing[a] ^ missing[b], missing[a] & missing[b]])


def _where_present(
    compare: Compare, missing: Any, width: int, first: Places, second: Places
) -> Matrix:
    found = np.zeros((width, len(first)))
    there = ~(missing[first] | missing[second])
    found[:, there] = compare(first[there], second[there])
    return found


def _equal(values: Any) -> Compare:
    return lambda a, b: (values[a] == values[b]).astype(np.float64)


# Texts ------------------------------------------------------------------------------------------


def _scored(texts: Texts, scorer: Any, scale: float = 1.0) -> Compare:
    """A scorer of RapidFuzz on pairs of texts, that which comes first in the alphabet first."""
    process = _rapidfuzz().process

    def compare(first: Places, second: Places) -> Vector:
        left, right = texts[first], texts[second]
        turned = left > right
        low, high = np.where(turned, right, left), np.where(turned, left, right)
        options = {"scorer": scorer, "dtype": np.float64, "workers": get_thread_count()}
        return np.asarray(process.cpdist(low.tolist(), high.tolist(), **options)) / scale

    return compare


def _name(column: Column) -> Iterator[Part]:
    rapidfuzz, texts = _rapidfuzz(), column.texts
    yield ("Jaro-Winkler",), _scored(texts, rapidfuzz.distance.JaroWinkler.normalized_similarity)
    yield ("sorted words",), _scored(texts, rapidfuzz.fuzz.token_sort_ratio, 100.0)
    yield ("letters",), partial(cosines, weighted(column.letters))
    yield ("equal",), _equal(texts)


def _text(column: Column) -> Iterator[Part]:
    rapidfuzz, texts = _rapidfuzz(), column.texts
    yield ("letters",), partial(cosines, weighted(column.letters))
    yield ("words",), partial(cosines, weighted(counts(texts, "word")))
    yield ("sorted words",), _scored(texts, rapidfuzz.fuzz.token_sort_ratio, 100.0)
    yield ("common words",), _scored(texts, rapidfuzz.fuzz.token_set_ratio, 100.0)
    words, numbers = Words(texts), Words(numbers_in(texts))
    yield ("shared words", "shorter in longer"), lambda a, b: words.compared(a, b)[:2]
    yield ("rarest unshared, of the poorer", "rarest unshared, of the richer"), words.unshared
    yield ("shared numbers", "numbers contained", "numbers apart"), numbers.compared


def _code(column: Column) -> Iterator[Part]:
    rapidfuzz = _rapidfuzz()
    texts = as_objects("".join(filter(str.isalnum, text)) for text in column.texts.tolist())
    yield ("equal",), _equal(texts)
    yield ("letters and digits",), _scored(texts, rapidfuzz.distance.OSA.normalized_similarity)
    yield ("Jaro-Winkler",), _scored(texts, rapidfuzz.distance.JaroWinkler.normalized_similarity)


# Numbers ----------------------------------------------------------------------------------------


def _number(column: Column) -> Iterator[Part]:
    (values,) = column.numbers
    there = values[~np.isnan(values)]
    spread = float(np.subtract(*np.quantile(there, [0.75, 0.25]))) or float(there.std()) or 1.0
    yield ("equal",), _equal(values)
    yield ("ratio",), lambda a, b: _ratio(values[a], values[b])
    yield ("close",), _close(values, spread)


def _close(values: Vector, unit: float) -> Compare:
    return lambda a, b: np.exp(-np.abs(values[a] - values[b]) / unit)


def _ratio(left: Vector, right: Vector) -> Vector:
    """The smaller over the larger size, 0 for opposite signs, 1 for two zeros."""
    sizes = np.abs(left), np.abs(right)
    larger = np.maximum(*sizes)
    found = np.minimum(*sizes) / np.where(larger > 0.0, larger, 1.0)
    return np.where(larger > 0.0, np.where(left * right >= 0.0, found, 0.0), 1.0)


def _date(column: Column) -> Iterator[Part]:
    (days,) = column.numbers
    digits = as_objects("".join(filter(str.isdigit, text)) for text in column.texts.tolist())
    yield ("equal",), _equal(days)
    yield ("days",), _close(days, _DAYS)
    yield ("years",), _close(days, _YEARS)
    yield ("digits",), _scored(digits, _rapidfuzz().distance.OSA.normalized_similarity)


def _geo(column: Column) -> Iterator[Part]:
    north, east = np.radians(column.numbers)
    units = np.array(_KILOMETRES)[:, np.newaxis]
    yield ("near", "far"), lambda a, b: np.exp(-_kilometres(north, east, a, b) / units)


def _kilometres(north: Vector, east: Vector, first: Places, second: Places) -> Vector:
    """Great-circle distance (haversine)."""
    half_north, half_east = (np.abs(x[first] - x[second]) / 2.0 for x in (north, east))
    cosine = np.cos(north[first]) * np.cos(north[second])
    height = np.sin(half_north) ** 2 + cosine * np.sin(half_east) ** 2
    return 2.0 * 6371.0 * np.arcsin(np.sqrt(np.minimum(height, 1.0)))


_SIMILARITIES: dict[Kind, Callable[[Column], Iterator[Part]]] = {
    Kind.TEXT: _text,
    Kind.NAME: _name,
    Kind.CODE: _code,
    Kind.NUMBER: _number,
    Kind.DATE: _date,
    Kind.GEO: _geo,
}


# Whole records ----------------------------------------------------------------------------------


def _whole_records(records: Records) -> Iterator[Part]:
    """Letters of all columns together, and names of one record in the texts of the other."""
    yield ("record: letters",), partial(cosines, records.vectors)
    texts = [column for column in records.columns if column.kind is Kind.TEXT]
    for column in records.columns:
        others = [text.texts for text in texts if text is not column]
        if others and column.kind in (Kind.NAME, Kind.TEXT):
            joined = reduce(lambda left, right: left + " " + right, others)
            name = f"{column.name}: in texts of the other"
            yield (name,), partial(found_in, Words(column.texts), Words(joined))
