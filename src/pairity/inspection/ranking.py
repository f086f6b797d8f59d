"""A ranking: objects with their scores, and the scores that a flow gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pairity.inspection.certainty import Certainty
from pairity.inspection.fitted_function import as_frame
from pairity.inspection.flow import PreferenceFlow
from pairity.inspection.hodge import CycleSearch, HodgeParts, least_squares_scores
from pairity.pairs.arrays import Places, Vector

#: Scores closer than this part of the largest margin are equal: rounding breaks no tie.
_EQUAL = 1e-9
_LINES = 10


@dataclass(frozen=True, eq=False)
class Ranking:
    """Objects with their scores; every array has one entry per object, in the order of the table.

    Attributes
    ----------
    ids, scores, ranks : ndarray
        Names of the objects (row numbers where there are none), scores by ``method``, and ranks: 1
        for the best of its connected part; equal scores share the better rank.
    mean_margins, win_shares : ndarray of float
        Mean over the comparisons of each object of the margin in its favour (Borda), and share of
        them in which it is ahead; ties count one half.
    certainty : Certainty or None
        Errors, intervals, ranges of ranks, ties and chances of being the best, if asked for; its
        ``lower``, ``upper`` and ``level`` are those of the ranking.
    components : ndarray of int
        Connected part of each object in the graph of comparisons; scores compare within one.
    parts : HodgeParts
        Gradient, curl and harmonic parts of the preferences, and their shares.
    cycles : CycleSearch
        The strongest cycles and their number.
    """

    ids: NDArray[Any]
    scores: Vector
    ranks: Places
    mean_margins: Vector
    win_shares: Vector
    certainty: Certainty | None
    components: Places
    parts: HodgeParts
    cycles: CycleSearch
    method: str
    meaning: str = ""  # what says that the first object of a pair is ahead

    @property
    def lower(self) -> Vector | None:
        """Lower end of the interval of each score by itself."""
        return None if self.certainty is None else self.certainty.lower

    @property
    def upper(self) -> Vector | None:
        """Upper end."""
        return None if self.certainty is None else self.certainty.upper

    @property
    def level(self) -> float | None:
        """Coverage aimed at."""
        return None if self.certainty is None else self.certainty.level

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def order(self) -> Places:
        """Row numbers of the objects, best first, one connected part after the other."""
        return np.lexsort((np.arange(len(self)), self.ranks, self.components))

    @property
    def cyclic_share(self) -> float:
        """Part of the squared preference that no ranking can explain."""
        return self.parts.cyclic_share

    def to_frame(self) -> Any:
        """Return a pandas table, best first."""
        columns = {
            "id": self.ids,
            "rank": self.ranks,
            "score": self.scores,
            **({} if self.certainty is None else self.certainty.columns()),
            "mean_margin": self.mean_margins,
            "win_share": self.win_shares,
            "component": self.components,
        }
        return as_frame(columns).iloc[self.order].reset_index(drop=True)

    def named_parts(self) -> list[str]:
        """Connected parts by the names of their leaders and their sizes, in their order."""
        sizes = np.bincount(self.components, minlength=self.parts.n_components)
        leaders = {int(self.components[row]): self.ids[row] for row in self.order[::-1]}
        return [f"{leaders[part]} and {sizes[part] - 1} more" for part in range(len(sizes))]

    def named_cycles(self) -> Iterator[tuple[Any, Any, Any]]:
        """The strongest cycles by the names of their objects."""
        for first, second, third in (cycle.objects for cycle in self.cycles.cycles):
            yield self.ids[first], self.ids[second], self.ids[third]

    def __str__(self) -> str:
        lines = [str(self.parts), *map(self._line, self.order[:_LINES])]
        if self.meaning:
            lines.append(self.meaning)
        if self.parts.n_components > 1:
            lines.insert(1, f"parts ranked apart: {'; '.join(self.named_parts()[:_LINES])}")
        if len(self) > _LINES:
            lines.append(f"... and {len(self) - _LINES} more")
        if self.cycles.n_triangles:
            lines.append(f"{self.cycles.n_cyclic} of {self.cycles.n_triangles} triangles go round")
        for names, cycle in zip(self.named_cycles(), self.cycles.cycles, strict=True):
            lines.append(f"  {' > '.join(map(str, (*names, names[0])))} by {cycle.strength:.3g}")
        return "\n".join(lines)

    def _line(self, row: int) -> str:
        interval = ""
        if self.certainty is not None:
            known = self.certainty
            interval = f"  [{known.lower[row]:+.3g}, {known.upper[row]:+.3g}]"
            interval += f"  ranks {known.best_rank[row]}-{known.worst_rank[row]}  {known.tied[row]}"
        part = f"  part {self.components[row]}" if self.parts.n_components > 1 else ""
        return (
            f"{self.ranks[row]:4d}  {self.ids[row]!s:<20}  {self.scores[row]:+.4g}"
            f"{interval}  ahead in {self.win_shares[row]:.0%}{part}"
        )


def ranks_of(scores: Vector, components: Places, scale: float) -> Places:
    """Ranks within each connected part, 1 for the highest score; near-equal scores share one."""
    step = _EQUAL * scale if scale > 0 else 1.0
    ranks = np.empty(len(scores), dtype=np.intp)
    for part in np.unique(components):
        inside = np.flatnonzero(components == part)
        inside = inside[np.argsort(-scores[inside], kind="stable")]
        levels = np.cumsum(np.diff(-scores[inside], prepend=-np.inf) > step)
        ranks[inside] = rankdata(levels, method="min")
    return ranks


def mean_margins(flow: PreferenceFlow) -> Vector:
    """``sum_j w_ij Y_ij / sum_j w_ij``: the mean margin of each object (Borda); 0 without any.

    Where all m objects are compared with equal weights the least-squares scores are (m - 1) / m
    times these.
    """
    return _per_comparison(flow, flow.per_object(flow.weights * flow.values, -1.0))


def win_shares(flow: PreferenceFlow) -> Vector:
    """Weighted share of its comparisons in which each object is ahead; ties count one half."""
    credit = flow.weights * np.sign(flow.values) / 2.0
    return 0.5 + _per_comparison(flow, flow.per_object(credit, -1.0))


def _per_comparison(flow: PreferenceFlow, totals: Vector) -> Vector:
    """Totals of the objects over the weights of their comparisons; 0 for objects without any."""
    weight = flow.per_object(flow.weights, 1.0)
    return np.divide(totals, weight, out=np.zeros(len(totals)), where=weight > 0)


#: Scores of a flow by the names of methods.
SCORES = {"least_squares": least_squares_scores, "mean": mean_margins, "wins": win_shares}
