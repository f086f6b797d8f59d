"""Kernels whose parameters the training pairs decide: widths, scales, identity."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cases
from pairity import PairLogistic, Pairs, PairSVC
from pairity.exceptions import KernelError
from pairity.kernels import Additive, Derived, Gaussian, Identity, Linear, Standardized, Tensor
from pairity.kernels.elementary import median_distance, median_of_pairs
from pairity.kernels.standardized import Scaling


def naive_median(rows):
    rows = np.unique(rows, axis=0)
    distances = [np.linalg.norm(rows[i] - rows[j]) for i in range(len(rows)) for j in range(i)]
    return float(np.median(distances))


def test_the_median_is_over_distinct_rows():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    repeated = np.vstack([rows, rows[:25], rows[:3]])
    # squares are sorted before the root: of an even number of distances the two means differ
    assert median_distance(repeated) == pytest.approx(naive_median(rows), rel=1e-3)
    assert median_distance(repeated) == median_distance(rows[::-1])


def test_no_two_rows_no_width():
    assert median_distance(np.ones((5, 2))) == 1.0
    assert median_distance(np.zeros((3, 0))) == 1.0


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_width_and_scale_of_swapped_pairs_are_the_same(seed):
    pairs = cases.random_pairs(seed)
    assert median_of_pairs(pairs) == median_of_pairs(pairs.swap())
    one, two = Scaling.of(pairs, "columns"), Scaling.of(pairs.swap(), "columns")
    for name in ("object_shift", "object_factor", "symmetric_factor"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_allclose(one.antisymmetric_factor, two.antisymmetric_factor, rtol=1e-14)


def test_standardised_features_have_spread_one():
    pairs = cases.random_pairs(3, n=60, m=30, widths=(3, 2, 2), scale=5.0).compact()
    scaled = Scaling.of(pairs, "columns").apply(pairs)
    np.testing.assert_allclose(scaled.objects.std(axis=0), 1.0)
    np.testing.assert_allclose(scaled.objects.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.symmetric.std(axis=0), 1.0)
    np.testing.assert_allclose((scaled.antisymmetric**2).mean(axis=0), 1.0)


def test_one_common_scale_keeps_proportions():
    rng = np.random.default_rng(1)
    objects = rng.normal(size=(50, 4)) * [1.0, 2.0, 3.0, 4.0]
    pairs = Pairs.complete(objects)
    scaled = Scaling.of(pairs, "auto").apply(pairs)
    assert np.ptp(scaled.objects.std(axis=0) / objects.std(axis=0)) < 1e-12


@pytest.mark.parametrize(
    ("factors", "shift", "columns"),
    [
        ([1.0, 1.0, 5.0], 0.0, False),  # spreads alike
        ([1.0, 2.0, 1000.0], 50.0, True),  # a rating beside an age
        ([1000.0, 10.0, 1.0], 0.0, False),  # centred principal components
    ],
)
def test_units_are_told_apart(factors, shift, columns):
    objects = np.random.default_rng(2).normal(size=(400, 3))
    objects = (objects - objects.mean(axis=0)) * factors + shift
    scaling = Scaling.of(Pairs.complete(objects[:100]), "auto")
    centred = objects[:100] - objects[:100].mean(axis=0) + shift
    scaling = Scaling.of(Pairs.complete(centred), "auto")
    assert (np.ptp(scaling.object_factor) > 0) == columns


def test_repeated_rows_change_neither_width_nor_scale():
    pairs = cases.random_pairs(5, n=30, m=10)
    places = np.concatenate([np.arange(30), np.arange(10), np.arange(5)])
    one = Standardized(Gaussian("median")).fitted_to(pairs)
    two = Standardized(Gaussian("median")).fitted_to(pairs[places])
    probe = cases.random_pairs(6)
    assert np.array_equal(one.gram(probe), two.gram(probe))


def test_values_before_a_fit_are_refused():
    pairs = cases.random_pairs(1)
    with pytest.raises(KernelError, match="before its width is known"):
        Gaussian("median").gram(pairs)
    with pytest.raises(KernelError, match="before the scale is known"):
        Standardized(Linear()).gram(pairs)
    with pytest.raises(ValueError, match="sigma"):
        Gaussian("mean")
    with pytest.raises(ValueError, match="scale"):
        Standardized(Linear(), scale="rows")


def test_standardized_refuses_what_it_cannot_rescale():
    pairs = cases.random_pairs(1)
    for kernel, sentence in (
        (cases.Callable(cases.rows_dot), "kernel of whole rows"),
        (Standardized(Linear()), "inside Standardized"),
    ):
        fitted = Standardized(kernel).fitted_to(pairs)
        with pytest.raises(KernelError, match=sentence):
            fitted.gram(pairs)


def test_the_default_model_does_not_mind_the_units():
    """Metres or millimetres: the same predictions up to rounding."""
    rng = np.random.default_rng(4)
    objects = rng.normal(size=(40, 3))
    pairs = Pairs.complete(objects)
    y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    rescaled = Pairs.complete(objects * 1e4)
    one = PairSVC("antisymmetric").fit(pairs, y).decision_function(pairs)
    two = PairSVC("antisymmetric").fit(rescaled, y).decision_function(rescaled)
    np.testing.assert_allclose(one, two, atol=2e-3)
    assert (np.sign(one) == y).mean() > 0.97


def test_derived_width_is_that_of_the_derived_features():
    pairs = cases.random_pairs(8, n=30)
    kernel = Derived(Gaussian("median"), ("difference",)).fitted_to(pairs)
    differences = pairs.objects[pairs.first] - pairs.objects[pairs.second]
    both_orders = np.vstack([differences, -differences])
    assert kernel.kernel.sigma == median_distance(both_orders)
    assert kernel.kernel.sigma != median_distance(differences)  # the widths tell them apart


def test_widths_inside_constructions_are_those_of_objects():
    pairs = cases.random_pairs(9, n=40)
    used = pairs.without_unused_objects().objects
    assert Tensor(Gaussian("median")).fitted_to(pairs).k1.sigma == median_distance(used)
    grouped = Additive(Gaussian("median"), k2=Gaussian("median")).fitted_to(pairs)
    assert grouped.k2.sigma == median_distance(pairs.symmetric)


def test_identity_is_bradley_terry():
    """Against logistic regression on indicator columns, the way everybody fits Bradley-Terry."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    m, n = 8, 300
    strength = rng.normal(size=m)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    y = np.where(rng.random(n) < chance, 1, -1)
    pairs = Pairs(np.arange(m, dtype=float)[:, None], first, second)
    model = PairLogistic("antisymmetric", kernel=Identity(), C=0.7, tol=1e-9).fit(pairs, y)
    indicators = np.eye(m)[first] - np.eye(m)[second]
    # K = X X' / 2 for indicator differences X: ours is the penalty |w|^2 / 2 with weight 2C on X/sqrt(2)
    golden = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-12, max_iter=10_000)
    golden.fit(indicators, y)
    np.testing.assert_allclose(
        model.decision_function(pairs), golden.decision_function(indicators), atol=1e-6
    )


def test_features_and_identity_cover_both():
    rng = np.random.default_rng(1)
    objects = rng.normal(size=(30, 2))
    effect = objects[:, 0] + 2.0 * rng.normal(size=30)  # features tell only part of it
    pairs = Pairs.complete(objects)
    y = np.where(effect[pairs.first] > effect[pairs.second], 1, -1)
    kernel = Additive(Gaussian("median")) + Additive(Identity())
    held_out = np.arange(len(pairs)) % 4 == 0
    scores = {
        name: PairSVC("antisymmetric", kernel=k, C=10.0).fit(pairs[~held_out], y[~held_out])
        for name, k in (("both", kernel), ("features", Additive(Linear())))
    }
    accuracy = {name: model.score(pairs[held_out], y[held_out]) for name, model in scores.items()}
    assert accuracy["both"] > accuracy["features"] + 0.05


def test_identity_goes_by_ids_where_there_are_any():
    """One player at two times: other features, the same id."""
    objects = np.array([[1.0], [2.0], [3.0], [4.0]])
    pairs = Pairs(objects, [0, 2], [1, 3], ids=["ann", "bob", "ann", "cleo"])
    expected = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert np.array_equal(Identity().gram(pairs), expected)
    assert np.array_equal(Standardized(Identity()).fitted_to(pairs).gram(pairs), expected)
    assert np.array_equal((0.5 * Additive(Identity() + Identity())).gram(pairs), expected)
    assert np.array_equal(Identity().diagonal(pairs), [2.0, 2.0])
    assert np.array_equal(Identity().gram(Pairs(objects, [0, 2], [1, 3])), 2.0 * np.eye(2))


def test_identity_with_ids_on_one_side_only_is_refused():
    with_ids = Pairs(np.eye(3), [0, 1], [1, 2], ids=list("abc"))
    model = PairSVC("antisymmetric", kernel=Identity()).fit(with_ids, [1, -1])
    with pytest.raises(KernelError, match="pass ids"):
        model.decision_function(Pairs(np.eye(3), [0], [1]))


def test_kernels_of_a_fit_know_what_they_are():
    """Their tokens are kept; those of copies with other parameters, and of copies elsewhere, are not."""
    kernel = 0.5 * Gaussian("median") + Tensor(Gaussian(2.0), Linear(), Linear())
    plain = kernel.token
    kept = kernel.detached().with_token()
    assert kept.token == plain
    assert kept.token is kept.token
    assert kept == kernel
    assert hash(kept) == hash(kernel)
    fitted = kept.fitted_to(cases.random_pairs(0))
    assert fitted.token != plain  # the width is known
    for twin in (copy(kept), deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert "_token" not in vars(twin)
        assert twin == kept
    kernel.terms[0].factor = 0.25  # of the user's own, which a fit does not look at again
    assert kept.token == plain
    assert kernel.token != plain
