"""Elo ratings with a step that shrinks with experience, ``k / (matches + offset)^shape``."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from pairity import Pairs
from pairity.runtime.resources import njit

#: Rating points in a natural unit of log-odds.
_POINTS = 400.0 / np.log(10.0)


class Setting(NamedTuple):
    """Step of a rating after a match; ``shape`` 0 is the plain Elo."""

    step: float
    offset: float
    shape: float


#: Elo as it is published, and with steps that shrink with the number of matches played.
PLAIN = [Setting(step, 1.0, 0.0) for step in (16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0)]
SHRINKING = [
    Setting(*numbers)
    for numbers in product(
        (100.0, 150.0, 200.0, 250.0, 300.0, 400.0), (5.0, 20.0, 40.0), (0.3, 0.4, 0.5)
    )
]


@njit(cache=True)
def _differences(first, second, periods, setting, n_players):
    """Rating of the winner less that of the loser before each match, in log-odds.

    Ratings change at the end of a period; where every match is a period of its own, after it.
    """
    step, offset, shape = setting
    ratings, played = np.zeros(n_players), np.zeros(n_players)
    found = np.empty(len(first))
    start = 0
    for match in range(len(first)):
        found[match] = ratings[first[match]] - ratings[second[match]]
        if match + 1 < len(first) and periods[match + 1] == periods[match]:
            continue
        for past in range(start, match + 1):
            winner, loser = first[past], second[past]
            surprise = 1.0 / (1.0 + np.exp(found[past]))
            ratings[winner] += step / (played[winner] + offset) ** shape * surprise
            ratings[loser] -= step / (played[loser] + offset) ** shape * surprise
            played[winner] += 1.0
            played[loser] += 1.0
        start = match + 1
    return found


def log_losses(matches: Pairs, setting: Setting, periods: np.ndarray) -> np.ndarray:
    """``-log P(winner wins)`` of every match, foretold from earlier periods."""
    scaled = (setting.step / _POINTS, setting.offset, setting.shape)
    ends = matches.first, matches.second
    return -np.log(expit(_differences(*ends, periods, scaled, matches.n_objects)))


def tuned(
    matches: Pairs, chosen: np.ndarray, periods: np.ndarray, settings: list[Setting]
) -> Setting:
    """The setting with the least log-loss over the chosen matches."""
    losses = [float(log_losses(matches, setting, periods)[chosen].mean()) for setting in settings]
    return settings[int(np.argmin(losses))]
