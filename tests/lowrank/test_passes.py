"""Sums over pairs, the bounds they give, and what they must agree with: whole matrices, other
solvers, the formula of the gap."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from low_rank_twins import (
    EXACT,
    LEARNERS,
    kernel_of,
    learner,
    pair_features,
    some_pairs,
    targets_of,
)
from pairity.losses import Logistic, Squared, epsilon_insensitive, hinge
from pairity.losses.piecewise import smoothed
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.low_rank.design import Design, PairChunk, arrange
from pairity.solvers.low_rank.form import group_columns, learn_map, read_form
from pairity.solvers.low_rank.minimise import bounds
from pairity.solvers.low_rank.passes import active_set, curve, join_active, slope, summarise

#: Symmetry, and whether there is a bias.
SETTINGS = [("symmetric", True), ("symmetric", False), ("antisymmetric", False)]
for_each = pytest.mark.parametrize("kind", LEARNERS)
for_settings = pytest.mark.parametrize(("symmetry", "with_bias"), SETTINGS)
seeds = st.integers(0, 10**6)
widths = st.sampled_from([2.0, 0.5, 0.03])


def loss_of(kind, y, c):
    if kind == "svr":
        return epsilon_insensitive(y, c, 0.1)
    return {"svc": hinge, "logistic": Logistic, "ridge": Squared}[kind](y.astype(float), c)


@lru_cache
def made(kind, symmetry, with_bias, group=True):
    """Design, chunk, whole matrix of pair features (norm and bias apart), losses."""
    pairs = some_pairs(group=group)
    y = targets_of(kind, pairs, symmetry)
    kernel = kernel_of(group).fitted_to(pairs)
    counts = pairs.n_symmetric, pairs.n_antisymmetric
    form = read_form(kernel, SYMMETRIES[symmetry], *counts, with_bias=with_bias)
    order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
    ordered = pairs[came_from]
    ends = np.ones(pairs.n_objects)
    tables = tuple(learn_map(k1, pairs.objects, ends, bilinear=True)[1] for k1 in form.kernels)
    columns = group_columns(form, ordered)
    loss = loss_of(kind, y[came_from], np.full(len(pairs), 2.0))
    psi = pair_features(form, ordered, [table.astype(np.float64) for table in tables])
    return Design(form, tables, columns.shape[1]), PairChunk(order, columns, loss), psi, loss


def point(design, seed, size=0.5):
    """Random parameters of the parity."""
    w = size * np.random.default_rng(seed).normal(size=design.layout.size)
    for matrix in design.layout.matrices(w):
        matrix[:] = (matrix + design.form.parity.sign * matrix.T) / 2.0
    return w


def sums_at(design, chunk, w, width):
    decisions = design.decide(design.images(w, np.float64), chunk.order, chunk.group)
    return summarise(chunk, design, decisions, width, np.float64)


@for_each
@for_settings
@settings(max_examples=10)
@given(seed=seeds, width=widths)
def test_sums_are_sums(kind, symmetry, with_bias, seed, width):
    """Each of them by a plain expression over all pairs."""
    design, chunk, psi, loss = made(kind, symmetry, with_bias)
    w = point(design, seed)
    f = psi @ w
    found, rounded = sums_at(design, chunk, w, width), smoothed(loss, width)
    theta = rounded.pull(f)
    assert found.loss == pytest.approx(loss.value(f).sum(), rel=1e-10)
    assert found.nothing == pytest.approx(loss.value(0.0 * f).sum(), rel=1e-12)
    assert found.rounded == pytest.approx(rounded.value(f).sum(), rel=1e-10)
    assert found.curvature == pytest.approx(rounded.curvature(f).sum(), rel=1e-9)
    sides = [theta <= 0, theta > 0] if with_bias else [np.ones(len(theta), dtype=bool)]
    for place, side in enumerate(sides):
        chosen = np.where(side, theta, 0.0)
        assert found.theta[place] == pytest.approx(np.abs(chosen).sum(), rel=1e-9, abs=1e-12)
        conjugate = np.where(side, loss.conjugate(theta), 0.0).sum()
        assert found.conjugate[place] == pytest.approx(conjugate, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(found.pulls[place], psi.T @ chosen, rtol=1e-8, atol=1e-8)
    assert (found.n_support, found.n_bounded) == loss.support(theta)


@for_each
@for_settings
@settings(max_examples=10)
@given(seed=seeds, cuts=st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_sums_of_chunks_add_up_to_those_of_the_whole(kind, symmetry, with_bias, seed, cuts):
    """Empty chunks among them."""
    design, chunk, _, loss = made(kind, symmetry, with_bias)
    w, places = point(design, seed), np.arange(len(chunk))
    whole = sums_at(design, chunk, w, 0.5)
    parts = []
    for start, stop in zip((0, *sorted(cuts)), (*sorted(cuts), len(chunk)), strict=True):
        kept = (places >= start) & (places < stop)
        part = PairChunk(chunk.order.keep(kept), chunk.group[kept], loss.take(places[kept]))
        parts.append(sums_at(design, part, w, 0.5))
    total = parts[0] + parts[1] + parts[2]
    for name in ("loss", "nothing", "rounded", "curvature", "theta", "conjugate", "pulls"):
        np.testing.assert_allclose(
            getattr(total, name), getattr(whole, name), rtol=1e-10, atol=1e-9
        )
    assert (total.n_support, total.n_bounded) == (whole.n_support, whole.n_bounded)


@lru_cache
def optimum(kind, symmetry, with_bias, group):
    """Ends of the interval that holds it, by another solver with the same kernel."""
    pairs = some_pairs(group=group)
    y = targets_of(kind, pairs, symmetry)
    options = {"fit_intercept": with_bias} if kind == "ridge" else {}
    kernel = kernel_of(group)
    model = learner(kind, symmetry, kernel, solver=EXACT[kind], tol=1e-8, **options)
    found = model.fit(pairs, y).certificate_
    assert found.relative_gap < 1e-5
    return -found.dual, found.primal


# Without a bias in the symmetric case there is ridge regression alone.
BOUNDED = [
    (kind, *setting)
    for kind in LEARNERS
    for setting in SETTINGS
    if kind == "ridge" or setting != ("symmetric", False)
]


@pytest.mark.parametrize(("kind", "symmetry", "with_bias"), BOUNDED)
@pytest.mark.parametrize("group", [False, True])
@settings(max_examples=15)
@given(seed=seeds, width=widths, size=st.sampled_from([0.0, 0.1, 1.0]))
def test_bounds_hold_at_any_point(kind, symmetry, with_bias, group, seed, width, size):
    """``primal >= optimum >= dual``; features of the model are rounded to single precision."""
    design, chunk, _, _ = made(kind, symmetry, with_bias, group)
    w = point(design, seed, size)
    found = bounds(sums_at(design, chunk, w, width), w, design.layout.norm_counted())
    low, high = optimum(kind, symmetry, with_bias, group)
    assert found.primal >= low * (1.0 - 1e-6)
    assert found.dual <= high * (1.0 + 1e-6)
    assert found.gap >= 0.0


@given(seed=seeds, width=widths)
@pytest.mark.parametrize(("symmetry", "with_bias"), [SETTINGS[1], SETTINGS[2]])
def test_gap_of_the_hinge_without_a_bias(symmetry, with_bias, seed, width):
    """``1/2 |g|^2 + sum of mu c t (1 - t)``, ``t = |theta| / c``: see
    ``pairity.solvers.low_rank.minimise``.
    """
    design, chunk, psi, loss = made("svc", symmetry, with_bias)
    w = point(design, seed)
    found = bounds(sums_at(design, chunk, w, width), w, design.layout.norm_counted())
    theta = smoothed(loss, width).pull(psi @ w)
    gradient = w - psi.T @ theta
    c = np.maximum(loss.high, -loss.low)
    t = np.abs(theta) / c
    expected = 0.5 * gradient @ gradient + np.sum(width * c * t * (1.0 - t))
    assert found.primal - found.dual == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-7, atol=1e-7)
    assert found.left == pytest.approx(0.5 * gradient @ gradient / found.scale, rel=1e-7)


def test_a_bias_needs_dual_variables_that_add_up_to_nothing():
    """Scaled to a common weight they do, and are a bound; their imbalance is told."""
    design, chunk, psi, loss = made("svc", "symmetric", True)
    w = point(design, 3)
    w[-1] = 0.75
    found = bounds(sums_at(design, chunk, w, 0.5), w, design.layout.norm_counted())
    theta = smoothed(loss, 0.5).pull(psi @ w)
    heavy = 1.0 if theta.sum() > 0 else -1.0
    light = np.abs(theta[heavy * theta < 0]).sum() / np.abs(theta[heavy * theta > 0]).sum()
    scaled = np.where(heavy * theta > 0, light * theta, theta)
    assert scaled.sum() == pytest.approx(0.0, abs=1e-9)
    pulled = psi[:, :-1].T @ scaled
    dual = -0.5 * pulled @ pulled - loss.conjugate(scaled).sum()
    assert found.dual == pytest.approx(dual, rel=1e-9)
    assert found.imbalance == pytest.approx(1.0 - light, rel=1e-9)


def test_one_sided_dual_variables_bound_by_nothing():
    design, chunk, _, _ = made("svc", "symmetric", True)
    w = np.zeros(design.layout.size)
    w[-1] = 5.0  # far above all labels: only the negative ones pull
    found = bounds(sums_at(design, chunk, w, 0.5), w, design.layout.norm_counted())
    assert (found.dual, found.imbalance) == (0.0, 1.0)
    w[-1] = 0.0
    none = PairChunk(chunk.order, chunk.group, hinge(np.ones(len(chunk)), np.zeros(len(chunk))))
    found = bounds(sums_at(design, none, w, 0.5), w, design.layout.norm_counted())
    assert (found.primal, found.dual, found.gap, found.imbalance) == (0.0, 0.0, 0.0, 0.0)


@for_each
@for_settings
@settings(max_examples=10)
@given(seed=seeds, width=widths)
def test_curvature_and_slopes_along_a_direction(kind, symmetry, with_bias, seed, width):
    design, chunk, psi, loss = made(kind, symmetry, with_bias)
    w, direction = point(design, seed), point(design, seed + 1)
    f, along, rounded = psi @ w, psi @ direction, smoothed(loss, width)
    images = design.images(direction, np.float64)
    active = active_set(chunk, f, width)
    bend = rounded.curvature(f)
    assert len(active.curvature) == np.count_nonzero(bend)
    found = curve(active, design, images, np.float64)
    np.testing.assert_allclose(found, psi.T @ (bend * along), rtol=1e-8, atol=1e-8)
    for length in (0.0, 0.5, 2.0):
        expected = -rounded.pull(f + length * along) @ along
        assert slope(chunk, f, along, length, width) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@for_settings
def test_curved_pairs_of_chunks_together(symmetry, with_bias):
    design, chunk, psi, loss = made("svc", symmetry, with_bias)
    w, direction = point(design, 1), point(design, 2)
    f, places = psi @ w, np.arange(len(chunk))
    images = design.images(direction, np.float64)
    parts = []
    for rest in range(3):
        kept = places % 3 == rest
        part = PairChunk(chunk.order.keep(kept), chunk.group[kept], loss.take(places[kept]))
        parts.append(active_set(part, f[kept], 0.5))
    joined = join_active(parts, len(design.tables[0]))
    whole = active_set(chunk, f, 0.5)
    assert 0 < len(joined.curvature) == len(whole.curvature) < len(chunk)
    np.testing.assert_allclose(
        curve(joined, design, images, np.float64),
        curve(whole, design, images, np.float64),
        rtol=1e-9,
        atol=1e-9,
    )
