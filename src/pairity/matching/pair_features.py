"""What is known of a pair of records: similarities, leads over rivals, evidence without labels.

Whether a and b are the same depends on who else there is: 0.7 is much where the next best candidate
has 0.3, and little where it has 0.9.  For a similarity s of whole records,

    d_a(b) = s(a, b) - max over the other candidates c of a of s(a, c),

and the smaller and the larger of ``d_a(b)`` and ``d_b(a)`` are features that a swap does not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.matching.candidates import Candidates
from pairity.matching.mixture import Mixture, fit_mixture, levels_of
from pairity.matching.records import Records
from pairity.matching.similarities import Comparison, Similarities
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs

#: Pairs that a model is asked about at a time.
_PAIRS_AT_A_TIME = 100_000
#: The similarity that rivals are compared by, and the log-odds that count as certain.
_WHOLE, _CERTAIN = "record: letters", 20.0
#: Where EM starts: a pair that leads both ways by so much, and is so much alike, is likely a match.
_LEAD, _ALIKE, _LIKELY, _UNLIKELY = 0.1, 0.5, 0.95, 0.01


def as_pairs(features: Matrix) -> Pairs:
    """Pairs that are known by their features alone: each has two objects of its own.

    So no model learns what is particular to a record, which other tables do not have.
    """
    ends = np.arange(2 * len(features)).reshape(2, -1)
    table = np.zeros((ends.size, 0))
    return Pairs(table, ends[0], ends[1], symmetric=features, ids=np.arange(ends.size))


def decide(model: Any, features: Matrix) -> Vector:
    """Log-odds of a match by a fitted model, or without one by the evidence among the features."""
    if model is None:
        return features[:, -1] * _CERTAIN
    decisions = [
        np.asarray(model.decision_function(as_pairs(features[rows])), dtype=np.float64)
        for rows in batches(len(features), _PAIRS_AT_A_TIME)
    ]
    return np.concatenate([np.zeros(0), *decisions])


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
        number = np.bincount(record, minlength=n_records)
        start = np.cumsum(number) - number
        other, value = np.append(other[order], -1), np.append(value[order], [0.0, 0.0])
        best = np.where(number > 0, other[start], -1)
        largest = np.where(number > 0, value[start], 0.0)
        return cls(best, largest, np.where(number > 1, value[start + 1], 0.0))

    def margins(self, first: Places, second: Places, similarity: Vector) -> Matrix:
        """The smaller and the larger lead over the other candidates, shape (n, 2)."""
        leads = [
            similarity - np.where(self.best[a] == b, self.second[a], self.largest[a])
            for a, b in ((first, second), (second, first))
        ]
        return np.column_stack([np.minimum(*leads), np.maximum(*leads)])


class PairFeatures:
    """Features of any pairs of records; rivals and evidence are those of the candidates."""

    def __init__(self, records: Records, candidates: Candidates) -> None:
        self.records = records
        self._comparison = Comparison(records)
        alike = self._comparison.of(candidates.first, candidates.second)
        whole = alike.column(_WHOLE)
        self._rivals = Rivals.among(candidates, whole, len(records))
        leads = self._rivals.margins(candidates.first, candidates.second, whole)
        #: The level of evidence of each column is that of its first similarity.
        self._leading = [
            next(name for name in alike.names if name.startswith(f"{column.name}: "))
            for column in records.columns
        ]
        self.mixture = self._fit(candidates, alike, leads)
        self.of_candidates = self._together(candidates.first, candidates.second, alike, leads)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return (
            *self._comparison.names,
            "record: lead over rivals, less",
            "record: lead over rivals, more",
            "record: evidence",
        )

    def of(self, first: Places, second: Places) -> Matrix:
        """Features of pairs, shape (n, features): the same for swapped pairs, bit for bit."""
        alike = self._comparison.of(first, second)
        leads = self._rivals.margins(first, second, alike.column(_WHOLE))
        return self._together(first, second, alike, leads)

    def _together(
        self, first: Places, second: Places, alike: Similarities, leads: Matrix
    ) -> Matrix:
        evidence = self.mixture.log_odds(self._levels(first, second, alike, leads))
        certain = np.clip(evidence, -_CERTAIN, _CERTAIN) / _CERTAIN
        return np.column_stack([alike.values, leads, certain])

    def _fit(self, candidates: Candidates, alike: Similarities, leads: Matrix) -> Mixture:
        """Of two tables a record has one match at most; of one table a lead says nothing."""
        linking = self.records.linking
        likely = (leads[:, 0] > _LEAD) if linking else (leads[:, 0] >= 0.0)
        start = np.where(likely & (alike.column(_WHOLE) > _ALIKE), _LIKELY, _UNLIKELY)
        left, right = self.records.sides()
        most = min(len(left), len(right)) if linking else len(candidates)
        levels = self._levels(candidates.first, candidates.second, alike, leads)
        names = (*(column.name for column in self.records.columns), "record", "lead")
        return fit_mixture(names[: levels.shape[1]], levels, start, float(most))

    def _levels(self, first: Places, second: Places, alike: Similarities, leads: Matrix) -> Places:
        """One similarity of each column and that of records; of two tables the lead as well."""
        missing = [column.missing for column in self.records.columns]
        absent = [gone[first] | gone[second] for gone in missing]
        there = np.zeros(len(first), dtype=np.bool_)
        values = [alike.column(name) for name in self._leading]
        values.append(alike.column(_WHOLE))
        if self.records.linking:
            values.append(np.clip(0.5 + 2.0 * leads[:, 0], 0.0, 1.0))
        absent += [there] * (len(values) - len(absent))
        return levels_of(np.column_stack(values), np.column_stack(absent))
