"""Rank objects: by an antisymmetric model, or by observed outcomes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from scipy.stats import t as student
from sklearn.base import clone

from pairity.estimators.unwrap import limit_of
from pairity.inspection.fitted_function import as_frame, is_pairs_with_targets, object_names
from pairity.inspection.flow import Places, PreferenceFlow, Vector, model_flow, observed_flow
from pairity.inspection.hodge import (
    CycleSearch,
    HodgeParts,
    decompose,
    least_squares_scores,
    strongest_cycles,
)
from pairity.model_selection.splitter import PairKFold, check_count
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of
from pairity.runtime.resources import Budget, megabytes_of
from pairity.runtime.validation import check_choice

#: Numbers for each pair that a ranking holds.
_PER_PAIR = 14.0
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
    lower, upper : ndarray of float or None
        Interval of each score at ``level``, if asked for.
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
        return as_frame(columns).iloc[self.order].reset_index(drop=True)

    def named_cycles(self) -> Iterator[tuple[Any, Any, Any]]:
        """The strongest cycles by the names of their objects."""
        for first, second, third in (cycle.objects for cycle in self.cycles.cycles):
            yield self.ids[first], self.ids[second], self.ids[third]

    def __str__(self) -> str:
        lines = [str(self.parts), *map(self._line, self.order[:_LINES])]
        if len(self) > _LINES:
            lines.append(f"... and {len(self) - _LINES} more")
        if self.cycles.n_triangles:
            lines.append(f"{self.cycles.n_cyclic} of {self.cycles.n_triangles} triangles go round")
        for names, cycle in zip(self.named_cycles(), self.cycles.cycles, strict=True):
            lines.append(f"  {' > '.join(map(str, (*names, names[0])))} by {cycle.strength:.3g}")
        return "\n".join(lines)

    def _line(self, row: int) -> str:
        interval = ""
        if self.lower is not None and self.upper is not None:
            interval = f"  [{self.lower[row]:+.3g}, {self.upper[row]:+.3g}]"
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


_SCORES = {"least_squares": least_squares_scores, "mean": mean_margins, "wins": win_shares}


def rank_objects(
    model: Any,
    objects: Any,
    *,
    ids: ArrayLike | None = None,
    method: str = "least_squares",
    intervals: str | None = None,
    training: tuple[Pairs, ArrayLike] | None = None,
    n_resamples: int = 50,
    level: float = 0.9,
    n_cycles: int = 5,
    random_state: Any = 0,
) -> Ranking:
    """Rank objects by an antisymmetric model, and say how much no ranking can explain.

    Parameters
    ----------
    model : fitted model
        Anything with ``decision_function`` (margins), ``predict_proba`` (log-odds of the last
        class) or ``predict`` (a regressor's margins) on :class:`~pairity.Pairs`; above 0 where the
        first object is ahead.
    objects : array-like of shape (m, n1), or Pairs
        Objects, all pairs of which are compared; or the pairs to compare, with the group features
        that the model needs.
    ids : sequence of length m, optional
        Names for the table; those of the pairs, or row numbers, by default.
    method : {"least_squares", "mean", "wins"}
        Score: HodgeRank, mean margin (Borda) or share of opponents beaten (Copeland).
    intervals : {"bootstrap", "leave_out"} or None
        Fit the model again to ``training``, ``n_resamples`` times: to unordered pairs drawn with
        replacement (percentiles), or without one of ``n_resamples`` folds of them (jackknife).
    training : (pairs, y), optional
        What the model was fitted to; needed for intervals.
    n_resamples : int
        Number of refits, at least 2.
    level : float
        Coverage aimed at, between 0 and 1.
    n_cycles : int
        Number of the strongest cycles to list.
    random_state : int, Generator or None
        Seed of the resampling.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.inspection import rank_objects
    >>> strength = np.array([[0.0], [3.0], [1.0], [2.0]])
    >>> games = Pairs.complete(strength)
    >>> won = np.where(strength[games.first, 0] > strength[games.second, 0], 1, -1)
    >>> model = PairSVC("antisymmetric", kernel="linear").fit(games, won)
    >>> rank_objects(model, strength, ids=["a", "b", "c", "d"]).ranks.tolist()
    [4, 1, 3, 2]
    """
    _check_options(method, intervals, n_resamples, level, n_cycles)
    _refuse_too_many(model, objects)
    flow, replicates = model_flow(model, objects), None
    names = objects.ids if ids is None and isinstance(objects, Pairs) else ids
    if intervals is not None:
        if training is None or not is_pairs_with_targets(training):
            raise ValueError(
                "got intervals without training; expected training=(pairs, y), what the model was"
                " fitted to: it is fitted again for intervals."
            )
        resample = _resampled if intervals == "bootstrap" else _left_out
        pairs, y = training[0], np.asarray(training[1])
        refitted = (
            clone(model).fit(pairs[rows], y[rows])
            for rows in resample(pairs, n_resamples, random_state)
        )
        replicates = [_SCORES[method](model_flow(other, objects)) for other in refitted]
    return _ranking(flow, names, method, intervals, replicates, level, n_cycles)


def rank_observed(
    pairs: Pairs,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    method: str = "least_squares",
    intervals: str | None = None,
    n_resamples: int = 200,
    level: float = 0.9,
    n_cycles: int = 5,
    curl: bool = True,
    random_state: Any = 0,
) -> Ranking:
    """Rank objects by observed outcomes alone, without a model and without features.

    Parameters
    ----------
    pairs : Pairs
        Who was compared with whom; the rows of ``pairs.objects`` are the objects.
    y : array-like of shape (n,)
        Outcomes: above 0 where the first object is ahead (+1 and -1, or margins), 0 for a tie; a
        loss is -1, not 0.
    sample_weight : array-like of shape (n,), optional
        How much each observation counts.
    ids, method, n_resamples, level, n_cycles, random_state
        As in :func:`rank_objects`.
    intervals : {"bootstrap"} or None
        Bayesian bootstrap of the observations.
    curl : bool
        Tell curl and harmonic parts apart.
    """
    _check_options(method, intervals, n_resamples, level, n_cycles)
    if intervals == "leave_out":
        raise ValueError("got intervals='leave_out'; expected 'bootstrap' for outcomes, or None.")
    flow, replicates = observed_flow(pairs, y, sample_weight), None
    if intervals is not None:
        weights = np.ones(len(pairs)) if sample_weight is None else np.asarray(sample_weight)
        generator = np.random.default_rng(random_state)
        # Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981): an exponential weight instead of
        # a number of copies, so no comparison is lost and the graph stays connected where it was
        factors = (generator.exponential(size=len(pairs)) for _ in range(n_resamples))
        flows = (observed_flow(pairs, y, weights * factor) for factor in factors)
        replicates = [_SCORES[method](resampled) for resampled in flows]
    names = pairs.ids if ids is None else ids
    return _ranking(flow, names, method, intervals, replicates, level, n_cycles, curl)


def _resampled(pairs: Pairs, number: int, random_state: Any) -> Iterator[Places]:
    """Unordered pairs drawn with replacement, all observations of each."""
    generator = np.random.default_rng(random_state)
    unordered = ends_of(pairs).unordered()
    n_units = int(unordered.max()) + 1
    for _ in range(number):
        copies = np.bincount(generator.integers(0, n_units, size=n_units), minlength=n_units)
        yield np.repeat(np.arange(len(pairs)), copies[unordered])


def _left_out(pairs: Pairs, number: int, random_state: Any) -> Iterator[Places]:
    """All but one of ``number`` folds of the unordered pairs."""
    folds = PairKFold(number, new=(0, 1, 2), random_state=random_state)
    return (train for train, _ in folds.split(pairs))


def _interval(intervals: str, scores: Vector, replicates: Vector, level: float) -> Vector:
    """Lower and upper ends: percentiles of the replicates, shape (number, m), or a jackknife.

    The delete-a-group jackknife is ``s -+ t * SE`` with ``SE^2 = (K - 1) / K sum_k (s_(k) - mean)^2``
    over the K scores without group k, and t of K - 1 degrees of freedom (Efron and Tibshirani, An
    Introduction to the Bootstrap, 1993, chapter 11).
    """
    if intervals == "bootstrap":
        tail = 50.0 * (1.0 - level)
        return np.percentile(replicates, [tail, 100.0 - tail], axis=0)
    number = len(replicates)
    squares = np.sum((replicates - replicates.mean(axis=0)) ** 2, axis=0)
    error = np.sqrt(squares * (number - 1) / number)
    reach = float(student.ppf(0.5 + level / 2.0, number - 1)) * error
    return np.stack([scores - reach, scores + reach])


def _ranking(
    flow: PreferenceFlow,
    ids: ArrayLike | None,
    method: str,
    intervals: str | None,
    replicates: list[Vector] | None,
    level: float,
    n_cycles: int,
    curl: bool = True,
) -> Ranking:
    parts = decompose(flow, curl=curl)
    scores = parts.scores if method == "least_squares" else _SCORES[method](flow)
    scale = float(np.abs(flow.values).max(initial=0.0)) if method != "wins" else 1.0
    lower = upper = None
    if intervals is not None and replicates is not None:
        lower, upper = _interval(intervals, scores, np.stack(replicates), level)
    return Ranking(
        ids=object_names(ids, flow.n_objects),
        scores=scores,
        ranks=ranks_of(scores, parts.components, scale),
        mean_margins=mean_margins(flow),
        win_shares=win_shares(flow),
        lower=lower,
        upper=upper,
        components=parts.components,
        parts=parts,
        cycles=strongest_cycles(flow, n_cycles) if n_cycles else CycleSearch(),
        method=method,
        level=None if intervals is None else level,
    )


def _refuse_too_many(model: Any, objects: Any) -> None:
    """Refuse more pairs than the memory limit of the model has room for."""
    limit = limit_of(model)
    m = np.shape(objects)[0]
    n_pairs = len(objects) if isinstance(objects, Pairs) else m * (m - 1) // 2
    if limit is not None and not Budget(limit).holds(n_pairs, copies=_PER_PAIR):
        Budget(limit).refuse(
            f"{n_pairs} pairs to compare",
            megabytes_of(n_pairs, copies=_PER_PAIR),
            "fewer objects, only the pairs that matter as Pairs, or a model of larger memory_limit:"
            " set_params(memory_limit=...)",
        )


def _check_options(
    method: str, intervals: str | None, n_resamples: int, level: float, n_cycles: int
) -> None:
    check_choice(method, "method", tuple(_SCORES))
    if intervals is not None:
        check_choice(intervals, "intervals", ("bootstrap", "leave_out"))
    check_count(n_resamples, "n_resamples", 2)
    check_count(n_cycles, "n_cycles", 0)
    if not 0.0 < level < 1.0:
        raise ValueError(f"got level={level!r}; expected a number between 0 and 1.")
