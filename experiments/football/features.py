"""Features of a match from earlier days only, each odd: swapping the teams changes its sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.football.elo import Rating
from experiments.football.matches import Matches

#: Half-lives of form, in matches.
HALF_LIVES = (1.0, 3.0, 7.0, 14.0)
_MOST_GOALS, _LONGEST_REST = 5.0, 730.0
FORM = ("goal difference", "points", "surprise")


def odd_features(
    matches: Matches, ratings: Sequence[Rating], names: Sequence[str]
) -> tuple[np.ndarray, list[str]]:
    """Columns and their names; the first rating makes the surprises."""
    expected = 1.0 / (1.0 + 10.0 ** (-ratings[0].ahead(matches) / 400.0))
    states, state_names = team_states(matches, expected)
    rated = np.column_stack([rating.differences / 400.0 for rating in ratings])
    home, friendly = matches.home, matches.friendly
    columns = [
        rated,
        states,
        home,
        home * friendly,
        rated[:, 0] * friendly,
    ]
    return np.column_stack(columns), [
        *names,
        *state_names,
        "home",
        "home in a friendly",
        "rating in a friendly",
    ]


def team_states(matches: Matches, expected: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """State of the first team less that of the second before each match's day."""
    decay = 0.5 ** (1.0 / np.array(HALF_LIVES))  # (h,)
    n_teams = len(matches.teams)
    sums, weights = np.zeros((n_teams, len(decay), len(FORM))), np.zeros((n_teams, len(decay), 1))
    last, played, busy = np.full(n_teams, -np.inf), np.zeros(n_teams), np.zeros(n_teams)

    def state(team: np.ndarray, day: float) -> np.ndarray:
        form = (sums[team] / (weights[team] + 1.0)).reshape(len(team), -1)
        rest = np.minimum(day - last[team], _LONGEST_REST)
        activity = busy[team] * 0.5 ** (rest / 365.0)
        return np.column_stack([form, np.log1p(rest), np.log1p(played[team]), activity])

    def update(first: np.ndarray, second: np.ndarray, day: float, seen: np.ndarray) -> None:
        """Teams of the day forget once, then take in all their matches of the day."""
        team = np.unique(np.concatenate([first, second]))
        rest = np.minimum(day - last[team], _LONGEST_REST)
        sums[team] *= decay[:, np.newaxis]
        weights[team] *= decay[:, np.newaxis]
        busy[team] *= 0.5 ** (rest / 365.0)
        last[team] = day
        for side, sign in ((first, 1.0), (second, -1.0)):
            np.add.at(sums, side, sign * seen[:, np.newaxis, :])
            np.add.at(weights, side, 1.0)
            np.add.at(busy, side, 1.0)
            np.add.at(played, side, 1.0)

    goals = np.clip(matches.goals, -_MOST_GOALS, _MOST_GOALS)
    surprise = 0.5 * (matches.outcome + 1.0) - expected
    seen = np.column_stack([goals, 0.5 * matches.outcome, surprise])  # odd in the teams
    found = np.empty((len(matches), len(decay) * len(FORM) + 3))
    for rows in matches.by_day():
        first, second, day = matches.first[rows], matches.second[rows], float(matches.day[rows][0])
        found[rows] = state(first, day) - state(second, day)
        update(first, second, day, seen[rows])
    form_names = [f"{kind}, half-life {life:g}" for life in HALF_LIVES for kind in FORM]
    return found, [*form_names, "rest", "experience", "activity"]
