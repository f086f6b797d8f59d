"""Curves from decisions to probabilities: other packages' numbers, optimality, laws."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from pairity.model_selection.curves import fit_isotonic, fit_sigmoid, minimise, smoothed_targets
from pairity.pairs.parity import Parity

EVEN, ODD = Parity.EVEN, Parity.ODD
FITS = [fit_sigmoid, fit_isotonic]


def held_out(seed, n=60, noise=1.5):
    """Decisions that tell something, signs and whole weights."""
    rng = np.random.default_rng(seed)
    decisions = rng.normal(size=n)
    signs = np.where(decisions + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return decisions, signs, rng.integers(1, 4, size=n).astype(float)


def soft_rows(decisions, targets, weights):
    """Every row twice, as a success with its target's weight and as a failure with the rest."""
    n = len(decisions)
    return (
        np.concatenate([decisions, decisions])[:, np.newaxis],
        np.repeat([1, 0], n),
        np.concatenate([weights * targets, weights * (1.0 - targets)]),
    )


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose decision is the one feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


# Golden numbers -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept")
def test_symmetric_sigmoid_is_platts_as_scikit_learn_has_it():
    decisions, signs, weights = held_out(1)
    curve = fit_sigmoid(decisions, smoothed_targets(signs, weights, EVEN), weights, EVEN)
    model = Given().fit(decisions[:, np.newaxis], signs)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid")
    calibrated.fit(decisions[:, np.newaxis], signs, sample_weight=weights)
    theirs = calibrated.calibrated_classifiers_[0].calibrators[0]
    assert curve.slope == pytest.approx(-theirs.a_, rel=1e-4)
    assert curve.offset == pytest.approx(-theirs.b_, abs=1e-4)


@pytest.mark.parametrize("parity", [EVEN, ODD, None])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_sigmoid_is_a_logistic_regression(parity, scale):
    """scikit-learn's, without penalty, without intercept in the antisymmetric case."""
    decisions, signs, weights = held_out(2)
    targets = smoothed_targets(signs, weights, parity)
    curve = fit_sigmoid(scale * decisions, targets, weights, parity)
    X, y, w = soft_rows(decisions, targets, weights)
    options = {"C": np.inf, "fit_intercept": parity is not ODD, "tol": 1e-12}
    theirs = LogisticRegression(solver="newton-cholesky", **options).fit(X, y, sample_weight=w)
    assert curve.slope * scale == pytest.approx(theirs.coef_[0, 0], rel=1e-8)
    if parity is ODD:
        assert curve.offset == 0.0
    else:
        assert curve.offset == pytest.approx(theirs.intercept_[0], rel=1e-8)


def test_antisymmetric_sigmoid_is_the_symmetric_one_of_mirrored_rows():
    decisions, signs, weights = held_out(3)
    odd = fit_sigmoid(decisions, smoothed_targets(signs, weights, ODD), weights, ODD)
    decisions, signs = np.append(decisions, -decisions), np.append(signs, -signs)
    weights = np.append(weights, weights)
    even = fit_sigmoid(decisions, smoothed_targets(signs, weights, EVEN), weights, EVEN)
    assert odd.slope == pytest.approx(even.slope, rel=1e-9)
    assert even.offset == pytest.approx(0.0, abs=1e-9)


def test_platts_targets():
    signs, weights = np.array([1.0, 1.0, -1.0]), np.array([1.0, 2.0, 4.0])
    assert smoothed_targets(signs, weights, EVEN).tolist() == [4 / 5, 4 / 5, 1 / 6]
    assert smoothed_targets(signs, weights, None).tolist() == [4 / 5, 4 / 5, 1 / 6]
    assert smoothed_targets(signs, weights, ODD).tolist() == [8 / 9, 8 / 9, 1 / 9]


def test_symmetric_isotonic_is_scikit_learns():
    decisions, signs, weights = held_out(4)
    targets = smoothed_targets(signs, weights, EVEN)
    curve = fit_isotonic(decisions, targets, weights, EVEN)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(decisions, targets, weights)
    grid = np.linspace(-4.0, 4.0, 101)
    np.testing.assert_allclose(expit(curve.log_odds(grid)), theirs.predict(grid), atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_folded_isotonic_is_that_of_decisions_and_mirrored_decisions(seed):
    decisions, signs, weights = held_out(seed, noise=0.5 + seed)
    targets = smoothed_targets(signs, weights, ODD)
    curve = fit_isotonic(decisions, targets, weights, ODD)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(
        np.append(decisions, -decisions),
        np.append(targets, 1 - targets),
        np.append(weights, weights),
    )
    grid = np.linspace(-4.0, 4.0, 101)
    np.testing.assert_allclose(expit(curve.log_odds(grid)), theirs.predict(grid), atol=1e-13)


# Laws ---------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(st.floats(-50, 50), st.sampled_from([-1.0, 1.0]), st.integers(1, 5)),
    min_size=2,
    max_size=30,
)


def fitted(fit, rows, parity):
    decisions, signs, weights = map(np.array, zip(*rows, strict=True))
    weights = weights.astype(float)
    return fit(decisions, smoothed_targets(signs, weights, parity), weights, parity)


@pytest.mark.parametrize("fit", FITS)
@given(rows=ROWS, tried=st.lists(st.floats(-100, 100), min_size=1))
def test_an_antisymmetric_curve_is_odd(fit, rows, tried):
    curve, tried = fitted(fit, rows, ODD), np.array(tried)
    assert (curve.log_odds(-tried) == -curve.log_odds(tried)).all()
    assert (curve.log_odds(np.zeros(1)) == 0.0).all()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("parity", [EVEN, ODD])
@given(rows=ROWS)
def test_curves_rise_and_stay_finite(fit, parity, rows):
    values = fitted(fit, rows, parity).log_odds(np.linspace(-60.0, 60.0, 50))
    assert np.isfinite(values).all()
    assert (np.diff(values) >= -1e-12 * np.abs(values).max()).all()


@given(rows=ROWS)
def test_sigmoid_is_optimal(rows):
    """The derivative by the slope is 0, or the slope is 0 and the derivative not below it."""
    decisions, signs, weights = map(np.array, zip(*rows, strict=True))
    weights = weights.astype(float)
    targets = smoothed_targets(signs, weights, ODD)
    curve = fit_sigmoid(decisions, targets, weights, ODD)
    terms = weights * decisions * (expit(curve.slope * decisions) - targets)
    size = float(np.abs(weights * decisions).sum())
    if curve.slope > 0.0:
        assert abs(terms.sum()) <= 1e-6 * size
    else:
        assert terms.sum() >= -1e-12 * size


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("parity", [EVEN, ODD])
@given(rows=ROWS)
def test_weights_are_repetitions(fit, parity, rows):
    assume(max(abs(decision) for decision, _, _ in rows) > 1e-3)
    weighted = fitted(fit, rows, parity)
    repeated = [(d, s, 1) for d, s, count in rows for _ in range(count)]
    grid = np.linspace(-60.0, 60.0, 50)
    other = fitted(fit, repeated, parity).log_odds(grid)
    np.testing.assert_allclose(weighted.log_odds(grid), other, rtol=1e-6, atol=1e-6)


# Degenerate decisions -----------------------------------------------------------------------------


@pytest.mark.parametrize("fit", FITS)
def test_perfect_decisions_have_finite_probabilities(fit):
    decisions = np.linspace(-1.0, 1.0, 20)
    signs, weights = np.sign(decisions), np.ones(20)
    for parity in (EVEN, ODD):
        curve = fit(decisions, smoothed_targets(signs, weights, parity), weights, parity)
        chance = expit(curve.log_odds(decisions))
        assert not curve.is_flat
        assert ((chance > 0.001) & (chance < 0.999)).all()
        assert ((chance > 0.5) == (signs > 0)).all()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("decisions", [np.zeros(6), np.full(6, 2.0)])
def test_decisions_that_say_nothing(fit, decisions):
    signs, weights = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(6)
    curve = fit(decisions, smoothed_targets(signs, weights, EVEN), weights, EVEN)
    share = smoothed_targets(signs, weights, EVEN).mean()
    np.testing.assert_allclose(expit(curve.log_odds(decisions)), share, rtol=1e-9)
    if not decisions.any():
        odd = fit(decisions, smoothed_targets(signs, weights, ODD), weights, ODD)
        assert odd.is_flat
        assert (odd.log_odds(np.array([-3.0, 0.0, 3.0])) == 0.0).all()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("parity", [EVEN, ODD])
def test_decisions_that_are_wrong_get_no_negative_slope(fit, parity):
    decisions = np.linspace(-1.0, 1.0, 20)
    targets = smoothed_targets(-np.sign(decisions), np.ones(20), parity)
    curve = fit(decisions, targets, np.ones(20), parity)
    assert curve.is_flat
    np.testing.assert_allclose(curve.log_odds(decisions), 0.0, atol=1e-12)


def test_labels_that_decisions_separate_take_few_steps():
    """The least value is 0, infinitely far away; no step is halved again and again on the way."""
    signs, values = np.repeat([-1.0, 1.0], 10), np.linspace(-1.0, 1.0, 20)
    asked = []

    def cross_entropy(at):
        asked.append(at)
        chance = expit(-signs * values * at[0])
        pull = np.array([-(signs * values) @ chance])
        curvature = np.array([[values**2 @ (chance * (1.0 - chance))]])
        return float(np.logaddexp(0.0, -signs * values * at[0]).sum()), pull, curvature

    found = minimise(cross_entropy, np.zeros(1))
    assert np.logaddexp(0.0, -signs * values * found[0]).sum() < 1e-10
    assert len(asked) < 60


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_a_label_alone_takes_few_steps(target, monkeypatch):
    """The value falls to 0 without being lost in rounding, whichever label it is."""
    asked = []

    def counting(problem, at):
        return minimise(lambda point: asked.append(point) or problem(point), at)

    monkeypatch.setattr("pairity.model_selection.curves.minimise", counting)
    decision = np.array([2.0 * target - 1.0])
    curve = fit_sigmoid(decision, np.array([target]), np.ones(1), None)
    assert np.logaddexp(0.0, -abs(curve.log_odds(decision)[0])) < 1e-10
    assert len(asked) < 60
