"""Slope and threshold: statsmodels' numbers, optimality, degenerate games."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from pairity.model_selection.curves import fit_draws, smoothed_outcomes


def lattice():
    """Sixty games without random numbers: 13 lost, 41 drawn, 6 won."""
    i = np.arange(60)
    scores = ((i * 37) % 61 - 30) / 10.0
    noise = ((i * 23) % 59 - 29) / 12.0
    outcomes = np.where(scores + noise > 0.8, 1.0, np.where(scores + noise < -0.8, -1.0, 0.0))
    return scores, outcomes, 1.0 + i % 3


def indicators(outcomes):
    return np.eye(3)[outcomes.astype(int) + 1]


@pytest.mark.parametrize(
    ("weighted", "slope", "threshold"),
    [
        (False, 1.3644562138, 3.1745967106),
        (True, 1.4795379917, 3.3448662883),
    ],
)
def test_golden_numbers_of_statsmodels(weighted, slope, threshold):
    """OrderedModel(distr="logit") of statsmodels 0.15.0 on the games and their mirror images.

    Its two thresholds came out as -t and t to eleven digits; weights are repeated rows there.
    """
    scores, outcomes, weights = lattice()
    assert np.bincount(outcomes.astype(int) + 1).tolist() == [13, 41, 6]
    model = fit_draws(scores, indicators(outcomes), weights if weighted else np.ones(60))
    assert model.slope == pytest.approx(slope, rel=1e-8)
    assert model.threshold == pytest.approx(threshold, rel=1e-8)


def naive_likelihood(slope, threshold, scores, targets, weights):
    win, loss = expit(slope * scores - threshold), expit(-slope * scores - threshold)
    chances = np.column_stack([loss, 1.0 - win - loss, win])
    return -float(weights @ (targets * np.log(chances)).sum(axis=1))


def test_the_likelihood_is_smallest():
    scores, outcomes, weights = lattice()
    targets = smoothed_outcomes(outcomes, weights)
    model = fit_draws(scores, targets, weights)
    found = minimize(
        lambda at: naive_likelihood(at[0], np.exp(at[1]), scores, targets, weights),
        [0.5, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12},
    )
    assert model.slope == pytest.approx(found.x[0], rel=1e-5)
    assert model.threshold == pytest.approx(np.exp(found.x[1]), rel=1e-5)


def test_smoothed_outcomes_by_hand():
    targets = smoothed_outcomes(np.array([1.0, -1.0, 0.0]), np.array([2.0, 3.0, 1.0]))
    np.testing.assert_allclose(
        targets, [[1 / 8, 1 / 8, 6 / 8], [6 / 8, 1 / 8, 1 / 8], [1 / 4, 2 / 4, 1 / 4]], rtol=1e-15
    )


GAMES = st.lists(
    st.tuples(st.floats(-20, 20), st.sampled_from([-1.0, 0.0, 1.0]), st.integers(1, 4)),
    min_size=1,
    max_size=25,
)


@given(games=GAMES)
def test_optimal_or_at_a_slope_of_zero(games):
    scores, outcomes, weights = (
        np.array(column, dtype=float) for column in zip(*games, strict=True)
    )
    targets = smoothed_outcomes(outcomes, weights)
    model = fit_draws(scores, targets, weights)
    assert model.slope >= 0.0
    assert model.threshold > 0.0
    best = naive_likelihood(model.slope, model.threshold, scores, targets, weights)
    slack = 1e-9 * (1.0 + abs(best))
    step = 1e-3 / max(1e-3, float(np.abs(scores).max()))
    for by_slope, factor in [(step, 1.0), (-step, 1.0), (0.0, 1.001), (0.0, 0.999)]:
        if model.slope + by_slope >= 0.0:
            moved = model.slope + by_slope, model.threshold * factor
            assert naive_likelihood(*moved, scores, targets, weights) >= best - slack


@given(games=GAMES)
def test_mirrored_games_give_the_same_model(games):
    scores, outcomes, weights = (
        np.array(column, dtype=float) for column in zip(*games, strict=True)
    )
    there = fit_draws(scores, smoothed_outcomes(outcomes, weights), weights)
    back = fit_draws(-scores, smoothed_outcomes(-outcomes, weights), weights)
    assert back.slope == pytest.approx(there.slope, rel=1e-6, abs=1e-9)
    assert back.threshold == pytest.approx(there.threshold, rel=1e-6)


def test_games_that_are_all_alike():
    ones = np.ones(8)
    for outcome in (1.0, 0.0):
        model = fit_draws(ones, smoothed_outcomes(np.full(8, outcome), ones), ones)
        chances = model.probabilities(np.ones(1))[0]
        assert np.isfinite([model.slope, model.threshold]).all()
        assert chances.argmax() == 2 - (outcome == 0.0)
        np.testing.assert_allclose(chances.max(), 9 / 11, rtol=1e-6)
    level = fit_draws(np.zeros(8), smoothed_outcomes(np.array([1.0, 0.0] * 4), ones), ones)
    assert level.slope == 0.0
    assert level.probabilities(np.zeros(1))[0, 1] == pytest.approx(3 / 7, rel=1e-12)
