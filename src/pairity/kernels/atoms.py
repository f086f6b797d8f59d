"""Atoms: the things a formula of a pair kernel is written with.

Between the pairs (a, b) and (c, d) these are an object kernel on each of the four edges ac,
ad, bc, bd; a kernel of the symmetric group features; one of the antisymmetric group features;
a kernel of whole rows X_ab; and a kernel that knows the pairs themselves.  A formula does not
know whether its atoms are matrices (all left pairs with all right pairs), vectors (pair by pair)
or symbols (:mod:`pairity.kernels.expansion`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.features import NamedObjects
from pairity.kernels.scaling import Scaling, derived_table
from pairity.pairs.arrays import Features, Matrix, as_dense, batches
from pairity.pairs.data import Pairs

#: Entries of a Gram matrix that the plain evaluation holds at a time, for each temporary.
_BLOCK_ENTRIES = 500_000


@dataclass(frozen=True)
class Edges:
    """One object kernel on the four edges between (a, b) and (c, d)."""

    ac: Any
    ad: Any
    bc: Any
    bd: Any


class Atoms(Protocol):
    """What a formula may ask for."""

    @property
    def n_symmetric(self) -> int:
        """Number of symmetric group features."""

    @property
    def n_antisymmetric(self) -> int:
        """Number of antisymmetric group features."""

    def objects(self, kernel: Kernel) -> Edges:
        """Return ``kernel`` between the objects on each edge."""

    def symmetric(self, kernel: Kernel) -> Any:
        """Return ``k2(x_ab, x_cd)``."""

    def antisymmetric(self, kernel: Kernel) -> Any:
        """Return ``k3(x~_ab, x~_cd)``."""

    def derived(
        self, kernel: Kernel, parts: tuple[str, ...], scaling: Scaling | None = None
    ) -> Any:
        """Return a kernel of features derived from those of the two objects."""

    def rows(self, kernel: Kernel) -> Any:
        """Return ``k(X_ab, X_cd)`` on whole rows of formula (1)."""

    def known(self, kernel: Kernel) -> Any:
        """Return ``K(ab, cd)`` of a kernel that knows its pairs."""

    def swap_left(self) -> Atoms:
        """Atoms between (b, a) and (c, d)."""

    def swap_right(self) -> Atoms:
        """Atoms between (a, b) and (d, c)."""


class ObjectGrams:
    """Gram matrices between two object tables, each computed once."""

    def __init__(self, left: Pairs, right: Pairs) -> None:
        self.left, self.right = left.objects, right.objects
        self._sides = [NamedObjects(side.objects, side.id_codes) for side in (left, right)]
        self._known: dict[tuple[Any, ...], Matrix] = {}

    def __getitem__(self, kernel: Kernel) -> Matrix:
        token = kernel.token
        if token not in self._known:
            self._known[token] = kernel.on_objects(*self._sides)
        return self._known[token]


@dataclass(frozen=True)
class _NumericAtoms:
    """Atoms as numbers: what both forms below have in common."""

    left: Pairs
    right: Pairs

    def _compare(self, kernel: Kernel, left: Features, right: Features) -> Matrix:
        raise NotImplementedError

    @property
    def n_symmetric(self) -> int:
        return self.left.n_symmetric

    @property
    def n_antisymmetric(self) -> int:
        return self.left.n_antisymmetric

    def symmetric(self, kernel: Kernel) -> Matrix:
        return self._compare(kernel, self.left.symmetric, self.right.symmetric)

    def antisymmetric(self, kernel: Kernel) -> Matrix:
        return self._compare(kernel, self.left.antisymmetric, self.right.antisymmetric)

    def derived(
        self, kernel: Kernel, parts: tuple[str, ...], scaling: Scaling | None = None
    ) -> Matrix:
        sides = (derived_table(side, parts, scaling) for side in (self.left, self.right))
        return self._compare(kernel, *sides)

    def rows(self, kernel: Kernel) -> Matrix:
        return self._compare(kernel, as_dense(self.left.to_rows()), as_dense(self.right.to_rows()))

    def swap_left(self) -> Self:
        return replace(self, left=self.left.swap())

    def swap_right(self) -> Self:
        return replace(self, right=self.right.swap())


@dataclass(frozen=True)
class BlockAtoms(_NumericAtoms):
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
        rows_a, rows_b = gram[self.left.first], gram[self.left.second]
        c, d = self.right.first, self.right.second
        return Edges(
            rows_a.take(c, axis=1),
            rows_a.take(d, axis=1),
            rows_b.take(c, axis=1),
            rows_b.take(d, axis=1),
        )


@dataclass(frozen=True)
class PairedAtoms(_NumericAtoms):
    """Atoms as vectors: left pair i with right pair i."""

    def _compare(self, kernel: Kernel, left: Features, right: Features) -> Matrix:
        return kernel.paired(left, right)

    def known(self, kernel: Kernel) -> Matrix:
        """Values that the kernel has for these pairs, pair by pair."""
        return kernel.paired_on_pairs(self.left, self.right)

    def objects(self, kernel: Kernel) -> Edges:
        """Kernel values computed from the features of the ends."""
        edges = product(_ends(self.left), _ends(self.right))
        return Edges(*(kernel.paired_objects(x, z) for x, z in edges))


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


@dataclass(frozen=True)
class WrappedAtoms:
    """Base of atoms that change kernels of objects or of group features; the rest is passed on."""

    inner: Atoms

    #: The kernel that wraps others so, and what to do where it cannot wrap a kernel of whole rows.
    wrapper: ClassVar[str]
    instead: ClassVar[str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def rows(self, kernel: Kernel) -> Any:
        """Refuse: objects cannot be told apart there."""
        raise KernelError(
            f"got {self.wrapper} around {kernel!r}, a kernel of whole rows; expected one made of object"
            f" kernels: {self.instead}."
        )

    def known(self, kernel: Kernel) -> Any:
        """Refuse: there are no features to change."""
        raise KernelError(
            f"got {self.wrapper} around {kernel!r}, which knows its pairs; expected a kernel of"
            f" features: leave {self.wrapper} out."
        )

    def swap_left(self) -> Self:
        """Left pair mirrored."""
        return replace(self, inner=self.inner.swap_left())

    def swap_right(self) -> Self:
        """Right pair mirrored."""
        return replace(self, inner=self.inner.swap_right())
