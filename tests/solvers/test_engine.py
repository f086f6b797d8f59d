"""Every solver reaches the optimum of the plain one, for every kernel, symmetry and density."""

import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pairity.solvers.chunking as chunking
import pairity.solvers.smo as smo
from cases import tridiagonal
from pairity import Pairs, PairSVC
from pairity.kernels import (
    Bilinear,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    OrderInvariant,
    Polynomial,
    Product,
    SkewBalanced,
    Tensor,
    TensorMetric,
)
from pairity.kernels.algebra import Sum
from pairity.losses import hinge
from pairity.pairs.parity import Parity
from pairity.solvers import SMO, Splitting
from pairity.solvers.plan import plan
from pairity.solvers.problem import SolverOptions
from problems import halved_problem

TOL = 1e-7
ORDER_INVARIANT = [
    Gaussian(1.5),
    Product(Gaussian(1.0) + 0.5 * Linear()),
    Polynomial(3),
    Linear() + Gaussian(1.0),
]
EVEN = [
    Tensor(Gaussian(1.0)),
    DirectSum(Gaussian(1.0)),
    MetricLearning(Gaussian(1.0)),
    TensorMetric(Linear()),
]
GROUPED = [
    Gaussian(2.0),
    OrderInvariant(Bilinear(tridiagonal())),
    Tensor(Gaussian(1.0), k3=Linear()),
]
DENSITIES = ["complete", "half", "sparse", "repeated"]
SMALL_AND_LARGE = [1.0, 50.0]


def problem(symmetry, density, grouped=False, seed=0):
    """Pairs of distinct objects and noisy labels of a function of the asked symmetry."""
    rng = np.random.default_rng([seed, DENSITIES.index(density)])
    m = 50 if density == "sparse" else 13
    first, second = np.triu_indices(m, 1)
    if density != "complete":
        n = {"half": len(first) // 2, "sparse": 70, "repeated": len(first)}[density]
        chosen = rng.choice(len(first), n, replace=density == "repeated")
        first, second = first[chosen], second[chosen]
    swapped = rng.random(len(first)) < 0.5
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    objects = rng.normal(size=(m, 2))
    matrix = rng.normal(size=(2, 2))
    matrix = matrix - matrix.T if symmetry == "antisymmetric" else matrix + matrix.T
    scores = np.einsum("ij,jk,ik->i", objects[first], matrix, objects[second])
    labels = np.sign(scores + 0.3 * rng.normal(size=len(scores)))
    labels[:2] = 1, -1
    group = rng.normal(size=(2, len(first), 2)) if grouped else (None, None)
    return Pairs(objects, first, second, *group), labels


def fitted(symmetry, kernel, pairs, labels, solver, C, **options):
    return PairSVC(symmetry, kernel=kernel, C=C, solver=solver, tol=TOL, **options).fit(
        pairs, labels
    )


def cases():
    """Each kernel with each density, and each of both with a small C and a large one."""
    for symmetry in ("symmetric", "antisymmetric"):
        kernels = ORDER_INVARIANT + (EVEN if symmetry == "symmetric" else [])
        for place, kernel in enumerate(kernels):
            for number, density in enumerate(DENSITIES):
                C = SMALL_AND_LARGE[(place + number) % 2]
                name = f"{symmetry}-{kernel!r}-{density}-C={C}"
                yield pytest.param(symmetry, kernel, density, C, id=name)


def has_tensor_form(kernel):
    """A tensor kernel, alone or beside an additive one, or metric learning."""
    return isinstance(kernel, Gaussian | Product | Tensor | Sum | MetricLearning)


@pytest.fixture
def small_working_sets(monkeypatch):
    """Many rounds of chunking on small problems."""
    monkeypatch.setattr(chunking, "_FIRST_SETS", (16, 16))


@pytest.mark.parametrize(("symmetry", "kernel", "density", "C"), list(cases()))
@pytest.mark.usefixtures("small_working_sets")
def test_every_solver_agrees_with_the_plain_one(symmetry, kernel, density, C):
    pairs, labels = problem(symmetry, density)
    # on singular kernels at a large C the first-order rule creeps: some million steps, by rounding
    simplest = SMO(selection="first_order")
    plain = fitted(symmetry, kernel, pairs, labels, simplest, C, max_iter=20_000_000)
    new = problem(symmetry, "half", seed=5)[0]
    for solver in ("auto", "chunking", "splitting"):
        if solver == "splitting" and not has_tensor_form(kernel):
            with pytest.raises(ValueError, match="got solver='splitting'"):
                fitted(symmetry, kernel, pairs, labels, solver, C)
            continue
        model = fitted(symmetry, kernel, pairs, labels, solver, C)
        assert model.certificate_.holds
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        wanted = plain.decision_function(new)
        np.testing.assert_allclose(model.decision_function(new), wanted, atol=2e-5 * C)
        sign = -1.0 if symmetry == "antisymmetric" else 1.0
        assert (model.decision_function(new.swap()) == sign * model.decision_function(new)).all()


@pytest.mark.parametrize("C", SMALL_AND_LARGE)
@pytest.mark.parametrize("kernel", GROUPED, ids=repr)
@pytest.mark.usefixtures("small_working_sets")
def test_group_features(kernel, C):
    symmetry = "antisymmetric"
    pairs, labels = problem(symmetry, "half", grouped=True)
    plain = fitted(symmetry, kernel, pairs, labels, SMO(selection="first_order"), C)
    model = fitted(symmetry, kernel, pairs, labels, "chunking", C)
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)


@pytest.mark.parametrize("C", SMALL_AND_LARGE)
@pytest.mark.parametrize("density", ["complete", "half", "repeated"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_few_distinct_group_features_have_a_grid(symmetry, density, C, monkeypatch):
    """Home or away, in one league or not: by the grid, which the plan takes for many pairs."""
    import pairity.solvers.plan as choice

    pairs, labels = problem(symmetry, density)
    rng = np.random.default_rng(3)
    flags, grounds = rng.choice([0.0, 1.0], (2, len(pairs), 1))
    pairs = Pairs(pairs.objects, pairs.first, pairs.second, flags, 2.0 * grounds - 1.0)
    kernel = Gaussian(1.5)
    plain = fitted(symmetry, kernel, pairs, labels, SMO(selection="first_order"), C)
    monkeypatch.setattr(choice, "_FEW_PAIRS", 10)
    for solver in ("auto", "splitting"):
        model = fitted(symmetry, kernel, pairs, labels, solver, C)
        assert model.certificate_.holds
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        sign = -1.0 if symmetry == "antisymmetric" else 1.0
        there, back = (model.decision_function(side) for side in (pairs, pairs.swap()))
        assert (there == sign * back).all()
        np.testing.assert_allclose(there, plain.decision_function(pairs), atol=2e-5 * C)


def test_the_grid_is_worth_less_dense_sets_at_a_large_C(monkeypatch):
    import pairity.solvers.plan as choice

    monkeypatch.setattr(choice, "_FEW_PAIRS", 10)
    monkeypatch.setattr(choice, "_DENSE_ENOUGH", 0.1)
    sparse, labels = problem("antisymmetric", "sparse")  # 6 % of all pairs
    chosen = []
    for C in (1.0, 100.0, 1e7):
        loss = hinge(labels, np.full(len(labels), C))
        found = halved_problem(SkewBalanced(Gaussian(1.0)), sparse, loss, Parity.ODD)
        chosen.append(plan(found, "auto", SolverOptions()).solver)
    assert chosen == ["chunking", "splitting", "chunking"]


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_precision_of_splitting_does_not_show(symmetry, precision):
    pairs, labels = problem(symmetry, "complete")
    model = fitted(symmetry, Gaussian(1.0), pairs, labels, Splitting(precision), 0.3)
    plain = fitted(symmetry, Gaussian(1.0), pairs, labels, "smo", 0.3)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_pairs_of_an_object_with_itself():
    """Symmetric case: they are observations like any other, on the diagonal of the grid."""
    pairs, labels = problem("symmetric", "complete")
    m = pairs.n_objects
    both = Pairs(
        pairs.objects,
        np.concatenate([pairs.first, np.arange(m)]),
        np.concatenate([pairs.second, np.arange(m)]),
    )
    labels = np.concatenate([labels, np.ones(m)])
    values = [
        fitted("symmetric", Gaussian(1.0), both, labels, solver, 1.0).objective_
        for solver in ("smo", "chunking", "splitting")
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-7)


# What is chosen, and why -------------------------------------------------------------------------


def halved(density, kernel=None):
    pairs, labels = problem("antisymmetric", density)
    kernel = SkewBalanced(kernel or Gaussian(1.0))
    return halved_problem(kernel, pairs, hinge(labels, np.ones(len(labels))), Parity.ODD)


def test_choice_follows_size_density_and_kernel(monkeypatch):
    import pairity.solvers.plan as choice

    options = SolverOptions()
    assert plan(halved("complete"), "auto", options).solver == "chunking"
    monkeypatch.setattr(choice, "_FEW_PAIRS", 10)
    assert plan(halved("complete"), "auto", options).solver == "splitting"
    assert plan(halved("sparse"), "auto", options).solver == "chunking"
    assert plan(halved("complete", Polynomial(3)), "auto", options).solver == "primal"
    assert plan(halved("complete", Polynomial(40)), "auto", options).solver == "chunking"
    watched = SolverOptions(callback=lambda iterate: None)
    assert plan(halved("complete"), "auto", watched).solver == "smo"


def test_too_little_memory_is_refused_with_a_sentence():
    pairs, labels = problem("antisymmetric", "complete")
    model = PairSVC("antisymmetric", kernel=Gaussian(1.0), memory_limit=0.001)
    with pytest.raises(MemoryError, match=r"memory limit is 0\.001 MB"):
        model.fit(pairs, labels)


def test_little_memory_takes_a_cheaper_way(monkeypatch):
    import pairity.solvers.plan as choice

    monkeypatch.setattr(choice, "_FEW_PAIRS", 10)
    tight = plan(halved("complete"), "auto", SolverOptions(memory_limit=0.025))
    assert tight.solver == "chunking"
    assert "too large for the grid" in tight.reason
    assert tight.largest_set < len(halved("complete"))


def test_verbose_says_what_was_chosen_and_why(capsys):
    pairs, labels = problem("antisymmetric", "complete")
    PairSVC("antisymmetric", kernel=Gaussian(1.0), verbose=True).fit(pairs, labels)
    said = capsys.readouterr().err
    assert "solver chunking: 78 pairs of 13 objects, 100 % of all pairs" in said
    assert "relative gap" in said


@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting"])
def test_an_interrupt_comes_out_of_fit(solver, monkeypatch):
    """Ctrl-C during a fit: no model that looks fitted, not even after an earlier fit."""
    import pairity.estimators.machine as base

    class Interrupting:
        def __init__(self, tol, measure):
            self.calls = 0

        def __call__(self, where, violation):
            self.calls += 1
            if self.calls == (1 if solver == "smo" else 3):
                assert threading.current_thread() is threading.main_thread()
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(base, "Progress", Interrupting)
    monkeypatch.setattr(chunking, "_FIRST_SETS", (8, 8))
    pairs, labels = problem("antisymmetric", "complete")
    many = pairs[np.tile(np.arange(len(pairs)), 30)]  # SMO reports after a thousand steps
    model = PairSVC(
        "antisymmetric", kernel=Gaussian(0.2), C=1e4, solver=solver, tol=1e-10, verbose=True
    )
    fitted = clone(model).set_params(verbose=False, tol=1e-3).fit(pairs, labels)
    # a process that was started in the background ignores the signal
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for one in (model, fitted.set_params(verbose=True, tol=1e-10)):
            with pytest.raises(KeyboardInterrupt):
                one.fit(many, np.tile(labels, 30))
            with pytest.raises(NotFittedError):
                one.decision_function(pairs)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
@pytest.mark.parametrize("solver", ["smo", "chunking"])
def test_compiled_loops_return_often_and_change_nothing_by_it(solver, symmetry, monkeypatch):
    """Ctrl-C is heard between calls of a loop: how much one call does is not in the result."""
    calls = []
    for module, names in (
        (smo, ("pair_steps", "single_steps")),
        (chunking, ("pair_steps_on_block", "single_steps_on_block")),
    ):
        for name in names:
            loop = getattr(module, name)
            count = lambda *given, loop=loop: (calls.append(given[-1]), loop(*given))[1]  # noqa: E731
            monkeypatch.setattr(module, name, count)
    pairs, labels = problem(symmetry, "complete")
    model = PairSVC(symmetry, kernel=Gaussian(0.2), C=1e4, solver=solver)
    whole = clone(model).fit(pairs, labels).dual_coef_
    n_calls = len(calls)
    calls.clear()
    for module in (smo, chunking):
        monkeypatch.setattr(module, "ENTRIES_PER_CALL", 3 * len(pairs))
    assert np.array_equal(clone(model).fit(pairs, labels).dual_coef_, whole)
    assert len(calls) > n_calls
    assert max(calls) == 3  # steps
