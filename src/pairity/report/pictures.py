"""Numbers behind two pictures of held-out decisions: reliability, and scores by label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.metrics import brier_score, reliability_curve
from pairity.report.data import Distribution, Reliability, ReliabilityBin
from pairity.report.held_out import SETTINGS, HeldOut
from pairity.report.subject import Subject

__all__ = ["distribution", "reliability"]

Mask = NDArray[np.bool_]
Vector = NDArray[np.float64]

_BINS = 10
_BARS = 24


def reliability(subject: Subject, key: str, held: HeldOut, chances: Vector | None) -> Reliability:
    """Of the pairs called 70 %, are 70 % so?  Held-out means in tenths for a regressor.

    Antisymmetric pairs stand for themselves and their swaps, so that the order in which they are
    written plays no part; counts are of pairs.
    """
    name = SETTINGS[key][0]
    if chances is None:
        return _of_numbers(subject, held, name)
    targets, weights = subject.targets[held.rows], held.weights
    if subject.kind == "draws":
        return _of_draws(targets, chances, weights, name)
    chance, happened = chances[:, 1], targets > 0
    brier = float(brier_score(happened, chance, classes=[False, True], sample_weight=weights))
    if subject.is_odd:
        chance, happened = _favourites(chance, happened)
    curve = reliability_curve(
        happened, chance, n_bins=_BINS, classes=[False, True], sample_weight=weights
    )
    return Reliability(_bins(curve), curve.calibration_error, brier, name)


def _favourites(chance: Vector, happened: Mask) -> tuple[Vector, Mask]:
    """The probability of the favourite, and whether it was ahead: one half and more."""
    turned = chance < 0.5
    return np.where(turned, 1.0 - chance, chance), np.where(turned, ~happened, happened)


def _of_draws(targets: Vector, chances: Vector, weights: Vector, name: str) -> Reliability:
    """Reliability of a win of the first object, in both orders."""
    chance = np.concatenate([chances[:, 2], chances[:, 0]])
    happened = np.concatenate([targets > 0, targets < 0])
    curve = reliability_curve(
        happened, chance, n_bins=_BINS, classes=[False, True], sample_weight=np.tile(weights, 2)
    )
    return Reliability(_bins(curve), curve.calibration_error, None, name)


def _bins(curve: object) -> tuple[ReliabilityBin, ...]:
    columns = [
        getattr(curve, name).tolist() for name in ("predicted", "observed", "lower", "upper")
    ]
    counts = [int(count) for count in curve.count]  # type: ignore[attr-defined]
    return tuple(ReliabilityBin(*row) for row in zip(*columns, counts, strict=True))


def _of_numbers(subject: Subject, held: HeldOut, name: str) -> Reliability:
    """Mean prediction and mean target in tenths of the predictions, with two standard errors."""
    targets, weights = subject.targets[held.rows], held.weights
    parts = np.array_split(np.argsort(held.decisions, kind="stable"), _BINS)
    bins = []
    for rows in parts:
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


def _log_odds(chances: Vector) -> Vector:
    least = np.finfo(np.float64).tiny
    return np.log(np.maximum(chances[:, 1], least)) - np.log(np.maximum(chances[:, 0], least))


def distribution(subject: Subject, key: str, held: HeldOut, chances: Vector | None) -> Distribution:
    """Held-out scores by label: log-odds where the model has probabilities; errors of a regressor."""
    targets, values = subject.targets[held.rows], held.decisions
    score = "decision value"
    if subject.predicts_by_chance and chances is not None:
        values, score = _log_odds(chances), "log-odds"
    if subject.kind == "numbers":
        values, score = targets - values, "target minus prediction"
        parts = {"all pairs": np.ones(len(values), dtype=np.bool_)}
    else:
        steps = (-1.0, 1.0) if subject.kind == "labels" else (-1.0, 0.0, 1.0)
        parts = {
            name: targets == step for name, step in zip(subject.class_names, steps, strict=True)
        }
    low, high = np.percentile(values, [0.5, 99.5])
    if subject.is_odd and subject.kind != "numbers":
        high = max(abs(low), abs(high))
        low = -high
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BARS + 1)
    inside = np.clip(values, low, high)
    counts = {
        name: tuple(int(n) for n in np.histogram(inside[chosen], edges)[0])
        for name, chosen in parts.items()
    }
    return Distribution(tuple(edges.tolist()), counts, SETTINGS[key][0], score)
