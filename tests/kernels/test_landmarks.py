"""Landmarks: how they are chosen, the features made of them, and what these lose."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem as SklearnNystroem

import cases
from pairity.kernels import (
    Additive,
    Gaussian,
    Linear,
    Nystroem,
    Product,
    Standardized,
    Tensor,
    approximation_errors,
)
from pairity.kernels.atoms import expand
from pairity.kernels.landmarks import WAYS, LandmarkFeatures


def objects_table(seed, n=60, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


# Against another package, and by hand -----------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_features_have_the_products_of_scikit_learns(way):
    """Golden: sklearn.kernel_approximation.Nystroem fitted to our landmarks, all of them."""
    rows, sigma = objects_table(2), 1.3
    features = Nystroem(Gaussian(sigma), 15, way).fitted_to_features(rows)
    golden = SklearnNystroem(gamma=0.5 / sigma**2, n_components=15, random_state=0)
    expected = golden.fit(features.landmarks).transform(rows)
    np.testing.assert_allclose(
        features.on_features(rows, rows), expected @ expected.T, rtol=0, atol=1e-8
    )


def test_one_landmark_by_hand():
    kernel, landmark = Gaussian(1.0), np.array([[0.0]])
    features = LandmarkFeatures(kernel, landmark, np.array([[1.0]]))
    rows = np.array([[0.0], [1.0], [2.0]])
    value = np.exp(-0.5 * rows[:, 0] ** 2)
    np.testing.assert_allclose(features.explicit(rows)[:, 0], value, rtol=1e-15)
    np.testing.assert_allclose(features.on_features(rows, rows), np.outer(value, value))
    np.testing.assert_allclose(features.paired(rows, rows[::-1]), value * value[::-1])
    error = features.error(rows)
    assert error.share == pytest.approx(1.0 - (value**2).mean(), rel=1e-14)
    assert error.largest == pytest.approx(1.0 - value[2] ** 2, rel=1e-14)
    assert error.n_components == 1


def test_paired_values_are_those_of_the_matrix():
    left, right = objects_table(3, 40), objects_table(4, 40)
    features = LandmarkFeatures.of(Gaussian(1.0), left, 8, "uniform", 0)
    left[20:] = left[:20]
    matrix = features.on_features(left, right)
    np.testing.assert_allclose(features.paired(left, right), np.diagonal(matrix), rtol=1e-12)


def test_features_come_in_blocks(monkeypatch):
    rows = objects_table(5, 33)
    features = LandmarkFeatures.of(Gaussian(1.0), rows, 8, "k-means", 0)
    whole, paired, error = (
        features.explicit(rows),
        features.paired(rows, rows),
        features.error(rows),
    )
    monkeypatch.setattr("pairity.kernels.landmarks._BLOCK_ENTRIES", 80)
    np.testing.assert_allclose(features.explicit(rows), whole, rtol=1e-12)
    np.testing.assert_allclose(features.paired(rows, rows), paired, rtol=1e-12)
    assert features.error(rows).share == pytest.approx(error.share)


# What is lost -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_the_error_falls_with_the_number_of_landmarks(way):
    rows = objects_table(10, 400, 2)
    errors = [
        Nystroem(Gaussian("median"), n, way).fitted_to_features(rows).error(rows)
        for n in (2, 8, 32, 128)
    ]
    assert [error.n_components for error in errors][:2] == [2, 8]
    assert 16 <= errors[2].n_components <= 32 <= errors[3].n_components <= 128
    for more, fewer in zip(errors[1:], errors, strict=False):
        assert more.share < 0.5 * fewer.share
        assert more.largest < fewer.largest
        assert 0.0 <= more.share <= more.largest <= 1.0
    assert errors[0].share > 0.1
    assert errors[-1].share < 1e-4


def test_k_means_loses_less_than_a_uniform_choice():
    rows = objects_table(11, 1000, 5)
    share = {
        way: np.mean(
            [
                LandmarkFeatures.of(Gaussian(2.0), rows, 30, way, s).error(rows).share
                for s in range(3)
            ]
        )
        for way in WAYS
    }
    assert share["k-means"] < 0.9 * share["uniform"]


def test_leverage_finds_groups_that_are_rare():
    """950 objects close together and ten far groups of five: most draws should not repeat."""
    rng = np.random.default_rng(12)
    far = [rng.normal(scale=0.1, size=(5, 3)) + 10.0 * rng.normal(size=3) for _ in range(10)]
    rows = np.vstack([rng.normal(scale=0.1, size=(950, 3)), *far])
    lost = {
        way: [
            LandmarkFeatures.of(Gaussian(1.0), rows, 30, way, s).error(rows).share for s in range(5)
        ]
        for way in ("leverage", "uniform")
    }
    assert np.mean(lost["leverage"]) < 0.5 * np.mean(lost["uniform"])


def test_leverage_scores_are_the_exact_ones_where_all_rows_are_in_the_sample():
    from pairity.kernels.landmarks import _scores

    rows, everyone = objects_table(13, 24), np.arange(24)
    gram = Gaussian(1.0).on_features(rows, rows)
    values = np.linalg.eigvalsh(gram)
    ridge = values[:18].sum() / 6
    expected = np.diagonal(gram @ np.linalg.inv(gram + ridge * np.eye(24)))
    scores = _scores(Gaussian(1.0), rows, np.diagonal(gram), everyone, np.ones(24))
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def test_errors_of_a_kernel_with_several_object_kernels():
    pairs = cases.random_pairs(14, n=60, m=30, widths=(3, 0, 0))
    one, two = Gaussian(0.7), Gaussian(2.0)
    fitted = Nystroem(Product(one) + Additive(two) + Additive(Linear()), 6).fitted_to(pairs)
    errors = approximation_errors(fitted, pairs.objects)
    assert len(errors) == 2
    assert max(errors, key=lambda error: error.share).share == max(
        features.error(pairs.objects).share for features in fitted.features
    )
    assert approximation_errors(Product(one), pairs.objects) == ()


@pytest.mark.parametrize(
    "kernel",
    [
        Standardized(Nystroem(Gaussian("median"), 5), "columns"),
        Nystroem(Standardized(Gaussian("median"), "columns"), 5),
        Standardized(Product(Nystroem(Gaussian("median"), 5)), "columns"),
        Standardized(Product(2.0 * Nystroem(Gaussian("median"), 5)), "columns"),
    ],
    ids=repr,
)
def test_errors_are_taken_on_the_scale_that_the_kernel_sees(kernel):
    pairs = cases.random_pairs(15, n=60, m=30, widths=(3, 0, 0), scale=100.0)
    fitted = kernel.fitted_to(pairs)
    (error,) = approximation_errors(fitted, pairs.objects)
    assert 0.0 < error.share < 0.9
    kept = [paired[0] for paired in object_values(fitted, pairs.objects)]
    factor = 2.0 if "2 *" in repr(kernel) else 1.0
    assert error.share == pytest.approx(1.0 - np.mean(kept) / factor, rel=1e-9)


def object_values(fitted, objects):
    """``k(x, x)`` of the object kernel of a fitted kernel, row by row."""
    (k1,) = {k for monomial in expand(fitted, 0, 0).terms for edge in monomial.edges for k in edge}
    return k1.on_features(objects, objects).diagonal()[:, np.newaxis]


def test_errors_leave_group_features_out():
    pairs = cases.random_pairs(16, n=40)
    fitted = Tensor(Gaussian(1.0), k2=Nystroem(Gaussian(1.0), 4)).fitted_to(pairs)
    assert isinstance(fitted.k2, LandmarkFeatures)
    assert approximation_errors(fitted, pairs.objects) == ()
