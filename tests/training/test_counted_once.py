"""Repeated observations counted once: the same model as their weights, and as every row by itself."""

import numpy as np
import pytest

from pairity import PairLogistic, Pairs, PairSVC, PairSVR
from pairity.kernels import Additive, Gaussian, Identity, Linear
from pairity.losses import hinge
from pairity.pairs.parity import SYMMETRIES
from pairity.training.counted_once import counted_once
from pairity.training.read import TrainingData

MODELS = {"hinge": (PairSVC, "chunking"), "logistic": (PairLogistic, "newton")}
KERNELS = [Identity(), Gaussian(1.5), Additive(Gaussian(1.5)) + 0.2 * Linear()]


def votes(n_votes=900, n_objects=9, group=False, seed=0):
    """Votes on a few pairs in either order, group features of two values among them."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_objects, n_votes)
    second = (first + rng.integers(1, n_objects, n_votes)) % n_objects
    objects = rng.normal(size=(n_objects, 2))
    odd = rng.choice([-1.0, 1.0], size=(n_votes, 1)) if group else None
    pairs = Pairs(objects, first, second, None, odd, ids=np.arange(n_objects))
    score = objects[first, 0] - objects[second, 0] + rng.normal(size=n_votes)
    return pairs, np.where(score > 0, 1, -1)


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("loss", MODELS)
def test_the_optimum_is_that_of_all_rows(loss, symmetry, training_set, kernel, group):
    pairs, labels = votes(group=group)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(labels))
    maker, by_rows = MODELS[loss]
    options = {"kernel": kernel, "training_set": training_set, "tol": 1e-5}
    model = maker(symmetry, **options).fit(pairs, labels, weights)
    plain = maker(symmetry, **options, solver=by_rows).fit(pairs, labels, weights)
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    new, _ = votes(50, seed=3, group=group)
    expected = plain.decision_function(new)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=2e-3)
    sign = SYMMETRIES[symmetry].sign
    assert (model.decision_function(new.swap()) == sign * model.decision_function(new)).all()


@pytest.mark.parametrize("loss", MODELS)
def test_dual_variables_are_those_of_rows(loss):
    pairs, labels = votes()
    model = MODELS[loss][0]("antisymmetric", kernel=Identity(), C=0.3).fit(pairs, labels)
    theta = np.zeros(len(labels))
    theta[model.support_] = model.dual_coef_
    assert (labels * theta >= 0.0).all()
    assert (np.abs(theta) <= 0.6).all()
    assert model.certificate_.n_support == len(model.support_)
    assert model.certificate_.n_bounded == np.count_nonzero(np.abs(theta) == 0.6)
    assert len(model.support_pairs_) == len(model.support_)


def test_the_order_of_writing_and_of_rows_changes_nothing_but_rounding():
    pairs, labels = votes()
    rng = np.random.default_rng(5)
    turned, order = rng.random(len(labels)) < 0.5, rng.permutation(len(labels))
    plain = PairLogistic("antisymmetric", kernel=Gaussian(1.5), tol=1e-8).fit(pairs, labels)
    other = PairLogistic("antisymmetric", kernel=Gaussian(1.5), tol=1e-8)
    signs = np.where(turned, -1, 1)
    other.fit(pairs.with_swapped(turned)[order], (signs * labels)[order])
    np.testing.assert_allclose(
        other.decision_function(pairs), plain.decision_function(pairs), rtol=0, atol=1e-9
    )


def training_data(pairs, targets, symmetry="antisymmetric"):
    n, weights = len(targets), np.ones(len(targets))
    rows = np.arange(n)
    compact = pairs.compact()
    return TrainingData(compact, targets, weights, SYMMETRIES[symmetry], rows, n)


def test_rows_are_told_apart_by_target_and_group_features():
    pairs, labels = votes(600, 4, group=True)
    data = training_data(pairs, labels.astype(float))
    once = counted_once(data, hinge(data.targets, data.weights))
    table = np.column_stack([pairs.first, pairs.second, labels, pairs.antisymmetric])
    turned = pairs.first > pairs.second
    table[turned] = table[turned][:, [1, 0, 2, 3]] * [1.0, 1.0, -1.0, -1.0]
    assert len(once.data) == len(np.unique(table, axis=0))
    assert once.data.weights.sum() == 600.0
    theta = np.arange(1.0, len(once.data) + 1.0)
    np.testing.assert_allclose(once.gathered(once.spread(theta)), theta)


def test_a_loss_of_ones_own_that_targets_do_not_tell_is_left_alone():
    pairs, labels = votes(600, 4)
    data = training_data(pairs, labels.astype(float))
    margins = np.random.default_rng(0).uniform(0.5, 1.5, len(labels))
    own = hinge(data.targets, data.weights)
    own = type(own)(own.low, own.high, margins * own.below, margins * own.above)
    assert counted_once(data, own) is None


@pytest.mark.parametrize("n_votes", [300, 9000])
def test_rows_that_differ_stay_as_they_are(n_votes):
    rng = np.random.default_rng(0)
    pairs, labels = votes(n_votes)
    group = rng.normal(size=(n_votes, 1))
    pairs = Pairs(pairs.objects, pairs.first, pairs.second, None, group, ids=pairs.ids)
    data = training_data(pairs, labels.astype(float))
    assert counted_once(data, hinge(data.targets, data.weights)) is None


def test_repeated_numbers_are_one_observation():
    pairs, _ = votes(600, 5)
    rng = np.random.default_rng(2)
    values = np.round(rng.normal(size=(5, 5)), 1)
    values = values - values.T
    targets = values[pairs.first, pairs.second]
    options = {"kernel": Gaussian(1.5), "tol": 1e-6, "C": 10.0}
    model = PairSVR("antisymmetric", **options).fit(pairs, targets)
    plain = PairSVR("antisymmetric", **options, solver="chunking").fit(pairs, targets)
    assert model.certificate_.holds
    np.testing.assert_allclose(model.predict(pairs), plain.predict(pairs), atol=1e-4)


def test_a_warm_start_goes_on_from_the_last_solution():
    pairs, labels = votes()
    model = PairSVC("antisymmetric", kernel=Gaussian(1.5), warm_start=True, tol=1e-6)
    first = model.fit(pairs, labels).decision_function(pairs)
    again = model.fit(pairs, labels).decision_function(pairs)
    np.testing.assert_allclose(again, first, atol=1e-4)
    assert model.certificate_.holds
