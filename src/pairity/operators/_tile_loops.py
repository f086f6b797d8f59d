"""Exponentials of matrix products, a tile at a time: entries, and sums of them with weights.

A tile of exponents is made by BLAS and stays in the cache; its exponentials are needed a row at a
time, which the innermost cache holds, and are never stored where only their sums are asked for.
"""

from __future__ import annotations

import numpy as np

from pairity.runtime._exponential import exponential, with_widest_vectors
from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def fill_exponentials(out, p, q, signs):  # type: ignore[no-untyped-def]
    """``out = sign exp(p)``, or with two signs ``plus exp(p + q) + minus exp(p - q)``, of one row."""
    with_widest_vectors()
    if len(signs) == 1:
        sign = signs[0]
        for j in range(len(out)):
            out[j] = sign * exponential(p[j])
    else:
        plus, minus = signs[0], signs[1]
        for j in range(len(out)):
            straight, crossed = exponential(p[j] + q[j]), exponential(p[j] - q[j])
            out[j] = plus * straight + minus * crossed


@njit(cache=True, nogil=True)
def _multiply(room, left, right):  # type: ignore[no-untyped-def]
    """``left right'`` in memory that is used again and again."""
    product = room[: len(left) * len(right)].reshape((len(left), len(right)))
    np.dot(left, right.T, product)
    return product


@njit(cache=True, nogil=True)
def add_entries(out, one, other, signs, columns):  # type: ignore[no-untyped-def]
    """Add the entries of a band of rows; ``one`` and ``other`` are both sides of p and of q.

    There are so many ``columns`` to a tile.
    """
    p_room = np.empty(len(out) * columns, out.dtype)
    q_room = np.empty(len(out) * columns, out.dtype)
    entries = np.empty(columns, out.dtype)
    for start in range(0, out.shape[1], columns):
        stop = min(start + columns, out.shape[1])
        p = _multiply(p_room, one[0], one[1][start:stop])
        q = _multiply(q_room, other[0], other[1][start:stop]) if len(signs) == 2 else p
        row = entries[: stop - start]
        for i in range(len(out)):
            fill_exponentials(row, p[i], q[i], signs)
            out[i, start:stop] += row


# Sums may be regrouped (never contracted), in an order that the length fixes.
@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _use_row(row, weights, target, weight):  # type: ignore[no-untyped-def]
    """``<row, weights>``, and ``target += weight row`` unless that is empty; in their precision."""
    total = weight - weight
    if not len(target):
        for j in range(len(row)):
            total += row[j] * weights[j]
        return total
    for j in range(len(row)):
        total += row[j] * weights[j]
        target[j] += weight * row[j]
    return total


@njit(cache=True, nogil=True)
def add_products(by_rows, by_columns, one, other, signs, weights, of_rows, tile):  # type: ignore[no-untyped-def]
    """``by_rows += E weights`` and, unless that is empty, ``by_columns += of_rows E``.

    E are the exponentials of both sides; sums within a tile have their precision, those of tiles
    double precision.
    """
    rows, columns = tile
    dtype = one[0].dtype
    p_room, q_room = np.empty(rows * columns, dtype), np.empty(rows * columns, dtype)
    entries, sums = np.empty(columns, dtype), np.empty(columns, dtype)
    weights, of_rows = weights.astype(dtype), of_rows.astype(dtype)
    both = len(by_columns) > 0
    nothing = signs[0] - signs[0]
    for top in range(0, len(by_rows), rows):
        bottom = min(top + rows, len(by_rows))
        for start in range(0, len(weights), columns):
            stop = min(start + columns, len(weights))
            p = _multiply(p_room, one[0][top:bottom], one[1][start:stop])
            q = p
            if len(signs) == 2:
                q = _multiply(q_room, other[0][top:bottom], other[1][start:stop])
            row, some = entries[: stop - start], weights[start:stop]
            target = sums[: stop - start] if both else sums[:0]
            target[:] = 0.0
            for i in range(bottom - top):
                fill_exponentials(row, p[i], q[i], signs)
                weight = of_rows[top + i] if both else nothing
                by_rows[top + i] += _use_row(row, some, target, weight)
            for j in range(len(target)):
                by_columns[start + j] += target[j]


@njit(cache=True, nogil=True)
def add_to_columns(out, tile, weights):  # type: ignore[no-untyped-def]
    """``out += weights @ tile``, added up in double precision, row after row."""
    for i in range(len(tile)):
        weight, row = weights[i], tile[i]
        for j in range(len(row)):
            out[j] += weight * row[j]


@njit(cache=True, nogil=True)
def add_same(total, a, b, c, d, weights):  # type: ignore[no-untyped-def]
    """``total += w_ac [a = c] + w_ad [a = d] + w_bc [b = c] + w_bd [b = d]`` of object numbers."""
    ac, ad, bc, bd = weights
    nothing = ac - ac
    for i in range(len(total)):
        out, one, two = total[i], a[i], b[i]
        for j in range(len(out)):
            found = (ac if one == c[j] else nothing) + (ad if one == d[j] else nothing)
            out[j] += found + (bc if two == c[j] else nothing) + (bd if two == d[j] else nothing)


@njit(cache=True, nogil=True)
def add_times(total, terms, factor, base, ratio):  # type: ignore[no-untyped-def]
    """``total += (base + ratio factor) terms``."""
    for i in range(len(total)):
        out, one, two = total[i], terms[i], factor[i]
        for j in range(len(out)):
            out[j] += (base + ratio * two[j]) * one[j]
