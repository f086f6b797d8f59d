"""Coordinate descent on sparse rows: the loop, the optimum, and where others go on."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from pairity import Pairs, PairSVC, PairSVR
from pairity.exceptions import ConvergenceWarning
from pairity.kernels import Additive, Identity, Linear
from pairity.kernels.classes import projected
from pairity.losses import epsilon_insensitive, hinge
from pairity.operators.blockwise import operator_of
from pairity.pairs.parity import Parity
from pairity.solvers._coordinate_loops import INVERSE, THETA
from pairity.solvers.coordinates import _most_looks, _Run, solve_by_coordinates
from pairity.solvers.primal_design import Design, takes_factorisations
from pairity.solvers.problem import REACHED, SLOW, AnyProblem, SolverOptions

MODELS = {"hinge": PairSVC, "epsilon": PairSVR}


def games(n_pairs=400, n_names=150, seed=0):
    """Some pairs of names again and again, others never."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_names, n_pairs)
    second = (first + rng.integers(1, 30, n_pairs)) % n_names
    strength = rng.normal(size=n_names)
    values = strength[first] - strength[second] + rng.normal(size=n_pairs)
    return Pairs(np.zeros((n_names, 0)), first, second, ids=np.arange(n_names)), values


def targets_of(loss, values):
    return np.where(values > 0.0, 1.0, -1.0) if loss == "hinge" else values


def loss_of(loss, values, weight=2.0):
    weights = np.full(len(values), weight)
    if loss == "hinge":
        return hinge(targets_of(loss, values), weights)
    return epsilon_insensitive(values, weights, 0.1)


def random_rows(rng, n=30, width=8):
    """Sparse rows, one of them empty."""
    dense = rng.normal(size=(n, width)) * (rng.random((n, width)) < 0.4)
    dense[3] = 0.0
    return sp.csr_array(dense)


def passes_one_by_one(rows, loss, tol, n_passes, seed=1):
    """What the loop does, with a new sum over all rows for every decision."""
    n = len(loss)
    theta, order, bar = np.zeros(n), list(range(n)), np.inf
    for _ in range(n_passes):
        size = max(1, min(64, len(order) // 64))
        blocks = [order[start : start + size] for start in range(0, len(order), size)]
        for k in range(len(blocks) - 1, 0, -1):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            other = ((seed >> 32) * (k + 1)) >> 32
            blocks[k], blocks[other] = blocks[other], blocks[k]
        resting, worst = set(), 0.0
        for row in (row for block in blocks for row in block):
            decision = rows[row] @ (rows.T @ theta)
            alone = loss.take(np.array([row]))
            (rise,), (fall,) = alone.targets(theta[row : row + 1])
            violation = max(rise - decision, decision - fall)
            if violation < -bar:
                resting.add(row)
                continue
            worst = max(worst, violation)
            if violation > 0.0:
                square = rows[row] @ rows[row]
                step = 1.0 / square if square > 0.0 else 1e300
                point = theta[row : row + 1] - step * decision
                theta[row] = alone.prox(point, step)[0]
        bar = worst
        if worst <= tol and len(order) == n:
            break
        order = [row for row in order if row not in resting]
        if worst <= tol:
            order, bar = list(range(n)), np.inf
    return theta


@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize("n_rows", [30, 200])
@pytest.mark.parametrize("n_passes", [1, 4, 600])
def test_the_loop_is_its_plain_twin(loss, n_passes, n_rows):
    """A row a block, and several of them."""
    rng = np.random.default_rng(4)
    design = Design(random_rows(rng, n_rows, n_rows // 4), has_bias=False)
    run = _Run(design, loss_of(loss, rng.normal(size=n_rows), 0.7), None)
    expected = passes_one_by_one(run.design.rows.toarray(), run.loss, 1e-2, n_passes)
    for _ in range(n_passes):  # a pass a call: the state is kept
        *_, done = run.passes(1e-2, 1, 1)
        if done:
            break
    assert done == (n_passes == 600)
    np.testing.assert_allclose(run.rows[:, THETA], expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(run.theta[run.drawn], run.rows[:, THETA])


@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize("weight", [0.02, 2.0, 200.0])
def test_no_gap_is_left_between_primal_and_dual(loss, weight):
    """Both as the paper writes them: a gap of 0 proves the optimum."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=30)
    design = Design(random_rows(rng), has_bias=False)
    run = _Run(design, loss_of(loss, values, weight), None)
    *_, done = run.passes(1e-8, 10**7, 10**6)
    assert done
    theta, rows = run.theta, design.rows.toarray()
    parameters, targets = rows.T @ theta, targets_of(loss, values)
    assert (np.abs(theta) <= weight).all()
    off = targets - rows @ parameters
    if loss == "hinge":
        assert (theta * targets >= 0.0).all()
        losses, linear = np.maximum(0.0, targets * off), np.abs(theta)
    else:
        losses = np.maximum(0.0, np.abs(off) - 0.1)
        linear = targets * theta - 0.1 * np.abs(theta)
    half = 0.5 * parameters @ parameters
    primal, dual = half + weight * losses.sum(), linear.sum() - half
    assert abs(primal - dual) <= 1e-7 * primal


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize("kernel", [Identity(), Identity() + 0.5 * Linear()], ids=repr)
def test_the_optimum_is_that_of_steps_on_kernel_values(kernel, loss, C):
    pairs, values = games()
    objects = sp.random_array((150, 40), density=0.1, rng=np.random.default_rng(2), format="csr")
    pairs = Pairs(objects, pairs.first, pairs.second, ids=pairs.ids)
    targets = targets_of(loss, values)
    plain, model = (
        MODELS[loss]("antisymmetric", kernel=kernel, C=C, solver=solver, tol=1e-5)
        for solver in ("chunking", "auto")
    )
    plain.fit(pairs, targets)
    model.fit(pairs, targets)
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    np.testing.assert_allclose(model._decide(pairs), plain._decide(pairs), atol=2e-3)


@pytest.mark.parametrize("kernel", [Identity(), Identity() + 0.5 * Linear()], ids=repr)
@pytest.mark.parametrize("loss", MODELS)
def test_the_order_in_which_rows_are_written_changes_no_step(loss, kernel):
    """Dual variables are the same bit for bit, and decisions up to the order of sums."""
    pairs, values = games()
    objects = sp.random_array((150, 40), density=0.1, rng=np.random.default_rng(2), format="csr")
    pairs = Pairs(objects, pairs.first, pairs.second, ids=pairs.ids)
    targets = targets_of(loss, values)
    swapped = np.random.default_rng(3).random(len(pairs)) < 0.5
    first = np.where(swapped, pairs.second, pairs.first)
    second = np.where(swapped, pairs.first, pairs.second)
    written = Pairs(pairs.objects, first, second, ids=pairs.ids)
    signs = np.where(swapped, -1.0, 1.0)
    one = MODELS[loss]("antisymmetric", kernel=kernel).fit(pairs, targets)
    other = MODELS[loss]("antisymmetric", kernel=kernel).fit(written, signs * targets)
    assert one.certificate_.holds
    assert (one.dual_coef_ == signs[one.support_] * other.dual_coef_).all()
    np.testing.assert_allclose(one._decide(pairs), other._decide(pairs), rtol=1e-12, atol=1e-14)
    assert (one._decide(pairs.swap()) == -one._decide(pairs)).all()


def test_columns_that_a_row_names_twice_are_added_up():
    """|z|^2 of a row that has 1 twice in one column is 4, not 2."""
    twice = sp.csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 1, 3, 3])), shape=(3, 3))
    run = _Run(Design(twice, has_bias=False), loss_of("hinge", np.ones(3)), None)
    squares = np.array([1.0, 4.0, 0.0])[run.drawn]
    np.testing.assert_array_equal(run.rows[squares > 0.0, INVERSE], 1.0 / squares[squares > 0.0])
    np.testing.assert_array_equal(run.rows[squares == 0.0, INVERSE], [1e300])
    np.testing.assert_array_equal(run.design.rows.toarray(), twice.toarray()[run.drawn])
    assert twice.nnz == 3  # what was given is not changed


def problem_of(n_pairs=400, scale=1.0, C=2.0):
    pairs, values = games(n_pairs)
    objects = scale * np.random.default_rng(5).normal(size=(150, 2))
    pairs = Pairs(sp.csr_array(objects), pairs.first, pairs.second, ids=pairs.ids)
    kernel = Identity() + Linear()
    operator = operator_of(projected(kernel, Parity.ODD), pairs)
    return AnyProblem(operator, loss_of("hinge", values, C), has_bias=False)


def solved(problem, **options):
    design = Design(problem.operator.features.rows, has_bias=False)
    given = SolverOptions(1e-3, **options), None, lambda theta: theta
    return solve_by_coordinates(problem, design, problem.loss, *given)


def test_dual_variables_that_are_given_are_the_start():
    problem = problem_of()
    found = solved(problem)
    assert found.reason == REACHED
    design = Design(problem.operator.features.rows, has_bias=False)
    given = SolverOptions(1e-3), found.theta, lambda theta: theta
    again = solve_by_coordinates(problem, design, problem.loss, *given)
    assert again.n_iter == 1
    np.testing.assert_allclose(again.theta, found.theta, atol=2e-3)


def test_a_callback_sees_each_pass_and_may_end_them():
    seen = []

    def stop(iterate):
        seen.append(iterate)
        return iterate.iteration == 3

    found = solved(problem_of(), callback=stop)
    assert [iterate.iteration for iterate in seen] == [1, 2, 3]
    assert found.n_iter == 3
    assert not found.converged
    assert seen[2].objective < seen[0].objective
    np.testing.assert_array_equal(seen[2].theta, found.theta)


def test_scales_too_far_apart_are_left_to_others(monkeypatch):
    monkeypatch.setattr("pairity.solvers.coordinates._MOST_LOOKS", 50)
    problem = problem_of(scale=1e3)
    found = solved(problem)
    assert found.reason == SLOW
    pairs = problem.operator.left
    labels = np.where(problem.loss.high > 0.0, 1.0, -1.0)
    model = PairSVC("antisymmetric", kernel=Identity() + Linear()).fit(pairs, labels)
    assert model.certificate_.holds


def test_a_limit_of_passes_is_said():
    pairs, values = games()
    model = PairSVC("antisymmetric", kernel=Identity(), solver="primal", C=100.0, max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(pairs, targets_of("hinge", values))
    assert model.n_iter_ == 2
    assert not model.certificate_.holds
    assert "max_iter=2" in str(caught[0].message)


@pytest.mark.parametrize(
    ("n_pairs", "n_names", "C", "first"),
    [(400, 300, 1.0, True), (20_000, 300, 1.0, True), (20_000, 300, 1e3, False)],
)
def test_newton_goes_on_where_it_is_there_and_coordinates_take_long(n_pairs, n_names, C, first):
    """Many names: coordinates alone; few names and a large C: Newton's method at once."""
    pairs, values = games(n_pairs, n_names)
    operator = operator_of(projected(Identity(), Parity.ODD), pairs)
    design = Design(operator.features.rows, has_bias=False)
    looks = _most_looks(design, loss_of("hinge", values, 2.0 * C))
    assert (looks > 0.0) == first
    assert takes_factorisations(n_pairs, design.n_parameters) == (n_pairs == 20_000)
    model = PairSVC("antisymmetric", kernel=Identity(), C=C)
    assert model.fit(pairs, targets_of("hinge", values)).certificate_.holds


def test_names_of_a_symmetric_machine_keep_their_bias():
    """A sum of dual variables that must be 0 is not for single coordinates."""
    pairs, values = games()
    labels = targets_of("hinge", values - values.mean())
    model = PairSVC("symmetric", kernel=Additive(Identity())).fit(pairs, labels)
    assert model.certificate_.holds
    assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()
