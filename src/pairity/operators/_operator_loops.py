"""Kernel rows gathered from object Gram matrices: loops over monomials.

A monomial is ``weight * product of object Grams on the edges ac, ad, bc, bd``; for the row of
the pair (a, b) its value at column j is a product of entries of the Gram rows a and b at the
columns ``first[j]`` and ``second[j]``.

Entrywise division in the eigenbasis of the grid.
"""

from __future__ import annotations

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True, inline="always")
def _pick(grams, gram, edge, a, b):  # type: ignore[no-untyped-def]
    return grams[gram, a] if edge < 2 else grams[gram, b]


@njit(cache=True, nogil=True)
def _is_tensor(edge_gram):  # type: ignore[no-untyped-def]
    """Whether the terms are ``ac bd`` and ``ad bc`` of the one Gram matrix, in this order."""
    if len(edge_gram) != 2:
        return False
    straight = edge_gram[0, 0] == 0 and edge_gram[0, 1] < 0 and edge_gram[0, 2] < 0
    crossed = edge_gram[1, 0] < 0 and edge_gram[1, 1] == 0 and edge_gram[1, 2] == 0
    return straight and crossed and edge_gram[0, 3] == 0 and edge_gram[1, 3] < 0


@njit(cache=True, nogil=True)
def _fill_row(out, a, b, first, second, grams, weights, edge_gram):  # type: ignore[no-untyped-def]
    """``out[j] = sum_t weights[t] * prod_e grams[edge_gram[t, e]][end(e), end'(e)]``."""
    n = len(first)
    if _is_tensor(edge_gram):
        # both products share the two Gram rows: one pass
        row_a, row_b = grams[0, a], grams[0, b]
        straight, crossed = weights[0], weights[1]
        for j in range(n):
            c, d = first[j], second[j]
            out[j] = straight * (row_a[c] * row_b[d]) + crossed * (row_a[d] * row_b[c])
        return
    for j in range(n):
        out[j] = 0.0
    for term in range(len(weights)):
        weight = weights[term]
        n_edges = 0
        one = -1
        two = -1
        for edge in range(4):
            if edge_gram[term, edge] >= 0:
                if n_edges == 0:
                    one = edge
                elif n_edges == 1:
                    two = edge
                n_edges += 1
        if n_edges == 1:
            row = _pick(grams, edge_gram[term, one], one, a, b)
            ends = first if one % 2 == 0 else second
            for j in range(n):
                out[j] += weight * row[ends[j]]
        elif n_edges == 2:
            row_one = _pick(grams, edge_gram[term, one], one, a, b)
            row_two = _pick(grams, edge_gram[term, two], two, a, b)
            ends_one = first if one % 2 == 0 else second
            ends_two = first if two % 2 == 0 else second
            for j in range(n):
                out[j] += weight * (row_one[ends_one[j]] * row_two[ends_two[j]])
        else:
            for j in range(n):
                value = weight
                for edge in range(4):
                    gram = edge_gram[term, edge]
                    if gram >= 0:
                        end = a if edge < 2 else b
                        value *= grams[gram, end, first[j] if edge % 2 == 0 else second[j]]
                out[j] += value


# Sums may be regrouped (never contracted): eight at a time, in an order that the length fixes.
@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _dot(row, vector):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(vector)):
        total += row[j] * vector[j]
    return total


@njit(cache=True, nogil=True)
def gather_rows(out, left_first, left_second, first, second, grams, weights, edge_gram):  # type: ignore[no-untyped-def]
    """Rows of the pair Gram matrix for the given left pairs."""
    for i in range(len(left_first)):
        _fill_row(out[i], left_first[i], left_second[i], first, second, grams, weights, edge_gram)


@njit(cache=True, nogil=True)
def gather_products(  # type: ignore[no-untyped-def]
    out, row, left_first, left_second, first, second, grams, weights, edge_gram, vector
):
    """``out[i] = sum_j K(i, j) vector[j]``, row by row."""
    for i in range(len(left_first)):
        _fill_row(row, left_first[i], left_second[i], first, second, grams, weights, edge_gram)
        out[i] = _dot(row, vector)


@njit(cache=True, nogil=True)
def dot_rows(out, block, vector):  # type: ignore[no-untyped-def]
    """``out[i] = sum_j block[i, j] vector[j]``."""
    for i in range(len(out)):
        out[i] = _dot(block[i], vector)


@njit(cache=True, nogil=True)
def add_row_dots(out, first, second, left, right):  # type: ignore[no-untyped-def]
    """``out[i] += <left[first[i]], right[second[i]]>``."""
    for i in range(len(out)):
        out[i] += _dot(left[first[i]], right[second[i]])


@njit(cache=True, nogil=True)
def add_sparse_products(out, gram, first, second, values, sign):  # type: ignore[no-untyped-def]
    """``out += gram (V + sign V')`` for V with entries ``values`` at (first, second), row by row."""
    for a in range(len(out)):
        row, target = gram[a], out[a]
        for j in range(len(values)):
            c, d = first[j], second[j]
            target[d] += values[j] * row[c]
            target[c] += sign * values[j] * row[d]


# Entrywise division in the eigenbasis of the grid -----------------------------------------------


@njit(cache=True, nogil=True)
def divide_by_shifted(inside, eigenvalues, weight, rho):  # type: ignore[no-untyped-def]
    """``inside_ij /= weight * lam_i * lam_j + rho``."""
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            inside[i, j] /= scale * eigenvalues[j] + rho


@njit(cache=True, nogil=True)
def divide_with_constraint(inside, eigenvalues, ones, weight, rho):  # type: ignore[no-untyped-def]
    """The same for ``inside - bias * ones ones'``, with the bias that makes the sum vanish."""
    numerator = 0.0
    denominator = 0.0
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            direction = ones[i] * ones[j]
            shifted = scale * eigenvalues[j] + rho
            numerator += direction * inside[i, j] / shifted
            denominator += direction * direction / shifted
    bias = numerator / denominator
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            inside[i, j] = (inside[i, j] - bias * ones[i] * ones[j]) / (
                scale * eigenvalues[j] + rho
            )
    return bias
