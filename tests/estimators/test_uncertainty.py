"""Posterior variances and intervals: against scikit-learn, against simulation, and the swap law."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel

import pairity
from pairity import PairLogistic, PairRidge, Pairs
from pairity.kernels import Additive, Gaussian, Identity, Linear, Product
from pairity.kernels.classes import projected
from pairity.pairs.parity import SYMMETRIES
from pairity.training import kernel_posterior
from pairity.training import posterior as posteriors


class OnRowNumbers(GaussianProcessKernel):
    """A kernel matrix for scikit-learn, whose inputs are row numbers into it."""

    def __init__(self, matrix=None):
        self.matrix = matrix

    def __call__(self, X, Y=None, eval_gradient=False):
        rows, columns = (np.ravel(side).astype(int) for side in (X, X if Y is None else Y))
        values = self.matrix[np.ix_(rows, columns)]
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X):
        return np.diag(self.matrix)[np.ravel(X).astype(int)]

    def is_stationary(self):
        return False

    @property
    def theta(self):
        return np.zeros(0)

    @theta.setter
    def theta(self, value):
        pass

    @property
    def bounds(self):
        return np.zeros((0, 2))


def some_pairs(seed, n=40, m=9, widths=(1, 1)):
    random = np.random.default_rng(seed)
    first = random.integers(0, m, n)
    second = (first + random.integers(1, m, n)) % m
    groups = [random.normal(size=(n, width)) for width in widths]
    return Pairs(random.normal(size=(m, 3)), first, second, *groups)


def gram_of(kernel, symmetry, pairs):
    """The kernel of the halved problem, by its formula."""
    parity = SYMMETRIES[symmetry]
    return (kernel if parity is None else projected(kernel, parity)).gram(pairs, pairs)


KERNELS = [Linear(), Gaussian(2.0), Product(Gaussian(1.5)), Additive(Linear()) + Product(Linear())]


def joined(one, two):
    both = (
        np.concatenate([getattr(side, name) for side in (one, two)])
        for name in ("first", "second", "symmetric", "antisymmetric")
    )
    return Pairs(one.objects, *both)


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_ridge_is_the_gaussian_process_of_scikit_learn(symmetry, kernel):
    pairs, asked = some_pairs(0), some_pairs(1, n=15)
    asked = Pairs(pairs.objects, asked.first, asked.second, asked.symmetric, asked.antisymmetric)
    y = np.random.default_rng(2).normal(size=len(pairs))
    model = PairRidge(symmetry, kernel=kernel, alpha=0.7).fit(pairs, y)
    gram = gram_of(kernel, symmetry, joined(pairs, asked))
    shift = 0.7 if symmetry == "none" else 0.35
    scale = model._posterior().scale
    peer = GaussianProcessRegressor(OnRowNumbers(gram * scale), alpha=scale * shift, optimizer=None)
    rows = np.arange(len(gram))[:, np.newaxis]
    peer.fit(rows[: len(pairs)], y)
    mean, std = peer.predict(rows[len(pairs) :], return_std=True)
    np.testing.assert_allclose(model.predict(asked), mean, atol=1e-8)
    np.testing.assert_allclose(model.decision_std(asked), std, rtol=1e-8, atol=1e-8)
    _, covariance = peer.predict(rows[len(pairs) :], return_cov=True)
    np.testing.assert_allclose(model._posterior().covariance(asked), covariance, atol=1e-8)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(2.0)], ids=repr)
def test_logistic_is_the_laplace_approximation_of_scikit_learn(kernel):
    if not hasattr(GaussianProcessClassifier, "latent_mean_and_variance"):
        pytest.skip("this scikit-learn does not show the latent variance")
    pairs, asked = some_pairs(3), some_pairs(4, n=15)
    asked = Pairs(pairs.objects, asked.first, asked.second, asked.symmetric, asked.antisymmetric)
    y = np.random.default_rng(5).choice([-1, 1], len(pairs))
    model = PairLogistic("antisymmetric", kernel=kernel, C=0.8, tol=1e-10).fit(pairs, y)
    gram = 1.6 * gram_of(kernel, "antisymmetric", joined(pairs, asked))
    rows = np.arange(len(gram))[:, np.newaxis]
    peer = GaussianProcessClassifier(OnRowNumbers(gram), optimizer=None, max_iter_predict=1000)
    peer.fit(rows[: len(pairs)], y)
    mean, variance = peer.latent_mean_and_variance(rows[len(pairs) :])
    np.testing.assert_allclose(model.decision_function(asked), mean, atol=1e-6)
    np.testing.assert_allclose(model.decision_std(asked) ** 2, variance, rtol=1e-6)


@pytest.mark.parametrize("model", [PairRidge, PairLogistic])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_swap_law(model, symmetry, kernel):
    pairs, asked = some_pairs(6), some_pairs(7, n=23)
    y = np.random.default_rng(8).choice([-1, 1], len(pairs))
    fitted = model(symmetry, kernel=kernel).fit(pairs, y)
    std, mirrored = fitted.decision_std(asked), fitted.decision_std(asked.swap())
    assert (std == mirrored).all()
    assert (std > 0).all()
    (low, high), (low_swapped, high_swapped) = (
        fitted.predict_interval(side, 0.8).T for side in (asked, asked.swap())
    )
    assert (low < high).all()
    if symmetry == "symmetric":
        assert (low == low_swapped).all()
        assert (high == high_swapped).all()
    else:
        assert (low == -high_swapped).all()
        assert (high == -low_swapped).all()
        itself = Pairs(pairs.objects, [0], [0], np.ones((1, 1)), np.zeros((1, 1)))
        assert fitted.decision_std(itself) == 0.0
    one_by_one = np.concatenate([fitted.decision_std(one) for one in asked])
    np.testing.assert_allclose(one_by_one, std, rtol=1e-7)


def test_probabilities_mirror_too():
    pairs = some_pairs(9)
    y = np.random.default_rng(1).choice([-1, 1], len(pairs))
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    straight = model.predict_interval(pairs, of="outcome")
    mirrored = model.predict_interval(pairs.swap(), of="outcome")
    assert ((straight > 0) & (straight < 1)).all()
    np.testing.assert_allclose(straight, 1.0 - mirrored[:, ::-1], rtol=0, atol=1e-15)
    decisions = model.predict_interval(pairs)
    np.testing.assert_allclose(straight, 1 / (1 + np.exp(-decisions)), rtol=1e-12)


def test_interval_is_mean_and_standard_deviations():
    pairs = some_pairs(10)
    model = PairRidge("symmetric", fit_intercept=True).fit(pairs, pairs.symmetric[:, 0])
    low, high = model.predict_interval(pairs, level=0.6).T
    np.testing.assert_allclose((low + high) / 2, model.predict(pairs), atol=1e-12)
    reach = norm.ppf(0.8) * model.decision_std(pairs)
    np.testing.assert_allclose((high - low) / 2, reach, rtol=1e-9)
    wide = np.ptp(model.predict_interval(pairs, level=0.6, of="outcome"), axis=1)
    noise = model._posterior().noise
    expected = 2 * norm.ppf(0.8) * np.sqrt(model.decision_std(pairs) ** 2 + noise)
    np.testing.assert_allclose(wide, expected, rtol=1e-9)


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_features_kernel_values_and_landmarks_agree(symmetry, monkeypatch):
    """Three ways to the same numbers, a constant without penalty included."""
    pairs = some_pairs(11, widths=(1, 0))
    y = np.random.default_rng(3).normal(size=len(pairs))

    def spread():
        model = PairRidge(symmetry, kernel="linear", fit_intercept=True, alpha=0.3).fit(pairs, y)
        posterior = model._posterior()
        return posterior.variance(pairs), posterior.scale, type(posterior.span).__name__

    by_features = spread()
    monkeypatch.setattr(posteriors, "explicit_form", lambda kernel, pairs: ())
    by_kernel = spread()
    monkeypatch.setattr(posteriors, "_MOST_PAIRS", 0)
    by_landmarks = spread()
    names = [found[2] for found in (by_features, by_kernel, by_landmarks)]
    assert names == ["Parameters", "Dense", "Landmarks"]
    for other, tol in ((by_kernel, 1e-9), (by_landmarks, 1e-5)):
        np.testing.assert_allclose(other[0], by_features[0], rtol=tol)
        np.testing.assert_allclose(other[1], by_features[1], rtol=tol)


def test_unknown_objects_have_the_prior_variance():
    pairs = Pairs(np.zeros((4, 0)), [0, 1, 0], [1, 2, 2], ids=list("abcd"))
    model = PairLogistic("antisymmetric", kernel=Identity(), C=3.0).fit(pairs, [1, 1, 1])
    new = Pairs(np.zeros((2, 0)), [0], [1], ids=["x", "y"])
    # k(ab, ab) = 1 for the skew part of k(a,c) + k(b,d), times 2C
    np.testing.assert_allclose(model.decision_std(new), np.sqrt(6.0), rtol=1e-12)
    known = Pairs(np.zeros((2, 0)), [0], [1], ids=["a", "b"])
    assert model.decision_std(known) < np.sqrt(6.0)


def test_weights_count_as_repeated_rows():
    pairs = some_pairs(14)
    y = np.random.default_rng(6).choice([-1, 1], len(pairs))
    weights = np.random.default_rng(7).integers(0, 4, len(pairs))
    rows = np.repeat(np.arange(len(pairs)), weights)
    weighted = PairLogistic("antisymmetric", kernel="linear", tol=1e-9).fit(pairs, y, weights)
    repeated = PairLogistic("antisymmetric", kernel="linear", tol=1e-9).fit(pairs[rows], y[rows])
    found, expected = weighted.decision_std(pairs), repeated.decision_std(pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert (weighted.observed_.rows == np.flatnonzero(weights)).all()


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_the_training_set_does_not_matter(training_set):
    pairs = some_pairs(15)
    y = np.random.default_rng(6).normal(size=len(pairs))
    model = PairRidge("antisymmetric", kernel="product", training_set=training_set).fit(pairs, y)
    other = PairRidge("antisymmetric", kernel="product").fit(pairs, y)
    np.testing.assert_allclose(model.decision_std(pairs), other.decision_std(pairs), rtol=1e-9)


def test_model_files_keep_what_was_observed(tmp_path):
    pairs = some_pairs(16)
    model = PairRidge("antisymmetric").fit(pairs, pairs.antisymmetric[:, 0])
    pairity.save(model, tmp_path / "m.pairity")
    loaded = pairity.load(tmp_path / "m.pairity")
    assert (loaded.decision_std(pairs) == model.decision_std(pairs)).all()


def test_another_fit_forgets_what_was_observed():
    pairs = some_pairs(18)
    y = np.random.default_rng(6).choice([-1, 1], len(pairs))
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    assert len(model.observed_) == len(pairs)
    model.set_params(solver="low_rank").fit(pairs, y)
    assert not hasattr(model, "observed_")


def test_refusals():
    pairs = some_pairs(17)
    y = np.random.default_rng(6).choice([-1, 1], len(pairs))
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    for level in (0.0, 1.0, "high", np.nan):
        with pytest.raises(ValueError, match="expected a number between 0 and 1"):
            model.predict_interval(pairs, level)
    with pytest.raises(ValueError, match="expected one of 'function', 'outcome'"):
        model.predict_interval(pairs, of="luck")
    low_rank = PairLogistic("antisymmetric", kernel="linear", solver="low_rank").fit(pairs, y)
    with pytest.raises(ValueError, match="keeps no training pairs"):
        low_rank.decision_std(pairs)


@pytest.mark.parametrize("n_landmarks", [None, 25])
def test_coverage_of_regression(n_landmarks, monkeypatch):
    """90 % intervals of a function drawn from the prior, over 60 functions of 30 pairs each."""
    if n_landmarks is not None:
        monkeypatch.setattr(posteriors, "_MOST_PAIRS", 0)
        monkeypatch.setattr(kernel_posterior, "_MOST_LANDMARKS", n_landmarks)
    random, hits = np.random.default_rng(0), []
    kernel = Gaussian(1.5)
    for _ in range(60):
        pairs = some_pairs(random.integers(2**31), n=60, widths=(0, 0))
        gram = gram_of(kernel, "antisymmetric", pairs)
        values, vectors = np.linalg.eigh(gram)
        truth = 3.0 * vectors @ (np.sqrt(np.maximum(values, 0)) * random.normal(size=len(values)))
        y = truth[:30] + random.normal(scale=3.0 * np.sqrt(0.1), size=30)
        model = PairRidge("antisymmetric", kernel=kernel, alpha=0.2).fit(pairs[:30], y)
        assert model._posterior().is_exact == (n_landmarks is None)
        low, high = model.predict_interval(pairs[30:]).T
        hits.append(np.mean((low <= truth[30:]) & (truth[30:] <= high)))
    assert 0.87 <= np.mean(hits) <= 0.93
