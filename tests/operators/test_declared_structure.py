"""Kernels of users reach every fast path whose structure they declare."""

import numpy as np
import pytest

from cases import random_pairs
from pairity import Pairs
from pairity.kernels import Gaussian, Kernel, Linear, MetricLearning, Product
from pairity.operators import PairOperator, modes, pair_operator
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget


class WeightedRows(Kernel):
    """``X_ab diag(w) X_cd'``, with weights by the number of the column."""

    def formula(self, atoms):
        return atoms.rows(self)

    def on_features(self, left, right):
        return left @ self._matrix(left.shape[1]) @ right.T

    def _matrix(self, width):
        return np.diag(1.0 + np.arange(width))


class DeclaredRows(WeightedRows):
    def __init__(self, width):
        self.width = width

    @property
    def bilinear_matrix(self):
        return self._matrix(self.width)


class SquaredDifferences(Kernel):
    """The metric-learning kernel, written by a user."""

    def __init__(self, k1):
        self.k1 = k1

    def formula(self, atoms):
        edges = atoms.objects(self.k1)
        inner = (edges.ac - edges.ad) - (edges.bc - edges.bd)
        return inner * inner * 0.25

    @property
    def metric_of(self):
        return self.k1


class Doubled(Kernel):
    """``4 <x, z>^2`` as a kernel of group features: the square of ``<sqrt 2 x, sqrt 2 z>``."""

    reflection = Parity.EVEN
    reflection_invariant = True
    power = 2

    def compared(self, table):
        return table * np.sqrt(2.0)

    def on_features(self, left, right):
        inner = left @ right.T
        return 4.0 * inner * inner


class Counting(Kernel):
    """A kernel that knows its pairs, with products of its own."""

    swap_parity = Parity.EVEN

    def formula(self, atoms):
        return atoms.known(self)

    def on_pairs(self, left, right):
        return np.ones((len(left), len(right)))

    def products(self, lefts, right, weights):
        return [np.full(len(left), weights.sum()) for left in lefts]


def product_without_a_matrix(kernel, pairs, monkeypatch):
    """A product, with the evaluation of entries taken away."""
    vector = np.random.default_rng(1).normal(size=len(pairs))
    gram = kernel.gram(pairs)
    monkeypatch.setattr(pair_operator, "dense_gram", None)
    np.testing.assert_allclose(PairOperator(kernel, pairs).product(vector), gram @ vector)


def test_a_bilinear_kernel(monkeypatch):
    pairs = random_pairs(0, n=30, m=9)
    product_without_a_matrix(DeclaredRows(pairs.shape[1]), pairs, monkeypatch)


def test_without_a_word_entries_are_evaluated(monkeypatch):
    """The test above can fail."""
    with pytest.raises(TypeError):
        product_without_a_matrix(WeightedRows(), random_pairs(0, n=30, m=9), monkeypatch)


def test_a_kernel_with_products_of_its_own(monkeypatch):
    product_without_a_matrix(3.0 * Counting(), random_pairs(0, n=30, m=9), monkeypatch)


def test_a_metric():
    objects = np.random.default_rng(0).normal(size=(9, 3))
    pairs = Pairs.complete(objects)
    theirs, ours = (
        modes.leading_modes(PairOperator(kernel, pairs), 8, Budget(100.0))
        for kernel in (SquaredDifferences(Gaussian(1.0)), MetricLearning(Gaussian(1.0)))
    )
    assert isinstance(theirs, modes.EigenModes)
    weights = np.random.default_rng(1).normal(size=theirs.n_modes)
    assert (theirs.expand(weights) == ours.expand(weights)).all()


def test_a_power_of_group_features():
    pairs = random_pairs(0, n=30, m=9)
    kernel = Product(Linear(), k2=Doubled())
    operator = PairOperator(kernel, pairs)
    assert not any(group.opaque for group in operator._groups)
    vector = np.random.default_rng(1).normal(size=len(pairs))
    np.testing.assert_allclose(operator.product(vector), kernel.gram(pairs) @ vector)
