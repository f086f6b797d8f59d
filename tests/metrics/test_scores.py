"""Proper scores: scikit-learn's numbers, plain twins, laws, and what is refused."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from pairity.model_selection import brier_score, log_loss, ranked_probability_score
from pairity.model_selection.metrics import LEAST_PROBABILITY

SCORES = [brier_score, log_loss, ranked_probability_score]


def forecasts(seed, n=50, r=3):
    rng = np.random.default_rng(seed)
    return rng.integers(r, size=n), rng.dirichlet(np.ones(r), size=n), rng.integers(1, 4, size=n)


def naive_ranked(y, probabilities):
    total = 0.0
    for outcome, row in zip(y, probabilities, strict=True):
        one = 0.0
        for k in range(len(row) - 1):
            called = sum(row[: k + 1])
            one += (called - (1.0 if outcome <= k else 0.0)) ** 2
        total += one / (len(row) - 1)
    return total / len(y)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_outcomes_beside_scikit_learn(weighted):
    y, probabilities, weights = forecasts(1, r=2)
    options = {"sample_weight": weights} if weighted else {}
    assert brier_score(y, probabilities, **options) == pytest.approx(
        sklearn.metrics.brier_score_loss(y, probabilities[:, 1], **options), rel=1e-14
    )
    assert log_loss(y, probabilities[:, 1], **options) == pytest.approx(
        sklearn.metrics.log_loss(y, probabilities, **options), rel=1e-14
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_three_outcomes_beside_scikit_learn(weighted):
    y, probabilities, weights = forecasts(2)
    options = {"sample_weight": weights} if weighted else {}
    assert brier_score(y, probabilities, **options) == pytest.approx(
        sklearn.metrics.brier_score_loss(y, probabilities, labels=[0, 1, 2], **options), rel=1e-14
    )
    assert log_loss(y, probabilities, **options) == pytest.approx(
        sklearn.metrics.log_loss(y, probabilities, **options), rel=1e-14
    )


def test_certainties_that_fail_cost_what_they_cost_in_scikit_learn():
    y, probabilities = [0, 1], np.array([[0.0, 1.0], [0.0, 1.0]])
    theirs = sklearn.metrics.log_loss(y, probabilities)
    assert log_loss(y, probabilities) == pytest.approx(theirs, rel=1e-14)
    values = log_loss(y, probabilities, average=False)
    assert values.tolist() == [-np.log(LEAST_PROBABILITY), 0.0]
    assert values[0] == pytest.approx(36.04, abs=0.005)


@pytest.mark.parametrize("r", [2, 3, 5])
def test_ranked_probability_score_is_the_plain_sum(r):
    y, probabilities, _ = forecasts(3, r=r)
    expected = naive_ranked(y, probabilities)
    assert ranked_probability_score(y, probabilities) == pytest.approx(expected, rel=1e-13)


def test_ranked_probability_score_of_two_is_the_brier_score():
    y, probabilities, weights = forecasts(4, r=2)
    one = ranked_probability_score(y, probabilities, sample_weight=weights)
    assert one == pytest.approx(brier_score(y, probabilities, sample_weight=weights), rel=1e-13)


def test_football_forecasts_by_hand():
    """Forecasts in the manner of Constantinou and Fenton (2012), worked out on paper.

    The third, 0.025, is also the number that the tests of the package penaltyblog ask for.
    """
    scores = ranked_probability_score(
        ["H", "H", "H", "H", "D", "D"],
        [
            [1.0, 0.0, 0.0],
            [0.9, 0.1, 0.0],
            [0.8, 0.1, 0.1],
            [0.5, 0.25, 0.25],
            [0.35, 0.3, 0.35],
            [0.6, 0.3, 0.1],
        ],
        classes=["H", "D", "A"],
        average=False,
    )
    np.testing.assert_allclose(scores, [0, 0.005, 0.025, 0.15625, 0.1225, 0.185], atol=1e-15)


@pytest.mark.parametrize("score", SCORES)
@given(seed=st.integers(0, 1000), r=st.integers(2, 4))
def test_laws(score, seed, r):
    """Mirrored forecasts of mirrored outcomes score the same; weights are repetitions."""
    y, probabilities, weights = forecasts(seed, n=12, r=r)
    names = np.arange(r)
    value = score(y, probabilities, classes=names)
    mirrored = score(r - 1 - y, probabilities[:, ::-1], classes=names)
    assert mirrored == pytest.approx(value, rel=1e-12)
    weighted = score(y, probabilities, classes=names, sample_weight=weights)
    repeated = score(
        np.repeat(y, weights), np.repeat(probabilities, weights, axis=0), classes=names
    )
    assert weighted == pytest.approx(repeated, rel=1e-12)
    rows = score(y, probabilities, classes=names, average=False)
    assert rows.mean() == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("score", SCORES)
@given(honest=st.floats(0.05, 0.9), told=st.floats(0.05, 0.9))
def test_honesty_scores_best(score, honest, told):
    """Outcomes that come as often as ``honest`` says: any other probability costs more."""
    y, share = np.array([0, 1, 2]), np.array([honest, 0.4 * (1 - honest), 0.6 * (1 - honest)])
    lie = np.array([told, 0.5 * (1 - told), 0.5 * (1 - told)])
    best = score(y, np.tile(share, (3, 1)), sample_weight=share)
    assert score(y, np.tile(lie, (3, 1)), sample_weight=share) > best


@pytest.mark.parametrize(
    ("y", "expected"),
    [([1, 1], (0, 1)), ([-1, -1], (-1, 1)), ([True, True], (0, 1)), ([0, 0], (0, 1))],
)
def test_usual_labels_need_no_names(y, expected):
    probabilities = [[0.3, 0.7], [0.4, 0.6]]
    named = log_loss(y, probabilities, classes=expected)
    assert log_loss(y, probabilities) == named


WRONG = [
    (([0, 1], [[0.5, 0.5]]), {}, r"got y of shape \(2,\) for 1 rows of probabilities"),
    (([], np.zeros((0, 2))), {}, "got 0 rows; expected at least one"),
    (([0, 1], [0.5, 1.5]), {}, "got probabilities outside 0 to 1"),
    (([0, 1], [0.5, np.nan]), {}, "got probabilities outside 0 to 1"),
    (([0, 1], ["high", "low"]), {}, "got probabilities that are not numbers"),
    (([0], [[1.0]]), {}, r"got probabilities of shape \(1, 1\)"),
    (([0, 1], [[0.5, 0.4], [0.5, 0.5]]), {}, "got row 0 whose probabilities miss the sum 1 by 0.1"),
    ((["a", "a"], [0.5, 0.5]), {}, r"got outcomes \['a'\] for 2 columns.*pass classes"),
    (([0, 7], [0.5, 0.5]), {"classes": [0, 1]}, r"got outcome .*7.* in row 1; expected one of"),
    (([0, 1], [0.5, 0.5]), {"classes": [0, 0]}, r"got classes \[0, 0\] for 2 columns"),
    (([0, 1], [0.5, 0.5]), {"sample_weight": [1.0]}, r"got sample_weight of shape \(1,\)"),
    (([0, 1], [0.5, 0.5]), {"sample_weight": [1.0, -1.0]}, "negative, not finite, or all 0"),
    (([0, 1], [0.5, 0.5]), {"sample_weight": [0.0, 0.0]}, "negative, not finite, or all 0"),
]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("arguments", "options", "message"), WRONG, ids=range(len(WRONG)))
def test_refusals(score, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        score(*arguments, **options)
