"""Sentences that say no more than the numbers."""

import dataclasses

import pytest
from made import SMALL, ranker, tournament

from pairity.app.report import gather
from pairity.app.report.report_data import Estimate, Setting
from pairity.app.report.wording import (
    figure,
    in_short,
    judge,
    percent,
    period_name,
    period_score,
    plain,
)


def setting(accuracy, error, guess=0.5, n_pairs=100, **others):
    figures = {"accuracy": Estimate(accuracy, error)} | {k: v[0] for k, v in others.items()}
    guesses = {"accuracy": guess} | {k: v[1] for k, v in others.items()}
    return Setting("seen", "both objects seen", figures, guesses, n_pairs, 400, 5)


@pytest.fixture(scope="module")
def data():
    pairs, y, _ = tournament(12)
    return gather(ranker(pairs, y), pairs, y, limits=SMALL)


def test_numbers_are_rounded_for_people():
    assert percent(0.1234) == "12.3\u00a0%"
    assert plain(None) == "–"
    assert plain(-0.12345) == "−0.123"
    assert figure("accuracy", Estimate(0.9217, 0.0149)) == "92.2 ± 1.5\u00a0%"
    assert figure("log-loss", Estimate(0.3123, 0.0141)) == "0.312 ± 0.014"
    assert figure("AUC", Estimate(float("nan"))) == "–"
    assert figure("mean absolute error", Estimate(1234.5, 67.8)) == "1234 ± 68"


def test_scores_of_periods_have_the_units_of_the_headline():
    scores = {"accuracy": 0.51, "log_loss": 0.94, "brier_score": 0.2, "overconfidence": -0.004}
    told = {period_name(name): period_score(name, value) for name, value in scores.items()}
    assert told == {
        "accuracy": "51.0\u00a0%",
        "log-loss": "0.940",
        "Brier score": "0.200",
        "overconfidence, points": "−0.4",
    }
    assert period_name("ranked_probability_score") == "ranked probability score"


def test_features_are_names_in_a_sentence(data):
    drops = tuple(dataclasses.replace(data.features[0], name=name) for name in ("empty", "seconds"))
    assert "It goes by “empty” and “seconds” first of all." in sentences(data, features=drops)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (setting(0.8, 0.02), "clear"),
        (setting(0.55, 0.02), "some"),
        (setting(0.52, 0.02), "none"),
        (setting(0.4, 0.02), "none"),
        (setting(0.9, 0.0, guess=0.9), "none"),
        (setting(0.9, 0.02, 0.9, AUC=(Estimate(0.9, 0.02), 0.5)), "clear"),
        (setting(0.9, 0.02, 0.9, **{"log-loss": (Estimate(0.2, 0.02), 0.3)}), "clear"),
        (setting(0.9, 0.02, 0.9, **{"log-loss": (Estimate(0.4, 0.02), 0.3)}), "none"),
    ],
)
def test_a_verdict_needs_standard_errors(found, verdict):
    assert judge(found) == verdict


def sentences(data, *settings, **changes):
    return " ".join(in_short(dataclasses.replace(data, settings=settings, **changes)))


def test_settings_are_told_apart(data):
    both = dataclasses.replace(setting(0.51, 0.05), key="both_new", name="both objects new")
    said = sentences(data, setting(0.8, 0.02), both)
    assert "80.0 ± 2.0\u00a0% of new pairs of objects that it knows" in said
    assert "clearly better than that with both objects seen" in said
    assert "no better than that, as far as these pairs can tell, with both objects new" in said


def test_no_error_is_not_certainty(data):
    said = sentences(data, setting(1.0, 0.0, n_pairs=60))
    assert "all 60 (at least 95.1\u00a0% with 95 % confidence)" in said
    chance_of_that = 0.9513**60
    assert chance_of_that == pytest.approx(0.05, rel=0.01)


def test_what_is_broken_is_said(data):
    broken = dataclasses.replace(data.swap, n_violations=3, largest_miss=1e-9)
    assert "IS BROKEN" in sentences(data, setting(0.8, 0.02), swap=broken)
    unfinished = dataclasses.replace(data.certificate, holds=False)
    assert "did not reach its tolerance" in sentences(data, certificate=unfinished)
    assert "could not be measured" in sentences(data)
