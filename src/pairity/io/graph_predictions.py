"""Predictions go back to the graph, with the sign that the direction of each edge asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pairity.pairs.data import Pairs
from pairity.pairs.from_graphs import is_networkx
from pairity.pairs.parity import Parity, unordered_keys
from pairity.runtime.validation import check_choice


def write_predictions(
    graph: Any,
    pairs: Pairs,
    values: ArrayLike,
    name: str = "prediction",
    *,
    symmetry: str | None = None,
) -> None:
    """Set ``values`` as the edge attribute ``name`` of a networkx graph.

    The edge a->b gets the value of the pair (a, b); an edge b->a gets the same value in the
    symmetric case and its negative in the antisymmetric one.

    Parameters
    ----------
    graph : networkx graph
        The graph that the pairs came from, or one with the same nodes and edges.
    pairs : Pairs
        Pairs whose ``ids`` are nodes of the graph, as ``Pairs.from_graph`` makes them.
    values : array-like of shape (n,)
        One value a pair.  In the antisymmetric case numbers.
    name : str
        Edge attribute to write; one that is there already is replaced.
    symmetry : {"symmetric", "antisymmetric"}, optional
        By default symmetric for an undirected graph and antisymmetric for a directed one.
    """
    if not is_networkx(graph):
        raise ValueError(
            f"got a graph of type {type(graph).__name__}; expected a networkx graph: use"
            " prediction_matrix for an adjacency matrix."
        )
    directed = bool(graph.is_directed())
    symmetry = ("antisymmetric" if directed else "symmetric") if symmetry is None else symmetry
    parity, plain, mirrored = _both_directions(pairs, values, symmetry)
    names = np.arange(pairs.n_objects) if pairs.ids is None else pairs.ids
    ends = list(zip(names[pairs.first].tolist(), names[pairs.second].tolist(), strict=True))
    if parity is Parity.ODD and not directed:
        raise ValueError(
            "got antisymmetric predictions for an undirected graph; expected a directed one: a value"
            " that changes sign needs a direction."
        )
    for a, b in ends:  # before anything is written
        if not (graph.has_edge(a, b) or graph.has_edge(b, a)):
            raise ValueError(
                f"got a pair ({a!r}, {b!r}) that is no edge of the graph; expected edges: add it with"
                " graph.add_edge, or pass the pairs that are."
            )
    for (a, b), value, opposite in zip(ends, plain.tolist(), mirrored.tolist(), strict=True):
        if graph.has_edge(a, b):
            graph.edges[a, b][name] = value
        if directed and graph.has_edge(b, a):
            graph.edges[b, a][name] = opposite


def prediction_matrix(pairs: Pairs, values: ArrayLike, *, symmetry: str) -> sp.csr_array:
    """Predictions as a sparse (m, m) matrix, symmetric or antisymmetric to the last bit.

    The value of a pair stands at (a, b), and itself or its negative at (b, a).
    """
    _, plain, mirrored = _both_directions(pairs, values, symmetry)
    keys = unordered_keys(pairs.first, pairs.second, pairs.n_objects)
    if len(np.unique(keys)) < len(pairs):
        raise ValueError(
            "got an unordered pair more than once; expected each once: average its predictions or"
            " pass pairs with one row for each."
        )
    back = pairs.first != pairs.second
    entries = np.concatenate([plain, mirrored[back]]).astype(np.float64)
    rows = np.concatenate([pairs.first, pairs.second[back]])
    columns = np.concatenate([pairs.second, pairs.first[back]])
    return sp.csr_array((entries, (rows, columns)), shape=(pairs.n_objects, pairs.n_objects))


def _both_directions(
    pairs: Pairs, values: ArrayLike, symmetry: str
) -> tuple[Parity, NDArray[Any], NDArray[Any]]:
    """The law, and the values of the pairs and of their swaps."""
    check_choice(symmetry, "symmetry", ("symmetric", "antisymmetric"))
    given: NDArray[Any] = np.asarray(values)
    if given.shape != (len(pairs),):
        raise ValueError(
            f"got values of shape {given.shape} for {len(pairs)} pairs; expected one value a pair."
        )
    if symmetry == "symmetric":
        return Parity.EVEN, given, given
    if not np.issubdtype(given.dtype, np.number):
        raise ValueError(
            f"got antisymmetric predictions of type {given.dtype}; expected numbers, which have an"
            " opposite: pass decision_function(pairs)."
        )
    return Parity.ODD, given, -given
