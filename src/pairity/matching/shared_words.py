"""Words of texts as sparse rows of 0 and 1, and what two texts share, each word by its rarity."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pairity.matching.ngrams import counts, rarity
from pairity.pairs.arrays import Places, Vector, batches
from pairity.pairs.column_kinds import Texts
from pairity.pairs.from_tables import as_objects

#: Pairs that are looked at together.
_PAIRS_AT_A_TIME = 200_000


def numbers_in(texts: Texts) -> Texts:
    """The words with a digit of each text: versions, years, model numbers."""
    return as_objects(
        " ".join(word for word in text.split() if any(letter.isdigit() for letter in word))
        for text in texts.tolist()
    )


class Words:
    """Words of each text, weighted by ``log((1 + m) / (1 + d)) + 1``."""

    def __init__(self, texts: Texts) -> None:
        table = counts(texts, "word")
        table.data[:] = 1.0
        self.table = table  # (m, places), of 0 and 1
        weights = rarity(table)
        self.largest = float(weights.max(initial=1.0))
        self.weighted = sp.csr_array(
            (weights[table.indices], table.indices, table.indptr), table.shape
        )
        self.total = _sums(self.weighted)

    def common_with(self, other: Words, first: Places, second: Places) -> Vector:
        """Weights of the words of first records that other texts of second records have."""
        found = np.empty(len(first))
        for rows in batches(len(first), _PAIRS_AT_A_TIME):
            found[rows] = _sums(self.weighted[first[rows]].multiply(other.table[second[rows]]))
        return found

    def _common(self, first: Places, second: Places) -> Vector:
        return self.common_with(self, first, second)

    def shared(self, first: Places, second: Places) -> Vector:
        """Common words over all words of the two; 1 where neither has any."""
        common = self._common(first, second)
        return _part(common, self.total[first] + self.total[second] - common)

    def contained(self, first: Places, second: Places) -> Vector:
        """Common words over the words of the text with fewer; 1 where one has none."""
        smaller = np.minimum(self.total[first], self.total[second])
        return _part(self._common(first, second), smaller)

    def conflict(self, first: Places, second: Places) -> Vector:
        """1 where both have words and none is common, else 0."""
        common = self._common(first, second)
        both = (self.total[first] > 0.0) & (self.total[second] > 0.0)
        return (both & (common <= 0.0)).astype(np.float64)

    def least_unshared(self, first: Places, second: Places) -> Vector:
        """How rare the rarest word without a partner is, of the text where it is less rare."""
        return np.minimum(*self._unshared(first, second)) / self.largest

    def most_unshared(self, first: Places, second: Places) -> Vector:
        """The same of the text where it is rarer."""
        return np.maximum(*self._unshared(first, second)) / self.largest

    def _unshared(self, first: Places, second: Places) -> tuple[Vector, Vector]:
        found = np.empty((2, len(first)))
        for rows in batches(len(first), _PAIRS_AT_A_TIME):
            a, b = first[rows], second[rows]
            for side, (own, other) in enumerate(((a, b), (b, a))):
                rest = self.weighted[own] - self.weighted[own].multiply(self.table[other])
                found[side, rows] = sp.csr_array(rest).max(axis=1).toarray().reshape(-1)
        return found[0], found[1]


def found_in(own: Words, texts: Words, first: Places, second: Places) -> Vector:
    """Part of the words of one record that the texts of the other have: mean of both ways there are."""
    there, back = (
        np.where(own.total[a] > 0.0, _part(own.common_with(texts, a, b), own.total[a]), 0.0)
        for a, b in ((first, second), (second, first))
    )
    ways = (own.total[first] > 0.0).astype(np.float64) + (own.total[second] > 0.0)
    return (there + back) / np.maximum(ways, 1.0)


def _part(amount: Vector, whole: Vector) -> Vector:
    """A part of a whole, at most 1; 1 of nothing."""
    return np.where(whole > 0.0, np.minimum(amount / np.where(whole > 0.0, whole, 1.0), 1.0), 1.0)


def _sums(table: sp.csr_array) -> Vector:
    return np.asarray(table.sum(axis=1), dtype=np.float64).reshape(-1)
