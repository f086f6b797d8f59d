"""Losses of all rows in one pass are those of the losses themselves; precise sums are exact."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from pairity.losses import Squared, epsilon_insensitive, hinge
from pairity.losses.loss import Logistic
from pairity.losses.piecewise import smoothed
from pairity.operators._feature_loops import (
    add_products_precisely,
    add_rows_precisely,
    row_squares,
)
from pairity.solvers.primal_design import Design
from pairity.solvers.primal_losses import RowLosses


def losses(rng, n=60):
    """One of each kind, a weight of 0 among them."""
    labels, weights = rng.choice([-1.0, 1.0], n), rng.uniform(0.1, 3.0, n)
    targets = rng.normal(size=n)
    piecewise = [hinge(labels, weights), epsilon_insensitive(targets, weights, 0.2)]
    return [*piecewise, Logistic(labels, weights), Squared(targets, weights)]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("width", [2.0, 0.05])
def test_one_pass_is_pull_and_curvature(kind, width):
    rng = np.random.default_rng(kind)
    loss = losses(rng)[kind]
    rows, decisions = RowLosses(loss), rng.normal(size=60)
    if rows.is_rounded:
        rows.centre = rng.uniform(loss.low, loss.high)
    twin = smoothed(loss, width, rows.centre if rows.is_rounded else 0.0)
    passed = rows.at(decisions, width)
    close = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(passed.pull, twin.pull(decisions), **close)
    np.testing.assert_allclose(passed.curvature, twin.curvature(decisions), **close)
    change = rng.normal(size=60)
    slope = rows.slope(decisions, change, 0.7, width)
    assert slope == pytest.approx(float(twin.pull(decisions + 0.7 * change) @ change), rel=1e-10)
    if rows.is_rounded:
        free, sizes = loss.is_free(passed.pull), np.abs(passed.pull)
        moves = np.abs(passed.pull - rows.centre) / loss.weights
        assert passed.off == pytest.approx(width * float(np.max(moves[free], initial=0.0)))
        price = width * float(np.sum(sizes * (1.0 - sizes / loss.weights)))
        assert passed.price == pytest.approx(price)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("n", [60, 12_000])  # in one range of rows, and in two
def test_sparse_rows_are_dense_rows(has_bias, n):
    """Some rows name a column twice, some none; a weight is 0."""
    rng = np.random.default_rng(n)
    pointers = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    indices, data = rng.integers(0, 5, pointers[-1]), rng.normal(size=pointers[-1])
    sparse = sp.csr_array((data, indices, pointers), shape=(n, 5))
    weights = rng.uniform(0.1, 3.0, n)
    weights[3] = 0.0
    losses = RowLosses(Logistic(rng.choice([-1.0, 1.0], n), weights))
    designs = Design(sparse, has_bias), Design(sparse.toarray(), has_bias)
    parameters = rng.normal(size=5 + has_bias)
    one, other = (losses.state(design, parameters, None, 1.0) for design in designs)
    close = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(one.decisions, other.decisions, **close)
    np.testing.assert_allclose(one.passed.pull, other.passed.pull, **close)
    np.testing.assert_allclose(one.passed.curvature, other.passed.curvature, **close)
    np.testing.assert_allclose(one.gradient, other.gradient, **close)
    lowers = [np.tril(design.curvature(one.passed.curvature)) for design in designs]
    np.testing.assert_allclose(*lowers, **close)
    for tol in (1e-3, 1e6):  # where some rows tell, and where all of them are looked at
        errors = [losses.error(*both, tol) for both in zip(designs, (one, other), strict=True)]
        assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    moved = designs[1].times(designs[1].penalty * other.gradient)
    rests = losses.loss.violation(other.passed.pull, other.decisions - moved)
    assert errors[1] == pytest.approx(rests, rel=1e-9)  # the last: of all rows
    inverses = [
        design.solver(state.passed.curvature, 1e-10)(state.gradient)
        for design, state in zip(designs, (one, other), strict=True)
    ]
    np.testing.assert_allclose(*inverses, rtol=1e-7, atol=1e-9)
    whole = np.diag(designs[1].penalty) + lowers[1] + np.tril(lowers[1], -1).T
    np.testing.assert_allclose(inverses[1], np.linalg.solve(whole, other.gradient), rtol=1e-7)


def test_logistic_rows_far_from_0_are_numbers():
    rows = RowLosses(Logistic(np.array([1.0, -1.0, 1.0]), np.full(3, 2.0)))
    passed = rows.at(np.array([800.0, 800.0, -800.0]), 1.0)
    np.testing.assert_array_equal(passed.pull, [0.0, -2.0, 2.0])
    np.testing.assert_array_equal(passed.curvature, [0.0, 0.0, 0.0])


def test_sums_of_products_in_two_doubles():
    """Sums that cancel to a millionth of a millionth, beside fractions."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=400) * 10.0 ** rng.integers(-6, 7, 400)
    right = rng.normal(size=400) * 10.0 ** rng.integers(-6, 7, 400)
    left, right = np.concatenate([left, left]), np.concatenate([right, -right * (1.0 + 1e-12)])
    places = rng.integers(0, 3, 400)
    places = np.concatenate([places, places]).astype(np.intp)
    upper, lower = np.zeros(3), np.zeros(3)
    add_products_precisely(places, left, right, upper, lower)
    for place in range(3):
        terms = zip(left[places == place], right[places == place], strict=True)
        exact = sum((Fraction(x) * Fraction(z) for x, z in terms), Fraction(0))
        found = Fraction(upper[place]) + Fraction(lower[place])
        size = sum(abs(x * z) for x, z in zip(left, right, strict=True))
        assert abs(float(found - exact)) <= 1e-27 * size


def test_sums_of_rows_in_two_doubles():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-6, 7, (60, 3))
    rows, amounts = rng.integers(0, 60, 300), rng.normal(size=300)
    rows, amounts = np.tile(rows, 2), np.concatenate([amounts, -amounts * (1.0 + 1e-12)])
    upper, lower = np.zeros(3), np.zeros(3)
    add_rows_precisely(rows, table, amounts, upper, lower)
    for column in range(3):
        terms = zip(table[rows, column], amounts, strict=True)
        exact = sum((Fraction(x) * Fraction(z) for x, z in terms), Fraction(0))
        found = Fraction(upper[column]) + Fraction(lower[column])
        size = np.abs(table[rows, column] * amounts).sum()
        assert abs(float(found - exact)) <= 1e-27 * size


def test_squares_of_rows_that_name_a_column_twice():
    pointers, indices = np.array([0, 2, 5, 5]), np.array([1, 3, 2, 0, 2], dtype=np.int32)
    data = np.array([1.0, 2.0, 3.0, 5.0, -1.0])
    squares = np.empty(3)
    row_squares(pointers, indices, data, 0, 3, squares)
    np.testing.assert_array_equal(squares, [5.0, 29.0, 0.0])
