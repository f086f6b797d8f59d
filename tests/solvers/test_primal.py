"""Newton's method on parameters finds the optimum of the dual solvers at any scale."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.exceptions import KernelError
from pairity.io import load, save
from pairity.kernels import (
    Additive,
    Derived,
    DirectSum,
    Gaussian,
    Identity,
    Linear,
    MetricLearning,
    Mixed,
    Polynomial,
    Product,
    SkewBalanced,
    TensorMetric,
)
from pairity.kernels.classes import projected
from pairity.losses import Logistic, Squared, epsilon_insensitive, hinge
from pairity.operators.blockwise import operator_of
from pairity.operators.explicit_operator import ExplicitOperator
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.solvers.plan import takes_parameters
from pairity.solvers.primal_design import Design, grouped
from pairity.solvers.problem import AnyProblem, SolverOptions

TOL = 1e-6
KERNELS = [
    Linear(),
    Identity(),
    Additive(Linear()) + 0.5 * Additive(Identity()),
    Product(Linear()),
    Polynomial(2),
    Additive(Polynomial(2)),
    Additive(Identity()) + 2.0 * Product(Identity()),
]
MODELS = {
    "hinge": (PairSVC, "chunking"),
    "epsilon": (PairSVR, "chunking"),
    "logistic": (PairLogistic, "newton"),
    "squared": (PairRidge, "dense"),
}


def data(n_pairs=60, n_objects=9, seed=0, sparse=False):
    """Pairs with both kinds of group features, repeated ones among them, and noisy strengths."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(n_objects, 3))
    first = rng.integers(0, n_objects, n_pairs)
    second = (first + rng.integers(1, n_objects, n_pairs)) % n_objects
    group = rng.normal(size=(n_pairs, 2)), rng.normal(size=(n_pairs, 1))
    table = sp.csr_array(objects * (rng.random(objects.shape) < 0.6)) if sparse else objects
    ids = [f"object {number}" for number in range(n_objects)]
    pairs = Pairs(table, first, second, *group, ids=ids)
    values = objects[first, 0] - objects[second, 1] + group[1][:, 0] + rng.normal(size=n_pairs)
    return pairs, values


def fitted(loss, symmetry, kernel, solver, pairs, values, **options):
    """A model of a loss with a solver, to a fine tolerance."""
    maker = MODELS[loss][0]
    targets = np.where(values > 0, 1, -1) if loss in ("hinge", "logistic") else values
    if loss == "squared" and symmetry != "antisymmetric":
        options.setdefault("fit_intercept", True)
    model = maker(symmetry, kernel=kernel, solver=solver, tol=TOL, **options)
    return model.fit(pairs, targets)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("loss", MODELS)
def test_the_optimum_is_that_of_the_dual_solvers(loss, symmetry, kernel):
    pairs, values = data()
    plain = fitted(loss, symmetry, kernel, MODELS[loss][1], pairs, values)
    model = fitted(loss, symmetry, kernel, "primal", pairs, values)
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    new, _ = data(seed=1)
    expected, found = (one._decide(new) for one in (plain, model))
    np.testing.assert_allclose(found, expected, atol=2e-4 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("loss", MODELS)
def test_swap_law_bit_for_bit(loss, symmetry, training_set):
    pairs, values = data()
    kernel = Additive(Linear()) + Additive(Identity())
    model = fitted(loss, symmetry, kernel, "primal", pairs, values, training_set=training_set)
    sign = 1.0 if symmetry == "symmetric" else -1.0
    new, _ = data(seed=2)
    decisions = model._decide(new)
    assert (model._decide(new.swap()) == sign * decisions).all()
    for row in range(5):
        assert (model._decide(new[[row]].swap()) == sign * model._decide(new[[row]])).all()
    if symmetry == "antisymmetric":
        alone = Pairs(new.objects, [0, 1], [0, 1], np.zeros((2, 2)), np.zeros((2, 1)), ids=new.ids)
        assert (model._decide(alone) == 0.0).all()


def features_of_games(pairs):
    """The sparse design of a model of strengths and odd group features, as users write it."""
    n = len(pairs)
    rows = np.arange(n)
    shape = n, pairs.n_objects
    strengths = sp.csr_array((np.ones(n), (rows, pairs.first)), shape=shape)
    strengths -= sp.csr_array((np.ones(n), (rows, pairs.second)), shape=shape)
    design = sp.csr_matrix(sp.hstack([strengths, np.sqrt(2.0) * pairs.antisymmetric]))
    design.indices, design.indptr = (
        each.astype(np.int32) for each in (design.indices, design.indptr)
    )
    return design


@pytest.mark.parametrize("n_pairs", [150, 3000])
def test_golden_logistic_regression(n_pairs):
    """``(x_a - x_b) / sqrt(2)`` with weight 2C is scikit-learn's design with the weight C."""
    pairs, values = data(n_pairs)
    pairs = Pairs(
        pairs.objects, pairs.first, pairs.second, None, pairs.antisymmetric, ids=pairs.ids
    )
    labels = np.where(values > 0, 1, -1)
    model = PairLogistic("antisymmetric", kernel=Identity(), C=0.7, tol=1e-8).fit(pairs, labels)
    reference = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-12, max_iter=10_000)
    design = features_of_games(pairs)
    reference.fit(design, labels)
    assert model.certificate_.holds
    np.testing.assert_allclose(
        model.decision_function(pairs), reference.decision_function(design), atol=2e-5
    )


def test_golden_linear_support_vectors():
    pairs, values = data(400)
    pairs = Pairs(
        pairs.objects, pairs.first, pairs.second, None, pairs.antisymmetric, ids=pairs.ids
    )
    labels = np.where(values > 0, 1, -1)
    model = PairSVC("antisymmetric", kernel=Identity(), C=0.1, tol=1e-6).fit(pairs, labels)
    reference = LinearSVC(
        C=0.1,
        loss="hinge",
        dual=True,
        fit_intercept=False,
        tol=1e-10,
        max_iter=2_000_000,
        random_state=0,
    )
    design = features_of_games(pairs)
    reference.fit(design, labels)
    assert model.certificate_.holds
    np.testing.assert_allclose(
        model.decision_function(pairs), reference.decision_function(design), atol=1e-4
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_repeated_votes_are_weights(loss):
    """A thousand votes on few pairs, in either order, are the few pairs with weights."""
    rng = np.random.default_rng(3)
    pairs, _ = data(20)
    pairs = Pairs(pairs.objects, pairs.first, pairs.second, ids=pairs.ids)
    repeated = rng.integers(0, len(pairs), 1200)
    labels = rng.choice([-1.0, 1.0], len(pairs))
    turned = rng.random(1200) < 0.5
    votes, signs = pairs[repeated].with_swapped(turned), np.where(turned, -1.0, 1.0)
    maker = MODELS[loss][0]
    counts = np.bincount(repeated, minlength=len(pairs)).astype(float)
    kept = counts > 0
    options = {"kernel": Identity(), "solver": "primal", "tol": 1e-8}
    many = maker("antisymmetric", **options).fit(votes, signs * labels[repeated])
    few = maker("antisymmetric", **options).fit(pairs[kept], labels[kept], counts[kept])
    assert many.certificate_.holds
    assert few.certificate_.holds
    np.testing.assert_allclose(many._decide(pairs), few._decide(pairs), atol=1e-6)
    assert many.objective_ == pytest.approx(few.objective_, rel=1e-8)


def test_equal_rows_are_grouped_and_spread_back():
    from pairity.losses import hinge

    rng = np.random.default_rng(0)
    distinct = rng.normal(size=(10, 4))
    chosen, signs = rng.integers(0, 10, 12_000), rng.choice([-1.0, 1.0], 12_000)
    weights = rng.uniform(0.5, 2.0, 12_000)
    together = grouped(
        signs[:, np.newaxis] * distinct[chosen], hinge(signs, weights), with_signs=True
    )
    assert together.rows.shape == (10, 4)
    assert together.loss.weights.sum() == pytest.approx(weights.sum())
    spread = together.spread(together.loss.weights)
    np.testing.assert_allclose(np.abs(spread), weights)
    assert grouped(rng.normal(size=(12_000, 4)), hinge(signs, weights), with_signs=True) is None


@pytest.mark.parametrize("n_pairs", [20, 741])
@pytest.mark.parametrize("loss", MODELS)
def test_columns_of_any_scale(loss, n_pairs):
    """From a thousandth to thousands in one table: certified, and as good as anything."""
    rng = np.random.default_rng(5)
    objects = rng.normal(size=(39, 4)) * [1e-3, 1.0, 1e3, 3e3]
    first, second = np.triu_indices(39, 1)
    rows = rng.permutation(len(first))[:n_pairs]
    pairs = Pairs(objects, first[rows], second[rows])
    values = (objects[first[rows]] - objects[second[rows]]) @ [1.0, 1.0, 1e-3, 1e-3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maker = MODELS[loss][0]
        targets = np.sign(values) if loss in ("hinge", "logistic") else values
        model = maker("antisymmetric", kernel=Linear()).fit(pairs, targets)
    assert model.certificate_.holds
    assert model.n_iter_ < 400
    assert np.mean(np.sign(model._decide(pairs)) == np.sign(values)) >= 0.95


@pytest.mark.parametrize("kernel", [Linear(), Additive(Linear()), Gaussian(1e3), Polynomial(2)])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_ill_scaled_features_are_certified_or_said_to_be_lost(loss, kernel):
    """From 1e-3 to 1e6 in one table, far from 0: a certificate, or one sentence what to do."""
    rng = np.random.default_rng(6)
    objects = (rng.normal(size=(60, 10)) + 3.0) * 10.0 ** np.linspace(-3, 6, 10)
    first, second = np.triu_indices(60, 1)
    rows = rng.permutation(len(first))[:700]
    pairs = Pairs(objects, first[rows], second[rows])
    labels = np.sign(
        (objects[first[rows]] - objects[second[rows]]) @ 10.0 ** -np.linspace(-3, 6, 10)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MODELS[loss][0]("antisymmetric", kernel=kernel).fit(pairs, labels)
    assert model.n_iter_ < 500_000
    assert model.certificate_.holds or any("standardise" in str(one.message) for one in caught)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_some_of_very_many_rows_are_solved_for_first(loss, monkeypatch):
    """A start from a sample: the same optimum, in fewer steps on all rows."""
    from pairity.solvers import primal

    pairs, values = data(3000)
    options = {"symmetry": "antisymmetric", "kernel": Linear(), "solver": "primal"}
    few = fitted(loss, pairs=pairs, values=values, **options)
    monkeypatch.setattr(primal, "_MANY_ROWS", 1000)
    many = fitted(loss, pairs=pairs, values=values, **options)
    assert many.certificate_.holds
    assert many.n_iter_ <= few.n_iter_
    np.testing.assert_allclose(many._decide(pairs), few._decide(pairs), atol=1e-5)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("loss", MODELS)
def test_certificates_hold_for_sparse_objects(loss, tol):
    pairs, values = data(300, 40, sparse=True)
    model = MODELS[loss][0]("antisymmetric", kernel=Linear() + Identity(), tol=tol)
    labels = np.where(values > 0, 1, -1) if loss in ("hinge", "logistic") else values
    assert model.fit(pairs, labels).certificate_.holds


def test_many_objects_make_no_gram_matrix():
    """Twenty thousand names: their Gram matrix alone would take 3.2 GB."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 20_000, 5000)
    second = (first + rng.integers(1, 20_000, 5000)) % 20_000
    pairs = Pairs(np.zeros((20_000, 0)), first, second, ids=np.arange(20_000))
    labels = rng.choice([-1, 1], 5000)
    model = PairLogistic("antisymmetric", kernel=Identity(), memory_limit=500.0).fit(pairs, labels)
    assert model.certificate_.holds
    assert np.isfinite(model.decision_function(pairs)).all()


def test_a_kernel_without_few_features_is_refused():
    pairs, values = data()
    with pytest.raises(ValueError, match=r"got solver='primal' with .*Gaussian"):
        fitted("hinge", "antisymmetric", Gaussian(1.0), "primal", pairs, values)


def test_a_model_file_gives_the_same_decisions(tmp_path):
    pairs, values = data()
    model = fitted("logistic", "antisymmetric", Identity(), "primal", pairs, values)
    save(model, tmp_path / "model.pairity")
    again = load(tmp_path / "model.pairity")
    assert (again.decision_function(pairs) == model.decision_function(pairs)).all()


def test_the_callback_sees_every_step():
    pairs, values = data()
    seen = []
    fitted("logistic", "antisymmetric", Linear(), "primal", pairs, values, callback=seen.append)
    assert [iterate.iteration for iterate in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].violation <= TOL


# The operator -----------------------------------------------------------------------------------

MORE_KERNELS = [
    *KERNELS,
    Polynomial(3),
    MetricLearning(Linear()),
    TensorMetric(Linear()),
    DirectSum(Linear(), k3=Linear()),
    Additive(Identity(), k3=Linear()),
    Product(Linear(), k3=Linear()),
    Product(Identity()),
    MetricLearning(Identity()),
    3.0 * Product(Identity()) + Product(Linear()),
    Mixed(Linear(), even=0.3),
    Derived(Linear(), ("difference",)),
]


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD, None])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", MORE_KERNELS, ids=repr)
def test_rows_and_products_are_those_of_the_gram_matrix(kernel, sparse, parity):
    pairs, _ = data(40, sparse=sparse)
    part = kernel if parity is None else projected(kernel, parity)
    operator = operator_of(part, pairs)
    gram = part.gram(pairs)
    vector = np.random.default_rng(0).normal(size=len(pairs))
    close = {"rtol": 0.0, "atol": 1e-11 * max(1.0, np.abs(gram).max()) * len(pairs)}
    np.testing.assert_allclose(operator.product(vector), gram @ vector, **close)
    rows = np.arange(7)
    np.testing.assert_allclose(
        operator.precise_product(rows, vector).astype(float), gram[:7] @ vector, **close
    )
    np.testing.assert_allclose(operator.diagonal(), np.diag(gram), **close)
    if not isinstance(operator, ExplicitOperator):
        assert sparse or not gram.any()
        return
    assert operator.features is not None
    table = operator.features.rows
    table = table.toarray() if sp.issparse(table) else table
    assert table.shape == (len(pairs), operator.features.n_columns)
    np.testing.assert_allclose(table @ table.T, gram, **close)
    operator._is_large = True  # by features alone
    np.testing.assert_allclose(operator.product(vector), gram @ vector, **close)
    np.testing.assert_allclose(operator.block(rows, slice(None)), gram[:7], **close)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
@pytest.mark.parametrize("n_used", [3, 40])
@pytest.mark.parametrize("kernel", [Linear(), Linear() + Identity()], ids=repr)
def test_precise_products_are_those_of_fractions(kernel, n_used):
    """Features as they were given are not rounded, however large they are beside one another."""
    rng = np.random.default_rng(2)
    objects = rng.normal(size=(30, 3)) * np.array([1e-6, 1.0, 1e6])
    pairs = Pairs(objects, *rng.integers(0, 30, (2, 40)))
    vector, rows = np.zeros(40), np.array([0, 7, 21])
    vector[:n_used] = rng.normal(size=n_used)
    operator = operator_of(projected(kernel, Parity.ODD), pairs)
    exact_objects = [[Fraction(float(value)) for value in row] for row in objects]

    def value(one, other):
        inner = sum(x * z for x, z in zip(exact_objects[one], exact_objects[other], strict=True))
        return inner if isinstance(kernel, Linear) else inner + (one == other)

    def difference(end, column):  # k(end, c) - k(end, d)
        return value(end, pairs.first[column]) - value(end, pairs.second[column])

    for row, found in zip(rows, operator.precise_product(rows, vector), strict=True):
        exact, size = Fraction(0), 0.0
        for column in range(n_used):
            ends = [difference(end[row], column) for end in (pairs.first, pairs.second)]
            exact += Fraction(vector[column]) * (ends[0] - ends[1]) / 2
            size += sum(abs(float(end) * vector[column]) for end in ends)
        assert abs(float(Fraction(*found.as_integer_ratio()) - exact)) <= 1e-17 * size


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD, None])
def test_two_objects_that_meet_have_an_effect_of_their_own(parity):
    """Rows in either order, an object with itself, one object twice in the table, unknown pairs."""
    kernel = Product(Identity()) + Additive(Identity())
    part = kernel if parity is None else projected(kernel, parity)
    table, ids = np.zeros((5, 0)), np.array([3, 1, 4, 1, 5])
    known = Pairs(table, [0, 1, 2, 4, 0, 3], [1, 0, 2, 2, 3, 1], ids=ids)
    asked = Pairs(table[:4], [0, 3, 3, 1], [3, 2, 0, 1], ids=ids[::-1][:4])
    vector = np.array([1.0, -2.0, 0.5, 3.0, 0.25, -1.0])
    for left in (known, asked):
        operator = operator_of(part, left, known)
        assert isinstance(operator, ExplicitOperator)
        both = [part.gram(side, known) @ vector for side in (left, left.swap())]
        np.testing.assert_allclose(operator.products(vector, mirrored=True), both, atol=1e-14)
        precise = operator.precise_product(np.arange(4), vector).astype(float)
        np.testing.assert_allclose(precise, both[0][:4], atol=1e-14)
    alone = operator_of(part, known)
    rows = alone.features.rows.toarray()
    np.testing.assert_allclose(rows @ rows.T, part.gram(known), atol=1e-14)
    if parity is not None:
        assert len(np.unique(rows, axis=1).T) == rows.shape[1]  # no column twice


LOSSES = {
    "hinge": hinge,
    "epsilon": lambda values, weights: epsilon_insensitive(values, weights, 0.1),
    "logistic": Logistic,
    "squared": Squared,
}


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("n_objects", [20, 100])
@pytest.mark.parametrize("loss", MODELS)
def test_many_names_with_a_bias_leave_piecewise_linear_losses_to_the_dual(
    loss, n_objects, has_bias
):
    """A hundred factorisations of many parameters take longer than steps on few pairs."""
    pairs, values = data(150, n_objects)
    targets = np.where(values > 0.0, 1.0, -1.0)
    operator = operator_of(projected(Identity(), Parity.ODD), pairs)
    problem = AnyProblem(operator, LOSSES[loss](targets, np.ones(len(pairs))), has_bias=has_bias)
    expected = n_objects == 20 or loss in ("logistic", "squared") or not has_bias
    assert takes_parameters(problem, "auto", SolverOptions(1e-3)) == expected


def test_kernels_of_whole_functions_have_no_features():
    pairs, _ = data()
    assert operator_of(SkewBalanced(Gaussian(1.0)), pairs).features is None


def test_sparse_curvature_is_the_dense_one():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.3)
    weights = rng.uniform(size=300) * (rng.random(300) < 0.7)
    for has_bias in (False, True):
        expected = Design(dense, has_bias).curvature(weights)
        found = Design(sp.csr_array(dense), has_bias).curvature(weights)
        np.testing.assert_allclose(np.tril(found), np.tril(expected), atol=1e-12)


@pytest.mark.parametrize("kernel", [Identity(), Identity() + Gaussian(1.0)], ids=repr)
def test_names_that_were_not_learned_from_change_nothing(kernel):
    pairs, values = data()
    model = fitted("hinge", "antisymmetric", kernel, "auto", pairs.without_ids(), values)
    other = np.arange(pairs.n_objects)[::-1]
    named = Pairs(
        pairs.objects, pairs.first, pairs.second, pairs.symmetric, pairs.antisymmetric, ids=other
    )
    decisions = model.decision_function(pairs.without_ids())
    assert decisions.any()
    assert (model.decision_function(named) == decisions).all()
    by_name = fitted("hinge", "antisymmetric", kernel, "auto", pairs, values)
    with pytest.raises(KernelError, match="expected ids in fit and in predict"):
        by_name.decision_function(pairs.without_ids())
