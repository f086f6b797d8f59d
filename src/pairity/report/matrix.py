"""The matrix of what the model says about every two of some objects, in an order that shows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage

from pairity.report.compared import Compared
from pairity.report.data import Matrix

__all__ = ["cluster_order", "matrix_by_cluster", "matrix_by_rank", "square"]

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]

#: Of the pairs of the objects shown, at least this share must be known for a picture.
_LEAST_KNOWN = 0.5


def square(compared: Compared, forth: Vector, back: Vector) -> Vector:
    """Values of the pairs and of the swapped pairs as a table, shape (m, m), NaN elsewhere."""
    n = len(compared.names)
    table = np.full((n, n), np.nan)
    table[compared.pairs.first, compared.pairs.second] = forth
    table[compared.pairs.second, compared.pairs.first] = back
    return table


def matrix_by_rank(
    table: Vector, compared: Compared, order: Rows, quantity: str, shown: int
) -> Matrix | None:
    """Best object first; of too many objects, evenly spaced ones."""
    note = ""
    if len(order) > shown:
        places = np.unique(np.round(np.linspace(0, len(order) - 1, shown)).astype(np.intp))
        note = f"{len(places)} of {len(order)} objects, evenly spaced in the ranking."
        order = order[places]
    return _matrix(table, compared, order, np.zeros(len(table), np.intp), quantity, "rank", note)


def matrix_by_cluster(
    table: Vector,
    similarity: Vector,
    labels: Rows,
    compared: Compared,
    quantity: str,
    shown: int,
) -> Matrix | None:
    """Alike objects side by side; of too many objects, the largest groups.

    ``labels`` number the groups by size, largest first.
    """
    note = ""
    chosen = np.argsort(labels, kind="stable")
    if len(chosen) > shown:
        note = f"The {shown} of {len(chosen)} objects in the largest groups."
        chosen = np.sort(chosen[:shown])
    order = chosen[cluster_order(similarity[np.ix_(chosen, chosen)])]
    return _matrix(table, compared, order, labels, quantity, "cluster", note)


def _matrix(
    table: Vector,
    compared: Compared,
    order: Rows,
    blocks: Rows,
    quantity: str,
    kind: str,
    note: str,
) -> Matrix | None:
    values = table[np.ix_(order, order)]
    n = len(order)
    if n < 2 or np.isfinite(values).sum() < _LEAST_KNOWN * n * (n - 1):
        return None
    return Matrix(
        names=tuple(compared.names[place] for place in order),
        values=values,
        blocks=tuple(int(blocks[place]) for place in order),
        quantity=quantity,
        order=kind,
        note=note,
    )


def cluster_order(similarity: Vector) -> Rows:
    """Order in which alike objects are neighbours: leaves of average linkage, best turned."""
    n = len(similarity)
    if n < 3:
        return np.arange(n)
    known = np.isfinite(similarity)
    np.fill_diagonal(known, False)
    lowest = float(similarity[known].min()) if known.any() else 0.0
    filled = np.where(known, similarity, lowest)
    distance = float(filled.max()) - filled
    first, second = np.triu_indices(n, 1)
    tree = linkage(distance[first, second], "average", optimal_ordering=True)
    return leaves_list(tree).astype(np.intp)
