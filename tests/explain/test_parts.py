"""Even and odd parts of any model; laws of mixed models are with their kernel."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from pairity import ObjectTransformer, PairRidge
from pairity.inspection import even_odd_parts
from pairity.kernels import Gaussian, Mixed


class OnRows:
    """Somebody else's model, on wide rows."""

    def __init__(self, model):
        self.model = model

    def fit(self, pairs, y):
        self.model.fit(pairs.to_rows(), y)
        return self


class Decides(OnRows):
    def decision_function(self, pairs):
        return self.model.decision_function(pairs.to_rows())


class Predicts(OnRows):
    def predict(self, pairs):
        return self.model.predict(pairs.to_rows())


def test_a_linear_model_of_rows_splits_into_sums_and_differences():
    """w_a x_a + w_b x_b = (w_a + w_b)(x_a + x_b)/2 + (w_a - w_b)(x_a - x_b)/2."""
    pairs, y = cases.random_pairs(1, n=40, widths=(2, 0, 0)), cases.random_targets(1, 40)
    model = Predicts(LinearRegression()).fit(pairs, y)
    left, right = model.model.coef_[:2], model.model.coef_[2:]
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    parts = even_odd_parts(model, pairs)
    even = (a + b) @ (left + right) / 2 + model.model.intercept_
    assert np.allclose(parts.even, even, atol=1e-12)
    assert np.allclose(parts.odd, (a - b) @ (left - right) / 2, atol=1e-12)
    share = (parts.odd**2).sum() / ((parts.odd**2).sum() + (parts.even**2).sum())
    assert parts.odd_share == pytest.approx(share)


def test_decision_values_come_first():
    pairs, y = cases.random_pairs(1, n=40), cases.random_labels(1, 40)
    model = Decides(LogisticRegression()).fit(pairs, y)
    parts = even_odd_parts(model, pairs)
    assert np.allclose(parts.even + parts.odd, model.decision_function(pairs), atol=1e-12)


def test_pipelines():
    pairs, y = cases.random_pairs(1, n=40, m=12), cases.random_targets(1, 40)
    model = make_pipeline(
        ObjectTransformer(StandardScaler()), PairRidge("none", kernel=Mixed(Gaussian(1.0), 0.5))
    ).fit(pairs, y)
    there, back = even_odd_parts(model, pairs), even_odd_parts(model, pairs.swap())
    assert np.array_equal(there.even, back.even)
    assert np.array_equal(there.odd, -back.odd)
    alone = even_odd_parts(model, cases.random_pairs(1, n=40, m=12)[:0])
    assert len(alone.even) == 0
    assert np.isnan(alone.odd_share)


def test_refusals():
    pairs = cases.random_pairs(1)
    with pytest.raises(ValueError, match="without decision values"):
        even_odd_parts(DummyClassifier().fit([[0.0], [1.0]], [0, 1]), pairs)
    with pytest.raises(ValueError, match="got ndarray; expected Pairs, which can be swapped"):
        even_odd_parts(PairRidge("symmetric"), pairs.to_rows())
