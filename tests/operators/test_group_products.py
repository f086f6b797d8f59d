"""Products with group features, all columns at once: what the matrix itself gives."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Gaussian
from pairity.kernels.classes import project
from pairity.operators import PairOperator, group_features, pair_operator
from pairity.operators.group_features import in_pairs
from pairity.pairs.parity import Parity


@pytest.fixture(autouse=True)
def small_data_takes_the_path(monkeypatch):
    monkeypatch.setattr(group_features, "_FEW_ENTRIES", 0)
    monkeypatch.setattr(pair_operator, "_MANY_PAIRS", 0)


def some_pairs(n_pairs=80, n_objects=11, seed=5, groups="both"):
    generator = np.random.default_rng(seed)
    first = generator.integers(0, n_objects, n_pairs)
    second = (first + generator.integers(1, n_objects, n_pairs)) % n_objects
    even, odd = generator.normal(size=(n_pairs, 1)), generator.choice([-1.0, 1.0], (n_pairs, 1))
    objects = generator.normal(size=(n_objects, 2))
    return Pairs(
        objects, first, second, even if groups != "odd" else None, odd if groups != "even" else None
    )


KERNEL = Gaussian(1.3)


@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
@pytest.mark.parametrize("groups", ["even", "odd", "both"])
def test_products_are_those_of_the_matrix(groups, parity, share, monkeypatch):
    calls, plain = [], pair_operator.add_group_products
    monkeypatch.setattr(
        pair_operator, "add_group_products", lambda *given: (calls.append(1), plain(*given))
    )
    pairs, generator = some_pairs(groups=groups), np.random.default_rng(0)
    operator = PairOperator(project(KERNEL, parity, pairs), pairs)
    vector = np.where(generator.random(len(pairs)) < share, generator.normal(size=len(pairs)), 0.0)
    wanted = operator.block(slice(None), slice(None)) @ vector
    assert operator.product(vector) == pytest.approx(wanted, abs=1e-11)
    assert operator.rough_product(vector) == pytest.approx(wanted, abs=2e-4)
    assert calls


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_swapped_left_pairs_have_the_sign_of_the_kernel(parity):
    pairs, others = some_pairs(), some_pairs(seed=6)
    operator = PairOperator(project(KERNEL, parity, pairs), others, pairs)
    forth, back = operator.products(np.random.default_rng(1).normal(size=80), mirrored=True)
    assert back == pytest.approx(parity.sign * forth, abs=1e-11)


def test_even_and_odd_columns_share_places():
    generator = np.random.default_rng(2)
    even, odd = generator.normal(size=(50, 3)), generator.normal(size=(50, 2))
    # six columns of rank 5, in which products of even and odd ones vanish
    turned = np.linalg.qr(generator.normal(size=(6, 5)))[0]
    e, o = even @ turned[:, :3].T, odd @ turned[:, 3:].T
    p, q = in_pairs(e + o, e - o)
    assert p.shape == q.shape == (50, 3)
    assert (p @ p.T + q @ q.T) / 2 == pytest.approx(even @ even.T + odd @ odd.T)
    assert (p @ q.T + q @ p.T) / 2 == pytest.approx(even @ even.T - odd @ odd.T)
