"""The football experiment: features from the past only, an Elo checked by hand, honest errors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pandas", reason="pandas comes with the command line extra")

from experiments.football import elo, features, figure, protocol, report
from experiments.football.__main__ import PAGE, RESULTS
from experiments.football.forecasters import Trees, machines
from experiments.football.matches import Matches, read_matches

DAY_OF_1990 = 7305


def made_up(seed, n=60, n_teams=8, days=40, start=DAY_OF_1990):
    """Random matches, sometimes several a day; the stronger team scores more, more so at home."""
    rng = np.random.default_rng(seed)
    first = rng.integers(n_teams, size=n)
    second = (first + rng.integers(1, n_teams, size=n)) % n_teams
    home = rng.integers(2, size=n).astype(float)
    strength = np.linspace(-1.0, 1.0, n_teams)
    margin = strength[first] - strength[second] + 0.5 * home + rng.logistic(size=n)
    return Matches(
        day=start + np.sort(rng.integers(days, size=n)),
        first=first,
        second=second,
        goals=np.round(margin),
        home=home,
        friendly=rng.integers(2, size=n).astype(float),
        teams=tuple("ABCDEFGH"[:n_teams]),
    )


def ratings_of(matches):
    found = elo.rating_differences(
        matches, [elo.Setting(40.0, 100.0, 1.0, 0.5), elo.Setting(20.0, 60.0)]
    )
    return [
        elo.Rating(setting, found[:, place], None, 0.0)
        for place, setting in enumerate(
            [elo.Setting(40.0, 100.0, 1.0, 0.5), elo.Setting(20.0, 60.0)]
        )
    ]


def table_of(matches):
    return features.odd_features(matches, ratings_of(matches), ("rating", "plain rating"))


# Ratings ------------------------------------------------------------------------------------------


def naive_elo(matches, setting):
    """One match after another, as one would on paper; ratings change at the end of a day."""
    ratings, pending, today, found = {}, {}, None, []
    for row in range(len(matches)):
        if matches.day[row] != today:
            for team, move in pending.items():
                ratings[team] = ratings.get(team, 0.0) + move
            pending, today = {}, matches.day[row]
        a, b = int(matches.first[row]), int(matches.second[row])
        ahead = ratings.get(a, 0.0) - ratings.get(b, 0.0)
        found.append(ahead)
        expected = 1 / (1 + 10 ** (-(ahead + setting.home * matches.home[row]) / 400))
        goals = matches.goals[row]
        result = 1.0 if goals > 0 else 0.0 if goals < 0 else 0.5
        weight = setting.friendly if matches.friendly[row] else 1.0
        move = setting.step * weight * max(1.0, abs(goals)) ** setting.power * (result - expected)
        pending[a] = pending.get(a, 0.0) + move
        pending[b] = pending.get(b, 0.0) - move
    return found


@pytest.mark.parametrize("setting", [elo.Setting(40.0, 100.0), elo.Setting(30.0, 80.0, 0.5, 0.5)])
def test_ratings_are_those_on_paper(setting):
    matches = made_up(1)
    found = elo.rating_differences(matches, [elo.Setting(10.0, 0.0), setting])[:, 1]
    np.testing.assert_allclose(found, naive_elo(matches, setting), rtol=1e-12, atol=1e-9)


def test_the_best_setting_is_that_of_the_past_alone():
    matches = made_up(2, n=300, days=200)
    settings = [elo.Setting(step, home) for step in (10.0, 40.0) for home in (0.0, 100.0)]
    past = np.arange(200)
    best = elo.Ratings(matches, settings).best(past)
    other = replace(matches, goals=np.append(matches.goals[:200], -matches.goals[200:]))
    again = elo.Ratings(other, settings).best(past)
    assert (best.setting, best.past_loss, best.draws) == (
        again.setting,
        again.past_loss,
        again.draws,
    )
    single = [elo.Ratings(matches, [setting]).best(past).past_loss for setting in settings]
    assert best.past_loss == min(single)


# Features -----------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), row=st.integers(0, 59))
def test_features_know_the_past_only(seed, row):
    """Another result of a match changes no feature of that day or before."""
    matches = made_up(seed)
    goals = matches.goals.copy()
    goals[row] = 7.0 if goals[row] <= 0 else -7.0
    before = matches.day <= matches.day[row]
    one, _ = table_of(matches)
    two, _ = table_of(replace(matches, goals=goals))
    assert (one[before] == two[before]).all()
    later = (matches.day > matches.day[row]) & np.isin(matches.first, [matches.first[row]])
    if later.any():
        assert (one[later] != two[later]).any()


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_features_are_odd(seed):
    matches = made_up(seed)
    there, names = table_of(matches)
    back, _ = table_of(matches.swap())
    np.testing.assert_allclose(back, -there, atol=1e-9)
    assert there.shape[1] == len(names) == len(set(names))


def test_states_by_hand():
    """A beats B by 2 on day 0; the two meet again on day 10."""
    first, second = np.array([0, 0]), np.array([1, 1])
    matches = Matches(
        np.array([0, 10]), first, second, np.array([2.0, 0.0]), np.zeros(2), np.zeros(2), ("A", "B")
    )
    states, names = features.team_states(matches, np.array([0.75, 0.5]))
    assert (states[0] == 0.0).all()
    seen = dict(zip(names, states[1], strict=True))
    assert seen["goal difference, half-life 1"] == pytest.approx(2.0)  # 2/2 - (-2/2)
    assert seen["points, half-life 7"] == pytest.approx(0.5)
    assert seen["surprise, half-life 3"] == pytest.approx(0.25)
    assert (seen["rest"], seen["experience"], seen["activity"]) == (0.0, 0.0, 0.0)


# Protocol and report ------------------------------------------------------------------------------


def test_clustered_errors():
    rng = np.random.default_rng(0)
    values = rng.normal(size=4000)
    alone = protocol.clustered_error(values, np.arange(4000))
    assert alone == pytest.approx(values.std() / np.sqrt(4000), rel=1e-12)
    doubled = np.repeat(values, 4)
    together = protocol.clustered_error(doubled, np.repeat(np.arange(4000), 4))
    assert together == pytest.approx(alone, rel=1e-12)


@pytest.fixture
def small_run(monkeypatch):
    matches = made_up(3, n=500, days=3650, start=DAY_OF_1990)
    few = [elo.Setting(20.0, 60.0), elo.Setting(40.0, 120.0)]
    for name in ("PLAIN", "GOALS"):
        monkeypatch.setattr(protocol, name, few)
    monkeypatch.setattr(protocol, "machines", lambda kind: machines(kind)[1:2])
    monkeypatch.setattr(protocol, "trees", lambda: [Trees(4, 10)])
    return protocol.run_split(matches, protocol.Split("small", (1996, 1998), 2000, past=6, check=2))


def test_a_small_run(small_run, tmp_path):
    scores = {row["method"]: row for row in small_run["scores"]}
    assert scores[protocol.REFERENCE]["rps difference"] == 0.0
    assert small_run["swap"] == {"not mirrored": 0, "sums that are not 1": 0}
    assert small_run["sizes"]["test"] > 150
    assert scores["base rates, home and neutral"]["rps"] > scores[protocol.REFERENCE]["rps"]
    assert len(small_run["home"]) == 2
    home = small_run["home"][0]
    assert home["at home"][2] > home["neutral"][2] == home["neutral"][0]
    results = {"splits": [small_run]}
    report.write(results, tmp_path)
    figure.draw(results, tmp_path / "football.png")
    assert json.loads((tmp_path / "football.json").read_text(encoding="utf-8")) == results
    assert (tmp_path / "football.png").stat().st_size > 5000
    page = report.with_table(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", "new\n")
    assert page == f"before\n{report.BEGIN}\nnew\n{report.END}\nafter\n"


def test_the_page_shows_what_was_measured():
    results = json.loads((RESULTS / "football.json").read_text(encoding="utf-8"))
    text = report.markdown(results)
    assert (RESULTS / "football.md").read_text(encoding="utf-8").endswith(text)
    shown = PAGE.read_text(encoding="utf-8").split(report.BEGIN)[1].split(report.END)[0]
    assert shown.strip() == text.strip()
    assert len(results["splits"]) == len(protocol.SPLITS)


def test_the_shared_file_is_read_in_order():
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (folder / "antisymmetric_intl_football").exists():
        pytest.skip("the data folder is not beside the repository")
    matches = read_matches(folder)
    assert len(matches) == 49_520
    assert len(matches.teams) == 337
    assert (np.diff(matches.day) >= 0).all()
    counts = [int(np.sum(matches.outcome == value)) for value in (1, -1, 0)]
    assert counts == [24_265, 13_997, 11_258]
    assert np.mean(matches.home == 0) == pytest.approx(0.266, abs=0.001)
    assert sum(len(range(len(matches))[day]) for day in matches.by_day()) == len(matches)
