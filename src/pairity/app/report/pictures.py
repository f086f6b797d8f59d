"""Numbers behind the pictures: reliability, scores by label and over time, a search; and the laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pairity.app.report.report_data import (
    CertificateFacts,
    Distribution,
    MemberFacts,
    Period,
    Reliability,
    ReliabilityBin,
    SearchCurve,
    SearchFacts,
    SwapCheck,
    TimeFacts,
    Trajectory,
)
from pairity.app.report.subject import STEPS, Subject
from pairity.app.report.unseen import SETTINGS, HeldOut
from pairity.app.report.wording import cut
from pairity.estimators.unwrap import layers
from pairity.inspection import trajectories
from pairity.model_selection import DatedForecasts, brier_score, reliability_curve
from pairity.model_selection.search import PairSearch
from pairity.model_selection.searches import at_the_edge
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import at_the_latest_time

_BINS = 10
_BARS = 24


def reliability(subject: Subject, key: str, held: HeldOut, chances: Vector | None) -> Reliability:
    """Of the pairs called 70 %, are 70 % so?  Held-out means in tenths for a regressor.

    Antisymmetric pairs stand for themselves and their swaps, so that the order in which they are
    written plays no part: it is asked whether the favourite was ahead, and where there are draws
    whether the first won, in both orders.  Counts are of pairs.
    """
    name = SETTINGS[key][0]
    if chances is None:
        return _of_numbers(subject, held, name)
    targets, weights = subject.targets[held.rows], held.weights
    chance, happened, brier = chances[:, -1], targets > 0, None
    if subject.kind == "draws":
        chance = np.concatenate([chance, chances[:, 0]])
        happened = np.concatenate([happened, targets < 0])
        weights = np.tile(weights, 2)
    else:
        brier = float(brier_score(happened, chance, classes=[False, True], sample_weight=weights))
        if subject.is_odd:
            turned = chance < 0.5
            chance, happened = np.where(turned, 1.0 - chance, chance), happened ^ turned
    curve = reliability_curve(
        happened, chance, n_bins=_BINS, classes=[False, True], sample_weight=weights
    )
    columns = curve.predicted, curve.observed, curve.lower, curve.upper, curve.count.astype(int)
    bins = zip(*(column.tolist() for column in columns), strict=True)
    return Reliability(
        tuple(ReliabilityBin(*row) for row in bins), curve.calibration_error, brier, name
    )


def _of_numbers(subject: Subject, held: HeldOut, name: str) -> Reliability:
    """Mean prediction and mean target in tenths of the predictions, with two standard errors."""
    targets, weights = subject.targets[held.rows], held.weights
    bins = []
    for rows in np.array_split(np.argsort(held.decisions, kind="stable"), _BINS):
        if not len(rows):
            continue
        weight = weights[rows]
        mean = float(np.average(targets[rows], weights=weight))
        spread = float(np.average((targets[rows] - mean) ** 2, weights=weight))
        reach = 2.0 * float(np.sqrt(spread / max(1.0, weight.sum() - 1.0)))
        predicted = float(np.average(held.decisions[rows], weights=weight))
        bins.append(ReliabilityBin(predicted, mean, mean - reach, mean + reach, len(rows)))
    error = float(np.mean([abs(one.observed - one.predicted) for one in bins]))
    return Reliability(tuple(bins), error, None, name)


def distribution(subject: Subject, key: str, held: HeldOut, chances: Vector | None) -> Distribution:
    """Held-out scores by label: log-odds where the model has probabilities; errors of a regressor."""
    targets, values = subject.targets[held.rows], held.decisions
    score = "decision value"
    if subject.predicts_by_chance and chances is not None:
        loss, win = np.log(np.maximum(chances, np.finfo(np.float64).tiny)).T
        values, score = win - loss, "log-odds"
    if subject.kind == "numbers":
        values, score = targets - values, "target minus prediction"
        parts = {"all pairs": np.ones(len(values), dtype=np.bool_)}
    else:
        steps = zip(subject.class_names, STEPS[subject.kind], strict=True)
        parts = {name: targets == step for name, step in steps}
    low, high = np.percentile(values, [0.5, 99.5])
    if subject.is_odd and subject.kind != "numbers":
        high = max(abs(low), abs(high))
        low = -high
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BARS + 1)
    inside = np.clip(values, low, high)
    counts = {
        name: tuple(np.histogram(inside[chosen], edges, weights=held.weights[chosen])[0].tolist())
        for name, chosen in parts.items()
    }
    return Distribution(tuple(edges.tolist()), counts, SETTINGS[key][0], score)


# How a tuned model came to its kernel and strength ----------------------------------------------


def search_facts(model: Any) -> SearchFacts | None:
    """Weights of kernel families and validation curves of a search; None of other models."""
    search = next((one for one in layers(model) if isinstance(one, PairSearch)), None)
    if search is None or not hasattr(search, "cv_results_"):
        return None
    table, name, combination = search.cv_results_, search._strength, search.combination_
    strengths = np.array(table[f"param_{name}"], dtype=np.float64)
    is_loss = any(word in str(search.scoring) for word in ("loss", "error", "brier"))
    means = np.asarray(table["mean_test_score"]) * (-1.0 if is_loss else 1.0)
    errors = np.asarray(table["std_test_score"]) / np.sqrt(search.n_splits_)
    n_strengths = len(np.unique(strengths))
    curves = []
    for start in range(0, len(strengths), n_strengths):
        rows = start + np.argsort(strengths[start : start + n_strengths], kind="stable")
        kernel = table["param_kernel"][start]
        is_sum = combination is not None and kernel is combination.kernel
        columns = (tuple(values[rows].tolist()) for values in (strengths, means, errors))
        curves.append(SearchCurve("sum of families" if is_sum else cut(str(kernel), 60), *columns))
    return SearchFacts(
        scoring=str(search.scoring).removeprefix("neg_").replace("_", " "),
        strength=name,
        best=float(search.best_params_[name]),
        best_kernel=int(search.best_index_) // n_strengths,
        curves=tuple(curves),
        weights=() if combination is None else _sorted(combination.weights, -1.0),
        family_losses=() if combination is None else _sorted(combination.family_losses, 1.0),
        n_splits=int(search.n_splits_),
        edge=at_the_edge(search),
    )


def members_of(model: Any) -> tuple[MemberFacts, ...]:
    """What each member of an automatic model contributes, the heaviest first; () of others."""
    whole = next((layer for layer in layers(model) if hasattr(layer, "members_")), None)
    if whole is None:
        return ()
    loss = -float(whole.best_score_)
    facts = [
        MemberFacts(
            name,
            float(one.weight),
            float(one.loss),
            None if np.isnan(one.without) or one.weight == 0.0 else float(one.without) - loss,
        )
        for name, one in whole.members_.items()
    ]
    return tuple(sorted(facts, key=lambda one: -one.weight))


def _sorted(values: dict[str, float], sign: float) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(values.items(), key=lambda item: (sign * item[1], item[0])))


# Certificate and swap law, evaluated for the page -----------------------------------------------

#: Training pairs, and random pairs of objects, that the law is tried on; some one at a time.
_TRIED, _ALONE = 2000, 25


def certificate_of(subject: Subject) -> CertificateFacts:
    """Objectives, gap and violation of the fit."""
    found = subject.machine.certificate_
    primal, dual, gap = float(found.primal), -float(found.dual), float(found.relative_gap)
    violation, tol, holds = float(found.violation), float(found.tol), bool(found.holds)
    return CertificateFacts(primal, dual, gap, violation, tol, holds, found.measure)


def check_swap(subject: Subject, seed: int) -> SwapCheck | None:
    """Compare decisions (and probabilities) of pairs and swapped pairs with ``==``.

    The pairs are training pairs, random pairs of their objects, single pairs asked alone, and pairs
    of an object with itself, where an antisymmetric function is 0.0.
    """
    if subject.parity is None:
        return None
    pairs, sign = subject.pairs, subject.parity.sign
    generator = np.random.default_rng(seed)
    used = np.unique(np.concatenate([pairs.first, pairs.second]))
    tried = pairs
    if len(pairs) > _TRIED:
        tried = pairs[np.sort(generator.permutation(len(pairs))[:_TRIED])]
    batches = [tried]
    if not (pairs.n_symmetric or pairs.n_antisymmetric):
        first, second = generator.choice(used, size=(2, _TRIED))
        proper = first != second
        random = Pairs(pairs.objects, first[proper], second[proper], ids=pairs.ids)
        batches.append(at_the_latest_time(random, pairs))
    alone = [tried[row] for row in range(min(_ALONE, len(tried)))]
    batches += alone
    misses = []
    for batch in batches:
        forth, back = subject.values(batch), subject.values(batch.swap())
        misses.append(np.abs(back - sign * forth) * ~(back == sign * forth))
    n_pairs, n_self, n_probabilities = sum(map(len, batches)), 0, 0
    if subject.is_odd and not pairs.n_symmetric:
        same = used[:_TRIED]
        neutral = np.zeros((len(same), pairs.n_antisymmetric))
        selves = Pairs(pairs.objects, same, same, antisymmetric=neutral, ids=pairs.ids)
        misses.append(np.abs(subject.values(at_the_latest_time(selves, pairs))))
        n_self = len(same)
    if hasattr(subject.model, "predict_proba"):
        forth, back = (subject.model.predict_proba(some) for some in (tried, tried.swap()))
        wanted = forth[:, ::-1] if subject.is_odd else forth
        misses.append(np.abs(back - wanted).max(axis=1))
        n_probabilities = len(tried)
    miss = np.concatenate(misses)
    return SwapCheck(
        law="f(b, a) == -f(a, b)" if subject.is_odd else "f(b, a) == f(a, b)",
        n_pairs=n_pairs,
        n_violations=int(np.count_nonzero(miss)),
        n_alone=len(alone),
        n_self=n_self,
        n_probabilities=n_probabilities,
        largest_miss=float(miss.max(initial=0.0)),
    )


# Pairs with times -------------------------------------------------------------------------------

#: Objects that are drawn, those they are compared with, and moments of a line.
_DRAWN, _COMPARED, _MOMENTS = 4, 12, 30
_LEVEL = 0.9


def over_time(
    subject: Subject, held: HeldOut, chances: Vector | None, leaders: Any, *, dates: bool
) -> TimeFacts | None:
    """What there is to say of pairs with times; ``leaders`` are ids, the best first."""
    if subject.pairs.time is None:
        return None
    facts = TimeFacts(dates, _periods(subject, held, chances), (), None)
    if leaders is None or not _drifts(subject, leaders):
        return facts
    clock = subject.pairs.clock[:, 0]
    moments = np.linspace(clock.min(), clock.max(), _MOMENTS)
    found = trajectories(subject.machine, leaders[:_COMPARED], moments, level=_LEVEL)
    is_certain = found.std is not None
    ends: Any = (found.lower, found.upper) if is_certain else (found.values, found.values)
    lines = [
        Trajectory(str(name), *(tuple(np.asarray(row).tolist()) for row in rows))
        for name, *rows in zip(found.ids, found.values, *ends, strict=True)
    ]
    return replace(
        facts,
        moments=tuple(moments.tolist()),
        level=_LEVEL if is_certain else None,
        lines=tuple(lines[:_DRAWN]),
    )


def _drifts(subject: Subject, leaders: list[Any]) -> bool:
    """Whether strengths change with time, of objects that the learner knows by the same names."""
    kernel, pairs = subject.machine._model.kernel, getattr(subject.machine, "support_pairs_", None)
    if pairs is None or pairs.ids is None or pairs.n_symmetric or not subject.is_odd:
        return False
    known = set(pairs.ids.tolist())
    return any(part.of_time for part in kernel.walk()) and all(name in known for name in leaders)


def _periods(subject: Subject, held: HeldOut, chances: Vector | None) -> tuple[Period, ...]:
    """Scores of the blocks of later pairs, each foretold from all pairs before it."""
    if chances is None or not held.in_time:
        return ()
    clock, classes = subject.pairs.clock[held.rows, 0], np.arange(len(subject.classes))
    happened = subject.columns(subject.targets[held.rows])
    forecasts = DatedForecasts(clock, chances, happened, classes, held.folds)
    return tuple(
        Period(row["from"], int(row["pairs"]), {name: row[name] for name in forecasts.scores()})
        for row in forecasts.to_frame().to_dict("records")
    )
