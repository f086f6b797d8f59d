"""Plain twins of Sections 7.3 and 7.4, written as printed, one arc at a time.

``edges`` is a dict from an ordered pair (n, u) of row numbers to its wide row X_nu; both orders of
every edge are in it.  Nothing here is fast, and nothing is shared with the library.
"""

import numpy as np

import naive


def both_orders(pairs):
    """``{(a, b): X_ab, (b, a): X_ba}`` of pairs without repetitions."""
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    rows = np.asarray(pairs.to_rows())
    edges = {}
    for a, b, row in zip(pairs.first.tolist(), pairs.second.tolist(), rows, strict=True):
        edges[a, b] = row
        edges[b, a] = naive.swap_row(row, widths)
    return edges


def neighbours(edges, u, other_than):
    return [n for n, end in sorted(edges) if end == u and n != other_than]


def mean(rows, width):
    """Mean of the rows; zeros where there are none (h = 1 in the paper)."""
    if not rows:
        return np.zeros(width)
    return sum(rows) / len(rows)


def multiple_pairs_vector(edges, X_ab, a, b, hop=1):
    """``(U, X_ab, W)`` of (55): means of X_na and of X_bn, without the partner."""
    width = len(next(iter(edges.values()))) if edges else len(X_ab)
    U = mean([carried(edges, n, a, hop, width) for n in neighbours(edges, a, b)], width)
    # X_bn is X_nb with its ends exchanged, so W = V T with V the mean of what n brings to b
    V = mean([carried(edges, n, b, hop, width) for n in neighbours(edges, b, a)], width)
    return U, X_ab, V


def carried(edges, n, u, hop, width):
    """What the neighbour n brings to u: its edge, or the mean of what reached it without u."""
    if hop == 1:
        return edges[n, u]
    return mean([carried(edges, k, n, hop - 1, width) for k in neighbours(edges, n, u)], width)


def concatenation(edges, X_ab, a, b, widths, edge_widths):
    """The vector (48) with the means of (55): ``(U, X_ab, W)`` in one row."""
    U, X, V = multiple_pairs_vector(edges, X_ab, a, b)
    return np.concatenate([U, X, naive.swap_row(V, edge_widths)])


def shares_an_object(p, q):
    return bool(set(p) & set(q))


def base_similarities(K, arcs, rows, widths, mask="shared", diagonal="kernel"):
    """The matrix of base similarities of Section 7.4; the diagonal as asked."""
    n = len(arcs)
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                weight = 1.0 if diagonal == "kernel" else 0.0
            elif mask == "shared":
                weight = 1.0 if shares_an_object(arcs[i], arcs[j]) else 0.0
            else:
                weight = len(set(arcs[i]) & set(arcs[j])) / 2.0
            matrix[i, j] = weight * K(rows[i], rows[j], widths) if weight else 0.0
    return matrix


def degree_normalised(matrix):
    """``D^-1/2 A D^-1/2`` with the sums of absolute values; 1 for a row of zeros."""
    degree = np.abs(matrix).sum(axis=1)
    degree[degree == 0.0] = 1.0
    return matrix / np.sqrt(np.outer(degree, degree))


def diffusion_series(matrix, coefficients):
    """Formula (56), cut off: ``sum_l lambda_l A^l``."""
    total, power = np.zeros_like(matrix), np.eye(len(matrix))
    for coefficient in coefficients:
        total = total + coefficient * power
        power = power @ matrix
    return total
