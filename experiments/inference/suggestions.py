"""Votes saved: how many suggested votes are as good as all the random ones.

Simulated: 30 objects with strengths N(0, 3^2), votes by Bradley-Terry.  Real: decided games of 60
national football teams, and decided votes of people on 59 language models; a suggestion of a pair draws
one of its games, or votes, that was not drawn before.  There the truth is the model of all of them.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
class Race:
    """After each batch: shares of pairs in the wrong order and of leaders missed, shape (k, 2)."""

    n_votes: np.ndarray
    suggested: np.ndarray
    at_random: np.ndarray


def shares_needed(races: list[Race]) -> tuple[np.ndarray, np.ndarray]:
    """Share of the random votes after which suggestions are as good, of mean curves, and its spread.

    One for each of the two measures; the spread is over resampled seeds.
    """
    random = np.random.default_rng(0)
    draws = [random.integers(0, len(races), len(races)) for _ in range(N_RESAMPLES)]
    with np.errstate(invalid="ignore"):  # where random votes are never reached there is none
        spread = np.std([_share([races[seed] for seed in draw]) for draw in draws], axis=0)
    return _share(races), spread


def _share(races: list[Race]) -> np.ndarray:
    suggested = np.mean([race.suggested for race in races], axis=0)
    at_random = np.mean([race.at_random for race in races], axis=0)
    n_votes = races[0].n_votes
    reached = suggested <= at_random[-1]
    first = np.where(reached.any(axis=0), reached.argmax(axis=0), len(n_votes) - 1)
    return np.where(reached.any(axis=0), n_votes[first] / n_votes[-1], np.inf)


def simulated(seed: int, m: int = 30) -> Voters:
    """Voters who follow Bradley and Terry."""
    random = np.random.default_rng(seed)
    strength = 3.0 * random.normal(size=m)
    pool = Pairs.complete(sp.eye_array(m, format="csr"))
    truth = strength[pool.first] - strength[pool.second]

    def vote(rows: np.ndarray) -> np.ndarray:
        return np.where(random.random(len(rows)) < expit(truth[rows]), 1, -1)

    return Voters(pool, vote, truth, C=9.0)


@dataclass(frozen=True)
class Outcome:
    """Two names, and +1 where the first is ahead, -1 where it is not."""

    first: str
    second: str
    sign: int


def language_models(seed: int) -> Voters:
    """Decided votes of people on answers of language models."""
    with (SHARED / "antisymmetric_llmfao" / "comparisons.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["y"] != "0"]
    outcomes = [Outcome(row["model_x"], row["model_y"], int(row["y"])) for row in rows]
    return _without_replacement(outcomes, seed, C=0.3)


def football(seed: int, n_teams: int = 60) -> Voters:
    """Decided games of the teams that have played most."""
    with (SHARED / "antisymmetric_intl_football" / "results.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["y"] not in ("", "0")]
    times = Counter(row[end] for row in rows for end in ("home_team", "away_team"))
    kept = {name for name, _ in times.most_common(n_teams)}
    outcomes = [
        Outcome(row["home_team"], row["away_team"], 1 if float(row["y"]) > 0 else -1)
        for row in rows
        if {row["home_team"], row["away_team"]} <= kept
    ]
    return _without_replacement(outcomes, seed, C=0.5)


def _without_replacement(outcomes: list[Outcome], seed: int, C: float) -> Voters:
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


def race(
    voters: Callable[[int], Voters], seed: int, n_votes: int, batch: int, strategy: str
) -> Race:
    """Suggested and random votes from the same start."""
    errors = []
    for is_active in (True, False):
        asked, random = voters(seed), np.random.default_rng([seed, 1])
        pool, every = asked.pool, Pairs.complete(asked.pool.objects)
        rows = random.choice(len(pool), batch, replace=False)
        y, closed = asked.vote(rows), np.zeros(len(pool), dtype=bool)
        found, numbers = [], []
        while True:
            model = fitted(pool[rows], y, asked.C)
            decisions = model.decision_function(every)
            found.append(_measured(decisions, asked.truth, pool.n_objects))
            numbers.append(len(rows))
            if len(rows) >= n_votes:
                break
            more = np.zeros(0, dtype=int)
            while len(more) < batch:  # pairs without voters left are closed
                still, wanted = np.flatnonzero(~closed), batch - len(more)
                if is_active:
                    chosen = still[suggest(model, pool[still], wanted, strategy, top=TOP).rows]
                else:
                    chosen = random.choice(still, min(wanted, len(still)), replace=False)
                votes = asked.vote(chosen)
                closed[chosen[votes == 0]] = True
                more, y = np.append(more, chosen[votes != 0]), np.append(y, votes[votes != 0])
            rows = np.append(rows, more)
        errors.append(np.array(found))
    return Race(np.array(numbers), *errors)
