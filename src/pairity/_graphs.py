"""Edges of a graph, whatever it is stored in: networkx, or an adjacency matrix.

networkx is not imported: anything with its ``nodes``, ``edges`` and ``is_directed`` will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.validation import as_dense

__all__ = ["Arcs", "edge_name", "is_networkx", "number_block", "read_arcs"]


class Arcs(Protocol):
    """Edges of a graph, whatever it is stored in."""

    nodes: NDArray[Any]
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    directed: bool

    def values(self, attribute: Any) -> list[Any]:
        """Value of an attribute on every edge; None where there is none."""

    def node_values(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Attributes of the nodes, shape (m, columns)."""


def is_networkx(graph: Any) -> bool:
    """Whether something is a networkx graph, without importing networkx."""
    return all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "adj"))


class _NetworkxArcs:
    """Edges of a networkx graph, in its own order."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.directed = bool(graph.is_directed())
        names = list(graph.nodes)
        self.nodes = np.fromiter(names, dtype=object, count=len(names))
        place = {name: row for row, name in enumerate(names)}
        edges = list(graph.edges(data=True))
        self._data = [data for _, _, data in edges]
        self.source = np.array([place[edge[0]] for edge in edges], dtype=np.intp)
        self.target = np.array([place[edge[1]] for edge in edges], dtype=np.intp)

    def values(self, attribute: Any) -> list[Any]:
        """The attribute of that name, edge by edge."""
        return [data.get(attribute) for data in self._data]

    def node_values(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Numbers, or vectors of numbers, under the names given."""
        blocks = []
        for name in names:
            given = [data.get(name) for _, data in self._graph.nodes(data=True)]
            missing = [node for node, value in zip(self.nodes, given, strict=True) if value is None]
            if missing:
                raise ValueError(
                    f"got node {missing[0]!r} without the attribute {name!r} ({len(missing)} such"
                    " nodes); expected it on every node: set it or leave the name out."
                )
            blocks.append(number_block(given, f"node attribute {name!r}"))
        return np.hstack([np.zeros((len(self.nodes), 0)), *blocks])


class _MatrixArcs:
    """Nonzero entries of an adjacency matrix; one of each two if it is symmetric."""

    def __init__(self, adjacency: Any) -> None:
        self.weights = _as_adjacency(adjacency)
        self.directed = bool((self.weights != self.weights.T).nnz)
        entries = sp.coo_array(self.weights if self.directed else sp.triu(self.weights))
        self.nodes = np.arange(self.weights.shape[0])
        self.source, self.target = (place.astype(np.intp) for place in entries.coords)

    def values(self, attribute: Any) -> list[Any]:
        """The entries of this matrix ("weight"), or of another of the same shape."""
        matrix = self.weights if isinstance(attribute, str) and attribute == "weight" else attribute
        if np.shape(matrix) != self.weights.shape:
            raise ValueError(
                f"got {attribute!r} as an edge attribute of an adjacency matrix of shape"
                f" {self.weights.shape}; expected 'weight' or a matrix of that shape."
            )
        matrix = sp.csr_array(matrix) if sp.issparse(matrix) else np.asarray(matrix)
        taken = matrix[self.source, self.target]
        return list(as_dense(taken).ravel().tolist())

    def node_values(self, names: Sequence[str]) -> NDArray[np.float64]:
        """A matrix has no attributes of nodes."""
        raise ValueError(
            f"got names {list(names)} as features with an adjacency matrix; expected a table, one"
            " row a node, or None: only a networkx graph has node attributes."
        )


def _as_adjacency(adjacency: Any) -> sp.csr_array:
    """A square matrix of finite numbers; zeros are no edges."""
    try:
        matrix = sp.csr_array(adjacency, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        matrix = None
    if matrix is None or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"got a graph of type {type(adjacency).__name__} and shape {np.shape(adjacency)};"
            " expected a networkx graph or a square adjacency matrix."
        )
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.isfinite(matrix.data).all():
        raise ValueError(
            "got NaN or infinite weights in the adjacency matrix; expected finite numbers: use 0"
            " where there is no edge."
        )
    return matrix


def number_block(values: list[Any], what: str) -> NDArray[np.float64]:
    """Numbers or equally long vectors as a table, one row each."""
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = None
    if table is None or table.ndim > 2:
        raise ValueError(
            f"got {what} that is not a number everywhere, or not a vector of the same length;"
            " expected numbers: encode text and categories first."
        )
    return table.reshape(len(values), -1) if len(values) else np.zeros((0, 1))


def read_arcs(graph: Any) -> Arcs:
    """Edges of a graph, without self-loops and parallel edges, or a refusal."""
    arcs: Arcs = _NetworkxArcs(graph) if is_networkx(graph) else _MatrixArcs(graph)
    loops = np.flatnonzero(arcs.source == arcs.target)
    if len(loops):
        raise ValueError(
            f"got {len(loops)} self-loop(s), the first {edge_name(arcs, loops[0])};"
            " expected edges between two nodes: drop the loops first."
        )
    low, high = arcs.source, arcs.target
    if not arcs.directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    keys = low * len(arcs.nodes) + high
    distinct, count = np.unique(keys, return_counts=True)
    if len(distinct) < len(keys):
        worst = distinct[np.argmax(count)]
        ends = arcs.nodes[[worst // len(arcs.nodes), worst % len(arcs.nodes)]].tolist()
        raise ValueError(
            f"got {count.max()} parallel edges between {ends[0]!r} and {ends[1]!r}; expected one:"
            " combine them, or use Pairs.from_frame, where repeated observations are rows."
        )
    return arcs


def edge_name(arcs: Arcs, row: int) -> str:
    """The two ends of an edge, as a person would write them."""
    ends = arcs.nodes[[arcs.source[row], arcs.target[row]]].tolist()
    return f"{ends[0]!r} -> {ends[1]!r}" if arcs.directed else f"{ends[0]!r} - {ends[1]!r}"
