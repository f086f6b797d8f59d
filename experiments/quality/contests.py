"""Who wins?  Chess games and football matches that were decided."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.task import Task
from pairity import Pairs
from pairity.model_selection import TimeSplit

#: Football: decided matches kept (the latest), Elo step, points that playing at home is worth.
MATCHES, STEP, HOME = 4000, 40.0, 100.0
#: Matches of a team's recent form, and of earlier meetings of two teams.
FORM, MEETINGS = 20, 5


def chess(folder: Path) -> Task:
    """Games of three World Cups: ratings at the event; white is an antisymmetric feature."""
    games = pd.read_csv(folder / "antisymmetric_chess_worldcup" / "games.csv", dtype={"round": str})
    games = games[games.y != 0].dropna(subset=["whiteelo", "blackelo"])
    games = games.sort_values(["event", "round"], kind="stable").reset_index(drop=True)
    sides = [
        pd.DataFrame({"event": games.event, "player": games[side], "elo": games[f"{side}elo"]})
        for side in ("white", "black")
    ]
    entries = pd.concat(sides).drop_duplicates(["event", "player"]).reset_index(drop=True)
    place = {(row.event, row.player): number for number, row in enumerate(entries.itertuples())}
    rank = entries.groupby("event").elo.rank(ascending=False)
    tie_break = games["round"].str.split(".").str[1].astype(int) > 2
    pairs = Pairs(
        np.column_stack([entries.elo, rank]),
        [place[key] for key in zip(games.event, games.white, strict=True)],
        [place[key] for key in zip(games.event, games.black, strict=True)],
        symmetric=tie_break.to_numpy(dtype=float)[:, np.newaxis],
        antisymmetric=np.ones((len(games), 1)),
        ids=entries.player.to_numpy(dtype=str),
    )
    return Task(
        name="chess",
        question="who wins a decided game of a World Cup?",
        symmetry="antisymmetric",
        setting="time",
        pairs=pairs,
        y=games.y.to_numpy(dtype=np.int64),
        outer=TimeSplit(9),
        inner=TimeSplit(5),
        why=(
            "earlier rounds train, later ones test: winners play on, so that the mere number of"
            " games in a random split would tell who won"
        ),
        features="Elo before the event and rank by it; quick game; who has white",
        groups=(games.event.str[-4:] + " " + games["round"]).to_numpy(dtype=str),
        identities=True,
        n_splits=6,
        feature_names=("Elo", "rank"),
    )


# Football -----------------------------------------------------------------------------------------


@dataclass
class _Team:
    """What is known of a team before its next match."""

    elo: float = 1500.0
    matches: int = 0
    last: int = -(10**6)  # day number
    form: deque = field(default_factory=lambda: deque(maxlen=FORM))

    def features(self, day: int) -> list[float]:
        """Elo, its change, goals, points and strength of opponents of late, experience, rest."""
        form = np.array(self.form) if self.form else np.array([[1.0, 1.0, 0.5, 1500.0, 1500.0]])
        late, ten = form[-5:], form[-10:]
        return [
            self.elo,
            self.elo - ten[0, 4],
            *ten[:, :3].mean(axis=0),
            late[:, 2].mean(),
            form[:, 2].mean(),
            form[:, 3].mean(),
            np.log1p(self.matches),
            np.log1p(min(day - self.last, 1000)),
        ]

    def play(self, scored: int, conceded: int, points: float, other: float, step: float) -> None:
        """Note a result; ``other`` is the opponent's rating before the match."""
        self.form.append((min(scored, 6), min(conceded, 6), points, other, self.elo))
        self.elo += step
        self.matches += 1


TEAM_FEATURES = (
    "Elo",
    "Elo change in 10",
    "goals in 10",
    "against in 10",
    "points in 10",
    "points in 5",
    "points in 20",
    "opponents' Elo",
    "log matches",
    "log rest",
)


def football(folder: Path, number: int = MATCHES, until: str = "9999") -> Task:
    """The latest decided internationals; everything that describes a team is from before."""
    matches = pd.read_csv(folder / "antisymmetric_intl_football" / "results.csv")
    matches = matches.sort_values("date", kind="stable").reset_index(drop=True)
    matches = matches[matches.date < until]
    kept = matches.index[matches.y != 0][-number:]
    table, meetings = history(matches, set(kept.tolist()))
    shown = matches.loc[kept]
    friendly = shown.tournament == "Friendly"
    qualifier = shown.tournament.str.contains("qualification")
    first = 2 * np.arange(len(kept))
    pairs = Pairs(
        table,
        first,
        first + 1,
        symmetric=np.column_stack([friendly, qualifier, shown.neutral]).astype(float),
        antisymmetric=np.column_stack([1.0 - shown.neutral, meetings]),
        ids=shown[["home_team", "away_team"]].to_numpy(dtype=str).reshape(-1),
    )
    return Task(
        name="football",
        question="which national team wins a decided match?",
        symmetry="antisymmetric",
        setting="time",
        pairs=pairs,
        y=shown.y.to_numpy(dtype=np.int64),
        outer=TimeSplit(7),
        inner=TimeSplit(5),
        why="the past trains, the next months test; features end before the day of the match",
        features=(
            "Elo and recent form, from earlier matches alone; friendly, qualifier, neutral ground;"
            " home side and earlier meetings"
        ),
        groups=shown.date.to_numpy(dtype=str),
        identities=True,
        n_splits=5,
        feature_names=TEAM_FEATURES,
    )


def history(matches: pd.DataFrame, kept: set[int]) -> tuple[np.ndarray, np.ndarray]:
    """Features of both teams of the matches kept, rows in turn, and their earlier meetings."""
    teams: dict[str, _Team] = defaultdict(_Team)
    met: dict[tuple[str, str], deque] = defaultdict(lambda: deque(maxlen=MEETINGS))
    days = pd.to_datetime(matches.date).map(pd.Timestamp.toordinal)
    rows, meetings = [], []
    for number, (day, match) in enumerate(zip(days, matches.itertuples(), strict=True)):
        names = match.home_team, match.away_team
        home, away = teams[names[0]], teams[names[1]]
        earlier, sign = met[min(names), max(names)], 1.0 if names[0] < names[1] else -1.0
        if number in kept:
            rows += [home.features(day), away.features(day)]
            meetings.append(sign * sum(earlier) / (len(earlier) + 2.0))
        goals = match.home_score, match.away_score
        earlier.append(sign * np.clip(goals[0] - goals[1], -3, 3))
        _play(home, away, goals, HOME * (1 - match.neutral), day)
    return np.array(rows), np.array(meetings)


def _play(home: _Team, away: _Team, goals: tuple[int, int], advantage: float, day: int) -> None:
    """Elo's rule: the winner gains what the rating did not expect, more for more goals."""
    margin = goals[0] - goals[1]
    points = 0.5 + 0.5 * np.sign(margin)
    expected = 1.0 / (1.0 + 10.0 ** ((away.elo - home.elo - advantage) / 400.0))
    step = STEP * (1.0 + 0.5 * np.log1p(max(abs(margin) - 1, 0))) * (points - expected)
    before = home.elo, away.elo
    home.play(goals[0], goals[1], points, before[1], step)
    away.play(goals[1], goals[0], 1.0 - points, before[0], -step)
    home.last = away.last = day
