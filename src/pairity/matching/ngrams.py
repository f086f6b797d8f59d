"""N-gram vectors of texts: unit rows, weighted by how rare an n-gram is.

N-grams are hashed (scikit-learn's ``HashingVectorizer``), so that columns share one space and nothing
is kept from table to table; an n-gram in ``d`` of ``m`` records weighs ``log((1 + m) / (1 + d)) + 1``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from pairity.matching._row_pair_loops import largest_alone, products_of_pairs
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.column_kinds import Texts
from pairity.runtime.resources import run_in_ranges

#: Places that n-grams are hashed to.
PLACES = 2**20
#: Pairs that one thread works on at a time.
_PAIRS_AT_A_TIME = 50_000


def counts(texts: Texts, analyzer: str, length: int = 3) -> sp.csr_array:
    """Counts of n-grams of letters ("char_wb") or of words ("word"), each distinct text read once."""
    distinct, place = np.unique(texts.astype(str), return_inverse=True)
    ngrams = {"ngram_range": (length, length)} if analyzer == "char_wb" else {}
    vectorizer = HashingVectorizer(
        analyzer=analyzer,
        n_features=PLACES,
        alternate_sign=False,
        norm=None,
        token_pattern=r"(?u)\b\w+\b",
        **ngrams,
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
    return np.minimum(common(vectors, vectors, first, second), 1.0)


def common(table: sp.csr_array, other: sp.csr_array, first: Places, second: Places) -> Vector:
    """Inner products of rows of one table with rows of another."""
    found = np.empty(len(first))

    def work(start: int, stop: int) -> None:
        rows = slice(start, stop)
        products_of_pairs(*_parts(table), *_parts(other), first[rows], second[rows], found[rows])

    run_in_ranges(work, len(first), _PAIRS_AT_A_TIME)
    return found


def rarest_alone(table: sp.csr_array, first: Places, second: Places) -> Vector:
    """The largest entry of first rows in columns that second rows do not have; else 0."""
    found = np.empty(len(first))

    def work(start: int, stop: int) -> None:
        rows = slice(start, stop)
        largest_alone(*_parts(table), first[rows], second[rows], found[rows])

    run_in_ranges(work, len(first), _PAIRS_AT_A_TIME)
    return found


def _parts(table: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return table.indptr, table.indices, table.data
