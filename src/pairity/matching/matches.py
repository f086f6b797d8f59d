"""What was matched, how sure that is, and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from pairity.inspection.fitted_function import as_frame
from pairity.matching.candidates import Candidates
from pairity.matching.labelled import Labelled
from pairity.matching.pair_features import PairFeatures, decide
from pairity.matching.precision_recall import PrecisionRecall, Share
from pairity.matching.records import Records
from pairity.pairs.arrays import Mask, Places, Vector
from pairity.runtime.validation import check_count


@dataclass(frozen=True, eq=False)
class Matches:
    """Matched pairs and groups of records.

    Attributes
    ----------
    records : Records
        What was read, column by column.
    candidates : Candidates
        Pairs that were compared.
    features : PairFeatures
        What is known of a pair.
    model : fitted classifier or None
        None without labels.
    labelled : Labelled or None
        What it was trained on.
    decisions : ndarray of shape (n,)
        Log-odds of a match, of each candidate.
    threshold : float
        Above which a candidate matches.
    constraint : str
        "one-to-one", "transitive" or "none".
    matched : ndarray of bool of shape (n,)
        Which candidates are matches, the constraint kept.
    groups : ndarray of int of shape (m,)
        Group of each record, 0, 1, ... by size.
    quality : PrecisionRecall or None
        On labelled pairs that were held out, before the constraint; None without labels.
    candidate_recall : Share or None
        Labelled matches that are candidates.
    """

    records: Records
    candidates: Candidates
    features: PairFeatures
    model: Any
    labelled: Labelled | None
    decisions: Vector
    threshold: float
    constraint: str
    matched: Mask
    groups: Places
    quality: PrecisionRecall | None
    candidate_recall: Share | None

    @property
    def probabilities(self) -> Vector:
        """Chance of a match, of each candidate."""
        return expit(self.decisions)

    @property
    def n_matches(self) -> int:
        """Matched pairs."""
        return int(self.matched.sum())

    @property
    def expected_precision(self) -> float:
        """Mean chance of the matches: what the model itself expects."""
        return float(self.probabilities[self.matched].mean()) if self.n_matches else float("nan")

    def decide(self, first: Places, second: Places) -> Vector:
        """Log-odds of any pairs of record numbers, candidates or not."""
        place = self.candidates.places(first, second, len(self.records))
        decisions, new = np.append(self.decisions, 0.0)[place], place < 0
        decisions[new] = decide(self.model, self.features.of(first[new], second[new]))
        return decisions

    def evaluate(self, labels: Any) -> dict[str, Any]:
        """Precision and recall on labelled pairs that were not trained on, and of the candidates.

        "pairs" are decisions about the pairs as listed; "matches" what the whole job answers: a pair
        that the constraint leaves out, or that is no candidate, is no match; groups that are
        transitive answer for all pairs of their records.  Labels without ``y``
        list all matches that there are, besides those of records with a match that was trained on.
        """
        new = np.ones(len(self.records), dtype=np.bool_)
        if self.labelled is not None:
            trained = self.labelled.matches
            new[self.labelled.first[trained]] = new[self.labelled.second[trained]] = False
        known = Labelled.read(labels, self.records)
        known = known.with_others(self.candidates, len(self.records), new)
        said = self.decide(known.first, known.second) > self.threshold
        matched = self._matched(known.first, known.second)
        return {
            "pairs": PrecisionRecall.of(said, known.matches),
            "matches": PrecisionRecall.of(matched, known.matches),
            "candidates": known.recall_of(self.candidates, len(self.records)),
        }

    def to_frame(self) -> Any:
        """Matched pairs as a pandas table, surest first."""
        order = np.flatnonzero(self.matched)
        order = order[np.argsort(-self.decisions[order], kind="stable")]
        group = self.groups[self.candidates.first[order]]
        return self._table(order, decision=self.decisions[order], group=group)

    def groups_frame(self) -> Any:
        """Every record with its group, the largest group first."""
        sides = np.array(["first", "second"], dtype=object)
        table = sides[(np.arange(len(self.records)) >= self.records.n_left).astype(np.intp)]
        columns = {
            "table": table if self.records.linking else None,
            "id": self.records.ids,
            "group": self.groups,
            "size": np.bincount(self.groups)[self.groups],
        }
        return as_frame(columns).sort_values("group", kind="stable").reset_index(drop=True)

    def suggest(self, n: int = 20) -> Any:
        """Candidates to label next: those in most doubt, no record twice, as a pandas table."""
        check_count(n, "n")
        doubt = np.abs(self.decisions - self.threshold)
        if self.labelled is not None:
            known = Candidates(
                self.labelled.first, self.labelled.second, 0, self.candidates.n_possible
            )
            asked = known.contains(self.candidates.first, self.candidates.second, len(self.records))
            doubt = np.where(asked, np.inf, doubt)
        rows: list[int] = []
        used: set[int] = set()
        for row in np.argsort(doubt, kind="stable").tolist():
            ends = {int(self.candidates.first[row]), int(self.candidates.second[row])}
            if np.isinf(doubt[row]) or len(rows) == n:
                break
            if not ends & used:
                rows.append(row)
                used |= ends
        return self._table(np.array(rows, dtype=np.intp))

    def _matched(self, first: Places, second: Places) -> Mask:
        if self.constraint == "transitive":
            return self.groups[first] == self.groups[second]
        place = self.candidates.places(first, second, len(self.records))
        return np.append(self.matched, False)[place]

    def _table(self, rows: Places, **columns: Any) -> Any:
        """Some of the candidates as a pandas table."""
        first, second = (self.records.ids[end[rows]] for end in self.candidates.ends)
        ends = {"first": first, "second": second}
        return as_frame({**ends, "probability": self.probabilities[rows], **columns})

    def __str__(self) -> str:
        quality = "" if self.quality is None else f"; {self.quality}"
        return (
            f"{self.n_matches} matches among {len(self.candidates)} candidates of"
            f" {len(self.records)} records ({self.constraint}){quality}"
        )
