"""Section 7.1 as executable tests: Lemma 2, Theorems 1 to 3 for regression, the reduced problems.

J is 12 random pairs with both kinds of group features and real targets; I is J and its mirror
images.  ``K`` is the Gram matrix of the order-invariant kernel on I, evaluated by the plain twin.
``theta = alpha_hat - alpha``; (42) is taken with a single sum over the targets.
"""

import functools
import warnings

import numpy as np
import pytest

import cases
import naive
from pairity import PairSVR
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Bilinear, Gaussian
from pairity.pairs.parity import SYMMETRIES

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

N = 12
C = 0.4
BOTH = ["symmetric", "antisymmetric"]
ALL = [(symmetry, case) for symmetry in BOTH for case in cases.theorem_cases(SYMMETRIES[symmetry])]
ODD_CASES = [case for symmetry, case in ALL if symmetry == "antisymmetric"]
EVEN_CASES = [case for symmetry, case in ALL if symmetry == "symmetric"]
for_all = pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
#: Solvers see a kernel through its matrix alone: the second way to choose variables on every third.
for_all_with_selection = pytest.mark.parametrize(
    ("symmetry", "case", "selection"),
    [(*one, "first_order") for one in ALL] + [(*one, "second_order") for one in ALL[::3]],
    ids=repr,
)
#: The absolute error, epsilon = 0, on every third kernel.
for_all_with_epsilon = pytest.mark.parametrize(
    ("symmetry", "case", "epsilon"),
    [(*one, 0.2) for one in ALL] + [(*one, 0.0) for one in ALL[::3]],
    ids=repr,
)


def training_pairs():
    return cases.distinct_pairs(31, n=N, m=8), cases.random_targets(31, N)


def full_targets(symmetry):
    _, y = training_pairs()
    return np.concatenate([y, SYMMETRIES[symmetry].sign * y])


@functools.cache
def plain_gram(twin):
    """The twin on I; slow, so once for each kernel, and nobody may write into it."""
    rows = training_pairs()[0].with_mirrored().to_rows()
    gram = naive.gram(twin, rows, rows, cases.WIDTHS)
    gram.flags.writeable = False
    return gram


def full_gram(case):
    return plain_gram(case.twin)


def halved_gram(symmetry, case):
    """Formulas (6) and (7) from the four orders of two pairs."""
    K = plain_gram(case.twin)
    return 0.5 * (K[:N, :N] + SYMMETRIES[symmetry].sign * K[N:, :N])


def fit(symmetry, case, epsilon=0.2, **options):
    pairs, y = training_pairs()
    return PairSVR(
        symmetry, kernel=case.kernel, C=C, epsilon=epsilon, **cases.with_smo(options)
    ).fit(pairs, y)


@functools.cache
def optimum_on_I(symmetry, case, epsilon=0.2):
    """(42) solved as it comes, by an ordinary machine that knows nothing of swaps."""
    model = PairSVR("none", kernel=case.kernel, C=C, epsilon=epsilon, tol=1e-10)
    return model.fit(training_pairs()[0].with_mirrored(), full_targets(symmetry))


@functools.cache
def optimum_on_J(symmetry, case, epsilon=0.2):
    return fit(symmetry, case, epsilon, solver="smo", tol=1e-10)


def duals(model, n_duals):
    """``theta``, and its parts alpha and alpha_hat."""
    theta = np.zeros(n_duals)
    theta[model.support_] = model.dual_coef_
    return theta, np.maximum(-theta, 0.0), np.maximum(theta, 0.0)


@functools.cache
def watched(symmetry, case, **options):
    """Every iterate of at most 80 steps of the paper's selection rule; tests only look at them."""
    iterates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(
            symmetry,
            case,
            solver="smo",
            selection=options.pop("selection", "first_order"),
            callback=iterates.append,
            max_iter=80,
            tol=1e-9,
            **options,
        )
    assert len(iterates) >= 3
    return tuple(iterates)


# Lemma 2 and Theorem 1 --------------------------------------------------------------------------


@for_all_with_epsilon
def test_lemma_2_the_mean_of_mirrored_optimal_duals_is_optimal(symmetry, case, epsilon):
    """(43) and (44): a feasible mean of the same value, which the primal shows to be the best."""
    model = optimum_on_I(symmetry, case, epsilon)
    theta, alpha, alpha_hat = duals(model, 2 * N)
    mirrored, mirrored_hat = np.roll(alpha, N), np.roll(alpha_hat, N)
    if symmetry == "antisymmetric":
        mirrored, mirrored_hat = mirrored_hat, mirrored
    mean, mean_hat = (alpha + mirrored) / 2.0, (alpha_hat + mirrored_hat) / 2.0
    if symmetry == "symmetric":
        assert np.array_equal(mean[:N], mean[N:])
        assert np.array_equal(mean_hat[:N], mean_hat[N:])
    else:
        assert np.array_equal(mean[:N], mean_hat[N:])
        assert np.array_equal(mean_hat[:N], mean[N:])
    assert max(mean.max(), mean_hat.max()) <= C
    assert abs((mean - mean_hat).sum()) <= 1e-9

    y, K = full_targets(symmetry), full_gram(case)
    best = naive.regression_dual(alpha, alpha_hat, y, epsilon, K)
    assert naive.regression_dual(mean, mean_hat, y, epsilon, K) == pytest.approx(best, rel=1e-8)
    assert model.objective_ == pytest.approx(best, rel=1e-10)
    primal = naive.regression_primal(theta, model.certificate_.bias, y, C, epsilon, K)
    assert primal == pytest.approx(-best, rel=1e-8)
    assert best < 0.0


@for_all
def test_theorem_1_every_optimal_function_obeys_the_law(symmetry, case):
    """The raw sum over I, of no projected kernel, on pairs outside the training set."""
    model = optimum_on_I(symmetry, case)
    new = cases.random_pairs(32, n=5)

    def raw(pairs):
        gram = naive.gram(case.twin, pairs.to_rows(), model.support_pairs_.to_rows(), cases.WIDTHS)
        return gram @ model.dual_coef_ + model.intercept_

    values, mirrored = raw(new), raw(new.swap())
    np.testing.assert_allclose(mirrored, SYMMETRIES[symmetry].sign * values, rtol=0, atol=1e-6)
    assert np.abs(values).max() > 1e-2
    projected = optimum_on_J(symmetry, case)
    np.testing.assert_allclose(projected.predict(new), values, rtol=0, atol=1e-6)


# The reduced problems ---------------------------------------------------------------------------


@for_all_with_epsilon
def test_same_optimum_on_I_and_J(symmetry, case, epsilon):
    """Value and function; the objective on J is (42) with the projected kernel and the box 2C."""
    full, halved = optimum_on_I(symmetry, case, epsilon), optimum_on_J(symmetry, case, epsilon)
    assert full.objective_ == pytest.approx(halved.objective_, rel=1e-8)
    new = cases.random_pairs(33, n=20)
    np.testing.assert_allclose(full.predict(new), halved.predict(new), rtol=0, atol=1e-6)

    _, y = training_pairs()
    theta, delta, delta_hat = duals(halved, N)
    value = naive.regression_dual(delta, delta_hat, y, epsilon, halved_gram(symmetry, case))
    assert halved.objective_ == pytest.approx(value, rel=1e-10)
    assert np.abs(theta).max() <= 2.0 * C
    if symmetry == "symmetric":
        assert abs(theta.sum()) <= 1e-12
    else:
        assert abs(theta.sum()) > 1e-3  # no such constraint


@for_all
def test_lifted_duals_are_feasible_and_optimal_on_I(symmetry, case):
    """delta = 2 alpha: half of theta for each order, the second with the sign of the law."""
    theta, _, _ = duals(optimum_on_J(symmetry, case), N)
    lifted = np.concatenate([theta, SYMMETRIES[symmetry].sign * theta]) / 2.0
    assert np.abs(lifted).max() <= C
    assert abs(lifted.sum()) <= 1e-12
    value = naive.regression_dual(
        np.maximum(-lifted, 0.0),
        np.maximum(lifted, 0.0),
        full_targets(symmetry),
        0.2,
        full_gram(case),
    )
    assert value == pytest.approx(optimum_on_I(symmetry, case).objective_, rel=1e-8)
    full, _, _ = duals(fit(symmetry, case, training_set="full", solver="smo", tol=1e-10), 2 * N)
    np.testing.assert_allclose(full, lifted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_the_box_is_2C_on_J_and_C_on_I(symmetry, training_set):
    """A small C: the largest duals are at the bound, exactly."""
    pairs, y = training_pairs()
    model = PairSVR(symmetry, kernel=Gaussian(1.3), C=0.05, training_set=training_set).fit(pairs, y)
    bound = 0.1 if training_set == "halved" else 0.05
    assert np.abs(model.dual_coef_).max() == bound
    assert model.certificate_.n_bounded > N // 2


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_antisymmetric_bias_is_exactly_zero(case, training_set):
    for iterates in ("mirrored", "averaged", "free"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(
                "antisymmetric", case, training_set=training_set, iterates=iterates, max_iter=300
            )
        assert model.intercept_ == 0.0
        assert isinstance(model.intercept_, float)


# Section 5 for regression -----------------------------------------------------------------------


@for_all_with_selection
@pytest.mark.parametrize("iterates", ["mirrored", "averaged"])
def test_every_iterate_is_mirrored(symmetry, case, iterates, selection):
    """(43) or (44) after each step, with ``==``; the dual value never rises."""
    seen = watched(symmetry, case, training_set="full", iterates=iterates, selection=selection)
    for iterate in seen:
        assert iterate.theta.shape == (2 * N,)
        assert np.array_equal(iterate.theta[N:], SYMMETRIES[symmetry].sign * iterate.theta[:N])
        assert iterate.alpha.max() <= C
        assert abs(iterate.theta.sum()) <= 1e-12 * N * C
        if symmetry == "antisymmetric" and iterates == "mirrored":
            assert iterate.bias == 0.0
    objectives = np.array([iterate.objective for iterate in seen])
    assert (np.diff(objectives) <= 1e-12 * np.abs(objectives[1:])).all()


@for_all
def test_objective_of_an_iterate_is_that_of_42(symmetry, case):
    y, K = full_targets(symmetry), full_gram(case)
    for iterates in ("mirrored", "averaged", "free"):
        seen = watched(symmetry, case, training_set="full", iterates=iterates)
        for iterate in (seen[0], seen[len(seen) // 2], seen[-1]):
            alpha, alpha_hat = np.maximum(-iterate.theta, 0.0), np.maximum(iterate.theta, 0.0)
            value = naive.regression_dual(alpha, alpha_hat, y, 0.2, K)
            assert iterate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", EVEN_CASES, ids=repr)
def test_theorem_3a_iterates_on_I_are_lifted_from_J(case):
    """(34) at every step, and SMO on J is the plain one on alpha and alpha_hat."""
    _, y = training_pairs()
    on_j = watched("symmetric", case, training_set="halved")
    on_i = watched("symmetric", case, training_set="full")
    for small, large in zip(on_j, on_i, strict=True):
        assert np.array_equal(large.theta, np.concatenate([small.theta, small.theta]) / 2.0)
        assert large.objective == small.objective
    K = halved_gram("symmetric", case)
    expected = naive.regression_maximal_violating_pair_smo(K, y, 2.0 * C, 0.2, 30)
    assert len(expected) >= 2
    for mine, plain in zip(on_j, expected, strict=False):
        np.testing.assert_allclose(mine.theta, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 0.0])
@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_theorem_3b_is_coordinate_descent_with_a_soft_threshold(case, epsilon):
    _, y = training_pairs()
    K = halved_gram("antisymmetric", case)
    expected = naive.greedy_soft_threshold_descent(K, y, 2.0 * C, epsilon, 40)
    mine = watched("antisymmetric", case, epsilon=epsilon, training_set="halved")
    assert len(expected) >= 5
    for iterate, plain in zip(mine, expected, strict=False):
        np.testing.assert_allclose(iterate.theta, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_theorem_3b_the_reversed_pair_is_a_partner_by_26(case):
    """At every iterate on I: the reverse of a variable that should rise most should fall most."""
    y, K = full_targets("antisymmetric"), full_gram(case)
    signs = np.concatenate([np.ones(2 * N), -np.ones(2 * N)])
    linear = np.concatenate([0.2 - y, 0.2 + y])
    for iterate in watched("antisymmetric", case, training_set="full")[::8]:
        both = np.concatenate([np.maximum(iterate.theta, 0.0), np.maximum(-iterate.theta, 0.0)])
        F = signs * np.tile(K @ iterate.theta, 2) + linear
        rise = naive.rise_candidates(both, signs, C, F)
        fall = naive.fall_candidates(both, signs, C, F)
        # alpha_hat of a pair and alpha of the reversed pair, and the other way round
        partner = {i: (i % (2 * N) + N) % (2 * N) + (0 if i >= 2 * N else 2 * N) for i in rise}
        assert {partner[i] for i in rise} == set(fall)
        for i, score in rise.items():
            assert fall[partner[i]] == pytest.approx(-score, rel=1e-9, abs=1e-9)


@for_all_with_epsilon
def test_averaged_iterates_converge_to_the_optimum(symmetry, case, epsilon):
    model = fit(
        symmetry,
        case,
        epsilon,
        training_set="full",
        iterates="averaged",
        selection="second_order" if epsilon else "first_order",
        tol=1e-6,
        max_iter=50_000,
    )
    best = optimum_on_J(symmetry, case, epsilon).objective_
    assert model.objective_ == pytest.approx(best, rel=1e-5)


# The tests can fail -----------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", BOTH)
def test_free_second_order_iterates_are_not_mirrored(symmetry):
    case = next(case for _, case in ALL if case.name == "gaussian")
    seen = watched(symmetry, case, training_set="full", iterates="free", selection="second_order")
    sign = SYMMETRIES[symmetry].sign
    assert max(np.abs(it.theta[N:] - sign * it.theta[:N]).max() for it in seen) > 1e-3


@pytest.mark.parametrize("symmetry", BOTH)
def test_lemma_2_needs_order_invariance(symmetry):
    """K_P on I, by an ordinary machine: mirrored duals differ visibly."""
    pairs, _ = training_pairs()
    model = PairSVR("none", kernel=Bilinear(cases.tridiagonal()), C=C, tol=1e-10)
    model.fit(pairs.with_mirrored(), full_targets(symmetry))
    theta, _, _ = duals(model, 2 * N)
    assert np.abs(theta[N:] - SYMMETRIES[symmetry].sign * theta[:N]).max() > 1e-2


@pytest.mark.parametrize("symmetry", BOTH)
def test_an_ordinary_machine_on_I_is_the_same_machine(symmetry):
    """symmetry="none" on rows and mirrored rows solves (42)."""
    pairs, _ = training_pairs()
    plain = PairSVR("none", kernel=Gaussian(1.3), C=C, epsilon=0.2, tol=1e-10)
    plain.fit(pairs.with_mirrored(), full_targets(symmetry))
    case = next(case for _, case in ALL if case.name == "gaussian")
    assert plain.objective_ == pytest.approx(optimum_on_J(symmetry, case).objective_, rel=1e-8)
    if symmetry == "antisymmetric":
        assert plain.intercept_ == pytest.approx(0.0, abs=1e-8)
