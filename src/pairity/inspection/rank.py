"""Rank objects: by an antisymmetric model, or by observed outcomes alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairity.estimators.unwrap import ahead, layers, limit_of, machine_of
from pairity.inspection.fitted_function import is_pairs_with_targets, margins, object_names
from pairity.inspection.flow import PreferenceFlow, model_flow, observed_flow
from pairity.inspection.hodge import CycleSearch, decompose, strongest_cycles
from pairity.inspection.ranking import (
    SCORES,
    Ranking,
    certainty_of,
    mean_margins,
    ranks_of,
    win_shares,
)
from pairity.inspection.score_covariance import (
    Spread,
    analytic_spread,
    comparable,
    refitted,
    slope_of,
    spread_of_refits,
    unit_codes,
)
from pairity.inspection.strengths_over_time import all_pairs, training_objects
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget, megabytes_of
from pairity.runtime.validation import check_choice, check_count, check_level

#: Numbers for each pair that a ranking holds.
_PER_PAIR = 14.0


def rank_objects(
    model: Any,
    objects: Any = None,
    *,
    at: Any = None,
    ids: ArrayLike | None = None,
    method: str = "least_squares",
    intervals: str | None = None,
    by: Any = None,
    training: tuple[Pairs, ArrayLike] | None = None,
    refit: Any = None,
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
        class) or ``predict`` (a regressor's margins) on :class:`~pairity.Pairs`.  The first object
        is ahead where the label is ``positive``, or ``classes_[1]`` without one.
    objects : array-like of shape (m, n1), or Pairs, optional
        Objects, all pairs of which are compared; or the pairs to compare, with the group features
        that the model needs.  By default the objects of the training pairs.
    at : float or date, optional
        When they are compared, for a model with a kernel of time.
    ids : sequence of length m, optional
        Names for the table; those of the pairs, or row numbers, by default.
    method : {"least_squares", "mean", "wins"}
        Score: HodgeRank, mean margin (Borda) or share of opponents beaten (Copeland).
    intervals : {"analytic", "bootstrap", "leave_out"} or None
        "analytic" is through the posterior of a PairLogistic or PairRidge, no refit.  The others fit
        the model again to ``training``, ``n_resamples`` times: to units drawn with replacement, or
        without one of ``n_resamples`` folds of them (jackknife).
    by : "pair", "object", or array-like of shape (n,), optional
        What varies together: rows of one judge, day or group; rows that share an object; refits
        take unordered pairs by default.  Analytic intervals are then clustered.
    training : (pairs, y), optional
        What the model was fitted to; needed for refits.
    refit : estimator, optional
        What is fitted again, the model by default: the learner inside a search or a calibration,
        say, whose decisions are a multiple of those of the model.
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
    if objects is None:
        known = training_objects(model)
        objects = all_pairs(known, np.arange(known.n_objects))
    _refuse_too_many(model, objects)
    names = objects.ids if ids is None and isinstance(objects, Pairs) else ids
    pairs = _compared(model, objects)
    if at is not None:
        pairs = pairs.at(at)
    decisions = margins(model, pairs, Parity.ODD)
    flow = observed_flow(pairs, decisions)
    meaning = f"{ahead(model)}: the first object is ahead"
    ranking = replace(_ranking(flow, names, method, n_cycles), meaning=meaning)
    if intervals is None:
        return ranking
    if intervals == "analytic":
        spread = analytic_spread(model, pairs, flow, decisions, method, by)
    elif training is None or not is_pairs_with_targets(training):
        raise ValueError(
            "got intervals without training; expected training=(pairs, y), what the model was"
            " fitted to: it is fitted again for intervals."
        )
    else:
        slope = 1.0 if refit is None else slope_of(decisions, margins(refit, pairs, Parity.ODD))
        spread = refitted(
            model if refit is None else refit,
            training,
            lambda other: slope * SCORES[method](model_flow(other, pairs)),
            intervals,
            "pair" if by is None else by,
            n_resamples,
            random_state,
        )
    return _with_certainty(ranking, spread, level, random_state, intervals)


def _compared(model: Any, objects: Any) -> Pairs:
    """The pairs given, or all of the objects; without those that no comparisons connect."""
    pairs = objects if isinstance(objects, Pairs) else Pairs.complete(objects)
    observed = getattr(machine_of(model), "observed_", None)
    if observed is None or any(hasattr(layer, "steps") for layer in layers(model)):
        return pairs
    connected = comparable(observed.pairs, pairs)
    return pairs if connected.all() else pairs[connected]


def rank_observed(
    pairs: Pairs,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    method: str = "least_squares",
    intervals: str | None = None,
    by: Any = None,
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
    by : "pair" or array-like of shape (n,), optional
        What varies together; each observation by itself by default.
    curl : bool
        Tell curl and harmonic parts apart.
    """
    _check_options(method, intervals, n_resamples, level, n_cycles)
    if intervals not in (None, "bootstrap"):
        raise ValueError(f"got {intervals=}; expected 'bootstrap' for outcomes, or None.")
    flow, names = observed_flow(pairs, y, sample_weight), pairs.ids if ids is None else ids
    ranking = _ranking(flow, names, method, n_cycles, curl)
    if intervals is None:
        return ranking
    weights = np.ones(len(pairs)) if sample_weight is None else np.asarray(sample_weight)
    generator = np.random.default_rng(random_state)
    codes = np.arange(len(pairs)) if by is None else unit_codes(pairs, by)
    n_units = int(codes.max(initial=-1)) + 1
    # Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981): an exponential weight instead of
    # a number of copies, so no comparison is lost and the graph stays connected where it was
    factors = (generator.exponential(size=n_units)[codes] for _ in range(n_resamples))
    flows = (observed_flow(pairs, y, weights * factor) for factor in factors)
    replicates = np.stack([SCORES[method](resampled) for resampled in flows])
    spread = spread_of_refits(replicates, intervals)
    return _with_certainty(ranking, spread, level, random_state, intervals)


def _ranking(
    flow: PreferenceFlow, ids: ArrayLike | None, method: str, n_cycles: int, curl: bool = True
) -> Ranking:
    parts = decompose(flow, curl=curl)
    scores = parts.scores if method == "least_squares" else SCORES[method](flow)
    scale = float(np.abs(flow.values).max(initial=0.0)) if method != "wins" else 1.0
    return Ranking(
        ids=object_names(ids, flow.n_objects),
        scores=scores,
        ranks=ranks_of(scores, parts.components, scale),
        mean_margins=mean_margins(flow),
        win_shares=win_shares(flow),
        certainty=None,
        components=parts.components,
        parts=parts,
        cycles=strongest_cycles(flow, n_cycles) if n_cycles else CycleSearch(),
        method=method,
    )


def _with_certainty(
    ranking: Ranking, spread: Spread, level: float, random_state: Any, source: str
) -> Ranking:
    certainty = certainty_of(
        ranking.scores,
        spread.covariance,
        ranking.components,
        level,
        shape=spread.shape,
        degrees=spread.degrees,
        random_state=random_state,
        source=source,
    )
    return replace(ranking, certainty=certainty)


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
    check_choice(method, "method", tuple(SCORES))
    if intervals is not None:
        check_choice(intervals, "intervals", ("analytic", "bootstrap", "leave_out"))
    check_count(n_resamples, "n_resamples", 2)
    check_count(n_cycles, "n_cycles", 0)
    check_level(level)
