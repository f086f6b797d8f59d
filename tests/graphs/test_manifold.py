"""Laplacians of graphs of pairs: on I, on J, and against plain constructions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import cases
from pairity import Pairs
from pairity.operators.manifold import pair_laplacian
from pairity.pairs.parity import Parity

SEEDS = st.integers(0, 10**6)
LAWS = [Parity.EVEN, Parity.ODD]
PARITIES = st.sampled_from(LAWS)
ANY = st.sampled_from([*LAWS, None])
GRAPHS = st.sampled_from(["pairs", "objects", "given"])


def make_pairs(seed, n=13, m=6, widths=(2, 1, 1)):
    """Random pairs over distinct objects, as estimators pass them; repeated pairs may occur."""
    return cases.random_pairs(seed, n=n, m=m, widths=widths).compact()


def random_weights(seed, n):
    """A symmetric matrix, some nodes without an edge."""
    rng = np.random.default_rng([seed, 4])
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    weights[:, 2] = weights[2, :] = 0.0
    return weights + weights.T


def graph_of(name, seed, n):
    return random_weights(seed, n) if name == "given" else name


# Plain constructions ----------------------------------------------------------------------------


def nearest(points, count):
    """1 between points one of which is among the nearest of the other, by a double loop."""
    n, points = len(points), points.tolist()  # plain numbers, which loops are quicker with
    count = min(count, n - 1)
    linked = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        others.sort(
            key=lambda j: sum((x - z) ** 2 for x, z in zip(points[i], points[j], strict=True))
        )
        for j in others[:count]:
            linked[i, j] = linked[j, i] = 1.0
    return linked


def through_objects(pairs, count):
    """(a, b) and (c, d) with b = d and a, c neighbours, or a = c and b, d neighbours."""
    linked = nearest(pairs.objects, count)
    ends = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    weights = np.zeros((len(ends), len(ends)))
    for i, (a, b) in enumerate(ends):
        for j, (c, d) in enumerate(ends):
            weights[i, j] = linked[a, c] * (b == d) + linked[b, d] * (a == c)
    return weights


def normalised(weights):
    """``D^-1/2 (D - W) D^-1/2``, with 0 for nodes without an edge."""
    degrees = weights.sum(axis=1)
    root = np.diag([0.0 if d == 0 else d**-0.5 for d in degrees])
    return root @ (np.diag(degrees) - weights) @ root


def plain_laplacian(pairs, parity, graph, count):
    """On I, or on the rows as given without a parity."""
    nodes = pairs if parity is None else pairs.with_mirrored()
    if isinstance(graph, str):
        rows = np.asarray(nodes.to_rows())
        return normalised(
            nearest(rows, count) if graph == "pairs" else through_objects(nodes, count)
        )
    zero = np.zeros_like(graph)
    return normalised(graph if parity is None else np.block([[graph, zero], [zero, graph]]))


def lift(parity, n):
    """``f_I = E f_J``."""
    return np.vstack([np.eye(n), parity.sign * np.eye(n)])


# The law ----------------------------------------------------------------------------------------


@given(seed=SEEDS, parity=PARITIES, name=GRAPHS, count=st.integers(1, 9))
def test_quadratic_form_on_I_is_twice_that_on_J(seed, parity, name, count):
    pairs = cases.distinct_pairs(seed, n=13, m=7).compact()  # nothing ties
    n = len(pairs)
    graph = graph_of(name, seed, n)
    on_j = pair_laplacian(pairs, parity, graph, count)
    on_i = plain_laplacian(pairs, parity, graph, count)
    f_j = np.random.default_rng(seed).normal(size=n)
    f_i = lift(parity, n) @ f_j
    assert f_i @ on_i @ f_i == pytest.approx(2.0 * f_j @ (on_j @ f_j), abs=1e-12 * n)
    # an even (odd) function stays one under the Laplacian on I
    np.testing.assert_allclose(on_i @ f_i, lift(parity, n) @ (on_j @ f_j), rtol=0, atol=1e-13 * n)


@given(seed=SEEDS, name=GRAPHS, count=st.integers(1, 9))
def test_without_a_parity_it_is_the_plain_laplacian(seed, name, count):
    pairs = cases.distinct_pairs(seed, n=13, m=7).compact()
    graph = graph_of(name, seed, 13)
    found = pair_laplacian(pairs, None, graph, count).toarray()
    expected = plain_laplacian(pairs, None, graph, count)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@given(seed=SEEDS, parity=ANY, name=GRAPHS, count=st.integers(1, 30), m=st.integers(2, 7))
def test_symmetric_positive_semidefinite_and_at_most_two(seed, parity, name, count, m):
    """Repeated pairs, more neighbours than nodes, nodes without an edge."""
    pairs = make_pairs(seed, m=m)
    found = pair_laplacian(pairs, parity, graph_of(name, seed, 13), count).toarray()
    assert found.shape == (13, 13)
    np.testing.assert_allclose(found, found.T, rtol=0, atol=1e-15)
    eigenvalues = np.linalg.eigvalsh(found)
    assert eigenvalues.min() >= -1e-13
    assert eigenvalues.max() <= 2.0 + 1e-13


def turned(pairs, rows):
    return Pairs(
        pairs.objects,
        np.where(rows, pairs.second, pairs.first),
        np.where(rows, pairs.first, pairs.second),
        pairs.symmetric,
        np.where(rows[:, None], -pairs.antisymmetric, pairs.antisymmetric),
    )


@given(seed=SEEDS, parity=PARITIES, graph=st.sampled_from(["pairs", "objects"]))
def test_turning_rows_turns_the_signs_of_an_odd_one_only(seed, parity, graph):
    pairs = cases.distinct_pairs(seed, n=13, m=7).compact()
    rows = np.random.default_rng(seed).random(13) < 0.5
    found = pair_laplacian(turned(pairs, rows), parity, graph, 4).toarray()
    signs = np.where(rows, parity.sign, 1.0)
    expected = signs[:, None] * pair_laplacian(pairs, parity, graph, 4).toarray() * signs
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@given(seed=SEEDS, parity=ANY, count=st.integers(1, 6))
def test_repeated_pairs_have_the_edges_of_their_objects(seed, parity, count):
    """The "objects" graph by a double loop, each observation a node of its own."""
    pairs = make_pairs(seed, n=16, m=4)
    found = pair_laplacian(pairs, parity, "objects", count).toarray()
    plain = plain_laplacian(pairs, parity, "objects", count)
    if parity is not None:
        plain = 0.5 * lift(parity, 16).T @ plain @ lift(parity, 16)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("parity", LAWS)
def test_equal_rows_are_nearest_to_each_other(parity):
    """A pair observed twice: f is drawn together there, and nothing divides by zero."""
    one = cases.distinct_pairs(3, n=5, m=6, widths=(2, 0, 0)).compact()
    twice = one[np.array([0, 1, 2, 3, 4, 0, 1, 2, 3, 4])]
    laplacian = pair_laplacian(twice, parity, "pairs", 1).toarray()
    same = np.tile(np.random.default_rng(3).normal(size=5), 2)
    assert same @ laplacian @ same == pytest.approx(0.0, abs=1e-13)


def test_opposite_orders_count_with_the_sign_of_the_parity():
    """(a, b) beside (d, c) where a is like c and b like d: close to each other's mirror image."""
    objects = np.array([[0.0], [10.0], [0.1], [10.1]])
    pairs = Pairs(objects, [0, 3], [1, 2])
    odd, even = (pair_laplacian(pairs, parity, "pairs", 1).toarray() for parity in (*LAWS[::-1],))
    np.testing.assert_allclose(odd, [[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(even, [[1.0, -1.0], [-1.0, 1.0]])


@pytest.mark.parametrize("parity", [*LAWS, None])
@pytest.mark.parametrize("graph", ["pairs", "objects"])
def test_a_single_pair(parity, graph):
    pairs = Pairs(np.array([[0.0], [1.0]]), [0], [1])
    found = pair_laplacian(pairs, parity, graph, 3).toarray()
    assert found.shape == (1, 1)
    assert 0.0 <= found[0, 0] <= 2.0


@pytest.mark.parametrize("parity", [*LAWS, None])
def test_sparse_objects_and_a_sparse_graph(parity):
    pairs = make_pairs(5)
    for graph in ("pairs", "objects"):
        sparse = pair_laplacian(cases.sparse_twin(pairs), parity, graph, 3)
        dense = pair_laplacian(pairs, parity, graph, 3)
        assert np.array_equal(sparse.toarray(), dense.toarray())
    weights = random_weights(5, 13)
    for kind in (sp.csr_array, sp.coo_matrix, np.ndarray.tolist):
        found = pair_laplacian(pairs, parity, kind(weights), 3)
        expected = pair_laplacian(pairs, parity, weights, 3)
        assert np.array_equal(found.toarray(), expected.toarray())


# Refusals ---------------------------------------------------------------------------------------

BAD = {
    "shape": (np.ones((4, 4)), r"got a graph of shape \(4, 4\) for 5 pairs; expected \(5, 5\)"),
    "not square": (np.ones((5, 4)), r"got a graph of shape \(5, 4\) for 5 pairs"),
    "negative": (-np.ones((5, 5)), "got negative or non-finite weights in the graph"),
    "nan": (np.full((5, 5), np.nan), "got negative or non-finite weights in the graph"),
    "infinite": (np.full((5, 5), np.inf), "got negative or non-finite weights in the graph"),
    "one way": (np.triu(np.ones((5, 5)), 1), r"not symmetric; expected .*\(weights \+ weights.T"),
    "none": (None, "got a graph of type NoneType that is no matrix of numbers; expected 'pairs'"),
    "ragged": ([[1.0], [1.0, 2.0]], "got a graph of type list that is no matrix of numbers"),
    "text": (np.full((5, 5), "a"), "got a graph of type ndarray that is no matrix of numbers"),
}


@pytest.mark.parametrize(("graph", "message"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("parity", [Parity.ODD, None])
def test_graphs_that_cannot_serve(graph, message, parity):
    with pytest.raises(ValueError, match=message):
        pair_laplacian(make_pairs(1, n=5), parity, graph, 2)
