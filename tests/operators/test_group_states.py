"""Grids of few distinct group features, and of additive kernels, against Gram matrices."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import (
    Additive,
    Balanced,
    Gaussian,
    Linear,
    MetricLearning,
    Product,
    SkewBalanced,
    Tensor,
)
from pairity.operators import PairOperator
from pairity.operators.spectral import SpectralGrid
from pairity.pairs.parity import Parity

M = 7


def pairs_of(symmetric=None, antisymmetric=None, n=40, seed=0):
    """Pairs of few objects whose group features are drawn from some values."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, M, n)
    second = (first + rng.integers(1, M, n)) % M
    groups = {
        name: None if values is None else rng.choice(values, size=(n, 1))
        for name, values in (("symmetric", symmetric), ("antisymmetric", antisymmetric))
    }
    return Pairs(rng.normal(size=(M, 2)), first, second, **groups).compact()


HOME = {"antisymmetric": [-1.0, 1.0]}
LEAGUES = {"symmetric": [0.0, 1.0, 3.0]}
BOTH = {"symmetric": [0.0, 1.0], "antisymmetric": [-1.0, 0.0, 1.0]}
CASES = {
    "home, odd": (SkewBalanced(Gaussian(1.5)), HOME, 2),
    "home, even": (Balanced(Gaussian(1.5)), HOME, 2),
    "always at home": (SkewBalanced(Gaussian(1.5)), {"antisymmetric": [1.0]}, 2),
    "on neutral ground": (SkewBalanced(Gaussian(1.5)), {"antisymmetric": [0.0]}, 1),
    "leagues": (Balanced(Gaussian(1.5)), LEAGUES, 3),
    "leagues and home": (SkewBalanced(Gaussian(1.5)), BOTH, 6),
    "linear k3": (Tensor(Gaussian(1.5), k3=Linear()), HOME, 2),
}
SUMS = {
    "sum, odd": SkewBalanced(0.5 * Gaussian(1.5) + 0.4 * Additive(Gaussian(2.0)) + 0.1 * Linear()),
    "sum, even": Balanced(Gaussian(1.5) + 0.3 * Linear()),
}


FORMS = [
    *(
        pytest.param(PairOperator(kernel, pairs_of(**values)), id=name)
        for name, (kernel, values, _) in CASES.items()
    ),
    *(pytest.param(PairOperator(kernel, pairs_of()), id=name) for name, kernel in SUMS.items()),
]


def is_even(operator):
    """Whether the functions have a bias."""
    return operator.grid_structure.tensor.parity is Parity.EVEN


def spread(operator, theta):
    """Coefficients on the grid: half of each at its cell, half at the mirrored one."""
    structure, pairs = operator.grid_structure, operator.left
    states, sign = structure.states, structure.tensor.parity.sign
    grid = np.zeros((len(states), M, M))
    state = states.of(pairs)
    np.add.at(grid, (state, pairs.first, pairs.second), 0.5 * theta)
    np.add.at(grid, (states.mirror[state], pairs.second, pairs.first), 0.5 * sign * theta)
    return grid


def drawn(operator, rng):
    """A right side with the symmetry of the grid."""
    states, sign = operator.grid_structure.states, operator.grid_structure.tensor.parity.sign
    plain = rng.normal(size=(len(states), M, M))
    return plain + sign * plain[states.mirror].swapaxes(1, 2)


@pytest.mark.parametrize("name", CASES)
def test_states_are_the_distinct_group_features_in_both_orders(name):
    kernel, values, n_states = CASES[name]
    pairs = pairs_of(**values)
    states = PairOperator(kernel, pairs).grid_structure.states
    assert len(states) <= n_states
    assert (states.mirror[states.mirror] == np.arange(len(states))).all()
    table = np.hstack([pairs.symmetric, pairs.antisymmetric])
    np.testing.assert_array_equal(states.rows[states.of(pairs)], table)
    swapped = np.hstack([pairs.symmetric, -pairs.antisymmetric])
    np.testing.assert_array_equal(states.rows[states.mirror[states.of(pairs)]], swapped)


@pytest.mark.parametrize("operator", FORMS)
def test_products_on_the_grid_are_those_of_the_gram_matrix(operator):
    theta = np.random.default_rng(1).normal(size=len(operator.left))
    structure, pairs = operator.grid_structure, operator.left
    values = operator.spectral_grid.apply(spread(operator, theta))
    found = values[structure.states.of(pairs), pairs.first, pairs.second]
    np.testing.assert_allclose(found, operator.kernel.gram(pairs) @ theta, atol=1e-10)


@pytest.mark.parametrize("rho", [0.03, 2.0])
@pytest.mark.parametrize("operator", FORMS)
def test_solutions_are_those_of_the_shifted_kernel(operator, rho):
    grid, right = operator.spectral_grid, drawn(operator, np.random.default_rng(2))
    for _ in range(2):  # what is kept for a shift serves it again
        solution = grid.solve(right, rho)
        np.testing.assert_allclose(grid.apply(solution) + rho * solution, right, atol=1e-9)
    rough = grid.solve(right.astype(np.float32), rho)
    assert rough.dtype == np.float32
    np.testing.assert_allclose(rough, solution, atol=1e-3 / rho)


@pytest.mark.parametrize("operator", [form for form in FORMS if is_even(form.values[0])])
def test_a_bias_makes_the_sum_vanish(operator):
    grid, right = operator.spectral_grid, drawn(operator, np.random.default_rng(3))
    solution = grid.solve(right, 0.3, constrained=True)
    assert solution.sum() == pytest.approx(0.0, abs=1e-10)
    gradient = grid.apply(solution) + 0.3 * solution - right
    np.testing.assert_allclose(gradient, gradient.mean(), atol=1e-10)  # one multiplier: the bias


@pytest.mark.parametrize(
    ("kernel", "values"),
    [
        (SkewBalanced(Gaussian(1.5)), {"antisymmetric": np.linspace(-2.0, 2.0, 9)}),  # many states
        (SkewBalanced(Gaussian(1.5) + Linear()), HOME),  # additive, with group features
        (MetricLearning(Gaussian(1.5), k3=Linear()), HOME),
        (SkewBalanced(Gaussian(1.0) + Gaussian(2.0)), {}),  # two object kernels
        (SkewBalanced(Product(Linear()) + Gaussian(2.0)), {}),
        (Balanced(Additive(Gaussian(1.0))), {}),
        (Gaussian(1.5), {}),
    ],
    ids=repr,
)
def test_nothing_else_has_such_a_form(kernel, values):
    operator = PairOperator(kernel, pairs_of(**values))
    assert operator.grid_structure is None
    assert operator.spectral_grid is None


def metric_operator(pairs=None):
    return PairOperator(MetricLearning(Gaussian(1.5)), pairs_of() if pairs is None else pairs)


def test_decisions_of_metric_learning_are_those_of_the_gram_matrix():
    operator = metric_operator()
    pairs, theta = operator.left, np.random.default_rng(4).normal(size=len(operator.left))
    values = operator.spectral_grid.apply(spread(operator, theta)[0])
    found = values[pairs.first, pairs.second]
    np.testing.assert_allclose(found, operator.kernel.gram(pairs) @ theta, atol=1e-10)


@pytest.mark.parametrize("constrained", [False, True])
def test_solutions_of_metric_learning_are_those_among_balanced_matrices(constrained):
    """Rows add up to 0, and the gradient is orthogonal to all such matrices (of trace 0)."""
    operator, rho = metric_operator(), 0.3
    grid, right = operator.spectral_grid, drawn(operator, np.random.default_rng(5))[0]
    solution = grid.solve(right, rho, constrained=constrained)
    np.testing.assert_allclose(solution.sum(axis=1), 0.0, atol=1e-12)
    gradient = grid.gram @ solution @ grid.gram + rho * solution - right
    centring = np.eye(M) - 1.0 / M
    left = centring @ gradient @ centring
    if constrained:
        assert np.trace(solution) == pytest.approx(0.0, abs=1e-12)
        left -= np.trace(left) / (M - 1) * centring
    np.testing.assert_allclose(left, 0.0, atol=1e-12)


def test_an_object_with_itself_has_no_cell_of_metric_learning():
    pairs = pairs_of()
    both = Pairs(pairs.objects, np.append(pairs.first, 2), np.append(pairs.second, 2))
    assert metric_operator(both).grid_structure is None


def test_eigenvectors_are_even_or_odd_under_the_mirror():
    states = PairOperator(SkewBalanced(Gaussian(1.5)), pairs_of(**BOTH)).grid_structure.states
    values, vectors, signs = states.decomposed()
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, states.kernel, atol=1e-12)
    np.testing.assert_allclose(vectors[states.mirror], signs * vectors, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(states)), atol=1e-12)


def test_one_state_is_the_plain_grid(rng):
    operator = PairOperator(SkewBalanced(Gaussian(1.5)), pairs_of())
    right = rng.normal(size=(M, M))
    right = right - right.T
    plain = SpectralGrid(operator.structure).solve(right, 0.2)
    np.testing.assert_array_equal(operator.spectral_grid.solve(right, 0.2), plain)
