"""The system of a Newton step: conjugate gradients against a factorisation, and where they stop."""

import numpy as np
import pytest

from pairity import PairLogistic, Pairs
from pairity.kernels import Additive, Gaussian, Linear, MetricLearning
from pairity.kernels.classes import project
from pairity.losses import Logistic
from pairity.operators.blockwise import operator_within
from pairity.operators.tiles import Tiles
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget
from pairity.solvers import newton
from pairity.solvers.certificate import certify
from pairity.solvers.linear_system import DirectSystem
from pairity.solvers.newton import NewtonSystem, direct_step, iterative_step
from pairity.solvers.plan import shifted_systems
from pairity.solvers.problem import AnyProblem, SolverOptions

ALL = 10**9
SHAPES = {
    "complete": (Gaussian(2.0), Parity.ODD),
    "incomplete": (Gaussian(2.0), Parity.ODD),
    "sum": (0.5 * Gaussian(2.0) + 0.4 * Additive(Gaussian(1.5)) + 0.1 * Linear(), Parity.ODD),
    "metric": (MetricLearning(Gaussian(2.0)), Parity.EVEN),
    "even": (Gaussian(2.0), Parity.EVEN),
    "group features": (Gaussian(2.0), Parity.ODD),
    "rows as given": (Gaussian(2.0), None),
    "once": (Gaussian(2.0), Parity.ODD),
    "once, even": (Gaussian(2.0), Parity.EVEN),
}


def pairs_of(name, rng):
    if name.startswith("once"):
        return Pairs(rng.normal(size=(1040, 4)), np.arange(520), np.arange(520, 1040))
    pairs = Pairs.complete(rng.normal(size=(24, 4)))
    if name == "incomplete":
        return pairs[np.sort(rng.permutation(len(pairs))[:150])]
    if name == "group features":
        odd = rng.choice([-1.0, 1.0], size=(len(pairs), 1))
        return pairs.with_features(pairs.objects, rng.normal(size=(len(pairs), 1)), odd)
    return pairs


def problem_of(name, C=1.0):
    kernel, parity = SHAPES[name]
    rng = np.random.default_rng(3)
    pairs = pairs_of(name, rng)
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    sign = -1.0 if parity is Parity.ODD else 1.0
    values = a[:, 0] + sign * b[:, 0] + a[:, 1] * b[:, 2] + sign * a[:, 2] * b[:, 1]
    labels = np.where(values + rng.normal(size=len(pairs)) > 0.3, 1.0, -1.0)
    weights = rng.uniform(0.5, 1.5, size=len(pairs)) * C
    operator = operator_within(project(kernel, parity, pairs), pairs, Budget(500.0))
    return AnyProblem(operator, Logistic(labels, weights), parity is not Parity.ODD)


def system_of(problem, surplus):
    """A step from variables of some sum."""
    rng, loss = np.random.default_rng(4), problem.loss
    theta = loss.feasible(loss.targets * loss.weights * rng.uniform(0.0, 0.05, size=len(problem)))
    values = problem.operator.product(theta)
    pull = loss.pull(values) - theta
    total = None if not problem.has_bias else float(theta.sum()) if surplus else 0.0
    return NewtonSystem(loss.curvature(values), pull, total)


@pytest.mark.parametrize("surplus", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_both_ways_solve_the_same_system(name, surplus):
    problem = problem_of(name)
    system, operator = system_of(problem, surplus), problem.operator
    systems = shifted_systems(problem, SolverOptions(memory_limit=500.0), most=0)
    gram = operator.block(slice(None), slice(None))
    exact = direct_step(system, DirectSystem(gram, system.shift))
    weights = problem.loss.weights
    found = iterative_step(system, operator.product, systems.features, weights, 1e-11)
    size = np.abs(exact.delta).max()
    np.testing.assert_allclose(found.delta, exact.delta, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(found.values, gram @ exact.delta, rtol=0, atol=1e-7 * size)
    assert found.bias == pytest.approx(exact.bias, abs=1e-7)
    if system.surplus is not None:
        assert found.delta.sum() == pytest.approx(-system.surplus, abs=1e-8)


@pytest.mark.parametrize("allowed", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", SHAPES)
def test_no_further_than_is_allowed(name, allowed):
    problem = problem_of(name)
    system, operator, weights = system_of(problem, False), problem.operator, problem.loss.weights
    systems = shifted_systems(problem, SolverOptions(memory_limit=500.0), most=0)
    found = iterative_step(system, operator.product, systems.features, weights, allowed)
    left = operator.product(found.delta) + system.shift * found.delta + found.bias - system.right
    violation = np.abs(system.curvature * left / weights).max()
    assert violation <= 1.001 * allowed
    more = iterative_step(system, operator.product, systems.features, weights, 1e-3 * allowed)
    assert found.n_products < more.n_products


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", SHAPES)
def test_duals_are_those_of_factored_steps(name, C):
    problem, options = problem_of(name, C), SolverOptions(tol=1e-9, memory_limit=500.0)
    ways = [shifted_systems(problem, options, most) for most in (ALL, 0)]
    assert [systems.dense for systems in ways] == [True, False]
    dense, iterative = (newton.solve_newton(problem, systems, options) for systems in ways)
    assert dense.converged
    assert iterative.converged
    scale = problem.loss.weights
    np.testing.assert_allclose(iterative.theta / scale, dense.theta / scale, rtol=0, atol=1e-6)


@pytest.mark.parametrize("many", [1, ALL])
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("name", SHAPES)
def test_rough_steps_are_certified(monkeypatch, name, C, many):
    """With and without a start from few features, which is in single precision as well."""
    monkeypatch.setattr(newton, "_MANY_OBJECTS", many)
    problem, options = problem_of(name, C), SolverOptions(tol=1e-3)
    systems = shifted_systems(problem, SolverOptions(memory_limit=500.0), most=0)
    solution = newton.solve_newton(problem, systems, options)
    assert solution.converged
    certificate = certify(problem, solution.theta, 1e-3)
    assert certificate.is_at_rest
    assert abs(certificate.relative_gap) < 1e-3


def test_values_that_drifted_are_evaluated_again(monkeypatch):
    """Rough products that are off by more than the tolerance allows are found out."""
    problem = problem_of("once")
    assert isinstance(problem.operator, Tiles)
    plain = Tiles.rough_product
    monkeypatch.setattr(Tiles, "rough_product", lambda self, v: plain(self, v) * (1.0 + 1e-3))
    tol = 1e-3
    systems = shifted_systems(problem, SolverOptions(), most=0)
    systems.operator = problem.operator  # not its matrix in memory
    solution = newton.solve_newton(problem, systems, SolverOptions(tol=tol))
    assert solution.converged
    assert certify(problem, solution.theta, tol).is_at_rest


def test_few_products(monkeypatch):
    """One for each iteration of the systems, one for the clipped end: none to learn what is known."""
    counted, plain = [], Tiles.rough_product
    monkeypatch.setattr(Tiles, "rough_product", lambda self, v: counted.append(1) or plain(self, v))
    problem = problem_of("once")
    systems = shifted_systems(problem, SolverOptions(), most=0)
    systems.operator = problem.operator
    inner, step = [], newton.iterative_step

    def watched(*arguments):
        found = step(*arguments)
        inner.append(found.n_products)
        return found

    monkeypatch.setattr(newton, "iterative_step", watched)
    monkeypatch.setattr(newton, "_MANY_OBJECTS", ALL)
    solution = newton.solve_newton(problem, systems, SolverOptions(tol=1e-3))
    assert len(counted) == sum(inner) + 1 <= 16
    assert solution.n_iter == len(inner) <= 6


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_the_swap_law_holds_with_rough_steps(symmetry):
    objects = np.random.default_rng(0).normal(size=(1600, 4))
    pairs = Pairs(objects, np.arange(800), np.arange(800, 1600))
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    sign = 1.0 if symmetry == "symmetric" else -1.0
    y = np.where(a[:, 0] + sign * b[:, 0] + a[:, 1] * b[:, 2] + sign * a[:, 2] * b[:, 1] > 0, 1, -1)
    model = PairLogistic(symmetry, kernel=Gaussian(1.5)).fit(pairs, y)
    assert model.certificate_.holds
    decisions = model.decision_function(pairs)
    assert np.array_equal(model.decision_function(pairs.swap()), sign * decisions)
