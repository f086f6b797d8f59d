"""Which pairs are worth comparing: the nearest records by rare n-grams, both ways.

For each record the k records (of the other table, or of the same one) whose n-gram vectors have the
largest inner products are its candidates; a pair is a candidate where one names the other.  Work is
the sum over n-grams of (records with it) x (records with it): n-grams are taken from the rarest on
until that is ``_PRODUCTS`` per record, so that it grows in proportion to the tables.  Nothing of the
size of all pairs is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pairity.matching._sparse_row_loops import largest_products
from pairity.matching.records import Records
from pairity.pairs.arrays import Places, Vector, places_of
from pairity.pairs.parity import unordered_keys
from pairity.runtime.resources import run_in_ranges

#: Products of weights per record, on average, at most; rows that one thread works on at a time.
_PRODUCTS, _ROWS_AT_A_TIME = 8000, 2000


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of records, each once, ``first < second``.

    Attributes
    ----------
    first, second : ndarray of int
        Numbers of records; of two tables one of each.
    k : int
        Neighbours that each record could name.
    n_possible : int
        Number of all pairs.
    """

    first: Places
    second: Places
    k: int
    n_possible: int

    def __len__(self) -> int:
        return len(self.first)

    @property
    def ends(self) -> tuple[Places, Places]:
        """First and second records."""
        return self.first, self.second

    def contains(self, first: Places, second: Places, n_records: int) -> np.ndarray:
        """Which pairs, in either order, are candidates."""
        return self.places(first, second, n_records) >= 0

    def places(self, first: Places, second: Places, n_records: int) -> Places:
        """Where pairs, in either order, stand among the candidates; -1 for those that are none."""
        keys = unordered_keys(self.first, self.second, n_records)
        order = np.argsort(keys, kind="stable")
        asked = unordered_keys(first, second, n_records)
        return np.append(order, -1)[places_of(asked, keys[order])]


def nearest_records(records: Records, k: int) -> Candidates:
    """Candidates among the records of one table, or between two."""
    left, right = records.sides()
    linking, keys, vectors = records.linking, [], records.vectors
    for asking, answering in [(left, right), (right, left)] if linking else [(left, right)]:
        nearest, _ = nearest_rows(vectors[asking], vectors[answering], k, same=not linking)
        rows, ranks = np.nonzero(nearest >= 0)
        named = answering[nearest[rows, ranks]]
        keys.append(unordered_keys(asking[rows], named, len(records)))
    ends = np.divmod(np.unique(np.concatenate(keys)), len(records))
    n_left, n_right = len(left), len(right)
    n_possible = n_left * n_right if linking else n_left * (n_left - 1) // 2
    return Candidates(*ends, k, n_possible)


def nearest_rows(
    asking: sp.csr_array, answering: sp.csr_array, k: int, *, same: bool
) -> tuple[Places, Vector]:
    """For each row the k rows of another table with the largest products above 0; -1 beyond.

    With ``same`` the tables are one, and no row names itself.
    """
    kept = _affordable(asking, answering)
    asking, answering = (_of_columns(table, kept) for table in (asking, answering))
    postings = answering.tocsc()
    n_rows = asking.shape[0]
    nearest, products = np.full((n_rows, k), -1, dtype=np.int64), np.zeros((n_rows, k))
    own = np.arange(n_rows) if same else np.full(n_rows, -1)

    def work(start: int, stop: int) -> None:
        largest_products(
            asking.indptr[start : stop + 1],
            asking.indices,
            asking.data,
            postings.indptr,
            postings.indices,
            postings.data,
            answering.shape[0],
            own[start:stop],
            k,
            nearest[start:stop],
            products[start:stop],
        )

    run_in_ranges(work, n_rows, _ROWS_AT_A_TIME)
    return nearest.astype(np.intp), products


def _affordable(asking: sp.csr_array, answering: sp.csr_array) -> np.ndarray:
    """Which n-grams are compared: from the rarest on, as many as there is work allowed for."""
    width = asking.shape[1]
    work = np.bincount(asking.indices, minlength=width).astype(np.float64)
    work *= np.bincount(answering.indices, minlength=width)
    order = np.argsort(work, kind="stable")
    allowed = _PRODUCTS * float(asking.shape[0] + answering.shape[0])
    kept = np.zeros(width, dtype=np.bool_)
    kept[order[np.cumsum(work[order]) <= allowed]] = True
    return kept


def _of_columns(table: sp.csr_array, kept: np.ndarray) -> sp.csr_array:
    """The table with the other columns emptied; their numbers stay."""
    there = kept[table.indices]
    starts = np.concatenate([[0], np.cumsum(there)])[table.indptr]
    return sp.csr_array((table.data[there], table.indices[there], starts), table.shape)
