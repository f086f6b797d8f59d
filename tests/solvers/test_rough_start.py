"""A start from few features and the rest of the diagonal: feasible, near, and only a start."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Additive, Gaussian, MetricLearning
from pairity.kernels.classes import project
from pairity.losses.loss import epsilon_insensitive, hinge
from pairity.operators.modes import EigenModes, LandmarkModes, leading_modes
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget
from pairity.solvers.certificate import certify
from pairity.solvers.chunking import solve_chunking
from pairity.solvers.problem import AnyProblem, SolverOptions
from pairity.solvers.rough_start import rough_start

CASES = {
    "odd tensor": (Gaussian(2.0), Parity.ODD),
    "even tensor": (Gaussian(2.0), Parity.EVEN),
    "metric": (MetricLearning(Gaussian(2.0)), Parity.EVEN),
    "sum": (Gaussian(2.0) + Additive(Gaussian(1.5)), Parity.ODD),
}


def problem_of(name, loss="hinge", C=1.0, m=40):
    kernel, parity = CASES[name]
    rng = np.random.default_rng(0)
    pairs = Pairs.complete(rng.normal(size=(m, 4)))
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    sign = parity.sign
    targets = a[:, 0] + sign * b[:, 0] + a[:, 1] * b[:, 2] + sign * a[:, 2] * b[:, 1]
    targets = targets + rng.normal(size=len(pairs))
    weights = np.full(len(pairs), C)
    operator = PairOperator(project(kernel, parity, pairs), pairs)
    if loss == "hinge":
        made = hinge(np.where(targets > 0, 1.0, -1.0), weights)
    else:
        made = epsilon_insensitive(targets, weights, 0.1)
    return AnyProblem(operator, made, parity is Parity.EVEN)


@pytest.mark.parametrize("loss", ["hinge", "epsilon"])
@pytest.mark.parametrize("name", CASES)
def test_feasible_and_nearer_than_nothing(name, loss):
    problem = problem_of(name, loss)
    theta = rough_start(problem, Budget())
    assert (problem.loss.low <= theta).all()
    assert (theta <= problem.loss.high).all()
    if problem.has_bias:
        assert abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()
    best = certify(problem, solve_chunking(problem, SolverOptions(tol=1e-6)).theta, 1e-6)
    assert best.holds
    lost = certify(problem, theta, 1e-6).dual - best.dual  # both are negative
    assert 0.0 <= lost < 0.05 * abs(best.dual)


def test_all_features_give_the_optimum_up_to_the_width(monkeypatch):
    """With no rest of the diagonal only the width is between the start and the optimum."""
    monkeypatch.setattr("pairity.solvers.rough_start._WIDTH", 1e-3)
    monkeypatch.setattr("pairity.solvers.rough_start._ENOUGH", 1e-10)
    monkeypatch.setattr("pairity.solvers.rough_start._MOST_STEPS", 500)
    problem = problem_of("odd tensor", m=16)
    theta = rough_start(problem, Budget())
    best = certify(problem, solve_chunking(problem, SolverOptions(tol=1e-8)).theta, 1e-8)
    assert certify(problem, theta, 1e-8).dual == pytest.approx(best.dual, rel=2e-3)


@pytest.mark.parametrize("name", CASES)
def test_tables_of_modes_are_their_products(name):
    problem = problem_of(name)
    modes = leading_modes(problem.operator, 50, Budget())
    assert isinstance(modes, LandmarkModes if name == "sum" else EigenModes)
    table, weights = modes.table(), np.random.default_rng(1).normal(size=modes.n_modes)
    assert table.dtype == np.float32
    np.testing.assert_allclose(table @ weights, modes.expand(weights), atol=1e-4)


def test_the_solution_does_not_depend_on_the_start():
    problem = problem_of("odd tensor")
    options = SolverOptions(tol=1e-7)
    cold = solve_chunking(problem, options, np.zeros(len(problem)))
    warm = solve_chunking(problem, options, rough_start(problem, Budget()))
    values = problem.operator.product(cold.theta), problem.operator.product(warm.theta)
    np.testing.assert_allclose(*values, atol=1e-5)
