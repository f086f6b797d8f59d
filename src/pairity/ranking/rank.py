"""Rank objects: by an antisymmetric model, or by observed outcomes alone."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairity.memory import Budget, limit_of, megabytes_of
from pairity.pairs import Pairs
from pairity.ranking.cycles import CycleSearch, strongest_cycles
from pairity.ranking.flow import PreferenceFlow, Vector, model_flow, observed_flow
from pairity.ranking.hodge import decompose, least_squares_scores
from pairity.ranking.intervals import (
    Interval,
    bootstrap_interval,
    left_out_interval,
    left_out_models,
    replicate,
    resampled_models,
    reweighted_flows,
)
from pairity.ranking.result import Ranking, ranks_of
from pairity.validation import check_choice

__all__ = ["mean_margins", "rank_objects", "rank_observed", "win_shares"]

#: Numbers for each pair that a ranking holds.
_PER_PAIR = 14.0

METHODS = ("least_squares", "mean", "wins")


def mean_margins(flow: PreferenceFlow) -> Vector:
    """``sum_j w_ij Y_ij / sum_j w_ij``: the mean margin of each object (Borda); 0 without any.

    Where all m objects are compared with equal weights the least-squares scores are (m - 1) / m
    times these.
    """
    return _per_comparison(flow, flow.per_object(flow.weights * flow.values, -1.0))


def win_shares(flow: PreferenceFlow) -> Vector:
    """Weighted share of its comparisons in which each object is ahead; ties count one half."""
    credit = flow.weights * np.sign(flow.values) / 2.0
    balance = flow.per_object(credit, -1.0)
    return 0.5 + _per_comparison(flow, balance)


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
    >>> from pairity.ranking import rank_objects
    >>> strength = np.array([[0.0], [3.0], [1.0], [2.0]])
    >>> games = Pairs.complete(strength)
    >>> won = np.where(strength[games.first, 0] > strength[games.second, 0], 1, -1)
    >>> model = PairSVC("antisymmetric", "linear").fit(games, won)
    >>> rank_objects(model, strength, ids=["a", "b", "c", "d"]).ranks.tolist()
    [4, 1, 3, 2]
    """
    _check_options(method, intervals, n_resamples, level, n_cycles)
    _refuse_too_many(model, objects)
    flow = model_flow(model, objects)
    names = objects.ids if ids is None and isinstance(objects, Pairs) else ids
    score = _SCORES[method]
    found: Interval | None = None
    if intervals is not None:
        pairs, y = _read_training(training)
        if intervals == "bootstrap":
            generator = np.random.default_rng(random_state)
            models = resampled_models(model, pairs, y, n_resamples, generator)
        else:
            models = left_out_models(model, pairs, y, n_resamples, random_state)
        replicates = replicate(models, lambda other: score(model_flow(other, objects)))
        if intervals == "bootstrap":
            found = bootstrap_interval(replicates, level)
        else:
            found = left_out_interval(score(flow), replicates, level)
    return _ranking(flow, names, method, found, level, n_cycles)


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
    flow, score = observed_flow(pairs, y, sample_weight), _SCORES[method]
    found: Interval | None = None
    if intervals is not None:
        weights = np.ones(len(pairs)) if sample_weight is None else np.asarray(sample_weight)
        generator = np.random.default_rng(random_state)
        flows = reweighted_flows(pairs, np.asarray(y, float), weights, n_resamples, generator)
        found = bootstrap_interval(replicate(flows, score), level)
    return _ranking(flow, pairs.ids if ids is None else ids, method, found, level, n_cycles, curl)


def _ranking(
    flow: PreferenceFlow,
    ids: ArrayLike | None,
    method: str,
    interval: Interval | None,
    level: float,
    n_cycles: int,
    curl: bool = True,
) -> Ranking:
    parts = decompose(flow, curl=curl)
    scores = parts.scores if method == "least_squares" else _SCORES[method](flow)
    scale = float(np.abs(flow.values).max(initial=0.0)) if method != "wins" else 1.0
    return Ranking(
        ids=_names(ids, flow.n_objects),
        scores=scores,
        ranks=ranks_of(scores, parts.components, scale),
        mean_margins=mean_margins(flow),
        win_shares=win_shares(flow),
        lower=None if interval is None else interval[0],
        upper=None if interval is None else interval[1],
        components=parts.components,
        parts=parts,
        cycles=strongest_cycles(flow, n_cycles) if n_cycles else CycleSearch((), 0, 0),
        method=method,
        level=None if interval is None else level,
    )


def _names(ids: ArrayLike | None, n_objects: int) -> NDArray[Any]:
    names = np.arange(n_objects) if ids is None else np.asarray(ids)
    if len(names) != n_objects:
        raise ValueError(f"got {len(names)} ids for {n_objects} objects; expected one per object.")
    return names


def _read_training(training: Any) -> tuple[Pairs, NDArray[Any]]:
    if not isinstance(training, tuple) or len(training) != 2 or not isinstance(training[0], Pairs):
        raise ValueError(
            "got intervals without training; expected training=(pairs, y), what the model was"
            " fitted to: it is fitted again for intervals."
        )
    return training[0], np.asarray(training[1])


def _refuse_too_many(model: Any, objects: Any) -> None:
    """Refuse more pairs than the memory limit of the model has room for."""
    limit = limit_of(model)
    n = len(objects) if isinstance(objects, Pairs) else np.shape(objects)[0]
    n_pairs = n if isinstance(objects, Pairs) else n * (n - 1) // 2
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
    check_choice(method, "method", METHODS)
    if intervals is not None:
        check_choice(intervals, "intervals", ("bootstrap", "leave_out"))
    for value, name, least in ((n_resamples, "n_resamples", 2), (n_cycles, "n_cycles", 0)):
        if not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"got {name}={value!r}; expected an integer of at least {least}.")
    if not 0.0 < level < 1.0:
        raise ValueError(f"got level={level!r}; expected a number between 0 and 1.")
