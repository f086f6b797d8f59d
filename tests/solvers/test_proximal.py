"""Proximal Newton steps on a block: the optimum, whatever the scale of the kernel."""

import numpy as np
import pytest

from pairity import Pairs, PairSVC, PairSVR
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Gaussian, Linear
from pairity.losses import epsilon_insensitive, hinge
from pairity.solvers import proximal
from pairity.solvers.polish import Block
from pairity.solvers.proximal import settle


def block_of(n, scale, *, regression, with_bias, seed=0):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, 6))
    stiff = rows * np.geomspace(1.0, scale, 6)
    gram = np.exp(-0.5 * np.square(rows[:, None] - rows).sum(axis=2)) + stiff @ stiff.T
    signal = rows @ generator.normal(size=6) + generator.normal(size=n)
    weights = generator.uniform(0.5, 20.0, size=n)
    outside = 0.1 * generator.normal(size=n)
    losses = {
        True: epsilon_insensitive(signal, weights, 0.1),
        False: hinge(np.sign(signal), weights),
    }
    loss = losses[regression]
    return Block(gram, outside, loss, 0.0 if with_bias else None)


def violation_of(block, theta):
    """By the conditions themselves, variable by variable."""
    decisions = block.gram @ theta + block.outside
    loss = block.loss
    low, high = -np.inf, np.inf
    for k, t in enumerate(theta):
        assert loss.low[k] <= t <= loss.high[k]
        if t < loss.high[k]:
            low = max(low, (loss.below[k] if t < 0 else loss.above[k]) - decisions[k])
        if t > loss.low[k]:
            high = min(high, (loss.above[k] if t > 0 else loss.below[k]) - decisions[k])
    return low - high if block.total is not None else max(low, -high)


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_the_conditions_of_optimality_hold(scale, regression, with_bias):
    block = block_of(200, scale, regression=regression, with_bias=with_bias)
    theta = settle(block, np.zeros(200), 1e-3)
    assert violation_of(block, theta) <= 1e-3
    if with_bias:
        assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()


@pytest.mark.parametrize("most", [1, 2, 4, 8])
@pytest.mark.parametrize("regression", [False, True])
def test_sums_stay_where_steps_are_cut_short(most, regression, monkeypatch):
    monkeypatch.setattr(proximal, "_MOST_STEPS", most)
    for seed in range(4):
        block = block_of(60, 1e3, regression=regression, with_bias=True, seed=seed)
        theta = settle(block, np.zeros(60), 1e-9)
        assert theta.any()
        assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()


def test_nothing_free():
    """Weights so small that every variable is on a bound."""
    block = block_of(30, 1.0, regression=False, with_bias=False)
    small = Block(block.gram, block.outside, block.loss.times(1e-6), None)
    theta = settle(small, np.zeros(30), 1e-3)
    assert violation_of(small, theta) <= 1e-3
    np.testing.assert_allclose(np.abs(theta), small.loss.weights)


def stiff_pairs(n_objects, n_pairs, top):
    generator = np.random.default_rng(1)
    scales = np.array([1e-3, 1.0, 1.0, top])
    objects = generator.normal(size=(n_objects, 4)) * scales
    every = Pairs.complete(objects)
    pairs = every[generator.permutation(len(every))[:n_pairs]]
    strength = (objects / scales) @ [1.0, 1.0, 0.5, 0.5]
    noise = 0.5 * generator.normal(size=n_pairs)
    return pairs, strength[pairs.first] - strength[pairs.second] + noise


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize(("n_objects", "n_pairs", "top"), [(60, 900, 1e3), (100, 3200, 1e2)])
def test_sums_of_kernels_on_raw_columns_reach_their_certificate(C, n_objects, n_pairs, top):
    pairs, margins = stiff_pairs(n_objects, n_pairs, top)
    kernel = Gaussian(top) + Linear()
    model = PairSVC("antisymmetric", kernel=kernel, C=C)
    model.fit(pairs, np.sign(margins))
    assert model.certificate_.holds
    assert (model.decision_function(pairs) == -model.decision_function(pairs.swap())).all()


def test_regression_and_a_bias():
    pairs, margins = stiff_pairs(60, 900, 1e3)
    even = PairSVC("symmetric", kernel=Gaussian(1e3) + Linear(), C=10.0)
    assert even.fit(pairs, np.sign(np.abs(margins) - 1.0)).certificate_.holds
    odd = PairSVR("antisymmetric", kernel=Gaussian(1e3) + Linear(), C=10.0)
    assert odd.fit(pairs, margins).certificate_.holds


def test_columns_beside_which_the_rest_is_rounding_are_said_soon():
    """A column of 1e6: rounding moves decisions by a hundredth of the margin, whatever is tried."""
    generator = np.random.default_rng(0)
    scales = np.array([1e-3, 1e-1, 1.0, 10.0, 1e3, 1e6])
    objects = generator.normal(size=(300, 6)) * scales
    first = generator.integers(0, 300, 4000)
    second = (first + generator.integers(1, 300, 4000)) % 300
    strength = (objects / scales) @ generator.normal(size=6)
    wins = np.sign(strength[first] - strength[second] + generator.normal(size=4000))
    model = PairSVC("antisymmetric", kernel=0.5 * Gaussian(1e3) + 0.5 * Linear())
    with pytest.warns(ConvergenceWarning, match=r"rounding .* centre or standardise the features"):
        model.fit(Pairs(objects, first, second), wins)
    assert model.certificate_.rounding > 1e-2
    assert model.n_iter_ < 500_000  # 2 million, and a minute, before anybody looked
