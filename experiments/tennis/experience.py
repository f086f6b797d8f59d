"""What is known of players before a week: how long and how often they have played, and lately.

Strengths that drift say who wins, but a newcomer has none yet.  How many matches somebody has played,
over how many years and how recently says where to begin, and it is known beforehand: every column is
made from earlier weeks alone, so that it is the same whatever matches a model is fitted to.
"""

from __future__ import annotations

import numpy as np

from pairity import Pairs
from pairity.runtime.resources import njit

#: Weeks after which a match counts half as lately played, and a win as lately won; weeks of a year.
_PLAYED, _WON, _YEAR = 8.0, 4.0, 52.18


@njit(cache=True)
def _counts(first, second, weeks, n_players, halves):
    """Matches, weeks since the first and since the last of them, matches and wins of late, by end."""
    played, debut, last = np.zeros(n_players), np.zeros(n_players), np.zeros(n_players)
    late = np.zeros((n_players, 2))
    found = np.zeros((2, len(first), 5))
    start = 0
    for match in range(len(first)):
        for end in range(2):
            player = first[match] if end == 0 else second[match]
            if played[player] > 0.0:
                gap = weeks[match] - last[player]
                found[end, match, 0] = played[player]
                found[end, match, 1] = weeks[match] - debut[player]
                found[end, match, 2] = gap
                for kind in range(2):
                    found[end, match, 3 + kind] = late[player, kind] * 0.5 ** (gap / halves[kind])
        if match + 1 < len(first) and weeks[match + 1] == weeks[match]:
            continue
        for past in range(start, match + 1):
            for end in range(2):
                player = first[past] if end == 0 else second[past]
                if played[player] == 0.0:
                    debut[player] = last[player] = weeks[past]
                gap = weeks[past] - last[player]
                for kind in range(2):
                    late[player, kind] *= 0.5 ** (gap / halves[kind])
                late[player, 0] += 1.0
                late[player, 1] += 1.0 - end
                played[player] += 1.0
                last[player] = weeks[past]
        start = match + 1
    return found


def with_experience(matches: Pairs, weeks: np.ndarray) -> Pairs:
    """Matches in the order of time, winners first, with odd features: winner's less loser's."""
    ends = matches.first, matches.second
    counts = _counts(*ends, weeks, matches.n_objects, (_PLAYED, _WON))
    winner, loser = (_columns(*np.moveaxis(end, -1, 0)) for end in counts)
    return matches.with_features(matches.objects, matches.symmetric, winner - loser)


def _columns(
    played: np.ndarray, since: np.ndarray, gap: np.ndarray, late: np.ndarray, won: np.ndarray
) -> np.ndarray:
    """Functions of the counts of one end, shape (matches, columns)."""
    matches, years = np.log1p(played), np.log1p(since / _YEAR)
    columns = (
        matches,
        matches**2 / 5.0,
        years,
        since / (10.0 * _YEAR),
        matches * years / 3.0,
        np.log1p(gap / 4.0),
        np.log1p(late),
        np.log1p(won),
    )
    return np.column_stack(columns)
