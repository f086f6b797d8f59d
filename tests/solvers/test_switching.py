"""Section 7.2 as executable tests: Theorem 4, Remark 7, the objective falls, nothing cycles.

J is 12 random pairs, 4 of them labelled, with random labels to start from; I is J and its mirror
images.  The plain twin runs the four steps of the paper on I, each round solved by LIBSVM.
"""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import naive
from pairity import Pairs, TransductivePairSVC
from pairity.kernels import Balanced, Gaussian, Linear, Polynomial, SkewBalanced
from pairity.losses import hinge
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.solvers.plan import solve
from pairity.solvers.problem import SolverOptions
from pairity.solvers.switching import Steps, Switching, initial_labels
from problems import halved_problem

N, LABELLED = 12, 4
C, C_UNLABELLED = 0.5, 0.004  # so that random labels do not suit the machine
UNLABELLED = np.arange(N) >= LABELLED
BOTH = ["symmetric", "antisymmetric"]
ALL = [(symmetry, case) for symmetry in BOTH for case in cases.theorem_cases(SYMMETRIES[symmetry])]
ODD_CASES = [case for symmetry, case in ALL if symmetry == "antisymmetric"]
for_all = pytest.mark.parametrize(("symmetry", "case"), ALL, ids=repr)
SEEDS = st.integers(0, 10**6)


def training_pairs():
    return cases.distinct_pairs(31, n=N, m=8)


@functools.cache
def plain_gram(twin):
    rows = training_pairs().with_mirrored().to_rows()
    gram = naive.gram(twin, rows, rows, cases.WIDTHS)
    gram.flags.writeable = False
    return gram


def paper_rounds(symmetry, case, labels, S):
    """Labels on I in every round of the paper's algorithm, and whether it ended."""
    sign = SYMMETRIES[symmetry].sign
    upper = np.where(UNLABELLED, C_UNLABELLED, C)
    return naive.multiple_label_switching(
        plain_gram(case.twin),
        np.concatenate([labels, sign * labels]),
        np.concatenate([UNLABELLED, UNLABELLED]),
        np.concatenate([upper, upper]),
        S,
        sign,
    )


def switching_on_j(pairs, kernel, parity, unlabelled=UNLABELLED, weights=None, **options):
    """The machinery on J, with every label vector that it solves for."""
    solved = []
    weights = np.ones(len(pairs)) if weights is None else weights
    factor = 1.0 if parity is None else 2.0
    most_switches = options.pop("most_switches", np.inf)

    def watched_solve(problem, options, start):
        solved.append(problem.loss.above.copy())
        return solve(problem, "auto", options, start)

    options = SolverOptions(**{"tol": 1e-6} | options)
    switching = Switching(
        problem=halved_problem(kernel, pairs, hinge(np.ones(len(pairs)), weights), parity),
        unlabelled=unlabelled,
        weights=factor * np.where(unlabelled, 1.0, C) * weights,
        most_switches=most_switches,
        solve=watched_solve,
        options=options,
        steps=Steps(options.max_iter),
    )
    return switching, solved


def project(symmetry, kernel):
    return Balanced(kernel) if symmetry == "symmetric" else SkewBalanced(kernel)


def rounds_on_j(symmetry, case, labels, S):
    """Labels on J in every round, where S counts ordered pairs as in the paper."""
    kernel = case.kernel if case.parity is not None else project(symmetry, case.kernel)
    most = S / 2 if symmetry == "symmetric" else S
    switching, solved = switching_on_j(
        training_pairs(), kernel, SYMMETRIES[symmetry], most_switches=most
    )
    found, _, history = switching.run(labels, np.array([C_UNLABELLED]))
    rounds = [solved[0]]
    rounds += [new for old, new in itertools.pairwise(solved) if (old != new).any()]
    assert np.array_equal(rounds[-1], found)
    assert len(rounds) == len(history)
    return rounds


def start_labels(seed):
    return cases.random_labels(seed, N).astype(float)


# Theorem 4 and Remark 7 -------------------------------------------------------------------------


def assert_theorem_4(symmetry, case, S, seed):
    """Mirrored labels in every round on I, the same rounds on J; how many of them."""
    sign, labels = SYMMETRIES[symmetry].sign, start_labels(seed)
    on_i, ended = paper_rounds(symmetry, case, labels, S)
    for full in on_i:
        assert np.array_equal(full[N:], sign * full[:N])
    on_j = rounds_on_j(symmetry, case, labels, S)
    assert np.array_equal(on_j[: len(on_i)], [full[:N] for full in on_i])
    assert len(on_j) == len(on_i) or not ended
    return len(on_i)


@for_all
def test_theorem_4_labels_on_I_stay_mirrored_and_are_those_on_J(symmetry, case):
    runs = [assert_theorem_4(symmetry, case, S, seed) for S in (2, 4, 100) for seed in (5, 7)]
    assert max(runs) > 1


@pytest.mark.parametrize("case", ODD_CASES, ids=repr)
def test_theorem_4b_any_S(case):
    runs = [assert_theorem_4("antisymmetric", case, S, seed) for S in (1, 3) for seed in (5, 6)]
    assert max(runs) > 2


def test_theorem_4a_needs_S_even():
    """The paper's steps with S = 1 split the two orders of a pair."""
    gaussian = next(case for _, case in ALL if case.name == "gaussian")
    on_i, _ = paper_rounds("symmetric", gaussian, start_labels(5), 1)
    assert any((full[N:] != full[:N]).any() for full in on_i)


@for_all
def test_remark_7_the_share_of_positive_labels(symmetry, case):
    """On I one half by itself (antisymmetric), or what it was (symmetric)."""
    labels = start_labels(5)
    rounds = rounds_on_j(symmetry, case, labels, 4)
    assert len(rounds) > 1
    for found in rounds:
        assert np.array_equal(found[:LABELLED], labels[:LABELLED])
        if symmetry == "symmetric":
            assert np.count_nonzero(found > 0) == np.count_nonzero(labels > 0)
        else:
            unlabelled = found[UNLABELLED]
            assert np.mean(np.concatenate([unlabelled, -unlabelled]) > 0) == 0.5
    if symmetry == "symmetric":
        shares = {np.mean(full > 0) for full in paper_rounds(symmetry, case, labels, 4)[0]}
        assert shares == {np.mean(labels > 0)}


# Descent ----------------------------------------------------------------------------------------


def excess(outputs, weights):
    """By how much the label -1 costs more than +1."""
    return weights * (np.maximum(0.0, 1.0 + outputs) - np.maximum(0.0, 1.0 - outputs))


@given(
    seed=SEEDS,
    parity=st.sampled_from([Parity.EVEN, Parity.ODD, None]),
    kernel=st.sampled_from([Linear(), Polynomial(2), Gaussian(1.0)]),
    penalty=st.sampled_from([0.02, 0.3, 3.0]),
    most=st.sampled_from([1, 3, np.inf]),
    weighted=st.booleans(),
    tol=st.sampled_from([1e-2, 1e-3, 1e-6]),
)
def test_objective_falls_to_a_local_minimum(seed, parity, kernel, penalty, most, weighted, tol):
    """At the function found no exchange (no flip) lowers the loss, weights and all."""
    n = 20
    pairs = cases.random_pairs(seed, n=n, m=8, widths=(2, 1, 1))
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], size=n) if weighted else np.ones(n)
    unlabelled = np.arange(n) >= 5
    projected = {Parity.EVEN: Balanced, Parity.ODD: SkewBalanced, None: lambda k: k}[parity](kernel)
    switching, _ = switching_on_j(
        pairs, projected, parity, unlabelled, weights, most_switches=most, tol=tol
    )
    start = cases.random_labels(seed, n).astype(float)
    labels, solution, history = switching.run(start, np.array([penalty]))
    objectives = np.array([record.objective for record in history])
    assert (np.diff(objectives) < 0).all()
    assert [record.n_switched > 0 for record in history] == [True] * (len(history) - 1) + [False]
    assert objectives[-1] == pytest.approx(
        switching.objective_of(labels, penalty, solution.theta), rel=max(tol, 1e-9)
    )
    assert np.array_equal(labels[~unlabelled], start[~unlabelled])

    decisions = projected.gram(pairs) @ solution.theta
    if parity is Parity.ODD:
        assert (labels * decisions)[unlabelled & (weights > 0)].min(initial=0.0) >= -1.001 * tol
        return
    assert np.count_nonzero(labels > 0) == np.count_nonzero(start > 0)
    bias = bias_of(switching, labels, penalty, solution.theta)
    costs = excess(decisions + bias, weights)
    positive, negative = (unlabelled & (weights > 0) & (labels == s) for s in (1.0, -1.0))
    if positive.any() and negative.any():
        assert costs[negative].max() - costs[positive].min() <= 2.001 * tol * weights.max()


def bias_of(switching, labels, penalty, theta):
    """The bias between the bounds that the KKT conditions set, by (26)."""
    upper = switching.weights * np.where(switching.unlabelled, penalty, 1.0)
    values = switching.problem.operator.block(slice(None), slice(None)) @ theta
    rise = np.where(labels > 0, theta < upper, theta < 0)
    fall = np.where(labels > 0, theta > 0, theta > -upper)
    return 0.5 * ((labels - values)[rise].max() + (labels - values)[fall].min())


def test_inactive_pairs_are_exchanged_when_nothing_else_is_left():
    """Two unlabelled pairs beyond the margin, labelled the wrong way round."""
    pairs = Pairs(np.array([[-1.0], [0.0], [1.0], [2.0], [3.0]]), [0, 2, 3, 4], [1, 1, 1, 1])
    switching, _ = switching_on_j(pairs, Linear(), None, np.arange(4) >= 2)
    labels, _, history = switching.run(np.array([-1.0, 1.0, 1.0, -1.0]), np.array([1e-3]))
    assert labels.tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert [record.n_switched for record in history] == [2, 0]


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD, None])
@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_a_fit_cut_short_ends_and_takes_back_what_did_not_help(parity, max_iter):
    for seed in range(8):
        pairs = cases.random_pairs(seed, n=30, m=9)
        kernel = Gaussian(1.0) if parity is None else project(parity_name(parity), Gaussian(1.0))
        switching, _ = switching_on_j(
            pairs, kernel, parity, np.arange(30) >= 5, max_iter=max_iter, tol=1e-3
        )
        start = cases.random_labels(seed, 30).astype(float)
        labels, _, history = switching.run(start, np.array([0.1, 1.0]))
        for penalty in (0.1, 1.0):
            objectives = [record.objective for record in history if record.penalty == penalty]
            assert (np.diff(objectives) < 0).all()
        assert np.array_equal(labels[:5], start[:5])


def parity_name(parity):
    return next(name for name, value in SYMMETRIES.items() if value is parity)


def test_every_round_is_reported():
    seen = []
    pairs = training_pairs()
    switching, _ = switching_on_j(pairs, Gaussian(1.0), None)
    switching = Switching(**(vars(switching) | {"watch": seen.append}))
    _, _, history = switching.run(start_labels(5), np.array([0.1, 1.0]))
    assert seen == history
    assert [record.penalty for record in history] == sorted(r.penalty for r in history)


# The example that cycles as printed -------------------------------------------------------------


def two_identical_points(symmetry):
    """MATH 4(v): two unlabelled pairs with equal features, one labelled +1 and one -1 at first."""
    objects = np.array([[0.0], [1.0], [2.0], [0.5], [1.7]])
    pairs = Pairs(objects, [0, 2, 3, 3], [1, 1, 4, 4])
    return pairs, Parity.EVEN if symmetry == "symmetric" else None


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0)], ids=repr)
def test_two_identical_points_do_not_alternate_forever(symmetry, kernel):
    pairs, parity = two_identical_points(symmetry)
    kernel = kernel if parity is None else Balanced(kernel)
    for labels in ([1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]):
        switching, solved = switching_on_j(pairs, kernel, parity, np.arange(4) >= 2)
        found, _, history = switching.run(np.array(labels), np.array([1.0]))
        assert found.tolist() == labels
        assert [record.n_switched for record in history] == [0]
        assert len(solved) == 1


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
@pytest.mark.parametrize("annealing", [1, 6])
def test_two_identical_points_in_the_estimator(symmetry, annealing):
    pairs, _ = two_identical_points(symmetry)
    model = TransductivePairSVC(
        symmetry, kernel=Linear(), positive_fraction=0.5, annealing=annealing
    )
    model.fit(pairs, [1, -1, 0, 0])
    assert sorted(model.transduction_[2:].tolist()) == [-1, 1]
    assert sum(record.n_switched for record in model.history_) == 0


def test_as_printed_it_does_alternate():
    """The tests can fail: exchanging equal outputs brings back the labels of two rounds before."""
    pairs, _ = two_identical_points("none")
    gram = Linear().gram(pairs)
    labels, seen = np.array([1.0, -1.0, 1.0, -1.0]), []
    for _ in range(4):
        _, outputs = naive.solve_by_libsvm(gram, labels, np.ones(4))
        plus, minus = (2, 3) if labels[2] > 0 else (3, 2)
        assert not outputs[plus] > outputs[minus] + 1e-9  # "larger" would end it
        labels[[plus, minus]] *= -1.0
        seen.append(labels.tolist())
    assert seen[0] == seen[2] != seen[1] == seen[3]


# Labels to start from ---------------------------------------------------------------------------


def test_initial_labels():
    outputs = np.array([0.3, -2.0, 0.0, 1.0, 0.3])
    assert initial_labels(outputs, None).tolist() == [1, -1, 0, 1, 1]  # 0: no winner
    assert initial_labels(-outputs, None).tolist() == [-1, 1, 0, -1, -1]
    assert initial_labels(outputs, 2).tolist() == [1, -1, -1, 1, -1]  # equal outputs: first row
    assert initial_labels(outputs, 0).tolist() == [-1] * 5
    assert initial_labels(outputs, 5).tolist() == [1] * 5
