"""A ranking: objects with their scores, the scores that a flow gives them, and how certain they are.

Intervals are ``s -+ q error``: with q of the normal distribution (Student's, where the covariance is
from few refits or clusters) for one object, and with q the quantile of the largest
``|s - truth| / error`` for all objects of a connected part together.  Where the posterior is known not
to be normal, both ends are its own quantiles (:mod:`pairity.inspection.posterior_shape`).  Two objects
are told apart where their difference exceeds its error by the quantile of the largest such ratio over
all pairs of the part; then, at the level asked for, every statement of who is ahead holds at once, and
so do the ranges of ranks that count them (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
Studies 91, 2024).  Quantiles are those of draws from the normal distribution with that covariance, with
a seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from pairity.inspection.fitted_function import as_frame
from pairity.inspection.flow import PreferenceFlow
from pairity.inspection.hodge import CycleSearch, HodgeParts, least_squares_scores
from pairity.inspection.posterior_shape import Shape
from pairity.pairs.arrays import Mask, Matrix, Places, Vector

#: Scores closer than this part of the largest margin are equal: rounding breaks no tie.
_EQUAL = 1e-9
_LINES = 10
#: Draws at most and at least, and differences that are looked at in all of them.
_MOST_DRAWS, _FEWEST_DRAWS, _DIFFERENCES = 4000, 400, 400_000_000
#: Draws whose differences stay near the processor.
_DRAWS_AT_A_TIME = 100
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Columns of a table, besides the errors.
_COLUMNS = ("lower", "upper", "lower_all", "upper_all", "best_rank", "worst_rank", "tied")


@dataclass(frozen=True, eq=False)
class Certainty:
    """Errors, intervals and what they say about ranks; one entry per object.

    Attributes
    ----------
    errors : ndarray
        Standard errors of the scores.
    lower, upper : ndarray
        Interval of each score by itself.
    lower_all, upper_all : ndarray
        Intervals that hold all scores of a connected part at once.
    best_rank, worst_rank : ndarray of int
        Ranks that are possible, for all objects at once.
    tied : ndarray of str
        Letters of the groups of neighbours in the ranking that cannot be told apart; objects that
        share a letter are statistically tied.
    chance_best : ndarray
        Probability of being the best of its connected part.
    ahead : ndarray of bool, shape (m, m)
        Whether the object of the row is certainly ahead of that of the column.
    covariance : ndarray of shape (m, m)
        Of the scores.
    level : float
        Coverage aimed at.
    source : str
        "analytic", "bootstrap" or "leave_out".
    """

    errors: Vector
    lower: Vector
    upper: Vector
    lower_all: Vector
    upper_all: Vector
    best_rank: Places
    worst_rank: Places
    tied: NDArray[Any]
    chance_best: Vector
    ahead: Mask
    covariance: Matrix
    level: float
    source: str = "analytic"

    def columns(self) -> dict[str, Any]:
        """Columns of a table."""
        columns = {name: getattr(self, name) for name in (*_COLUMNS, "chance_best")}
        return {"error": self.errors, **columns}


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


# How certain scores are --------------------------------------------------------------------------


def certainty_of(
    scores: Vector,
    covariance: Matrix,
    components: Places,
    level: float,
    *,
    shape: Shape | None = None,
    degrees: int | None = None,
    random_state: Any = 0,
    source: str = "analytic",
) -> Certainty:
    """What a covariance says about scores, normal or of another shape.

    ``degrees`` are those of freedom where few refits or clusters estimate it.
    """
    m = len(scores)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    shape = Shape.normal(m) if shape is None else shape
    tail = 0.5 + level / 2.0
    one = float(norm.ppf(tail) if degrees is None else student.ppf(tail, degrees))
    reach_all, best = np.zeros(m), np.zeros(m)  # quantiles of all at once
    ahead = np.zeros((m, m), dtype=np.bool_)
    generator = np.random.default_rng(random_state)
    for part in np.unique(components):
        inside = np.flatnonzero(components == part)
        some = np.ix_(inside, inside)
        draws = _draws(covariance[some], degrees, generator)
        known = np.where(errors[inside] > 0.0, errors[inside], np.inf)
        largest = (np.abs(draws) / known).max(axis=1)  # deviation over its error
        reach_all[inside] = max(one, float(np.quantile(largest, level)))
        ahead[some] = _ahead(scores[inside], covariance[some], draws, level)
        winners = np.argmax(scores[inside] + draws, axis=1)
        best[inside] = np.bincount(winners, minlength=len(inside)) / len(draws)
    below, above = shape.ends(errors, one)
    below_all, above_all = shape.ends(errors, reach_all)
    sizes = np.bincount(components)[components] if m else np.zeros(0, dtype=np.intp)
    return Certainty(
        errors,
        scores + below,
        scores + above,
        scores + below_all,
        scores + above_all,
        1 + ahead.sum(axis=0),
        sizes - ahead.sum(axis=1),
        _letters(scores, components, ahead),
        best,
        ahead,
        covariance,
        level,
        source,
    )


def _draws(covariance: Matrix, degrees: int | None, generator: np.random.Generator) -> Matrix:
    """Deviations of scores, shape (number, m)."""
    m = len(covariance)
    number = int(np.clip(_DIFFERENCES // max(1, m * m), _FEWEST_DRAWS, _MOST_DRAWS))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws: Matrix = generator.normal(size=(number, m)) @ root.T
    if degrees is not None:
        draws *= np.sqrt(degrees / generator.chisquare(degrees, size=(number, 1)))
    return draws


def _ahead(scores: Vector, covariance: Matrix, draws: Matrix, level: float) -> Mask:
    """Whether the score of the row exceeds that of the column by more than chance allows."""
    spread = np.diag(covariance)
    squares = spread[:, np.newaxis] + spread - 2.0 * covariance
    floor = 1e-12 * float(spread.max(initial=0.0))
    known = squares > floor  # two objects that the model cannot tell apart are equal
    inverse = np.where(known, 1.0 / np.sqrt(np.where(known, squares, 1.0)), 0.0)
    some = np.array_split(draws, -(-len(draws) // _DRAWS_AT_A_TIME))
    largest = np.concatenate([_largest_difference(part, inverse) for part in some])
    differences = (scores[:, np.newaxis] - scores) * inverse
    return np.asarray(differences > np.quantile(largest, level))


def _largest_difference(draws: Matrix, inverse: Matrix) -> Vector:
    """``max |d_i - d_j| inverse_ij`` over all i < j, for each draw."""
    largest, columns = np.zeros(len(draws)), np.ascontiguousarray(draws.T)
    for row in range(1, len(columns)):
        apart = columns[:row] - columns[row]
        np.abs(apart, out=apart)
        apart *= inverse[:row, row, np.newaxis]
        np.maximum(largest, apart.max(axis=0), out=largest)
    return largest


def _letters(scores: Vector, components: Places, ahead: Mask) -> NDArray[Any]:
    """Letters of maximal runs, in the order of the scores, of objects that are not told apart."""
    letters = np.full(len(scores), "", dtype=object)
    for part in np.unique(components):
        inside = np.flatnonzero(components == part)
        order = inside[np.argsort(-scores[inside], kind="stable")]
        told_apart = ahead[np.ix_(order, order)]
        told_apart = told_apart | told_apart.T
        start = stop = number = 0
        for end in range(1, len(order) + 1):
            # the run from start may grow as long as its new member is told apart from none in it
            clash = (
                np.flatnonzero(told_apart[start:end, end]) if end < len(order) else [end - start]
            )
            if len(clash):
                if end > stop:  # a, b, ..., z, then with a number: a1, b1, ...
                    turn, place = divmod(number, len(_LETTERS))
                    letters[order[start:end]] += _LETTERS[place] + (str(turn) if turn else "")
                    number, stop = number + 1, end
                start += int(clash[-1]) + 1
    return letters.astype(str)
