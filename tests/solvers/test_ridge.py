"""Kernel ridge regression: the lambda/2 relation, scikit-learn's KernelRidge, every way, n refits.

Dense systems are written out on I (rows and mirror images) or on J, and solved by numpy.
"""

import functools

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import cases
import naive
from pairity import PairRidge, Pairs
from pairity.exceptions import ConvergenceWarning, PairityWarning
from pairity.kernels import (
    Balanced,
    DirectSum,
    Gaussian,
    Linear,
    MetricLearning,
    Polynomial,
    Product,
    SkewBalanced,
    Tensor,
)
from pairity.losses import Squared
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.plan import plan_ridge
from pairity.solvers.problem import SolverOptions
from problems import halved_problem

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

N = 12
BOTH = ["symmetric", "antisymmetric"]
EVERY = [*BOTH, "none"]
ALL = [(symmetry, case) for symmetry in BOTH for case in cases.theorem_cases(SYMMETRIES[symmetry])]
ALPHAS = [0.02, 0.7, 30.0]
for_both = pytest.mark.parametrize("symmetry", BOTH)
for_each_symmetry = pytest.mark.parametrize("symmetry", EVERY)
for_each_alpha = pytest.mark.parametrize("alpha", ALPHAS)


def scattered(model, n):
    """Coefficients of all rows."""
    theta = np.zeros(n)
    theta[model.support_] = model.dual_coef_
    return theta


def projected(symmetry, kernel):
    return {"symmetric": Balanced, "antisymmetric": SkewBalanced, "none": lambda kernel: kernel}[
        symmetry
    ](kernel)


def share(symmetry):
    """What alpha is multiplied by on J."""
    return 1.0 if symmetry == "none" else 0.5


def plain_ridge(gram, y, shift, *, intercept=False):
    """``(K + diag(shift)) theta + bias = y``, and ``sum(theta) = 0`` with an intercept."""
    n = len(y)
    system = gram + np.diag(np.broadcast_to(shift, n))
    if not intercept:
        return np.linalg.solve(system, y), 0.0
    border = np.ones((n, 1))
    bordered = np.block([[system, border], [border.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(y, 0.0))
    return solution[:n], solution[n]


# The lambda/2 relation --------------------------------------------------------------------------


def theorem_data():
    return cases.distinct_pairs(31, n=N, m=8), cases.random_targets(31, N)


@functools.cache
def plain_gram(twin):
    """The twin on I; slow, so once for each kernel, and nobody may write into it."""
    rows = theorem_data()[0].with_mirrored().to_rows()
    gram = naive.gram(twin, rows, rows, cases.WIDTHS)
    gram.flags.writeable = False
    return gram


@pytest.mark.parametrize("alpha", [0.02, 3.0])
@pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
def test_half_the_penalty_on_half_the_rows(symmetry, case, alpha):
    """``(K_I + lam) alpha = y_I`` and ``(K_J + lam/2) c = y_J``: the same function."""
    pairs, y = theorem_data()
    sign, K = SYMMETRIES[symmetry].sign, plain_gram(case.twin)
    on_I, _ = plain_ridge(K, np.concatenate([y, sign * y]), alpha)
    halved = 0.5 * (K[:N, :N] + sign * K[N:, :N])
    on_J, _ = plain_ridge(halved, y, alpha / 2.0)
    bound = 1e-9 * np.abs(on_J).max()
    np.testing.assert_allclose(on_I[N:], sign * on_I[:N], rtol=0, atol=bound)
    np.testing.assert_allclose(2.0 * on_I[:N], on_J, rtol=0, atol=bound)

    half = PairRidge(symmetry, kernel=case.kernel, alpha=alpha).fit(pairs, y)
    full = PairRidge(symmetry, kernel=case.kernel, alpha=alpha, training_set="full").fit(pairs, y)
    np.testing.assert_allclose(scattered(half, N), on_J, rtol=0, atol=bound)
    np.testing.assert_allclose(scattered(full, 2 * N), on_I, rtol=0, atol=bound)
    new = cases.random_pairs(32, n=9)
    expected = half.predict(new)
    np.testing.assert_allclose(
        full.predict(new), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )
    np.testing.assert_allclose(half.predict(pairs), halved @ on_J, rtol=0, atol=1e-9)
    assert full.objective_ == pytest.approx(half.objective_, rel=1e-9)


def test_not_the_same_penalty():
    """The test can fail."""
    pairs, y = theorem_data()
    K = plain_gram(naive.pair_gaussian(1.3))
    on_J, _ = plain_ridge(0.5 * (K[:N, :N] + K[N:, :N]), y, 1.0)
    model = PairRidge("symmetric", kernel=Gaussian(1.3), alpha=1.0).fit(pairs, y)
    assert np.abs(scattered(model, N) - on_J).max() > 1e-2


# KernelRidge of scikit-learn --------------------------------------------------------------------

GOLDEN = [
    case
    for case in cases.elementary_cases() + cases.bilinear_cases()[1:2] + cases.remark_2_cases()[:1]
    if case.name != "polynomial-1"
]
for_each_kernel = pytest.mark.parametrize("case", GOLDEN, ids=repr)


def golden_data(n=40):
    return cases.random_pairs(61, n=n, m=15), cases.random_targets(61, n)


def golden_values(kernel, rows, targets, alpha, new, weights=None):
    machine = KernelRidge(alpha=alpha, kernel="precomputed")
    machine.fit(kernel.gram(rows), targets, sample_weight=weights)
    return machine.predict(kernel.gram(new, rows))


def assert_same_values(model, new, expected):
    bound = 1e-9 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(model.predict(new), expected, rtol=0, atol=bound)
    assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("training_set", "alpha"), [("halved", 0.02), ("full", 0.7)])
@for_both
@for_each_kernel
def test_kernel_ridge_on_the_full_set(case, symmetry, alpha, training_set, weighted):
    pairs, y = golden_data()
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=len(y)) if weighted else None
    both = None if weights is None else np.concatenate([weights, weights])
    targets = np.concatenate([y, SYMMETRIES[symmetry].sign * y])
    new = cases.random_pairs(62, n=25)
    expected = golden_values(case.kernel, pairs.with_mirrored(), targets, alpha, new, both)
    model = PairRidge(symmetry, kernel=case.kernel, alpha=alpha, training_set=training_set)
    assert_same_values(model.fit(pairs, y, weights), new, expected)


@for_each_alpha
@for_each_kernel
def test_kernel_ridge_on_rows_as_given(case, alpha):
    pairs, y = golden_data()
    new = cases.random_pairs(62, n=25)
    expected = golden_values(case.kernel, pairs, y, alpha, new)
    assert_same_values(
        PairRidge("none", kernel=case.kernel, alpha=alpha).fit(pairs, y), new, expected
    )


# Every way --------------------------------------------------------------------------------------

WAYS = ["spectral", "dense", "cg"]
TENSOR = {"symmetric": Tensor(Gaussian(1.1)), "antisymmetric": SkewBalanced(Gaussian(1.1))}


def complete_data(m=9, seed=41):
    """Every pair once, rows in any order and orientation."""
    rng = np.random.default_rng(seed)
    ends = rng.permutation(rng.permuted(np.array(np.triu_indices(m, 1)).T, axis=1))
    pairs = Pairs(rng.normal(size=(m, 3)), *ends.T)
    return pairs, rng.normal(size=len(pairs)) + 2.0


def tol_of(way):
    return 1e-13 if way == "cg" else 1e-3


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("intercept", [False, True])
@for_each_alpha
@pytest.mark.parametrize("way", WAYS)
@for_both
def test_ways_agree_on_complete_sets(symmetry, way, alpha, intercept, training_set):
    pairs, y = complete_data()
    n = len(y)
    model = PairRidge(
        symmetry,
        kernel=TENSOR[symmetry],
        alpha=alpha,
        solver=way,
        fit_intercept=intercept,
        training_set=training_set,
        tol=tol_of(way),
    ).fit(pairs, y)
    with_bias = intercept and symmetry == "symmetric"
    theta, bias = plain_ridge(TENSOR[symmetry].gram(pairs), y, alpha / 2.0, intercept=with_bias)
    bound = 1e-10 * np.abs(theta).max()
    found = scattered(model, 2 * n if training_set == "full" else n)
    if training_set == "full":
        np.testing.assert_allclose(
            found[n:], SYMMETRIES[symmetry].sign * found[:n], rtol=0, atol=bound
        )
        found = 2.0 * found[:n]
    np.testing.assert_allclose(found, theta, rtol=0, atol=bound)
    assert model.intercept_ == pytest.approx(bias, abs=1e-10)
    assert model.certificate_.holds
    assert model.certificate_.violation <= 1e-12
    assert model.alpha_ == alpha


OTHERS = [Gaussian(1.3), DirectSum(Gaussian(1.1)), MetricLearning(Gaussian(1.1)), Polynomial(2)]


@pytest.mark.parametrize("way", ["dense", "cg"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", OTHERS, ids=repr)
def test_ways_agree_on_any_set(kernel, intercept, way):
    """With unequal weights."""
    pairs, y = golden_data()
    pairs = cases.without_group(pairs)
    weights = np.random.default_rng(7).uniform(0.2, 3.0, size=len(y))
    model = PairRidge("symmetric", kernel=kernel, alpha=0.5, solver=way, fit_intercept=intercept)
    model.set_params(tol=tol_of(way)).fit(pairs, y + 1.0, weights)
    gram = Balanced(kernel).gram(pairs)
    theta, bias = plain_ridge(gram, y + 1.0, 0.25 / weights, intercept=intercept)
    bound = 1e-9 * np.abs(theta).max()
    np.testing.assert_allclose(scattered(model, len(y)), theta, rtol=0, atol=bound)
    assert model.intercept_ == pytest.approx(bias, abs=1e-9)
    assert model.certificate_.violation <= 1e-12


@for_each_symmetry
@pytest.mark.parametrize("intercept", [False, True])
def test_intercept_is_that_of_the_bordered_system(symmetry, intercept):
    pairs, y = golden_data()
    model = PairRidge(symmetry, kernel=Gaussian(1.3), alpha=0.7, fit_intercept=intercept).fit(
        pairs, y + 3.0
    )
    gram = projected(symmetry, Gaussian(1.3)).gram(pairs)
    with_bias = intercept and symmetry != "antisymmetric"
    theta, bias = plain_ridge(gram, y + 3.0, share(symmetry) * 0.7, intercept=with_bias)
    np.testing.assert_allclose(scattered(model, len(y)), theta, rtol=0, atol=1e-10)
    if with_bias:
        assert model.intercept_ == pytest.approx(bias, rel=1e-10)
        assert abs(model.intercept_) > 0.5
    else:
        assert model.intercept_ == 0.0


def test_a_constant_is_met_by_the_intercept_alone():
    pairs, _ = golden_data()
    model = PairRidge("symmetric", kernel=Gaussian(1.3), fit_intercept=True).fit(
        pairs, np.full(40, 7.0)
    )
    np.testing.assert_allclose(model.predict(pairs), 7.0, rtol=1e-13)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_gradients_reach_the_residual_asked_for(seed, intercept, tol):
    """The residual of the system, bias included, computed from the model; a tenth is for rounding."""
    pairs = cases.random_pairs(seed, n=60, m=20, widths=(2, 0, 0))
    y = cases.random_targets(seed, 60) + 10.0 * (seed % 2)
    for kernel in (Gaussian(3.0), Tensor(Gaussian(2.0)), MetricLearning(Gaussian(1.0))):
        model = PairRidge(
            "symmetric", kernel=kernel, alpha=1e-3, solver="cg", tol=tol, fit_intercept=intercept
        )
        model.fit(pairs, y)
        residual = y - model.predict(pairs) - 5e-4 * scattered(model, 60)
        assert np.linalg.norm(residual) <= 0.9 * tol * np.linalg.norm(y) * (1.0 + 1e-6)
        assert model.certificate_.violation == pytest.approx(
            np.linalg.norm(residual) / np.linalg.norm(y), rel=1e-3
        )


@pytest.mark.parametrize("seed", [5, 7, 39, 45])
def test_bias_does_not_spoil_the_residual(seed):
    """Ones are nearly an eigenvector of a large eigenvalue: the bias is large, and so its error."""
    pairs = cases.random_pairs(seed, n=60, m=20, widths=(2, 0, 0))
    y = cases.random_targets(seed, 60)
    model = PairRidge(
        "symmetric", kernel=Gaussian(3.0), alpha=1e-5, solver="cg", tol=1e-5, fit_intercept=True
    )
    assert model.fit(pairs, y).certificate_.holds


def test_no_certificate_where_iterations_end_early():
    pairs, y = golden_data()
    model = PairRidge(
        "symmetric", kernel=Gaussian(1.3), alpha=1e-3, solver="cg", tol=1e-8, max_iter=3
    )
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 iterations used up.*raise alpha"):
        model.fit(pairs, y)
    assert model.n_iter_ == 3
    assert not model.certificate_.holds


@pytest.mark.parametrize("way", ["dense", "cg"])
def test_a_penalty_below_rounding_is_no_crash(way):
    """A singular Gram matrix; the certificate says what it is worth."""
    pairs, y = golden_data()
    model = PairRidge("symmetric", kernel=Tensor(Linear()), alpha=1e-25, solver=way, max_iter=200)
    with pytest.warns(ConvergenceWarning, match=r"PairRidge did not reach tol"):
        model.fit(pairs, y)
    assert np.isfinite(model.dual_coef_).all()
    assert not model.certificate_.holds


# Certificates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_both
def test_certificate_is_that_of_the_model(symmetry, training_set, way):
    """Primal and dual, recomputed from support pairs and coefficients."""
    pairs, y = complete_data()
    options = {"training_set": training_set, "solver": way, "tol": tol_of(way)}
    model = PairRidge(symmetry, kernel=TENSOR[symmetry], alpha=0.3, **options).fit(pairs, y)
    support, theta = model.support_pairs_, model.dual_coef_
    norm = theta @ TENSOR[symmetry].gram(support) @ theta
    errors = y - model.predict(pairs)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(0.5 * norm + errors @ errors / 0.3, rel=1e-10)
    assert certificate.dual == pytest.approx(-certificate.primal, rel=1e-10)  # no gap
    assert abs(certificate.relative_gap) <= 1e-12
    assert model.objective_ == certificate.dual
    assert certificate.n_bounded == 0


# Leaving out one pair ---------------------------------------------------------------------------


def refits(symmetry, kernel, pairs, y, weights=None, **options):
    """The error at each row of a model of the others."""
    weights = np.ones(len(y)) if weights is None else weights
    errors = []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        model = PairRidge(symmetry, kernel=kernel, solver="dense", **options)
        model.fit(pairs[others], y[others], weights[others])
        errors.append(y[row] - model.predict(pairs[row : row + 1])[0])
    return np.array(errors)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("way", ["spectral", "dense"])
@for_both
def test_residuals_of_n_refits_on_a_complete_set(symmetry, way, training_set, intercept):
    pairs, y = complete_data(m=7)
    model = PairRidge(
        symmetry,
        kernel=TENSOR[symmetry],
        alpha=0.4,
        leave_one_out=True,
        fit_intercept=intercept,
        training_set=training_set,
        solver=way,
    ).fit(pairs, y)
    expected = refits(symmetry, TENSOR[symmetry], pairs, y, alpha=0.4, fit_intercept=intercept)
    np.testing.assert_allclose(model.loo_residuals_, expected, rtol=0, atol=1e-10)
    assert not hasattr(model, "loo_errors_")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@for_each_symmetry
def test_residuals_of_n_refits_on_any_set(symmetry, weighted, intercept):
    """With group features, and rows of several weights."""
    pairs, y = golden_data(15)
    weights = np.random.default_rng(8).uniform(0.2, 3.0, size=15) if weighted else None
    options = {"alpha": 0.2, "fit_intercept": intercept}
    model = PairRidge(symmetry, kernel=Gaussian(1.3), leave_one_out=True, **options)
    model.fit(pairs, y, weights)
    expected = refits(symmetry, Gaussian(1.3), pairs, y, weights, **options)
    np.testing.assert_allclose(model.loo_residuals_, expected, rtol=0, atol=1e-10)


# Paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("complete", [False, True])
@for_both
def test_path_is_that_of_separate_fits(symmetry, complete, intercept, weighted):
    pairs, y = complete_data() if complete else golden_data()
    kernel = TENSOR[symmetry] if complete else Gaussian(1.3)
    weights = np.random.default_rng(9).uniform(0.2, 3.0, size=len(y)) if weighted else None
    alphas = [30.0, 0.02, 0.7, 3.0]
    path = PairRidge(symmetry, kernel=kernel, alphas=alphas, fit_intercept=intercept)
    path.fit(pairs, y, weights)
    errors = []
    for place, alpha in enumerate(alphas):
        single = PairRidge(
            symmetry, kernel=kernel, alpha=alpha, fit_intercept=intercept, leave_one_out=True
        )
        single.fit(pairs, y, weights)
        theta = scattered(single, len(y))
        bound = 1e-10 * np.abs(theta).max()
        np.testing.assert_allclose(path.coef_path_[place], theta, rtol=0, atol=bound)
        errors.append(np.average(single.loo_residuals_**2, weights=weights))
    np.testing.assert_allclose(path.loo_errors_, errors, rtol=1e-9)
    best = int(np.argmin(errors))
    assert path.alpha_ == alphas[best]
    best_fit = PairRidge(symmetry, kernel=kernel, alpha=alphas[best], fit_intercept=intercept)
    best_fit.fit(pairs, y, weights)
    assert np.array_equal(path.dual_coef_, best_fit.dual_coef_)
    assert path.intercept_ == best_fit.intercept_


def test_path_chooses_by_the_data():
    """Little noise wants a small penalty, noise alone a large one."""
    pairs, noise = complete_data(m=12)
    signal = pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0]
    alphas = np.logspace(-4, 4, 9)
    chosen = [
        PairRidge("antisymmetric", kernel=Gaussian(2.0), alphas=alphas).fit(pairs, y).alpha_
        for y in (signal, noise - 2.0)
    ]
    assert chosen[0] < 1e-2 < 1.0 < chosen[1]


def test_a_fit_forgets_the_path_of_an_earlier_one():
    pairs, y = golden_data()
    model = PairRidge("symmetric", kernel=Gaussian(1.3), alphas=[0.1, 1.0]).fit(pairs, y)
    model.set_params(alphas=None, alpha=0.3).fit(pairs, y)
    assert model.alpha_ == 0.3
    for name in ("loo_errors_", "loo_residuals_", "coef_path_"):
        assert not hasattr(model, name)


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_each_symmetry
def test_rows_of_weight_zero_are_dropped(symmetry, training_set):
    pairs, y = golden_data()
    weights = np.random.default_rng(10).uniform(0.5, 2.0, size=40)
    dropped = np.array([0, 3, 17, 38, 39])
    weights[dropped] = 0.0
    kept = np.flatnonzero(weights)
    options = {"training_set": training_set, "leave_one_out": True}
    with_zeros = PairRidge(symmetry, kernel=Gaussian(1.3), alpha=0.5, **options).fit(
        pairs, y, weights
    )
    without = PairRidge(symmetry, kernel=Gaussian(1.3), alpha=0.5, **options).fit(
        pairs[kept], y[kept], weights[kept]
    )
    assert np.array_equal(with_zeros.dual_coef_, without.dual_coef_)
    numbers = kept
    if training_set == "full" and symmetry != "none":
        numbers = np.concatenate([kept, 40 + kept])
    assert with_zeros.support_.tolist() == numbers[without.support_].tolist()
    assert np.array_equal(with_zeros.loo_residuals_[kept], without.loo_residuals_)
    assert not with_zeros.loo_residuals_[dropped].any()
    new = cases.random_pairs(62, n=9)
    assert np.array_equal(with_zeros.predict(new), without.predict(new))


@for_each_symmetry
def test_weights_are_repetitions(symmetry):
    pairs, y = golden_data()
    counts = np.random.default_rng(11).integers(1, 4, size=40)
    repeated = np.repeat(np.arange(40), counts)
    weighted = PairRidge(symmetry, kernel=Gaussian(1.3), alpha=0.5).fit(pairs, y, counts)
    plain = PairRidge(symmetry, kernel=Gaussian(1.3), alpha=0.5).fit(pairs[repeated], y[repeated])
    new = cases.random_pairs(62, n=9)
    np.testing.assert_allclose(weighted.predict(new), plain.predict(new), rtol=0, atol=1e-11)


def test_weights_and_penalty_are_relative():
    pairs, y = golden_data()
    one = PairRidge("symmetric", kernel=Gaussian(1.3), alpha=0.5).fit(pairs, y)
    two = PairRidge("symmetric", kernel=Gaussian(1.3), alpha=2.0).fit(pairs, y, np.full(40, 4.0))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize("given", [np.ones(40), [1.0] * 40, 1.0], ids=["array", "list", "number"])
def test_weights_of_one_are_none(given):
    pairs, y = golden_data()
    one = PairRidge("symmetric", kernel=Gaussian(1.3)).fit(pairs, y)
    assert np.array_equal(
        one.dual_coef_, PairRidge("symmetric", kernel=Gaussian(1.3)).fit(pairs, y, given).dual_coef_
    )


# Which way --------------------------------------------------------------------------------------


def planned(kernel, pairs, symmetry, weights=None, solver="auto", **options):
    n = len(pairs)
    loss = Squared(np.zeros(n), np.ones(n) if weights is None else weights)
    return plan_ridge(
        halved_problem(kernel, pairs, loss, SYMMETRIES[symmetry]), solver, SolverOptions(**options)
    )


def test_way_by_kernel_set_and_memory():
    pairs, _ = complete_data()
    tensor = TENSOR["symmetric"]
    assert planned(tensor, pairs, "symmetric") == "spectral"
    assert planned(tensor, pairs, "symmetric", memory_limit=1e-3) == "spectral"
    assert planned(tensor, pairs[1:], "symmetric") == "dense"
    assert planned(MetricLearning(Gaussian(1.0)), pairs, "symmetric") == "dense"
    assert planned(MetricLearning(Linear()), pairs, "symmetric") == "primal"
    assert planned(tensor, pairs, "symmetric", weights=np.arange(1.0, 37.0)) == "dense"
    assert planned(tensor, pairs[1:], "symmetric", memory_limit=1e-3) == "cg"
    assert planned(tensor, pairs, "symmetric", callback=print) == "cg"
    assert planned(tensor, pairs, "symmetric", solver="cg") == "cg"
    many = pairs[np.tile(np.arange(36), 150)]
    assert planned(tensor, many, "symmetric") == "cg"


# Callback ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("training_set", ["halved", "full"])
@for_both
def test_callback_sees_the_way_to_the_solution(symmetry, training_set, intercept):
    pairs, y = golden_data()
    seen = []
    model = PairRidge(
        symmetry,
        kernel=Gaussian(1.3),
        alpha=0.05,
        tol=1e-10,
        fit_intercept=intercept,
        training_set=training_set,
        callback=seen.append,
    ).fit(pairs, y + 1.0)
    n = 80 if training_set == "full" else 40
    assert [len(iterate.theta) for iterate in seen] == [n] * len(seen)
    assert seen[-1].iteration == model.n_iter_
    assert np.array_equal(seen[-1].theta[model.support_], model.dual_coef_)
    assert seen[-1].objective == pytest.approx(model.objective_, rel=1e-10)
    assert seen[-1].bias == pytest.approx(model.intercept_, abs=1e-8)
    assert seen[-1].violation <= 1e-10
    objectives = [iterate.objective for iterate in seen]
    assert objectives[-1] == pytest.approx(min(objectives), rel=1e-10)
    if intercept and symmetry == "symmetric":
        assert all(abs(iterate.theta.sum()) <= 1e-9 for iterate in seen)
    else:
        assert [iterate.iteration for iterate in seen] == list(range(1, len(seen) + 1))
        rises = np.diff(objectives) / abs(model.objective_)
        assert rises.max() <= 1e-14  # the dual falls in every step, up to rounding


@pytest.mark.parametrize("intercept", [False, True])
def test_callback_can_stop_a_fit(intercept):
    pairs, y = golden_data()
    seen = []

    def stop_at_three(iterate):
        seen.append(iterate)
        return len(seen) == 3

    model = PairRidge(
        "symmetric", kernel=Gaussian(1.3), alpha=1e-4, tol=1e-12, fit_intercept=intercept
    )
    model.set_params(callback=stop_at_three)
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        model.fit(pairs, y)
    assert len(seen) == 3
    assert np.array_equal(model.dual_coef_, seen[-1].theta)


def test_an_interrupt_comes_out_of_fit():
    pairs, y = golden_data()
    seen = []

    def interrupt_at_three(iterate):
        seen.append(iterate)
        if len(seen) == 3:
            raise KeyboardInterrupt

    model = PairRidge(
        "symmetric", kernel=Gaussian(1.3), alpha=1e-4, tol=1e-12, callback=interrupt_at_three
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(pairs, y)
    assert len(seen) == 3
    assert not hasattr(model, "dual_coef_")


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, np.nan, "1", None])
def test_penalties_out_of_range(alpha):
    with pytest.raises(ValueError, match=r"got alpha=.*; expected a finite number above 0"):
        PairRidge("symmetric", alpha=alpha).fit(*golden_data())


@pytest.mark.parametrize(
    "alphas",
    [[1.0, 0.0], [-1.0], [np.nan], [np.inf], ["a"], [None], [], 1.0, [[1.0, 2.0]]],
    ids=repr,
)
def test_paths_out_of_range(alphas):
    with pytest.raises(ValueError, match=r"got alphas=.*; expected a .*numbers? above 0"):
        PairRidge("symmetric", alphas=alphas).fit(*golden_data())


@pytest.mark.parametrize("solver", ["newton", "smo", None])
def test_solvers_it_does_not_have(solver):
    with pytest.raises(ValueError, match=r"got solver=.*spectral"):
        PairRidge("symmetric", solver=solver).fit(*golden_data())


def test_spectral_where_it_does_not_apply():
    pairs, y = complete_data()
    tensor = Tensor(Gaussian(1.1))
    message = r"got solver='spectral' where it does not apply; expected a tensor kernel.*'auto'"
    for kernel, rows, weights in [
        (tensor, np.arange(35), None),  # a pair is missing
        (tensor, np.append(np.arange(36), 0), None),  # a pair twice
        (tensor, np.arange(36), np.arange(1.0, 37.0)),  # unequal weights
        (tensor, np.arange(36), np.append(np.ones(35), 0.0)),  # a pair dropped
        (MetricLearning(Gaussian(1.1)), np.arange(36), None),  # no tensor
    ]:
        with pytest.raises(ValueError, match=message):
            PairRidge("symmetric", kernel=kernel, solver="spectral").fit(
                pairs[rows], y[rows], weights
            )
    with pytest.raises(ValueError, match=message):
        PairRidge("none", kernel=Product(Gaussian(1.1)), solver="spectral").fit(pairs, y)


@pytest.mark.parametrize("options", [{"alphas": [1.0]}, {"leave_one_out": True}], ids=str)
def test_leaving_out_needs_a_closed_form(options):
    pairs, y = complete_data()
    message = r"got alphas or leave_one_out with solver=.* on \d+ pairs.*GridSearchCV"
    with pytest.raises(ValueError, match=message):
        PairRidge("symmetric", kernel=Gaussian(1.3), memory_limit=1e-3, **options).fit(
            pairs[1:], y[1:]
        )
    with pytest.raises(ValueError, match=message):
        PairRidge("symmetric", kernel=Gaussian(1.3), solver="cg", **options).fit(pairs, y)
    many = np.tile(np.arange(36), 150)
    with pytest.raises(ValueError, match=message):
        PairRidge("symmetric", kernel=Gaussian(1.3), **options).fit(pairs[many], y[many])


@pytest.mark.parametrize("solver", ["spectral", "dense"])
def test_callback_where_there_are_no_steps_to_watch(solver):
    pairs, y = complete_data()
    with pytest.raises(ValueError, match=r"got a callback with solver=.*expected solver='cg'"):
        PairRidge("symmetric", solver=solver, callback=print).fit(pairs, y)


def test_target_of_an_object_with_itself():
    objects = np.random.default_rng(12).normal(size=(4, 2))
    pairs = Pairs(objects, [0, 1, 2, 3], [1, 1, 3, 0])
    y = np.array([1.0, 0.5, -1.0, 2.0])
    with pytest.raises(ValueError, match=r"got target 0.5 in row 1.*expected 0 there"):
        PairRidge("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    y[1] = 0.0
    others = np.array([0, 2, 3])
    with_self = PairRidge("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, y)
    without = PairRidge("antisymmetric", kernel=Gaussian(1.0)).fit(pairs[others], y[others])
    np.testing.assert_allclose(with_self.predict(pairs), without.predict(pairs), atol=1e-14)
    assert with_self.predict(pairs)[1] == 0.0
    PairRidge("symmetric", kernel=Gaussian(1.0)).fit(pairs, np.ones(4))  # any value there


def test_targets_that_are_no_numbers():
    pairs, y = golden_data()
    with pytest.raises(ValueError, match=r"got targets of type .*expected numbers"):
        PairRidge("symmetric").fit(pairs, ["a"] * 40)
    with pytest.raises(ValueError, match="got NaN or infinity in y"):
        PairRidge("symmetric").fit(pairs, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="got 39 targets for 40 pairs"):
        PairRidge("symmetric").fit(pairs, y[1:])


@pytest.mark.parametrize("solver", ["dense", "cg"])
def test_nothing_to_learn(solver):
    """Targets of 0, and objects without features."""
    pairs, _ = golden_data()
    model = PairRidge("symmetric", kernel=Gaussian(1.3), solver=solver).fit(pairs, np.zeros(40))
    assert model.predict(pairs).tolist() == [0.0] * 40
    alike = Pairs(np.zeros((4, 2)), [0, 1, 2], [1, 2, 3])
    for symmetry, kernel in (("symmetric", Tensor(Linear())), ("antisymmetric", Linear())):
        with pytest.warns(PairityWarning, match="is zero for these pairs") as caught:
            flat = PairRidge(symmetry, kernel=kernel, solver=solver).fit(alike, [1.0, 2.0, 3.0])
        assert len(caught) == 1
        assert flat.predict(alike).tolist() == [0.0, 0.0, 0.0]
