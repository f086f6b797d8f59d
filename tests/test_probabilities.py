"""Probabilities add up to 1 and mirror under a swap, with ``==``; values are those of the formulas."""

from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairity.losses.probabilities import (
    three_log_probabilities,
    three_probabilities,
    two_probabilities,
)

SCORES = st.floats(-800.0, 800.0) | st.floats(-1e-300, 1e-300) | st.floats(-60.0, 60.0)
THRESHOLDS = st.floats(0.0, 50.0) | st.floats(0.0, 1e-12) | st.floats(30.0, 40.0)


@given(decisions=st.lists(SCORES, min_size=1, max_size=20))
def test_two_outcomes(decisions):
    decisions = np.array(decisions)
    there, back = two_probabilities(decisions), two_probabilities(-decisions)
    assert (there.sum(axis=1) == 1.0).all()
    assert (there[:, 1] + back[:, 1] == 1.0).all()
    assert (there == back[:, ::-1]).all()


@given(scores=st.lists(SCORES, min_size=1, max_size=20), threshold=THRESHOLDS)
@example(scores=[36.0437, 36.7368, 37.43, 744.0], threshold=0.7)
@example(scores=[1e-17, 0.0, 1e-300], threshold=0.0)
@example(scores=[0.0, 1e-9], threshold=1e-20)
@example(scores=[2.2e-309, 1e-16, 3e-16], threshold=0.125)
def test_three_outcomes(scores, threshold):
    scores = np.array(scores)
    there, back = three_probabilities(scores, threshold), three_probabilities(-scores, threshold)
    assert (there == back[:, ::-1]).all()
    assert (there >= 0.0).all()
    assert (there.sum(axis=1) == 1.0).all()
    for row in there.tolist():
        assert {(x + y) + z for x, y, z in permutations(row)} == {1.0}
    assert (there[scores > 0, 2] >= there[scores > 0, 0]).all()
    level = three_probabilities(np.zeros(1), threshold)[0]
    assert level[0] == level[2]


@given(scores=st.lists(SCORES, min_size=2, max_size=20), threshold=THRESHOLDS)
def test_three_outcomes_one_at_a_time(scores, threshold):
    scores = np.array(scores)
    whole = three_probabilities(scores, threshold)
    single = [
        three_probabilities(scores[row : row + 1], threshold)[0] for row in range(len(scores))
    ]
    assert (whole == np.array(single)).all()


def exact(score, threshold):
    """Loss, draw and win, and their logarithms, from 320 digits: 1 - win - loss cancels."""
    with localcontext() as context:
        context.prec = 320
        s, t = Decimal(score), Decimal(threshold)
        win, loss = 1 / (1 + (t - s).exp()), 1 / (1 + (t + s).exp())
        values = loss, 1 - win - loss, win
        context.prec = 40
        return [float(p) for p in values], [float(p.ln()) for p in values]


@pytest.mark.parametrize("score", [0.0, 1e-8, 0.3, -2.5, 17.0, -36.5, 45.0, 600.0])
@pytest.mark.parametrize("threshold", [1e-9, 0.05, 0.66, 3.0, 36.0])
def test_values_of_three_outcomes(score, threshold):
    expected, logs = exact(score, threshold)
    got = three_probabilities(np.array([score]), threshold)[0]
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=2.3e-16)
    tiny = np.array(expected) < 2.0**-54
    if score:
        np.testing.assert_allclose(got[tiny], np.array(expected)[tiny], rtol=1e-12)
    got_logs = three_log_probabilities(np.array([score]), threshold)[0]
    np.testing.assert_allclose(got_logs, logs, rtol=1e-13, atol=2e-16)


def test_without_a_threshold_there_are_no_draws():
    scores = np.linspace(-5.0, 5.0, 11)
    got = three_probabilities(scores, 0.0)
    assert (got[:, 1] == 0.0).all()
    np.testing.assert_allclose(got[:, 2], two_probabilities(scores)[:, 1], rtol=0, atol=2.0**-53)
    logs = three_log_probabilities(scores, 0.0)
    assert (logs[:, 1] == -np.inf).all()
    np.testing.assert_allclose(logs[:, [0, 2]], np.log(two_probabilities(scores)), rtol=1e-13)
