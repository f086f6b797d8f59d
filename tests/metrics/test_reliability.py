"""Reliability: scikit-learn's bins, Wilson's intervals, and a diagram that shows them."""

import builtins

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from pairity.model_selection import plot_reliability, reliability_curve
from pairity.model_selection.metrics import wilson_interval


def outcomes(seed, n=300):
    rng = np.random.default_rng(seed)
    chances = rng.random(n)
    return (rng.random(n) < chances).astype(int), chances


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 5, 10, 80])
def test_bins_are_those_of_scikit_learn(strategy, n_bins):
    y, chances = outcomes(1)
    chances[:40] = np.round(chances[:40], 1)  # on the edges too
    curve = reliability_curve(y, chances, n_bins=n_bins, strategy=strategy)
    observed, predicted = calibration_curve(y, chances, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(curve.observed, observed, rtol=1e-13)
    np.testing.assert_allclose(curve.predicted, predicted, rtol=1e-13)
    assert curve.count.sum() == len(y)
    assert ((curve.low <= curve.predicted) & (curve.predicted <= curve.high)).all()


def test_intervals_are_those_of_scipy():
    y, chances = outcomes(2)
    curve = reliability_curve(y, chances, confidence=0.9)
    for row in range(len(curve)):
        hits = round(float(curve.observed[row] * curve.count[row]))
        wilson = binomtest(hits, int(curve.count[row])).proportion_ci(0.9, method="wilson")
        assert curve.lower[row] == pytest.approx(wilson.low, abs=1e-12)
        assert curve.upper[row] == pytest.approx(wilson.high, abs=1e-12)


@given(hits=st.integers(0, 30), misses=st.integers(0, 30), confidence=st.floats(0.01, 0.999))
def test_an_interval_holds_its_frequency_and_mirrors(hits, misses, confidence):
    n = max(1, hits + misses)
    frequency = np.array([hits / n, (n - hits) / n])
    lower, upper = wilson_interval(frequency, np.array([n, n], dtype=float), confidence)
    assert (lower >= 0.0).all()
    assert (lower <= frequency).all()
    assert (upper >= frequency).all()
    assert (upper <= 1.0).all()
    np.testing.assert_allclose(lower, 1.0 - upper[::-1], atol=1e-14)


def test_weights_are_repetitions_except_for_what_they_say_about_sureness():
    y, chances = outcomes(3, n=60)
    weights = np.random.default_rng(4).integers(0, 4, size=60)
    curve = reliability_curve(y, chances, sample_weight=weights, n_bins=4)
    repeated = reliability_curve(np.repeat(y, weights), np.repeat(chances, weights), n_bins=4)
    np.testing.assert_allclose(curve.predicted, repeated.predicted, rtol=1e-13)
    np.testing.assert_allclose(curve.observed, repeated.observed, rtol=1e-13)
    np.testing.assert_allclose(curve.weight, repeated.weight, rtol=1e-13)
    assert curve.calibration_error == pytest.approx(repeated.calibration_error, rel=1e-12)
    assert curve.count.sum() == np.count_nonzero(weights)
    assert (curve.upper - curve.lower > repeated.upper - repeated.lower).all()


def test_calibration_error_by_hand():
    curve = reliability_curve([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], n_bins=2)
    assert curve.observed.tolist() == [0.5, 1.0]
    assert curve.calibration_error == 0.25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "got n_bins=0; expected a whole number, 1 or more"),
        ({"strategy": "width"}, "got strategy='width'; expected one of 'uniform', 'quantile'"),
        ({"confidence": 1.0}, "got confidence=1.0; expected a number between 0 and 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve([0, 1], [0.2, 0.8], **options)


def test_three_columns_are_asked_for_one_at_a_time():
    with pytest.raises(ValueError, match="got 3 columns of probabilities; expected two"):
        reliability_curve([-1, 0, 1], np.full((3, 3), 1 / 3))


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def test_the_diagram_shows_points_and_intervals(axes):
    y, chances = outcomes(5)
    curves = {"one": reliability_curve(y, chances), "two": reliability_curve(y, chances**2)}
    assert plot_reliability(curves, ax=axes) is axes
    points = [
        np.asarray(found.get_offsets()) for found in axes.collections if hasattr(found, "get_sizes")
    ]
    for curve in curves.values():
        wanted = np.column_stack([curve.predicted, curve.observed])
        assert any(len(one) == len(wanted) and np.allclose(one, wanted) for one in points)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert axes.get_xlabel() == "predicted probability"


def test_one_curve_makes_a_figure_of_its_own(axes):
    other = plot_reliability(reliability_curve(*outcomes(6)))
    assert other is not axes
    assert other.get_legend() is None


def test_without_matplotlib_the_way_out_is_named(monkeypatch):
    real = builtins.__import__

    def no_matplotlib(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    with pytest.raises(ImportError, match=r"pip install 'pairity\[cli\]'"):
        plot_reliability(reliability_curve([0, 1], [0.2, 0.8]))
