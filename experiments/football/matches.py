"""Results of matches in the order of time; a match is a pair of teams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path("antisymmetric_intl_football") / "results.csv"


@dataclass(frozen=True, eq=False)
class Matches:
    """One row a match.  ``home`` is 1 where the first team is at home, -1 where the second, else 0."""

    day: np.ndarray  # days since 1970, in order
    first: np.ndarray  # team numbers
    second: np.ndarray
    goals: np.ndarray  # goals of the first team less those of the second
    home: np.ndarray
    friendly: np.ndarray  # 1.0 or 0.0
    teams: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.day)

    @property
    def outcome(self) -> np.ndarray:
        """-1, 0 or 1: loss, draw or win of the first team."""
        return np.sign(self.goals)

    @property
    def year(self) -> np.ndarray:
        return self.day.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970

    @property
    def month(self) -> np.ndarray:
        """Months since 1970."""
        return self.day.astype("datetime64[D]").astype("datetime64[M]").astype(int)

    def swap(self) -> Matches:
        """Every match with its teams the other way round."""
        return replace(
            self, first=self.second, second=self.first, goals=-self.goals, home=-self.home
        )

    def by_day(self) -> Iterator[slice]:
        """Rows of one day after another."""
        starts = np.flatnonzero(np.diff(self.day, prepend=self.day[:1] - 1))
        for start, stop in zip(starts, [*starts[1:], len(self)], strict=True):
            yield slice(int(start), int(stop))


def read_matches(folder: Path) -> Matches:
    """All matches of the shared set; where the ground is not neutral the first team is at home."""
    frame = pd.read_csv(folder / FILE, parse_dates=["date"])
    frame = frame.sort_values("date", kind="stable")
    n = len(frame)
    names = np.concatenate([frame.home_team.to_numpy(str), frame.away_team.to_numpy(str)])
    teams, codes = np.unique(names, return_inverse=True)
    return Matches(
        day=frame.date.to_numpy().astype("datetime64[D]").astype(int),
        first=codes[:n],
        second=codes[n:],
        goals=(frame.home_score - frame.away_score).to_numpy(float),
        home=1.0 - frame.neutral.to_numpy(float),
        friendly=(frame.tournament == "Friendly").to_numpy(float),
        teams=tuple(teams.tolist()),
    )
