"""Newton's method in one compiled call ends where SciPy's minimiser and the general path end."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from pairity import PairLogistic, Pairs
from pairity.kernels import Identity, Linear
from pairity.losses import Logistic
from pairity.operators._feature_loops import add_precisely
from pairity.solvers import primal
from pairity.solvers._newton_loops import _factored, _solve_factored, newton_on_logistic
from pairity.solvers.primal_design import Design

GOAL = 1e-8


def problem(n_rows=80, width=7, *, sparse, has_bias, seed=0):
    """Rows, some of which name two columns, labels that they decide in part, and weights."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, width))
    if sparse:
        rows[rng.random(rows.shape) < 0.6] = 0.0
    labels = np.where(rows @ rng.normal(size=width) + rng.normal(size=n_rows) > 0.3, 1.0, -1.0)
    loss = Logistic(labels, rng.uniform(0.1, 3.0, n_rows))
    return Design(sp.csr_array(rows) if sparse else rows, has_bias), loss


def solved(design, loss, goal=GOAL, most=50):
    """Dual variables, and how many steps they took."""
    pull = np.empty(len(loss))
    losses = loss.targets, loss.weights, design.penalty
    return pull, newton_on_logistic(design.all_rows, *losses, goal, most, pull)


def plain(design, loss):
    """The same by SciPy on dense rows, with a last column of ones where there is a bias."""
    rows = design.rows.toarray() if design.is_sparse else design.rows
    rows = np.column_stack([rows, np.ones(len(rows))]) if design.has_bias else rows
    penalty, labels, weights = design.penalty, loss.targets, loss.weights

    def objective(parameters):
        margins = labels * (rows @ parameters)
        value = 0.5 * penalty @ parameters**2 + weights @ np.logaddexp(0.0, -margins)
        slopes = -rows.T @ (weights * labels * expit(-margins))
        return value, penalty * parameters + slopes

    start = np.zeros(rows.shape[1])
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return weights * labels * expit(-labels * (rows @ found.x))


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_rows", [1, 80, 700])  # some, or all of them are looked at first
def test_it_is_the_minimum(sparse, has_bias, n_rows):
    design, loss = problem(n_rows, sparse=sparse, has_bias=has_bias and n_rows > 1)
    pull, n_steps = solved(design, loss)
    assert 0 < n_steps < 12
    np.testing.assert_allclose(pull, plain(design, loss), atol=1e-6)


def test_columns_of_any_scale():
    design, loss = problem(sparse=False, has_bias=False)
    scales = 10.0 ** np.arange(-3, 4)
    scaled = Design(design.rows * scales, False)
    pull, n_steps = solved(scaled, loss)
    decisions = scaled.rows @ (scaled.rows.T @ pull)
    assert n_steps > 0
    assert loss.violation(pull, decisions) < 1e-6


def test_what_takes_more_care_is_left():
    design, loss = problem(sparse=True, has_bias=False)
    assert solved(design, loss, most=1)[1] == 0  # too few steps
    assert solved(design, loss, goal=-1.0)[1] == 0  # out of reach
    one_label = Logistic(np.ones(len(loss)), loss.weights)
    assert solved(Design(design.rows, True), one_label)[1] == 0  # no bias is large enough
    lost = Design(np.full((4, 2), np.nan), False)
    assert solved(lost, loss.take(np.arange(4)))[1] == 0


def test_a_last_step_with_the_matrix_before():
    """Its end is not only inside the goal: it is far inside."""
    design, loss = problem(700, sparse=True, has_bias=False)
    exact = solved(design, loss, goal=1e-13)[0]
    for goal in (1e-3, 1e-4, 1e-5):
        found, n_steps = solved(design, loss, goal)
        assert n_steps > 0
        assert np.max(np.abs(found - exact) / loss.weights) < goal


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 30])
def test_factors_are_those_of_cholesky(size):
    rng = np.random.default_rng(size)
    table = rng.normal(size=(size, size + 3))
    matrix = table @ table.T
    right = rng.normal(size=size)
    upper, solution = np.triu(matrix), right.copy()
    assert _factored(upper)
    np.testing.assert_allclose(np.triu(upper), np.linalg.cholesky(matrix).T, atol=1e-12 * size)
    _solve_factored(upper, solution)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-9)
    indefinite = matrix - 2.0 * np.max(np.linalg.eigvalsh(matrix)) * np.eye(size)
    assert not _factored(np.triu(indefinite))
    assert not _factored(np.full((size, size), np.nan))


def leaderboard(n_games, n_players=12, seed=0):
    """Games of players known by name, with a feature at the time of the game."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_players, n_games)
    second = (first + rng.integers(1, n_players, n_games)) % n_players
    strength, form = rng.normal(size=n_players), rng.normal(size=(n_games, 1))
    odds = strength[first] - strength[second] + 0.5 * form[:, 0]
    wins = np.where(rng.random(n_games) < expit(odds), 1, -1)
    objects, ids = rng.normal(size=(n_players, 2)), np.arange(n_players)
    return Pairs(objects, first, second, antisymmetric=form, ids=ids), wins


@pytest.mark.parametrize("symmetry", ["antisymmetric", "symmetric"])
@pytest.mark.parametrize("kernel", [Identity(), Linear()], ids=repr)
def test_fits_are_those_of_the_general_path(kernel, symmetry, monkeypatch):
    pairs, wins = leaderboard(120)
    fits = []
    for most in (1e9, 0):
        for name in ("_PRODUCTS_AT_ONCE", "_DENSE_AT_ONCE"):
            monkeypatch.setattr(primal, name, most)
        fits.append(PairLogistic(symmetry, kernel=kernel, tol=1e-6).fit(pairs, wins))
    for model in fits:
        assert model.certificate_.holds
        sign = -1.0 if symmetry == "antisymmetric" else 1.0
        swapped = model.decision_function(pairs.swap())
        assert (model.decision_function(pairs) == sign * swapped).all()
    decisions = [model.decision_function(pairs) for model in fits]
    np.testing.assert_allclose(*decisions, atol=1e-6)


def test_sums_in_two_doubles():
    rng = np.random.default_rng(0)
    amounts = rng.normal(size=400) * 10.0 ** rng.integers(-9, 9, 400)
    amounts, places = (
        np.concatenate([amounts, -amounts * (1.0 + 1e-12)]),
        np.tile([0, 1, 1, 2], 200),
    )
    upper, lower = np.zeros(3), np.zeros(3)
    add_precisely(places, amounts, upper, lower)
    for place in range(3):
        exact = sum((Fraction(amount) for amount in amounts[places == place]), Fraction(0))
        found = Fraction(upper[place]) + Fraction(lower[place])
        assert abs(float(found - exact)) <= 1e-28 * np.abs(amounts).sum()
