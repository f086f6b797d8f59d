"""Rounded losses against the formulas of their docstring and against numeric derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.losses import Logistic, Squared, epsilon_insensitive, hinge
from pairity.losses.piecewise import RoundedLoss, smoothed

numbers = st.integers(-40, 40).map(lambda k: k / 8)
widths = st.sampled_from([0.0625, 0.5, 1.0, 3.0])
weights = st.sampled_from([0.0, 0.25, 1.0, 2.0])
epsilons = st.sampled_from([0.0, 0.25, 1.0])
KINDS = ["hinge", "epsilon"]


def tables():
    """Columns: target, weight, decision."""
    row = st.tuples(numbers, weights, numbers)
    return st.lists(row, min_size=1, max_size=8).map(lambda rows: np.array(rows).T)


def loss_of(kind, targets, c, epsilon):
    if kind == "hinge":
        return hinge(np.where(targets > 0, 1.0, -1.0), c)
    return epsilon_insensitive(targets, c, epsilon)


def rounded_ramp(c, x, width):
    """``c max(0, x)`` with its bend rounded over ``0 <= x <= width``."""
    if x <= 0.0:
        return 0.0
    if x <= width:
        return c * x**2 / (2.0 * width)
    return c * (x - width / 2.0)


def plain_value(kind, target, c, decision, epsilon, width):
    """The formula, one decision at a time: a ramp for the hinge, one each side otherwise."""
    if kind == "hinge":
        label = 1.0 if target > 0 else -1.0
        return rounded_ramp(c, 1.0 - label * decision, width)
    return rounded_ramp(c, target - epsilon - decision, width) + rounded_ramp(
        c, decision - target - epsilon, width
    )


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), width=widths, epsilon=epsilons)
def test_value_is_the_formula(kind, table, width, epsilon):
    targets, c, decisions = table
    rounded = smoothed(loss_of(kind, targets, c, epsilon), width)
    expected = [plain_value(kind, *row, epsilon, width) for row in table.T]
    np.testing.assert_allclose(rounded.value(decisions), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), width=widths, epsilon=epsilons)
def test_value_is_below_the_loss_by_at_most_half_the_width(kind, table, width, epsilon):
    targets, c, decisions = table
    loss = loss_of(kind, targets, c, epsilon)
    short = loss.value(decisions) - smoothed(loss, width).value(decisions)
    assert (short >= -1e-13).all()
    assert (short <= c * width / 2.0 + 1e-13).all()


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), width=widths, epsilon=epsilons)
def test_pull_is_minus_the_derivative(kind, table, width, epsilon):
    """By central differences, whose error is at most ``h step / 2`` across a change of curvature."""
    targets, c, decisions = table
    rounded, h = smoothed(loss_of(kind, targets, c, epsilon), width), 1e-5
    slope = (rounded.value(decisions + h) - rounded.value(decisions - h)) / (2.0 * h)
    slack = h * c / (2.0 * width) + 1e-9
    assert (np.abs(rounded.pull(decisions) + slope) <= slack).all()


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), width=widths, epsilon=epsilons)
def test_curvature_is_the_second_derivative_off_the_bends(kind, table, width, epsilon):
    targets, c, decisions = table
    decisions = decisions + 1.0 / 32.0  # off the grid of bends: eighths and widths of sixteenths
    rounded, h = smoothed(loss_of(kind, targets, c, epsilon), width), 1e-5
    bend = (rounded.pull(decisions - h) - rounded.pull(decisions + h)) / (2.0 * h)
    np.testing.assert_allclose(rounded.curvature(decisions), bend, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@given(table=tables(), width=widths, epsilon=epsilons)
def test_pull_is_inside_the_bounds_and_its_dual_value_below_the_loss(kind, table, width, epsilon):
    """``-h(theta) - theta f <= loss(f)``: what makes a lower bound of the plain problem."""
    targets, c, decisions = table
    loss = loss_of(kind, targets, c, epsilon)
    theta = smoothed(loss, width).pull(decisions)
    assert (loss.low <= theta).all()
    assert (theta <= loss.high).all()
    gap = loss.value(decisions) + loss.conjugate(theta) + theta * decisions
    assert (gap >= -1e-12).all()


@given(table=tables(), width=widths)
def test_gap_of_the_hinge_is_the_price_of_rounding(table, width):
    """``loss + h + theta f = width c t (1 - t)`` with ``t = |theta| / c``."""
    targets, c, decisions = table
    loss = loss_of("hinge", targets, c, 0.0)
    theta = smoothed(loss, width).pull(decisions)
    t = np.divide(np.abs(theta), c, out=np.zeros_like(c), where=c > 0)
    gap = loss.value(decisions) + loss.conjugate(theta) + theta * decisions
    np.testing.assert_allclose(gap, width * c * t * (1.0 - t), rtol=1e-12, atol=1e-12)


@given(table=tables())
def test_narrow_widths_give_the_loss_back(table):
    targets, c, decisions = table
    loss = loss_of("epsilon", targets, c, 0.25)
    close = RoundedLoss(loss, 1e-9).value(decisions)
    np.testing.assert_allclose(close, loss.value(decisions), rtol=0.0, atol=1e-8)


def test_smooth_losses_stay_as_they_are():
    for loss in (Squared(np.ones(2), np.ones(2)), Logistic(np.ones(2), np.ones(2))):
        assert smoothed(loss, 0.5) is loss


def test_weights_of_zero_count_for_nothing():
    rounded = smoothed(hinge(np.array([1.0, -1.0]), np.zeros(2)), 0.5)
    decisions = np.array([0.75, 3.0])
    for values in (rounded.value(decisions), rounded.pull(decisions), rounded.curvature(decisions)):
        assert values.tolist() == [0.0, 0.0]
