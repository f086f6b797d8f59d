"""A graph, in networkx or an adjacency matrix, as the arrays that Pairs are made of.

networkx is not imported: anything with its ``nodes``, ``edges`` and ``is_directed`` will do.  What
is declared symmetric or antisymmetric is held against what the two directions of an edge say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.pairs.arrays import Matrix, Places, as_dense, places_of
from pairity.pairs.from_tables import as_objects, indicators
from pairity.pairs.parity import unordered_keys
from pairity.runtime.validation import check_choice

#: Relative difference up to which the values on a->b and b->a count as equal, or opposite.
_AGREEMENT = 1e-9


def is_networkx(graph: Any) -> bool:
    """Whether something is a networkx graph, without importing networkx."""
    return all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "adj"))


class _NetworkxArcs:
    """Edges of a networkx graph, in its own order.

    ``values`` is an attribute of every edge, None where there is none; ``node_values`` those of the
    nodes, shape (m, columns).
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.directed = bool(graph.is_directed())
        self.nodes = as_objects(graph.nodes)
        row = {name: number for number, name in enumerate(graph.nodes)}
        edges = list(graph.edges(data=True))
        self._data = [data for _, _, data in edges]
        ends = np.array([[row[a], row[b]] for a, b, _ in edges], dtype=np.intp).reshape(-1, 2)
        self.source, self.target = ends[:, 0].copy(), ends[:, 1].copy()

    def values(self, attribute: Any) -> list[Any]:
        return [data.get(attribute) for data in self._data]

    def node_values(self, names: Sequence[str]) -> Matrix:
        blocks = [np.zeros((len(self.nodes), 0))]
        for name in names:
            given = [data.get(name) for _, data in self._graph.nodes(data=True)]
            missing = [node for node, value in zip(self.nodes, given, strict=True) if value is None]
            if missing:
                raise ValueError(
                    f"got node {missing[0]!r} without the attribute {name!r} ({len(missing)} such"
                    " nodes); expected it on every node: set it or leave the name out."
                )
            blocks.append(number_block(given, f"node attribute {name!r}"))
        return np.hstack(blocks)


class _MatrixArcs:
    """Nonzero entries of an adjacency matrix; one of each two if it is symmetric."""

    def __init__(self, adjacency: Any) -> None:
        self.weights = _as_adjacency(adjacency)
        self.directed = bool((self.weights != self.weights.T).nnz)
        entries = sp.coo_array(self.weights if self.directed else sp.triu(self.weights))
        self.nodes = np.arange(self.weights.shape[0])
        self.source, self.target = (place.astype(np.intp) for place in entries.coords)

    def values(self, attribute: Any) -> list[Any]:
        matrix = self.weights if isinstance(attribute, str) and attribute == "weight" else attribute
        if np.shape(matrix) != self.weights.shape:
            raise ValueError(
                f"got {attribute!r} as an edge attribute of an adjacency matrix of shape"
                f" {self.weights.shape}; expected 'weight' or a matrix of that shape."
            )
        matrix = sp.csr_array(matrix) if sp.issparse(matrix) else np.asarray(matrix)
        values: list[Any] = as_dense(matrix[self.source, self.target]).ravel().tolist()
        return values

    def node_values(self, names: Sequence[str]) -> Matrix:
        raise ValueError(
            f"got names {list(names)} as features with an adjacency matrix; expected a table, one"
            " row a node, or None: only a networkx graph has node attributes."
        )


Arcs: TypeAlias = _NetworkxArcs | _MatrixArcs


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


def number_block(values: list[Any], what: str) -> Matrix:
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
    keys = arcs.source * len(arcs.nodes) + arcs.target
    if not arcs.directed:
        keys = unordered_keys(arcs.source, arcs.target, len(arcs.nodes))
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


def read_graph(
    graph: Any,
    features: Any,
    symmetric: Sequence[Any],
    antisymmetric: Sequence[Any],
    label: Any,
    symmetry: str | None,
    reciprocal: str,
) -> tuple[dict[str, Any], NDArray[Any] | None]:
    """Parameters of Pairs, nodes as objects and edges as pairs, and labels.

    Both directions of an edge are compared and made one.
    """
    check_choice(reciprocal, "reciprocal", ("merge", "keep"))
    arcs = read_arcs(graph)
    if symmetry is not None:
        check_choice(symmetry, "symmetry", ("symmetric", "antisymmetric"))
    if symmetry == "antisymmetric" and not arcs.directed:
        raise ValueError(
            "got symmetry='antisymmetric' with an undirected graph; expected a directed one: a label"
            " that changes sign needs a direction."
        )
    odd = arcs.directed if symmetry is None else symmetry == "antisymmetric"
    group = [_group_block(arcs, names) for names in (symmetric, antisymmetric)]
    if group[1].shape[1] and not arcs.directed:
        raise ValueError(
            f"got {group[1].shape[1]} antisymmetric edge attribute(s) on an undirected graph;"
            " expected a directed one: a value that changes sign needs a direction."
        )
    labels = None if label is None else _as_labels(arcs.values(label), label)
    kept = np.arange(len(arcs.source))
    if arcs.directed:
        forth, back = _reciprocal(arcs)
        for block, sign in zip(group, (1.0, -1.0), strict=True):
            _check_group(arcs, block, forth, back, sign)
        if reciprocal == "merge":
            dropped = back
            if labels is not None:
                labels = _merged_labels(arcs, labels, forth, back, odd)
                # a text that the way back alone has cannot change its sign: that way is kept
                missing = _is_missing(labels)
                dropped = np.where(missing[forth] & ~missing[back], forth, back)
            kept = np.setdiff1d(kept, dropped)
    by_pair = arcs.source, arcs.target, *group
    names = ("first", "second", "symmetric", "antisymmetric")
    parts = {name: part[kept] for name, part in zip(names, by_pair, strict=True)}
    parts |= {"objects": _node_features(arcs, features), "ids": arcs.nodes}
    return parts, None if labels is None else labels[kept]


def _node_features(arcs: Arcs, features: Any) -> Any:
    if features is None:
        return indicators(len(arcs.nodes))
    if isinstance(features, str):
        features = [features]
    if isinstance(features, list | tuple) and all(isinstance(name, str) for name in features):
        return arcs.node_values(features)
    n_rows = np.shape(features)[0] if np.ndim(features) or sp.issparse(features) else 0
    if n_rows != len(arcs.nodes):
        raise ValueError(
            f"got features with {n_rows} rows for {len(arcs.nodes)} nodes; expected one row a node,"
            " in the order of the graph's nodes."
        )
    return features


def _group_block(arcs: Arcs, names: Sequence[Any]) -> Matrix:
    if isinstance(names, str | np.ndarray) or sp.issparse(names):
        names = [names]
    blocks = [np.zeros((len(arcs.source), 0))]
    for name in names:
        shown = repr(name) if isinstance(name, Hashable) else "of a matrix"
        given = arcs.values(name)
        absent = next((row for row, value in enumerate(given) if value is None), None)
        if absent is not None:
            raise ValueError(
                f"got edge {edge_name(arcs, absent)} without the attribute {shown}; expected it on every"
                " edge: set it or leave the name out."
            )
        blocks.append(number_block(given, f"edge attribute {shown}"))
    return np.hstack(blocks)


def _as_labels(given: list[Any], label: Any) -> NDArray[Any]:
    """Labels as they are; where there is none NaN (numbers) or None (anything else)."""
    known = [value for value in given if value is not None]
    if given and not known:
        raise ValueError(
            f"got no edge with the label attribute {label!r}; expected it on some: check the name."
        )
    if len(known) == len(given):
        return np.array(given)
    if all(isinstance(value, int | float | np.number) for value in known):
        return np.array([np.nan if value is None else value for value in given], dtype=np.float64)
    return as_objects(given)


def _is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is no label among texts."""
    if labels.dtype != object:
        return np.zeros(len(labels), dtype=np.bool_)
    return np.array([label is None for label in labels], dtype=np.bool_)


def _reciprocal(arcs: Arcs) -> tuple[Places, Places]:
    """Rows a->b whose b->a is there too, with a before b among the nodes; and those b->a."""
    size = len(arcs.nodes)
    keys = arcs.source * size + arcs.target
    order = np.argsort(keys)
    forth = np.flatnonzero(arcs.source < arcs.target)
    wanted = arcs.target[forth] * size + arcs.source[forth]
    place = places_of(wanted, keys[order])
    return forth[place >= 0], order[place[place >= 0]]


def _check_group(arcs: Arcs, block: Matrix, forth: Places, back: Places, sign: float) -> None:
    """Hold declared attributes against what the two directions of an edge say."""
    there, returned = block[forth], sign * block[back]
    apart = np.abs(there - returned) > _AGREEMENT * np.maximum(np.abs(there), np.abs(returned))
    rows, columns = np.nonzero(apart)
    if len(rows):
        row, column = rows[0], columns[0]
        kind, expected = ("symmetric", "equal") if sign > 0 else ("antisymmetric", "opposite")
        raise ValueError(
            f"got {kind} edge attribute number {column} with {there[row, column]:g} on"
            f" {edge_name(arcs, forth[row])} and {block[back[row], column]:g} on the way back; expected"
            f" {expected} values: correct them or declare it the other way."
        )


def _merged_labels(
    arcs: Arcs, labels: NDArray[Any], forth: Places, back: Places, odd: bool
) -> NDArray[Any]:
    """Labels with those of both directions made one; refused where they say different things."""
    there, returned = labels[forth], labels[back]
    if np.issubdtype(labels.dtype, np.number):
        returned = -returned if odd else returned
        there = np.where(np.isnan(there), returned, there)
        returned = np.where(np.isnan(returned), there, returned)
        agree = np.isclose(there, returned, rtol=_AGREEMENT, atol=0.0, equal_nan=True)
    else:
        unknown = _is_missing(there) | _is_missing(returned)
        agree = unknown | ((there != returned) if odd else (there == returned))
        there = there if odd else np.where(_is_missing(there), returned, there)
    if not agree.all():
        row = int(np.argmin(agree))
        expected = "opposite labels (antisymmetric)" if odd else "equal labels (symmetric)"
        raise ValueError(
            f"got label {labels[forth[row]]} on {edge_name(arcs, forth[row])} and"
            f" {labels[back[row]]} on the way back; expected {expected}: use net weights, set"
            " symmetry, or reciprocal='keep' to count both as observations."
        )
    merged = labels.copy()
    merged[forth] = there
    return merged
