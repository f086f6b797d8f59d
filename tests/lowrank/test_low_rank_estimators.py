"""``solver="low_rank"`` beside the other solvers with the same kernel: the same problem, solved."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from low_rank_twins import (
    BOTH,
    EXACT,
    LEARNERS,
    decisions,
    explicit_tables,
    kernel_of,
    learner,
    pair_features,
    primal,
    some_pairs,
    targets_of,
)
from pairity import PairRidge, PairSVC
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Additive, Gaussian, Linear, Nystroem, Product, Tensor
from pairity.kernels.classes import project
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.low_rank.form import read_form
from pairity.solvers.low_rank.function import LowRankModel

for_each = pytest.mark.parametrize("kind", LEARNERS)
for_both = pytest.mark.parametrize("symmetry", BOTH)
with_and_without_group = pytest.mark.parametrize("group", [False, True])
TOL = 1e-6


def fitted(kind, symmetry, group=False, *, sample_weight=None, strength=1.0, n=60, **options):
    pairs = some_pairs(group=group, n=n)
    y = targets_of(kind, pairs, symmetry)
    options = {"tol": TOL, **options}
    model = learner(kind, symmetry, kernel_of(group), strength, **options)
    return model.fit(pairs, y, sample_weight=sample_weight), pairs, y


def assert_same_optimum(model, exact, pairs):
    """Objectives within the gaps, decisions as close as a strongly convex problem makes them.

    ``1/2 |w - w*|^2 <= primal - optimum <= gap``, and ``|f(ab) - f*(ab)| <= |w - w*| |psi_ab|``
    apart from the bias.  Features of the model are rounded to single precision.
    """
    mine, theirs = model.certificate_, exact.certificate_
    slack = 2e-6 * abs(theirs.primal)
    assert mine.primal <= theirs.primal + slack
    assert mine.primal >= -theirs.dual - slack
    assert -mine.dual <= theirs.primal + slack
    apart = sum(np.sqrt(2.0 * (max(one.gap, 0.0) + slack)) for one in (mine, theirs))
    kernel = project(exact._model.kernel, SYMMETRIES[exact.symmetry], pairs)
    sizes = np.sqrt(kernel.diagonal(pairs))
    f, best = (decisions(one, pairs) - one.intercept_ for one in (model, exact))
    assert (np.abs(f - best) <= apart * sizes + 1e-6).all()
    assert (apart * sizes).max() < 0.1 * np.abs(best).max()  # or else that says little


@for_each
@for_both
@with_and_without_group
def test_same_model_as_the_other_solvers(kind, symmetry, group):
    model, pairs, _ = fitted(kind, symmetry, group, solver="low_rank")
    exact = fitted(kind, symmetry, group, solver=EXACT[kind], tol=1e-8)[0]
    assert isinstance(model._model, LowRankModel)
    assert_same_optimum(model, exact, pairs)
    assert_same_optimum(model, exact, some_pairs(seed=9, n=40, m=11, group=group))


@for_each
@for_both
def test_sample_weights_zeros_among_them(kind, symmetry):
    """Each learner and each symmetry with group features and without, one of them in each fit."""
    group = (kind in ("svc", "ridge")) == (symmetry == "symmetric")
    pairs = some_pairs(group=group)
    weight = np.random.default_rng(3).random(len(pairs)) * (np.arange(len(pairs)) % 4 > 0)
    weight[:2] = 1.0
    model, pairs, y = fitted(kind, symmetry, group, solver="low_rank", sample_weight=weight)
    exact = fitted(kind, symmetry, group, solver=EXACT[kind], tol=1e-8, sample_weight=weight)[0]
    assert_same_optimum(model, exact, pairs)
    kept = weight > 0
    without = clone(model).fit(pairs[kept], y[kept], sample_weight=weight[kept])
    assert without.objective_ == pytest.approx(model.objective_, rel=2e-6)


@pytest.mark.parametrize("kind", ["svc", "logistic"])
@pytest.mark.parametrize("class_weight", ["balanced", {-1: 3.0, 1: 0.5}])
def test_class_weights(kind, class_weight):
    options = {"class_weight": class_weight}
    model, pairs, _ = fitted(kind, "symmetric", solver="low_rank", **options)
    exact = fitted(kind, "symmetric", solver=EXACT[kind], **{**options, "tol": 1e-8})[0]
    assert_same_optimum(model, exact, pairs)
    plain = fitted(kind, "symmetric", solver="low_rank")[0]
    assert abs(plain.objective_ - model.objective_) > 1e-3 * abs(plain.objective_)


@for_both
def test_ridge_regression_without_a_constant(symmetry):
    options = {"fit_intercept": False}
    model, pairs, _ = fitted("ridge", symmetry, solver="low_rank", **options)
    exact = fitted("ridge", symmetry, solver="dense", **options)[0]
    assert model.intercept_ == exact.intercept_ == 0.0
    assert_same_optimum(model, exact, pairs)
    np.testing.assert_allclose(
        decisions(model, pairs), decisions(exact, pairs), rtol=0.0, atol=1e-3
    )


@for_each
@for_both
def test_training_on_both_orders_is_the_same_problem(kind, symmetry):
    """Theorem 2: solved on J either way."""
    halved, full = (
        fitted(kind, symmetry, solver="low_rank", training_set=which)[0]
        for which in ("halved", "full")
    )
    pairs = some_pairs()
    assert np.array_equal(decisions(halved, pairs), decisions(full, pairs))
    assert halved.objective_ == full.objective_


@for_each
@for_both
@with_and_without_group
def test_certificate_from_decisions_alone(kind, symmetry, group):
    """Primal by hand: the norm from the parameters, losses from decisions of the model."""
    model, pairs, y = fitted(kind, symmetry, group, solver="low_rank", tol=1e-3)
    found, w = model.certificate_, model._model.parameters
    if symmetry == "symmetric":
        assert w[-1] == model.intercept_ == found.bias
        w = w[:-1]
    f = decisions(model, pairs)
    expected = primal(kind, symmetry, f[:, np.newaxis], np.ones(1), y, 1.0) - 0.5 + 0.5 * w @ w
    assert found.primal == pytest.approx(expected, rel=1e-9)
    assert 0.0 <= found.gap == found.primal + found.dual
    assert found.violation == found.relative_gap == pytest.approx(found.gap / found.primal)
    assert found.holds
    assert model.objective_ == found.dual


@for_each
@for_both
def test_decisions_are_those_of_the_formula(kind, symmetry):
    """``scale phi_a' W phi_b + ...`` with the features of the model, as whole vectors."""
    model, pairs, _ = fitted(kind, symmetry, True, solver="low_rank")
    function = model._model
    form = read_form(function.kernel, SYMMETRIES[symmetry], 2, 2)
    tables = [
        (table @ basis).astype(np.float32).astype(np.float64)
        for table, basis in zip(explicit_tables(form, pairs), function.bases, strict=True)
    ]
    psi = pair_features(form, pairs, tables)
    np.testing.assert_allclose(
        decisions(model, pairs), psi @ function.parameters, rtol=0.0, atol=1e-7
    )


# What it takes, what it keeps ---------------------------------------------------------------------


@for_each
@for_both
def test_nystroem_kernels_take_it_by_themselves(kind, symmetry):
    model = fitted(kind, symmetry, solver="auto")[0]
    assert isinstance(model._model, LowRankModel)
    assert [error.n_components for error in model.approximation_] == [8]
    assert 0.0 < model.approximation_[0].share < model.approximation_[0].largest < 1.0


def test_nystroem_inside_a_construction_takes_it_too():
    """Also where the object kernel has few features of its own and stays as it is."""
    pairs = some_pairs()
    y = targets_of("svc", pairs, "antisymmetric")
    for kernel in (Product(Nystroem(Gaussian(1.5), 6)), Product(Nystroem(Linear(), 6))):
        model = PairSVC("antisymmetric", kernel=kernel).fit(pairs, y)
        assert isinstance(model._model, LowRankModel)
    assert model.approximation_ == ()
    assert hasattr(PairSVC("antisymmetric", kernel=Product(Linear())).fit(pairs, y), "support_")


def test_a_callback_is_for_other_solvers():
    pairs = some_pairs()
    y = targets_of("svc", pairs, "antisymmetric")
    seen = []
    model = PairSVC("antisymmetric", kernel=kernel_of(), callback=seen.append).fit(pairs, y)
    assert seen
    assert len(model.support_)
    for kind in LEARNERS:
        labels = targets_of(kind, pairs, "antisymmetric")
        with pytest.raises(ValueError, match="got a callback with solver='low_rank'"):
            learner(
                kind, "antisymmetric", kernel_of(), solver="low_rank", callback=seen.append
            ).fit(pairs, labels)


@for_each
@for_both
def test_too_few_steps_are_told_with_the_gap(kind, symmetry):
    pairs = some_pairs()
    y = targets_of(kind, pairs, symmetry)
    model = learner(kind, symmetry, kernel_of(), solver="low_rank", max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 steps used up") as told:
        model.fit(pairs, y)
    (warning,) = told
    found = model.certificate_
    assert not found.holds
    assert f"{found.gap:.3g} ({found.relative_gap:.2e} of the objective)" in str(warning.message)
    assert "KKT" not in str(warning.message)
    assert warning.filename == __file__


@for_each
def test_no_stale_attributes_after_another_solver(kind):
    pairs = some_pairs()
    y = targets_of(kind, pairs, "antisymmetric")
    model = learner(kind, "antisymmetric", kernel_of(), solver=EXACT[kind]).fit(pairs, y)
    of_pairs = {"support_", "support_pairs_", "dual_coef_", "_dual"}
    assert of_pairs <= set(vars(model))
    exact = set(vars(model))
    model.set_params(solver="low_rank").fit(pairs, y)
    assert not of_pairs & set(vars(model))
    fresh = learner(kind, "antisymmetric", kernel_of(), solver="low_rank").fit(pairs, y)
    assert set(vars(fresh)) == set(vars(model))
    model.set_params(solver=EXACT[kind]).fit(pairs, y)
    assert set(vars(model)) == exact


@for_each
@for_both
def test_the_same_fit_twice_and_of_a_clone(kind, symmetry):
    model, pairs, y = fitted(kind, symmetry, True, solver="low_rank")
    again = clone(model)
    assert not hasattr(again, "certificate_")
    assert str(again.get_params()) == str(model.get_params())
    again.fit(pairs, y)
    assert np.array_equal(decisions(model, pairs), decisions(again, pairs))
    assert again.certificate_ == model.certificate_
    known = pickle.loads(pickle.dumps(model))
    assert np.array_equal(decisions(known, pairs), decisions(model, pairs))


def test_verbose_fits_say_what_they_do(capsys):
    fitted("svc", "symmetric", solver="low_rank", verbose=True)
    said = capsys.readouterr().err
    assert "solver low_rank: 60 pairs of 14 objects" in said
    assert "relative gap" in said
    assert "KKT" not in said


def test_ridge_regression_cannot_leave_pairs_out():
    pairs = some_pairs()
    y = targets_of("ridge", pairs, "antisymmetric")
    for options in ({"alphas": [0.1, 1.0]}, {"leave_one_out": True}):
        model = PairRidge("antisymmetric", kernel=kernel_of(), solver="low_rank", **options)
        with pytest.raises(ValueError, match="got alphas or leave_one_out with solver='low_rank'"):
            model.fit(pairs, y)
    chosen = PairRidge("antisymmetric", kernel=kernel_of(), alphas=[0.1, 1.0, 10.0]).fit(pairs, y)
    assert isinstance(chosen._model, LowRankModel)
    assert len(chosen.loo_errors_) == 3


def test_kernels_of_few_features_need_no_landmarks():
    pairs = some_pairs()
    y = targets_of("svc", pairs, "symmetric")
    kernel = Tensor(Linear()) + 0.1 * Additive(Linear())
    model, exact = (
        PairSVC("symmetric", kernel=kernel, solver=solver, tol=1e-7).fit(pairs, y)
        for solver in ("low_rank", "chunking")
    )
    assert model.approximation_ == ()
    assert_same_optimum(model, exact, pairs)
