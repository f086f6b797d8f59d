"""Explicit features of pairs: rows Z with ``K = Z Z'``, dense or CSR.

Rows are for solvers that work on parameters; products of the kernel with coefficients go by words
(:mod:`pairity.operators.word_products`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.operators._feature_loops import (
    combine_ends,
    copy_dense_rows,
    copy_sparse_rows,
)
from pairity.operators.group_features import group_table
from pairity.operators.meetings import Meetings, meetings_of
from pairity.operators.words import Block, Symbol, Word, feature_form
from pairity.pairs.arrays import Features, Places, Vector, as_dense
from pairity.pairs.data import Pairs
from pairity.runtime.resources import megabytes_of

#: Columns of dense features, and of sparse ones, at most; entries of a sparse row.
_MOST_DENSE, _MOST_SPARSE, _MOST_ENTRIES = 2000, 200_000, 500
#: Features for each pair up to which parameters are fewer unknowns than dual variables: dense ones,
#: and sparse ones, whose passes are as short as their rows.
_DENSE_PER_PAIR, _SPARSE_PER_PAIR = 0.5, 2.0


@dataclass(frozen=True, eq=False)
class Tables:
    """Features of the symbols of a kernel for one list of pairs."""

    pairs: Pairs
    objects: dict[Kernel, Features]
    met: dict[Symbol, Meetings]  # of kernels that name pairs

    def ends(self, letter: int) -> Places:
        """Row numbers of the objects that a letter names."""
        return self.pairs.second if letter else self.pairs.first

    def of(self, symbol: Symbol, letter: int, rows: slice) -> Any:
        """Features of a symbol, shape (n, width)."""
        if isinstance(symbol, Kernel):
            return self.objects[symbol][self.ends(letter)[rows]]
        pairs = self.pairs if rows == slice(None) else self.pairs[rows]
        return _group_features(symbol, pairs.swap() if letter else pairs)

    def two(self, word: Word) -> tuple[Places, Places]:
        """Row numbers of the two objects that a word names."""
        first, second = map(self.ends, word)
        return first, second

    def sample(self, symbol: Symbol) -> Any:
        """Some features of a symbol: of all objects, or of one pair; None without any."""
        if isinstance(symbol, Kernel):
            return self.objects[symbol]
        return self.of(symbol, 0, slice(0, 1))

    def is_unknown(self, block: Block) -> bool:
        """Whether a symbol of a block has no explicit features."""
        return any(self.sample(symbol) is None for symbol in block.symbols)

    def products(self, symbols: tuple[Symbol, ...], word: Word, rows: slice = slice(None)) -> Any:
        """``T_u``: products of the features that a word names; None for no symbols."""
        total: Any = None
        for symbol, letter in zip(symbols, word, strict=True):
            features = self.of(symbol, letter, rows)
            total = features if total is None else _multiplied(total, features)
        return total


def _group_features(symbol: Any, pairs: Pairs) -> Any:
    """Explicit features of a kernel of group features, or of whole rows; None without any."""
    whole = symbol.role == "rows"
    table = as_dense(pairs.to_rows()) if whole else group_table(symbol, pairs)
    explicit = symbol.kernel.explicit(table)
    return None if explicit is None else as_dense(explicit)


def _multiplied(left: Any, right: Any) -> Any:
    """All products of a left and a right column, row by row."""
    if not sp.issparse(left):
        products = np.einsum("ni,nj->nij", left, right)
        return products.reshape(len(left), left.shape[1] * right.shape[1])
    columns = range(right.shape[1])
    return beside_one_another([sp.csr_array(left.multiply(right[:, [at]])) for at in columns])


def object_kernels(form: tuple[Block, ...]) -> set[Kernel]:
    """Kernels of objects in a form."""
    kernels: Any = {symbol for block in form for symbol in block.symbols[: block.n_objects]}
    return kernels


def tables_of(form: tuple[Block, ...], sides: tuple[Pairs, ...]) -> list[Tables] | None:
    """Features of the objects of all sides in one space; None where a kernel has no few."""
    named = [NamedObjects(side.objects, side.id_codes) for side in sides]
    found = [Tables(side, {}, {}) for side in sides]
    for kernel in object_kernels(form):
        tables = kernel.explicit_together(named)
        if tables is None:
            return None
        for side, table in zip(found, tables, strict=True):
            side.objects[kernel] = table
    for block in form:
        if block.names_pairs:
            symbol: Any = block.symbols[0]
            ends = [[side.two(word) for word in block.words] for side in found]
            met = meetings_of([side.objects[symbol] for side in found], ends)
            for side, of_side in zip(found, met, strict=True):
                side.met[symbol] = of_side
    return found


# How many there are -----------------------------------------------------------------------------


def explicit_form(kernel: Kernel, pairs: Pairs) -> tuple[Block, ...]:
    """Blocks of a kernel that has few features of such pairs, judged by one of them; else none."""
    if not len(pairs):
        return ()
    objects, ids = pairs.objects, pairs.ids is not None
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    key = kernel, *widths, sp.issparse(objects), ids
    form = _forms.get(key)
    if form is None:
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        form = _forms[key] = _judged(kernel, pairs[:1].without_unused_objects())
    return form


#: Forms that were derived before: kernels compare by their structure.
_forms: dict[tuple[Any, ...], tuple[Block, ...]] = {}
_MOST_FORMS = 256


def _judged(kernel: Kernel, one: Pairs) -> tuple[Block, ...]:
    form = feature_form(kernel, one.n_symmetric, one.n_antisymmetric)
    tables = tables_of(form, (one,)) if form else None
    if tables is None:
        return ()
    dense = 0
    for block in form:
        if tables[0].is_unknown(block):
            return ()
        widths = [tables[0].sample(symbol) for symbol in block.symbols]
        sparse = [at for at, features in enumerate(widths) if sp.issparse(features)]
        if (len(sparse) > 1 or (sparse and block.n_objects > 1)) and not block.names_pairs:
            return ()
        dense += 0 if sparse else _n_columns(block, [one.shape[1] for one in widths])
    return form if dense <= _MOST_DENSE else ()


def _n_columns(block: Block, widths: list[int]) -> int:
    """Columns of the explicit features of a block."""
    columns: Any = block.columns
    total = 0
    for column in columns.T:
        if block.is_folded:
            total += widths[0] * (widths[0] + int(block.exchange_sign(column))) // 2
        else:
            total += int(np.prod(widths))
    return total


# Rows -------------------------------------------------------------------------------------------


class ExplicitFeatures:
    """Rows Z with ``K = Z Z'`` for a list of pairs, made when they are asked for."""

    def __init__(self, form: tuple[Block, ...], tables: Tables) -> None:
        self._form, self._tables = form, tables
        self.n_rows, self.n_columns, self.is_sparse, self.n_entries = (
            len(tables.pairs),
            0,
            False,
            0.0,
        )
        for block in form:
            self._count(block)
        if not self.is_sparse:
            self.n_entries = float(self.n_columns)

    def _count(self, block: Block) -> None:
        if block.names_pairs:
            met, columns = self._tables.met[block.symbols[0]], np.asarray(block.columns).T
            self.n_columns += sum(met.width(block.exchange_sign(column)) for column in columns)
            self.n_entries, self.is_sparse = self.n_entries + len(columns), True
            return
        features = [self._tables.sample(symbol) for symbol in block.symbols]
        width = _n_columns(block, [each.shape[1] for each in features])
        self.n_columns += width
        n_entries = width
        for table in filter(sp.issparse, features):
            self.is_sparse = True
            filled = 2.0 * table.nnz / max(1, table.shape[0])
            n_entries = round(filled * n_entries / table.shape[1])
        self.n_entries += n_entries

    @property
    def are_few(self) -> bool:
        """Whether they are few enough to work with."""
        if self.is_sparse:
            return self.n_columns <= _MOST_SPARSE and self.n_entries <= _MOST_ENTRIES
        return self.n_columns <= _MOST_DENSE

    @property
    def are_fewer_than_pairs(self) -> bool:
        """Whether parameters are easier unknowns than dual variables."""
        share = _SPARSE_PER_PAIR if self.is_sparse else _DENSE_PER_PAIR
        return self.n_columns <= share * self.n_rows

    @property
    def megabytes(self) -> float:
        """What the rows take."""
        return megabytes_of(self.n_rows, self.n_entries, copies=1.5 if self.is_sparse else 1.0)

    @cached_property
    def rows(self) -> NDArray[np.float64] | sp.csr_array:
        """Z, shape (n, r); CSR where features of objects are sparse."""
        parts = [
            _combined(block, column, self._tables)
            for block in self._form
            for column in np.asarray(block.columns).T
        ]
        return beside_one_another(parts)


class SomeFeatures(ExplicitFeatures):
    """Those of some of the pairs."""

    def __init__(self, features: ExplicitFeatures, chosen: Places) -> None:
        self.__dict__.update(features.__dict__)
        self.__dict__.pop("rows", None)
        self._whole, self._chosen, self.n_rows = features, chosen, len(chosen)

    @cached_property
    def rows(self) -> NDArray[np.float64] | sp.csr_array:
        """Rows of the whole that were chosen."""
        return self._whole.rows[self._chosen]


def _combined(block: Block, column: Vector, tables: Tables) -> Any:
    """``sum_u column_u T_u``, equal columns folded into one."""
    if not block.symbols:
        return np.full((len(tables.pairs), 1), column[0])
    symbol = block.symbols[0]
    if len(block.symbols) == 1 and isinstance(symbol, Kernel):
        weights = dict(zip(block.words, column, strict=True))
        ends = np.array([weights.get((letter,), 0.0) for letter in (0, 1)])
        table = tables.objects[symbol]
        return _ends_combined(table, tables.pairs, ends, are_names=symbol.tells_apart)
    used = [(weight, word) for weight, word in zip(column, block.words, strict=True) if weight]
    if block.names_pairs:
        met, named = tables.met[symbol], [(weight, *tables.two(word)) for weight, word in used]
        return met.rows(named, block.exchange_sign(column), len(tables.pairs))
    total: Any = None
    for weight, word in used:
        part = tables.products(block.symbols, word) * weight
        total = part if total is None else total + part
    return _folded(total, block.exchange_sign(column)) if block.is_folded else total


def _ends_combined(table: Any, pairs: Pairs, weights: Vector, *, are_names: bool) -> Any:
    """``weights[0] table[first] + weights[1] table[second]``; of names a row has a single 1."""
    if not sp.issparse(table):
        return weights[0] * table[pairs.first] + weights[1] * table[pairs.second]
    if are_names and weights.all():
        return _names_combined(table, pairs, weights)
    counts, ends = np.diff(table.indptr), (pairs.first, pairs.second)
    used = [end for end, weight in zip(ends, weights, strict=True) if weight]
    n_entries = sum(int(counts[end].sum()) for end in used)
    pointers = np.zeros(len(pairs) + 1, dtype=_pointer_type(n_entries))
    indices, data = np.empty(n_entries, dtype=pointers.dtype), np.empty(n_entries)
    inputs = table.indptr, table.indices, table.data.astype(np.float64, copy=False)
    combine_ends(pairs.first, pairs.second, weights, *inputs, pointers, indices, data)
    return sp.csr_array((data, indices, pointers), shape=(len(pairs), table.shape[1]))


def _names_combined(table: Any, pairs: Pairs, weights: Vector) -> sp.csr_array:
    """The same of indicators: two entries a row."""
    n_pairs = len(pairs)
    kind = _pointer_type(2 * n_pairs)
    indices, data = np.empty((n_pairs, 2), dtype=kind), np.empty((n_pairs, 2))
    indices[:, 0], indices[:, 1] = table.indices[pairs.first], table.indices[pairs.second]
    data[:] = weights
    pointers = np.arange(0, 2 * n_pairs + 1, 2, dtype=kind)
    parts = data.ravel(), indices.ravel(), pointers
    return sp.csr_array(parts, shape=(n_pairs, table.shape[1]))


def _pointer_type(n_entries: int) -> type[np.signedinteger]:
    """Type of the numbers of CSR, one for all of them: SciPy would copy them otherwise."""
    return np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64


def _folded(features: Any, sign: float) -> Any:
    """Columns (i, j) with i <= j (i < j for the sign -1), those of i < j for both orders."""
    width = round(features.shape[1] ** 0.5)
    rows, columns = np.triu_indices(width, 0 if sign > 0 else 1)
    folded = features[:, rows * width + columns]
    folded[:, rows < columns] *= np.sqrt(2.0)
    return folded


def beside_one_another(parts: list[Any]) -> Any:
    """Tables side by side; CSR if one of them is."""
    if len(parts) == 1:
        return parts[0]
    if not any(map(sp.issparse, parts)):
        return np.hstack(parts)
    n_rows = parts[0].shape[0]
    entries = sum(
        np.diff(part.indptr) if sp.issparse(part) else np.full(n_rows, part.shape[1])
        for part in parts
    )
    ends = np.cumsum(entries)
    pointers = np.zeros(n_rows + 1, dtype=_pointer_type(int(ends[-1]) if n_rows else 0))
    pointers[1:] = ends
    indices, data = np.empty(pointers[-1], dtype=pointers.dtype), np.empty(pointers[-1])
    places, offset = pointers[:-1].copy(), 0
    for part in parts:
        if sp.issparse(part):
            inputs = part.indptr, part.indices, part.data
            copy_sparse_rows(places, *inputs, offset, indices, data)
        else:
            copy_dense_rows(places, np.ascontiguousarray(part), offset, indices, data)
        offset += part.shape[1]
    return sp.csr_array((data, indices, pointers), shape=(n_rows, offset))
