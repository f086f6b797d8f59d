"""Regression: every solver reaches the optimum of the plain one, for every symmetry and density.

Pairs are complete, half, sparse, or observed repeatedly: with one target for each unordered pair
("repeated"), or with a target of each observation's own ("contradicting").
"""

import numpy as np
import pytest

import pairity.solvers.chunking as chunking
from pairity import Pairs, PairSVR
from pairity.kernels import Gaussian, Linear, Polynomial, Product, SkewBalanced, Tensor
from pairity.kernels.algebra import Sum
from pairity.losses import epsilon_insensitive
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.solvers import SMO, Splitting
from pairity.solvers.problem import SolverOptions
from pairity.solvers.splitting import solve_splitting
from problems import halved_problem

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

TOL = 1e-7
BOTH = ["symmetric", "antisymmetric"]
DENSITIES = ["complete", "half", "sparse", "repeated", "contradicting"]
KERNELS = {
    "symmetric": [Tensor(Gaussian(1.0)), Polynomial(3)],
    "antisymmetric": [Gaussian(1.5), Product(Gaussian(1.0) + 0.5 * Linear()), Polynomial(3)],
}


def problem(symmetry, density, seed=0):
    """Pairs of distinct objects and noisy values of a function of the asked symmetry."""
    rng = np.random.default_rng([seed, DENSITIES.index(density)])
    m = 50 if density == "sparse" else 13
    first, second = np.triu_indices(m, 1)
    total = len(first)
    n = {"half": total // 2, "sparse": 70}.get(density, total)
    again = density in ("repeated", "contradicting")
    chosen = rng.choice(total, n, replace=again) if n < total or again else np.arange(total)
    first, second = first[chosen], second[chosen]
    objects = rng.normal(size=(m, 2))
    matrix = rng.normal(size=(2, 2))
    sign = SYMMETRIES[symmetry].sign
    matrix = matrix + sign * matrix.T
    noise = 0.3 * rng.normal(size=n if density == "contradicting" else total)
    targets = np.einsum("ij,jk,ik->i", objects[first], matrix, objects[second])
    targets += noise if density == "contradicting" else noise[chosen]
    turned = rng.random(n) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    return Pairs(objects, first, second), np.where(turned, sign * targets, targets)


def fitted(symmetry, kernel, density, solver, epsilon=0.2, C=1.0, **options):
    model = PairSVR(
        symmetry,
        kernel=kernel,
        C=C,
        epsilon=epsilon,
        solver=solver,
        tol=TOL,
        **options,
    )
    return model.fit(*problem(symmetry, density))


def has_tensor_form(kernel):
    """A tensor kernel, alone or beside an additive one."""
    return isinstance(kernel, Gaussian | Product | Tensor | Sum)


@pytest.fixture
def small_working_sets(monkeypatch):
    """Many rounds of chunking on small problems."""
    monkeypatch.setattr(chunking, "_FIRST_SETS", (16, 16))


def assert_same_optimum(model, plain, symmetry, C=1.0):
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    new = problem(symmetry, "half", seed=5)[0]
    values = model.predict(new)
    np.testing.assert_allclose(values, plain.predict(new), rtol=0, atol=2e-5 * C)
    assert np.array_equal(model.predict(new.swap()), SYMMETRIES[symmetry].sign * values)
    assert np.abs(values).max() > 1e-2


def cases():
    """Each kernel with each density, and each of both with a tube and without."""
    kernels = [(symmetry, kernel) for symmetry in BOTH for kernel in KERNELS[symmetry]]
    for place, (symmetry, kernel) in enumerate(kernels):
        for number, density in enumerate(DENSITIES):
            yield symmetry, kernel, density, [0.0, 0.2][(place + number) % 2]


@pytest.mark.parametrize(("symmetry", "kernel", "density", "epsilon"), list(cases()), ids=repr)
@pytest.mark.usefixtures("small_working_sets")
def test_every_solver_agrees_with_the_plain_one(symmetry, kernel, density, epsilon):
    plain = fitted(symmetry, kernel, density, SMO(selection="first_order"), epsilon)
    assert plain.certificate_.holds
    for solver in ("smo", "auto", "chunking", "splitting"):
        if solver == "splitting" and not has_tensor_form(kernel):
            with pytest.raises(ValueError, match="got solver='splitting'"):
                fitted(symmetry, kernel, density, solver, epsilon)
            continue
        assert_same_optimum(fitted(symmetry, kernel, density, solver, epsilon), plain, symmetry)


@pytest.mark.parametrize("C", [0.05, 30.0])
@pytest.mark.parametrize("density", ["complete", "contradicting"])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.usefixtures("small_working_sets")
def test_small_and_large_C(symmetry, density, C):
    plain = fitted(symmetry, Gaussian(1.0), density, "smo", C=C)
    for solver in ("chunking", "splitting"):
        model = fitted(symmetry, Gaussian(1.0), density, solver, C=C)
        assert_same_optimum(model, plain, symmetry, C)


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_precision_of_splitting_does_not_show(symmetry, precision):
    model = fitted(symmetry, Gaussian(1.0), "complete", Splitting(precision), C=0.3)
    plain = fitted(symmetry, Gaussian(1.0), "complete", "smo", C=0.3)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_training_sets(symmetry, solver, training_set):
    plain = fitted(symmetry, Gaussian(1.0), "half", "smo")
    model = fitted(symmetry, Gaussian(1.0), "half", solver, training_set=training_set)
    assert_same_optimum(model, plain, symmetry)


# The grid ---------------------------------------------------------------------------------------


def rough_solution(density, epsilon, symmetry="antisymmetric"):
    pairs, targets = problem(symmetry, density)
    loss = epsilon_insensitive(targets, np.ones(len(targets)), epsilon)
    halved = halved_problem(SkewBalanced(Gaussian(1.0)), pairs.compact(), loss, Parity.ODD)
    return halved, solve_splitting(halved, SolverOptions(tol=1e-4))


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("density", ["complete", "half", "repeated"])
def test_grid_comes_close_to_the_optimum(density, epsilon):
    """Repeated observations of one target share a cell: no other solver has to help."""
    halved, rough = rough_solution(density, epsilon)
    assert rough.converged
    theta = rough.theta
    assert (theta >= halved.loss.low).all()
    assert (theta <= halved.loss.high).all()
    best = fitted("antisymmetric", Gaussian(1.0), density, "smo", epsilon).objective_
    assert halved.objective(theta, halved.operator.product(theta)) == pytest.approx(best, rel=1e-4)


def test_grid_has_no_cell_for_several_targets():
    _, rough = rough_solution("contradicting", 0.2)
    assert not rough.converged
    assert rough.reason == "a pair with more than one target does not fit the grid"
    assert not rough.theta.any()


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
def test_most_rows_of_weight_zero(symmetry, solver):
    """The grid measures boxes by those that there are; the rest of the rows count for nothing."""
    pairs, targets = problem(symmetry, "complete")
    weights = (np.arange(len(targets)) % 4 == 0).astype(float)
    kept = weights > 0
    model = PairSVR(symmetry, kernel=Gaussian(1.0), solver=solver, tol=TOL)
    weighted = model.fit(pairs, targets, weights)
    plain = PairSVR(symmetry, kernel=Gaussian(1.0), tol=TOL).fit(pairs[kept], targets[kept])
    assert_same_optimum(weighted, plain, symmetry)
    assert kept[weighted.support_].all()


@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
def test_pairs_of_an_object_with_itself(solver):
    """Symmetric case: observations like any other, on the diagonal of the grid."""
    pairs, targets = problem("symmetric", "complete")
    m = pairs.n_objects
    both = Pairs(
        pairs.objects,
        np.concatenate([pairs.first, np.arange(m)]),
        np.concatenate([pairs.second, np.arange(m)]),
    )
    targets = np.concatenate([targets, np.linspace(-1.0, 2.0, m)])
    plain, model = (
        PairSVR("symmetric", kernel=Gaussian(1.0), solver=way, tol=TOL).fit(both, targets)
        for way in (SMO(selection="first_order"), solver)
    )
    assert_same_optimum(model, plain, "symmetric")
    assert (model.support_ >= len(pairs)).any()


# Sizes of targets -------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "epsilon"), [(1e6, 0.0), (1e6, 0.2), (1e-6, 0.2)])
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.usefixtures("small_working_sets")
def test_units_of_the_targets_do_not_matter(symmetry, solver, epsilon, scale):
    """Targets, epsilon, C and tol in other units: the same function in those units."""
    pairs, targets = problem(symmetry, "half")

    def fit(unit):
        model = PairSVR(
            symmetry,
            kernel=Gaussian(1.0),
            C=unit,
            epsilon=unit * epsilon,
            solver=solver,
            tol=unit * 1e-6,
        )
        return model.fit(pairs, unit * targets)

    plain, scaled = fit(1.0), fit(scale)
    assert scaled.certificate_.holds
    assert scaled.objective_ == pytest.approx(scale**2 * plain.objective_, rel=1e-6)
    new = problem(symmetry, "half", seed=5)[0]
    np.testing.assert_allclose(scaled.predict(new) / scale, plain.predict(new), rtol=0, atol=2e-5)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_large_and_small_targets_with_C_as_it_is(symmetry, solver, scale):
    """Nearly all duals at the bound, or none: the fit converges in either case."""
    pairs, targets = problem(symmetry, "half")
    model = PairSVR(
        symmetry, kernel=Gaussian(1.0), C=1.0, epsilon=0.1 * scale, solver=solver, tol=1e-4 * scale
    )
    certificate = model.fit(pairs, scale * targets).certificate_
    assert certificate.holds
    if scale > 1.0:
        assert certificate.n_bounded >= certificate.n_support - 2
    else:
        assert certificate.n_bounded == 0
    assert certificate.n_support > len(pairs) // 2


@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_targets_that_are_all_the_same(symmetry, solver, level):
    """Nothing to learn but a bias, in the symmetric case; zeros are met by 0 in the other."""
    if symmetry == "antisymmetric":
        level = 0.0
    pairs, _ = problem(symmetry, "half")
    model = PairSVR(symmetry, kernel=Gaussian(1.0), solver=solver).fit(
        pairs, np.full(len(pairs), level)
    )
    assert len(model.support_) == 0
    assert model.intercept_ == level
    assert (model.predict(pairs) == level).all()
    assert model.objective_ == 0.0


@pytest.mark.parametrize("solver", ["smo", "chunking"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_warm_start_from_another_box_and_other_targets(symmetry, solver):
    pairs, targets = problem(symmetry, "half")
    model = PairSVR(symmetry, kernel=Gaussian(1.0), C=20.0, solver=solver, tol=TOL, warm_start=True)
    model.fit(pairs, targets)
    model.set_params(C=0.5, epsilon=0.3).fit(pairs, -targets)
    fresh = PairSVR(symmetry, kernel=Gaussian(1.0), C=0.5, epsilon=0.3, tol=TOL).fit(
        pairs, -targets
    )
    assert_same_optimum(model, fresh, symmetry)
    again = model.n_iter_
    model.fit(pairs, -targets)
    assert model.n_iter_ <= again
    assert_same_optimum(model, fresh, symmetry)
