"""The machinery of the comparison: ridge by hand, leaving pairs out, paired standard errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

import cases
from pairity.inspection.comparison import (
    MODELS,
    Comparison,
    Difference,
    KernelParts,
    ModelScore,
    compare_models,
    fit_ridge,
    units_by_size,
)
from pairity.kernels import Balanced, Gaussian, Linear, Mixed, SkewBalanced
from pairity.model_selection import PairKFold
from pairity.pairs.same_objects import ends_of


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30))
def test_rows_of_units(seed, n):
    units = np.random.default_rng(seed).integers(8, size=n)
    found = [set(rows.tolist()) for block in units_by_size(units) for rows in block]
    expected = [set(np.flatnonzero(units == unit).tolist()) for unit in np.unique(units)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_leaving_pairs_out_equals_refits(seed):
    """scikit-learn's KernelRidge fitted again without each unit, for the penalty chosen."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(24, 3))
    gram, y = features @ features.T + 1.0, rng.normal(size=24)
    units = rng.integers(12, size=24)
    fit = fit_ridge(gram, y, units_by_size(units))
    residuals = []
    for unit in np.unique(units):
        out = units == unit
        model = KernelRidge(alpha=fit.penalty, kernel="precomputed")
        model.fit(gram[np.ix_(~out, ~out)], y[~out])
        residuals += (model.predict(gram[np.ix_(out, ~out)]) - y[out]).tolist()
    assert fit.left_out_error == pytest.approx(np.mean(np.square(residuals)), rel=1e-6)
    whole = KernelRidge(alpha=fit.penalty, kernel="precomputed").fit(gram, y)
    assert np.allclose(fit.theta, whole.dual_coef_, rtol=1e-6, atol=1e-8)


def test_the_penalty_suits_the_noise(rng):
    features = rng.normal(size=(60, 2))
    gram, plain = features @ features.T, features @ [1.0, -2.0]
    units = units_by_size(np.arange(60))
    clear = fit_ridge(gram, plain, units)
    noisy = fit_ridge(gram, rng.normal(size=60), units)
    assert clear.penalty < noisy.penalty
    assert clear.left_out_error < 1e-4


def test_parts_are_the_projections():
    pairs = cases.random_pairs(1, n=12)
    parts = KernelParts.of([Gaussian(1.2)], pairs)
    even, odd = Balanced(Gaussian(1.2)).gram(pairs), SkewBalanced(Gaussian(1.2)).gram(pairs)
    sizes = np.mean(np.diagonal(even)), np.mean(np.diagonal(odd))
    assert np.allclose(parts.even, even / sizes[0], rtol=1e-14)
    assert np.allclose(parts.odd, odd / sizes[1], rtol=1e-14)
    assert parts.even_share == pytest.approx(sizes[0] / sum(sizes))
    plain = (0.0, parts.even_share, 1.0 - parts.even_share)
    whole = Gaussian(1.2).gram(pairs) / sum(sizes)
    assert np.allclose(parts.gram(plain, np.arange(12)), whole, rtol=1e-12, atol=1e-15)
    assert parts.strengths(plain) == pytest.approx((1.0, 1.0))
    even_weight, odd_weight = parts.strengths((10.0, 1.0, 0.1))
    assert max(even_weight, odd_weight) == 1.0
    mixed = Mixed(Gaussian(1.2), even_weight, odd_weight).gram(pairs)
    wanted = parts.gram((0.0, 1.0, 0.1), np.arange(12))
    assert np.allclose(mixed / mixed[0, 0], wanted / wanted[0, 0], rtol=1e-12, atol=1e-15)
    both = KernelParts.of([Gaussian(1.2), Linear()], pairs)
    assert np.mean(np.diagonal(both.even)) == pytest.approx(1.0)


def test_models_obey_their_laws_on_held_out_pairs():
    """Fitted to half of the pairs, each with its swap: predictions are mirrored or opposite."""
    pairs = cases.random_pairs(2, n=30, m=9).with_mirrored()
    y = cases.random_targets(2, 60)
    units = ends_of(pairs).unordered()
    rows = np.arange(60)
    known = units < np.median(units)
    train, test = rows[known], rows[~known & (rows < 30)]
    folds = [(train, np.r_[test, test + 30])]
    found = compare_models([Gaussian(1.2)], pairs, y, units, folds)
    there, back = (
        found.scores["symmetric"].predictions[s] for s in (slice(len(test)), slice(len(test), None))
    )
    assert np.allclose(there, back, rtol=1e-10, atol=1e-12)
    assert np.ptp(there) > 1e-6
    values = found.scores["antisymmetric"].predictions
    assert np.allclose(values[: len(test)], -values[len(test) :], rtol=1e-10, atol=1e-12)
    assert np.abs(values).max() > 1e-6


def test_predictions_are_those_of_kernel_ridge(rng):
    pairs = cases.random_pairs(3, n=40, m=10, widths=(2, 0, 0))
    y = cases.random_targets(3, 40)
    units = ends_of(pairs).unordered()
    folds = list(PairKFold(4, new=(0, 1, 2)).split(pairs))
    found = compare_models([Gaussian(1.2)], pairs, y, units, folds)
    odd = SkewBalanced(Gaussian(1.2)).gram(pairs)
    odd /= np.mean(np.diagonal(odd))
    predictions = []
    for train, test in folds:
        gram = odd[np.ix_(train, train)]
        penalty = fit_ridge(gram, y[train], units_by_size(units[train])).penalty
        model = KernelRidge(alpha=penalty, kernel="precomputed").fit(gram, y[train])
        predictions.append(model.predict(odd[np.ix_(test, train)]))
    expected = np.concatenate(predictions)
    assert np.allclose(found.scores["antisymmetric"].predictions, expected, atol=1e-8)
    held = np.concatenate([test for _, test in folds])
    assert np.array_equal(found.targets, y[held])
    assert found.scores["antisymmetric"].error == pytest.approx(np.mean((expected - y[held]) ** 2))
    assert set(found.scores) == {"nothing", "constant", *MODELS}
    assert 0.0 <= found.odd_share <= 1.0


def naive_difference(left, right, targets, units):
    """Mean over rows; spread of the sums of unordered pairs."""
    gaps = [(p - t) ** 2 - (q - t) ** 2 for p, q, t in zip(left, right, targets, strict=True)]
    mean = sum(gaps) / len(gaps)
    sums = {}
    for unit, gap in zip(units, gaps, strict=True):
        sums[unit] = sums.get(unit, 0.0) + gap - mean
    k = len(sums)
    return mean, (k / (k - 1) * sum(s**2 for s in sums.values())) ** 0.5 / len(gaps)


def comparison_of(left, right, targets, units):
    scores = {
        name: ModelScore(name, values, float(np.mean((values - targets) ** 2)), 0.5)
        for name, values in (("left", left), ("right", right))
    }
    return Comparison(scores, targets, units, 0.5, (1.0, 1.0))


@given(seed=st.integers(0, 10**6))
def test_differences_are_paired(seed):
    rng = np.random.default_rng(seed)
    left, right, targets = rng.normal(size=(3, 20))
    units = np.r_[0, 1, rng.integers(9, size=18)]
    found = comparison_of(left, right, targets, units).difference("left", "right")
    mean, error = naive_difference(left, right, targets, units.tolist())
    assert found.mean == pytest.approx(mean)
    assert found.standard_error == pytest.approx(error)
    if mean != 0.0:
        assert found.steps == pytest.approx(mean / error)


def test_repeated_rows_do_not_count_as_evidence(rng):
    """The same pair ten times over: the standard error stays what it was."""
    left, right, targets = rng.normal(size=(3, 30))
    once = comparison_of(left, right, targets, np.arange(30)).difference("left", "right")
    many = [np.repeat(values, 10) for values in (left, right, targets, np.arange(30))]
    again = comparison_of(*many).difference("left", "right")
    assert again.mean == pytest.approx(once.mean)
    assert again.standard_error == pytest.approx(once.standard_error)


def test_one_pair_proves_nothing():
    found = comparison_of(np.ones(3), np.zeros(3), np.zeros(3), np.zeros(3, dtype=int))
    assert found.difference("left", "right").steps == 0.0
    assert not found.is_better("right", "left")
    assert found.difference("left", "left").steps == 0.0


def test_a_sure_difference_keeps_its_sign():
    assert Difference(2.0, 0.0).steps == np.inf
    assert Difference(-2.0, 0.0).steps == -np.inf
    assert Difference(0.0, 0.0).steps == 0.0
    assert Difference(-2.0, 0.5).steps == -4.0


def test_better_means_beyond_doubt_and_by_more_than_a_trifle():
    targets, units = np.zeros(100), np.arange(100)
    worse = np.ones(100)
    assert comparison_of(0.5 * worse, worse, targets, units).is_better("left", "right")
    assert not comparison_of(0.999 * worse, worse, targets, units).is_better("left", "right")
    noisy = np.where(np.arange(100) < 49, 1.2, 0.7)  # better on the whole, but not surely
    assert not comparison_of(noisy, worse, targets, units).is_better("left", "right")
