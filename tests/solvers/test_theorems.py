"""The theorems of Sections 4 and 5 as executable tests, for every kernel of Section 3.

J is 12 random pairs with both kinds of group features and random labels; I is J and its mirror
images.  ``K`` is the Gram matrix of the order-invariant kernel on I, evaluated by the plain twin.
"""

import functools
import warnings

import numpy as np
import pytest

import cases
import naive
from pairity import PairSVC
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Bilinear, Gaussian
from pairity.pairs.parity import SYMMETRIES

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

N = 12
C = 1.5
BOTH = ["symmetric", "antisymmetric"]
ALL = [(symmetry, case) for symmetry in BOTH for case in cases.theorem_cases(SYMMETRIES[symmetry])]
ODD_CASES = [case for symmetry, case in ALL if symmetry == "antisymmetric"]
EVEN_CASES = [case for symmetry, case in ALL if symmetry == "symmetric"]
for_all = pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
#: Solvers see a kernel through its matrix alone: each kernel with one way to choose variables, or
#: with the paper's; the other way on every third.
for_all_with_selection = pytest.mark.parametrize(
    ("symmetry", "case", "selection"),
    [(*one, "first_order") for one in ALL] + [(*one, "second_order") for one in ALL[::3]],
    ids=repr,
)
for_all_with_one_selection = pytest.mark.parametrize(
    ("symmetry", "case", "selection"),
    [(*one, ("first_order", "second_order")[place % 2]) for place, one in enumerate(ALL)],
    ids=repr,
)


def training_pairs():
    return cases.distinct_pairs(31, n=N, m=8), cases.random_labels(31, N)


def full_labels(symmetry):
    _, y = training_pairs()
    return np.concatenate([y, SYMMETRIES[symmetry].sign * y])


@functools.cache
def full_gram(case):
    """Slow, so once for each kernel, and nobody may write into it."""
    pairs, _ = training_pairs()
    rows = pairs.with_mirrored().to_rows()
    gram = naive.gram(case.twin, rows, rows, cases.WIDTHS)
    gram.flags.writeable = False
    return gram


def fit(symmetry, case, **options):
    pairs, y = training_pairs()
    return PairSVC(symmetry, kernel=case.kernel, C=C, **cases.with_smo(options)).fit(pairs, y)


def halved_gram(symmetry, case):
    """Formulas (6) and (7) from the four orders of two pairs."""
    K = full_gram(case)
    return 0.5 * (K[:N, :N] + SYMMETRIES[symmetry].sign * K[N:, :N])


@functools.cache
def optimum_on_I(symmetry, case):
    """(13) solved as it comes, to a small tolerance."""
    return fit(symmetry, case, training_set="full", iterates="free", tol=1e-10)


@functools.cache
def optimum_on_J(symmetry, case):
    """(20) or (22)."""
    return fit(symmetry, case, training_set="halved", solver="smo", tol=1e-10)


def duals(model, n_duals):
    alpha = np.zeros(n_duals)
    alpha[model.support_] = np.abs(model.dual_coef_)
    return alpha


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
    assert len(iterates) >= 5
    return tuple(iterates)


# Section 4 --------------------------------------------------------------------------------------


@for_all
def test_lemma_1_the_mean_of_mirrored_optimal_duals_is_optimal(symmetry, case):
    alpha = duals(optimum_on_I(symmetry, case), 2 * N)
    mean = (alpha + np.roll(alpha, N)) / 2.0
    y, K = full_labels(symmetry), full_gram(case)
    best = naive.dual_objective(alpha, y, K)
    assert naive.dual_objective(mean, y, K) == pytest.approx(best, rel=1e-8)
    assert abs(np.dot(y, mean)) <= 1e-9
    assert mean.min() >= 0.0
    assert mean.max() <= C


@for_all
def test_theorem_1_every_optimal_decision_function_obeys_the_law(symmetry, case):
    """The raw sum over I, before any projection, on pairs outside the training set."""
    model = optimum_on_I(symmetry, case)
    new = cases.random_pairs(32, n=9)

    def raw(pairs):
        gram = naive.gram(case.twin, pairs.to_rows(), model.support_pairs_.to_rows(), cases.WIDTHS)
        return gram @ model.dual_coef_ + model.intercept_

    decisions, mirrored = raw(new), raw(new.swap())
    np.testing.assert_allclose(mirrored, SYMMETRIES[symmetry].sign * decisions, rtol=0, atol=1e-6)
    assert np.abs(decisions).max() > 1e-2
    np.testing.assert_allclose(model.decision_function(new), decisions, rtol=0, atol=1e-6)


@for_all
def test_theorem_2_same_optimal_value_on_I_and_J(symmetry, case):
    full, halved = optimum_on_I(symmetry, case), optimum_on_J(symmetry, case)
    assert full.objective_ == pytest.approx(halved.objective_, rel=1e-8)
    alpha = duals(full, 2 * N)
    value = naive.dual_objective(alpha, full_labels(symmetry), full_gram(case))
    assert full.objective_ == pytest.approx(value, rel=1e-10)
    assert value < 0.0


@for_all
def test_theorem_2_halved_objective_is_that_of_the_projected_kernel(symmetry, case):
    halved = optimum_on_J(symmetry, case)
    _, y = training_pairs()
    beta = duals(halved, N)
    assert beta.max() <= 2.0 * C
    value = naive.dual_objective(beta, y, halved_gram(symmetry, case))
    assert halved.objective_ == pytest.approx(value, rel=1e-10)


@for_all
def test_theorem_2_same_decisions_on_I_and_J(symmetry, case):
    full, halved = optimum_on_I(symmetry, case), optimum_on_J(symmetry, case)
    new = cases.random_pairs(33, n=20)
    np.testing.assert_allclose(
        full.decision_function(new), halved.decision_function(new), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_antisymmetric_bias_is_exactly_zero(case, training_set):
    for iterates in ("mirrored", "averaged", "free"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(
                "antisymmetric", case, training_set=training_set, iterates=iterates, max_iter=500
            )
        assert model.intercept_ == 0.0
        assert isinstance(model.intercept_, float)


# Section 5 --------------------------------------------------------------------------------------


@for_all_with_selection
@pytest.mark.parametrize("iterates", ["mirrored", "averaged"])
def test_29_mirrored_duals_are_equal_at_every_iterate(symmetry, case, iterates, selection):
    y = full_labels(symmetry)
    for iterate in watched(
        symmetry, case, training_set="full", iterates=iterates, selection=selection
    ):
        alpha = iterate.alpha
        assert alpha.shape == (2 * N,)
        assert np.array_equal(alpha[:N], alpha[N:])
        assert alpha.min() >= 0.0
        assert alpha.max() <= C
        assert abs(np.dot(y, alpha)) <= 1e-12 * N * C


@for_all
@pytest.mark.parametrize("iterates", ["mirrored", "averaged", "free"])
def test_objective_never_increases(symmetry, case, iterates):
    y, K = full_labels(symmetry), full_gram(case)
    seen = watched(symmetry, case, training_set="full", iterates=iterates)
    objectives = np.array([iterate.objective for iterate in seen])
    assert (np.diff(objectives) <= 1e-12 * np.abs(objectives[1:])).all()
    for iterate in seen[:: max(1, len(seen) // 6)]:
        value = naive.dual_objective(iterate.alpha, y, K)
        assert iterate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert [iterate.iteration for iterate in seen] == list(range(1, len(seen) + 1))


@pytest.mark.parametrize("case", EVEN_CASES, ids=repr)
def test_theorem_3a_iterates_on_I_are_lifted_from_J(case):
    """(34) at every step, and SMO on (20) is the plain one."""
    _, y = training_pairs()
    on_j = watched("symmetric", case, training_set="halved")
    on_i = watched("symmetric", case, training_set="full")
    for small, large in zip(on_j, on_i, strict=True):
        assert np.array_equal(large.alpha, np.concatenate([small.alpha, small.alpha]) / 2.0)
        assert large.objective == small.objective
    expected = naive.maximal_violating_pair_smo(halved_gram("symmetric", case), y, 2.0 * C, 8)
    assert len(expected) >= 2
    for mine, plain in zip(on_j, expected, strict=False):
        np.testing.assert_allclose(mine.alpha, plain, rtol=0, atol=1e-12 * C)


@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_theorem_3b_iterates_are_those_of_the_reversed_pair(case):
    y, K = full_labels("antisymmetric"), full_gram(case)
    expected = naive.reversed_pair_smo(K, y, C, 40)
    mine = watched("antisymmetric", case, training_set="full")
    assert len(expected) >= 5
    for iterate, plain in zip(mine, expected, strict=False):
        np.testing.assert_allclose(iterate.alpha, plain, rtol=0, atol=1e-12 * C)
        assert np.array_equal(plain[:N], plain[N:])


@for_all
def test_theorem_3_mirrored_iterates_converge_to_the_optimum(symmetry, case):
    mirrored = fit(symmetry, case, training_set="full", solver="smo", tol=1e-10)
    assert mirrored.objective_ == pytest.approx(optimum_on_I(symmetry, case).objective_, rel=1e-8)
    assert mirrored.certificate_.holds


@for_all
def test_32_and_33_hold_at_every_iterate(symmetry, case):
    """The decision function of each iterate obeys the law, bias included."""
    new = cases.random_pairs(34, n=5)
    rows, _ = training_pairs()
    rows = rows.with_mirrored().to_rows()
    y, sign = full_labels(symmetry), SYMMETRIES[symmetry].sign
    grams = [naive.gram(case.twin, p.to_rows(), rows, cases.WIDTHS) for p in (new, new.swap())]
    for iterate in watched(symmetry, case, training_set="full")[::5]:
        decisions, mirrored = (gram @ (y * iterate.alpha) + iterate.bias for gram in grams)
        scale = max(1.0, np.abs(decisions).max())
        np.testing.assert_allclose(mirrored, sign * decisions, rtol=0, atol=1e-11 * scale)
        if symmetry == "antisymmetric":
            assert iterate.bias == 0.0


@for_all
def test_remark_6_averaging_keeps_or_lowers_the_dual_value(symmetry, case):
    """Each averaged iterate is the mean of a plain SMO step and its mirror image."""
    y, K = full_labels(symmetry), full_gram(case)
    previous = np.zeros(2 * N)
    for iterate in watched(symmetry, case, training_set="full", iterates="averaged")[:12]:
        F = naive.kkt_gradient(previous, y, K)
        rise = naive.rise_candidates(previous, y, C, F)
        fall = naive.fall_candidates(previous, y, C, F)
        steps = [
            naive.two_variable_step(previous, i, j, y, C, F, K)
            for i in rise
            for j in fall
            if rise[i] >= max(rise.values()) - 1e-9 and fall[j] <= min(fall.values()) + 1e-9
        ]
        means = [(step + np.roll(step, N)) / 2.0 for step in steps]
        distances = [np.abs(mean - iterate.alpha).max() for mean in means]
        chosen = int(np.argmin(distances))
        assert distances[chosen] <= 1e-12 * C
        stepped = naive.dual_objective(steps[chosen], y, K)
        averaged = naive.dual_objective(means[chosen], y, K)
        assert averaged <= stepped + 1e-12 * max(1.0, abs(stepped))
        previous = iterate.alpha


def test_remark_6_averaging_can_lower_the_dual_value():
    """Not "the same value", as the paper says: strictly lower where the step was not mirrored."""
    case = next(case for case in EVEN_CASES if case.name == "gaussian")
    y, K = full_labels("symmetric"), full_gram(case)
    alpha = naive.maximal_violating_pair_smo(K, y, C, 1)[0]
    mean = (alpha + np.roll(alpha, N)) / 2.0
    assert naive.dual_objective(mean, y, K) < naive.dual_objective(alpha, y, K) - 1e-3


@for_all_with_one_selection
def test_averaged_iterates_converge_to_the_optimum(symmetry, case, selection):
    model = fit(
        symmetry,
        case,
        training_set="full",
        iterates="averaged",
        selection=selection,
        tol=1e-6,
        max_iter=50_000,
    )
    assert model.objective_ == pytest.approx(optimum_on_I(symmetry, case).objective_, rel=1e-5)


# The tests can fail -----------------------------------------------------------------------------


def test_free_iterates_are_not_mirrored():
    """Second-order SMO on I as it comes loses (29) on the way, as LIBSVM does."""
    case = next(case for case in ODD_CASES if case.name == "gaussian")
    seen = watched(
        "antisymmetric", case, training_set="full", iterates="free", selection="second_order"
    )
    assert max(np.abs(it.alpha[:N] - it.alpha[N:]).max() for it in seen) > 1e-3


@pytest.mark.parametrize("symmetry", BOTH)
def test_lemma_1_needs_order_invariance(symmetry):
    """K_P on I, by an ordinary machine: mirrored duals differ visibly."""
    pairs, _ = training_pairs()
    model = PairSVC("none", kernel=Bilinear(cases.tridiagonal()), C=C, tol=1e-10)
    model.fit(pairs.with_mirrored(), full_labels(symmetry))
    alpha = duals(model, 2 * N)
    assert np.abs(alpha[:N] - alpha[N:]).max() > 1e-2


@pytest.mark.parametrize("symmetry", BOTH)
def test_an_ordinary_machine_on_I_is_the_same_machine(symmetry):
    """symmetry="none" on rows and mirrored rows solves (13)."""
    pairs, _ = training_pairs()
    plain = PairSVC("none", kernel=Gaussian(1.3), C=C, tol=1e-10)
    plain.fit(pairs.with_mirrored(), full_labels(symmetry))
    case = next(case for _, case in ALL if case.name == "gaussian")
    assert plain.objective_ == pytest.approx(optimum_on_J(symmetry, case).objective_, rel=1e-8)
    if symmetry == "antisymmetric":
        assert plain.intercept_ == pytest.approx(0.0, abs=1e-8)
