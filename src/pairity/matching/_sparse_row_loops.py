"""Compiled: inner products of sparse rows, the largest of a row, or those of given pairs of rows.

Columns of a row are in rising order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def largest_products(
    starts: Any,  # (rows + 1,), CSR of the rows that ask
    columns: Any,
    weights: Any,
    posting_starts: Any,  # (columns + 1,), CSC of the rows that answer
    posting_rows: Any,
    posting_weights: Any,
    n_answers: int,
    own: Any,  # (rows,): the answering row that is the asking one; -1 where there is none
    k: int,
    nearest: Any,  # (rows, k) of int, -1 where there are fewer
    products: Any,  # (rows, k)
) -> None:
    """For each row the k rows with the largest products above 0, ties to the smaller number."""
    sums = np.zeros(n_answers)
    touched = np.empty(n_answers, np.int64)
    for row in range(len(starts) - 1):
        count = 0
        for place in range(starts[row], starts[row + 1]):
            weight, column = weights[place], columns[place]
            for posting in range(posting_starts[column], posting_starts[column + 1]):
                answer = posting_rows[posting]
                if sums[answer] == 0.0:
                    touched[count] = answer
                    count += 1
                sums[answer] += weight * posting_weights[posting]
        filled, least = 0, 0.0
        best, values = nearest[row], products[row]
        for place in range(count):
            answer = touched[place]
            value = sums[answer]
            sums[answer] = 0.0
            if value >= least and answer != own[row]:
                filled = _insert(best, values, filled, k, answer, value)
                if filled == k:
                    least = values[k - 1]


@njit(cache=True)
def _insert(nearest: Any, products: Any, filled: int, k: int, answer: int, value: float) -> int:
    """Keep a list ordered by falling product, then rising number; its length."""
    last = filled - 1
    if filled == k:
        worse = value < products[last] or (value == products[last] and answer > nearest[last])
        if worse:
            return filled
    else:
        filled += 1
    place = filled - 1
    while place > 0 and (
        value > products[place - 1]
        or (value == products[place - 1] and answer < nearest[place - 1])
    ):
        products[place] = products[place - 1]
        nearest[place] = nearest[place - 1]
        place -= 1
    products[place] = value
    nearest[place] = answer
    return filled


@njit(cache=True, nogil=True)
def products_of_pairs(
    starts: Any,  # CSR of the rows of first ends
    columns: Any,
    weights: Any,
    other_starts: Any,  # CSR of the rows of second ends
    other_columns: Any,
    other_weights: Any,
    first: Any,  # (n,)
    second: Any,  # (n,)
    products: Any,  # (n,)
) -> None:
    """Inner products, the terms added in the order of the columns."""
    for pair in range(len(first)):
        here, end = starts[first[pair]], starts[first[pair] + 1]
        there, other_end = other_starts[second[pair]], other_starts[second[pair] + 1]
        total = 0.0
        while here < end and there < other_end:
            column, other = columns[here], other_columns[there]
            if column == other:
                total += weights[here] * other_weights[there]
            here += column <= other
            there += other <= column
        products[pair] = total


@njit(cache=True, nogil=True)
def largest_alone(
    starts: Any,  # CSR
    columns: Any,
    weights: Any,
    first: Any,  # (n,)
    second: Any,  # (n,)
    largest: Any,  # (n,)
) -> None:
    """The largest weight of a first row in a column that the second row has not; else 0."""
    for pair in range(len(first)):
        there, other_end = starts[second[pair]], starts[second[pair] + 1]
        found = 0.0
        for here in range(starts[first[pair]], starts[first[pair] + 1]):
            while there < other_end and columns[there] < columns[here]:
                there += 1
            if there == other_end or columns[there] != columns[here]:
                found = max(found, weights[here])
        largest[pair] = found
