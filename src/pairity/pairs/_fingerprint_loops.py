"""Fingerprints of rows: sums of 64-bit hashes of their entries, those that are 0 left out."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit

_ODD_CONSTANT = np.uint64(0x9E3779B97F4A7C15)
_MIX_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_MIX_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _mixed(bits):
    """Scrambled 64-bit words (the finaliser of the splitmix64 generator)."""
    bits ^= bits >> np.uint64(30)
    bits *= _MIX_FIRST
    bits ^= bits >> np.uint64(27)
    bits *= _MIX_SECOND
    return bits ^ (bits >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _entry_hash(bits, column):
    """That of a number by its bits; 0 for zeros of either sign."""
    if bits << _ONE == np.uint64(0):
        return np.uint64(0)
    return _mixed(bits ^ column)


@njit(cache=True, nogil=True, inline="always")
def _column_hash(column):
    return _mixed((np.uint64(column) + _ONE) * _ODD_CONSTANT)


@njit(cache=True, nogil=True)
def fingerprint_rows(table, out):
    """Of a dense table, given by its bits."""
    columns = np.empty(table.shape[1], dtype=np.uint64)
    for column in range(len(columns)):
        columns[column] = _column_hash(column)
    for row in range(len(out)):
        total = np.uint64(0)
        for column in range(len(columns)):
            total += _entry_hash(table[row, column], columns[column])
        out[row] = total


@njit(cache=True, nogil=True)
def fingerprint_sparse_rows(pointers, indices, data, out):
    """The same for CSR."""
    for row in range(len(out)):
        total = np.uint64(0)
        for entry in range(pointers[row], pointers[row + 1]):
            total += _entry_hash(data[entry], _column_hash(indices[entry]))
        out[row] = total
