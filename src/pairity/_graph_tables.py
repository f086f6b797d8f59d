"""A graph as the arrays that Pairs are made of: node features, edges, edge attributes, labels.

What is declared symmetric or antisymmetric is held against what the two directions of an edge say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity._graphs import Arcs, edge_name, number_block, read_arcs
from pairity.validation import check_choice

__all__ = ["GraphTable", "read_graph"]

#: Relative difference up to which the values on a->b and b->a count as equal, or opposite.
_AGREEMENT = 1e-9


@dataclass(frozen=True)
class GraphTable:
    """A graph as arrays: what :meth:`pairity.Pairs.from_graph` is built from."""

    objects: Any  # (m, n1)
    ids: NDArray[Any]  # (m,)
    first: NDArray[np.intp]  # (n,)
    second: NDArray[np.intp]  # (n,)
    symmetric: NDArray[np.float64]  # (n, n2)
    antisymmetric: NDArray[np.float64]  # (n, n3)
    labels: NDArray[Any] | None  # (n,)


def read_graph(
    graph: Any,
    features: Any,
    symmetric: Sequence[Any],
    antisymmetric: Sequence[Any],
    label: Any,
    symmetry: str | None,
    reciprocal: str,
) -> GraphTable:
    """Nodes as objects, edges as pairs; both directions of an edge are compared and made one."""
    check_choice(reciprocal, "reciprocal", ("merge", "keep"))
    arcs = read_arcs(graph)
    odd = _is_antisymmetric(symmetry, arcs.directed)
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
        _check_group(arcs, group[0], forth, back, 1.0)
        _check_group(arcs, group[1], forth, back, -1.0)
        if reciprocal == "merge":
            if labels is not None:
                labels = _merged_labels(arcs, labels, forth, back, odd)
            kept = np.setdiff1d(kept, back)
    return GraphTable(
        _node_features(arcs, features),
        arcs.nodes,
        arcs.source[kept],
        arcs.target[kept],
        group[0][kept],
        group[1][kept],
        None if labels is None else labels[kept],
    )


def _is_antisymmetric(symmetry: str | None, directed: bool) -> bool:
    if symmetry is None:
        return directed
    check_choice(symmetry, "symmetry", ("symmetric", "antisymmetric"))
    if symmetry == "antisymmetric" and not directed:
        raise ValueError(
            "got symmetry='antisymmetric' with an undirected graph; expected a directed one: a label"
            " that changes sign needs a direction."
        )
    return symmetry == "antisymmetric"


def _node_features(arcs: Arcs, features: Any) -> Any:
    if features is None:
        return sp.csr_array(sp.identity(len(arcs.nodes), format="csr"))
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


def _group_block(arcs: Arcs, names: Sequence[Any]) -> NDArray[np.float64]:
    if isinstance(names, str | np.ndarray) or sp.issparse(names):
        names = [names]
    blocks = [np.zeros((len(arcs.source), 0))]
    for name in names:
        shown = repr(name) if isinstance(name, Hashable) else "of a matrix"
        given = arcs.values(name)
        if any(value is None for value in given):
            place = next(row for row, value in enumerate(given) if value is None)
            raise ValueError(
                f"got edge {edge_name(arcs, place)} without the attribute {shown}; expected it on every"
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
    if all(isinstance(value, int | float | np.number) for value in known):
        if len(known) == len(given):
            return np.array(given)
        return np.array([np.nan if value is None else value for value in given], dtype=np.float64)
    labels = np.empty(len(given), dtype=object)
    labels[:] = given
    return np.array(given) if len(known) == len(given) else labels


def _reciprocal(arcs: Arcs) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows a->b whose b->a is there too, with a before b among the nodes; and those b->a."""
    size = len(arcs.nodes)
    keys = arcs.source * size + arcs.target
    order = np.argsort(keys)
    forth = np.flatnonzero(arcs.source < arcs.target)
    wanted = arcs.target[forth] * size + arcs.source[forth]
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(len(keys) - 1, 0))
    back = order[place]
    found = keys[back] == wanted
    return forth[found], back[found]


def _check_group(
    arcs: Arcs,
    block: NDArray[np.float64],
    forth: NDArray[np.intp],
    back: NDArray[np.intp],
    sign: float,
) -> None:
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
    arcs: Arcs, labels: NDArray[Any], forth: NDArray[np.intp], back: NDArray[np.intp], odd: bool
) -> NDArray[Any]:
    """Labels with those of both directions made one; refused where they say different things."""
    there, returned = labels[forth], labels[back]
    if np.issubdtype(labels.dtype, np.number):
        returned = -returned if odd else returned
        there = np.where(np.isnan(there), returned, there)
        returned = np.where(np.isnan(returned), there, returned)
        agree = np.isclose(there, returned, rtol=_AGREEMENT, atol=0.0, equal_nan=True)
    else:
        agree = (there != returned) if odd else (there == returned)
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
