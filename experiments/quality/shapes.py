"""Tasks of other shapes: appearances, many games, one rating, circumstances, fewer than 100 pairs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from experiments.quality import contests, preferences
from experiments.quality.splits import FewPairs
from experiments.quality.task import Task
from pairity import Pairs
from pairity.model_selection import ObjectKFold, PairKFold, TimeSplit

#: Decided internationals of the long task (the latest), of the one with a rating alone, and its end.
MANY, RATED, RATED_UNTIL = 16_000, 3_000, "2000-01-01"
#: Tennis: first day of the histories, days that are predicted, matches that both must have had.
TENNIS_FROM, TENNIS_DAYS, EXPERIENCE = 20060101, (20100601, 20101101), 20
#: Elo's step in tennis, matches of late, the most days of rest that count.
STEP, LATE, REST = 32.0, 20, 365
#: A league that is made up: teams, games, kilometres of its country.
TEAMS, GAMES, COUNTRY = 30, 4_000, 600.0
#: Pairs of the tasks with few of them.
FEW = 80


def internationals(folder: Path) -> Task:
    """More than 12,000 decided internationals, with home side and earlier meetings."""
    return replace(
        contests.football(folder, MANY),
        name="internationals",
        question="which national team wins, from many decided matches?",
        outer=TimeSplit(11),
        n_splits=3,
    )


def rating(folder: Path) -> Task:
    """Internationals before 2000 by Elo and experience alone: one column is nearly all there is."""
    task = contests.football(folder, RATED, RATED_UNTIL)
    pairs = task.pairs
    kept = [contests.TEAM_FEATURES.index(name) for name in ("Elo", "log matches")]
    return replace(
        task,
        name="rating",
        question="which national team wins, by little more than a rating?",
        pairs=Pairs(
            np.asarray(pairs.objects)[:, kept],
            pairs.first,
            pairs.second,
            antisymmetric=pairs.antisymmetric[:, :1],
            ids=pairs.ids,
        ),
        features="Elo and number of matches before; home side",
        n_splits=5,
        feature_names=("Elo", "log matches"),
    )


# Tennis -------------------------------------------------------------------------------------------


@dataclass
class _Player:
    """What is known of a player before the tournaments of a day."""

    elo: float = 1500.0
    matches: int = 0
    last: pd.Timestamp | None = None
    late: tuple[tuple[float, float], ...] = ()  # won or lost, rating of the opponent

    def features(self, day: pd.Timestamp) -> list[float]:
        """Rating, experience, share won and strength of opponents of late, rest."""
        late = np.array(self.late or ((0.5, 1500.0),))
        rest = REST if self.last is None else min((day - self.last).days, REST)
        return [self.elo, np.log1p(self.matches), *late.mean(axis=0), late[-5:, 0].mean(), rest]


def tennis(folder: Path) -> Task:
    """Matches of five months of 2010: a row of features for each appearance of a player."""
    table = pd.read_csv(folder / "antisymmetric_tennis" / "matches.csv.gz")
    table = table[(table.date >= TENNIS_FROM) & (table.date < TENNIS_DAYS[1])]
    rows, names, days = appearances(table, TENNIS_DAYS[0])
    first = 2 * np.arange(len(days))
    rng = np.random.default_rng(0)
    turned = rng.random(len(days)) < 0.5
    pairs = Pairs(rows, first, first + 1, ids=names).with_swapped(turned)
    return Task(
        name="tennis",
        question="who wins a match of tennis?",
        symmetry="antisymmetric",
        setting="time",
        pairs=pairs,
        y=np.where(turned, -1, 1),
        outer=TimeSplit(7),
        inner=TimeSplit(5),
        why="the past trains, later tournaments test; features end before the day of the tournament",
        features="Elo, experience, recent results and opponents, rest: one row for each appearance",
        groups=days,
        identities=True,
        n_splits=4,
        feature_names=("Elo", "log matches", "won of 20", "opponents", "won of 5", "rest"),
    )


def appearances(table: pd.DataFrame, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of winners and losers in turn, their names, and days, of matches from a day on."""
    players: dict[str, _Player] = defaultdict(_Player)
    rows, names, days = [], [], []
    for number, played in table.groupby("date", sort=True):
        day = pd.to_datetime(str(number))
        known = {name: players[name] for name in {*played.winner, *played.loser}}
        if number >= start:
            shown = {name: one.features(day) for name, one in known.items()}
            for pair in zip(played.winner, played.loser, strict=True):
                if min(known[name].matches for name in pair) >= EXPERIENCE:
                    rows += [shown[name] for name in pair]
                    names += pair
                    days.append(str(number))
        for pair in zip(played.winner, played.loser, strict=True):
            _note(*(known[name] for name in pair), day)
    return np.array(rows), np.array(names), np.array(days)


def _note(winner: _Player, loser: _Player, day: pd.Timestamp) -> None:
    """Elo's rule, and what was played of late."""
    expected = 1.0 / (1.0 + 10.0 ** ((loser.elo - winner.elo) / 400.0))
    before = winner.elo, loser.elo
    for one, won, other, sign in ((winner, 1.0, before[1], 1.0), (loser, 0.0, before[0], -1.0)):
        one.late = (*one.late, (won, other))[-LATE:]
        one.matches, one.last = one.matches + 1, day
        one.elo += sign * STEP * (1.0 - expected)


# Circumstances ------------------------------------------------------------------------------------


def league(folder: Path) -> Task:
    """A league that is made up: how much playing at home is worth grows with how far guests come."""
    rng = np.random.default_rng(0)
    places, strength = rng.uniform(0.0, COUNTRY, size=(TEAMS, 2)), rng.normal(size=TEAMS)
    wealth = strength + rng.normal(size=TEAMS)
    first = rng.integers(TEAMS, size=GAMES)
    second = (first + rng.integers(1, TEAMS, size=GAMES)) % TEAMS
    away = np.linalg.norm(places[first] - places[second], axis=1) / COUNTRY
    home = rng.choice([-1.0, 0.0, 1.0], size=GAMES)
    odds = 0.8 * (strength[first] - strength[second]) + home * (0.2 + 2.0 * away**2)
    return Task(
        name="league",
        question="who wins in a made-up league whose home advantage grows with distance?",
        symmetry="antisymmetric",
        setting="both seen",
        pairs=Pairs(
            wealth[:, np.newaxis],
            first,
            second,
            symmetric=away[:, np.newaxis],
            antisymmetric=home[:, np.newaxis],
            ids=[f"team {number}" for number in range(TEAMS)],
        ),
        y=np.where(rng.random(GAMES) < 1.0 / (1.0 + np.exp(-odds)), 1, -1),
        outer=PairKFold(5),
        inner=PairKFold(3, random_state=1),
        why="all games of two teams are on one side",
        features="wealth of a team; distance; who plays at home, if anyone: made up",
        identities=True,
        n_splits=4,
        feature_names=("wealth",),
    )


# Few pairs ----------------------------------------------------------------------------------------


def few_trains(folder: Path) -> Task:
    """Eighty choices between train offers, of a few travellers; all others test."""
    task = preferences.trains(folder)
    return replace(
        task,
        name="few-trains",
        question="which train offer is taken, from 80 choices?",
        outer=FewPairs(8, FEW),
        why="all choices of a traveller are on one side, and so is a pair of offers",
        n_splits=8,
    )


def few_wines(folder: Path) -> Task:
    """Eighty pairs of wines of scikit-learn: of the same grower?  Pairs of other wines test."""
    table, grower = load_wine(return_X_y=True)
    ends = preferences.shuffled_ends(len(grower))
    return Task(
        name="few-wines",
        question="are two wines of the same grower, from 80 pairs?",
        symmetry="symmetric",
        setting="both new",
        pairs=Pairs(table, ends[0], ends[1]),
        y=np.where(grower[ends[0]] == grower[ends[1]], 1, -1),
        outer=FewPairs(8, FEW),
        inner=ObjectKFold(3, random_state=1),
        why="no wine of a test pair occurs in a training pair",
        features="13 measurements of each wine",
        n_splits=8,
    )
