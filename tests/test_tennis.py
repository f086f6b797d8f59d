"""The tennis experiment: an Elo checked by hand, forecasts from earlier weeks alone."""

import gzip
import math

import numpy as np
import pytest

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from experiments.tennis import elo
from experiments.tennis.matches import FILE, read_matches
from experiments.tennis.protocol import CANDIDATES, days, weeks


def naive_elo(matches, setting, periods):
    """Ratings in points, a dictionary of them, changed at the end of each period."""
    ratings, played, losses, waiting = {}, {}, [], []
    ends = list(zip(matches.first.tolist(), matches.second.tolist(), strict=True))
    for row, (winner, loser) in enumerate(ends):
        if row and periods[row] != periods[row - 1]:
            for won, lost, chance in waiting:
                for who, sign in ((won, 1.0), (lost, -1.0)):
                    step = setting.step / (played.get(who, 0) + setting.offset) ** setting.shape
                    ratings[who] = ratings.get(who, 1500.0) + sign * step * (1.0 - chance)
                    played[who] = played.get(who, 0) + 1
            waiting = []
        ahead = ratings.get(winner, 1500.0) - ratings.get(loser, 1500.0)
        chance = 1.0 / (1.0 + 10.0 ** (-ahead / 400.0))
        losses.append(-math.log(chance))
        waiting.append((winner, loser, chance))
    return losses


@pytest.fixture
def matches(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / FILE
    path.parent.mkdir()
    rows = ["date,winner,loser", "20110801,a,a"]
    for week in range(30):
        for _ in range(4):
            winner, loser = rng.choice(list("abcdef"), size=2, replace=False)
            date = np.datetime64("2011-08-01") + 7 * week
            rows.append(f"{str(date).replace('-', '')},{winner},{loser}")
    with gzip.open(path, "wt") as stream:
        stream.write("\n".join(rows) + "\n")
    return read_matches(tmp_path)


def test_matches_are_read_winner_first(matches):
    assert len(matches) == 120
    assert (matches.first != matches.second).all()
    assert matches.time[0] == days("2011-08-01")
    assert weeks(matches)[:16].tolist() == [-4.0] * 4 + [-3.0] * 4 + [-2.0] * 4 + [-1.0] * 4


@pytest.mark.parametrize("setting", [elo.Setting(32.0, 1.0, 0.0), elo.Setting(250.0, 5.0, 0.4)])
def test_elo_is_that_of_the_plain_twin(matches, setting):
    for periods in (weeks(matches), np.arange(len(matches))):
        found = elo.log_losses(matches, setting, periods)
        np.testing.assert_allclose(found, naive_elo(matches, setting, periods), rtol=1e-12)


def test_the_best_setting_is_chosen_on_the_chosen_matches(matches):
    early, periods = np.arange(len(matches)) < 60, np.arange(len(matches))
    chosen = elo.tuned(matches, early, periods, elo.PLAIN)
    losses = {s: elo.log_losses(matches, s, periods)[early].mean() for s in elo.PLAIN}
    assert losses[chosen] == min(losses.values())


def test_candidates_can_be_fitted(matches):
    model = CANDIDATES[0].model.fit(matches, np.ones(len(matches)))
    assert model.certificate_.holds
