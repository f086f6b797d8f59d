"""The tennis experiment: an Elo checked by hand, forecasts from earlier weeks alone."""

import gzip
import math
from unittest.mock import ANY

import numpy as np
import pytest

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from experiments.tennis import elo, protocol, report
from experiments.tennis.experience import with_experience
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


def naive_experience(matches, periods):
    """Counts of both ends before each match, by plain loops over all earlier weeks."""
    ends = list(zip(matches.first.tolist(), matches.second.tolist(), strict=True))
    rows = []
    for row, pair in enumerate(ends):
        sides = []
        for player in pair:
            past = [at for at in range(row) if periods[at] < periods[row] and player in ends[at]]
            gaps = [periods[row] - periods[at] for at in past]
            late = sum(0.5 ** (gap / 8.0) for gap in gaps)
            won = sum(
                0.5 ** (gap / 4.0)
                for gap, at in zip(gaps, past, strict=True)
                if ends[at][0] == player
            )
            played = math.log1p(len(past))
            years = math.log1p(max(gaps, default=0.0) / 52.18)
            sides.append(
                [
                    played,
                    played**2 / 5.0,
                    years,
                    max(gaps, default=0.0) / 521.8,
                    played * years / 3.0,
                    math.log1p(min(gaps, default=0.0) / 4.0),
                    math.log1p(late),
                    math.log1p(won),
                ]
            )
        rows.append(np.subtract(*sides))
    return np.array(rows)


def test_experience_is_that_of_the_plain_twin(matches):
    found = with_experience(matches, weeks(matches)).antisymmetric
    np.testing.assert_allclose(found, naive_experience(matches, weeks(matches)), atol=1e-12)


def test_experience_knows_earlier_weeks_alone(matches):
    whole = with_experience(matches, weeks(matches)).antisymmetric
    early = matches[:60]
    np.testing.assert_array_equal(with_experience(early, weeks(early)).antisymmetric, whole[:60])


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.name)
def test_candidates_can_be_fitted(matches, candidate):
    model = candidate.model.fit(candidate.seen(matches), np.ones(len(matches)))
    assert model.certificate_.holds


def test_the_whole_protocol(matches, monkeypatch, tmp_path):
    monkeypatch.setattr(protocol, "TUNING", "2011-08-20")
    monkeypatch.setattr(protocol, "CANDIDATES", CANDIDATES[1:3])
    found = protocol.run(matches, tmp_path)
    assert protocol.run(matches, tmp_path) == found | {"drift": ANY}  # from what was kept
    later = int(np.sum(matches.time >= days("2011-08-28")))
    assert found["matches"] == later == sum(row["matches"] for row in found["years"])
    for name, scores in (("drift", found["drift"]), ("plain Elo, by week", found["ratings"][0])):
        mean = sum(row["matches"] * row[name] for row in found["years"]) / later
        assert mean == pytest.approx(scores["log_loss"], rel=1e-12)
    football = {
        "splits": [
            {"split": {"name": "all"}, "scores": [{"method": "Elo", "rps": 0.2, "log-loss": 0.9}]}
        ]
    }
    drifting = {"all": {"rps": 0.1, "log-loss": 0.8, "matches": 7}}
    page = report.tables(found, drifting, football)
    assert f"| {found['drift']['log_loss']:.4f} |" in page
    least = min(row["log_loss"] for row in found["ratings"] if row["elo"] == "plain")
    assert f"| {found['drift']['log_loss'] - least:+.4f} |" in page
    assert page.index("| Elo |") < page.index("0.8000")  # the best is the last
