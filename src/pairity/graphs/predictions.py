"""Predictions go back to the graph, with the sign that the direction of each edge asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pairity._graphs import is_networkx
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.validation import check_choice

__all__ = ["prediction_matrix", "write_predictions"]


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
    parity = _parity(symmetry, directed=bool(graph.is_directed()))
    ends = _node_names(pairs)
    plain, mirrored = _both_directions(pairs, values, parity)
    if parity is Parity.ODD and not graph.is_directed():
        raise ValueError(
            "got antisymmetric predictions for an undirected graph; expected a directed one: a value"
            " that changes sign needs a direction."
        )
    _refuse_absent(graph, ends)
    for (a, b), value, opposite in zip(ends, plain, mirrored, strict=True):
        if graph.has_edge(a, b):
            graph.edges[a, b][name] = value
        if graph.is_directed() and graph.has_edge(b, a):
            graph.edges[b, a][name] = opposite


def prediction_matrix(pairs: Pairs, values: ArrayLike, *, symmetry: str) -> sp.csr_array:
    """Predictions as a sparse (m, m) matrix, symmetric or antisymmetric to the last bit.

    The value of a pair stands at (a, b), and itself or its negative at (b, a).
    """
    check_choice(symmetry, "symmetry", ("symmetric", "antisymmetric"))
    parity = _parity(symmetry, directed=True)
    plain, mirrored = (
        np.asarray(part, dtype=np.float64) for part in _both_directions(pairs, values, parity)
    )
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    if len(np.unique(low * pairs.n_objects + high)) < len(pairs):
        raise ValueError(
            "got an unordered pair more than once; expected each once: average its predictions or"
            " pass pairs with one row for each."
        )
    entries = np.concatenate([plain, mirrored])
    rows = np.concatenate([pairs.first, pairs.second])
    columns = np.concatenate([pairs.second, pairs.first])
    keep = np.arange(len(entries)) < len(pairs)
    keep |= rows != columns
    shape = (pairs.n_objects, pairs.n_objects)
    return sp.csr_array((entries[keep], (rows[keep], columns[keep])), shape=shape)


def _parity(symmetry: str | None, directed: bool) -> Parity:
    if symmetry is None:
        return Parity.ODD if directed else Parity.EVEN
    check_choice(symmetry, "symmetry", ("symmetric", "antisymmetric"))
    return SYMMETRIES[symmetry] or Parity.EVEN


def _node_names(pairs: Pairs) -> list[tuple[Any, Any]]:
    """Ends of the pairs, by name."""
    names = np.arange(pairs.n_objects) if pairs.ids is None else pairs.ids
    first, second = names[pairs.first].tolist(), names[pairs.second].tolist()
    return list(zip(first, second, strict=True))


def _both_directions(
    pairs: Pairs, values: ArrayLike, parity: Parity
) -> tuple[list[Any], list[Any]]:
    given: NDArray[Any] = np.asarray(values)
    if given.shape != (len(pairs),):
        raise ValueError(
            f"got values of shape {given.shape} for {len(pairs)} pairs; expected one value a pair."
        )
    if parity is Parity.EVEN:
        return given.tolist(), given.tolist()
    if not np.issubdtype(given.dtype, np.number):
        raise ValueError(
            f"got antisymmetric predictions of type {given.dtype}; expected numbers, which have an"
            " opposite: pass decision_function(pairs)."
        )
    return given.tolist(), (-given).tolist()


def _refuse_absent(graph: Any, ends: list[tuple[Any, Any]]) -> None:
    """Refuse before anything is written."""
    for a, b in ends:
        if not (graph.has_edge(a, b) or graph.has_edge(b, a)):
            raise ValueError(
                f"got a pair ({a!r}, {b!r}) that is no edge of the graph; expected edges: add it with"
                " graph.add_edge, or pass the pairs that are."
            )
