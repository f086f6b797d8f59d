"""Predictions as edge attributes: the sign follows the direction of the edge."""

import networkx as nx
import numpy as np
import pytest

from pairity import Pairs, PairSVC
from pairity.io.graph_predictions import prediction_matrix, write_predictions


def arcs():
    return nx.DiGraph([("a", "b"), ("b", "a"), ("c", "b"), ("a", "c")])


def test_directed():
    graph = arcs()
    pairs = Pairs.from_graph(graph)
    values = np.arange(1.0, len(pairs) + 1.0)
    write_predictions(graph, pairs, values, "score")
    assert graph.edges["a", "b"]["score"] == -graph.edges["b", "a"]["score"] == 1.0
    write_predictions(graph, pairs.swap(), -values, "again")
    for _, _, data in graph.edges(data=True):
        assert data["score"] == data["again"]


def test_undirected_and_symmetric():
    graph = nx.path_graph(3)
    pairs = Pairs.from_graph(graph)
    write_predictions(graph, pairs.swap(), ["near", "far"])
    assert [data for _, _, data in graph.edges(data="prediction")] == ["near", "far"]
    both = arcs()
    write_predictions(both, Pairs.from_graph(both), [1, 2, 3], symmetry="symmetric")
    assert both.edges["a", "b"]["prediction"] == both.edges["b", "a"]["prediction"] == 1


def test_round_trip_of_a_model():
    graph = arcs()
    pairs = Pairs.from_graph(graph)
    model = PairSVC(symmetry="antisymmetric", kernel="linear").fit(pairs, [1, 1, 1])
    write_predictions(graph, pairs, model.decision_function(pairs), "score")
    read, y = Pairs.from_graph(graph, label="score")
    assert (y == model.decision_function(read)).all()


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_matrix(symmetry):
    pairs = Pairs(np.eye(4), [0, 3, 1], [1, 0, 2])
    matrix = prediction_matrix(pairs, [1.5, 2.0, -3.0], symmetry=symmetry).toarray()
    assert (matrix[pairs.first, pairs.second] == [1.5, 2.0, -3.0]).all()
    assert (matrix == (matrix.T if symmetry == "symmetric" else -matrix.T)).all()
    assert np.count_nonzero(matrix) == 6


def test_matrix_of_a_pair_with_itself():
    pairs = Pairs(np.eye(2), [0, 0], [0, 1])
    assert prediction_matrix(pairs, [4.0, 1.0], symmetry="symmetric").toarray()[0, 0] == 4.0


PAIRS = Pairs.from_graph(arcs())


@pytest.mark.parametrize(
    ("graph", "pairs", "values", "message"),
    [
        (arcs(), PAIRS, [1.0], "expected one value a pair"),
        (arcs(), PAIRS, list("xyz"), "pass decision_function"),
        (nx.DiGraph([("a", "b"), ("c", "b")]), PAIRS, [1.0, 2, 3], "is no edge of the graph"),
        (np.eye(3), PAIRS, [1.0, 2, 3], "use prediction_matrix"),
    ],
)
def test_refusals(graph, pairs, values, message):
    with pytest.raises(ValueError, match=message):
        write_predictions(graph, pairs, values)


def test_nothing_is_written_when_something_is_refused():
    graph = nx.DiGraph([("a", "b"), ("c", "b")])
    with pytest.raises(ValueError, match="no edge"):
        write_predictions(graph, PAIRS, [1.0, 2.0, 3.0])
    assert not any(data for _, _, data in graph.edges(data=True))


def test_antisymmetric_values_need_directions():
    graph = nx.path_graph(2)
    with pytest.raises(ValueError, match="needs a direction"):
        write_predictions(graph, Pairs.from_graph(graph), [1.0], symmetry="antisymmetric")


def test_matrix_refuses_a_pair_twice():
    pairs = Pairs(np.eye(2), [0, 1], [1, 0])
    with pytest.raises(ValueError, match="more than once"):
        prediction_matrix(pairs, [1.0, 2.0], symmetry="antisymmetric")
