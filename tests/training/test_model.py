"""Decisions of fitted functions: the plain sum over support pairs, by whatever way is cheaper."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Additive, Gaussian, Linear, MetricLearning, Polynomial, Tensor
from pairity.operators import tiles
from pairity.operators.blockwise import products_between
from pairity.pairs.parity import Parity
from pairity.training.model import PairModel

KERNELS = {
    "gaussian": Gaussian(2.0),
    "sum": 0.5 * Gaussian(2.0) + 0.4 * Additive(Gaussian(3.0)) + 0.1 * Linear(),
    "tensor": Tensor(Gaussian(2.0), Linear(), Polynomial(2)),
    "metric": MetricLearning(Gaussian(2.0)),
}


def made(n_pairs, n_objects, seed, n_group):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_objects, n_pairs)
    second = (first + rng.integers(1, n_objects, n_pairs)) % n_objects
    groups = {name: rng.normal(size=(n_pairs, n_group)) for name in ("symmetric", "antisymmetric")}
    return Pairs(rng.normal(size=(n_objects, 3)), first, second, **groups)


@pytest.mark.parametrize("n_objects", [15, 400], ids=["few objects", "rare objects"])
@pytest.mark.parametrize("n_group", [0, 2])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_decisions_are_the_sum_over_support_pairs(kernel, n_group, n_objects, parity):
    if isinstance(kernel, Tensor) and not n_group:
        kernel = Tensor(Gaussian(2.0))
    support, asked = made(110, n_objects, 0, n_group), made(130, n_objects, 1, n_group)
    weights = np.random.default_rng(2).normal(size=len(support))
    model = PairModel(kernel, support, weights, 0.25 if parity is Parity.EVEN else 0.0, parity)
    decisions = model.decisions(asked)
    value, mirrored = (kernel.gram(side, support) @ weights for side in (asked, asked.swap()))
    expected = (value + parity.sign * mirrored) / 2.0 + model.bias
    np.testing.assert_allclose(decisions, expected, rtol=0, atol=1e-11)
    assert (model.decisions(asked.swap()) == parity.sign * decisions).all()
    turned = np.random.default_rng(3).random(len(asked)) < 0.5
    signs = np.where(turned, parity.sign, 1.0)
    assert (model.decisions(asked.with_swapped(turned)) == signs * decisions).all()


@pytest.mark.parametrize(
    ("kernel", "n_objects", "n_group", "by_entries"),
    [
        (Gaussian(2.0), 400, 0, True),  # more objects than pairs
        (Gaussian(2.0), 15, 0, False),
        (Gaussian(2.0), 15, 2, True),  # many products for group features
        (Tensor(Gaussian(2.0), Linear(), Polynomial(2)), 15, 2, False),  # few of them
        (Additive(Gaussian(2.0)), 15, 2, False),  # group features are not looked at
    ],
)
def test_rare_objects_and_group_features_go_entry_by_entry(
    monkeypatch, kernel, n_objects, n_group, by_entries
):
    seen = []
    tiles_of = tiles.tiles_of
    monkeypatch.setattr(tiles, "tiles_of", lambda *given: seen.append(1) or tiles_of(*given))
    support, asked = made(110, n_objects, 0, n_group), made(130, n_objects, 1, n_group)
    products_between(kernel, asked, support, np.ones(len(support)), mirrored=True)
    assert len(seen) == (2 if by_entries else 0)
