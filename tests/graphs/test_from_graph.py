"""Graphs as pairs: nodes, edges, attributes of both kinds, labels, and what is refused."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fresh import Fresh
from pairity import Pairs


def league():
    """a beats b (stated both ways), c beats b; d plays nobody."""
    graph = nx.DiGraph()
    for place, name in enumerate("abcd"):
        graph.add_node(name, strength=float(place), place=[place, -place])
    graph.add_edge("a", "b", sign=1, distance=2.0, home=1.0)
    graph.add_edge("b", "a", sign=-1, distance=2.0, home=-1.0)
    graph.add_edge("c", "b", sign=1, distance=3.0, home=-1.0)
    return graph


def test_directed_graph():
    pairs, y = Pairs.from_graph(
        league(),
        features=["strength", "place"],
        symmetric=["distance"],
        antisymmetric=["home"],
        label="sign",
    )
    assert pairs.ids.tolist() == ["a", "b", "c", "d"]
    assert pairs.objects.tolist() == [[0, 0, 0], [1, 1, -1], [2, 2, -2], [3, 3, -3]]
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0, 2], [1, 1])
    assert pairs.symmetric.tolist() == [[2.0], [3.0]]
    assert pairs.antisymmetric.tolist() == [[1.0], [-1.0]]
    assert y.tolist() == [1, 1]
    assert np.issubdtype(y.dtype, np.integer)


def test_without_a_label_there_are_pairs_alone():
    pairs = Pairs.from_graph(league())
    assert isinstance(pairs, Pairs)
    assert sp.issparse(pairs.objects)
    assert (pairs.objects.toarray() == np.eye(4)).all()


def test_undirected_graph_keeps_isolated_nodes():
    graph = nx.Graph([("x", "y", {"kind": "friend"}), ("y", "z", {"kind": "foe"})])
    graph.add_node("w")
    pairs, y = Pairs.from_graph(graph, features=np.arange(8.0).reshape(4, 2), label="kind")
    assert pairs.n_objects == 4
    assert y.tolist() == ["friend", "foe"]


def test_nodes_may_be_anything_that_networkx_takes():
    graph = nx.Graph([((0, 1), (2, 3)), ((2, 3), "hub")])
    pairs = Pairs.from_graph(graph)
    assert pairs.ids.tolist() == [(0, 1), (2, 3), "hub"]


def test_edges_without_a_label():
    graph = league()
    del graph.edges["c", "b"]["sign"]
    _, y = Pairs.from_graph(graph, label="sign")
    assert y[0] == 1
    assert np.isnan(y[1])
    texts = nx.Graph([(0, 1, {"kind": "friend"}), (1, 2)])
    assert Pairs.from_graph(texts, label="kind")[1].tolist() == ["friend", None]


def test_a_label_on_one_direction_counts_for_the_other():
    graph = league()
    del graph.edges["a", "b"]["sign"]
    assert Pairs.from_graph(graph, label="sign")[1].tolist() == [1, 1]


def with_texts(there, back):
    graph = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c", {"kind": "won"})])
    for edge, text in ((("a", "b"), there), (("b", "a"), back)):
        if text is not None:
            graph.edges[edge]["kind"] = text
    return graph


@pytest.mark.parametrize(("there", "back"), [("won", None), (None, "won"), ("won", "won")])
def test_a_text_on_one_direction_counts_for_the_other(there, back):
    graph = with_texts(there, back)
    pairs, y = Pairs.from_graph(graph, label="kind", symmetry="symmetric")
    assert sorted(zip(pairs.first, pairs.second, y, strict=True)) == [
        (0, 1, "won"),
        (1, 2, "won"),
    ]


@pytest.mark.parametrize(
    ("there", "back", "row"),
    [
        ("won", None, (0, 1, "won")),
        (None, "won", (1, 0, "won")),  # the way that has the text is kept
        (None, None, (0, 1, None)),
        ("won", "lost", (0, 1, "won")),
    ],
)
def test_texts_that_change_with_the_direction(there, back, row):
    pairs, y = Pairs.from_graph(with_texts(there, back), label="kind")
    rows = dict(zip(zip(pairs.first, pairs.second, strict=True), y, strict=True))
    assert rows == {row[:2]: row[2], (1, 2): "won"}


@pytest.mark.parametrize(("symmetry", "back"), [("symmetric", "lost"), ("antisymmetric", "won")])
def test_texts_that_say_different_things_are_refused(symmetry, back):
    graph = with_texts("won", back)
    graph.add_edge("c", "b")  # without a label, beside texts that have one
    with pytest.raises(ValueError, match=f"got label won on 'a' -> 'b' and {back}"):
        Pairs.from_graph(graph, label="kind", symmetry=symmetry)


def test_both_directions_as_observations():
    graph = league()
    graph.edges["b", "a"]["sign"] = 1  # a beats b on Monday, b beats a on Tuesday
    with pytest.raises(ValueError, match="got label 1 on 'a' -> 'b' and 1 on the way back"):
        Pairs.from_graph(graph, label="sign")
    pairs, y = Pairs.from_graph(graph, label="sign", reciprocal="keep")
    assert len(pairs) == 3
    assert y.tolist() == [1, 1, 1]


def test_a_directed_graph_with_symmetric_labels():
    graph = nx.Graph([(0, 1, {"weight": 2.5}), (1, 2, {"weight": 0.5})])
    pairs, y = Pairs.from_graph(graph.to_directed(), label="weight", symmetry="symmetric")
    assert len(pairs) == 2
    assert y.tolist() == [2.5, 0.5]


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["symmetric", "antisymmetric", "one way"]))
def test_adjacency_and_networkx_agree(seed, kind):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    upper = np.triu(rng.integers(-2, 3, size=(m, m)), 1).astype(float)
    matrix = {"symmetric": upper + upper.T, "antisymmetric": upper - upper.T, "one way": upper}[
        kind
    ]
    plain = nx.Graph if kind == "symmetric" else nx.DiGraph
    graph = nx.from_numpy_array(matrix, create_using=plain)
    dense, y = Pairs.from_graph(matrix, label="weight")
    sparse, y_sparse = Pairs.from_graph(sp.coo_matrix(matrix), label="weight")
    other, y_other = Pairs.from_graph(graph, label="weight") if upper.any() else (sparse, y_sparse)
    for pairs, labels in ((sparse, y_sparse), (other, y_other)):
        found = sorted(zip(pairs.first, pairs.second, labels, strict=True))
        assert found == sorted(zip(dense.first, dense.second, y, strict=True))
    assert (matrix[dense.first, dense.second] == y).all()
    assert len(dense) == np.count_nonzero(upper)


def test_attributes_of_a_matrix_are_matrices():
    adjacency = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 1, 0]])
    distance = np.array([[0.0, 7, 9], [7, 0, 9], [9, 4, 0]])
    lead = sp.csr_array(adjacency * 2)
    pairs = Pairs.from_graph(adjacency, symmetric=[distance], antisymmetric=[lead, "weight"])
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0, 2], [1, 1])
    assert pairs.symmetric.tolist() == [[7.0], [4.0]]
    assert pairs.antisymmetric.tolist() == [[2.0, 1.0], [2.0, 1.0]]


def test_a_graph_without_edges():
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    for empty in (graph, np.zeros((2, 2))):
        pairs = Pairs.from_graph(empty)
        assert (len(pairs), pairs.n_objects) == (0, 2)


def test_networkx_is_not_needed(tmp_path):
    """The process has imported the package already: without networkx, and it does without."""
    code = (
        "import sys; print('networkx' in sys.modules); sys.modules['networkx'] = None\n"
        "import numpy as np; from pairity import Pairs\n"
        "from pairity.kernels import with_neighbour_means\n"
        "p = Pairs.from_graph(np.array([[0, 1], [1, 0]]), features=np.eye(2))\n"
        "print(len(with_neighbour_means(p, p)))"
    )
    done = Fresh(code, folder=tmp_path, notes=tmp_path)
    assert done.ended() == 0, done.stderr
    assert done.stdout.split() == ["False", "1"]


def changed(**edge_ab):
    graph = league()
    graph.edges["a", "b"].update(edge_ab)
    return graph


def with_loop():
    graph = league()
    graph.add_edge("d", "d")
    return graph


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (with_loop(), {}, "1 self-loop"),
        (np.eye(2), {}, "2 self-loop"),
        (nx.MultiGraph([(0, 1), (1, 0)]), {}, "2 parallel edges between 0 and 1"),
        (nx.MultiDiGraph([(0, 1), (0, 1)]), {}, "2 parallel edges"),
        (changed(distance=5.0), {"symmetric": ["distance"]}, "with 5 on 'a' -> 'b' and 2"),
        (changed(home=-1.0), {"antisymmetric": ["home"]}, "expected opposite values"),
        (league(), {"symmetric": ["home"]}, "expected equal values"),
        (league(), {"symmetric": ["speed"]}, "without the attribute 'speed'"),
        (changed(distance="far"), {"symmetric": ["distance"]}, "expected numbers"),
        (league(), {"features": ["speed"]}, "node 'a' without the attribute 'speed'"),
        (league(), {"features": np.eye(3)}, "3 rows for 4 nodes"),
        (league(), {"label": "result"}, "no edge with the label attribute 'result'"),
        (league(), {"label": "sign", "symmetry": "symmetric"}, "expected equal labels"),
        (league(), {"symmetry": "odd"}, "expected one of 'symmetric', 'antisymmetric'"),
        (league(), {"reciprocal": "drop"}, "expected one of 'merge', 'keep'"),
        (league().to_undirected(), {"antisymmetric": ["home"]}, "needs a direction"),
        (league().to_undirected(), {"symmetry": "antisymmetric"}, "needs a direction"),
        (np.ones((2, 3)), {}, "expected a networkx graph or a square adjacency matrix"),
        ("a-b", {}, "expected a networkx graph or a square adjacency matrix"),
        (np.array([[0, np.nan], [0, 0]]), {}, "NaN or infinite weights"),
        (np.array([[0, 1], [0, 0]]), {"features": ["x"]}, "only a networkx graph"),
        (np.array([[0, 1], [0, 0]]), {"symmetric": [np.eye(3)]}, "a matrix of that shape"),
    ],
)
def test_refusals(graph, options, message):
    with pytest.raises(ValueError, match=message):
        Pairs.from_graph(graph, **options)
