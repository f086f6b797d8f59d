"""How a pair compares with the other candidates of its two records.

Whether a and b are the same depends on who else there is: 0.7 is much where the next best candidate
has 0.3, and little where it has 0.9.  For a similarity s of whole records,

    d_a(b) = s(a, b) - max over the other candidates c of a of s(a, c),

and the smaller and the larger of ``d_a(b)`` and ``d_b(a)`` are features that a swap does not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairity.matching.candidates import Candidates
from pairity.pairs.arrays import Matrix, Places, Vector


@dataclass(frozen=True, eq=False)
class Rivals:
    """The best candidate of each record, and the similarity of the second best."""

    best: Places  # (m,), -1 for a record without candidates
    largest: Vector  # (m,)
    second: Vector  # (m,)

    @classmethod
    def among(cls, candidates: Candidates, similarity: Vector, n_records: int) -> Rivals:
        """From one similarity of all candidates; a missing one counts as 0."""
        record = np.concatenate([candidates.first, candidates.second])
        other = np.concatenate([candidates.second, candidates.first])
        value = np.concatenate([similarity, similarity])
        order = np.lexsort((other, -value, record))
        record, other, value = record[order], other[order], value[order]
        start = np.searchsorted(record, np.arange(n_records + 1))
        number = np.diff(start)
        best, largest = np.full(n_records, -1, dtype=np.intp), np.zeros(n_records)
        second = np.zeros(n_records)
        some, several = number > 0, number > 1
        best[some], largest[some] = other[start[:-1][some]], value[start[:-1][some]]
        second[several] = value[start[:-1][several] + 1]
        return cls(best, largest, second)

    def margins(self, first: Places, second: Places, similarity: Vector) -> Matrix:
        """The smaller and the larger lead over the other candidates, shape (n, 2)."""
        leads = [
            similarity - np.where(self.best[a] == b, self.second[a], self.largest[a])
            for a, b in ((first, second), (second, first))
        ]
        return np.column_stack([np.minimum(*leads), np.maximum(*leads)])
