"""Votes saved: how many suggested votes reach the error that random votes reach with all of theirs.

Simulated: 30 objects with strengths N(0, 1.5^2), votes by Bradley-Terry.  Real: the votes of people on
language models, each pair of models a pool of the votes that were cast on it; a suggestion of a pair
draws one of its votes that was not drawn before.  The truth is the model of all votes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pairity import PairLogistic, Pairs
from pairity.active import suggest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True, eq=False)
class Voters:
    """A pool of pairs, a vote on some of them (0: nobody is left to ask), and the margins to find."""

    pool: Pairs
    vote: Callable[[np.ndarray], np.ndarray]
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Race:
    """Errors of the margins after each batch, suggested and at random."""

    n_votes: np.ndarray
    suggested: np.ndarray
    at_random: np.ndarray

    @property
    def share_needed(self) -> float:
        """Votes after which suggestions are as good as all random ones, as a share of those."""
        goal = self.at_random[-1]
        reached = np.flatnonzero(self.suggested <= goal)
        if not len(reached):
            return np.inf
        place = int(reached[0])
        if place == 0:
            return float(self.n_votes[0] / self.n_votes[-1])
        before, after = self.suggested[place - 1], self.suggested[place]
        part = (before - goal) / max(before - after, 1e-300)
        votes = self.n_votes[place - 1] + part * (self.n_votes[place] - self.n_votes[place - 1])
        return float(votes / self.n_votes[-1])


def simulated(seed: int, m: int = 30) -> Voters:
    """Voters who follow Bradley and Terry."""
    random = np.random.default_rng(seed)
    strength = 1.5 * random.normal(size=m)
    pool = Pairs.complete(sp.eye_array(m, format="csr"))
    truth = strength[pool.first] - strength[pool.second]

    def vote(rows: np.ndarray) -> np.ndarray:
        return np.where(random.random(len(rows)) < expit(truth[rows]), 1, -1)

    return Voters(pool, vote, truth)


def language_models(seed: int) -> Voters:
    """Decided votes of people on answers of language models, drawn without replacement."""
    with (SHARED / "antisymmetric_llmfao" / "comparisons.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["y"] != "0"]
    names = sorted({row[end] for row in rows for end in ("model_x", "model_y")})
    number = {name: place for place, name in enumerate(names)}
    m, random = len(names), np.random.default_rng(seed)
    waiting: dict[tuple[int, int], list[int]] = {}
    for place in random.permutation(len(rows)):
        row = rows[place]
        one, two, sign = number[row["model_x"]], number[row["model_y"]], int(row["y"])
        ends, sign = ((one, two), sign) if one < two else ((two, one), -sign)
        waiting.setdefault(ends, []).append(sign)
    ends = np.array(sorted(waiting))
    pool = Pairs(sp.eye_array(m, format="csr"), *ends.T)
    first, second, won = (
        np.concatenate(parts)
        for parts in zip(
            *([[a] * len(v), [b] * len(v), v] for (a, b), v in waiting.items()), strict=True
        )
    )
    every = Pairs(pool.objects, first.astype(int), second.astype(int))
    truth = fitted(every, won).decision_function(Pairs.complete(pool.objects))
    lists = [list(waiting[tuple(pair)]) for pair in ends.tolist()]

    def vote(rows: np.ndarray) -> np.ndarray:
        return np.array([lists[row].pop() if lists[row] else 0 for row in rows])

    return Voters(pool, vote, truth)


def fitted(pairs: Pairs, y: np.ndarray) -> PairLogistic:
    """The Bradley-Terry model with a prior."""
    return PairLogistic("antisymmetric", kernel="linear", C=2.0).fit(pairs, y)


def race(
    voters: Callable[[int], Voters], seed: int, n_votes: int, batch: int, strategy: str
) -> Race:
    """Suggested and random votes from the same start."""
    errors, numbers = {}, []
    for is_active in (True, False):
        asked, random = voters(seed), np.random.default_rng([seed, 1])
        pool, every = asked.pool, Pairs.complete(asked.pool.objects)
        rows = random.choice(len(pool), batch, replace=False)
        y, closed = asked.vote(rows), np.zeros(len(pool), dtype=bool)
        found, numbers = [], []
        while True:
            model = fitted(pool[rows], y)
            found.append(
                float(np.sqrt(np.mean((model.decision_function(every) - asked.truth) ** 2)))
            )
            numbers.append(len(rows))
            if len(rows) >= n_votes:
                break
            more = np.zeros(0, dtype=int)
            while len(more) < batch:  # pairs without voters left are closed
                still = np.flatnonzero(~closed)
                wanted = batch - len(more)
                if is_active:
                    chosen = still[suggest(model, pool[still], wanted, strategy).rows]
                else:
                    chosen = random.choice(still, min(wanted, len(still)), replace=False)
                votes = asked.vote(chosen)
                closed[chosen[votes == 0]] = True
                more = np.append(more, chosen[votes != 0])
                y = np.append(y, votes[votes != 0])
            rows = np.append(rows, more)
        errors[is_active] = np.array(found)
    return Race(np.array(numbers), errors[True], errors[False])
