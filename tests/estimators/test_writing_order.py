"""The order in which a row is written changes nothing: each row is an observation of an unordered pair.

Any rows are written in the other order, their antisymmetric features (and, in the antisymmetric
case, their targets) negated.  The model must be the same to the tolerance of the solver.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import cases
from learners import LEARNERS
from pairity import (
    CalibratedPairClassifier,
    LaplacianPairSVC,
    PairDrawClassifier,
    PairLogistic,
    PairLogisticCV,
    PairRidge,
    PairRidgeCV,
    Pairs,
    PairSVC,
    PairSVCCV,
    PairSVR,
)
from pairity.kernels import (
    Additive,
    Derived,
    DirectSum,
    EvenPart,
    Gaussian,
    Linear,
    Nystroem,
    OddPart,
    Standardized,
)
from pairity.kernels import Product as ProductKernel
from pairity.pairs.parity import SYMMETRIES

BOTH = ["symmetric", "antisymmetric"]
N = 36
#: Decisions of exact solvers, of low-rank models (relative gap 1e-8), in units of the largest.
CLOSE, LOW_RANK = 1e-6, 1e-4


def written(seed=1, n=N):
    """Training pairs whose odd features are far from 0 on average: medians of one order tell."""
    pairs = cases.random_pairs(seed, n=n, m=10)
    return Pairs(
        pairs.objects + 1.0,
        pairs.first,
        pairs.second,
        pairs.symmetric + 0.5,
        pairs.antisymmetric + 0.8,
    )


def some_rows(seed, n=N):
    return np.random.default_rng([seed, 7]).random(n) < 0.5


def targets_of(pairs, symmetry, seed=1):
    """Noisy real targets of the parity asked for."""
    one, other = (pairs.objects[end] @ [1.0, -0.5] for end in (pairs.first, pairs.second))
    if symmetry == "antisymmetric":
        clean = one - other + 0.5 * pairs.antisymmetric[:, 0]
    else:
        clean = one * other + pairs.symmetric[:, 0] - 0.8
    return clean + 0.4 * np.random.default_rng([seed, 8]).normal(size=len(pairs))


def labels_of(pairs, symmetry, seed=1):
    labels = np.where(targets_of(pairs, symmetry, seed) > 0.0, 1, -1)
    labels[:2] = 1, -1
    return labels


def assert_same_model(model, pairs, targets, rows, values, close=CLOSE):
    """Two fits, one of them to some rows in the other order; both models."""
    new = cases.random_pairs(2, n=25, m=9)
    sign = int(SYMMETRIES[model.symmetry].sign)
    one, other = clone(model).fit(pairs, targets), clone(model)
    other.fit(pairs.with_swapped(rows), np.where(rows, sign * targets, targets))
    expected, found = getattr(one, values)(new), getattr(other, values)(new)
    scale = np.abs(expected).max()
    assert scale > 1e-3
    np.testing.assert_allclose(found, expected, rtol=0, atol=close * scale)
    return one, other


# Kernels ----------------------------------------------------------------------------------------

CASES = [
    (symmetry, case) for symmetry in BOTH for case in cases.trainable_cases(SYMMETRIES[symmetry])
]


@pytest.mark.parametrize(
    ("symmetry", "case", "training_set"),
    [(*case, ["halved", "full"][place % 2]) for place, case in enumerate(CASES)],
    ids=repr,
)
def test_every_kernel(symmetry, case, training_set):
    pairs = written()
    model = PairSVC(symmetry, kernel=case.kernel, C=0.1, training_set=training_set, tol=1e-8)
    labels = labels_of(pairs, symmetry)
    assert_same_model(model, pairs, labels, some_rows(1), "decision_function")


def median():
    return Gaussian("median")


#: Kernels some of whose parameters the training pairs decide.
FITTED = {
    "symmetric": {
        "gaussian": "gaussian",
        "tensor": "tensor",
        "derived": Derived(median(), ("absolute_difference", "absolute_antisymmetric")),
        "derived-odd": Derived(median(), ("difference",)),
        "k2-k3": DirectSum(median(), k2=median(), k3=EvenPart(median())),
        "nystroem": Nystroem("product", 6),
    },
    "antisymmetric": {
        "gaussian": "gaussian",
        "additive": "additive",
        "derived": Derived(median(), ("difference",)),
        "derived-group": Derived(median(), ("antisymmetric", "difference")),
        "standardized": Standardized(Derived(median(), ("antisymmetric",)), "columns"),
        "k3": Additive(median(), k3=OddPart(median())),
        "nystroem": Nystroem(ProductKernel(median()), 6) + Additive(Linear()),
    },
}
FITTED_CASES = [(symmetry, name) for symmetry in BOTH for name in FITTED[symmetry]]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize(("symmetry", "name"), FITTED_CASES)
def test_every_learner_with_parameters_from_the_pairs(learner, symmetry, name):
    pairs = written()
    targets = targets_of(pairs, symmetry)
    if learner.values == "decision_function":
        targets = labels_of(pairs, symmetry)
    if not learner.supervised:
        targets[2::2] = 0
    model = learner.estimator(symmetry, kernel=FITTED[symmetry][name], tol=1e-8)
    close = LOW_RANK if name == "nystroem" else CLOSE
    assert_same_model(model, pairs, targets, some_rows(2), learner.values, close)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), rows=st.lists(st.booleans(), min_size=N, max_size=N))
def test_any_rows(seed, rows):
    for symmetry, kernel in (("antisymmetric", "derived"), ("symmetric", "k2-k3")):
        pairs = written(seed)
        model = PairRidge(symmetry, kernel=FITTED[symmetry][kernel], alpha=0.1)
        targets = targets_of(pairs, symmetry)
        assert_same_model(model, pairs, targets, np.array(rows), "predict")


# Graphs of pairs --------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", ["pairs", "objects"])
@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("grid", [False, True], ids=["any", "grid"])
def test_graphs_of_repeated_and_equally_near_pairs(symmetry, graph, grid):
    """Neighbours that are equally near, as repeated pairs and those on a grid are."""
    pairs = written(n=24)
    if grid:
        pairs = Pairs(np.round(2.0 * pairs.objects) / 2.0, pairs.first, pairs.second)
        pairs = pairs[pairs.compact().first != pairs.compact().second]
    else:
        pairs = pairs[np.concatenate([np.arange(24), np.arange(12), np.arange(6)])]
    n = len(pairs)
    labels = np.resize(cases.random_labels(3, 12), n)
    labels[2::3] = 0
    model = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), graph=graph, n_neighbors=3, tol=1e-8)
    new = cases.random_pairs(2, n=25, m=9, widths=(2, 0, 0) if grid else cases.WIDTHS)
    rows, sign = some_rows(3, n), int(SYMMETRIES[symmetry].sign)
    expected = model.fit(pairs, labels).decision_function(new)
    model.fit(pairs.with_swapped(rows), np.where(rows, sign * labels, labels))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        model.decision_function(new), expected, rtol=0, atol=CLOSE * max(scale, 1e-3)
    )
    assert scale > 1e-3


# What is made of learners -----------------------------------------------------------------------

FEW = {"cv": 3, "tol": 1e-8}


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize(
    ("search", "options"),
    [
        (PairSVCCV, {"Cs": 3, "path_tol": 0.05}),
        (PairLogisticCV, {"Cs": 3}),
        (PairRidgeCV, {"alphas": 3}),
    ],
)
def test_every_search(symmetry, search, options):
    """Families of kernels, folds, choices: those of the same pairs."""
    pairs = written(n=48)
    targets = labels_of(pairs, symmetry) if "Cs" in options else targets_of(pairs, symmetry)
    model, values = search(symmetry, **options, **FEW), "predict"
    if "Cs" in options:
        values = "decision_function"
    rows = some_rows(4, 48)
    one, other = assert_same_model(model, pairs, targets, rows, values)
    signs = np.where(rows, SYMMETRIES[symmetry].sign, 1.0)[other.held_out_rows_]
    turned = signs * other.held_out_decisions_
    np.testing.assert_allclose(turned, one.held_out_decisions_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("symmetry", BOTH)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(symmetry, method):
    pairs = written(n=48)
    model = CalibratedPairClassifier(PairSVC(symmetry, kernel="gaussian", tol=1e-8), method=method)
    labels = labels_of(pairs, symmetry)
    assert_same_model(model, pairs, labels, some_rows(5, 48), "decision_function")


@pytest.mark.parametrize("learner", [PairLogistic, PairSVR])
def test_draws(learner):
    pairs = written(n=60)
    raw = targets_of(pairs, "antisymmetric")
    outcomes = np.where(np.abs(raw) < 0.4, 0, np.sign(raw)).astype(int)
    model = PairDrawClassifier(learner("antisymmetric", kernel="gaussian", tol=1e-8))
    assert_same_model(model, pairs, outcomes, some_rows(6, 60), "decision_function")


# The tests can fail -----------------------------------------------------------------------------


def test_without_a_symmetry_the_order_matters():
    pairs, rows = written(), some_rows(1)
    labels, new = labels_of(pairs, "symmetric"), cases.random_pairs(2, n=25, m=9)
    model = PairSVC("none", kernel=Gaussian(1.0))
    expected = model.fit(pairs, labels).decision_function(new)
    found = model.fit(pairs.with_swapped(rows), labels).decision_function(new)
    assert np.abs(found - expected).max() > 0.05
