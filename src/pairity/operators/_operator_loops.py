"""Kernel rows gathered from object Gram matrices: loops over monomials.

A monomial is ``weight * product of object Grams on the edges ac, ad, bc, bd``; for the row of
the pair (a, b) its value at column j is a product of entries of the Gram rows a and b at the
columns ``first[j]`` and ``second[j]``.
"""

from __future__ import annotations

import numpy as np

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
def _add_lone_edges(at_first, at_second, a, b, grams, weights, edge_gram):  # type: ignore[no-untyped-def]
    """Terms of one edge each: what they are at every object in first, and in second place.

    Returns whether there are any.
    """
    found = False
    for term in range(len(weights)):
        n_edges = 0
        lone = -1
        for edge in range(4):
            if edge_gram[term, edge] >= 0:
                n_edges += 1
                lone = edge
        if n_edges != 1:
            continue
        if not found:
            at_first[:] = 0.0
            at_second[:] = 0.0
            found = True
        row = _pick(grams, edge_gram[term, lone], lone, a, b)
        target = at_first if lone % 2 == 0 else at_second
        for k in range(len(row)):
            target[k] += weights[term] * row[k]
    return found


@njit(cache=True, nogil=True)
def _fill_row(out, a, b, first, second, grams, weights, edge_gram, lone):  # type: ignore[no-untyped-def]
    """``out[j] = sum_t weights[t] * prod_e grams[edge_gram[t, e]][end(e), end'(e)]``.

    ``lone`` is room for two rows over the objects.
    """
    n = len(first)
    begun = 0
    if len(edge_gram) >= 2 and _is_tensor(edge_gram[:2]):
        # both products share the two Gram rows: one pass
        begun = 2
        row_a, row_b = grams[0, a], grams[0, b]
        straight, crossed = weights[0], weights[1]
        for j in range(n):
            c, d = first[j], second[j]
            out[j] = straight * (row_a[c] * row_b[d]) + crossed * (row_a[d] * row_b[c])
    else:
        for j in range(n):
            out[j] = 0.0
    if begun == len(weights):
        return
    if _add_lone_edges(lone[0], lone[1], a, b, grams, weights, edge_gram):
        at_first, at_second = lone[0], lone[1]
        for j in range(n):
            out[j] += at_first[first[j]] + at_second[second[j]]
    for term in range(begun, len(weights)):
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
        if n_edges == 2:
            row_one = _pick(grams, edge_gram[term, one], one, a, b)
            row_two = _pick(grams, edge_gram[term, two], two, a, b)
            ends_one = first if one % 2 == 0 else second
            ends_two = first if two % 2 == 0 else second
            for j in range(n):
                out[j] += weight * (row_one[ends_one[j]] * row_two[ends_two[j]])
        elif n_edges != 1:
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
def dot(row, vector):  # type: ignore[no-untyped-def]
    """Inner product of two rows, added up in double precision."""
    total = 0.0
    for j in range(len(vector)):
        total += row[j] * vector[j]
    return total


# A maximum may be taken in any order; there is no arithmetic in it to relax.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def largest(values, n):  # type: ignore[no-untyped-def]
    """Largest of the first n entries; -1e300, which stays finite in sums, where there are none."""
    most = -1e300
    for k in range(n):
        most = max(most, values[k])
    return most


@njit(cache=True, nogil=True)
def gather_rows(out, left_first, left_second, first, second, grams, weights, edge_gram):  # type: ignore[no-untyped-def]
    """Rows of the pair Gram matrix for the given left pairs."""
    lone = np.empty((2, grams.shape[2]))
    for i in range(len(left_first)):
        a, b = left_first[i], left_second[i]
        _fill_row(out[i], a, b, first, second, grams, weights, edge_gram, lone)


@njit(cache=True, nogil=True)
def gather_crossed_rows(  # type: ignore[no-untyped-def]
    out, straight, crossed, left_first, left_second, first, second, gram, weight
):
    """``weight (G_ac G_bd straight + G_ad G_bc crossed)``, with a factor for each entry."""
    for i in range(len(left_first)):
        row_a, row_b = gram[left_first[i]], gram[left_second[i]]
        for j in range(len(first)):
            c, d = first[j], second[j]
            plain = (row_a[c] * row_b[d]) * straight[i, j]
            out[i, j] = weight * (plain + (row_a[d] * row_b[c]) * crossed[i, j])


@njit(cache=True, nogil=True)
def gather_metric_rows(out, left_first, left_second, first, second, gram):  # type: ignore[no-untyped-def]
    """``1/4 (G_ac - G_ad - G_bc + G_bd)^2``: two entries of one row of differences each."""
    difference = np.empty(gram.shape[1])
    for i in range(len(left_first)):
        row_a, row_b = gram[left_first[i]], gram[left_second[i]]
        for k in range(len(difference)):
            difference[k] = row_a[k] - row_b[k]
        for j in range(len(first)):
            value = difference[first[j]] - difference[second[j]]
            out[i, j] = 0.25 * value * value


@njit(cache=True, nogil=True)
def gather_products(  # type: ignore[no-untyped-def]
    out, left_first, left_second, first, second, grams, weights, edge_gram, vector
):
    """``out[i] = sum_j K(i, j) vector[j]``, row by row."""
    row, lone = np.empty(len(first)), np.empty((2, grams.shape[2]))
    for i in range(len(left_first)):
        a, b = left_first[i], left_second[i]
        _fill_row(row, a, b, first, second, grams, weights, edge_gram, lone)
        out[i] = dot(row, vector)


@njit(cache=True, nogil=True)
def dot_rows(out, block, vector):  # type: ignore[no-untyped-def]
    """``out[i] = sum_j block[i, j] vector[j]``."""
    for i in range(len(out)):
        out[i] = dot(block[i], vector)


@njit(cache=True, nogil=True)
def add_row_dots(out, places, first, second, left, right):  # type: ignore[no-untyped-def]
    """``out[i] += <left[first[i]], right[second[i]]>`` at some places, in their order."""
    for i in places:
        out[i] += dot(left[first[i]], right[second[i]])


@njit(cache=True, nogil=True)
def add_sparse_products(out, gram, first, second, values, sign):  # type: ignore[no-untyped-def]
    """``out += gram (V + sign V')`` for V with entries ``values`` at (first, second), row by row."""
    for a in range(len(out)):
        row, target = gram[a], out[a]
        for j in range(len(values)):
            c, d = first[j], second[j]
            target[d] += values[j] * row[c]
            target[c] += sign * values[j] * row[d]


# All columns of group features at once -----------------------------------------------------------


@njit(cache=True, nogil=True)
def add_columns(out, first, second, values, straight, crossed):  # type: ignore[no-untyped-def]
    """``out[c, d, h] += v straight_h`` and ``out[d, c, h] += v crossed_h`` for each pair (c, d)."""
    for j in range(len(values)):
        there, back = out[first[j], second[j]], out[second[j], first[j]]
        for h in range(out.shape[2]):
            there[h] += values[j] * straight[j, h]
            back[h] += values[j] * crossed[j, h]


@njit(cache=True, nogil=True)
def dot_columns(out, first, second, table, features):  # type: ignore[no-untyped-def]
    """``out[i] += sum_h table[a, b, h] features[i, h]`` for each pair (a, b)."""
    for i in range(len(out)):
        row = table[first[i], second[i]]
        total = 0.0
        for h in range(len(row)):
            total += row[h] * features[i, h]
        out[i] += total


# Entrywise division in the eigenbasis of the grid -----------------------------------------------


@njit(cache=True, nogil=True)
def sums_of_shifted(inside, eigenvalues, weight, rho, ones):  # type: ignore[no-untyped-def]
    """``sum_j inside_ij ones_j / (weight * lam_i * lam_j + rho)``."""
    out = np.zeros(len(inside))
    for i in range(inside.shape[0]):
        scale = weight * eigenvalues[i]
        for j in range(inside.shape[1]):
            out[i] += inside[i, j] * ones[j] / (scale * eigenvalues[j] + rho)
    return out


# Features of pairs of eigenvectors ---------------------------------------------------------------


#: Pairs whose features are made at a time: each of them one line of the innermost cache.
_PAIRS_AT_A_TIME = 64


@njit(cache=True, nogil=True)
def fill_principal_features(out, at_first, at_second, features, one, two, sign, feature, scale):  # type: ignore[no-untyped-def]
    """``out[n, t] = scale_t phi_n (U_ai U_bj + sign_t U_aj U_bi)``, phi the feature of mode t.

    Tables have a row for each vector, or feature, and a column for each pair.
    """
    column = np.empty(_PAIRS_AT_A_TIME, out.dtype)
    for start in range(0, len(out), _PAIRS_AT_A_TIME):
        stop = min(start + _PAIRS_AT_A_TIME, len(out))
        for t in range(out.shape[1]):
            a_i, a_j = at_first[one[t], start:stop], at_first[two[t], start:stop]
            b_i, b_j = at_second[one[t], start:stop], at_second[two[t], start:stop]
            phi, factor, turn = features[feature[t], start:stop], scale[t], sign[t]
            for n in range(stop - start):
                column[n] = factor * phi[n] * (a_i[n] * b_j[n] + turn * (a_j[n] * b_i[n]))
            for n in range(stop - start):
                out[start + n, t] = column[n]
