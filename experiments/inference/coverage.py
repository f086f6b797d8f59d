"""Coverage of 90 % intervals: scores, effects and predictions, where the model is right and where not.

Votes follow ``log-odds = s_a - s_b + x~' v`` with strengths ``s ~ N(0, 1)``, the prior of a
:class:`~pairity.PairLogistic` with C = 1 on indicator columns.  Badly specified: strengths three times
as spread as the model thinks or a third, half of the votes tossed, or judges who hang together in styles
they like (without and with clusters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import rankdata

from pairity import PairLogistic, PairRidge, Pairs
from pairity.inspection import effects, rank_objects
from pairity.kernels import Gaussian, SkewBalanced

LEVEL = 0.9


@dataclass(frozen=True)
class Case:
    """A design and what is wrong with the model."""

    n_objects: int
    design: str  # "balanced" or "star"
    truth: str = "as modelled"
    per_object: int = 40  # votes
    clustered: bool = False

    @property
    def name(self) -> str:
        """What tells it from the others."""
        clustered = ", clustered" if self.clustered else ""
        return f"{self.n_objects} objects, {self.design}, {self.truth}{clustered}"


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the truth, over simulations, and their standard errors."""

    shares: dict[str, float]
    errors: dict[str, float]
    n_runs: int
    n_ranked: int


MEASURES = ("scores", "all_scores", "all_ranks", "effects", "predictions")
#: Standard deviation of the strengths where it is not that of the prior.
SPREADS = {"strengths 3 times as spread": 3.0, "strengths a third as spread": 1.0 / 3.0}


CASES = [
    *(Case(m, design) for m in (20, 100, 500) for design in ("balanced", "star")),
    Case(100, "balanced", clustered=True),
    *(Case(20, "balanced", truth) for truth in SPREADS),
    Case(100, "balanced", "strengths a third as spread"),
    Case(20, "balanced", "half of the votes tossed"),
    Case(20, "balanced", "judges with tastes"),
    Case(20, "balanced", "judges with tastes", clustered=True),
]


def _ends(case: Case, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    m, n = case.n_objects, case.n_objects * case.per_object // 2
    if case.design == "star":  # everyone meets the first object
        return np.zeros(n, dtype=int), 1 + np.arange(n) % (m - 1)
    first = random.integers(0, m, n)
    return first, (first + random.integers(1, m, n)) % m


@dataclass(frozen=True, eq=False)
class Simulated:
    """Votes and what they were drawn from."""

    pairs: Pairs
    won: np.ndarray
    strength: np.ndarray
    taste: np.ndarray
    judge: np.ndarray


def _votes(case: Case, random: np.random.Generator) -> Simulated:
    m = case.n_objects
    first, second = _ends(case, random)
    n = len(first)
    style, taste = random.normal(size=(n, 2)), np.array([0.5, 0.0])
    strength = random.normal(size=m) * SPREADS.get(case.truth, 1.0)
    judge = random.integers(0, 30, n)
    tastes = np.tile(taste, (30, 1))
    if "tastes" in case.truth:
        tastes = tastes + random.normal(size=(30, 2))
        tastes += taste - tastes.mean(axis=0)
    odds = strength[first] - strength[second] + np.sum(style * tastes[judge], axis=1)
    won = random.random(n) < expit(odds)
    if "tossed" in case.truth:
        tossed = random.random(n) < 0.5
        won = np.where(tossed, random.random(n) < 0.5, won)
    pairs = Pairs(sp.eye_array(m, format="csr"), first, second, antisymmetric=style)
    return Simulated(pairs, np.where(won, 1, -1), strength, taste, judge)


def _inside(truth: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return (lower <= truth) & (truth <= upper)


def one_run(case: Case, random: np.random.Generator, *, ranked: bool = True) -> tuple[float, ...]:
    """Shares of one simulation, in the order of MEASURES; those of a ranking are NaN without one."""
    votes = _votes(case, random)
    pairs, strength = votes.pairs, votes.strength
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, votes.won)
    clusters = votes.judge if case.clustered else None
    neutral = np.zeros((pairs.n_objects * (pairs.n_objects - 1) // 2, 2))
    every = Pairs.complete(pairs.objects, antisymmetric=neutral)
    table = effects(model, kinds=["antisymmetric"], clusters=clusters, level=LEVEL)
    some = every[random.choice(len(every), min(200, len(every)), replace=False)]
    low, high = model.predict_interval(some, LEVEL).T
    margin = strength[some.first] - strength[some.second]
    return (
        *(_ranked(model, every, strength, clusters) if ranked else (np.nan, np.nan, np.nan)),
        float(np.mean(_inside(votes.taste, table.lower, table.upper))),
        float(np.mean(_inside(margin, low, high))),
    )


def _ranked(model: PairLogistic, every: Pairs, strength: np.ndarray, by: Any) -> tuple[float, ...]:
    """Shares of scores, of all scores at once and of all ranks at once."""
    ranking = rank_objects(model, every, intervals="analytic", by=by, n_cycles=0, level=LEVEL)
    sure = ranking.certainty
    assert sure is not None
    truth = strength - strength.mean()
    return (
        float(np.mean(_inside(truth, sure.lower, sure.upper))),
        float(np.all(_inside(truth, sure.lower_all, sure.upper_all))),
        float(np.all(_inside(rankdata(-truth), sure.best_rank, sure.worst_rank))),
    )


def coverage(case: Case, n_runs: int, n_ranked: int, seed: int = 0) -> Coverage:
    """Means over simulations, the first of which have rankings."""
    random = np.random.default_rng([seed, case.n_objects])
    return summary(np.array([one_run(case, random, ranked=k < n_ranked) for k in range(n_runs)]))


def summary(runs: np.ndarray) -> Coverage:
    """Of the shares of simulations, shape (n, measures)."""
    there = np.isfinite(runs)
    counts = there.sum(axis=0)
    errors = np.nanstd(runs, axis=0) / np.sqrt(counts)
    named = (
        dict(zip(MEASURES, row.tolist(), strict=True)) for row in (np.nanmean(runs, axis=0), errors)
    )
    return Coverage(*named, len(runs), int(counts.min()))


def regression_coverage(n_runs: int, width: float, seed: int = 0) -> float:
    """Share of 90 % intervals of ``PairRidge`` that hold a function drawn from a Gaussian kernel."""
    random, hits = np.random.default_rng(seed), []
    for _ in range(n_runs):
        first = random.integers(0, 20, 160)
        pairs = Pairs(
            random.normal(size=(20, 3)), first, (first + random.integers(1, 20, 160)) % 20
        )
        values, vectors = np.linalg.eigh(SkewBalanced(Gaussian(1.5)).gram(pairs, pairs))
        drawn = np.sqrt(np.maximum(values, 0.0)) * random.normal(size=len(values))
        truth = vectors @ drawn
        y = truth[:80] + np.sqrt(0.1) * random.normal(size=80)
        model = PairRidge("antisymmetric", kernel=Gaussian(width), alpha=0.2).fit(pairs[:80], y)
        low, high = model.predict_interval(pairs[80:], LEVEL).T
        hits.append(np.mean(_inside(truth[80:], low, high)))
    return float(np.mean(hits))
