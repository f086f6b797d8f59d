"""Votes saved: how many suggested votes are as good as all the random ones.

Simulated: 30 objects with strengths N(0, 1.5^2) or N(0, 3^2), votes by Bradley-Terry, C the variance.
Real: decided games of national football teams and tennis players, those that have played most, and
decided votes of people on language models; a suggestion of a pair draws one of its games, or votes, that
was not drawn before.  There C is 1, and the truth the model of all of them.

Two measures, each with the strategy that is made for it: the share of all pairs of objects in the wrong
order ("order"), and the share of the ten leaders that is missed ("top").  Random votes are on pairs
drawn evenly from those that still have votes, without replacement within a batch.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pairity import PairLogistic, Pairs
from pairity.active import suggest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


#: Leaders that are to be found, and resampled sets of seeds behind a spread.
TOP, N_RESAMPLES = 10, 200


@dataclass(frozen=True, eq=False)
class Voters:
    """A pool of pairs, a vote on some of them (0: nobody is left to ask), and the margins to find."""

    pool: Pairs
    vote: Callable[[np.ndarray], np.ndarray]
    truth: np.ndarray
    C: float  # of the model that learns


@dataclass(frozen=True, eq=False)
class Curve:
    """After each batch: shares of pairs in the wrong order and of leaders missed, shape (k, 2)."""

    n_votes: np.ndarray
    missed: np.ndarray


#: The measures, in the order of the columns of a curve, and the strategies made for them.
MEASURES = {"order": "order", "leaders": "top"}


def share_needed(suggested: list[Curve], at_random: list[Curve], measure: str) -> dict[str, Any]:
    """Share of the random votes after which suggestions are as good, by mean curves, and its spread.

    The spread is over resampled seeds; None where suggestions never are as good.
    """
    column, n_votes = list(MEASURES).index(measure), at_random[0].n_votes
    ours, theirs = (
        np.array([curve.missed[:, column] for curve in curves]) for curves in (suggested, at_random)
    )
    random, n = np.random.default_rng(0), len(ours)
    draws = (random.integers(0, n, n) for _ in range(N_RESAMPLES))
    shares = np.array([_share(ours[draw], theirs[draw], n_votes) for draw in draws])
    share = _share(ours, theirs, n_votes)
    found = np.isfinite(share) and np.isfinite(shares).all()
    return {
        "share": share if np.isfinite(share) else None,
        "spread": float(np.std(shares)) if found else None,
        "missed at random": float(theirs[:, -1].mean()),
        "missed by suggestions": float(ours[:, -1].mean()),
    }


def _share(ours: np.ndarray, theirs: np.ndarray, n_votes: np.ndarray) -> float:
    reached = np.flatnonzero(ours.mean(axis=0) <= theirs[:, -1].mean())
    return float(n_votes[reached[0]] / n_votes[-1]) if len(reached) else np.inf


def simulated(seed: int, spread: float = 1.5, m: int = 30) -> Voters:
    """Voters who follow Bradley and Terry."""
    random = np.random.default_rng(seed)
    strength = spread * random.normal(size=m)
    pool = Pairs.complete(sp.eye_array(m, format="csr"))
    truth = strength[pool.first] - strength[pool.second]

    def vote(rows: np.ndarray) -> np.ndarray:
        return np.where(random.random(len(rows)) < expit(truth[rows]), 1, -1)

    return Voters(pool, vote, truth, C=spread**2)


@dataclass(frozen=True)
class Outcome:
    """Two names, and +1 where the first is ahead, -1 where it is not."""

    first: str
    second: str
    sign: int


@cache
def _votes_on_models() -> list[Outcome]:
    with (SHARED / "antisymmetric_llmfao" / "comparisons.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["y"] != "0"]
    return [Outcome(row["model_x"], row["model_y"], int(row["y"])) for row in rows]


@cache
def _football_games() -> list[Outcome]:
    with (SHARED / "antisymmetric_intl_football" / "results.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["y"] not in ("", "0")]
    signs = [1 if float(row["y"]) > 0 else -1 for row in rows]
    ends = [(row["home_team"], row["away_team"]) for row in rows]
    return _of_busiest([Outcome(*two, one) for two, one in zip(ends, signs, strict=True)], 60)


@cache
def _tennis_matches() -> list[Outcome]:
    path = SHARED / "antisymmetric_tennis" / "matches.csv.gz"
    with gzip.open(path, "rt", newline="") as file:
        outcomes = [Outcome(row["winner"], row["loser"], 1) for row in csv.DictReader(file)]
    return _of_busiest(outcomes, 60)


def language_models(seed: int) -> Voters:
    """Decided votes of people on answers of language models."""
    return _without_replacement(_votes_on_models(), seed)


def football(seed: int) -> Voters:
    """Decided games of the 60 national teams that have played most."""
    return _without_replacement(_football_games(), seed)


def tennis(seed: int) -> Voters:
    """Matches of the 60 players who have played most."""
    return _without_replacement(_tennis_matches(), seed)


@dataclass(frozen=True)
class Contest:
    """Voters, and how many votes are asked, so many at a time."""

    voters: Callable[[int], Voters]
    n_votes: int
    batch: int


CONTESTS = {
    "simulated, 30 objects, strengths N(0, 1.5²)": Contest(simulated, 800, 10),
    "simulated, 30 objects, strengths N(0, 3²)": Contest(partial(simulated, spread=3.0), 800, 20),
    "votes on 59 language models": Contest(language_models, 1600, 50),
    "matches of 60 tennis players": Contest(tennis, 1600, 50),
    "games of 60 football teams": Contest(football, 1600, 50),
}


def _of_busiest(outcomes: list[Outcome], number: int) -> list[Outcome]:
    """Outcomes between those who have most of them."""
    times = Counter(name for one in outcomes for name in (one.first, one.second))
    kept = {name for name, _ in times.most_common(number)}
    return [one for one in outcomes if {one.first, one.second} <= kept]


def _without_replacement(outcomes: list[Outcome], seed: int, C: float = 1.0) -> Voters:
    """Outcomes of each pair in a random order, each to be drawn once."""
    names = sorted({name for one in outcomes for name in (one.first, one.second)})
    number = {name: place for place, name in enumerate(names)}
    waiting: dict[tuple[int, int], list[int]] = {}
    for place in np.random.default_rng(seed).permutation(len(outcomes)):
        one = outcomes[place]
        ends, sign = (number[one.first], number[one.second]), one.sign
        if ends[0] > ends[1]:
            ends, sign = ends[::-1], -sign
        waiting.setdefault(ends, []).append(sign)
    pairs = sorted(waiting)
    lists = [list(waiting[pair]) for pair in pairs]
    pool = Pairs(sp.eye_array(len(names), format="csr"), *np.array(pairs).T)
    every = pool[np.repeat(np.arange(len(pool)), [len(signs) for signs in lists])]
    model = fitted(every, np.concatenate(lists), C)
    truth = model.decision_function(Pairs.complete(pool.objects))

    def vote(rows: np.ndarray) -> np.ndarray:
        return np.array([lists[row].pop() if lists[row] else 0 for row in rows])

    return Voters(pool, vote, truth, C)


def fitted(pairs: Pairs, y: np.ndarray, C: float) -> PairLogistic:
    """The Bradley-Terry model with a prior."""
    return PairLogistic("antisymmetric", kernel="linear", C=C).fit(pairs, y)


def _measured(decisions: np.ndarray, truth: np.ndarray, m: int) -> tuple[float, float]:
    first, second = np.triu_indices(m, 1)
    leaders = []
    for margin in (decisions, truth):
        scores = np.bincount(first, margin, m) - np.bincount(second, margin, m)
        leaders.append(set(np.argsort(-scores)[:TOP].tolist()))
    missed = 1.0 - len(leaders[0] & leaders[1]) / TOP
    return float(np.mean((decisions > 0) != (truth > 0))), missed


def curve(contest: Contest, seed: int, strategy: str | None) -> Curve:
    """What is missed after each batch of suggested votes, or of random ones; the first is random."""
    asked, random = contest.voters(seed), np.random.default_rng([seed, 1])
    pool, every = asked.pool, Pairs.complete(asked.pool.objects)
    rows = random.choice(len(pool), contest.batch, replace=False)
    y, closed = asked.vote(rows), np.zeros(len(pool), dtype=bool)
    found, numbers = [], []
    while True:
        model = fitted(pool[rows], y, asked.C)
        decisions = model.decision_function(every)
        found.append(_measured(decisions, asked.truth, pool.n_objects))
        numbers.append(len(rows))
        if len(rows) >= contest.n_votes:
            return Curve(np.array(numbers), np.array(found))
        more = np.zeros(0, dtype=int)
        while len(more) < contest.batch:  # pairs without voters left are closed
            still, wanted = np.flatnonzero(~closed), contest.batch - len(more)
            if strategy is None:
                chosen = random.choice(still, min(wanted, len(still)), replace=False)
            else:
                chosen = still[suggest(model, pool[still], wanted, strategy, top=TOP).rows]
            votes = asked.vote(chosen)
            closed[chosen[votes == 0]] = True
            more, y = np.append(more, chosen[votes != 0]), np.append(y, votes[votes != 0])
        rows = np.append(rows, more)


def votes_needed(name: str, n_seeds: int) -> dict[str, Any]:
    """Both measures of one contest."""
    contest = CONTESTS[name]
    at_random = [curve(contest, seed, None) for seed in range(n_seeds)]
    found: dict[str, Any] = {
        "random votes": contest.n_votes,
        "batch": contest.batch,
        "seeds": n_seeds,
    }
    for measure, strategy in MEASURES.items():
        suggested = [curve(contest, seed, strategy) for seed in range(n_seeds)]
        found[measure] = share_needed(suggested, at_random, measure)
    return found
