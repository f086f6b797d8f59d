"""Atoms: the things a formula of a pair kernel is written with, as numbers and as symbols.

Between the pairs (a, b) and (c, d) these are an object kernel on each of the four edges ac,
ad, bc, bd; a kernel of the symmetric group features; one of the antisymmetric group features;
a kernel of whole rows X_ab; and a kernel that knows the pairs themselves.  A formula does not
know whether its atoms are matrices (all left pairs with all right pairs), vectors (pair by pair)
or symbols.

Of symbols it becomes an :class:`Expansion`, a sum of monomials ``weight * (object kernels on edges)
* (kernels of group features)``.  The class of a kernel is read off by comparing expansions under
swaps, and fast rows and products are compiled from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.kernels.elementary import ObjectGrams, derived_table, whole_power
from pairity.pairs.arrays import Features, Matrix, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.pairs.derived import common_parity
from pairity.pairs.parity import Parity

if TYPE_CHECKING:
    from pairity.kernels.standardized import Scaling, WrappedAtoms

#: What a formula may be given.
Atoms: TypeAlias = "BlockAtoms | PairedAtoms | SymbolicAtoms | WrappedAtoms"
Parts: TypeAlias = tuple[str, ...]  # names of derived features
#: Entries of a Gram matrix that the plain evaluation holds at a time, for each temporary.
_BLOCK_ENTRIES = 500_000
#: What is left of a sum of weights, relative to their sizes, when it counts as cancelled.
_NEGLIGIBLE = 1e-12
#: Symbols written while a formula is multiplied out: a fraction of a second of work.
_MOST_SYMBOLS = 150_000
_PER_SUM = 10  # what a sum counts besides its symbols


class Edges:
    """One object kernel on the four edges between (a, b) and (c, d), each made when asked for."""

    def __init__(self, values: Callable[[int, int], Any]) -> None:
        self.on = values  # of an end of the left pair and one of the right pair

    ac = cached_property(lambda self: self.on(0, 0))
    ad = cached_property(lambda self: self.on(0, 1))
    bc = cached_property(lambda self: self.on(1, 0))
    bd = cached_property(lambda self: self.on(1, 1))


@dataclass(frozen=True)
class NumericAtoms:
    """Atoms as numbers: all that a formula may ask for, but what the two forms below do differently.

    Those are ``objects(kernel)``, an object kernel on each edge, and ``known(kernel)``, values
    ``K(ab, cd)`` of a kernel that knows its pairs.
    """

    left: Pairs
    right: Pairs

    def _compare(self, kernel: Kernel, left: Features, right: Features) -> Matrix:
        raise NotImplementedError

    @property
    def n_symmetric(self) -> int:
        """Number of symmetric group features."""
        return self.left.n_symmetric

    @property
    def n_antisymmetric(self) -> int:
        """Number of antisymmetric group features."""
        return self.left.n_antisymmetric

    def symmetric(self, kernel: Kernel) -> Matrix:
        """``k2(x_ab, x_cd)``."""
        return self._compare(kernel, self.left.symmetric, self.right.symmetric)

    def antisymmetric(self, kernel: Kernel) -> Matrix:
        """``k3(x~_ab, x~_cd)``."""
        return self._compare(kernel, self.left.antisymmetric, self.right.antisymmetric)

    def time(self, kernel: Kernel) -> Matrix:
        """``k(t, u)`` of the times of the two pairs."""
        return self._compare(kernel, self.left.clock, self.right.clock)

    def derived(self, kernel: Kernel, parts: Parts, scaling: Scaling | None = None) -> Matrix:
        """A kernel of features derived from those of the two objects."""
        sides = (derived_table(side, parts, scaling) for side in (self.left, self.right))
        return self._compare(kernel, *sides)

    def rows(self, kernel: Kernel) -> Matrix:
        """``k(X_ab, X_cd)`` on whole rows of formula (1)."""
        return self._compare(kernel, as_dense(self.left.to_rows()), as_dense(self.right.to_rows()))

    def swap_left(self) -> Self:
        """Atoms between (b, a) and (c, d)."""
        return replace(self, left=self.left.swap())

    def swap_right(self) -> Self:
        """Atoms between (a, b) and (d, c)."""
        return replace(self, right=self.right.swap())


@dataclass(frozen=True)
class BlockAtoms(NumericAtoms):
    """Atoms as matrices: every left pair with every right pair."""

    grams: ObjectGrams

    def _compare(self, kernel: Kernel, left: Features, right: Features) -> Matrix:
        return kernel.on_features(left, right)

    def known(self, kernel: Kernel) -> Matrix:
        """Values that the kernel has for these pairs."""
        return kernel.on_pairs(self.left, self.right)

    def objects(self, kernel: Kernel) -> Edges:
        """Entries of the object Gram matrix, gathered for the four edges."""
        gram = self.grams[kernel]
        ends, columns = (self.left.first, self.left.second), (self.right.first, self.right.second)
        rows = cache(lambda left: gram[ends[left]])
        return Edges(lambda left, right: rows(left).take(columns[right], axis=1))


@dataclass(frozen=True)
class PairedAtoms(NumericAtoms):
    """Atoms as vectors: left pair i with right pair i."""

    def _compare(self, kernel: Kernel, left: Features, right: Features) -> Matrix:
        return kernel.paired(left, right)

    def known(self, kernel: Kernel) -> Matrix:
        """Values that the kernel has for these pairs, pair by pair."""
        return kernel.paired_on_pairs(self.left, self.right)

    def objects(self, kernel: Kernel) -> Edges:
        """Kernel values computed from the features of the ends."""
        rows, columns = self._sides
        return Edges(lambda left, right: kernel.paired_objects(rows[left], columns[right]))

    @cached_property
    def _sides(self) -> tuple[list[NamedObjects], list[NamedObjects]]:
        """The ends of the left and of the right pairs."""
        rows = _ends(self.left)
        return rows, rows if self.right is self.left else _ends(self.right)

    def swap_left(self) -> Self:
        """Atoms between (b, a) and (c, d): the ends are known already."""
        swapped = super().swap_left()
        rows, columns = self._sides
        swapped.__dict__["_sides"] = rows[::-1], columns
        return swapped


def _ends(pairs: Pairs) -> list[NamedObjects]:
    """The two objects of each pair."""
    codes, ends = pairs.id_codes, (pairs.first, pairs.second)
    return [NamedObjects(pairs.objects[end], None if codes is None else codes[end]) for end in ends]


def dense_gram(
    kernel: Kernel, left: Pairs, right: Pairs, grams: ObjectGrams | None = None
) -> Matrix:
    """Gram matrix by the formula, a block of rows at a time."""
    grams = ObjectGrams(left, right) if grams is None else grams
    gram = np.empty((len(left), len(right)))
    for part in batches(len(left), _BLOCK_ENTRIES // max(1, len(right))):
        gram[part] = kernel.formula(BlockAtoms(left[part], right, grams))
    return gram


# Symbols ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Factor:
    """A kernel of group features or whole rows, with the swaps applied to its arguments."""

    role: str  # "symmetric", "antisymmetric", "time", "derived", "rows" or "known"
    kernel: Kernel
    left_swapped: bool = False
    right_swapped: bool = False
    parts: Parts = ()
    scaling: Scaling | None = None  # of what they are derived from

    @property
    def is_odd(self) -> bool:
        """Whether the features compared change sign under a swap."""
        if self.role == "derived":
            return common_parity(self.parts) is Parity.ODD
        return self.role == "antisymmetric"


@dataclass(frozen=True)
class Monomial:
    """A product of object kernels on the edges ac, ad, bc, bd and of group factors."""

    edges: tuple[tuple[Kernel, ...], ...] = ((), (), (), ())
    factors: tuple[Factor, ...] = ()

    def __mul__(self, other: Monomial) -> Monomial:
        edges = tuple(map(_merged, self.edges, other.edges))
        return Monomial(edges, _merged(self.factors, other.factors))

    def __len__(self) -> int:
        return sum(map(len, self.edges)) + len(self.factors)

    @cached_property
    def _hash(self) -> int:
        symbols: list[Any] = [*self.factors, *(kernel for edge in self.edges for kernel in edge)]
        known = {place: hash(symbol) for place, symbol in _by_identity(symbols).items()}
        return hash((*map(len, self.edges), *(known[id(symbol)] for symbol in symbols)))

    def __hash__(self) -> int:
        return self._hash


Symbol = TypeVar("Symbol", Kernel, Factor)


def _merged(mine: tuple[Symbol, ...], yours: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Symbols of a product, in an order that does not depend on that of its factors."""
    if not mine or not yours:
        return mine or yours
    both = mine + yours
    shown = {place: repr(symbol) for place, symbol in _by_identity(both).items()}
    return tuple(sorted(both, key=lambda symbol: shown[id(symbol)]))


def _by_identity(symbols: Iterable[Any]) -> dict[int, Any]:
    """Each object once: what is slow to name or to hash is mostly the same few."""
    return {id(symbol): symbol for symbol in symbols}


class Expansion:
    """A weighted sum of monomials, with the arithmetic that formulas use.

    ``work`` counts the symbols written to get it: those that grow beyond all bounds are refused.
    """

    def __init__(self, terms: dict[Monomial, float], work: int = 0) -> None:
        self.terms = {monomial: weight for monomial, weight in terms.items() if weight != 0.0}
        self.work = work

    def __add__(self, other: Expansion) -> Expansion:
        work = _allowed(self.work + other.work + len(other.terms) + _PER_SUM)
        return _collect(chain(self.terms.items(), other.terms.items()), work)

    def __sub__(self, other: Expansion) -> Expansion:
        return self + other * -1.0

    def __mul__(self, other: Expansion | float) -> Expansion:
        if not isinstance(other, Expansion):
            return Expansion({m: w * float(other) for m, w in self.terms.items()}, self.work)
        symbols = len(self.terms) * other.n_symbols + len(other.terms) * self.n_symbols
        work = _allowed(self.work + other.work + symbols)
        both = product(self.terms.items(), other.terms.items())
        return _collect(((m * n, weight * other) for (m, weight), (n, other) in both), work)

    def __pow__(self, exponent: int) -> Expansion:
        return whole_power(self, exponent)

    @property
    def n_symbols(self) -> int:
        """Symbols in all monomials."""
        return sum(map(len, self.terms))

    @property
    def vanishes(self) -> bool:
        """Whether nothing is left."""
        return not self.terms

    def equals(self, other: Expansion) -> bool:
        """Whether the two are the same sum, up to rounding of the weights."""
        return (self - other).vanishes


def _allowed(work: int) -> int:
    if work > _MOST_SYMBOLS:
        raise KernelError(
            "got a kernel whose formula has too many products when it is multiplied out; expected a"
            " lower degree, or fewer sums that are multiplied with one another."
        )
    return work


def _collect(parts: Iterable[tuple[Monomial, float]], work: int) -> Expansion:
    """Weights added monomial by monomial; one that cancels, up to rounding, is gone.

    Weights of *other* monomials say nothing about its share of the kernel: features decide.
    """
    sums: dict[Monomial, tuple[float, float]] = {}
    for monomial, weight in parts:
        total, magnitude = sums.get(monomial, (0.0, 0.0))
        sums[monomial] = total + weight, magnitude + abs(weight)
    kept = {m: total for m, (total, size) in sums.items() if abs(total) > _NEGLIGIBLE * size}
    return Expansion(kept, work)


@dataclass(frozen=True)
class SymbolicAtoms:
    """Atoms as symbols; what users gave as group features counts as present."""

    n_symmetric: int
    n_antisymmetric: int
    left_swapped: bool = False
    right_swapped: bool = False

    def objects(self, kernel: Kernel) -> Edges:
        """Monomials of one edge each, renamed by the swaps: ac <-> bc, ad <-> bd; ac <-> ad, ..."""
        same = _one_of_equals(kernel)

        def alone(left: int, right: int) -> Expansion:
            edge = 2 * (left ^ self.left_swapped) + (right ^ self.right_swapped)
            return Expansion({Monomial(tuple((same,) if e == edge else () for e in range(4))): 1.0})

        return Edges(alone)

    def symmetric(self, kernel: Kernel) -> Expansion:
        """A factor that no swap changes."""
        return _alone(Factor("symmetric", kernel))

    def time(self, kernel: Kernel) -> Expansion:
        """A factor that no swap changes."""
        return _alone(Factor("time", kernel))

    def antisymmetric(self, kernel: Kernel) -> Expansion:
        """A factor whose swaps reduce to a sign, or to one flag, where the kernel's form allows."""
        return self._odd(Factor("antisymmetric", kernel))

    def _odd(self, factor: Factor) -> Expansion:
        kernel, left, right = factor.kernel, self.left_swapped, self.right_swapped
        sign = 1.0
        if kernel.reflection_invariant:
            left, right = left != right, False
        if kernel.reflection is not None and kernel.reflection_invariant:
            sign = kernel.reflection.sign if left else 1.0
            left = False
        return _alone(replace(factor, left_swapped=left, right_swapped=right), sign)

    def derived(self, kernel: Kernel, parts: Parts, scaling: Scaling | None = None) -> Expansion:
        """A factor of features that stay under a swap, or change sign."""
        factor = Factor("derived", kernel, parts=parts, scaling=scaling)
        return self._odd(factor) if factor.is_odd else _alone(factor)

    def rows(self, kernel: Kernel) -> Expansion:
        """A factor of whole rows: nothing is known of its behaviour under swaps."""
        return _alone(Factor("rows", kernel, self.left_swapped, self.right_swapped))

    def known(self, kernel: Kernel) -> Expansion:
        """A factor whose swaps reduce to the sign that the kernel says."""
        swapped = self.left_swapped != self.right_swapped
        sign = kernel.swap_parity.sign if kernel.swap_parity is not None and swapped else 1.0
        return _alone(Factor("known", kernel), sign)

    def swap_left(self) -> SymbolicAtoms:
        """Left pair mirrored."""
        return replace(self, left_swapped=not self.left_swapped)

    def swap_right(self) -> SymbolicAtoms:
        """Right pair mirrored."""
        return replace(self, right_swapped=not self.right_swapped)


def _alone(factor: Factor, weight: float = 1.0) -> Expansion:
    return Expansion({Monomial(factors=(_one_of_equals(factor),)): weight})


@lru_cache(maxsize=256)
def _one_of_equals(symbol: Any) -> Any:
    """One object for equal symbols: what is the same object need not be compared."""
    return symbol


# Kernels compare by their structure, so that what was derived once serves equal kernels again.
@lru_cache(maxsize=256)
def expand(
    kernel: Kernel,
    n_symmetric: int = 1,
    n_antisymmetric: int = 1,
    left_swapped: bool = False,
    right_swapped: bool = False,
) -> Expansion:
    """Expansion of a kernel's formula for pairs with that many group features."""
    atoms = SymbolicAtoms(n_symmetric, n_antisymmetric, left_swapped, right_swapped)
    expansion: Expansion = kernel.formula(atoms)
    return expansion
