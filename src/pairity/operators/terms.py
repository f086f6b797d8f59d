"""An expansion compiled to arrays: Gram matrices of objects, weights, edges, group features.

A monomial ``(object kernels) * <x_ab, x_cd> * <x~_ab, x~_cd>`` acts on coefficients v as
``sum_h phi_h o [object kernels](phi_h o v)``, with phi the products of columns (MATH, section 1:
"K_TL * k3, k3 linear", "polynomial with group").  Other kernels of group features, Gaussian ones
say, have few features up to rounding (:mod:`pairity.operators.group_features`); where they have not,
they are evaluated entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import mul
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Expansion, Factor, Monomial, expand
from pairity.kernels.elementary import ObjectGrams
from pairity.operators._operator_loops import (
    dot_rows,
    gather_crossed_rows,
    gather_metric_rows,
    gather_products,
    gather_rows,
)
from pairity.operators.group_features import (
    BEYOND_FEATURES,
    Factors,
    explicit_features,
    factor_values,
    features_to_rounding,
    in_pairs,
    swap_sign,
)
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.resources import megabytes_of, run_in_ranges

#: Expansions longer than this are evaluated by the formula instead.
_MOST_TERMS = 64
#: Matrices between objects that a product makes beside the Gram matrices.
_IN_PRODUCTS = 4
#: Kernel entries that one range of work covers: small enough to balance, large enough to pay.
_ENTRIES_PER_RANGE = 500_000


Terms: TypeAlias = dict[Monomial, float]
Rows: TypeAlias = Places | slice


@dataclass(frozen=True)
class TermTable:
    """Monomials as arrays: ``edge_gram[t, e]`` is a row of ``grams``, or -1 for no kernel."""

    grams: Matrix  # (n_grams, m_left, m_right)
    weights: Vector  # (n_terms,)
    edge_gram: NDArray[np.int64]  # (n_terms, 4)
    factors: tuple[tuple[Matrix, Matrix] | None, ...] = ()
    """``grams[g] = factors[g][0] @ factors[g][1].T`` where the rank is known to be low."""

    @property
    def by_edges(self) -> dict[tuple[int, ...], float]:
        """Weights by rows of ``edge_gram``."""
        return dict(zip(map(tuple, self.edge_gram.tolist()), self.weights.tolist(), strict=True))

    def narrowed(self) -> TermTable:
        """The same in single precision."""
        factors: Any = [
            None if pair is None else tuple(side.astype(np.float32) for side in pair)
            for pair in self.factors
        ]
        grams: Any = self.grams.astype(np.float32)
        return replace(self, grams=grams, factors=tuple(factors))


@dataclass(frozen=True)
class TermGroup:
    """Monomials that share their group features: ``sum_h left[:, h] right[:, h] * table``.

    ``left`` and ``right`` are None where there are no group features, or where a kernel of them
    is no sum of few products; ``opaque`` then holds the factors to evaluate entry by entry.
    """

    table: TermTable
    left: Matrix | None = None
    right: Matrix | None = None
    mirrored: Callable[[], Matrix] | None = None
    """Features of the swapped left pairs: odd powers of x~ change sign."""
    crossed: Matrix | None = None
    """Features of the swapped right pairs, whose terms are added as well."""
    opaque: Factors = ()
    n_rough: int | None = None
    """How many of the features are enough for single precision; None for all."""

    def narrowed(self) -> TermGroup:
        """The same in single precision, with as many features as that is worth."""

        def narrow(table: Matrix | None) -> Any:
            if table is None:
                return None
            return np.ascontiguousarray(table[:, : self.n_rough], dtype=np.float32)

        # one table for both sides where they are the same
        left = narrow(self.left)
        right = left if self.right is self.left else narrow(self.right)
        crossed = narrow(self.crossed)
        table = self.table.narrowed()
        return replace(self, table=table, left=left, right=right, crossed=crossed)

    @cached_property
    def in_pairs(self) -> tuple[Matrix, Matrix] | None:
        """Features by fewer columns, where both sides are the same pairs in both orders."""
        if self.left is None or self.crossed is None or self.right is not self.left:
            return None
        return in_pairs(self.left, self.crossed)

    @property
    def n_columns(self) -> int:
        """Number of products that one product with the group takes."""
        return 1 if self.left is None else self.left.shape[1]

    def features_of(self, n_sides: int) -> list[Matrix] | None:
        """Features of the left pairs, and with two sides of the swapped ones as well."""
        if self.left is None or self.mirrored is None:
            return None
        return [self.left] if n_sides == 1 else [self.left, self.mirrored()]

    def values(self, weights: Vector, used: Places, column: int) -> Vector:
        """Coefficients of the right pairs for a column, followed by those of swapped right pairs."""
        if self.right is None:
            return weights
        values = weights * self.right[used, column]
        if self.crossed is None:
            return values
        return np.concatenate([values, weights * self.crossed[used, column]])

    @property
    def megabytes(self) -> float:
        """What its features take."""
        tables = (self.left, self.right, self.crossed)
        return sum(table.nbytes for table in tables if table is not None) / 1e6


def compile_groups(
    expansion: Expansion, grams: ObjectGrams, left: Pairs, right: Pairs
) -> list[TermGroup] | None:
    """Return an expansion as groups of terms; None for kernels of whole rows or known pairs."""
    if not expansion.terms or len(expansion.terms) > _MOST_TERMS:
        return None
    if any(factor.role in BEYOND_FEATURES for term in expansion.terms for factor in term.factors):
        return None
    by_factors: dict[Factors, Terms] = {}
    for monomial, weight in expansion.terms.items():
        terms = by_factors.setdefault(tuple(map(_swapped_on_the_right, monomial.factors)), {})
        edges = Monomial(monomial.edges)
        terms[edges] = terms.get(edges, 0.0) + weight
    groups = []
    while by_factors:
        factors = next(iter(by_factors))
        terms = by_factors.pop(factors)
        groups += _compile_group(factors, terms, by_factors, grams, left, right)
    return groups


def _compile_group(
    factors: Factors,
    terms: Terms,
    others: dict[Factors, Terms],
    grams: ObjectGrams,
    left: Pairs,
    right: Pairs,
) -> list[TermGroup]:
    """The group of some factors; one of ``others`` that is its mirror image goes with it."""
    table = _compile(terms, grams)
    if not factors:
        return [TermGroup(table)]
    rows = explicit_features(factors, left)
    columns = rows if right is left else explicit_features(factors, right)
    if rows is not None and columns is not None:
        return [TermGroup(table, rows, columns, lambda: swap_sign(factors) * rows)]
    features = features_to_rounding(factors, left, right)
    if features is None:
        return [TermGroup(table, opaque=factors)]
    mirror = tuple(_on_swapped_right(factor) for factor in factors)
    ratio = _ratio(others.get(mirror, {}), terms)
    if mirror == factors or ratio is None:
        crossed = None
    else:
        del others[mirror]
        crossed = ratio * features.mirrored_right()
    sides = features.left, features.right, features.mirrored_left
    return [TermGroup(table, *sides, crossed, n_rough=features.n_rough)]


def _swapped_on_the_right(factor: Factor) -> Factor:
    """``k(-x, z) = k(x, -z)`` where k does not change with both signs."""
    movable = factor.role == "antisymmetric" and factor.kernel.reflection_invariant
    if not (movable and factor.left_swapped):
        return factor
    return replace(factor, left_swapped=False, right_swapped=not factor.right_swapped)


def _on_swapped_right(factor: Factor) -> Factor:
    """The factor of the swapped right pair; symmetric features and times do not know the order."""
    if factor.role in ("symmetric", "time"):
        return factor
    return replace(factor, right_swapped=not factor.right_swapped)


def _ratio(others: Terms, terms: Terms) -> float | None:
    """By what ``others``, written for swapped right pairs, are a multiple of ``terms``, if they are."""
    mirrored = {
        Monomial((edges[1], edges[0], edges[3], edges[2])): weight
        for edges, weight in ((monomial.edges, weight) for monomial, weight in others.items())
    }
    if mirrored.keys() != terms.keys():
        return None
    ratios = {mirrored[monomial] / weight for monomial, weight in terms.items()}
    return ratios.pop() if len(ratios) == 1 else None


def gram_megabytes(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> float:
    """Megabytes that products through the object Gram matrices of a kernel take."""
    right = left if right is None else right
    copies = _n_grams(expand(kernel, left.n_symmetric, left.n_antisymmetric))
    return megabytes_of(left.n_objects, right.n_objects, copies=copies)


@lru_cache(maxsize=256)
def _n_grams(expansion: Expansion) -> int:
    """Matrices between objects that are held at a time."""
    groups: dict[object, set[tuple[Kernel, ...]]] = {}
    for monomial in expansion.terms:
        groups.setdefault(monomial.factors, set()).update(filter(None, monomial.edges))
    known = {kernel for edges in groups.values() for kernels in edges for kernel in kernels}
    stacked = sum(len(edges) for edges in groups.values() if len(edges) > 1)
    return len(known) + stacked + _IN_PRODUCTS if known else 0


def _compile(terms: Terms, grams: ObjectGrams) -> TermTable:
    monomials = sorted(terms, key=_tensors_first)
    number: dict[tuple[Kernel, ...], int] = {}
    edge_gram = np.full((len(monomials), 4), -1, dtype=np.int64)
    for term, monomial in enumerate(monomials):
        for edge, kernels in enumerate(monomial.edges):
            if kernels:
                edge_gram[term, edge] = number.setdefault(kernels, len(number))
    matrices = [reduce(mul, (grams[kernel] for kernel in kernels)) for kernels in number]
    if len(matrices) == 1:  # without a copy
        stack = np.ascontiguousarray(matrices[0])[np.newaxis]
    else:
        shape = len(matrices), grams.left.shape[0], grams.right.shape[0]
        stack = np.stack(matrices) if matrices else np.zeros(shape)
    return TermTable(
        stack,
        np.array([terms[monomial] for monomial in monomials]),
        edge_gram,
        tuple(_low_rank_factor(kernels, grams) for kernels in number),
    )


def _tensors_first(monomial: Monomial) -> tuple[object, ...]:
    """Order of monomials: ``ac bd`` and ``ad bc`` of the same kernels side by side, then others."""
    present = tuple(map(bool, monomial.edges))
    tensor = present in ((True, False, False, True), (False, True, True, False))
    kernels = str(next((edge for edge in monomial.edges if edge), "")) if tensor else ""
    return not tensor, kernels, tuple(not edge for edge in present)


def _low_rank_factor(
    kernels: tuple[Kernel, ...], grams: ObjectGrams
) -> tuple[Matrix, Matrix] | None:
    """Explicit features of a kernel that has at most a quarter as many as there are objects."""
    if len(kernels) != 1:
        return None
    kernel = kernels[0]
    smaller = min(grams.left.shape[0], grams.right.shape[0])
    sample = kernel.explicit(grams.left[:1])  # how many there are
    if sample is None or sp.issparse(sample) or 4 * sample.shape[1] > smaller:
        return None
    left = np.asarray(kernel.explicit(grams.left))
    same = grams.right is grams.left
    return left, left if same else np.asarray(kernel.explicit(grams.right))


# Kernel entries gathered from object Gram matrices, on both cores -------------------------------


def rows_per_range(n_columns: int) -> int:
    """Rows of that many columns that one range of work covers."""
    return max(1, _ENTRIES_PER_RANGE // max(1, n_columns))


def _gather(loop: Any, out: NDArray[Any], left: Pairs, right: Pairs, *tables: NDArray[Any]) -> None:
    """Run a loop over all left pairs, a range of them at a time on each core."""

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        ends = left.first[part], left.second[part], right.first, right.second
        loop(out[part], *ends, *tables)

    run_in_ranges(fill, len(left), rows_per_range(len(right)))


def gathered_block(terms: TermTable, left: Pairs, right: Pairs, out: NDArray[Any]) -> None:
    """Matrix of the terms between pairs, entry by entry, into ``out``."""
    _gather(gather_rows, out, left, right, terms.grams, terms.weights, terms.edge_gram)


def metric_block(gram: Matrix, left: Pairs, right: Pairs, out: NDArray[Any]) -> None:
    """Matrix of the metric-learning kernel of an object kernel, into ``out``."""
    _gather(gather_metric_rows, out, left, right, gram)


def crossed_block(
    group: TermGroup, left: Pairs, right: Pairs, rows: Places, columns: Rows, out: NDArray[Any]
) -> None:
    """Entries of a group and of its mirror image on swapped right pairs, into ``out``."""
    features = [
        table[index].astype(out.dtype)
        for table, index in ((group.left, rows), (group.right, columns), (group.crossed, columns))
        if table is not None
    ]
    table, lefts, rights = group.table, features[0], features[1:]

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        factors = [lefts[part] @ side.T for side in rights]
        if table.edge_gram.tolist() == [[0, -1, -1, 0]]:  # one term, ``ac bd`` of one Gram matrix
            ends = left.first[part], left.second[part], right.first, right.second
            gather_crossed_rows(out[part], *factors, *ends, table.grams[0], table.weights[0])
            return
        gathered_block(table, left[part], right, out[part])
        out[part] *= factors[0]
        mirrored = np.empty_like(out[part])
        gathered_block(table, left[part], right.swap(), mirrored)
        out[part] += mirrored * factors[1]

    run_in_ranges(fill, len(left), rows_per_range(len(right)))


def gathered_product(terms: TermTable, left: Pairs, right: Pairs, weights: Vector) -> Vector:
    """``sum_j terms(left_i, right_j) weights_j``, row by row."""
    out = np.zeros(len(left))
    tables = terms.grams, terms.weights, terms.edge_gram, weights
    _gather(gather_products, out, left, right, *tables)
    return out


def multiply_by_factors(factors: Factors, left: Pairs, right: Pairs, block: Matrix) -> None:
    """``block *= factors(left, right)``, a range of rows at a time."""

    def multiply(start: int, stop: int) -> None:
        block[start:stop] *= factor_values(factors, left[start:stop], right)

    run_in_ranges(multiply, len(left), rows_per_range(len(right)))


def add_opaque_product(
    group: TermGroup, left: Pairs, right: Pairs, weights: Vector, total: Vector
) -> None:
    """``total += (table o factors) weights``, never holding more than a range of rows."""

    def add(start: int, stop: int) -> None:
        part = left[start:stop]
        block = np.empty((len(part), len(right)))
        gathered_block(group.table, part, right, block)
        block *= factor_values(group.opaque, part, right)
        values = np.empty(len(part))
        dot_rows(values, block, weights)
        total[start:stop] += values

    run_in_ranges(add, len(left), rows_per_range(len(right)))
