"""A kernel in the span of landmark pairs, against the formula."""

import numpy as np
import pytest

import cases
from pairity.kernels import Gaussian, Tensor
from pairity.operators.modes import Expanded
from pairity.operators.pair_operator import PairOperator
from pairity.operators.restricted import Restricted


@pytest.fixture
def whole():
    return PairOperator(Tensor(Gaussian(1.1)), cases.random_pairs(0, n=15).compact())


def in_the_span(gram, landmarks):
    """``K(., L) K(L, L)^+ K(L, .)``."""
    columns = gram[:, landmarks]
    return columns @ np.linalg.pinv(gram[np.ix_(landmarks, landmarks)], rcond=1e-9) @ columns.T


@pytest.mark.parametrize("landmarks", [np.array([1, 4, 6, 9]), np.arange(15)], ids=["some", "all"])
def test_it_is_the_kernel_in_the_span_of_landmarks(whole, landmarks):
    gram = whole.block(slice(None), slice(None))
    expected, operator = in_the_span(gram, landmarks), Expanded(whole, landmarks)
    vector = np.random.default_rng(0).normal(size=15)
    np.testing.assert_allclose(operator.block(slice(None), slice(None)), expected, atol=1e-6)
    np.testing.assert_allclose(operator.product(vector), expected @ vector, atol=1e-6)
    np.testing.assert_allclose(operator.diagonal(), np.diag(expected), atol=1e-6)
    if len(landmarks) == 15:
        np.testing.assert_allclose(expected, gram, atol=1e-6)


def test_solvers_see_as_many_features_as_landmarks(whole):
    operator, chosen = Expanded(whole, np.array([1, 4, 6])), np.array([2, 3, 5, 7, 11, 13])
    part = Restricted(operator, chosen)
    assert operator.features.n_columns == 3
    assert part.features.are_fewer_than_pairs
    rows = part.features.rows
    np.testing.assert_allclose(rows @ rows.T, part.block(slice(None), slice(None)), atol=1e-12)
