"""Kernels that are inner products of few explicit features, read off their expansion.

Every symbol of a monomial stands for features on either side: an object kernel for those of object
a or b (c or d), a kernel of group features for those of the pair as it is written or swapped.  With
*words* u of one letter per symbol and ``T_u`` the products of the features that they name,

    K(ab, cd) = sum over symbols, words u and v of M_uv <T_u(ab), T_v(cd)>,

and with ``M = C C'`` the columns ``sum_u C_uk T_u`` are explicit features of the kernel.  For the
antisymmetric linear kernel the words are a and b, M is ``[[1, -1], [-1, 1]] / 2``, and the features
are ``(x_a - x_b) / sqrt(2)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Factor, Monomial, expand
from pairity.pairs.arrays import Matrix

#: Symbols of a monomial, and monomials of a kernel, beyond which features are not few.
_MOST_SYMBOLS, _MOST_MONOMIALS = 4, 64
#: Weights this small beside the largest are rounding.
_NEGLIGIBLE = 1e-12
#: Multiples of the permutation of two equal symbols, and of the swap, that tell apart eigenvectors
#: of equal weight: any numbers would do.
_EXCHANGED, _SWAPPED = 0.318, 0.173

Word: TypeAlias = tuple[int, ...]
Symbol: TypeAlias = Kernel | Factor


@dataclass(frozen=True, eq=False)
class Block:
    """The monomials of the same symbols: ``sum_uv weights_uv <T_u(left), T_v(right)>``."""

    symbols: tuple[Symbol, ...]  # object kernels, then factors
    words: tuple[Word, ...]
    weights: Matrix  # (n_words, n_words)

    @cached_property
    def n_objects(self) -> int:
        """How many of the symbols are object kernels."""
        return sum(isinstance(symbol, Kernel) for symbol in self.symbols)

    @cached_property
    def is_folded(self) -> bool:
        """Whether columns come in equal pairs: those of two equal symbols."""
        return len(self.symbols) == 2 and self.symbols[0] == self.symbols[1]

    @cached_property
    def names_pairs(self) -> bool:
        """Whether it has an indicator column for each two objects that meet: Product(Identity())."""
        symbol = self.symbols[0] if self.is_folded else None
        return isinstance(symbol, Kernel) and symbol.tells_apart

    @cached_property
    def is_direct(self) -> bool:
        """Whether sums over pairs are taken object by object, or for each two that meet."""
        return self.n_objects <= 1 or self.names_pairs

    def exchange_sign(self, column: Matrix) -> float:
        """What exchanging two equal symbols does to features ``sum_u column_u T_u``: +1 or -1."""
        exchanged = [self.words.index(word[::-1]) for word in self.words]
        return 1.0 if float(column @ column[exchanged]) > 0.0 else -1.0

    @cached_property
    def columns(self) -> Matrix | None:
        """C with ``C C' = weights``, shape (n_words, rank); None where weights are indefinite."""
        size = float(np.abs(self.weights).max(initial=0.0))
        if not np.allclose(self.weights, self.weights.T, rtol=0.0, atol=_NEGLIGIBLE * size):
            return None
        vectors = np.linalg.eigh(self._told_apart(size))[1]
        values = np.einsum("uk,uv,vk->k", vectors, self.weights, vectors)
        columns = vectors * np.sqrt(np.maximum(values, 0.0))
        columns = columns[:, values > _NEGLIGIBLE * size]
        columns[np.abs(columns) < 1e-3 * _NEGLIGIBLE**0.5 * np.sqrt(size)] = 0.0
        error = np.abs(columns @ columns.T - self.weights).max(initial=0.0)
        return columns if error <= 10.0 * _NEGLIGIBLE * size else None

    def _told_apart(self, size: float) -> Matrix:
        """The weights with others that commute: features of one parity, columns that fold."""
        told = self.weights / size
        swapped = self._permuted(lambda word: tuple(1 - letter for letter in word))
        if swapped is not None and np.array_equal(swapped @ told, told @ swapped):
            told = told + _SWAPPED * swapped
        if self.is_folded:
            exchanged = self._permuted(lambda word: word[::-1])
            told = told if exchanged is None else told + _EXCHANGED * exchanged
        return told

    def _permuted(self, change: Any) -> Matrix | None:
        """The permutation of the words by a change of each; None if one leads out of them."""
        changed = [change(word) for word in self.words]
        if set(changed) != set(self.words):
            return None
        return np.eye(len(self.words))[[self.words.index(word) for word in changed]]


@lru_cache(maxsize=256)
def feature_form(kernel: Kernel, n_symmetric: int, n_antisymmetric: int) -> tuple[Block, ...]:
    """Blocks of a kernel whose symbols may have explicit features; none where some cannot."""
    return form_of(expand(kernel, n_symmetric, n_antisymmetric).terms)


def form_of(terms: Mapping[Monomial, float]) -> tuple[Block, ...]:
    """Blocks of a sum of monomials; none where some symbols cannot have explicit features."""
    if len(terms) > _MOST_MONOMIALS:
        return ()
    sums: dict[tuple[Symbol, ...], dict[tuple[Word, Word], float]] = {}
    for monomial, weight in terms.items():
        letters = _letters(monomial)
        if letters is None:
            return ()
        symbols = tuple(symbol for symbol, _, _ in letters)
        entries = sums.setdefault(symbols, {})
        orders = [order for order in permutations(range(len(letters))) if _same(symbols, order)]
        for order in orders:
            words = tuple(letters[at][1] for at in order), tuple(letters[at][2] for at in order)
            entries[words] = entries.get(words, 0.0) + weight / len(orders)
    blocks = tuple(_block(symbols, entries) for symbols, entries in sums.items())
    return () if any(block.columns is None for block in blocks) else blocks


def _letters(monomial: Monomial) -> list[tuple[Symbol, int, int]] | None:
    """Symbols of a monomial in one order, each with its letters on the left and on the right."""
    letters: list[tuple[Symbol, int, int]] = [
        (kernel, edge // 2, edge % 2)
        for edge, kernels in enumerate(monomial.edges)
        for kernel in kernels
    ]
    for factor in monomial.factors:
        if factor.role == "known":
            return None
        plain = replace(factor, left_swapped=False, right_swapped=False)
        letters.append((plain, int(factor.left_swapped), int(factor.right_swapped)))
    if len(letters) > _MOST_SYMBOLS:
        return None
    return sorted(letters, key=lambda one: (isinstance(one[0], Factor), repr(one[0])))


def _same(symbols: tuple[Symbol, ...], order: tuple[int, ...]) -> bool:
    """Whether an order exchanges equal symbols alone."""
    return all(at == place or symbols[at] == symbols[place] for place, at in enumerate(order))


def _block(symbols: tuple[Symbol, ...], entries: dict[tuple[Word, Word], float]) -> Block:
    words = sorted({word for both in entries for word in both})
    weights = np.zeros((len(words), len(words)))
    for (left, right), weight in entries.items():
        weights[words.index(left), words.index(right)] += weight
    return Block(symbols, tuple(words), weights)
