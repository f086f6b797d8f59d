"""Names of the arrays that travel through the package, and equal rows recognised.

Equal rows are found in an order that depends on their content alone, which matters for the
bit-for-bit swap law: a table of objects built from pairs and one built from the swapped pairs must
hold the same objects at the same places, so that every matrix product on them is the same call on
the same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
#: Row numbers.
Places: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
#: A table of features, dense or CSR, one row each.
Features: TypeAlias = NDArray[np.float64] | sp.csr_array


def sums_at(places: Places, amounts: Vector, size: int) -> Vector:
    """Sums of the amounts at each of ``size`` places; floats even of no amounts at all."""
    return np.bincount(places, amounts, size).astype(np.float64, copy=False)


def batches(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of ``size`` rows, or of 1 at least, that cover all of them."""
    step = max(1, size)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def places_of(wanted: Places, among: Places) -> Places:
    """Place of each number among ascending ones; -1 where it is not there."""
    place = np.searchsorted(among, wanted)
    there = place < len(among)
    there[there] = among[place[there]] == wanted[there]
    return np.where(there, place, -1)


def as_dense(table: Any) -> NDArray[np.float64]:
    """Return a table as a plain array, whether it is sparse or not."""
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def joined(tables: Sequence[Any], axis: int) -> Any:
    """Tables below one another (axis 0) or side by side (1); CSR if one of them is sparse."""
    if len(tables) == 1:
        return tables[0]
    if any(map(sp.issparse, tables)):
        join = sp.hstack if axis else sp.vstack
        return sp.csr_array(join([sp.csr_array(table) for table in tables], format="csr"))
    return np.concatenate(tables, axis=axis)


def codes_of_ids(ids: NDArray[Any]) -> Vector:
    """Whole numbers from 1 below 2^53, equal for equal ids in any table, process or file.

    They are digests, so that two different ids share one with a chance of 1 in 10^16.
    """
    values = ids.tolist()
    known = {value: _digest(value) for value in set(values)}
    return np.array([known[value] for value in values], dtype=np.float64)


@lru_cache(maxsize=65_536, typed=True)
def _digest(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    kind = "number" if isinstance(value, int | float) else "text"
    digest = hashlib.blake2b(
        f"{kind} {value}".encode("utf-8", "surrogatepass"), digest_size=8
    ).digest()
    return 1 + (int.from_bytes(digest, "little") >> 12)


@dataclass(frozen=True)
class DistinctRows:
    """``table[representative]`` holds each distinct row once; ``[inverse]`` restores all."""

    representative: Places  # (n_distinct,)
    inverse: Places  # (n_rows,)

    @property
    def are_all_in_order(self) -> bool:
        """Whether the rows are known to be distinct and in ascending order."""
        return self.representative is self.inverse


def distinct_rows(table: Features, codes: Vector | None = None) -> DistinctRows:
    """Find the distinct rows of a dense or CSR table and order them by content.

    With ``codes`` rows are distinct where their codes are.
    Rows are sorted by a 64-bit fingerprint of their nonzero entries; should two different rows
    share a fingerprint, an exact lexicographic sort takes over.
    """
    if codes is not None:
        column = codes[:, np.newaxis]
        table = joined([table, column], 1) if table.shape[1] else column
    if table.shape[1] == 1:  # a column is in order by itself, but for the signs of zeros
        return _distinct_values(as_dense(table)[:, 0] + 0.0)
    found = _distinct_values(_fingerprints(table))
    if len(found.representative) == table.shape[0]:
        return found
    different: Any = table != table[found.representative[found.inverse]]
    if different.nnz if sp.issparse(table) else different.any():
        _, representative, inverse = np.unique(
            as_dense(table) + 0.0, axis=0, return_index=True, return_inverse=True
        )
        return DistinctRows(representative.astype(np.intp), inverse.reshape(-1).astype(np.intp))
    return found


def _distinct_values(values: NDArray[Any]) -> DistinctRows:
    """The same for numbers: the first of each, in ascending order."""
    if (values[1:] > values[:-1]).all():
        in_order = np.arange(len(values))
        return DistinctRows(in_order, in_order)
    order = values.argsort()
    ascending = values[order]
    is_new = np.ones(len(values), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    inverse = np.empty(len(values), dtype=np.intp)
    inverse[order] = is_new.cumsum() - 1
    if is_new.all():
        return DistinctRows(order, inverse)
    return DistinctRows(np.minimum.reduceat(order, np.flatnonzero(is_new)), inverse)


def _fingerprints(table: Any) -> NDArray[np.uint64]:
    from pairity.pairs._fingerprint_loops import fingerprint_rows, fingerprint_sparse_rows

    found = np.empty(table.shape[0], dtype=np.uint64)
    if sp.issparse(table):
        fingerprint_sparse_rows(table.indptr, table.indices, _bits(table.data), found)
    else:
        fingerprint_rows(_bits(table), found)
    return found


def _bits(values: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
