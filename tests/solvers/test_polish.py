"""The exact finish: against a long run of steps, and by its own optimality conditions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pairity.solvers.polish import Block, polish


def block(seed, has_bias, n=30):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    labels = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    bound = labels * 1.5
    return Block(
        gram=factor @ factor.T / n + 0.05 * np.eye(n),
        outside=0.1 * rng.normal(size=n),
        labels=labels,
        low=np.minimum(0.0, bound),
        high=np.maximum(0.0, bound),
        total=0.0 if has_bias else None,
    )


def violation(part, theta):
    residual = part.labels - part.gram @ theta - part.outside
    rise = residual[theta < part.high - 1e-12]
    fall = residual[theta > part.low + 1e-12]
    if part.total is not None:
        return rise.max() - fall.min()
    return max(rise.max(initial=0.0), -fall.min(initial=0.0))


def rough_optimum(part):
    """A few digits of the optimum, from a general-purpose optimiser."""
    labels = part.labels

    def objective(theta):
        return 0.5 * theta @ part.gram @ theta + (part.outside - labels) @ theta

    constraints = [] if part.total is None else [{"type": "eq", "fun": np.sum}]
    found = minimize(
        objective,
        np.zeros(len(labels)),
        jac=lambda theta: part.gram @ theta + part.outside - labels,
        bounds=list(zip(part.low, part.high, strict=True)),
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-7, "maxiter": 200},
    ).x
    near = 1e-4
    found = np.where(found - part.low < near, part.low, found)
    return np.where(part.high - found < near, part.high, found)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_is_exact_from_a_good_guess(seed, has_bias):
    part = block(seed, has_bias)
    guess = rough_optimum(part)
    theta = polish(part, guess)
    assert theta is not None
    assert (theta >= part.low - 1e-12).all()
    assert (theta <= part.high + 1e-12).all()
    assert violation(part, theta) < 1e-9
    np.testing.assert_allclose(theta, guess, atol=1e-2)
    if has_bias:
        assert theta.sum() == pytest.approx(0.0, abs=1e-12)


def test_nothing_free_at_first():
    part = block(0, False)
    from_below = polish(part, part.low)
    assert from_below is not None
    assert violation(part, from_below) < 1e-9


def test_nothing_free_with_a_bias_gives_up():
    part = block(0, True)
    assert polish(part, part.low) is None


def test_a_matrix_that_cannot_be_factored_gives_up():
    part = block(0, False)
    broken = Block(-part.gram, part.outside, part.labels, part.low, part.high, None)
    assert polish(broken, 0.5 * (part.low + part.high)) is None
