"""A ranking as a table: scores, ranks, intervals, and how much of the preference it explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pairity.ranking.cycles import CycleSearch
from pairity.ranking.flow import Places, Vector
from pairity.ranking.hodge import HodgeParts

__all__ = ["Ranking", "ranks_of"]

#: Scores closer than this part of the largest margin are equal: rounding breaks no tie.
_EQUAL = 1e-9
_LINES = 10


@dataclass(frozen=True, eq=False)
class Ranking:
    """Objects with their scores; every array has one entry per object, in the order of the table.

    Attributes
    ----------
    ids : ndarray
        Names of the objects; row numbers where there are none.
    scores : ndarray of float
        Scores by ``method``; they compare within one connected part.
    ranks : ndarray of int
        1 for the best of its connected part; equal scores share the better rank.
    mean_margins : ndarray of float
        Mean over the comparisons of each object of the margin in its favour (Borda).
    win_shares : ndarray of float
        Share of its comparisons in which each object is ahead; ties count one half.
    lower, upper : ndarray of float or None
        Interval of each score at ``level``, if asked for.
    components : ndarray of int
        Connected part of each object in the graph of comparisons.
    parts : HodgeParts
        Gradient, curl and harmonic parts of the preferences, and their shares.
    cycles : CycleSearch
        The strongest cycles and their number.
    method : str
        What the scores are.
    level : float or None
        Level of the intervals.
    """

    ids: NDArray[Any]
    scores: Vector
    ranks: Places
    mean_margins: Vector
    win_shares: Vector
    lower: Vector | None
    upper: Vector | None
    components: Places
    parts: HodgeParts
    cycles: CycleSearch
    method: str
    level: float | None

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
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "got no pandas; expected it for tables: pip install pandas, or use the arrays."
            ) from None
        columns = {
            "id": self.ids,
            "rank": self.ranks,
            "score": self.scores,
            "lower": self.lower,
            "upper": self.upper,
            "mean_margin": self.mean_margins,
            "win_share": self.win_shares,
            "component": self.components,
        }
        given = {name: column for name, column in columns.items() if column is not None}
        return pd.DataFrame(given).iloc[self.order].reset_index(drop=True)

    def named_cycles(self) -> Iterator[tuple[Any, Any, Any]]:
        """The strongest cycles by the names of their objects."""
        for cycle in self.cycles.cycles:
            first, second, third = cycle.objects
            yield self.ids[first], self.ids[second], self.ids[third]

    def __str__(self) -> str:
        lines = [str(self.parts), *(self._line(place) for place in self.order[:_LINES])]
        if len(self) > _LINES:
            lines.append(f"... and {len(self) - _LINES} more")
        if self.cycles.n_triangles:
            lines.append(f"{self.cycles.n_cyclic} of {self.cycles.n_triangles} triangles go round")
        for names, cycle in zip(self.named_cycles(), self.cycles.cycles, strict=True):
            lines.append(f"  {' > '.join(map(str, (*names, names[0])))} by {cycle.strength:.3g}")
        return "\n".join(lines)

    def _line(self, place: int) -> str:
        interval = ""
        if self.lower is not None and self.upper is not None:
            interval = f"  [{self.lower[place]:+.3g}, {self.upper[place]:+.3g}]"
        part = f"  part {self.components[place]}" if self.parts.n_components > 1 else ""
        return (
            f"{self.ranks[place]:4d}  {self.ids[place]!s:<20}  {self.scores[place]:+.4g}"
            f"{interval}  ahead in {self.win_shares[place]:.0%}{part}"
        )


def ranks_of(scores: Vector, components: Places, scale: float) -> Places:
    """Ranks within each connected part, 1 for the highest score; near-equal scores share one."""
    step = _EQUAL * scale if scale > 0 else 1.0
    ranks = np.empty(len(scores), dtype=np.intp)
    for part in np.unique(components):
        inside = components == part
        ranks[inside] = _ranks_of_part(scores[inside], step)
    return ranks


def _ranks_of_part(scores: Vector, step: float) -> Places:
    descending = np.argsort(-scores, kind="stable")
    is_lower = np.diff(-scores[descending], prepend=-np.inf) > step
    level = np.empty(len(scores), dtype=np.intp)
    level[descending] = np.cumsum(is_lower)
    return np.asarray(rankdata(level, method="min"), dtype=np.intp)
