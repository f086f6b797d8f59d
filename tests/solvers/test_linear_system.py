"""Shifted systems: both ways against ``numpy.linalg.solve``, and what the preconditioner saves."""

import numpy as np
import pytest

import cases
from pairity import Pairs
from pairity.kernels import DirectSum, Gaussian, Linear, MetricLearning, SkewBalanced, Tensor
from pairity.operators import PairOperator
from pairity.operators.modes import leading_modes
from pairity.runtime.resources import Budget
from pairity.solvers.linear_system import ShiftedSystems, _Iterative

KERNELS = [
    Tensor(Gaussian(1.1)),
    SkewBalanced(Gaussian(1.1)),
    MetricLearning(Gaussian(1.1)),
    DirectSum(Gaussian(1.1)),
    Gaussian(1.3),
]
N = 80


def problem(kernel, n=N, m=20, seed=21):
    """An operator, its Gram matrix, unequal shifts and a right side."""
    pairs = cases.random_pairs(seed, n=n, m=m, widths=(2, 0, 0))
    rng = np.random.default_rng(seed)
    shift, right = rng.uniform(0.05, 3.0, size=n), rng.normal(size=n)
    return PairOperator(kernel, pairs), kernel.gram(pairs), shift, right


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_solution_is_that_of_numpy(kernel, dense):
    operator, gram, shift, right = problem(kernel)
    systems = ShiftedSystems(operator, dense=dense, budget=Budget(500.0))
    for factor in (1.0, 0.1):  # one Gram matrix, or one set of modes, for any shifts
        expected = np.linalg.solve(gram + np.diag(factor * shift), right)
        found = systems.with_shift(factor * shift).solve(right, 1e-13, 1000)
        np.testing.assert_allclose(
            found.solution, expected, rtol=0, atol=1e-11 * np.abs(expected).max()
        )
        assert found.relative_residual <= 1e-13


@pytest.mark.parametrize("tol", [1e-1, 1e-4, 1e-9])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_residual_is_what_it_says(kernel, tol):
    operator, gram, shift, right = problem(kernel)
    system = ShiftedSystems(operator, dense=False, budget=Budget(500.0)).with_shift(shift)
    found = system.solve(right, tol, 1000)
    residual = right - gram @ found.solution - shift * found.solution
    relative = np.linalg.norm(residual) / np.linalg.norm(right)
    assert found.relative_residual == pytest.approx(relative, rel=1e-3, abs=1e-15)
    assert relative <= tol


class Unconditioned:
    """No modes at all."""

    n_modes = 0


def iterations(kernel, modes, n, m, shift):
    operator, gram, _, right = problem(kernel, n, m)
    modes = leading_modes(operator, n // 2, Budget(100.0)) if modes is None else modes
    system = _Iterative(operator, np.full(n, shift), modes)
    found = system.solve(right, 1e-8, 5000)
    expected = np.linalg.solve(gram + shift * np.eye(n), right)
    np.testing.assert_allclose(found.solution, expected, atol=1e-5 * np.abs(expected).max())
    return found.n_iter


@pytest.mark.parametrize(
    "kernel",
    [Tensor(Gaussian(3.0)), SkewBalanced(Gaussian(3.0)), MetricLearning(Gaussian(3.0))],
    ids=repr,
)
def test_preconditioner_saves_most_iterations(kernel):
    """A smooth kernel and a small shift: condition numbers of 1e6 and more, in few modes."""
    with_modes = iterations(kernel, None, 400, 40, 1e-4)
    without = iterations(kernel, Unconditioned(), 400, 40, 1e-4)
    assert with_modes * 10 <= without


def test_preconditioner_of_all_modes_is_the_inverse():
    """One step, and one more for rounding."""
    operator, _, shift, right = problem(Tensor(Gaussian(1.1)))
    system = _Iterative(operator, shift, leading_modes(operator, 10_000, Budget(100.0)))
    assert system.solve(right, 1e-8, 100).n_iter == 1


# Stopping ---------------------------------------------------------------------------------------


def iterative():
    operator, _, shift, right = problem(Gaussian(1.3))
    return ShiftedSystems(operator, dense=False, budget=Budget(500.0)).with_shift(
        0.01 * shift
    ), right


def test_max_iter():
    system, right = iterative()
    found = system.solve(right, 1e-12, 3)
    assert found.n_iter == 3
    assert found.relative_residual > 1e-12


def test_report_sees_every_iteration_and_can_stop():
    system, right = iterative()
    seen = []

    def watch(iteration, relative, solution):
        seen.append((iteration, relative, solution.copy()))
        return iteration == 5

    found = system.solve(right, 1e-12, 100, watch)
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3, 4, 5]
    assert found.n_iter == 5
    assert found.relative_residual == seen[-1][1]
    assert np.array_equal(found.solution, seen[-1][2])


def test_start_is_taken_up():
    system, right = iterative()
    cold = system.solve(right, 1e-10, 1000)
    given = cold.solution.copy()
    again = system.solve(right, 1e-10, 1000, start=given)
    assert again.n_iter == 0
    assert np.array_equal(again.solution, given)
    near = system.solve(1.001 * right, 1e-10, 1000, start=given)
    assert 0 < near.n_iter < cold.n_iter
    assert np.array_equal(given, cold.solution)  # not written into


def test_right_side_of_zeros():
    system, right = iterative()
    found = system.solve(np.zeros_like(right), 1e-10, 10)
    assert (found.n_iter, found.relative_residual) == (0, 0.0)
    assert not found.solution.any()


@pytest.mark.parametrize("tol", [1e-4, 1e-7, 1e-10])
def test_rounding_does_not_add_up(tol):
    """Hundreds of iterations; the residual they keep would be wrong in the end."""
    operator, gram, _, right = problem(Gaussian(1.0), n=150, m=40)
    shift = np.full(150, 1e-4)
    found = _Iterative(operator, shift, Unconditioned()).solve(right, tol, 5000)
    assert found.n_iter > 300
    residual = right - gram @ found.solution - shift * found.solution
    assert np.linalg.norm(residual) <= 1.01 * tol * np.linalg.norm(right)


@pytest.mark.parametrize("n_modes", [0, 9])
def test_a_tolerance_below_rounding_ends_with_what_can_be_reached(n_modes):
    operator, gram, _, right = problem(Gaussian(3.0), n=150, m=40)
    shift = np.full(150, 1e-6)
    modes = leading_modes(operator, n_modes, Budget(100.0)) if n_modes else Unconditioned()
    found = _Iterative(operator, shift, modes).solve(right, 1e-15, 100_000)
    assert found.n_iter < 10_000
    assert 1e-15 < found.relative_residual < 1e-7
    residual = right - gram @ found.solution - shift * found.solution
    assert np.linalg.norm(residual) <= 1e-7 * np.linalg.norm(right)


# Edges ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [True, False])
def test_kernel_that_is_zero(dense):
    pairs = Pairs(np.zeros((4, 2)), [0, 1, 2], [1, 2, 3])
    systems = ShiftedSystems(PairOperator(Tensor(Linear()), pairs), dense=dense, budget=Budget(5.0))
    found = systems.with_shift(np.array([1.0, 2.0, 4.0])).solve(np.ones(3), 1e-12, 10)
    np.testing.assert_allclose(found.solution, [1.0, 0.5, 0.25], rtol=1e-15)


def test_shift_that_is_lost_in_rounding():
    """A singular Gram matrix: still a solution, of a problem that float64 cannot tell apart."""
    operator, gram, _, _ = problem(Tensor(Linear()))
    systems = ShiftedSystems(operator, dense=True, budget=Budget(500.0))
    right = gram @ np.ones(N)
    found = systems.with_shift(np.full(N, 1e-30)).solve(right)
    np.testing.assert_allclose(gram @ found.solution, right, rtol=0, atol=1e-9)
