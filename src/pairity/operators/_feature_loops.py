"""Loops over sparse rows of features."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def copy_sparse_rows(places, pointers, indices, data, offset, out_indices, out_data):
    """Append the entries of each row at ``places[row]``, columns shifted; places move on."""
    for row in range(len(places)):
        place = places[row]
        for entry in range(pointers[row], pointers[row + 1]):
            out_indices[place] = indices[entry] + offset
            out_data[place] = data[entry]
            place += 1
        places[row] = place


@njit(cache=True, nogil=True)
def copy_dense_rows(places, table, offset, out_indices, out_data):
    """The same for a dense table: all entries, in order."""
    for row in range(len(places)):
        place = places[row]
        for column in range(table.shape[1]):
            out_indices[place] = column + offset
            out_data[place] = table[row, column]
            place += 1
        places[row] = place


@njit(cache=True, nogil=True)
def combine_ends(
    first, second, weights, pointers, indices, data, out_pointers, out_indices, out_data
):
    """Rows ``weights[0] table[first] + weights[1] table[second]``, entries beside one another."""
    place = 0
    for row in range(len(first)):
        for end in range(2):
            if weights[end] != 0.0:
                which = first[row] if end == 0 else second[row]
                for entry in range(pointers[which], pointers[which + 1]):
                    out_indices[place] = indices[entry]
                    out_data[place] = weights[end] * data[entry]
                    place += 1
        out_pointers[row + 1] = place
