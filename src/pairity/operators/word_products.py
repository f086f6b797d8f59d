"""Products of kernels with coefficients, by words (:mod:`pairity.operators.words`).

Sums over pairs are taken object by object where a word names one object, and for each two that meet
where it names two by indicators: O(n + m r) in the place of O(n r), and in any precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.operators._feature_loops import (
    add_precisely,
    add_products_precisely,
    add_rows,
    add_rows_precisely,
)
from pairity.operators.explicit_rows import Tables
from pairity.operators.group_features import group_table
from pairity.operators.words import Block, Word
from pairity.pairs.arrays import Places, Vector, batches, sums_at

#: Entries of products of features that are made at a time.
_ENTRIES_AT_A_TIME = 2_000_000
#: Pairs whose features, a few thousand at most, are made at once without counting them.
_FEW_PAIRS = 1000


def reduce_words(block: Block, tables: Tables, vector: Any) -> NDArray[Any]:
    """``T_u' vector`` for all words u, shape (n_words, width), in the precision of the vector."""
    objects = _Objects.of(block, tables)
    return np.array([_reduce(block, word, tables, objects, vector) for word in block.words])


def expand_words(block: Block, tables: Tables, sums: NDArray[Any]) -> NDArray[Any]:
    """``sum_u T_u sums_u``, shape (n,)."""
    objects, total = _Objects.of(block, tables), np.zeros(len(tables.pairs), dtype=sums.dtype)
    for word, of_word in zip(block.words, sums, strict=True):
        total += _expand(block, word, tables, objects, of_word)
    return total


def _reduce(
    block: Block, word: Word, tables: Tables, objects: _Objects | None, vector: Any
) -> NDArray[Any]:
    if not block.symbols:
        return vector.sum(keepdims=True)
    if block.names_pairs:
        met = tables.met[block.symbols[0]]
        return _sums(met.places(*tables.two(word)), vector, len(met.occurring))
    if objects is None:
        parts = _parts(block, tables)
        products = (tables.products(block.symbols, word, part).T @ vector[part] for part in parts)
        return np.asarray(sum(products))
    ends = tables.ends(word[0])
    if len(block.symbols) == 1:
        return objects.gathered(ends, vector)
    group = tables.products(block.symbols[1:], word[1:])
    return np.concatenate([objects.gathered(ends, vector * column) for column in group.T])


def _expand(
    block: Block, word: Word, tables: Tables, objects: _Objects | None, sums: NDArray[Any]
) -> NDArray[Any]:
    if not block.symbols:
        return np.full(len(tables.pairs), sums[0])
    if block.names_pairs:
        return np.asarray(sums[tables.met[block.symbols[0]].places(*tables.two(word))])
    if objects is None:
        parts = _parts(block, tables)
        values = [np.asarray(tables.products(block.symbols, word, part) @ sums) for part in parts]
        return np.concatenate(values) if len(values) > 1 else values[0]
    ends = tables.ends(word[0])
    if len(block.symbols) == 1:
        return objects.at(ends, sums)
    group = tables.products(block.symbols[1:], word[1:])
    values = [objects.at(ends, each) for each in np.split(sums, group.shape[1])]
    return np.asarray(sum(column * value for column, value in zip(group.T, values, strict=True)))


@dataclass(frozen=True, eq=False)
class _Objects:
    """Features of the objects of a block; of names indicators, a single 1 in each row."""

    table: Any
    are_names: bool

    @classmethod
    def of(cls, block: Block, tables: Tables) -> _Objects | None:
        """Those of a block whose words name one object each; None for any other."""
        if block.n_objects != 1:
            return None
        symbol: Any = block.symbols[0]
        return cls(tables.objects[symbol], symbol.tells_apart)

    def at(self, ends: Places, sums: NDArray[Any]) -> NDArray[Any]:
        """``table sums`` at some objects; in extended precision, which BLAS lacks, of these alone."""
        if self.are_names:
            return np.asarray(sums[self.table.indices[ends]])
        alone = sums.dtype == np.longdouble and len(ends) < self.table.shape[0]
        if alone and not sp.issparse(self.table):
            return np.asarray(self.table[ends] @ sums)
        return np.asarray(self.table @ sums)[ends]

    def gathered(self, ends: Places, amounts: NDArray[Any]) -> NDArray[Any]:
        """``sum_i amounts_i table[ends_i]``, in the precision of the amounts or of the table."""
        if self.are_names:
            return _sums(self.table.indices[ends], amounts, self.table.shape[1])
        return self.summed(_sums(ends, amounts, self.table.shape[0]))

    def gathered_precisely(self, ends: Places, column: Vector | None, amounts: Vector) -> Any:
        """``sum_i column_i amounts_i table[ends_i]`` in extended precision; ones without a column."""
        table = self.table
        if column is None and not sp.issparse(table) and table.dtype == np.float64:
            return _precise_rows(ends, table, amounts)
        if self.are_names:
            return _precise_sums(table.indices[ends], column, amounts, table.shape[1])
        return self.summed(_precise_sums(ends, column, amounts, table.shape[0]))

    def summed(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """``table' amounts``, in the precision of the amounts or of the table."""
        table = self.table
        if not sp.issparse(table):
            return np.asarray(table.T @ amounts)
        if amounts.dtype != np.float64:
            rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
            return _sums(table.indices, table.data * amounts[rows], table.shape[1])
        total = np.zeros(table.shape[1])
        add_rows(table.indptr, table.indices, table.data, amounts, 0, table.shape[0], total)
        return total


def reduce_words_precisely(
    block: Block, tables: Tables, vector: Vector
) -> NDArray[np.longdouble] | None:
    """``T_u' vector`` in extended precision; None where that takes lifted pairs.

    Features of objects are lifted, or exact as they are.  Group features that are columns as they
    were given need not be lifted: products of doubles are summed up in two doubles.
    """
    if len(block.symbols) - block.n_objects > 1 or not block.symbols or block.n_objects > 1:
        return None
    objects, words = _Objects.of(block, tables), []
    for word in block.words:
        columns = _columns_as_given(block, word, tables)
        if columns is None:
            return None
        if objects is None:
            alone = np.zeros(len(vector), dtype=np.intp)
            sums = [_precise_sums(alone, one, vector, 1) for one in columns]
        else:
            ends = tables.ends(word[0])
            sums = [objects.gathered_precisely(ends, one, vector) for one in columns]
        words.append(np.concatenate(sums))
    return np.array(words)


def _columns_as_given(block: Block, word: Word, tables: Tables) -> list[Any] | None:
    """Group features of a word, [None] without any; None where they are not those of the pairs."""
    if len(block.symbols) == block.n_objects:
        return [None]
    symbol: Any = block.symbols[-1]
    if symbol.role not in ("symmetric", "antisymmetric"):
        return None
    table = group_table(symbol, tables.pairs.swap() if word[-1] else tables.pairs)
    given = symbol.kernel.explicit(table) is table
    return [np.ascontiguousarray(column) for column in table.T] if given else None


def _precise_sums(places: Places, factors: Vector | None, amounts: Vector, size: int) -> Any:
    """Sums of the amounts, times their factors if there are any, at each place."""
    upper, lower = np.zeros(size), np.zeros(size)
    if factors is None:
        add_precisely(places, amounts, upper, lower)
    else:
        add_products_precisely(places, factors, amounts, upper, lower)
    return upper.astype(np.longdouble) + lower


def _precise_rows(rows: Places, table: Any, amounts: Vector) -> Any:
    upper, lower = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    add_rows_precisely(rows, table, amounts, upper, lower)
    return upper.astype(np.longdouble) + lower


def _parts(block: Block, tables: Tables) -> list[slice]:
    """Rows whose products of features are made at a time."""
    if len(tables.pairs) <= _FEW_PAIRS:
        return [slice(None)]
    widths = [tables.of(symbol, 0, slice(0, 1)).shape[1] for symbol in block.symbols]
    return list(batches(len(tables.pairs), int(_ENTRIES_AT_A_TIME // max(1, np.prod(widths)))))


def _sums(places: Places, amounts: NDArray[Any], size: int) -> NDArray[Any]:
    """Sums of the amounts at each place, in their own precision."""
    if amounts.dtype == np.float64:
        return sums_at(places, amounts, size)
    total = np.zeros(size, dtype=amounts.dtype)
    np.add.at(total, places, amounts)
    return total
