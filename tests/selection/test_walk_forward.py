"""Forecasts that never see the future, and splits by the times of the pairs."""

import numpy as np
import pytest

from pairity import PairLogistic, Pairs, PairSVC
from pairity.kernels import Drift, Identity
from pairity.model_selection import (
    CalibratedPairClassifier,
    TimeSplit,
    brier_score,
    log_loss,
    probabilities_of_odds,
    walk_forward,
)


def games(seed, n=120, m=6, days=60):
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    times = rng.permutation(rng.integers(0, days, size=n)).astype(float)
    strength = rng.normal(size=m)
    won = strength[first] - strength[second] + rng.logistic(size=n) > 0
    pairs = Pairs(np.eye(m), first, second, ids=list("abcdef"[:m]), time=times)
    return pairs, np.where(won, 1, -1)


MODEL = PairLogistic("antisymmetric", kernel=Identity() * Drift(30.0), tol=1e-9)


def test_each_period_is_foretold_from_all_pairs_before_it():
    pairs, y = games(0)
    walked = walk_forward(MODEL, pairs, y, start=30.0, every=10.0)
    assert sorted(walked.rows) == np.flatnonzero(pairs.time >= 30.0).tolist()
    assert (np.diff(walked.times) >= 0).all()
    for period in range(3):
        inside = walked.rows[walked.periods == period]
        past = pairs.time < 30.0 + 10.0 * period
        assert ((pairs.time[inside] - 30.0) // 10.0 == period).all()
        alone = PairLogistic("antisymmetric", kernel=Identity() * Drift(30.0), tol=1e-9)
        alone.fit(pairs[past], y[past])
        expected = alone.predict_averaged_proba(pairs[inside])
        found = walked.probabilities[walked.periods == period]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7)


def test_labels_of_the_future_change_nothing():
    pairs, y = games(1)
    whole = walk_forward(MODEL, pairs, y, start=20.0)
    later = np.where(pairs.time >= 40.0, -y, y)
    other = walk_forward(MODEL, pairs, later, start=20.0)
    known = whole.times <= 40.0
    np.testing.assert_array_equal(whole.probabilities[known], other.probabilities[known])
    assert (whole.probabilities[~known] != other.probabilities[~known]).any()


def test_scores_are_those_of_the_metrics():
    pairs, y = games(2)
    walked = walk_forward(MODEL, pairs, y, start=30.0, every=10.0)
    scores = walked.scores()
    last = walked.probabilities[:, 1]
    # one column in the place of two: sums and logarithms of other vectors, equal up to rounding
    assert scores["log_loss"] == pytest.approx(log_loss(walked.y, last), rel=1e-12)
    assert scores["brier_score"] == pytest.approx(brier_score(walked.y, last), rel=1e-12)
    assert scores["ranked_probability_score"] == pytest.approx(scores["brier_score"], rel=1e-12)
    assert scores["accuracy"] == np.mean((last > 0.5) == (walked.y == 1))
    promised = np.maximum(last, 1.0 - last).mean()
    assert scores["overconfidence"] == pytest.approx(promised - scores["accuracy"], abs=1e-12)
    frame = walked.to_frame()
    weighted = np.average(frame["log_loss"], weights=frame["pairs"])
    assert weighted == pytest.approx(scores["log_loss"])


def test_a_model_without_updates_is_fitted_again():
    pairs, y = games(3)
    # rows in another order: fits agree to their tolerance
    machine = PairSVC("antisymmetric", kernel=Identity(), tol=1e-10)
    model = CalibratedPairClassifier(machine, cv=3)
    walked = walk_forward(model, pairs, y, start=40.0, every=10.0)
    past = pairs.time < 50.0
    again = CalibratedPairClassifier(machine, cv=3)
    again.fit(pairs[past], y[past])
    last = walked.rows[walked.periods == 1]
    found, expected = walked.probabilities[walked.periods == 1], again.predict_proba(pairs[last])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


def test_a_start_without_a_past_or_a_future_is_refused():
    pairs, y = games(4)
    for start in (-1.0, 1e6):
        with pytest.raises(ValueError, match="expected some before"):
            walk_forward(MODEL, pairs, y, start=start)
    with pytest.raises(ValueError, match="every"):
        walk_forward(MODEL, pairs, y, start=30.0, every=0.0)


def test_pairs_with_times_are_split_by_them():
    pairs, y = games(5)
    own = list(TimeSplit(3).split(pairs, y))
    named = list(TimeSplit(3).split(pairs, y, groups=pairs.time))
    for (train, test), (same_train, same_test) in zip(own, named, strict=True):
        assert pairs.time[train].max() < pairs.time[test].min()
        np.testing.assert_array_equal(train, same_train)
        np.testing.assert_array_equal(test, same_test)


def test_probabilities_of_odds():
    found = probabilities_of_odds([[2.0, 4.0, 4.0], [1.25, 5.0, 25.0]])
    np.testing.assert_allclose(found[0], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(found[1], np.array([0.8, 0.2, 0.04]) / 1.04)
    for odds in ([[2.0, 0.5]], [[2.0]], [[np.nan, 2.0]], [[1.0, 3.0]], [[np.inf, 3.0]]):
        with pytest.raises(ValueError, match="decimal odds above 1"):
            probabilities_of_odds(odds)
