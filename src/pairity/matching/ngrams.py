"""N-grams and words of texts as sparse rows, each weighted by how rare it is.

N-grams are hashed (scikit-learn's ``HashingVectorizer``), so that columns share one space and nothing
is kept from table to table; an n-gram in ``d`` of ``m`` records weighs ``log((1 + m) / (1 + d)) + 1``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from pairity.matching._sparse_row_loops import largest_alone, products_of_pairs
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.column_kinds import Texts
from pairity.pairs.from_tables import as_objects
from pairity.runtime.resources import run_in_ranges

#: Places that n-grams are hashed to.
PLACES = 2**20
#: Pairs that one thread works on at a time.
_PAIRS_AT_A_TIME = 50_000


def counts(texts: Texts, analyzer: str) -> sp.csr_array:
    """Counts of letters by three ("char_wb") or of words ("word"), each distinct text read once."""
    distinct, place = np.unique(texts.astype(str), return_inverse=True)
    vectorizer = HashingVectorizer(
        analyzer=analyzer,
        n_features=PLACES,
        alternate_sign=False,
        norm=None,
        token_pattern=r"(?u)\b\w+\b",
        ngram_range=(3, 3) if analyzer == "char_wb" else (1, 1),
    )
    table = sp.csr_array(vectorizer.transform(distinct))
    table.sort_indices()  # as loops over pairs of rows expect them
    return table[place.reshape(-1)]


def rarity(table: sp.csr_array) -> Vector:
    """``log((1 + m) / (1 + d)) + 1`` of each column."""
    rows_with = np.bincount(table.indices, minlength=table.shape[1])
    return np.log((1.0 + table.shape[0]) / (1.0 + rows_with)) + 1.0


def weighted(table: sp.csr_array) -> sp.csr_array:
    """Unit rows of ``sqrt(count)`` times rarity; rows without any n-gram stay 0."""
    rows = sp.csr_array(table)
    data = np.sqrt(rows.data) * rarity(rows)[rows.indices]
    return sp.csr_array(normalize(sp.csr_array((data, rows.indices, rows.indptr), rows.shape)))


def cosines(vectors: sp.csr_array, first: Places, second: Places) -> Vector:
    """Inner products of unit rows of pairs; the same for swapped pairs, bit for bit."""
    return np.minimum(_of_pairs(products_of_pairs, (vectors, vectors), first, second), 1.0)


def _of_pairs(
    loop: Callable[..., None], tables: tuple[Any, ...], first: Places, second: Places
) -> Vector:
    """What a loop finds for pairs of rows of one table, or of two."""
    found = np.empty(len(first))
    arrays = [part for table in tables for part in (table.indptr, table.indices, table.data)]

    def work(start: int, stop: int) -> None:
        rows = slice(start, stop)
        loop(*arrays, first[rows], second[rows], found[rows])

    run_in_ranges(work, len(first), _PAIRS_AT_A_TIME)
    return found


# What two texts share, each word by its rarity --------------------------------------------------


def numbers_in(texts: Texts) -> Texts:
    """The words with a digit of each text: versions, years, model numbers."""
    return as_objects(
        " ".join(word for word in text.split() if any(letter.isdigit() for letter in word))
        for text in texts.tolist()
    )


class Words:
    """Words of each text, weighted by rarity."""

    def __init__(self, texts: Texts) -> None:
        table = counts(texts, "word")
        table.data[:] = 1.0
        self.table = table  # (m, places), of 0 and 1
        weights = rarity(table)
        self.largest = float(weights.max(initial=1.0))
        self.weighted = sp.csr_array(
            (weights[table.indices], table.indices, table.indptr), table.shape
        )
        self.total = np.asarray(self.weighted.sum(axis=1), dtype=np.float64).reshape(-1)

    def shared_with(self, other: Words, first: Places, second: Places) -> Vector:
        """Weight of the words of first texts that second texts of another column have."""
        return _of_pairs(products_of_pairs, (self.weighted, other.table), first, second)

    def compared(self, first: Places, second: Places) -> Matrix:
        """What the texts of pairs share, shape (3, n).

        Common words over all words of the two, 1 where neither has any; over the words of the text
        with fewer, 1 where one has none; and 1 where both have words and none is common, else 0.
        """
        shared = self.shared_with(self, first, second)
        here, there = self.total[first], self.total[second]
        apart = (here > 0.0) & (there > 0.0) & (shared <= 0.0)
        parts = _part(shared, here + there - shared), _part(shared, np.minimum(here, there))
        return np.stack([*parts, apart.astype(np.float64)])

    def unshared(self, first: Places, second: Places) -> Matrix:
        """How rare the rarest word without a partner is, shape (2, n).

        Of the text where it is less rare, then of the other.
        """
        ways = (first, second), (second, first)
        alone = [_of_pairs(largest_alone, (self.weighted,), *ends) for ends in ways]
        return np.stack([np.minimum(*alone), np.maximum(*alone)]) / self.largest


def found_in(own: Words, texts: Words, first: Places, second: Places) -> Vector:
    """Part of the words of one record that the texts of the other have: mean of both ways there are."""
    there, back = (
        np.where(own.total[a] > 0.0, _part(own.shared_with(texts, a, b), own.total[a]), 0.0)
        for a, b in ((first, second), (second, first))
    )
    ways = (own.total[first] > 0.0).astype(np.float64) + (own.total[second] > 0.0)
    return (there + back) / np.maximum(ways, 1.0)


def _part(amount: Vector, whole: Vector) -> Vector:
    """A part of a whole, at most 1; 1 of nothing."""
    return np.where(whole > 0.0, np.minimum(amount / np.where(whole > 0.0, whole, 1.0), 1.0), 1.0)
