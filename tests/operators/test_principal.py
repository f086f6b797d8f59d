"""Principal features: all of them are the kernel, few of them carry most of it."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Additive, Gaussian, Linear, MetricLearning, Polynomial, Product
from pairity.kernels.classes import project
from pairity.operators import PairOperator, group_features
from pairity.operators.principal import leading_eigenvectors
from pairity.operators.restricted import Resident, Restricted
from pairity.pairs.parity import Parity

KERNELS = {
    "gaussian": Gaussian(1.5),
    "product": Product(Gaussian(1.0)),
    "sum": 0.5 * Gaussian(1.5) + 0.4 * Additive(Gaussian(0.7)) + 0.1 * Linear(),
    "additive": Additive(Gaussian(1.0)),
}


@pytest.fixture
def features_of_groups(monkeypatch):
    """Group kernels have features to rounding on small data, too."""
    monkeypatch.setattr(group_features, "_FEW_ENTRIES", 0)


def some_pairs(group, n_objects=12, n_pairs=60):
    generator = np.random.default_rng(3)
    objects = generator.normal(size=(n_objects, 3))
    first = generator.integers(0, n_objects, n_pairs)
    second = (first + generator.integers(1, n_objects, n_pairs)) % n_objects
    even, odd = generator.normal(size=(n_pairs, 1)), generator.choice([-1.0, 1.0], (n_pairs, 1))
    groups = {
        "none": {},
        "even": {"symmetric": even},
        "odd": {"antisymmetric": odd},
        "both": {"symmetric": even, "antisymmetric": odd},
    }
    return Pairs(objects, first, second, **groups[group])


def operator_of(name, parity, group="none"):
    pairs = some_pairs(group)
    return PairOperator(project(KERNELS[name], parity, pairs), pairs)


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
@pytest.mark.parametrize("group", ["none", "even", "odd", "both"])
@pytest.mark.parametrize("name", KERNELS)
def test_all_features_are_the_kernel(name, group, parity, features_of_groups):
    operator = operator_of(name, parity, group)
    matrix = operator.block(slice(None), slice(None))
    features = operator.principal_features(100_000).astype(np.float64)
    # combinations of group features with less than 1e-6 of the largest mean square are left out
    assert features @ features.T == pytest.approx(matrix, abs=1e-4 * np.abs(matrix).max())


@pytest.mark.parametrize("group", ["none", "both"])
def test_few_features_carry_more_than_landmarks_do(group, features_of_groups):
    operator = operator_of("gaussian", Parity.ODD, group)
    matrix = operator.block(slice(None), slice(None))
    features = operator.principal_features(10).astype(np.float64)
    assert features.shape == (60, 10)
    left = np.trace(matrix - features @ features.T)
    corner, columns = matrix[:10, :10], matrix[:, :10]
    of_landmarks = np.trace(matrix - columns @ np.linalg.pinv(corner) @ columns.T)
    assert 0.0 < left < of_landmarks


def test_of_some_pairs_they_are_rows_of_those_of_all():
    operator = operator_of("sum", Parity.ODD)
    whole, chosen = operator.principal_features(20), np.array([5, 3, 40])
    assert np.array_equal(Restricted(operator, chosen).principal_features(20), whole[chosen])
    assert np.array_equal(Resident(operator).principal_features(20), whole)


@pytest.mark.parametrize("kernel", [MetricLearning(Gaussian(1.0)), Polynomial(3)])
def test_terms_of_another_form_have_none(kernel):
    pairs = some_pairs("none")
    assert PairOperator(project(kernel, Parity.EVEN, pairs), pairs).principal_features(9) is None


def test_without_a_symmetry_there_are_none():
    pairs = some_pairs("none")
    assert PairOperator(Gaussian(1.0), pairs).principal_features(9) is None


def test_subspace_iteration_finds_the_leading_eigenvectors():
    objects = np.random.default_rng(0).normal(size=(700, 2))
    gram = Gaussian(2.0).on_features(objects, objects)
    values, vectors = leading_eigenvectors(gram, 12)
    assert values == pytest.approx(np.linalg.eigvalsh(gram)[::-1][:12], rel=1e-4)
    assert gram @ vectors == pytest.approx(vectors * values, abs=1e-3 * values[0])
