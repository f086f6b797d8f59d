"""N-gram vectors of texts: unit rows, weighted by how rare an n-gram is.

N-grams are hashed (scikit-learn's ``HashingVectorizer``), so that columns share one space and nothing
is kept from table to table; an n-gram in ``d`` of ``m`` records weighs ``log((1 + m) / (1 + d)) + 1``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from pairity.pairs.arrays import Places, Vector, batches
from pairity.pairs.column_kinds import Texts

#: Places that n-grams are hashed to.
PLACES = 2**20
#: Pairs whose products are made at a time.
_PAIRS_AT_A_TIME = 200_000


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
    return sp.csr_array(vectorizer.transform(distinct))[place.reshape(-1)]


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
    found = np.empty(len(first))
    for rows in batches(len(first), _PAIRS_AT_A_TIME):
        products = vectors[first[rows]].multiply(vectors[second[rows]])
        found[rows] = np.asarray(products.sum(axis=1)).reshape(-1)
    return np.minimum(found, 1.0)
