"""Every way to run a solver leads to the same optimum."""

from itertools import pairwise

import numpy as np
import pytest

import cases
from pairity import Pairs, PairSVC
from pairity.kernels import Gaussian, Linear, Polynomial, Product, Tensor
from pairity.losses import hinge
from pairity.operators import PairOperator
from pairity.pairs.parity import Parity
from pairity.solvers.problem import SolverOptions, feasible_start
from pairity.solvers.smo import RowCache, solve_smo
from problems import halved_problem

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

BOTH = ["symmetric", "antisymmetric"]
N = 90


def data(widths=cases.WIDTHS):
    return cases.random_pairs(51, n=N, m=20, widths=widths), cases.random_labels(51, N)


def fit(symmetry, *, widths=cases.WIDTHS, kernel=None, **options):
    kernel = Gaussian(1.0) if kernel is None else kernel
    model = PairSVC(
        symmetry,
        kernel=kernel,
        C=options.pop("C", 2.0),
        tol=options.pop("tol", 1e-9),
        **cases.with_smo(options),
    )
    return model.fit(*data(widths))


def assert_same_optimum(one, two, objective=1e-9, decisions=1e-6):
    new = cases.random_pairs(52, n=20, widths=one.feature_widths_)
    assert one.objective_ == pytest.approx(two.objective_, rel=objective)
    np.testing.assert_allclose(
        one.decision_function(new), two.decision_function(new), rtol=0, atol=decisions
    )


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize(
    "options",
    [
        {"solver": "smo", "selection": "first_order"},
        {"solver": "smo", "selection": "second_order"},
        {"solver": "smo", "shrinking": False},
        {"solver": "smo", "cache_size": 1e-6},
        {"solver": "smo", "cache_size": 1e-6, "shrinking": False, "selection": "first_order"},
        {"solver": "smo", "cache_size": 0.003},
        {"solver": "chunking"},
        {"solver": "auto"},
    ],
    ids=str,
)
def test_options_do_not_change_the_optimum(symmetry, training_set, options):
    plain = fit(symmetry, solver="smo", shrinking=False, cache_size=100.0)
    assert_same_optimum(fit(symmetry, training_set=training_set, **options), plain)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("solver", ["smo", "chunking", "splitting", "auto"])
@pytest.mark.parametrize("kernel", [Gaussian(0.8), Product(Polynomial(2))], ids=repr)
def test_solvers_agree_on_tensor_kernels(symmetry, solver, kernel):
    options = {"widths": (3, 0, 0), "kernel": kernel, "tol": 1e-7}
    plain = fit(symmetry, solver="smo", **options)
    assert_same_optimum(fit(symmetry, solver=solver, **options), plain, 1e-8, 1e-4)


@pytest.mark.parametrize("solver", ["smo", "chunking", "auto"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("symmetry", BOTH)
def test_small_and_large_C(symmetry, C, solver):
    model = fit(symmetry, C=C, solver=solver, tol=1e-6)
    certificate = model.certificate_
    assert certificate.holds
    rounding = 1e-15 * certificate.primal
    assert (
        -rounding <= certificate.gap <= 2.0 * C * N * 1e-6
    )  # the box times the violation, at most
    assert np.abs(model.dual_coef_).max() <= 2.0 * C


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
@pytest.mark.parametrize("solver", ["smo", "chunking", "auto"])
def test_same_machine_same_answer(symmetry, solver):
    one, two = (fit(symmetry, solver=solver, tol=1e-3) for _ in range(2))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.support_, two.support_)
    assert one.intercept_ == two.intercept_
    assert one.objective_ == two.objective_


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("symmetry", BOTH)
def test_threads_do_not_change_a_bit_of_a_fit(symmetry, count, threads):
    expected = fit(symmetry, tol=1e-3).dual_coef_
    threads(count)
    assert np.array_equal(fit(symmetry, tol=1e-3).dual_coef_, expected)


# Warm start -------------------------------------------------------------------------------------


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_warm_start_reaches_the_same_optimum_in_fewer_steps(symmetry, training_set):
    options = {"solver": "smo", "training_set": training_set, "tol": 1e-8}
    cold = fit(symmetry, C=2.2, **options)
    warm = fit(symmetry, C=2.0, warm_start=True, **options)
    warm.set_params(C=2.2).fit(*data())
    assert_same_optimum(warm, cold, 1e-8, 1e-5)
    assert warm.n_iter_ < cold.n_iter_
    again = warm.fit(*data())
    assert again.n_iter_ <= 2


@pytest.mark.parametrize("symmetry", BOTH)
def test_warm_start_with_another_number_of_rows_starts_anew(symmetry):
    pairs, y = data()
    model = fit(symmetry, warm_start=True)
    model.fit(pairs[:50], y[:50])
    fresh = PairSVC(symmetry, kernel=Gaussian(1.0), C=2.0, tol=1e-9).fit(pairs[:50], y[:50])
    assert_same_optimum(model, fresh)


@pytest.mark.parametrize("symmetry", BOTH)
def test_warm_start_survives_a_smaller_box_and_other_labels(symmetry):
    pairs, y = data()
    model = fit(symmetry, C=50.0, warm_start=True, solver="smo")
    model.set_params(C=0.5).fit(pairs, -y)
    fresh = PairSVC(symmetry, kernel=Gaussian(1.0), C=0.5, tol=1e-9).fit(pairs, -y)
    assert_same_optimum(model, fresh, 1e-8)


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_any_start_is_made_feasible(parity):
    pairs, y = data()
    kernel = Tensor(Linear()) if parity is Parity.EVEN else Gaussian(1.0)
    problem = halved_problem(kernel, pairs, hinge(y.astype(float), np.full(N, 2.0)), parity)
    rng = np.random.default_rng(6)
    for start in (rng.normal(scale=9.0, size=N), np.full(N, 1e9), np.zeros(N), 4.0 * (y > 0)):
        theta = feasible_start(problem, start)
        assert (theta >= problem.loss.low).all()
        assert (theta <= problem.loss.high).all()
        if problem.has_bias:
            assert abs(theta.sum()) <= 1e-9 * max(1.0, np.abs(theta).sum())


# Callback ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", BOTH)
def test_callback_sees_the_way_to_the_optimum(symmetry, training_set):
    seen = []
    model = fit(symmetry, training_set=training_set, callback=seen.append)
    assert len(seen) == model.n_iter_
    last = seen[-1]
    assert last.objective == pytest.approx(model.objective_, rel=1e-10)
    assert last.violation <= 1e-6
    assert len(last.alpha) == (2 * N if training_set == "full" else N)
    assert last.bias == pytest.approx(model.intercept_, abs=1e-6)
    assert all(one.alpha is not two.alpha for one, two in pairwise(seen))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callback_can_stop_a_fit():
    pairs, y = data()
    seen = []

    def stop_at_three(iterate):
        seen.append(iterate.iteration)
        return iterate.iteration >= 3

    model = PairSVC("symmetric", kernel=Gaussian(1.0), tol=1e-12, callback=stop_at_three)
    with pytest.warns(match="stopped by the callback"):
        model.fit(pairs, y)
    assert seen == [1, 2, 3]
    assert model.n_iter_ == 3


def test_callback_does_not_change_the_iterates():
    quiet = fit("antisymmetric", solver="smo", shrinking=False)
    watched = fit("antisymmetric", solver="smo", callback=lambda iterate: None)
    assert_same_optimum(quiet, watched)


# Row cache --------------------------------------------------------------------------------------


def test_row_cache_holds_what_it_says():
    pairs = cases.random_pairs(53, n=30)
    operator = PairOperator(Gaussian(1.0), pairs)
    gram = Gaussian(1.0).gram(pairs)
    cache = RowCache(operator, megabytes=5 * 30 * 8 / 1e6)
    assert cache.capacity == 5
    rng = np.random.default_rng(7)
    for now in range(200):
        wanted = int(rng.integers(30))
        if cache.slot[wanted] < 0:
            cache.fetch(wanted, rng.permutation(30), now)
        assert cache.slot[wanted] >= 0
        present = np.flatnonzero(cache.slot >= 0)
        assert len(present) <= 5
        np.testing.assert_allclose(
            cache.rows[cache.slot[present]], gram[present], rtol=1e-13, atol=1e-15
        )


def test_row_cache_has_room_for_two():
    operator = PairOperator(Gaussian(1.0), cases.random_pairs(54, n=30))
    assert RowCache(operator, megabytes=1e-9).capacity == 2
    assert RowCache(operator, megabytes=1e3).capacity == 30


# Degenerate problems ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["smo", "chunking", "auto"])
def test_flat_directions(solver):
    """K^s = 0 for pairs of look-alikes: the gradient stays -1 and beta goes to the bound 2C."""
    pairs = cases.random_pairs(55, n=6, m=6, widths=(2, 0, 1))
    objects = np.vstack([pairs.objects, pairs.objects[:1]])
    first, second = np.append(pairs.first, 0), np.append(pairs.second, 6)
    model = PairSVC("antisymmetric", kernel=Linear(), C=1.0, solver=solver, tol=1e-8)
    model.fit(Pairs(objects, first, second), np.array([1, -1, 1, -1, 1, -1, 1]))
    assert 6 in model.support_
    assert model.dual_coef_[list(model.support_).index(6)] == 2.0


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("solver", ["smo", "chunking", "auto"])
def test_two_pairs(symmetry, solver):
    pairs = cases.distinct_pairs(56, n=2)
    model = PairSVC(symmetry, kernel=Gaussian(1.0), C=1e6, solver=solver, tol=1e-9).fit(
        pairs, [1, -1]
    )
    np.testing.assert_allclose(model.decision_function(pairs), [1.0, -1.0], rtol=0, atol=1e-7)


def test_one_pair_antisymmetric():
    pair = cases.distinct_pairs(57, n=1)
    model = PairSVC("antisymmetric", kernel=Gaussian(1.0), C=1e6, tol=1e-10).fit(pair, [1])
    np.testing.assert_allclose(model.decision_function(pair), [1.0], rtol=0, atol=1e-9)


def test_solution_says_why_it_ended():
    pairs, y = data()
    kernel = Gaussian(1.0)
    loss = hinge(y.astype(float), np.full(N, 1.0))
    problem = halved_problem(Tensor(kernel), pairs, loss, Parity.EVEN)
    assert solve_smo(problem, SolverOptions(tol=1e-3)).reason == "tolerance reached"
    short = solve_smo(problem, SolverOptions(tol=1e-3, max_iter=2))
    assert (short.reason, short.n_iter, short.converged) == ("max_iter=2 steps used up", 2, False)
    impossible = solve_smo(problem, SolverOptions(tol=1e-300, max_iter=100_000))
    assert not impossible.converged
