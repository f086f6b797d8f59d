"""Labelled pairs of records, by their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.exceptions import DataError
from pairity.matching.candidates import Candidates
from pairity.matching.precision_recall import Share
from pairity.matching.records import Records
from pairity.pairs.arrays import Mask, Places
from pairity.pairs.from_tables import as_pandas, locate, text_of
from pairity.pairs.parity import unordered_keys

#: What labels may say.
_YES, _NO = {"1", "true", "yes", "same", "match"}, {"0", "-1", "false", "no", "different"}


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pairs of record numbers, and which of them match.

    Attributes
    ----------
    first, second : ndarray of int of shape (n,)
        Numbers of the records; of two tables one of each.
    matches : ndarray of bool of shape (n,)
        Which pairs match.
    complete : bool
        Whether all matches of these records were listed, so that their other candidates are none.
    """

    first: Places
    second: Places
    matches: Mask
    complete: bool

    def __len__(self) -> int:
        return len(self.first)

    @property
    def labels(self) -> Places:
        """1 for a match, 0 for none."""
        return self.matches.astype(np.intp)

    @property
    def share_with_several(self) -> float:
        """Of the records with a labelled partner, those with several."""
        ends = self.first[self.matches], self.second[self.matches]
        numbers = [np.unique(end, return_counts=True)[1] for end in ends]
        return float(np.mean(np.concatenate(numbers) > 1)) if len(ends[0]) else 0.0

    @classmethod
    def read(cls, labels: Any, records: Records) -> Labelled:
        """From a table of two or three columns, or as many sequences."""
        columns = list(labels) if isinstance(labels, tuple) else None
        if columns is None:
            table = as_pandas(labels, "labels")
            columns = [table[name].tolist() for name in table.columns]
        if len(columns) not in (2, 3):
            raise DataError(
                f"got {len(columns)} columns of labels; expected two of ids and one that says whether"
                " they match, or the two of ids alone where all of them do."
            )
        ends = []
        for side, column, name in zip(records.sides(), columns, ("first", "second"), strict=False):
            lacking = f"in the {name} column of labels that no record has"
            ends.append(side[locate(map(text_of, column), records.ids[side], lacking)])
        first, second = ends
        if len(first) != len(second):
            raise DataError(
                f"got {len(first)} first and {len(second)} second ids of labels; expected as many."
            )
        complete = len(columns) == 2
        matches = np.ones(len(first), dtype=np.bool_) if complete else _truths(columns[2])
        return cls(first, second, matches, complete)

    def recall_of(self, candidates: Candidates, n_records: int) -> Share:
        """Matches that are candidates."""
        first, second = self.first[self.matches], self.second[self.matches]
        return Share.of(int(candidates.contains(first, second, n_records).sum()), len(first))

    def with_others(
        self, candidates: Candidates, n_records: int, among: Mask | None = None
    ) -> Labelled:
        """Where all matches were listed: with other candidates as non-matches.

        Those of the records that are named here; or all whose two records are ``among`` some.
        """
        if not self.complete:
            return self
        if among is None:
            named = np.zeros(n_records, dtype=np.bool_)
            named[self.first] = named[self.second] = True
            others = named[candidates.first] | named[candidates.second]
        else:
            others = among[candidates.first] & among[candidates.second]
        keys = unordered_keys(candidates.first, candidates.second, n_records)
        others &= ~np.isin(keys, unordered_keys(self.first, self.second, n_records))
        return Labelled(
            np.concatenate([self.first, candidates.first[others]]),
            np.concatenate([self.second, candidates.second[others]]),
            np.concatenate([self.matches, np.zeros(int(others.sum()), dtype=np.bool_)]),
            complete=True,
        )


def _truths(column: Any) -> Mask:
    texts = [text_of(value).strip().lower() for value in column]
    unknown = next((text for text in texts if text not in _YES | _NO), None)
    if unknown is not None:
        raise DataError(f"got the label {unknown!r}; expected 1 for a match and 0 for none.")
    return np.array([text in _YES for text in texts], dtype=np.bool_)
