"""Words of texts as sparse rows of 0 and 1, and what two texts share, each word by its rarity."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pairity.matching.ngrams import common, counts, rarest_alone, rarity
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.column_kinds import Texts
from pairity.pairs.from_tables import as_objects


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

    def compared(self, first: Places, second: Places) -> Matrix:
        """What the texts of pairs share, shape (3, n).

        Common words over all words of the two, 1 where neither has any; over the words of the text
        with fewer, 1 where one has none; and 1 where both have words and none is common, else 0.
        """
        shared = common(self.weighted, self.table, first, second)
        here, there = self.total[first], self.total[second]
        apart = (here > 0.0) & (there > 0.0) & (shared <= 0.0)
        parts = _part(shared, here + there - shared), _part(shared, np.minimum(here, there))
        return np.stack([*parts, apart.astype(np.float64)])

    def unshared(self, first: Places, second: Places) -> Matrix:
        """How rare the rarest word without a partner is, shape (2, n).

        Of the text where it is less rare, then of the other.
        """
        ways = (first, second), (second, first)
        alone = [rarest_alone(self.weighted, *ends) for ends in ways]
        return np.stack([np.minimum(*alone), np.maximum(*alone)]) / self.largest


def found_in(own: Words, texts: Words, first: Places, second: Places) -> Vector:
    """Part of the words of one record that the texts of the other have: mean of both ways there are."""
    there, back = (
        np.where(
            own.total[a] > 0.0, _part(common(own.weighted, texts.table, a, b), own.total[a]), 0.0
        )
        for a, b in ((first, second), (second, first))
    )
    ways = (own.total[first] > 0.0).astype(np.float64) + (own.total[second] > 0.0)
    return (there + back) / np.maximum(ways, 1.0)


def _part(amount: Vector, whole: Vector) -> Vector:
    """A part of a whole, at most 1; 1 of nothing."""
    return np.where(whole > 0.0, np.minimum(amount / np.where(whole > 0.0, whole, 1.0), 1.0), 1.0)


def _sums(table: sp.csr_array) -> Vector:
    return np.asarray(table.sum(axis=1), dtype=np.float64).reshape(-1)
