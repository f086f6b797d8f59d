"""Strengths that drift: the engine of states finds what the dense kernel machine finds."""

import numpy as np
import pytest
import scipy.sparse as sp

import pairity.operators.restricted as restricted
import pairity.solvers.plan as plan
from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.kernels import Additive, Drift, Identity, Linear
from pairity.kernels.classes import project
from pairity.kernels.drift import KINDS
from pairity.operators.chain_operator import ChainOperator, chain_operator
from pairity.pairs.parity import Parity
from pairity.solvers.chain_system import ChainSystem, has_chain_system

MORE = {"periodic": {"period": 30.0}, "wiener": {"origin": 0.0}}
LEARNERS = [PairLogistic, PairRidge, PairSVC, PairSVR]


def kernel_of(kind):
    return Additive(Identity()) * Drift(25.0, kind, **MORE.get(kind, {})) + 0.2 * Linear()


def seasons(seed, n=160, m=9):
    """Named objects that meet on whole days, one of them at home; who won, and by how much."""
    rng = np.random.default_rng(seed)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    times = np.sort(rng.integers(0, 90, size=n)).astype(float)
    home = rng.choice([-1.0, 0.0, 1.0], size=(n, 1))
    names = np.array([f"team {row}" for row in range(m)])
    objects = sp.csr_array(sp.identity(m, format="csr"))
    pairs = Pairs(objects, first, second, None, home, ids=names, time=times)
    strength = rng.normal(size=m)[:, None] + np.sin(times / 20.0 + rng.uniform(0, 6, size=(m, 1)))
    rows = np.arange(n)
    margin = strength[first, rows] - strength[second, rows] + 0.4 * home[:, 0]
    margin = margin + rng.logistic(size=n)
    return pairs, margin


@pytest.fixture
def never_dense(monkeypatch):
    """No matrix in memory, nothing factored, however few pairs there are."""
    monkeypatch.setattr(restricted, "FEW_PAIRS", 0)
    monkeypatch.setattr(plan, "MOST_DENSE_PAIRS", 0)
    monkeypatch.setattr(plan, "_FEW_TO_FACTOR", 0)
    monkeypatch.setattr(plan, "_MOST_DENSE_COSTLY", 0)


def fitted(learner, symmetry, kind, pairs, margin):
    y = np.sign(margin) if hasattr(learner, "decision_function") else margin
    return learner(symmetry, kernel=kernel_of(kind), tol=1e-11).fit(pairs, y)


def values_of(model, pairs):
    return getattr(model, "decision_function", model.predict)(pairs)


@pytest.fixture(scope="module")
def dense_values():
    """Values of the machines whose matrices are held and factored."""
    pairs, margin = seasons(0)
    later = pairs.at(np.linspace(-5.0, 120.0, len(pairs)))
    return {
        (learner, symmetry, kind): values_of(fitted(learner, symmetry, kind, pairs, margin), later)
        for learner in LEARNERS
        for symmetry in ("antisymmetric", "symmetric")
        for kind in KINDS
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_states_find_what_the_dense_machine_finds(
    learner, symmetry, kind, dense_values, never_dense
):
    pairs, margin = seasons(0)
    later = pairs.at(np.linspace(-5.0, 120.0, len(pairs)))
    model = fitted(learner, symmetry, kind, pairs, margin)
    assert model.certificate_.holds
    expected = dense_values[learner, symmetry, kind]
    np.testing.assert_allclose(values_of(model, later), expected, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parity", list(Parity))
def test_systems_are_those_of_the_matrix(kind, parity):
    pairs, _ = seasons(1)
    kernel = project(kernel_of(kind), parity, pairs)
    operator = chain_operator(kernel, pairs)
    assert isinstance(operator, ChainOperator)
    assert has_chain_system(operator)
    rng = np.random.default_rng(2)
    shift, right, start = rng.uniform(0.05, 5.0, 160), rng.normal(size=160), rng.normal(size=160)
    expected = np.linalg.solve(kernel.gram(pairs) + np.diag(shift), right)
    system = ChainSystem(operator, shift)
    np.testing.assert_allclose(system.solve(right, 1e-13).solution, expected, atol=1e-10)
    warm = system.solve(right, 1e-13, start=start)
    np.testing.assert_allclose(warm.solution, expected, atol=1e-10)
    rough = system.solve(right, 1e-3)
    left = right - (kernel.gram(pairs) + np.diag(shift)) @ rough.solution
    assert rough.relative_residual == pytest.approx(np.linalg.norm(left) / np.linalg.norm(right))
    assert rough.relative_residual <= 1e-3


def test_other_operators_have_no_such_system():
    pairs, _ = seasons(3)
    without_symmetry = chain_operator(kernel_of("exponential"), pairs)
    assert without_symmetry is not None
    assert not has_chain_system(without_symmetry)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", [PairLogistic, PairRidge])
def test_an_update_is_the_fit_to_all_pairs(learner, kind, never_dense):
    pairs, margin = seasons(4)
    y = np.where(margin > 0, "won", "lost") if learner is PairLogistic else margin
    options = {"kernel": kernel_of(kind), "tol": 1e-11}
    model = learner("antisymmetric", **options).fit(pairs[:120], y[:120])
    model.update(pairs[120:140], y[120:140]).update(pairs[140:], y[140:])
    whole = learner("antisymmetric", **options).fit(pairs, y)
    assert model.certificate_.holds
    later = pairs.at(100.0)
    np.testing.assert_allclose(
        values_of(model, later), values_of(whole, later), rtol=0.0, atol=1e-8
    )
    np.testing.assert_allclose(model.decision_std(later), whole.decision_std(later), atol=1e-7)
