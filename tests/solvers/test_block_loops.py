"""Steps on a Gram block, segment by segment: they end where the plain problem has its minimum."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pairity.losses import epsilon_insensitive, hinge
from pairity.solvers._block_loops import (
    SEGMENT,
    new_state,
    pair_steps_on_block,
    single_steps_on_block,
)

LOOPS = {"single": single_steps_on_block, "pair": pair_steps_on_block}


def problem(n, kind, dtype=np.float64):
    """A Gram block, losses, and a start that is feasible with and without a bias."""
    generator = np.random.default_rng(n)
    features = generator.normal(size=(n, 7))
    block = (features @ features.T / 7.0 + np.eye(n)).astype(dtype)
    targets = np.sign(features[:, 0] + 0.5 * generator.normal(size=n))
    if kind == "epsilon":
        return block, epsilon_insensitive(targets + features[:, 1], np.full(n, 0.7), 0.2)
    return block, hinge(targets, np.full(n, 0.7))


def solved(loop, block, loss, tol, most=10**7, calls_of=10**7):
    theta, values = np.zeros(len(loss)), np.zeros(len(loss))
    pieces, state = (loss.low, loss.high, loss.below, loss.above), new_state(len(loss))
    total, ended = 0, False
    while not ended and total < most:
        steps, ended = LOOPS[loop](block, values, theta, pieces, tol, state, calls_of)
        total += steps
    assert ended
    return theta, values


@pytest.mark.parametrize("kind", ["hinge", "epsilon"])
@pytest.mark.parametrize("n", [1, 2, 40, SEGMENT, SEGMENT + 1, 3 * SEGMENT + 5])
@pytest.mark.parametrize("loop", LOOPS)
def test_no_variable_is_further_off_than_the_tolerance(loop, n, kind):
    block, loss = problem(n, kind)
    theta, values = solved(loop, block, loss, 1e-9)
    assert values == pytest.approx(block @ theta, abs=1e-9)
    assert (theta >= loss.low).all()
    assert (theta <= loss.high).all()
    rise, fall = loss.targets(theta)
    if loop == "single":
        assert max((rise - values).max(), (values - fall).max()) <= 2e-9
    else:
        assert theta.sum() == pytest.approx(0.0, abs=1e-12 * n)
        assert (rise - values).max() - (fall - values).min() <= 2e-9


@pytest.mark.parametrize("loop", LOOPS)
def test_the_minimum_is_that_of_a_general_solver(loop):
    block, loss = problem(12, "hinge")
    theta, _ = solved(loop, block, loss, 1e-10)

    def objective(t):
        return 0.5 * t @ block @ t - loss.above @ t

    sums = [{"type": "eq", "fun": np.sum}] if loop == "pair" else []
    bounds = list(zip(loss.low, loss.high, strict=True))
    best = minimize(objective, np.zeros(12), bounds=bounds, constraints=sums, tol=1e-13)
    assert objective(theta) == pytest.approx(best.fun, abs=1e-7)


@pytest.mark.parametrize("loop", LOOPS)
def test_calls_may_be_cut_anywhere(loop):
    block, loss = problem(2 * SEGMENT + 3, "hinge", np.float32)
    whole, _ = solved(loop, block, loss, 1e-4)
    cut, _ = solved(loop, block, loss, 1e-4, calls_of=7)
    assert np.array_equal(cut, whole)
