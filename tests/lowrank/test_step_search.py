"""Searches along a direction, on slopes of convex functions that have kinks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairity.solvers.low_rank.minimise import root, step_length

kinks = st.lists(
    st.tuples(st.integers(-60, 60).map(lambda k: k / 16), st.sampled_from([0.25, 1.0, 30.0])),
    min_size=1,
    max_size=6,
)
slants = st.sampled_from([0.0, 0.125, 2.0])


class Convex:
    """``sum of c max(0, x - kink) + slant x^2 / 2 - drop x``, its kinks rounded a little."""

    def __init__(self, kinks, slant, drop, width=0.01):
        self.places, self.weights = np.array(kinks).T
        self.slant, self.drop, self.width = slant, drop, width
        self.calls = 0

    def slope(self, x):
        self.calls += 1
        inside = np.clip((x - self.places) / self.width, 0.0, 1.0)
        return float(self.weights @ inside + self.slant * x - self.drop)

    def value(self, x):
        over = np.maximum(x - self.places, 0.0)
        ramp = np.minimum(over, self.width)
        values = ramp**2 / (2.0 * self.width) + (over - ramp)
        return float(self.weights @ values + self.slant * x**2 / 2.0 - self.drop * x)


@given(kinks=kinks, slant=slants, share=st.sampled_from([0.01, 0.5, 0.99]))
def test_roots(kinks, slant, share):
    """The function is as flat there as was asked for, whichever side the root is on."""
    total = sum(weight for _, weight in kinks)
    function = Convex(kinks, slant, share * total)
    flat = 1e-6 * total
    for step in (0.01, 1.0, 50.0):
        found = root(function.slope, step, flat)
        assert abs(function.slope(found)) <= flat


@given(kinks=kinks, slant=slants)
def test_a_root_that_is_here_already_costs_one_slope(kinks, slant):
    total = sum(weight for _, weight in kinks)
    function = Convex(kinks, slant, 0.0)
    function.drop = function.slope(0.0)
    function.calls = 0
    assert root(function.slope, 1.0, 1e-9 * total) == 0.0
    assert function.calls == 1


def test_slopes_that_never_change_sign_end_somewhere():
    found = root(lambda x: -np.exp(-x), 1.0, 1e-300)
    assert np.isfinite(found)
    assert found > 100.0


@given(kinks=kinks, slant=slants)
def test_lengths_are_flat_or_descend(kinks, slant):
    kinks = [(place, weight) for place, weight in kinks if place > 0] or [(0.5, 1.0)]
    total = sum(weight for _, weight in kinks)
    function = Convex(kinks, slant, 0.5 * total)
    at_start = function.slope(0.0)
    length = step_length(function.slope, at_start)
    here = function.slope(length)
    assert length > 0.0
    assert abs(here) <= 0.1 * abs(at_start) or here < 0.0
    if length != 1.0:
        assert function.value(length) < function.value(0.0)


def test_steep_rises_behind_the_minimum_are_not_descents():
    """A slope that is small after a steep rise: taken at once it would lead uphill."""

    def slope(x):
        return -1.0 if x < 0.01 else 0.09

    length = step_length(slope, -1.0)
    # the function falls by 0.01, then rises by 0.09 for each unit
    assert length == 1.0 or min(length, 0.01) >= 0.09 * max(length - 0.01, 0.0)
    calls = []

    def later(x):
        calls.append(x)
        return 5.0 if x > 0.5 else slope(x)

    length = step_length(later, -1.0)
    assert 0.09 * max(length - 0.01, 0.0) < 0.01


def test_directions_that_do_not_descend_are_not_taken():
    assert step_length(lambda x: x, 0.0) == 0.0
    assert step_length(lambda x: 1.0 + x, 1.0) == 0.0


def test_quadratic_functions_take_a_whole_step():
    calls = []

    def slope(x):
        calls.append(x)
        return x - 1.0

    assert step_length(slope, -1.0) == 1.0
    assert calls == [1.0]
