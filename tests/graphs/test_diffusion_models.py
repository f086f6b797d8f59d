"""Estimators on diffusion kernels: swap law, certificate, scikit-learn, products instead of rows."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import pairity.kernels.auxiliary as auxiliary
import pairity.kernels.diffusion as diffusion
from pairity import Pairs, PairSVC, PairSVR, TransductivePairSVC
from pairity.exceptions import KernelError
from pairity.kernels import Diffusion, Gaussian, Precomputed, SkewBalanced, Tensor
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.parity import Parity

BASES = {Parity.EVEN: Tensor(Gaussian(1.2)), Parity.ODD: SkewBalanced(Gaussian(1.2))}
NAMES = {Parity.EVEN: "symmetric", Parity.ODD: "antisymmetric"}
FORMS = [
    {"series": "exponential", "strength": 2.0},
    {"series": "von_neumann", "strength": 0.8, "mask": "shared"},
    {"series": (1.0, 1.0, 0.5), "normalise": False},
    {"series": (1.0, 0.5), "mask": "shared", "self_loops": False},
]


@pytest.fixture(params=list(Parity), ids=lambda parity: parity.name.lower())
def parity(request):
    return request.param


@pytest.fixture
def by_products(monkeypatch):
    """Pretend that every auxiliary graph is too large for its whole matrix."""
    monkeypatch.setattr(auxiliary, "DENSE_ARCS", 0)
    monkeypatch.setattr(diffusion, "DENSE_ARCS", 0)


def task(parity, seed=0, m=12, n=45):
    """Arcs, labels and which arcs are for training."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(m, 2))
    first, second = np.triu_indices(m, 1)
    chosen = rng.permutation(len(first))[:n]
    turned = rng.random(n) < 0.5
    a, b = first[chosen], second[chosen]
    arcs = Pairs(objects, np.where(turned, b, a), np.where(turned, a, b))
    lead = objects[arcs.first, 0] - objects[arcs.second, 0]
    if parity is Parity.ODD:
        return arcs, np.where(lead > 0, 1, -1), np.arange(n) < 30
    return arcs, np.where(np.abs(lead) < 1.0, 1, -1), np.arange(n) < 30


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["series"]))
@pytest.mark.parametrize("solver", ["smo", "chunking"])
def test_swap_law_and_certificate(parity, form, solver):
    arcs, y, train = task(parity)
    kernel = Diffusion(BASES[parity], arcs, **form)
    model = PairSVC(symmetry=NAMES[parity], kernel=kernel, solver=solver, tol=1e-6)
    model.fit(arcs[train], y[train])
    assert model.certificate_.holds
    values = model.decision_function(arcs)
    assert (model.decision_function(arcs.swap()) == parity.sign * values).all()
    for row in range(len(arcs)):
        assert model.decision_function(arcs[[row]]) == values[row]  # whatever the batch
    if parity is Parity.ODD:
        assert model.intercept_ == 0.0
    expected = kernel.gram(arcs, model.support_pairs_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(values, expected, atol=1e-10)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["series"]))
def test_regression(parity, form):
    arcs, _, train = task(parity)
    y = arcs.objects[arcs.first, 0] + parity.sign * arcs.objects[arcs.second, 0]
    kernel = Diffusion(BASES[parity], arcs, **form)
    model = PairSVR(symmetry=NAMES[parity], kernel=kernel, C=10.0).fit(arcs[train], y[train])
    assert model.certificate_.holds
    values = model.predict(arcs)
    assert (model.predict(arcs.swap()) == parity.sign * values).all()
    assert np.corrcoef(values[~train], y[~train])[0, 1] > 0.3


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["series"]))
def test_transduction(parity, form):
    """Test arcs are nodes of the auxiliary graph anyway: they enter as unlabelled pairs."""
    arcs, y, train = task(parity)
    kernel = Diffusion(BASES[parity], arcs, **form)
    model = TransductivePairSVC(symmetry=NAMES[parity], kernel=kernel)
    model.fit(arcs, np.where(train, y, 0))
    assert model.certificate_.holds
    values = model.decision_function(arcs)
    assert (model.decision_function(arcs.swap()) == parity.sign * values).all()
    assert (model.transduction_[train] == y[train]).all()


def test_both_training_sets_have_one_optimum(parity):
    arcs, y, train = task(parity, seed=3)
    kernel = Diffusion(BASES[parity], arcs, strength=2.0)
    halved, full = (
        PairSVC(symmetry=NAMES[parity], kernel=kernel, training_set=kind, tol=1e-7).fit(
            arcs[train], y[train]
        )
        for kind in ("halved", "full")
    )
    assert halved.objective_ == pytest.approx(full.objective_, rel=1e-6)
    np.testing.assert_allclose(
        halved.decision_function(arcs), full.decision_function(arcs), atol=1e-4
    )


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["series"]))
def test_products_agree_with_the_matrix(parity, form):
    arcs, _, train = task(parity)
    kernel = Diffusion(BASES[parity], arcs, **form)
    weights = np.random.default_rng(1).normal(size=int(train.sum()))
    operator = PairOperator(0.5 * kernel, arcs, arcs[train])
    K = 0.5 * kernel.gram(arcs, arcs[train])
    plain, mirrored = operator.products(weights, mirrored=True)
    np.testing.assert_allclose(plain, K @ weights, atol=1e-10)
    assert (mirrored == parity.sign * plain).all()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["series"]))
def test_large_graphs_go_through_products(parity, form, by_products):
    arcs, y, train = task(parity, seed=1)
    kernel = Diffusion(BASES[parity], arcs, **form)
    model = PairSVC(symmetry=NAMES[parity], kernel=kernel).fit(arcs[train], y[train])
    assert model.certificate_.holds
    values = model.decision_function(arcs)
    assert (model.decision_function(arcs.swap()) == parity.sign * values).all()
    blocks = kernel.gram(arcs[train], arcs), kernel.gram(arcs, arcs[train]).T
    np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-10)
    np.testing.assert_allclose(kernel.diagonal(arcs), np.diag(kernel.gram(arcs)), atol=1e-10)
    graph = kernel.auxiliary_graph
    assert graph._dense is None
    whole = graph._dense_from_spectrum(diffusion.as_series(kernel.series), kernel.strength)
    nodes, signs = kernel._located(arcs)
    expected = whole[np.ix_(nodes, nodes)] * signs[:, np.newaxis] * signs
    np.testing.assert_allclose(kernel.gram(arcs), expected, atol=1e-10)


def test_large_literal_graphs_are_judged_by_their_outermost_eigenvalues(by_products):
    path = Pairs(np.arange(4.0)[:, np.newaxis], [0, 1, 2], [1, 2, 3])
    wide = Tensor(Gaussian(1e4))  # 1 between any two arcs
    literal = {"mask": "shared", "normalise": False}
    with pytest.raises(KernelError, match=r"eigenvalue -1\.07"):
        Diffusion(5.0 * wide, path, series=(1, 1), **literal)
    Diffusion(wide, path, series=(1, 1), **literal)  # 1 + (1 - sqrt 2) > 0


def test_both_ways_to_the_whole_matrix_agree(parity, threads):
    arcs, _, _ = task(parity, m=20, n=150)
    graph = Diffusion(BASES[parity], arcs).auxiliary_graph
    for form in FORMS[:2]:
        series = diffusion.as_series(form["series"])
        left = graph._dense_from_spectrum(series, form["strength"])
        right = graph._dense_from_products(series, form["strength"])
        np.testing.assert_allclose(left, right, atol=1e-11)
        assert (left == left.T).all()
        assert (right == right.T).all()
        threads(1)
        assert (graph._dense_from_products(series, form["strength"]) == right).all()
        threads(2)


def test_sums_with_other_kernels(parity):
    arcs, y, train = task(parity)
    other = BASES[parity]
    kernel = Diffusion(BASES[parity], arcs) + 0.5 * other
    model = PairSVC(symmetry=NAMES[parity], kernel=kernel).fit(arcs[train], y[train])
    assert model.certificate_.holds
    values = model.decision_function(arcs)
    assert (model.decision_function(arcs.swap()) == parity.sign * values).all()


def test_scikit_learn_searches_clones_and_pickles(parity):
    arcs, y, _ = task(parity)
    kernel = Diffusion(BASES[parity], arcs)
    model = PairSVC(symmetry=NAMES[parity], kernel=kernel)
    copy = clone(model)
    assert copy.kernel.auxiliary_graph is kernel.auxiliary_graph  # made once for equal arcs
    grid = {"kernel__strength": [0.5, 2.0], "kernel__kernel": [BASES[parity]], "C": [1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(arcs, y)
    assert search.best_params_["kernel__strength"] in (0.5, 2.0)
    fitted = pickle.loads(pickle.dumps(search.best_estimator_))
    values = search.best_estimator_.decision_function(arcs)
    assert (fitted.decision_function(arcs) == values).all()


def test_parameters_set_later_are_checked_before_a_fit():
    arcs, y, train = task(Parity.EVEN)
    model = PairSVC("symmetric", kernel=Diffusion(BASES[Parity.EVEN], arcs))
    model.set_params(kernel__series="von_neumann", kernel__strength=5.0)
    with pytest.raises(KernelError, match="1 over the spectral radius"):
        model.fit(arcs[train], y[train])


def test_changed_base_kernels_are_noticed():
    arcs, _, _ = task(Parity.EVEN)
    kernel = Diffusion(Tensor(Gaussian(1.0)), arcs)
    before = kernel.gram(arcs)
    kernel.set_params(kernel__k1__sigma=0.3)
    assert (kernel.gram(arcs) == Diffusion(Tensor(Gaussian(0.3)), arcs).gram(arcs)).all()
    assert np.abs(kernel.gram(arcs) - before).max() > 1e-3


def test_the_wrong_parity_is_refused(parity):
    arcs, y, train = task(parity)
    other = Parity.ODD if parity is Parity.EVEN else Parity.EVEN
    model = PairSVC(symmetry=NAMES[parity], kernel=Diffusion(BASES[other], arcs))
    with pytest.raises(KernelError, match="balanced kernel, for"):
        model.fit(arcs[train], y[train])


def test_test_arcs_must_be_nodes(parity):
    arcs, y, train = task(parity)
    kernel = Diffusion(BASES[parity], arcs[train])
    model = PairSVC(symmetry=NAMES[parity], kernel=kernel).fit(arcs[train], y[train])
    with pytest.raises(KernelError, match="make it with the test arcs too"):
        model.decision_function(arcs)


def test_equal_objects_through_row_numbers(parity):
    """The way out that the refusal names: row numbers as features, the kernel precomputed."""
    arcs, y, train = task(parity)
    features = np.round(arcs.objects)
    features[1] = features[0]
    named = Pairs(np.arange(len(features), dtype=float)[:, np.newaxis], arcs.first, arcs.second)
    k1 = Precomputed(Gaussian(1.2).on_features(features, features))
    base = Tensor(k1) if parity is Parity.EVEN else SkewBalanced(k1)
    model = PairSVC(symmetry=NAMES[parity], kernel=Diffusion(base, named))
    assert model.fit(named[train], y[train]).certificate_.holds
