"""Times in the shell: strengths that drift, rankings at a date, validation on later pairs."""

import json

import numpy as np
import pandas as pd
import pytest
from tables_made import run

import pairity

COLUMNS = ("--first", "white", "--second", "black", "--label", "result", "--positive", "won")
DRIFT = ("--learner", "logistic", "--kernel", "identity * drift(200, 'wiener')")


@pytest.fixture
def games(tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(6, size=150)
    second = (first + rng.integers(1, 6, size=150)) % 6
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 600, size=150), "D")
    won = np.where(first - second + rng.logistic(size=150) > 0, "won", "lost")
    names = np.array(list("abcdef"))
    frame = pd.DataFrame(
        {"white": names[first], "black": names[second], "day": dates, "result": won}
    )
    path = tmp_path / "games.csv"
    frame.to_csv(path, index=False)
    return path


def fit(games, *options, code=0):
    model = games.with_name("model.pairity")
    symmetry = ("--symmetry", "antisymmetric", "--output", model, "--force")
    return model, run("fit", games, *COLUMNS, *symmetry, *options, code=code)


def test_strengths_drift_and_are_ranked_at_a_date(games):
    model, _ = fit(games, "--time", "day", *DRIFT)
    kept = pairity.load(model)
    frame = pd.read_csv(games, parse_dates=["day"])
    days = (frame["day"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(1, "D")
    np.testing.assert_array_equal(np.sort(kept.support_pairs_.time), np.sort(days))
    out = games.with_name("out.csv")
    run("predict", model, games, "--output", out)
    assert len(pd.read_csv(out)) == 150
    tables = []
    for date in ("2020-02-01", "2021-06-01"):
        run("rank", model, "--at", date, "--intervals", "--output", out, "--force")
        tables.append(pd.read_csv(out).set_index("id")["score"])
    assert sorted(tables[0].index) == list("abcdef")
    assert not np.allclose(tables[0].sort_index(), tables[1].sort_index())


def test_what_is_tuned_or_calibrated_sees_no_future(games):
    model, result = fit(games, "--time", "day", "--tune", *DRIFT, "--json")
    tuned = pairity.load(model)
    assert isinstance(tuned.cv, pairity.model_selection.TimeSplit)
    periods = json.loads(result.stdout)["held-out pairs over time"]
    assert len(periods) == tuned.n_splits_
    frame = pd.read_csv(games)
    assert list(periods) == sorted(periods)
    assert set(periods) <= set(frame["day"])
    sizes = [row["pairs"] for row in periods.values()]
    assert sum(sizes) == len(tuned.held_out_rows_)
    won = np.where(frame["result"][tuned.held_out_rows_] == "won", 1.0, -1.0)
    loss = np.logaddexp(0.0, -won * tuned.held_out_decisions_).mean()
    found = np.average([row["log_loss"] for row in periods.values()], weights=sizes)
    assert found == pytest.approx(loss)
    model, _ = fit(games, "--time", "day", "--probabilities")
    assert isinstance(pairity.load(model).cv, pairity.model_selection.TimeSplit)
    model, _ = fit(games, "--time", "day", "--decay", "100", "--learner", "logistic")
    assert pairity.load(model).decay == 100.0


@pytest.fixture
def season(games):
    """The games with draws, and odds of all but the last."""
    frame = pd.read_csv(games)
    frame.loc[::5, "result"] = "drawn"
    for column, odds in {"1": 2.0, "X": 3.5, "2": 4.0}.items():
        frame[column] = odds
    frame.loc[149, "X"] = np.nan
    frame.to_csv(games, index=False)
    model, _ = fit(games, "--time", "day", "--draw", "drawn", *DRIFT)
    return model, games, frame


ODDS = ("--odds", "won=1", "--odds", "drawn=X", "--odds", "lost=2")


def test_fixtures_with_draws_are_scored_over_time_and_beside_odds(season):
    model, games, frame = season
    out, scores = games.with_name("out.csv"), games.with_name("scores.csv")
    made = ("--output", out, "--scores", scores, "--every", "100", "--json")
    said = json.loads(run("predict", model, games, *made, *ODDS).stdout)
    results, table = pd.read_csv(out), pd.read_csv(scores)
    names = ["lost", "drawn", "won"]
    chances = results[[f"probability {name}" for name in names]].to_numpy()
    happened = np.array([names.index(name) for name in frame["result"]])
    days = pd.to_datetime(frame["day"])
    period = (days - days.min()).dt.days // 100
    assert table["period"].tolist() == sorted(period.unique())
    assert table["pairs"].tolist() == period.value_counts().sort_index().tolist()
    assert table["from"].tolist() == days.groupby(period).min().dt.strftime("%Y-%m-%d").tolist()
    own = -np.log(chances[np.arange(150), happened])
    np.testing.assert_allclose(table["log_loss"], pd.Series(own).groupby(period).mean())
    likeliest, promised = chances.argmax(axis=1), chances.max(axis=1)
    gap = pd.Series(promised - (likeliest == happened)).groupby(period).mean()
    np.testing.assert_allclose(table["overconfidence"], gap, atol=1e-12)
    implied = np.array([0.25, 1 / 3.5, 0.5])
    implied /= implied.sum()
    losses = -np.log(implied[happened[:149]])
    assert said["pairs with odds"] == 149
    assert said["odds"]["log loss"] == pytest.approx(losses.mean())
    assert said["model there"]["log loss"] == pytest.approx(own[:149].mean())
    assert said["ranked probability score"] > 0.0
    assert table["odds pairs"].sum() == 149
    np.testing.assert_allclose(
        np.average(table["odds log_loss"], weights=table["odds pairs"]), losses.mean()
    )


def test_what_cannot_be_scored_is_refused(season):
    model, games, _ = season
    out, scores = games.with_name("out.csv"), games.with_name("scores.csv")

    def refused(model, *options):
        result = run("predict", model, games, "--output", out, *options, code=2)
        assert not out.exists()
        assert not scores.exists()
        return result.stderr

    assert "once for each label" in refused(model, *ODDS[:4])
    assert "above 0" in refused(model, "--scores", scores, "--every", "-3")
    assert "without --scores" in refused(model, "--every", "3")
    assert "'nothing'" in refused(model, "--scores", scores, "--time", "nothing")
    still, _ = fit(games, "--draw", "drawn")
    assert "--time COL" in refused(still, "--scores", scores)
    unsure, _ = fit(games, "--drop-label", "drawn")
    assert "without probabilities" in refused(unsure, "--scores", scores)
    run(
        "predict",
        fit(games, "--draw", "drawn")[0],
        games,
        "--output",
        out,
        "--scores",
        scores,
        "--time",
        "day",
    )
    assert len(pd.read_csv(scores)) > 10


def test_the_report_shows_strengths_and_scores_over_time(games):
    page = games.with_name("report.html")
    fit(games, "--time", "day", *DRIFT, "--report", page)
    text = page.read_text()
    assert "Strengths of the leaders" in text
    assert text.count('<polyline points="') >= 4
    assert "later pairs" in text
    assert "both objects seen" not in text
    assert "2020-01-0" in text  # days are shown as dates


def test_options_that_do_not_fit_are_refused(games):
    _, result = fit(games, "--decay", "100", code=2)
    assert "--time" in result.stderr
    _, result = fit(games, *DRIFT, code=2)
    assert "--time COLUMN" in result.stderr
    _, result = fit(games, "--time", "result", *DRIFT, code=2)
    assert "expected numbers, dates" in result.stderr
    model, _ = fit(games, "--time", "day", *DRIFT)
    out = games.with_name("out.csv")
    assert "--at" in run("rank", model, "--output", out, code=2).stderr
    model, _ = fit(games)
    assert "--at" in run("rank", model, "--at", "5", "--output", out, code=2).stderr
