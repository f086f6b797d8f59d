"""Times in the shell: strengths that drift, rankings at a date, validation on later pairs."""

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
    model, _ = fit(games, "--time", "day", "--tune", *DRIFT)
    assert isinstance(pairity.load(model).cv, pairity.model_selection.TimeSplit)
    model, _ = fit(games, "--time", "day", "--probabilities")
    assert isinstance(pairity.load(model).cv, pairity.model_selection.TimeSplit)
    model, _ = fit(games, "--time", "day", "--decay", "100", "--learner", "logistic")
    assert pairity.load(model).decay == 100.0


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
