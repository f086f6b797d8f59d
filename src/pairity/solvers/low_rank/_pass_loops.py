"""Loops over pairs that are sorted by their first object."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "nnan"})
def dot_pairs(images, table, rows, ends, second, start, stop, out):
    """``out_i += <image of first, features of second>`` for the rows from start to stop."""
    width = table.shape[1]
    for row in range(start, stop):
        first = rows[row]
        for pair in range(ends[row], ends[row + 1]):
            other = second[pair]
            total = images[first, 0] * table[other, 0]
            for column in range(1, width):
                total += images[first, column] * table[other, column]
            out[pair] += total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "nnan"})
def add_outer(table, rows, ends, second, theta, start, stop, out):
    """``out[first] = sum_i theta_i table[second_i]`` for the rows from start to stop."""
    width = table.shape[1]
    for row in range(start, stop):
        first = rows[row]
        for pair in range(ends[row], ends[row + 1]):
            weight = theta[pair]
            if weight != 0:
                other = second[pair]
                for column in range(width):
                    out[first, column] += weight * table[other, column]


@njit(cache=True, nogil=True)
def add_two_sided(rows, ends, second, theta, sign, out):
    """``out[first] += theta, out[second] += sign theta``."""
    for row in range(len(rows)):
        total = 0.0
        for pair in range(ends[row], ends[row + 1]):
            total += theta[pair]
            out[second[pair]] += sign * theta[pair]
        out[rows[row]] += total


@njit(cache=True, nogil=True)
def dot_given(images, table, first, second, start, stop, out):
    """``out_i += <image of first, features of second>``, pairs in the order given."""
    for pair in range(start, stop):
        total = 0.0
        for column in range(table.shape[1]):
            total += images[first[pair], column] * table[second[pair], column]
        out[pair] += total
