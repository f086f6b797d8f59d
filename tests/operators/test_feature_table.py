"""Features as a table over the pairs: products with it, and the diagonal it leaves."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Additive, Gaussian, MetricLearning
from pairity.kernels.classes import project
from pairity.operators import feature_table
from pairity.operators.feature_table import FeatureModel, FeatureTable
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget

KERNELS = {
    "odd tensor": (Gaussian(2.0), Parity.ODD),
    "metric": (MetricLearning(Gaussian(2.0)), Parity.EVEN),
    "sum": (Gaussian(2.0) + Additive(Gaussian(1.5)), Parity.ODD),
}


def operator_of(name, m=25):
    kernel, parity = KERNELS[name]
    pairs = Pairs.complete(np.random.default_rng(0).normal(size=(m, 3)))
    return PairOperator(project(kernel, parity, pairs), pairs)


@pytest.mark.parametrize("name", KERNELS)
def test_products_are_those_of_numpy(monkeypatch, name):
    monkeypatch.setattr(feature_table, "_ENTRIES_PER_RANGE", 1000)  # several ranges
    operator = operator_of(name)
    features, rng = FeatureTable.of(operator, 30, Budget(100.0)), np.random.default_rng(1)
    table = features.table.astype(float)
    vector, weights = rng.normal(size=len(table)), rng.uniform(0.1, 2.0, size=len(table))
    inner = rng.normal(size=features.n_modes)
    np.testing.assert_allclose(features.reduce(vector), table.T @ vector, atol=1e-4)
    np.testing.assert_allclose(features.expand(inner), table @ inner, atol=1e-4)
    np.testing.assert_allclose(
        features.gram(weights), (table.T * weights) @ table, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("name", KERNELS)
def test_the_model_has_the_diagonal_of_the_kernel(name):
    operator = operator_of(name)
    features = FeatureTable.of(operator, 30, Budget(100.0))
    model = FeatureModel(operator, features)
    gram = np.column_stack([model.product(row) for row in np.eye(operator.shape[0])])
    np.testing.assert_allclose(gram.diagonal(), operator.diagonal(), rtol=1e-4, atol=1e-5)
    whole = operator.block(slice(None), slice(None))
    # what is left is less than the kernel, and positive
    assert np.linalg.norm(whole - gram) < 0.5 * np.linalg.norm(whole)
    assert (features.left >= 0.0).all()
