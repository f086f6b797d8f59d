"""Elo ratings with home advantage, for many settings in one pass, and the best setting of a past.

Before a match of teams a and b with ratings r

    expected = 1 / (1 + 10^(-(r_a - r_b + H home) / 400)),

and after it ``r_a`` rises and ``r_b`` falls by ``K weight margin (result - expected)``, where
``margin`` is ``max(1, |goals|)^power`` and ``weight`` is that of friendlies or 1.  Matches of a day
are rated by the ratings of the days before.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from itertools import product

import numpy as np

from experiments.football.matches import Matches
from pairity.model_selection import log_loss
from pairity.model_selection.curves import DrawModel, fit_draws


@dataclass(frozen=True)
class Setting:
    """K, H, the power of the goal margin and the weight of friendlies."""

    step: float
    home: float
    power: float = 0.0
    friendly: float = 1.0


STEPS = (20.0, 30.0, 40.0, 50.0, 60.0, 80.0)
HOMES = (60.0, 90.0, 120.0, 150.0, 180.0, 210.0)
#: Elo as it is written in books: K and the home bonus are tuned.
PLAIN = [Setting(step, home) for step, home in product(STEPS, HOMES)]
#: Elo as football sites use it: goal margins count, friendlies may count less.
GOALS = [Setting(*values) for values in product(STEPS, HOMES, (0.5, 1.0, 1.5), (0.5, 1.0))]


def rating_differences(matches: Matches, settings: list[Setting]) -> np.ndarray:
    """Rating of the first team less that of the second before each match, (n, len(settings))."""
    step, home, power, friendly = np.array([astuple(setting) for setting in settings]).T
    ratings = np.zeros((len(matches.teams), len(settings)))
    found = np.empty((len(matches), len(settings)))
    result = 0.5 * (matches.outcome + 1.0)
    size = np.maximum(1.0, np.abs(matches.goals))
    for day in matches.by_day():
        first, second = matches.first[day], matches.second[day]
        found[day] = ratings[first] - ratings[second]
        ahead = found[day] + matches.home[day, np.newaxis] * home
        expected = 1.0 / (1.0 + 10.0 ** (-ahead / 400.0))
        weight = np.where(matches.friendly[day, np.newaxis] > 0.0, friendly, 1.0)
        margin = size[day, np.newaxis] ** power
        move = step * weight * margin * (result[day, np.newaxis] - expected)
        np.add.at(ratings, first, move)
        np.subtract.at(ratings, second, move)
    return found


@dataclass(frozen=True, eq=False)
class Rating:
    """The best setting of a past, what it says of all matches, and its draw model."""

    setting: Setting
    differences: np.ndarray  # (n,)
    draws: DrawModel
    past_loss: float

    def ahead(self, matches: Matches) -> np.ndarray:
        """Points that the first team is ahead, home bonus included."""
        return self.differences + self.setting.home * matches.home


class Ratings:
    """All settings rated in one pass, to choose from for any past."""

    def __init__(self, matches: Matches, settings: list[Setting]) -> None:
        self.matches, self.settings = matches, settings
        self.differences = rating_differences(matches, settings)

    def best(self, past: np.ndarray) -> Rating:
        """The setting whose forecasts of the past lose least, each with its best draw model."""
        outcome = self.matches.outcome[past]
        targets, ones = np.eye(3)[outcome.astype(int) + 1], np.ones(len(outcome))
        best = None
        for place, setting in enumerate(self.settings):
            differences = self.differences[:, place]
            ahead = differences[past] + setting.home * self.matches.home[past]
            draws = fit_draws(ahead, targets, ones)
            loss = log_loss(outcome, draws.probabilities(ahead))
            if best is None or loss < best.past_loss:
                best = Rating(setting, differences, draws, loss)
        assert best is not None
        return best
