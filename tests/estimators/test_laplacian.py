"""LaplacianPairSVC against a generic solver of its primal on I, and what it is made of."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import cases
import naive
from pairity import LaplacianPairSVC, Pairs, PairSVC
from pairity.kernels import Gaussian, Linear, Polynomial, Tensor
from pairity.operators.manifold import DeformedOperator, pair_laplacian
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.parity import SYMMETRIES
from pairity.solvers import SMO

LAWS = ["symmetric", "antisymmetric"]
ALL = [*LAWS, "none"]
GRAPHS = ["pairs", "objects"]


def data(seed=1, n=16, labelled=6, widths=cases.WIDTHS):
    """Pairs of which the first are labelled; nothing ties."""
    y = cases.random_labels(seed, n)
    y[labelled:] = 0
    return cases.distinct_pairs(seed, n=n, m=8, widths=widths), y


def random_weights(seed, n):
    rng = np.random.default_rng([seed, 4])
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return weights + weights.T


# The optimum ------------------------------------------------------------------------------------


def primal_optimum(gram, laplacian, labelled, labels, C, manifold):
    """Least ``1/2 |w|^2 + C sum xi + manifold / (2 n) g' L g``, g = <w, phi>, by SLSQP.

    ``gram = R R'`` and ``g = R w``; the variables are w, the bias and the slacks.
    """
    values, vectors = np.linalg.eigh(gram)
    R = vectors * np.sqrt(np.maximum(values, 0.0))
    n, n_slack = len(gram), len(labelled)
    curvature = np.eye(n) + (manifold / n) * R.T @ laplacian @ R

    def objective(v):
        return 0.5 * v[:n] @ curvature @ v[:n] + C * v[n + 1 :].sum()

    def gradient(v):
        return np.concatenate([curvature @ v[:n], [0.0], np.full(n_slack, C)])

    margins = np.hstack([labels[:, None] * R[labelled], labels[:, None], np.eye(n_slack)])
    start = np.concatenate([np.zeros(n + 1), np.ones(n_slack)])
    found = minimize(
        objective,
        start,
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * (n + 1) + [(0.0, None)] * n_slack,
        constraints={"type": "ineq", "fun": lambda v: margins @ v - 1.0, "jac": lambda v: margins},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert found.success
    return found.fun, R @ found.x[:n] + found.x[n]


KERNELS = [(Gaussian(1.3), naive.pair_gaussian(1.3)), (Polynomial(2), naive.pair_polynomial(2))]


@pytest.mark.parametrize("symmetry", ALL)
@pytest.mark.parametrize(
    ("graph", "kernel", "twin"),
    [("pairs", *KERNELS[0]), ("objects", *KERNELS[1]), ("given", *KERNELS[0])],
    ids=["pairs", "objects", "given"],
)
def test_optimum_of_the_primal_on_I(symmetry, graph, kernel, twin):
    """Kernel and penalty on the rows and their mirror images, nothing halved or bent."""
    n, n_labelled, C, manifold = 9, 5, 2.0, 7.0
    pairs, y = data(2, n=n, labelled=n_labelled)
    given_graph = random_weights(2, n) if graph == "given" else graph
    parity = SYMMETRIES[symmetry]
    model = LaplacianPairSVC(
        symmetry, kernel=kernel, C=C, manifold=manifold, graph=given_graph, n_neighbors=3, tol=1e-9
    ).fit(pairs, y)

    nodes, labelled, labels = pairs, np.arange(n_labelled), y[:n_labelled].astype(float)
    if parity is not None:
        nodes = pairs.with_mirrored()
        labelled = np.concatenate([labelled, n + labelled])
        labels = np.concatenate([labels, parity.sign * labels])
        if graph == "given":
            zero = np.zeros((n, n))
            given_graph = np.block([[given_graph, zero], [zero, given_graph]])
    laplacian = pair_laplacian(nodes.compact(), None, given_graph, 3)
    rows = nodes.to_rows()
    gram = naive.gram(twin, rows, rows, cases.WIDTHS)
    best, decisions = primal_optimum(gram, laplacian, labelled, labels, C, manifold)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert -model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(nodes), decisions, rtol=0, atol=1e-3)


@given(seed=st.integers(0, 10**6), manifold=st.sampled_from([1e-3, 1.0, 1e3, 1e6]))
def test_the_bent_kernel_is_the_inverse_of_the_sum_of_both_penalties(seed, manifold):
    """``K~ = (K^-1 + M)^-1`` on all pairs, where K has an inverse."""
    pairs = cases.distinct_pairs(seed, n=10, m=8).compact()
    laplacian = pair_laplacian(pairs, None, "pairs", 3)
    operator = PairOperator(Gaussian(0.8), pairs)
    chosen = np.arange(10)
    bent = DeformedOperator(operator, manifold * laplacian, chosen)
    plain = Gaussian(0.8).gram(pairs)
    penalty = manifold * laplacian.toarray()
    expected = np.linalg.inv(np.linalg.inv(plain) + penalty)
    # rounding of the two systems, by their condition; entries are at most 1
    condition = np.linalg.cond(plain) + np.linalg.cond(np.eye(10) + penalty @ plain)
    bound = 10 * np.finfo(float).eps * condition
    np.testing.assert_allclose(bent.gram, expected, rtol=0, atol=bound)
    assert np.array_equal(bent.gram, bent.gram.T)
    assert np.linalg.eigvalsh(bent.gram).min() >= -bound
    theta = np.random.default_rng(seed).normal(size=10)
    np.testing.assert_allclose(
        plain @ bent.coefficients(theta), bent.product(theta), rtol=0, atol=10 * bound
    )
    some = DeformedOperator(operator, manifold * laplacian, chosen[3:7])
    np.testing.assert_allclose(some.gram, bent.gram[3:7, 3:7], rtol=0, atol=bound)
    assert some.shape == (4, 4)
    assert np.array_equal(some.rows(np.array([2, 0])), some.gram[[2, 0]])
    assert np.array_equal(some.diagonal(), np.diag(some.gram))
    block = np.empty((2, 4))
    some.block(np.array([1, 3]), slice(None), out=block)
    assert np.array_equal(block, some.gram[[1, 3]])


def test_coefficients_that_are_off_widen_the_gap_by_no_more_than_is_counted():
    """Half of the norms of the model and of the bent function, less their product: the widening."""
    pairs = cases.distinct_pairs(2, n=10, m=8).compact()
    laplacian = pair_laplacian(pairs, None, "pairs", 3)
    bent = DeformedOperator(PairOperator(Gaussian(0.8), pairs), laplacian, np.arange(10))
    plain, rng = Gaussian(0.8).gram(pairs), np.random.default_rng(2)
    theta = rng.normal(size=10)
    assert bent.lost(theta) < 1e-28
    bent._correction = bent._correction * (1.0 + 1e-3 * rng.normal(size=(10, 10)))
    c = bent.coefficients(theta)
    f = plain @ c
    norms = c @ f + f @ laplacian @ f, theta @ bent.gram @ theta
    widening = 0.5 * sum(norms) - theta @ f
    assert 1e-9 < widening <= bent.lost(theta) < 1e-3


@pytest.mark.parametrize("symmetry", ["symmetric", "none"])
def test_a_mean_is_not_taken_out_where_the_penalty_depends_on_it(symmetry):
    """The penalty is on f without its bias; other machines centre from a mean of 8 spreads on."""
    pairs = cases.random_pairs(4, n=40, m=20, widths=(2, 0, 0))
    x = np.asarray(pairs.objects)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = np.where(x[pairs.first, 0] + x[pairs.second, 0] > 0, 1, -1)
    y[10:] = 0
    decisions = []
    for mean in (7.9, 8.1):
        moved = pairs.with_features(x + np.array([mean, 0.0]), pairs.symmetric, pairs.antisymmetric)
        model = LaplacianPairSVC(symmetry, kernel=Linear(), tol=1e-6).fit(moved, y)
        assert model.certificate_.holds
        decisions.append(model.decision_function(moved))
    np.testing.assert_allclose(*decisions, rtol=0, atol=0.02)


@pytest.mark.parametrize("symmetry", ALL)
@pytest.mark.parametrize("graph", GRAPHS)
def test_no_penalty_is_the_supervised_machine(symmetry, graph):
    pairs, y = data(3)
    model = LaplacianPairSVC(
        symmetry, kernel=Gaussian(1.0), C=2.0, manifold=0.0, graph=graph, tol=1e-9
    )
    model.fit(pairs, y)
    plain = PairSVC(symmetry, kernel=Gaussian(1.0), C=2.0, tol=1e-9).fit(pairs[:6], y[:6])
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert model.support_.max() < 6
    new = cases.random_pairs(4, n=15)
    np.testing.assert_allclose(
        model.decision_function(new), plain.decision_function(new), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("symmetry", ALL)
def test_a_graph_without_edges_is_no_penalty(symmetry):
    pairs, y = data(3)
    plain = PairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-9).fit(pairs[:6], y[:6])
    model = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), graph=np.zeros((16, 16)), tol=1e-9)
    assert model.fit(pairs, y).objective_ == pytest.approx(plain.objective_, rel=1e-9)


@pytest.mark.parametrize("symmetry", ALL)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_larger_penalty_makes_a_smoother_function(symmetry, graph):
    """At optima of F + c G a larger c has a smaller G and a larger F + c G."""
    pairs, y = data(5)
    laplacian = pair_laplacian(pairs.compact(), SYMMETRIES[symmetry], graph, 4)
    roughness, objectives = [], []
    for manifold in (0.0, 1.0, 100.0, 1e4):
        model = LaplacianPairSVC(
            symmetry,
            kernel=Gaussian(1.0),
            C=5.0,
            manifold=manifold,
            graph=graph,
            n_neighbors=4,
            tol=1e-8,
        ).fit(pairs, y)
        values = model.decision_function(pairs) - model.intercept_
        roughness.append(float(values @ (laplacian @ values)))
        objectives.append(-model.objective_)
    assert (np.diff(roughness) <= 1e-5).all()
    assert roughness[-1] < 0.1 * roughness[0]
    assert (np.diff(objectives) >= 0).all()


# Symmetry ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("training_set", ["halved", "full"])
def test_swap_law(symmetry, graph, training_set):
    pairs, y = data(7)
    model = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), graph=graph, training_set=training_set)
    model.fit(pairs, y)
    new, sign = cases.random_pairs(8, n=30), SYMMETRIES[symmetry].sign
    assert np.array_equal(model.decision_function(new.swap()), sign * model.decision_function(new))
    assert np.abs(model.decision_function(new)).max() > 1e-2


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_full_and_halved_set_give_the_same_function(symmetry, graph):
    pairs, y = data(7)
    halved, full = (
        LaplacianPairSVC(
            symmetry, kernel=Gaussian(1.0), graph=graph, training_set=training_set
        ).fit(pairs, y)
        for training_set in ("halved", "full")
    )
    assert halved.objective_ == full.objective_
    n, sign = len(pairs), SYMMETRIES[symmetry].sign
    assert np.array_equal(full._dual[:n], halved._dual / 2.0)
    assert np.array_equal(full._dual[n:], sign * full._dual[:n])
    new = cases.random_pairs(8, n=15)
    np.testing.assert_allclose(
        full.decision_function(new), halved.decision_function(new), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("iterates", ["averaged", "free"])
def test_iterates_on_the_full_set(symmetry, graph, iterates):
    """SMO on I with the graph on I: the same function, other steps."""
    pairs, y = data(7)
    seen = []
    options = {"graph": graph, "tol": 1e-9, "training_set": "full", "solver": "smo"}
    mirrored = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), **options).fit(pairs, y)
    model = LaplacianPairSVC(
        symmetry,
        kernel=Gaussian(1.0),
        callback=lambda iterate: seen.append(iterate.theta),
        **options | {"solver": SMO(selection="first_order", iterates=iterates)},
    ).fit(pairs, y)
    assert model.certificate_.holds
    assert model.objective_ == pytest.approx(mirrored.objective_, rel=1e-7)
    np.testing.assert_allclose(
        model.decision_function(pairs), mirrored.decision_function(pairs), rtol=0, atol=1e-6
    )
    n, sign = np.count_nonzero(y), SYMMETRIES[symmetry].sign
    asymmetry = max(np.abs(theta[n:] - sign * theta[:n]).max() for theta in seen)
    if iterates == "averaged":
        assert asymmetry < 1e-12
    elif symmetry == "symmetric":
        assert asymmetry > 0.1  # of C = 1


@pytest.mark.parametrize("symmetry", LAWS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_order_in_which_pairs_are_written_does_not_matter(symmetry, graph):
    pairs, y = data(7)
    sign, rows = int(SYMMETRIES[symmetry].sign), np.arange(len(y)) % 3 == 0
    turned = Pairs(
        pairs.objects,
        np.where(rows, pairs.second, pairs.first),
        np.where(rows, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(rows[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )
    model = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), graph=graph, tol=1e-9)
    expected = model.fit(pairs, y).decision_function(pairs)
    found = model.fit(turned, np.where(rows, sign * y, y)).decision_function(pairs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


# The rest of an estimator -----------------------------------------------------------------------


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    symmetry=st.sampled_from(ALL),
    kernel=st.sampled_from([Linear(), Polynomial(3), Gaussian(1.0)]),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    manifold=st.sampled_from([0.0, 1e-2, 1.0, 1e3, 1e8]),
    graph=st.sampled_from(GRAPHS),
)
def test_every_fit_is_certified(seed, symmetry, kernel, C, manifold, graph):
    """Repeated pairs too; the certificate is that of the problem solved."""
    pairs, y = cases.random_pairs(seed, n=25, m=8), data(seed, n=25)[1]
    model = LaplacianPairSVC(symmetry, kernel=kernel, C=C, manifold=manifold, graph=graph).fit(
        pairs, y
    )
    assert model.certificate_.holds
    assert model.certificate_.gap >= -1e-9 * abs(model.certificate_.primal)
    assert model.objective_ == model.certificate_.dual
    decisions = model.decision_function(pairs[:6])
    factor = 1.0 if symmetry == "none" else 2.0
    loss = factor * C * np.maximum(0.0, 1.0 - y[:6] * decisions).sum()
    assert loss <= model.certificate_.primal * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("solver", ["smo", "chunking"])
@pytest.mark.parametrize("symmetry", ALL)
def test_every_solver(symmetry, solver):
    pairs, y = data(9)
    expected = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-8).fit(pairs, y)
    model = LaplacianPairSVC(symmetry, kernel=Gaussian(1.0), tol=1e-8, solver=solver).fit(pairs, y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-8)


def test_sample_weights_multiply_C_and_class_weights_too():
    pairs, y = data(9)
    doubled = LaplacianPairSVC("symmetric", kernel=Gaussian(1.0), C=2.0, tol=1e-9).fit(pairs, y)
    weighted = LaplacianPairSVC("symmetric", kernel=Gaussian(1.0), C=1.0, tol=1e-9)
    weighted.fit(pairs, y, sample_weight=np.where(y == 0, 7.0, 2.0))  # 7: no labels, no losses
    assert weighted.objective_ == pytest.approx(doubled.objective_, rel=1e-9)
    classes = LaplacianPairSVC(
        "symmetric", kernel=Gaussian(1.0), class_weight={-1: 2, 1: 2}, tol=1e-9
    )
    assert classes.fit(pairs, y).objective_ == pytest.approx(doubled.objective_, rel=1e-9)


def test_callback_watches_steps():
    pairs, y = data(9)
    seen = []
    LaplacianPairSVC("symmetric", kernel=Gaussian(1.0), callback=seen.append).fit(pairs, y)
    assert [step.iteration for step in seen] == list(range(1, len(seen) + 1))
    assert seen[0].theta.shape == (6,)


def refusals():
    _, y = data(15)
    return {
        "no unlabelled pairs": ({}, np.where(y == 0, 1, y), "got labels for all 16 pairs, none"),
        "no labelled pairs": ({}, 0 * y, r"got 16 pairs and no label \(all are 0\)"),
        "one class": ({}, np.abs(y), "got one class only, .*expected pairs of two classes"),
        "manifold": ({"manifold": -1.0}, y, "got manifold=-1.0; expected a finite number, 0 or"),
        "infinite": ({"manifold": np.inf}, y, "got manifold=inf; expected a finite number"),
        "neighbours": ({"n_neighbors": 0}, y, "got n_neighbors=0; expected a whole number, 1"),
        "graph": ({"graph": "nearest"}, y, "got graph='nearest'; expected one of 'pairs', 'obj"),
        "no graph": ({"graph": None}, y, "got a graph of type NoneType that is no matrix"),
        "small graph": (
            {"graph": np.ones((6, 6))},
            y,
            r"got a graph of shape \(6, 6\) for 16 pairs; expected \(16, 16\): .*labelled or not",
        ),
        "splitting": ({"solver": "splitting"}, y, "got solver='splitting'; expected one of 'auto'"),
    }


@pytest.mark.parametrize("name", refusals())
def test_refusals(name):
    options, y, message = refusals()[name]
    with pytest.raises(ValueError, match=message):
        LaplacianPairSVC("symmetric", **options).fit(data(15)[0], y)


def test_too_many_pairs_for_the_memory():
    pairs = cases.random_pairs(1, n=2000, m=40)
    y = np.zeros(2000, dtype=int)
    y[:2] = 1, -1
    with pytest.raises(MemoryError, match=r"2000 labelled and unlabelled pairs need about 160 MB"):
        LaplacianPairSVC("symmetric", memory_limit=100).fit(pairs, y)


def test_an_object_with_itself():
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 1, 0])
    with pytest.raises(ValueError, match="got row 1 that pairs an object with itself"):
        LaplacianPairSVC("antisymmetric").fit(pairs, [1, 0, -1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LaplacianPairSVC("symmetric").fit(pairs, [1, 0, -1])


def test_a_kernel_without_the_parity():
    pairs, y = data(15)
    with pytest.raises(ValueError, match="its odd part is zero"):
        LaplacianPairSVC("antisymmetric", kernel=Tensor(Gaussian(1.0))).fit(pairs, y)
