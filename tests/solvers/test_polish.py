"""The exact finish: against a long run of steps, and by its own optimality conditions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pairity.losses import epsilon_insensitive, hinge
from pairity.solvers.polish import Block, polish

LOSSES = ["hinge", "epsilon", "absolute"]


def loss_of(kind, rng, n):
    if kind == "hinge":
        return hinge(np.where(rng.random(n) < 0.5, -1.0, 1.0), np.full(n, 1.5))
    return epsilon_insensitive(rng.normal(size=n), np.full(n, 0.4), 0.2 * (kind == "epsilon"))


def block(seed, has_bias, kind="hinge", n=30):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    return Block(
        gram=factor @ factor.T / n + 0.05 * np.eye(n),
        outside=0.1 * rng.normal(size=n),
        loss=loss_of(kind, rng, n),
        total=0.0 if has_bias else None,
    )


def violation(part, theta):
    """Plain: by how much a variable could still improve, written out case by case."""
    values = part.gram @ theta + part.outside
    rise, fall = [-np.inf], [np.inf]
    loss = part.loss
    for i, t in enumerate(theta):
        if t < loss.high[i] - 1e-12:
            rise.append((loss.below[i] if t < -1e-12 else loss.above[i]) - values[i])
        if t > loss.low[i] + 1e-12:
            fall.append((loss.above[i] if t > 1e-12 else loss.below[i]) - values[i])
    return max(rise) - min(fall) if part.total is not None else max(0.0, max(rise), -min(fall))


def rough_optimum(part):
    """A few digits of the optimum, from a general-purpose optimiser: theta = plus - minus."""
    loss, n = part.loss, len(part.loss)

    def objective(both):
        theta = both[:n] - both[n:]
        linear = part.outside @ theta - loss.above @ both[:n] + loss.below @ both[n:]
        return 0.5 * theta @ part.gram @ theta + linear

    def slope(both):
        values = part.gram @ (both[:n] - both[n:]) + part.outside
        return np.concatenate([values - loss.above, loss.below - values])

    total = {"type": "eq", "fun": lambda both: both[:n].sum() - both[n:].sum()}
    found = minimize(
        objective,
        np.zeros(2 * n),
        jac=slope,
        bounds=[(0.0, bound) for bound in np.concatenate([loss.high, -loss.low])],
        constraints=[] if part.total is None else [total],
        method="SLSQP",
        options={"ftol": 1e-7, "maxiter": 200},
    ).x
    theta = found[:n] - found[n:]
    for bound in (loss.low, loss.high, np.zeros(n)):
        theta = np.where(np.abs(theta - bound) < 1e-4, bound, theta)
    return theta


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_is_exact_from_a_good_guess(seed, kind, has_bias):
    part = block(seed, has_bias, kind)
    guess = rough_optimum(part)
    theta = polish(part, guess)
    assert theta is not None
    assert (theta >= part.loss.low - 1e-12).all()
    assert (theta <= part.loss.high + 1e-12).all()
    assert violation(part, theta) < 1e-9
    np.testing.assert_allclose(theta, guess, atol=1e-2)
    if has_bias:
        assert theta.sum() == pytest.approx(0.0, abs=1e-12)


def test_nothing_free_at_first():
    part = block(0, False)
    from_below = polish(part, part.loss.low)
    assert from_below is not None
    assert violation(part, from_below) < 1e-9


def test_nothing_free_with_a_bias_gives_up():
    part = block(0, True)
    assert polish(part, part.loss.low) is None


def test_a_matrix_that_cannot_be_factored_gives_up():
    part = block(0, False)
    broken = Block(-part.gram, part.outside, part.loss, None)
    assert polish(broken, 0.5 * (part.loss.low + part.loss.high)) is None
