"""Along chains of moments: products, systems and variances are those of the dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import naive_time
from pairity import Pairs
from pairity.kernels import Additive, Drift, Gaussian, Identity, Linear
from pairity.kernels.classes import project
from pairity.kernels.drift import KINDS
from pairity.operators.blockwise import operator_of
from pairity.operators.chain_operator import ChainOperator, chain_operator
from pairity.operators.chains import Chains, split_kernel
from pairity.pairs.parity import Parity

MORE = {"periodic": {"period": 30.0}, "wiener": {"origin": 5.0}}
PARITIES = [Parity.ODD, Parity.EVEN, None]


def drift_of(kind, lengthscale=12.0):
    return Drift(lengthscale, kind, **MORE.get(kind, {}))


def pairs_at_times(seed, n=50, m=7, start=0.0, stop=100.0):
    """Named objects that meet several times a day, with one antisymmetric feature."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    times = np.round(rng.uniform(start, stop, size=n))
    names = np.array([f"object {row}" for row in range(m)])
    objects = sp.csr_array(sp.identity(m, format="csr"))
    return Pairs(objects, first, second, None, rng.normal(size=(n, 1)), ids=names, time=times)


def kernels(kind):
    time = drift_of(kind)
    return [
        Additive(Identity()) * time,
        Additive(Identity()) * (time + 0.3 * Drift(90.0)) + 2.0 * Additive(Identity()),
        Additive(Identity() * time) + 0.1 * Linear(),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parity", PARITIES)
def test_products_rows_and_diagonals_are_those_of_the_formula(kind, parity):
    left, right = pairs_at_times(0), pairs_at_times(1, n=30, start=-10.0, stop=130.0)
    vector = np.random.default_rng(2).normal(size=len(left))
    for kernel in kernels(kind):
        kernel = project(kernel, parity, left)
        square, across = chain_operator(kernel, left), chain_operator(kernel, right, left)
        gram, crossed = kernel.gram(left), kernel.gram(right, left)
        close = {"rtol": 1e-11, "atol": 1e-11}
        np.testing.assert_allclose(square.product(vector), gram @ vector, **close)
        np.testing.assert_allclose(square.block(slice(None), slice(None)), gram, **close)
        np.testing.assert_allclose(square.rows(np.array([3, 1])), gram[[3, 1]], **close)
        np.testing.assert_allclose(square.diagonal(), np.diagonal(gram), **close)
        plain, mirrored = across.products(vector, mirrored=True)
        np.testing.assert_allclose(plain, crossed @ vector, **close)
        np.testing.assert_allclose(mirrored, kernel.gram(right.swap(), left) @ vector, **close)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_observed_with_noise(kind):
    pairs = pairs_at_times(3)
    form = split_kernel(Additive(Identity()) * (drift_of(kind) + 0.5 * Drift(40.0)), 0, 1).form
    chains = Chains.of(form, pairs, pairs)
    first, second = (
        naive_time.drift(kind, 12.0, **MORE.get(kind, {})),
        naive_time.drift("exponential", 40.0),
    )
    same = chains.chain_of[:, None] == chains.chain_of
    times = chains.times.tolist()
    values = np.array([[first(t, u) + 0.5 * second(t, u) for u in times] for t in times])
    covariance = np.where(same, values, 0.0)
    noise = np.random.default_rng(4).uniform(0.1, 2.0, size=len(chains))
    noisy, inverse = chains.with_noise(noise), np.linalg.inv(covariance + np.diag(noise))
    right = np.random.default_rng(5).normal(size=len(chains))
    np.testing.assert_allclose(chains.prior, np.diagonal(covariance), rtol=1e-12)
    np.testing.assert_allclose(noisy.solve(right), inverse @ right, rtol=1e-9, atol=1e-11)
    for row in (0, 7, len(chains) - 1):  # by the formula of a Gaussian given all others
        others = np.flatnonzero(np.arange(len(chains)) != row)
        across = covariance[row, others]
        known = np.linalg.solve((covariance + np.diag(noise))[np.ix_(others, others)], across)
        left_over = covariance[row, row] - across @ known
        assert noisy.variances_from_others()[row] == pytest.approx(left_over, rel=1e-9)


def test_which_kernels_go_along_chains():
    pairs, time = pairs_at_times(6), Drift(10.0)
    along = [Additive(Identity()) * time, Additive(Identity()) * time + Linear()]
    others = [
        Additive(Gaussian(1.0)) * time,
        Additive(Identity()) * time * time,
        Additive(Identity()) * time + Additive(Gaussian(1.0)),
        Additive(Identity()),
    ]
    assert all(type(operator_of(kernel, pairs)) is ChainOperator for kernel in along)
    assert not any(isinstance(operator_of(kernel, pairs), ChainOperator) for kernel in others)


def test_one_pair_and_pairs_of_an_object_with_itself():
    alone = Pairs(np.zeros((1, 0)), [0, 0], [0, 0], ids=["a"], time=[1.0, 4.0])
    for parity in PARITIES:
        kernel = (Additive(Identity()) * Drift(2.0)) if parity is None else None
        kernel = kernel or project(Additive(Identity()) * Drift(2.0), parity, alone)
        operator, gram = chain_operator(kernel, alone), kernel.gram(alone)
        np.testing.assert_allclose(operator.product(np.ones(2)), gram @ np.ones(2), atol=1e-15)
        np.testing.assert_allclose(operator.diagonal(), np.diagonal(gram), atol=1e-15)
