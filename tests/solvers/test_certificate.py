"""Certificates: a plain recomputation, laws, and solutions that must fail."""

import math

import numpy as np
import pytest

import cases
import naive
from pairity import Pairs, PairSVC
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Balanced, Gaussian, Linear, SkewBalanced
from pairity.losses import hinge
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.certificate import certify
from problems import full_problem, halved_problem

BOTH = ["symmetric", "antisymmetric"]
N, C = 12, 1.5


def problem_of(symmetry, full=False):
    pairs, y = cases.distinct_pairs(41, n=N), cases.random_labels(41, N).astype(float)
    parity, loss = SYMMETRIES[symmetry], hinge(y, np.full(N, C))
    if full:
        return full_problem(Gaussian(1.3), pairs, loss, parity)
    kernel = Balanced(Gaussian(1.3)) if symmetry == "symmetric" else SkewBalanced(Gaussian(1.3))
    return halved_problem(kernel, pairs, loss, parity)


def labels_and_bounds(problem):
    loss = problem.loss
    return loss.above, np.maximum(loss.high, -loss.low)


def dense_gram(problem):
    return problem.operator.kernel.gram(problem.operator.left)


def plain_violation(problem, beta, K):
    """Largest violation of the KKT conditions over all pairs of variables, or all variables."""
    labels, upper = labels_and_bounds(problem)
    F = naive.kkt_gradient(beta, labels, K)
    rise = naive.rise_candidates(beta, labels, upper[0], F)
    fall = naive.fall_candidates(beta, labels, upper[0], F)
    if problem.has_bias:
        return max(0.0, max(rise.values()) - min(fall.values()))
    worst = 0.0
    for i, gradient in enumerate(F):
        if beta[i] < upper[i]:
            worst = max(worst, -gradient)
        if beta[i] > 0:
            worst = max(worst, gradient)
    return worst


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("seed", range(4))
def test_equals_a_plain_recomputation(symmetry, full, seed):
    """At any point inside the bounds; what ``sum(theta) = 0`` lacks is counted with the gap."""
    problem = problem_of(symmetry, full)
    labels, upper = labels_and_bounds(problem)
    beta = np.random.default_rng(seed).uniform(0.0, upper)
    beta[:3] = 0.0, upper[1], 0.0
    if seed == 0:  # the largest violation is then of a variable that should fall
        beta[:] = upper
    K = dense_gram(problem)
    theta = labels * beta
    certificate = certify(problem, theta, 1e-3)
    primal = naive.primal_objective(theta, certificate.bias, labels, upper, K)
    dual = naive.dual_objective(beta, labels, K)
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    assert certificate.dual == pytest.approx(dual, rel=1e-12)
    gap = primal + dual + abs(theta.sum() * certificate.bias)
    assert certificate.gap == pytest.approx(gap, rel=1e-10)
    assert certificate.violation == pytest.approx(plain_violation(problem, beta, K), rel=1e-10)
    assert certificate.n_support == np.count_nonzero(beta)
    assert certificate.n_bounded == np.count_nonzero(beta == upper)
    assert certificate.relative_gap == pytest.approx(gap / max(abs(primal), abs(dual)), rel=1e-10)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("solver", ["smo", "chunking"])
def test_of_a_fit(symmetry, training_set, solver):
    """Recomputed from the fitted model alone: support pairs, coefficients, bias."""
    pairs, y = cases.distinct_pairs(41, n=N), cases.random_labels(41, N)
    model = PairSVC(
        symmetry, kernel=Gaussian(1.3), C=C, training_set=training_set, solver=solver, tol=1e-8
    ).fit(pairs, y)
    certificate = model.certificate_
    margins = 1.0 - y * model.decision_function(pairs)
    support = model.support_pairs_
    project = Balanced if symmetry == "symmetric" else SkewBalanced
    kernel = Gaussian(1.3) if training_set == "full" else project(Gaussian(1.3))
    norm = model.dual_coef_ @ kernel.gram(support) @ model.dual_coef_
    primal = 0.5 * norm + 2.0 * C * np.maximum(0.0, margins).sum()
    assert certificate.primal == pytest.approx(primal, rel=1e-10)
    assert certificate.dual == pytest.approx(0.5 * norm - np.abs(model.dual_coef_).sum(), rel=1e-10)
    assert certificate.holds
    assert certificate.violation <= 1e-8 * (1 + 1e-9)
    assert 0.0 <= certificate.relative_gap <= 1e-6
    assert model.objective_ == certificate.dual
    assert model.intercept_ == (certificate.bias if symmetry == "symmetric" else 0.0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("symmetry", BOTH)
def test_gap_is_never_negative(symmetry, full):
    """Weak duality, at points that satisfy the constraints of the dual."""
    problem = problem_of(symmetry, full)
    rng = np.random.default_rng(5)
    labels, upper = labels_and_bounds(problem)
    for _ in range(20):
        beta = rng.uniform(0.0, upper)
        if problem.has_bias:
            positive = labels > 0
            totals = beta[positive].sum(), beta[~positive].sum()
            beta[positive] *= min(totals) / totals[0]
            beta[~positive] *= min(totals) / totals[1]
        assert certify(problem, labels * beta, 1e-3).gap > 0.0


@pytest.mark.parametrize("symmetry", BOTH)
def test_perturbed_solution_is_reported(symmetry):
    """The checker must fail: moving one variable by 1e-3 shows up, and not by a little."""
    pairs, y = cases.distinct_pairs(41, n=N), cases.random_labels(41, N)
    model = PairSVC(symmetry, kernel=Gaussian(1.3), C=C, tol=1e-9).fit(pairs, y)
    problem = problem_of(symmetry)
    theta = np.zeros(N)
    theta[model.support_] = model.dual_coef_
    optimal = certify(problem, theta, 1e-6)
    assert optimal.holds
    perturbed = theta.copy()
    place = int(np.argmax(np.abs(theta)))
    perturbed[place] *= 1.0 - 1e-3
    report = certify(problem, perturbed, 1e-6)
    assert not report.holds
    assert report.violation > 1e-5
    assert report.gap > optimal.gap + 1e-6
    flipped = certify(problem, problem.loss.low + problem.loss.high - theta, 1e-6)
    assert not flipped.holds
    assert flipped.violation > 0.1


# The interval of optimal biases -----------------------------------------------------------------


def one_feature_problem(positive, negative, C, training_set="halved"):
    """Pairs (a, b) of one symmetric feature: the linear balanced kernel is its product."""
    values = np.array([*positive, *negative])[:, None]
    zeros = np.zeros(len(values), dtype=int)
    pairs = Pairs(np.zeros((2, 1)), zeros, zeros + 1, symmetric=values)
    labels = np.array([1] * len(positive) + [-1] * len(negative))
    model = PairSVC("symmetric", kernel=Linear(), C=C, tol=1e-10, training_set=training_set)
    return model.fit(pairs, labels)


@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_no_free_support_vector_gives_the_midpoint(training_set):
    """Two pairs at x = +1 and -1 with 2C = 0.1: both duals at the bound.

    f = w x + b with w = 0.1 (1 + 1) = 0.2; y f <= 1 for both holds for -0.8 <= b <= 0.8.
    Shifted to x = 2 and 0: w = 0.2, w x = 0.4 and 0, so b is between -1 and 0.6.
    """
    centred = one_feature_problem([1.0], [-1.0], 0.05, training_set).certificate_
    assert (centred.bias_low, centred.bias_high) == pytest.approx((-0.8, 0.8), abs=1e-12)
    assert centred.bias == pytest.approx(0.0, abs=1e-12)
    model = one_feature_problem([2.0], [0.0], 0.05, training_set)
    certificate = model.certificate_
    assert certificate.n_support == certificate.n_bounded == (4 if training_set == "full" else 2)
    assert certificate.bias_low == pytest.approx(-1.0, abs=1e-12)
    assert certificate.bias_high == pytest.approx(0.6, abs=1e-12)
    assert model.intercept_ == pytest.approx(-0.2, abs=1e-12)
    assert model.intercept_ == 0.5 * (certificate.bias_low + certificate.bias_high)


def test_free_support_vector_gives_a_point():
    """x = +-1 with a wide box: w = 1, both duals 1/2, b = 0."""
    model = one_feature_problem([1.0], [-1.0], 10.0)
    assert model.certificate_.bias_low == pytest.approx(0.0, abs=1e-9)
    assert model.certificate_.bias_high == pytest.approx(0.0, abs=1e-9)
    assert np.abs(model.dual_coef_) == pytest.approx([0.5, 0.5], abs=1e-9)
    assert model.objective_ == pytest.approx(-0.5, rel=1e-12)


def test_every_bias_of_the_interval_is_optimal_and_none_outside():
    model = one_feature_problem([2.0, 2.5], [0.0, -0.5], 0.02)
    low, high = model.certificate_.bias_low, model.certificate_.bias_high
    pairs = Pairs(np.zeros((2, 1)), [0] * 4, [1] * 4, symmetric=[[2.0], [2.5], [0.0], [-0.5]])
    y = np.array([1, 1, -1, -1])
    values = model.decision_function(pairs) - model.intercept_

    def primal(bias):
        return np.maximum(0.0, 1.0 - y * (values + bias)).sum()

    inside = [primal(bias) for bias in np.linspace(low, high, 7)]
    assert np.ptp(inside) <= 1e-9
    assert primal(low - 0.1) > inside[0] + 1e-3
    assert primal(high + 0.1) > inside[0] + 1e-3


def test_one_class_alone_has_an_unbounded_interval():
    """beta = 0: any bias beyond the label serves, and the label itself is taken."""
    for label in (1.0, -1.0):
        labels, zeros = np.full(3, label), np.zeros(3)
        low, high = hinge(labels, np.ones(3)).bias_interval(zeros, zeros)
        assert (low, high) == ((1.0, math.inf) if label > 0 else (-math.inf, -1.0))


def test_antisymmetric_interval_is_a_point_at_zero():
    pairs, y = cases.distinct_pairs(41, n=N), cases.random_labels(41, N)
    halved = PairSVC("antisymmetric", kernel=Gaussian(1.3), C=C).fit(pairs, y).certificate_
    assert (halved.bias_low, halved.bias_high, halved.bias) == (0.0, 0.0, 0.0)


# What users see ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["smo", "auto"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_not_reaching_tol_is_a_warning_with_the_gap(symmetry, solver):
    pairs, y = cases.random_pairs(42, n=60, m=20), cases.random_labels(42, 60)
    model = PairSVC(symmetry, kernel=Gaussian(1.3), C=10.0, max_iter=1, tol=1e-9, solver=solver)
    message = r"did not reach tol=1e-09 .*KKT violation .*duality gap .*raise max_iter or tol"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        model.fit(pairs, y)
    assert f"{model.certificate_.gap:.3g}" in str(record[0].message)
    assert record[0].filename == __file__
    assert not model.certificate_.holds
    assert model.certificate_.gap > 0.0


def test_reads_as_a_sentence():
    pairs, y = cases.distinct_pairs(41, n=N), cases.random_labels(41, N)
    text = str(PairSVC("symmetric", kernel=Gaussian(1.3), C=C).fit(pairs, y).certificate_)
    assert text.startswith("primal ")
    for part in (", dual ", ", relative gap ", ", KKT violation ", " (tol 1e-03)"):
        assert part in text


def test_hinge_and_its_conjugate():
    """Fenchel: c hinge(y f) is the largest of beta (1 - y f) over 0 <= beta <= c."""
    labels = np.array([1.0, 1.0, 1.0, -1.0])
    loss = hinge(labels, np.ones(4))
    decisions = np.array([2.0, 0.5, -1.0, 0.25])
    assert loss.value(decisions).tolist() == [0.0, 0.5, 2.0, 1.25]
    thetas = labels * np.linspace(0.0, 1.0, 101)[:, np.newaxis]
    best = np.max([-theta * decisions - loss.conjugate(theta) for theta in thetas], axis=0)
    np.testing.assert_allclose(best, loss.value(decisions), rtol=0, atol=1e-15)
