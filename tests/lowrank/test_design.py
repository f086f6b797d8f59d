"""Decisions and their adjoint against whole matrices of pair features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from low_rank_twins import pair_features
from pairity.kernels import Additive, Linear, Polynomial, Product
from pairity.pairs.parity import Parity
from pairity.solvers.low_rank.design import Design, arrange
from pairity.solvers.low_rank.form import group_columns, read_form

EVEN, ODD = Parity.EVEN, Parity.ODD
KERNELS = {
    "product": Product(Linear()),
    "additive": Additive(Polynomial(2)),
    "line": Linear(),
    "two products": Product(Linear()) + 0.5 * Product(Polynomial(2)),
    "all": 2.0 * Product(Linear()) + 0.5 * Additive(Polynomial(2)) + Additive(Linear()) + Linear(),
}
for_each = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
for_parities = pytest.mark.parametrize("parity", [EVEN, ODD])
seeds = st.integers(0, 10**6)
#: Largest error of single precision beside the largest sum of absolute terms.
SINGLE = 1e-5


def made(kernel, parity, seed, n=15, m=6):
    """Design, pairs in order, group columns, and the whole matrix of pair features."""
    pairs = cases.random_pairs(seed, n=n, m=m)
    form = read_form(kernel, parity, pairs.n_symmetric, pairs.n_antisymmetric)
    tables = tuple(k1.explicit(pairs.objects).astype(np.float32) for k1 in form.kernels)
    order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
    ordered = pairs[came_from]
    group = group_columns(form, ordered)
    psi = pair_features(form, ordered, [table.astype(np.float64) for table in tables])
    return Design(form, tables, group.shape[1]), order, group, psi


def parameters_of(design, seed):
    """Random ones; matrices are even or odd, as all that a fit makes are."""
    w = np.random.default_rng(seed).normal(size=design.layout.size)
    for matrix in design.layout.matrices(w):
        matrix[:] = (matrix + design.form.parity.sign * matrix.T) / 2.0
    return w


@for_each
@for_parities
@given(seed=seeds)
def test_decisions_are_products_with_pair_features(kernel, parity, seed):
    design, order, group, psi = made(kernel, parity, seed)
    w = parameters_of(design, seed)
    found = design.decide(design.images(w, np.float64), order, group)
    np.testing.assert_allclose(found, psi @ w, rtol=0.0, atol=1e-12 * np.abs(psi).max() * len(w))
    assert found.dtype == np.float64
    single = design.decide(design.images(w, np.float32), order, group)
    size = np.abs(psi) @ np.abs(w)
    assert (np.abs(single - psi @ w) <= SINGLE * size.max()).all()


@for_each
@for_parities
@given(seed=seeds)
def test_gathering_is_the_transpose(kernel, parity, seed):
    design, order, group, psi = made(kernel, parity, seed)
    theta = np.random.default_rng(seed).normal(size=len(order))
    expected, size = psi.T @ theta, np.abs(psi).T @ np.abs(theta)
    found = design.gather(theta, order, group, np.float64)
    assert (np.abs(found - expected) <= 1e-13 * size + 1e-14).all()
    single = design.gather(theta, order, group, np.float32)
    assert (np.abs(single - expected) <= SINGLE * size.max()).all()


@for_each
@for_parities
@given(seed=seeds)
def test_the_two_directions_are_adjoint(kernel, parity, seed):
    """``<A w, theta> = <w, A' theta>``."""
    design, order, group, psi = made(kernel, parity, seed)
    w = parameters_of(design, seed)
    theta = np.random.default_rng([seed, 1]).normal(size=len(order))
    forth = design.decide(design.images(w, np.float64), order, group) @ theta
    back = w @ design.gather(theta, order, group, np.float64)
    assert forth == pytest.approx(back, rel=1e-11, abs=1e-12 * np.abs(psi).sum())


@for_each
@for_parities
def test_gathered_matrices_have_the_parity(kernel, parity):
    design, order, group, _ = made(kernel, parity, 3)
    gathered = design.gather(np.arange(1.0, len(order) + 1.0), order, group, np.float64)
    for matrix in design.layout.matrices(gathered):
        assert np.array_equal(matrix.T, parity.sign * matrix)


@for_parities
def test_zero_parameters_need_no_products(parity):
    """A step along the bias alone, and the function 0."""
    design, order, group, _ = made(KERNELS["all"], parity, 3)
    w = np.zeros(design.layout.size)
    if parity is EVEN:
        w[-1] = 2.0
    images = design.images(w)
    assert images.matrices == [None]
    assert images.strength is None
    assert design.decide(images, order, group).tolist() == [w[-1]] * len(order)


@for_each
@for_parities
@pytest.mark.parametrize("n", [0, 1])
def test_no_pair_and_one_pair(kernel, parity, n):
    design, order, group, psi = made(kernel, parity, 4, n=2)
    kept = np.arange(2) < n
    order, group, psi = order.keep(kept), group[kept], psi[kept]
    w = parameters_of(design, 1)
    found = design.decide(design.images(w, np.float64), order, group)
    np.testing.assert_allclose(found, psi @ w, rtol=1e-12, atol=1e-12)
    gathered = design.gather(np.ones(n), order, group, np.float64)
    np.testing.assert_allclose(gathered, psi.sum(axis=0) if n else 0.0 * gathered, atol=1e-12)


@for_parities
def test_objects_without_features(parity):
    """Tables of no columns, as constant features leave behind."""
    design, order, group, _ = made(Product(Linear()), parity, 3)
    empty = Design(design.form, (np.zeros((6, 0), dtype=np.float32),), 0)
    w = np.full(empty.layout.size, 0.5)
    found = empty.decide(empty.images(w, np.float64), order, group)
    assert found.tolist() == [0.5 if parity is EVEN else 0.0] * len(order)
    assert len(empty.gather(found, order, group)) == int(parity is EVEN)


def test_layout_is_in_the_order_of_blocks():
    design, _, _, _ = made(KERNELS["all"], EVEN, 3)
    layout = design.layout
    w = np.arange(float(layout.size))
    flat = [part.ravel() for part in layout.matrices(w)]
    flat += [*layout.strengths(w), layout.group(w), [layout.bias(w)]]
    assert np.concatenate(flat).tolist() == w.tolist()
    assert layout.norm_counted().tolist() == [1.0] * (layout.size - 1) + [0.0]
