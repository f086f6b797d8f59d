"""Low-rank fits to what careless people bring: certified, or said not to be, but never broken."""

import warnings

import numpy as np
import pytest

from low_rank_twins import (
    BOTH,
    EXACT,
    LEARNERS,
    decisions,
    learner,
    mirrored,
    some_pairs,
    targets_of,
)
from pairity import Pairs
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Gaussian, Linear, Nystroem, Product

pytestmark = pytest.mark.filterwarnings("error")
for_each = pytest.mark.parametrize("kind", LEARNERS)
for_both = pytest.mark.parametrize("symmetry", BOTH)
CLASSIFIERS, REGRESSORS = ["svc", "logistic"], ["svr", "ridge"]


def nystroem(n_components=12):
    return Nystroem(Gaussian(1.5), n_components)


def assert_sound(model, pairs):
    """A certificate that holds, finite decisions, and the law; no warning on the way."""
    assert model.certificate_.holds
    values = decisions(model, pairs)
    assert np.isfinite(values).all()
    assert np.array_equal(decisions(model, pairs.swap()), mirrored(values, model.symmetry))
    return values


def assert_as_good_as_exact(model, kind, symmetry, kernel, pairs, y, strength=1.0):
    """Its objective beside that of another solver, within what its certificate allows."""
    exact = learner(kind, symmetry, kernel, strength, solver=EXACT[kind], tol=1e-6).fit(pairs, y)
    assert_as_good_as(exact, model, pairs, y, strength)


def assert_as_good_as(exact, model, pairs, y, strength=1.0):
    assert_sound(model, pairs)
    best = max(exact.certificate_.primal, 0.0)
    slack = 1e-6 * best + 1e-9 * model.certificate_.tol * primal_of_nothing(exact, y, strength)
    assert model.certificate_.primal <= best * (1.0 + 1.1 * model.certificate_.tol) + 2.0 * slack
    assert -model.certificate_.dual <= best + 2.0 * slack


def primal_of_nothing(model, y, strength):
    """At most the loss of the function 0."""
    return 2.0 * strength * float(np.sum(1.0 + np.abs(y) + np.asarray(y, dtype=float) ** 2))


@for_each
@for_both
def test_one_pair_and_two(kind, symmetry):
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    one = learner(kind, symmetry, nystroem())
    if kind in CLASSIFIERS and symmetry == "symmetric":
        with pytest.raises(ValueError, match="got one class only"):
            one.fit(pairs[:1], y[:1])
    else:
        assert_as_good_as_exact(
            one.fit(pairs[:1], y[:1]), kind, symmetry, nystroem(), pairs[:1], y[:1]
        )
    two = learner(kind, symmetry, nystroem()).fit(pairs[:2], y[:2])
    assert_as_good_as_exact(two, kind, symmetry, nystroem(), pairs[:2], y[:2])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_winners_first(kind):
    """All labels equal: a law of its own in the antisymmetric case."""
    pairs = some_pairs()
    y = np.ones(len(pairs))
    model = learner(kind, "antisymmetric", nystroem()).fit(pairs, y)
    assert_as_good_as_exact(model, kind, "antisymmetric", nystroem(), pairs, y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("label", [-1, 1])
def test_weights_that_leave_one_class(kind, label):
    """A constant does it, and the objective falls to nothing."""
    pairs = some_pairs()
    y = targets_of(kind, pairs, "symmetric")
    weight = np.where(y == label, 1.0, 0.0)
    model = learner(kind, "symmetric", nystroem()).fit(pairs, y, sample_weight=weight)
    values = assert_sound(model, pairs)
    assert (label * values > 0.9).all()
    assert model.certificate_.primal <= 1e-9 * np.log(2.0) * 2.0 * weight.sum()


@for_each
@for_both
@pytest.mark.parametrize("strength", [1e-12, 1e-6, 1e-3, 30.0])
def test_weak_and_strong_penalties(kind, symmetry, strength):
    pairs = some_pairs(n=100, m=20)
    y = targets_of(kind, pairs, symmetry)
    model = learner(kind, symmetry, nystroem(), strength).fit(pairs, y)
    assert_as_good_as_exact(model, kind, symmetry, nystroem(), pairs, y, strength)


@for_each
@for_both
def test_a_penalty_of_a_million(kind, symmetry):
    """Smooth losses get there; kinks may take more steps than there are, and that is told."""
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    model = learner(kind, symmetry, nystroem(), 1e6)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(pairs, y)
    found = model.certificate_
    assert found.holds == (not told)
    assert all(issubclass(one.category, ConvergenceWarning) for one in told)
    assert found.holds or kind in ("svc", "svr")
    assert found.primal >= -found.dual >= 0.8 * found.primal
    values = decisions(model, pairs)
    assert np.isfinite(values).all()
    assert np.array_equal(decisions(model, pairs.swap()), mirrored(values, symmetry))


@for_each
@for_both
def test_tolerances(kind, symmetry):
    pairs = some_pairs(n=100, m=20)
    y = targets_of(kind, pairs, symmetry)
    exact = learner(kind, symmetry, nystroem(), solver=EXACT[kind], tol=1e-6).fit(pairs, y)
    for tol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        model = learner(kind, symmetry, nystroem(), tol=tol).fit(pairs, y)
        assert model.certificate_.violation <= tol
        assert_as_good_as(exact, model, pairs, y)


CONSTANT = {
    "gaussian": (nystroem(), 3),
    "standardised": (Nystroem("gaussian", 5), 3),
    "linear": (Product(Linear()), 3),
    "no columns": (Product(Linear()), 0),
    "one landmark": (Nystroem(Product(Gaussian(1.0)), 1), 3),
}


@for_each
@for_both
@pytest.mark.parametrize("name", CONSTANT)
def test_objects_without_differences(kind, symmetry, name):
    """Constant features, zeros, or none at all: a constant function, and 0 if that must be."""
    warnings.filterwarnings("ignore", ".*is zero for these pairs")
    kernel, n_columns = CONSTANT[name]
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    value = 0.0 if name == "linear" else 2.5
    same = Pairs(np.full((pairs.n_objects, n_columns), value), pairs.first, pairs.second)
    model = learner(kind, symmetry, kernel, solver="low_rank").fit(same, y)
    values = assert_sound(model, same)
    assert np.ptp(values) == 0.0
    if symmetry == "antisymmetric":
        assert not values.any()


@for_each
@for_both
def test_repeated_objects(kind, symmetry):
    pairs = some_pairs(n=150, m=30)
    y = targets_of(kind, pairs, symmetry)
    twice = Pairs(np.vstack([pairs.objects[:15]] * 2), pairs.first, pairs.second)
    if symmetry == "antisymmetric":  # an object against its double says nothing
        apart = twice.first % 15 != twice.second % 15
        twice, y = twice[apart], y[apart]
    model = learner(kind, symmetry, nystroem()).fit(twice, y)
    assert_as_good_as_exact(model, kind, symmetry, nystroem(), twice, y)


@for_each
@for_both
def test_one_landmark(kind, symmetry):
    warnings.filterwarnings("ignore", ".*is zero for these pairs")
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    model = learner(kind, symmetry, nystroem(1)).fit(pairs, y)
    values = assert_sound(model, pairs)
    if symmetry == "antisymmetric":  # the determinant of one feature
        assert np.abs(values).max() < 1e-6


@for_each
@for_both
@pytest.mark.parametrize("factor", [1e-6, 1e3])
def test_features_in_other_units(kind, symmetry, factor):
    """A thousand times larger is a million million times the penalty for products of features."""
    pairs = some_pairs(n=150, m=30)
    y = targets_of(kind, pairs, symmetry)
    scaled = Pairs(factor * pairs.objects, pairs.first, pairs.second)
    kernel = Product(Linear())
    strength = 1.0 if factor < 1.0 else factor**-4
    model = learner(kind, symmetry, kernel, strength, solver="low_rank").fit(scaled, y)
    assert_sound(model, scaled)
    if factor > 1.0:
        plain = learner(kind, symmetry, kernel, strength * factor**4, solver="low_rank")
        same = plain.fit(pairs, y).certificate_.primal / factor**4
        assert model.certificate_.primal == pytest.approx(same, rel=2.5e-3)


@pytest.mark.parametrize("kind", REGRESSORS)
@for_both
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_targets_in_other_units(kind, symmetry, factor):
    """The same function in other units, where the losses are scaled with them."""
    pairs = some_pairs(n=150, m=30)
    y = targets_of(kind, pairs, symmetry)
    units = {"epsilon": 0.1} if kind == "svr" else {}
    scaled = {"epsilon": 0.1 * factor} if kind == "svr" else {}
    strength = factor if kind == "svr" else 1.0  # absolute errors count less than squares
    plain = learner(kind, symmetry, nystroem(), 1.0, **units).fit(pairs, y)
    model = learner(kind, symmetry, nystroem(), strength, **scaled).fit(pairs, factor * y)
    assert_sound(model, pairs)
    ratio = model.certificate_.primal / factor**2
    assert ratio == pytest.approx(plain.certificate_.primal, rel=2.5e-3)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("constant", [5.0, -1e6])
def test_targets_that_a_constant_explains(kind, constant):
    """The optimum is 0, to which nothing is close in proportion."""
    pairs = some_pairs()
    model = learner(kind, "symmetric", nystroem()).fit(pairs, np.full(len(pairs), constant))
    values = assert_sound(model, pairs)
    np.testing.assert_allclose(values, constant, rtol=1e-4, atol=0.11)


@pytest.mark.parametrize("kind", REGRESSORS)
@for_both
def test_targets_far_from_zero_or_all_zero(kind, symmetry):
    pairs = some_pairs()
    none = learner(kind, symmetry, nystroem()).fit(pairs, np.zeros(len(pairs)))
    assert not assert_sound(none, pairs).any()
    if symmetry == "symmetric":
        y = 1e6 + targets_of(kind, pairs, symmetry)
        model = learner(kind, symmetry, nystroem()).fit(pairs, y)
        assert_as_good_as_exact(model, kind, symmetry, nystroem(), pairs, y)


@pytest.mark.parametrize("kind", LEARNERS)
@for_both
def test_pairs_of_an_object_with_itself(kind, symmetry):
    """Welcome in the symmetric case, and as zeros of a regression."""
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    alone = pairs.second.copy()
    alone[:5] = pairs.first[:5]
    with_self = Pairs(pairs.objects, pairs.first, alone)
    if symmetry == "antisymmetric" and kind in REGRESSORS:
        y[:5] = 0.0
    if symmetry == "antisymmetric" and kind in CLASSIFIERS:
        with pytest.raises(ValueError, match="pairs an object with itself"):
            learner(kind, symmetry, nystroem()).fit(with_self, y)
        return
    model = learner(kind, symmetry, nystroem()).fit(with_self, y)
    assert_as_good_as_exact(model, kind, symmetry, nystroem(), with_self, y)
