"""Kernel logistic regression by Newton's method: scikit-learn on explicit features, scipy on the
primal, one optimum on I and J, and both ways to solve its linear systems."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import cases
from pairity import PairLogistic, Pairs
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Balanced, Gaussian, Linear, MetricLearning, Polynomial, SkewBalanced
from pairity.losses import Logistic
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers import newton, plan
from pairity.solvers.certificate import certify
from pairity.solvers.plan import shifted_systems, solve
from pairity.solvers.problem import SolverOptions
from problems import halved_problem

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

N = 40
BOTH = ["symmetric", "antisymmetric"]
EVERY = [*BOTH, "none"]
ALL = [(symmetry, case) for symmetry in BOTH for case in cases.theorem_cases(SYMMETRIES[symmetry])]
for_both = pytest.mark.parametrize("symmetry", BOTH)
for_each_symmetry = pytest.mark.parametrize("symmetry", EVERY)
for_each_penalty = pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
TIGHT = 1e-12


def data(n=N, seed=91):
    return cases.random_pairs(seed, n=n, m=15), cases.random_labels(seed, n)


def new_pairs():
    return cases.random_pairs(92, n=25)


def projected(symmetry, kernel):
    return {"symmetric": Balanced, "antisymmetric": SkewBalanced, "none": lambda kernel: kernel}[
        symmetry
    ](kernel)


def full_labels(symmetry, y):
    return np.concatenate([y, SYMMETRIES[symmetry].sign * y])


def scattered(model, n):
    theta = np.zeros(n)
    theta[model.support_] = model.dual_coef_
    return theta


# LogisticRegression of scikit-learn -------------------------------------------------------------


def golden(features, labels, C, *, intercept=True, weights=None):
    machine = LogisticRegression(
        C=C, fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    return machine.fit(features, labels, sample_weight=weights)


def assert_same_machine(ours, machine, new, features):
    expected = machine.decision_function(features)
    bound = 1e-8 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours.decision_function(new), expected, rtol=0, atol=bound)
    np.testing.assert_allclose(
        ours.predict_proba(new), machine.predict_proba(features), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        ours.predict_log_proba(new), machine.predict_log_proba(features), rtol=0, atol=bound
    )
    assert np.abs(expected).max() > 1e-2


def of_degree_2(rows):
    """All products of two columns: the features of ``<x, z>^2``."""
    return np.einsum("ni,nj->nij", rows, rows).reshape(len(rows), -1)


FEATURES = {"linear": (Linear(), np.asarray), "quadratic": (Polynomial(2), of_degree_2)}


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_each_penalty
@for_both
@pytest.mark.parametrize("name", FEATURES)
def test_rows_of_the_full_set(name, symmetry, C, training_set):
    """(1) on I, with an intercept that is 0 by itself in the antisymmetric case."""
    kernel, features = FEATURES[name]
    pairs, y = data()
    machine = golden(features(pairs.with_mirrored().to_rows()), full_labels(symmetry, y), C)
    ours = PairLogistic(symmetry, kernel=kernel, C=C, training_set=training_set, tol=TIGHT).fit(
        pairs, y
    )
    assert_same_machine(ours, machine, new_pairs(), features(new_pairs().to_rows()))
    assert ours.intercept_ == pytest.approx(machine.intercept_[0], abs=1e-8)
    if symmetry == "antisymmetric":
        assert ours.intercept_ == 0.0


def coordinates(symmetry, pairs):
    """Orthonormal coordinates of the balanced and of the skew-balanced linear kernel."""
    a, b = pairs.objects[pairs.first], pairs.objects[pairs.second]
    if symmetry == "symmetric":
        return np.hstack([(a + b) / np.sqrt(2.0), pairs.symmetric])
    return np.hstack([(a - b) / np.sqrt(2.0), pairs.antisymmetric])


@pytest.mark.parametrize("weighted", [False, True])
@for_each_penalty
@for_both
def test_coordinates_of_the_halved_set(symmetry, C, weighted):
    """2C on J; no intercept in the antisymmetric case."""
    pairs, y = data()
    weights = np.random.default_rng(5).uniform(0.2, 3.0, size=N) if weighted else None
    machine = golden(
        coordinates(symmetry, pairs),
        y,
        2.0 * C,
        intercept=symmetry == "symmetric",
        weights=weights,
    )
    ours = PairLogistic(symmetry, kernel=Linear(), C=C, tol=TIGHT).fit(pairs, y, weights)
    assert_same_machine(ours, machine, new_pairs(), coordinates(symmetry, new_pairs()))


@for_each_penalty
@pytest.mark.parametrize("name", FEATURES)
def test_rows_as_given(name, C):
    """symmetry="none" is the ordinary machine."""
    kernel, features = FEATURES[name]
    pairs, y = data()
    machine = golden(features(pairs.to_rows()), y, C)
    ours = PairLogistic("none", kernel=kernel, C=C, tol=TIGHT).fit(pairs, y)
    assert_same_machine(ours, machine, new_pairs(), features(new_pairs().to_rows()))


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("class_weight", [{-1: 3.0, 1: 0.5}, "balanced"])
def test_class_weights(symmetry, class_weight):
    pairs, y = data()
    y[:25] = 1
    y[30] = -1
    features = pairs.to_rows() if symmetry == "none" else coordinates(symmetry, pairs)
    new = new_pairs().to_rows() if symmetry == "none" else coordinates(symmetry, new_pairs())
    machine = LogisticRegression(
        C=1.0 if symmetry == "none" else 2.0,
        class_weight=class_weight,
        solver="newton-cholesky",
        tol=1e-12,
    ).fit(features, y)
    ours = PairLogistic(symmetry, kernel=Linear(), class_weight=class_weight, tol=TIGHT).fit(
        pairs, y
    )
    assert_same_machine(ours, machine, new_pairs(), new)


# The primal, by a general minimiser -------------------------------------------------------------


def primal_minimum(gram, y, c, *, intercept):
    """Objective and decisions of ``1/2 |w|^2 + c sum log(1 + exp(-y (L w + b)))``, ``K = L L'``."""
    values, vectors = np.linalg.eigh(gram)
    L = vectors * np.sqrt(np.maximum(values, 0.0))

    def objective(point):
        w, bias = point[:-1], point[-1] * intercept
        decisions = L @ w + bias
        pull = -c * y * expit(-y * decisions)
        value = 0.5 * w @ w + c * np.logaddexp(0.0, -y * decisions).sum()
        return value, np.append(w + L.T @ pull, pull.sum() * intercept)

    found = minimize(
        objective, np.zeros(len(y) + 1), jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    return found.fun, L @ found.x[:-1] + found.x[-1] * intercept


@for_each_penalty
@for_each_symmetry
def test_gaussian_kernel_against_a_general_minimiser(symmetry, C):
    pairs, y = data(24)
    gram = projected(symmetry, Gaussian(1.3)).gram(pairs)
    weight = C if symmetry == "none" else 2.0 * C
    best, decisions = primal_minimum(gram, y, weight, intercept=symmetry != "antisymmetric")
    ours = PairLogistic(symmetry, kernel=Gaussian(1.3), C=C, tol=TIGHT).fit(pairs, y)
    assert ours.certificate_.primal == pytest.approx(best, rel=1e-10)
    assert ours.certificate_.primal <= best * (1.0 + 1e-13)
    np.testing.assert_allclose(ours.decision_function(pairs), decisions, rtol=0, atol=1e-6)
    assert ours.objective_ == pytest.approx(-best, rel=1e-10)


# I and J ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_same_optimum_on_I_and_J(symmetry, case):
    """C on I, by a machine that knows nothing of swaps; 2C and the projected kernel on J."""
    pairs, y = cases.distinct_pairs(93, n=12, m=8), cases.random_labels(93, 12)
    on_I = PairLogistic("none", kernel=case.kernel, C=0.8, tol=TIGHT)
    on_I.fit(pairs.with_mirrored(), full_labels(symmetry, y))
    on_J = PairLogistic(symmetry, kernel=case.kernel, C=0.8, tol=TIGHT).fit(pairs, y)
    lifted = PairLogistic(symmetry, kernel=case.kernel, C=0.8, training_set="full", tol=TIGHT).fit(
        pairs, y
    )
    theta, sign = scattered(on_I, 24), SYMMETRIES[symmetry].sign
    bound = 1e-9
    np.testing.assert_allclose(theta[12:], sign * theta[:12], rtol=0, atol=bound)
    np.testing.assert_allclose(2.0 * theta[:12], scattered(on_J, 12), rtol=0, atol=bound)
    np.testing.assert_allclose(theta, scattered(lifted, 24), rtol=0, atol=bound)
    for model in (on_J, lifted):
        assert model.objective_ == pytest.approx(on_I.objective_, rel=1e-10)
        assert model.intercept_ == pytest.approx(on_I.intercept_, abs=1e-9)
        new = cases.random_pairs(94, n=9)
        np.testing.assert_allclose(
            model.decision_function(new), on_I.decision_function(new), rtol=0, atol=1e-8
        )


# Ways to solve the systems ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(1.3), MetricLearning(Gaussian(1.1))], ids=repr)
@for_each_penalty
def test_factored_and_iterated_systems_agree(kernel, C, monkeypatch):
    pairs, y = data()
    pairs = cases.without_group(pairs)
    for symmetry in BOTH if isinstance(kernel, Gaussian) else ["symmetric"]:
        factored = PairLogistic(symmetry, kernel=kernel, C=C, tol=1e-10).fit(pairs, y)
        with monkeypatch.context() as patch:
            patch.setattr(plan, "MOST_DENSE_PAIRS", 0)
            iterated = PairLogistic(symmetry, kernel=kernel, C=C, tol=1e-10).fit(pairs, y)
        bound = 1e-8 * C
        np.testing.assert_allclose(
            scattered(iterated, N), scattered(factored, N), rtol=0, atol=bound
        )
        assert iterated.objective_ == pytest.approx(factored.objective_, rel=1e-12)
        assert iterated.intercept_ == pytest.approx(factored.intercept_, abs=1e-8)
        assert iterated.certificate_.holds


@pytest.mark.parametrize("dense", [True, False])
def test_steps_do_not_raise_the_primal(dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(plan, "MOST_DENSE_PAIRS", 0)
    problem = problem_of("symmetric", 50.0)
    gram = problem.operator.kernel.gram(problem.operator.left)
    objectives = []
    step = newton._Run._step

    def watched(run, violation):
        theta, bias = run.state.theta, run.state.bias
        risk = problem.loss.value(gram @ theta + bias).sum()
        objectives.append(0.5 * theta @ gram @ theta + risk)
        return step(run, violation)

    monkeypatch.setattr(newton._Run, "_step", watched)
    solution = solve(problem, "newton", SolverOptions(tol=1e-10))
    objectives.append(certify(problem, solution.theta, 1e-10).primal)
    assert len(objectives) >= 5
    assert np.diff(objectives).max() <= 1e-12 * objectives[-1]


# Certificates -----------------------------------------------------------------------------------


def problem_of(symmetry, C, seed=91):
    pairs, y = data(seed=seed)
    kernel = projected(symmetry, Gaussian(1.3))
    loss = Logistic(y.astype(float), np.full(N, C))
    return halved_problem(kernel, pairs, loss, SYMMETRIES[symmetry])


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_both
def test_certificate_is_that_of_the_model(symmetry, training_set):
    """Recomputed from support pairs, coefficients and bias alone."""
    pairs, y = data()
    C = 1.7
    model = PairLogistic(symmetry, kernel=Gaussian(1.3), C=C, training_set=training_set, tol=1e-9)
    model.fit(pairs, y)
    full = training_set == "full"
    kernel = Gaussian(1.3) if full else projected(symmetry, Gaussian(1.3))
    theta, bound = model.dual_coef_, C if full else 2.0 * C
    norm = theta @ kernel.gram(model.support_pairs_) @ theta
    risk = 2.0 * C * np.log1p(np.exp(-y * model.decision_function(pairs))).sum()
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(0.5 * norm + risk, rel=1e-12)
    share = np.abs(theta) / bound
    entropy = share * np.log(share) + (1.0 - share) * np.log(1.0 - share)
    assert certificate.dual == pytest.approx(0.5 * norm + bound * entropy.sum(), rel=1e-12)
    assert certificate.holds
    assert certificate.gap >= -1e-13 * certificate.primal
    assert certificate.relative_gap <= 1e-9
    labels = full_labels(symmetry, y) if full else y
    wrong = expit(-labels * model.decision_function(model.support_pairs_))
    np.testing.assert_allclose(share, wrong, rtol=0, atol=1e-9)  # what theta stands for


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@for_both
def test_every_fit_is_certified(symmetry, C, tol):
    """Small and large C: clipped duals are what is certified, whatever they did to decisions."""
    pairs, y = data()
    model = PairLogistic(symmetry, kernel=Gaussian(1.3), C=C, tol=tol).fit(pairs, y)
    assert model.certificate_.holds
    assert (np.abs(model.dual_coef_) <= 2.0 * C).all()
    rounding = 1e-13 * model.certificate_.primal
    assert -rounding <= model.certificate_.gap
    signs = np.sign(scattered(model, N))
    assert (signs * y >= 0).all()


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@for_both
def test_separable_data(symmetry, C):
    """The optimum is finite whatever C; every training pair is right, and surely so."""
    pairs = cases.distinct_pairs(95, n=20, m=9)
    y = cases.random_labels(95, 20)
    model = PairLogistic(symmetry, kernel=Gaussian(0.3), C=C).fit(pairs, y)
    assert model.certificate_.holds
    assert model.score(pairs, y) == 1.0
    probabilities = model.predict_proba(pairs)[np.arange(20), (y > 0).astype(int)]
    assert probabilities.min() > (0.99 if C >= 1e3 else 0.5)


def contradictory():
    """Pairs that were observed with both labels: no C makes anything certain."""
    return cases.random_pairs(3, n=N, m=12, widths=(2, 0, 0)), cases.random_labels(3, N)


@pytest.mark.parametrize("C", [1e3, 1e6, 1e9])
@for_both
def test_large_duals_are_certified(symmetry, C):
    """A small share of a large bound moves decisions by much: clipping must not spoil them."""
    pairs, y = contradictory()
    model = PairLogistic(symmetry, kernel=Gaussian(1.0), C=C).fit(pairs, y)
    assert model.certificate_.holds
    assert np.abs(model.dual_coef_).max() > 0.1 * C
    assert 0.0 <= model.certificate_.relative_gap <= 1e-5


@for_both
def test_a_tolerance_below_rounding_is_said(symmetry):
    pairs, y = contradictory()
    model = PairLogistic(symmetry, kernel=Gaussian(1.0), C=1e13)
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol.*(rounding|used up)"):
        model.fit(pairs, y)
    assert np.isfinite(model.dual_coef_).all()


def test_C_beyond_float64_is_no_crash():
    """Shifts of 1/C are lost in rounding."""
    pairs, y = data()
    model = PairLogistic("symmetric", kernel=Linear(), C=1e25, max_iter=20)
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        model.fit(pairs, y)
    assert np.isfinite(model.decision_function(pairs)).all()


# Steps ------------------------------------------------------------------------------------------


def test_few_steps():
    """Quadratic convergence."""
    for symmetry in BOTH:
        pairs, y = data()
        assert PairLogistic(symmetry, kernel=Gaussian(1.3), tol=1e-12).fit(pairs, y).n_iter_ <= 8


def test_max_iter():
    pairs, y = data()
    model = PairLogistic("symmetric", kernel=Gaussian(1.3), C=10.0, tol=1e-9, max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 steps used up.*lower C"):
        model.fit(pairs, y)
    assert model.n_iter_ == 2
    assert not model.certificate_.holds


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_both
def test_callback_sees_the_way_to_the_optimum(symmetry, training_set):
    pairs, y = data()
    seen = []
    model = PairLogistic(
        symmetry,
        kernel=Gaussian(1.3),
        C=5.0,
        training_set=training_set,
        tol=1e-10,
        callback=seen.append,
    ).fit(pairs, y)
    assert [iterate.iteration for iterate in seen] == list(range(1, model.n_iter_ + 1))
    n = 2 * N if training_set == "full" else N
    assert all(len(iterate.theta) == n for iterate in seen)
    assert np.array_equal(seen[-1].theta[model.support_], model.dual_coef_)
    assert seen[-1].objective == pytest.approx(model.objective_, rel=1e-10)
    assert seen[-1].bias == pytest.approx(model.intercept_, abs=1e-9)
    violations = [iterate.violation for iterate in seen]
    assert violations[-1] <= 1e-10 < violations[0]


def test_callback_can_stop_a_fit():
    pairs, y = data()
    model = PairLogistic("symmetric", kernel=Gaussian(1.3), C=5.0, tol=1e-10)
    model.set_params(callback=lambda iterate: iterate.iteration == 2)
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        model.fit(pairs, y)
    assert model.n_iter_ == 2


def test_an_interrupt_comes_out_of_fit():
    pairs, y = data()

    def interrupt_at_two(iterate):
        if iterate.iteration == 2:
            raise KeyboardInterrupt

    model = PairLogistic(
        "symmetric", kernel=Gaussian(1.3), C=5.0, tol=1e-10, callback=interrupt_at_two
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(pairs, y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_both
def test_warm_start(symmetry, training_set):
    pairs, y = data()
    options = {"training_set": training_set, "tol": 1e-9}
    cold = PairLogistic(symmetry, kernel=Gaussian(1.3), C=2.2, **options).fit(pairs, y)
    warm = PairLogistic(symmetry, kernel=Gaussian(1.3), C=2.0, warm_start=True, **options).fit(
        pairs, y
    )
    warm.set_params(C=2.2).fit(pairs, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.dual_coef_, cold.dual_coef_, rtol=0, atol=1e-7)
    other = warm.fit(pairs[:30], -y[:30])  # another number of rows: from nothing
    fresh = PairLogistic(symmetry, kernel=Gaussian(1.3), C=2.2, **options).fit(pairs[:30], -y[:30])
    assert np.array_equal(other.dual_coef_, fresh.dual_coef_)


def test_warm_start_with_other_labels():
    """Duals of the wrong sign are clipped first."""
    pairs, y = data()
    warm = PairLogistic("antisymmetric", kernel=Gaussian(1.3), C=50.0, warm_start=True, tol=1e-9)
    warm.fit(pairs, y).set_params(C=0.5).fit(pairs, -y)
    fresh = PairLogistic("antisymmetric", kernel=Gaussian(1.3), C=0.5, tol=1e-9).fit(pairs, -y)
    np.testing.assert_allclose(warm.dual_coef_, fresh.dual_coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("start", ["bound", "half", "some"])
@for_both
def test_steps_from_anywhere(symmetry, start):
    """Whole steps would lead away: they are shortened."""
    problem, cold = (problem_of(symmetry, 100.0) for _ in range(2))
    shares = {"bound": np.ones(N), "half": np.full(N, 0.5), "some": np.arange(N) % 2}[start]
    theta = problem.loss.targets * problem.loss.weights * shares
    options = SolverOptions(tol=1e-9)
    run = newton._Run(problem, shifted_systems(problem, options), options, theta)
    assert run.iterate() == "tolerance reached"
    expected = solve(cold, "newton", SolverOptions(tol=1e-9))
    assert run.n_iter > expected.n_iter
    np.testing.assert_allclose(run.state.theta, expected.theta, rtol=0, atol=1e-5)


@for_both
def test_a_start_that_is_worse_than_none_is_not_used(symmetry):
    problem = problem_of(symmetry, 100.0)
    cold = solve(problem, "newton", SolverOptions(tol=1e-9))
    bad = problem.loss.targets * problem.loss.weights
    assert np.array_equal(solve(problem, "newton", SolverOptions(tol=1e-9), bad).theta, cold.theta)
    good = solve(problem, "newton", SolverOptions(tol=1e-9), cold.theta)
    assert good.n_iter == 0


# Weights ----------------------------------------------------------------------------------------


@for_each_symmetry
def test_weights_are_repetitions(symmetry):
    pairs, y = data()
    counts = np.random.default_rng(6).integers(1, 4, size=N)
    rows = np.repeat(np.arange(N), counts)
    weighted = PairLogistic(symmetry, kernel=Gaussian(1.3), tol=TIGHT).fit(pairs, y, counts)
    repeated = PairLogistic(symmetry, kernel=Gaussian(1.3), tol=TIGHT).fit(pairs[rows], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(new_pairs()),
        repeated.decision_function(new_pairs()),
        rtol=0,
        atol=1e-10,
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_each_symmetry
def test_rows_of_weight_zero_are_dropped(symmetry, training_set):
    pairs, y = data()
    weights = np.random.default_rng(7).uniform(0.5, 2.0, size=N)
    weights[[2, 5, 17, N - 1]] = 0.0
    kept = np.flatnonzero(weights)
    options = {"training_set": training_set, "tol": 1e-9}
    with_zeros = PairLogistic(symmetry, kernel=Gaussian(1.3), **options).fit(pairs, y, weights)
    without = PairLogistic(symmetry, kernel=Gaussian(1.3), **options)
    without.fit(pairs[kept], y[kept], weights[kept])
    assert np.array_equal(with_zeros.dual_coef_, without.dual_coef_)
    numbers = kept
    if training_set == "full" and symmetry != "none":
        numbers = np.concatenate([kept, N + kept])
    assert with_zeros.support_.tolist() == numbers.tolist()


def test_weights_given_are_not_written_into():
    pairs, y = data()
    weights = np.ones(N)
    PairLogistic("symmetric", class_weight={-1: 2.0, 1: 3.0}).fit(pairs, y, weights)
    assert (weights == 1.0).all()


@pytest.mark.parametrize("seed", [3, 8, 10])
def test_rare_labels_at_a_large_C_end_with_dual_variables_of_sum_0(seed):
    """Shortened steps leave a sum that is set right at the end: what is kept must be good enough."""
    rng = np.random.default_rng(seed)
    pairs = Pairs.complete(rng.normal(size=(40, 2)))[:120]
    labels = -np.ones(120)
    labels[rng.choice(120, 3, replace=False)] = 1.0
    kernel = MetricLearning(Gaussian(1.0))
    model = PairLogistic("symmetric", kernel=kernel, C=1e4, solver="newton").fit(pairs, labels)
    assert model.certificate_.holds
    assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()
