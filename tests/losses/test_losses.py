"""Every loss against brute force: conjugate, prox, bias, violation, and the laws of its rows.

Numbers are multiples of 1/8 (weights of powers of 2): sums and products of them are exact, so that
ties and resting places are met exactly, and equality means ``==``.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pairity.losses import Logistic, PiecewiseLinear, Squared, epsilon_insensitive, hinge

LINEAR = ["hinge", "epsilon", "absolute"]
KINDS = [*LINEAR, "squared", "logistic"]
SMOOTH = ["squared", "logistic"]

eighths = st.integers(-24, 24).map(lambda k: k / 8)
weights = st.sampled_from([0.25, 0.5, 1.0, 2.0])
signs = st.sampled_from([-1.0, 1.0])
steps = st.sampled_from([0.125, 0.5, 1.0, 4.0])
for_each = pytest.mark.parametrize("kind", KINDS)


def loss_of(kind, targets, weights):
    """Losses of these targets; classifiers take their signs."""
    targets, weights = np.asarray(targets, dtype=float), np.asarray(weights, dtype=float)
    labels = np.where(targets > 0, 1.0, -1.0)
    return {
        "hinge": lambda: hinge(labels, weights),
        "epsilon": lambda: epsilon_insensitive(targets, weights, 0.25),
        "absolute": lambda: epsilon_insensitive(targets, weights, 0.0),
        "squared": lambda: Squared(targets, weights),
        "logistic": lambda: Logistic(labels, weights),
    }[kind]()


def plain_value(kind, target, weight, decision):
    """The loss as books write it."""
    label = 1.0 if target > 0 else -1.0
    return (
        weight
        * {
            "hinge": max(0.0, 1.0 - label * decision),
            "epsilon": max(0.0, abs(target - decision) - 0.25),
            "absolute": abs(target - decision),
            "squared": 0.5 * (target - decision) ** 2,
            "logistic": np.log1p(np.exp(-label * decision)),
        }[kind]
    )


def domain(kind, target, weight):
    """Interval of a dual variable; the squared loss has none, so one that is wide enough."""
    label = 1.0 if target > 0 else -1.0
    if kind in ("hinge", "logistic"):
        return min(0.0, label * weight), max(0.0, label * weight)
    return (-weight, weight) if kind in LINEAR else (-16.0, 16.0)


def rows(least=1, most=6):
    row = st.tuples(eighths, weights, eighths)
    return st.lists(row, min_size=least, max_size=most).map(lambda table: np.array(table).T)


def one(number):
    return np.array([number], dtype=float)


# Value, conjugate, prox -------------------------------------------------------------------------


@for_each
@given(table=rows())
def test_value_is_that_of_the_books(kind, table):
    targets, c, decisions = table
    loss, close = loss_of(kind, targets, c), {"rtol": 1e-14, "atol": 1e-15}
    expected = [plain_value(kind, *row) for row in table.T]
    np.testing.assert_allclose(loss.value(decisions), expected, **close)
    of_zero = [plain_value(kind, *row[:2], 0.0) for row in table.T]
    np.testing.assert_allclose(loss.at_zero(), of_zero, **close)


@for_each
@given(table=rows(), moved=eighths)
def test_sums_are_those_of_single_rows(kind, table, moved):
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    theta = loss.snapped(loss.prox(np.full(len(c), moved), 1.0))
    terms = loss.value(decisions), loss.at_zero(), loss.conjugate(theta)
    expected = [term.sum() for term in terms]
    np.testing.assert_allclose(loss.sums(theta, decisions), expected, rtol=1e-13, atol=1e-13)


def test_logistic_violation_is_the_largest_difference_of_probabilities():
    rng = np.random.default_rng(0)
    labels, c = rng.choice([-1.0, 1.0], 300), rng.uniform(0.1, 3.0, 300)
    c[::7] = 0.0  # of no account
    loss, decisions = Logistic(labels, c), 3.0 * rng.normal(size=300)
    theta = labels * c * rng.uniform(0.0, 1.0, 300)
    counted = c > 0.0
    shares = (labels * theta)[counted] / c[counted]
    expected = np.abs(shares - 1.0 / (1.0 + np.exp(labels * decisions)[counted])).max()
    assert loss.violation(theta, decisions) == pytest.approx(expected, rel=1e-13)
    assert np.isfinite(loss.sums(theta, decisions)).all()
    theta[1] = np.nan  # no number is no small violation
    assert not loss.violation(theta, decisions) <= 1.0
    assert np.isnan(loss.sums(theta, decisions)[2])


@for_each
@given(target=eighths, weight=weights, decision=eighths)
def test_fenchel_value_is_the_largest_of_the_dual(kind, target, weight, decision):
    """loss(f) = max over theta of -theta f - h(theta)."""
    low, high = domain(kind, target, weight)
    grid = np.linspace(low, high, 4097)
    loss = loss_of(kind, np.full(len(grid), target), np.full(len(grid), weight))
    below = -grid * decision - loss.conjugate(grid)
    value = plain_value(kind, target, weight, decision)
    assert below.max() <= value + 1e-12
    # off the grid by at most half a step: the gap there is quadratic, with these curvatures
    curvature = {"squared": 1.0 / weight, "logistic": 1e3}.get(kind, 0.0)
    slack = 0.5 * curvature * ((high - low) / 4096) ** 2 + 1e-12
    assert below.max() >= value - slack


@for_each
@given(target=eighths, weight=weights, point=eighths, step=steps)
def test_prox_is_the_minimiser(kind, target, weight, point, step):
    loss = loss_of(kind, one(target), one(weight))
    low, high = domain(kind, target, weight)

    def objective(theta):
        return float(loss.conjugate(one(theta))[0]) + (theta - point) ** 2 / (2.0 * step)

    best = float(loss.prox(one(point), step)[0])
    assert low <= best <= high
    found = minimize_scalar(
        objective, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    ends = [objective(theta) for theta in (low, high, 0.0)]
    assert objective(best) <= min(found.fun, *ends) + 1e-12
    if min(ends) > found.fun:  # a bounded search keeps off the ends and may miss a bend
        assert best == pytest.approx(found.x, abs=1e-5)


@for_each
@given(table=rows(), step=steps)
def test_prox_rests_where_the_violation_is_zero(kind, table, step):
    """Moreau: at t = prox(p) the decision (t - p) / step is a resting one."""
    targets, c, points = table
    loss = loss_of(kind, targets, c)
    theta = loss.prox(points, step)
    assert loss.violation(theta, (theta - points) / step) <= 1e-14


# Violation and the gap ---------------------------------------------------------------------------


def gap(loss, theta, decisions):
    return loss.value(decisions) + loss.conjugate(theta) + theta * decisions


@pytest.mark.parametrize("kind", [*LINEAR, "squared"])
@given(target=eighths, weight=weights, decision=eighths, share=st.integers(0, 8))
def test_violation_is_zero_exactly_where_the_gap_is(kind, target, weight, decision, share):
    low, high = domain(kind, target, weight)
    theta = one(low + (high - low) * share / 8)
    loss = loss_of(kind, one(target), one(weight))
    at_rest = gap(loss, theta, one(decision))[0] == 0.0
    assert (loss.violation(theta, one(decision)) == 0.0) == at_rest
    assert gap(loss, theta, one(decision))[0] >= 0.0


@pytest.mark.parametrize("kind", LINEAR)
@given(target=eighths, weight=weights)
def test_resting_places_of_bounds_bends_and_pieces(kind, target, weight):
    """From the subgradient of the loss as books write it: which decisions suit which theta."""
    loss = loss_of(kind, one(target), one(weight))
    low, high = domain(kind, target, weight)
    h = 1 / 64
    bends = {"hinge": [1.0, -1.0], "epsilon": [target - 0.25, target + 0.25]}.get(kind, [target])
    for decision in {bend + off for bend in bends for off in (-1.0, -0.125, 0.0, 0.125, 1.0)}:
        value = plain_value(kind, target, weight, decision)
        right = (plain_value(kind, target, weight, decision + h) - value) / h
        left = (value - plain_value(kind, target, weight, decision - h)) / h
        for share in (0, 1, 4, 7, 8):
            theta = low + (high - low) * share / 8
            suits = left <= -theta <= right
            assert (loss.violation(one(theta), one(decision)) == 0.0) == suits


@given(target=eighths, weight=weights, decision=eighths, off=st.integers(-8, 8))
def test_violation_of_the_logistic_loss(target, weight, decision, off):
    """0 at the derivative of the loss, and as far from 0 as theta (over its bound) is from that."""
    loss = loss_of("logistic", one(target), one(weight))
    label = 1.0 if target > 0 else -1.0
    rest = label * weight / (1.0 + np.exp(label * decision))
    assert loss.violation(one(rest), one(decision)) <= 1e-15
    assert gap(loss, one(rest), one(decision))[0] == pytest.approx(0.0, abs=1e-14)
    np.testing.assert_allclose(loss.pull(one(decision)), rest, rtol=1e-14)
    moved = rest + off * weight / 64
    assume(off != 0 and 0.0 <= label * moved <= weight)
    assert loss.violation(one(moved), one(decision)) == pytest.approx(abs(off) / 64, rel=1e-12)
    assert gap(loss, one(moved), one(decision))[0] > 1e-6


@given(table=rows())
def test_slope_and_curvature_of_the_logistic_loss(table):
    targets, c, decisions = table
    loss, h = loss_of("logistic", targets, c), 1e-5
    slope = (loss.value(decisions + h) - loss.value(decisions - h)) / (2 * h)
    np.testing.assert_allclose(loss.pull(decisions), -slope, rtol=0, atol=1e-9)
    bend = (loss.pull(decisions - h) - loss.pull(decisions + h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(decisions), bend, rtol=0, atol=1e-9)


@for_each
@given(table=rows(least=2))
def test_violation_of_many_rows_is_that_of_the_worst(kind, table):
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    theta = (
        np.array(
            [domain(kind, target, weight)[0] for target, weight in zip(targets, c, strict=True)]
        )
        / 2
    )
    alone = [
        loss_of(kind, one(target), one(weight)).violation(one(t), one(decision))
        for target, weight, decision, t in zip(*table, theta, strict=True)
    ]
    if kind == "squared":  # a norm, relative to that of the targets
        absolute = [v * (abs(target) or 1.0) for v, target in zip(alone, targets, strict=True)]
        expected = np.linalg.norm(absolute) / (np.linalg.norm(targets) or 1.0)
        assert loss.violation(theta, decisions) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    else:
        assert loss.violation(theta, decisions) == max(alone)


# The bias -----------------------------------------------------------------------------------------


def couples():
    """Two rows each of equal weight, their duals opposite: sum(theta) = 0."""
    return st.lists(
        st.tuples(eighths, eighths, weights, st.integers(0, 4), st.integers(0, 2)),
        min_size=1,
        max_size=4,
    )


@pytest.mark.parametrize("kind", LINEAR)
@given(table=couples(), bias=eighths, data=st.data())
def test_interval_of_biases_is_where_the_primal_is_least(kind, table, bias, data):
    """At duals that suit some bias; brute force over all bends of the primal."""
    targets, c, theta = [], [], []
    for one_target, other, weight, share, _ in table:
        if kind == "hinge":
            one_target, other = 1.0, -1.0
        targets += [one_target, other]
        c += [weight, weight]
        theta += [weight * share / 4, -weight * share / 4]
    loss, theta = loss_of(kind, targets, c), np.array(theta)
    rise, fall = loss.targets(theta)
    # decisions at which theta rests: anywhere between the two targets, one of which is finite
    near = np.where(np.isfinite(rise), rise, fall - 2.0)
    far = np.where(np.isfinite(fall), fall, near + 2.0)
    places = data.draw(st.lists(st.integers(0, 2), min_size=len(theta), max_size=len(theta)))
    decisions = near + (far - near) * np.array(places) / 2
    values = decisions - bias

    low, high = loss.bias_interval(theta, values)
    assert low <= bias <= high
    bends = np.concatenate([loss.above - values, loss.below - values])
    primal = np.array([np.sum(loss.value(values + bend)) for bend in bends])
    best = bends[primal == primal.min()]
    assert (low, high) == (best.min(), best.max())


@pytest.mark.parametrize("kind", SMOOTH)
@given(table=rows(least=2))
def test_bias_of_smooth_losses_is_where_the_primal_is_least(kind, table):
    targets, c, values = table
    if kind == "logistic":
        assume((targets > 0).any() and (targets <= 0).any())
    loss = loss_of(kind, targets, c)
    low, high = loss.bias_interval(np.zeros(len(c)), values)
    assert low == high
    found = minimize_scalar(lambda bias: np.sum(loss.value(values + bias)), (-30.0, 30.0))
    assert np.sum(loss.value(values + low)) <= found.fun + 1e-12
    assert low == pytest.approx(found.x, abs=1e-5)


@pytest.mark.parametrize("offset", [0.0, 30.0, -1e3, 1e5])
def test_bias_of_the_logistic_loss_far_from_zero(offset):
    """Features that are not centred move all values: the bias moves back, and nothing else."""
    rng = np.random.default_rng(3)
    loss = loss_of("logistic", rng.normal(size=9), np.full(9, 2.0))
    values = 3.0 * rng.normal(size=9)
    centred, _ = loss.bias_interval(np.zeros(9), values)
    bias, same = loss.bias_interval(np.zeros(9), values + offset)
    assert bias == same
    assert bias + offset == pytest.approx(centred, abs=1e-9)
    assert loss.pull(values + offset + bias).sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("distance", [20.0, 300.0, 900.0])
def test_bias_of_the_logistic_loss_between_two_far_groups(distance):
    """No slope and no curvature to speak of: Newton's method alone would crawl or jump away.

    e^(-b) (1 + e) = e^(b - distance) up to e^(-distance / 2), so b = (distance + log(1 + e)) / 2.
    """
    loss = Logistic(np.array([1.0, 1.0, -1.0]), np.ones(3))
    bias, _ = loss.bias_interval(np.zeros(3), np.array([0.0, -1.0, -distance]) + 1.0)
    assert bias + 1.0 == pytest.approx((distance + np.log1p(np.e)) / 2.0, abs=1e-3)


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_bias_of_one_label_alone_settles_it(label):
    """As after weights that leave one class: every decision is beyond doubt."""
    loss = Logistic(np.array([label, label, -label]), np.array([1.0, 2.0, 0.0]))
    values = np.array([5.0, -300.0, 10.0])
    bias, _ = loss.bias_interval(np.zeros(3), values)
    assert np.isfinite(bias)
    assert loss.violation(np.zeros(3), values + bias) <= 1e-15
    assert loss.value(values + bias).sum() <= 1e-15


# Rows -------------------------------------------------------------------------------------------


@for_each
@given(table=rows(), factor=st.sampled_from([0.5, 2.0, 4.0]))
def test_times_multiplies_the_loss(kind, table, factor):
    """And theta with it: h of the multiplied loss at ``factor theta`` is ``factor h``."""
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    times = loss.times(factor)
    assert len(times) == len(loss)
    assert np.array_equal(times.value(decisions), factor * loss.value(decisions))
    theta = loss.prox(decisions, 1.0)
    np.testing.assert_allclose(
        times.conjugate(factor * theta), factor * loss.conjugate(theta), rtol=1e-12, atol=1e-15
    )
    assert times.violation(factor * theta, decisions) == pytest.approx(
        loss.violation(theta, decisions), rel=1e-12, abs=1e-15
    )


@for_each
@given(table=rows(), sign=signs)
def test_mirrored_rows_are_the_losses_of_signed_decisions(kind, table, sign):
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    mirrored = loss.with_mirrored(sign)
    n = len(loss)
    assert len(mirrored) == 2 * n
    both = np.concatenate([decisions, sign * decisions])
    assert np.array_equal(mirrored.value(both), np.tile(loss.value(decisions), 2))
    theta = loss.prox(decisions, 1.0)
    duals = np.concatenate([theta, sign * theta])
    assert np.array_equal(mirrored.conjugate(duals), np.tile(loss.conjugate(theta), 2))
    rounding = 1e-14 if kind == "logistic" else 0.0  # a bisection between other ends
    np.testing.assert_allclose(mirrored.prox(both, 1.0), duals, rtol=rounding, atol=0)
    assert mirrored.support(duals) == tuple(2 * count for count in loss.support(theta))


@pytest.mark.parametrize("kind", LINEAR)
@given(table=rows(), data=st.data())
def test_signed_losses(kind, table, data):
    """loss.signed(s) of f is loss of s f; twice is none; its duals are s theta."""
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    s = np.array(data.draw(st.lists(signs, min_size=len(c), max_size=len(c))))
    signed = loss.signed(s)
    assert np.array_equal(signed.value(decisions), loss.value(s * decisions))
    theta = loss.prox(decisions, 0.5)
    assert np.array_equal(signed.prox(s * decisions, 0.5), s * theta)
    assert np.array_equal(signed.conjugate(s * theta), loss.conjugate(theta))
    assert np.array_equal(signed.is_free(s * theta), loss.is_free(theta))
    twice = signed.signed(s)
    for name in ("low", "high", "below", "above"):
        assert np.array_equal(getattr(twice, name), getattr(loss, name))


@pytest.mark.parametrize("kind", LINEAR)
@given(table=rows(), data=st.data())
def test_taken_rows_are_those_rows(kind, table, data):
    targets, c, decisions = table
    places = st.lists(st.integers(0, len(c) - 1), max_size=8)
    index = np.array(data.draw(places), dtype=np.intp)
    taken = loss_of(kind, targets, c).take(index)
    fresh = loss_of(kind, targets[index], c[index])
    assert len(taken) == len(index)
    assert np.array_equal(taken.value(decisions[index]), fresh.value(decisions[index]))
    assert np.array_equal(taken.prox(decisions[index], 2.0), fresh.prox(decisions[index], 2.0))


@pytest.mark.parametrize("kind", LINEAR)
@given(table=rows())
def test_free_variables_rest_at_one_decision_only(kind, table):
    targets, c, decisions = table
    loss = loss_of(kind, targets, c)
    for theta in (loss.prox(decisions, 0.25), loss.low, loss.high, np.zeros(len(c))):
        rise, fall = loss.targets(theta)
        assert np.array_equal(loss.is_free(theta), rise == fall)
        assert (rise <= fall).all()


@for_each
@given(table=rows())
def test_support_counts(kind, table):
    targets, c, points = table
    loss = loss_of(kind, targets, c)
    theta = loss.prox(points, 1.0)
    bounded = 0
    if kind in LINEAR:
        ends = [domain(kind, target, weight) for target, weight in zip(targets, c, strict=True)]
        bounded = sum(t != 0 and t in end for t, end in zip(theta, ends, strict=True))
    assert loss.support(theta) == (np.count_nonzero(theta), bounded)


def test_scale_is_the_size_of_targets():
    assert hinge(np.array([1.0, -1.0]), np.ones(2)).scale == 1.0
    targets = np.array([3e6, -1e6])
    assert epsilon_insensitive(targets, np.ones(2), 5e5).scale == pytest.approx(2e6)
    assert epsilon_insensitive(np.zeros(2), np.ones(2), 0.0).scale == 1.0
    assert PiecewiseLinear(*np.zeros((4, 0))).scale == 1.0


@pytest.mark.parametrize("kind", [*LINEAR, "logistic"])
@given(table=rows())
def test_rows_of_weight_zero_count_for_nothing(kind, table):
    targets, c, decisions = table
    loss = loss_of(kind, targets, 0.0 * c)
    zeros = np.zeros(len(c))
    assert not loss.value(decisions).any()
    assert not loss.prox(decisions, 1.0).any()
    assert not loss.conjugate(zeros).any()
    assert loss.violation(zeros, decisions) == 0.0
    assert loss.support(zeros) == (0, 0)
