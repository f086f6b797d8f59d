"""The method as a whole: gaps that are reached and true, starts, ends, and hard cases."""

import functools

import numpy as np
import pytest

from low_rank_twins import (
    EXACT,
    LEARNERS,
    kernel_of,
    learner,
    pair_features,
    some_pairs,
    targets_of,
)
from pairity.losses import Logistic, Squared, epsilon_insensitive, hinge
from pairity.losses.piecewise import smoothed
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers.low_rank.design import PairChunk, arrange
from pairity.solvers.low_rank.form import group_columns, read_form
from pairity.solvers.low_rank.low_rank_fit import (
    certify_low_rank,
    first_width,
    minimise_and_certify,
    prepare,
)
from pairity.solvers.low_rank.minimise import NewtonOptions, minimise
from pairity.solvers.low_rank.passes import Engine

BOTH = ["symmetric", "antisymmetric"]
for_each = pytest.mark.parametrize("kind", LEARNERS)
for_both = pytest.mark.parametrize("symmetry", BOTH)


class Problem:
    """Everything that the method needs, and the whole matrix of pair features."""

    def __init__(self, kind, symmetry, strength=1.0, n=60, group=True):
        pairs = some_pairs(n=n, group=group)
        self.kind, self.symmetry, self.group = kind, symmetry, group
        self.y = targets_of(kind, pairs, symmetry)
        self.pairs = pairs
        kernel = kernel_of(group).fitted_to(pairs)
        counts = pairs.n_symmetric, pairs.n_antisymmetric
        form = read_form(kernel, SYMMETRIES[symmetry], *counts)
        order, came_from = arrange(pairs.first, pairs.second, pairs.n_objects)
        ordered = pairs[came_from]
        columns = group_columns(form, ordered)
        ends = np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=pairs.n_objects)
        squares = np.mean(columns**2, axis=0)
        self.prepared = prepare(form, pairs.objects, ends.astype(float), squares)
        design = self.prepared.design
        self.loss = loss_of(kind, self.y[came_from], np.full(n, 2.0 * strength))
        self.engine = Engine(PairChunk(order, columns, self.loss), design)
        tables = [table.astype(np.float64) for table in design.tables]
        self.psi = pair_features(form, ordered, tables)
        self.counted = design.layout.norm_counted()

    def options(self, tol=1e-3, **options):
        options = {"max_iter": 200, "width": first_width(self.loss), **options}
        return NewtonOptions(tol=tol, **options)

    def minimise(self, tol=1e-3, **options):
        return minimise(self.engine, self.prepared.moments, self.options(tol, **options))

    def primal(self, w):
        return 0.5 * (self.counted * w) @ w + self.loss.value(self.psi @ w).sum()


def loss_of(kind, y, c):
    if kind == "svr":
        return epsilon_insensitive(y, c, 0.1)
    return {"svc": hinge, "logistic": Logistic, "ridge": Squared}[kind](y.astype(float), c)


@functools.cache
def exact_certificate(kind, symmetry):
    """Of another solver, one for all tolerances."""
    problem = Problem(kind, symmetry)
    exact = learner(kind, symmetry, kernel_of(True), solver=EXACT[kind], tol=1e-8)
    return exact.fit(problem.pairs, problem.y).certificate_


@for_each
@for_both
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
def test_the_gap_that_was_asked_for(kind, symmetry, tol):
    """Between another solver's bounds, and as the whole matrices have it."""
    problem = Problem(kind, symmetry)
    outcome, certificate = minimise_and_certify(
        problem.engine, problem.prepared.moments, problem.options(0.9 * tol), tol
    )
    assert outcome.converged
    assert certificate.holds
    assert certificate.violation <= tol
    assert certificate.primal == pytest.approx(
        problem.primal(outcome.progress.parameters), rel=1e-9
    )
    best = exact_certificate(kind, symmetry)
    # features of the model are rounded to single precision
    assert certificate.primal >= -best.dual * (1.0 - 1e-6)
    assert -certificate.dual <= best.primal * (1.0 + 1e-6)
    assert certificate.primal <= best.primal * (1.0 + 1.1 * tol + 1e-6)


@for_each
@for_both
def test_the_certificate_by_hand(kind, symmetry):
    problem = Problem(kind, symmetry)
    outcome = problem.minimise(1e-4)
    certificate = certify_low_rank(problem.engine, outcome, 1e-4)
    w, width = outcome.progress.parameters, outcome.progress.width
    theta = smoothed(problem.loss, width).pull(problem.psi @ w)
    if symmetry == "symmetric":  # the heavier side is scaled down
        up, down = theta[theta > 0].sum(), -theta[theta < 0].sum()
        theta = np.where(theta > 0, min(up, down) / up, min(up, down) / down) * theta
        assert theta.sum() == pytest.approx(0.0, abs=1e-9)
    pulled = problem.counted * (problem.psi.T @ theta)
    # scaling is linear, conjugates are convex: what is summed up is no less than the true value
    dual = 0.5 * pulled @ pulled + problem.loss.conjugate(theta).sum()
    assert certificate.dual >= dual - 1e-9 * abs(dual)
    assert certificate.dual == pytest.approx(dual, rel=1e-4)
    assert certificate.gap == certificate.primal + certificate.dual
    assert certificate.relative_gap == certificate.violation
    assert certificate.measure == "relative gap"


@for_each
@for_both
def test_steps_are_told_and_counted(kind, symmetry):
    told = []
    problem = Problem(kind, symmetry)
    outcome = problem.minimise(report=lambda what, gap: told.append((what, gap)))
    assert told[0][0] == "low rank, step 0"
    assert told[-1] == (f"low rank, step {outcome.progress.n_iter}", outcome.history[-1][2])
    assert [gap for _, gap in told] == [gap for _, _, gap in outcome.history]
    assert told[-1][1] <= 1e-3
    sizes = [width for _, width, _ in outcome.history]
    assert sizes == sorted(sizes, reverse=True)


@for_each
@for_both
def test_going_on_from_a_step_ends_where_it_would_have_ended(kind, symmetry):
    """Within the gap: a checkpoint holds all that is needed."""
    seen = []
    problem = Problem(kind, symmetry)
    whole = problem.minimise(1e-5, observe=seen.append)
    for progress in seen[:: max(1, len(seen) // 3)]:
        again = Problem(kind, symmetry).minimise(1e-5, start=progress)
        assert again.converged
        assert again.progress.n_iter >= progress.n_iter
        ends = [problem.primal(one.progress.parameters) for one in (whole, again)]
        assert ends[0] == pytest.approx(ends[1], rel=1.1e-5)


def test_an_observer_may_stop_it():
    outcome = Problem("svc", "antisymmetric").minimise(
        1e-6, observe=lambda state: state.n_iter == 3
    )
    assert outcome.progress.n_iter == 3
    assert outcome.reason == "stopped by the callback"
    assert not outcome.converged


def test_an_interrupt_comes_out():
    def interrupt(state):
        if state.n_iter == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Problem("svc", "symmetric").minimise(1e-6, observe=interrupt)


def test_too_few_steps():
    outcome = Problem("svc", "antisymmetric").minimise(1e-6, max_iter=2)
    assert outcome.reason == "max_iter=2 steps used up"
    assert not outcome.converged
    assert outcome.progress.n_iter == 2


@for_both
def test_tolerances_out_of_reach_end_with_a_word(symmetry):
    outcome = Problem("logistic", symmetry).minimise(1e-18)
    assert outcome.converged or "lost in rounding" in outcome.reason  # a gap of 0.0 is possible
    assert abs(outcome.progress.gap) < 1e-10


@for_each
@for_both
def test_the_same_fit_twice_is_the_same(kind, symmetry):
    one, two = (Problem(kind, symmetry).minimise().progress for _ in range(2))
    assert np.array_equal(one.parameters, two.parameters)
    assert (one.n_iter, one.n_products, one.gap) == (two.n_iter, two.n_products, two.gap)


@for_both
def test_threads_change_nothing(symmetry, threads):
    found = []
    for count in (1, 2):
        threads(count)
        found.append(Problem("svc", symmetry, n=300).minimise().progress.parameters)
    assert np.array_equal(*found)
