"""Compiled: what two sparse rows of a pair have in common; columns of a row are in rising order."""

from __future__ import annotations

from typing import Any

from pairity.runtime.resources import njit


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
