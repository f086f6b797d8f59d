"""Linear problems on pair features written out by hand, solved by scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from low_rank_twins import BOTH, LEARNERS, decisions, learner, primal, some_pairs, targets_of
from pairity import PairLogistic, Pairs
from pairity.kernels import Additive, Linear, Product
from pairity.solvers.low_rank.function import LowRankModel

for_each = pytest.mark.parametrize("kind", LEARNERS)
for_both = pytest.mark.parametrize("symmetry", BOTH)
C, EPSILON = 0.5, 0.1


def sums(a, b, sign):
    """Features of ``k(a,c) + k(b,d)`` projected by (6) or (7)."""
    return (a + sign * b) / np.sqrt(2.0)


def products(a, b, sign):
    """Features of ``k(a,c) k(b,d)`` projected by (6) or (7)."""
    outer = np.einsum("ni,nj->nij", a, b)
    return ((outer + sign * outer.transpose(0, 2, 1)) / 2.0).reshape(len(a), -1)


FEATURES = {"sums": (Additive(Linear()), sums), "products": (Product(Linear()), products)}


def by_scikit_learn(kind, symmetry, psi, y):
    """Coefficients and constant of the same problem on the halved set: twice the strength."""
    odd = symmetry == "antisymmetric"
    liblinear = {"fit_intercept": False, "tol": 1e-8, "max_iter": 10**7}
    if kind == "logistic":
        machine = LogisticRegression(C=2.0 * C, fit_intercept=not odd, tol=1e-12, max_iter=10**4)
    elif kind == "ridge":
        machine = Ridge(alpha=1.0 / (2.0 * C), fit_intercept=not odd, solver="cholesky")
    elif kind == "svc":
        machine = LinearSVC(C=2.0 * C, loss="hinge", **liblinear)
        machine = machine if odd else SVC(C=2.0 * C, kernel="linear", tol=1e-9)
    else:
        machine = LinearSVR(C=2.0 * C, epsilon=EPSILON, **liblinear)
        machine = machine if odd else SVR(C=2.0 * C, epsilon=EPSILON, kernel="linear", tol=1e-9)
    machine.fit(psi, y)
    intercept = 0.0 if odd else float(np.ravel(machine.intercept_)[0])
    return np.ravel(machine.coef_), intercept


@for_each
@for_both
@pytest.mark.parametrize("features", FEATURES)
def test_objective_and_decisions(kind, symmetry, features):
    kernel, construct = FEATURES[features]
    pairs = some_pairs(n=80)
    y = targets_of(kind, pairs, symmetry)
    sign = -1.0 if symmetry == "antisymmetric" else 1.0
    psi = construct(pairs.objects[pairs.first], pairs.objects[pairs.second], sign)
    w, intercept = by_scikit_learn(kind, symmetry, psi, y)
    golden = primal(kind, symmetry, psi, w, y, C, epsilon=EPSILON, bias=intercept)

    model = learner(kind, symmetry, kernel, C, solver="low_rank", tol=1e-8).fit(pairs, y)
    assert isinstance(model._model, LowRankModel)
    assert model.certificate_.primal == pytest.approx(golden, rel=1e-6)
    assert -model.certificate_.dual == pytest.approx(golden, rel=1e-6)
    # |w - w*|^2 <= 2 (primal - optimum), both of them within 1e-6 of the optimum
    apart = 2.0 * np.sqrt(2e-6 * golden) * np.linalg.norm(psi, axis=1)
    found = decisions(model, pairs) - model.intercept_
    assert (np.abs(found - psi @ w) <= apart).all()
    if kind in ("logistic", "ridge"):
        assert model.intercept_ == pytest.approx(intercept, abs=1e-4)


def tournament(n_players=12, n_games=90, seed=2):
    """Games of players who are known by their ids alone."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n_players)
    first = rng.integers(n_players, size=n_games)
    second = (first + rng.integers(1, n_players, size=n_games)) % n_players
    wins = rng.random(n_games) < 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    return Pairs(sp.eye_array(n_players, format="csr"), first, second), np.where(wins, 1, -1)


def test_bradley_terry_by_scikit_learn():
    """Strengths of players with a penalty: logistic regression on +1 and -1 of the two ends."""
    games, y = tournament()
    rows = np.zeros((len(games), games.n_objects))
    rows[np.arange(len(games)), games.first] += 1.0
    rows[np.arange(len(games)), games.second] -= 1.0
    golden = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-12, max_iter=10**4)
    golden.fit(rows / np.sqrt(2.0), y)
    model = PairLogistic("antisymmetric", kernel=Additive(Linear()), solver="low_rank", tol=1e-10)
    model.fit(games, y)
    np.testing.assert_allclose(
        model.decision_function(games),
        golden.decision_function(rows / np.sqrt(2.0)),
        rtol=0.0,
        atol=1e-4,
    )


@for_both
def test_bradley_terry_is_what_the_exact_solver_finds(symmetry):
    games, y = tournament()
    model, exact = (
        PairLogistic(symmetry, kernel=Additive(Linear()), solver=solver, tol=1e-10).fit(games, y)
        for solver in ("low_rank", "newton")
    )
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    np.testing.assert_allclose(
        model.decision_function(games), exact.decision_function(games), rtol=0.0, atol=1e-4
    )
    newcomer = Pairs(sp.eye_array(12, 12, format="csr") * 0.0, [0, 1], [2, 3])
    assert model.decision_function(newcomer).tolist() == [model.intercept_] * 2
