"""An expansion compiled to arrays: Gram matrices of objects, weights, edges, group features.

A monomial ``(object kernels) * <x_ab, x_cd> * <x~_ab, x~_cd>`` acts on coefficients v as
``sum_h phi_h o [object kernels](phi_h o v)``, with phi the products of columns (MATH, section 1:
"K_TL * k3, k3 linear", "polynomial with group").  Kernels of group features that are no inner
products of few features are evaluated entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import ObjectGrams
from pairity.kernels.expansion import Expansion, Factor, Monomial, expand
from pairity.kernels.scaling import derived_table
from pairity.operators._operator_loops import dot_rows, gather_products, gather_rows
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.memory import megabytes_of
from pairity.runtime.threads import run_in_ranges
from pairity.runtime.validation import as_dense

#: More columns than this are not worth a product each.
_MOST_COLUMNS = 64
#: Expansions longer than this are evaluated by the formula instead.
_MOST_TERMS = 64
#: Matrices between objects that a product makes beside the Gram matrices.
_IN_PRODUCTS = 4
#: Factors that stand for a whole kernel of pairs.
_BEYOND = ("rows", "known")
#: Kernel entries that one range of work covers: small enough to balance, large enough to pay.
_ENTRIES_PER_RANGE = 500_000


def explicit_features(factors: tuple[Factor, ...], pairs: Pairs) -> Matrix | None:
    """Columns phi, shape (n, h), whose inner products are the product of the factors; or None."""
    features = np.ones((len(pairs), 1))
    for factor in factors:
        power = _power(factor)
        if power is None:
            return None
        table = as_dense(factor.kernel.compared(factor_table(factor, pairs)))
        if features.shape[1] * table.shape[1] ** power > _MOST_COLUMNS:
            return None
        for _ in range(power):
            columns = features.shape[1] * table.shape[1]
            products = np.einsum("ni,nj->nij", features, table)
            features = products.reshape(len(pairs), columns)
    return np.ascontiguousarray(features)


def swap_sign(factors: tuple[Factor, ...]) -> float:
    """Sign by which the features of a swapped pair differ: -1.0 for an odd power of x~."""
    odd = sum(_power(factor) or 0 for factor in factors if factor.is_odd) % 2
    return -1.0 if odd else 1.0


def factor_values(factors: tuple[Factor, ...], left: Pairs, right: Pairs) -> Matrix:
    """Product of the factors between all left and right pairs."""
    product = np.ones((len(left), len(right)))
    for factor in factors:
        rows = factor_table(factor, left.swap() if factor.left_swapped else left)
        columns = factor_table(factor, right.swap() if factor.right_swapped else right)
        product *= factor.kernel.on_features(rows, columns)
    return product


def factor_table(factor: Factor, pairs: Pairs) -> Matrix:
    """The features that a factor compares."""
    if factor.role == "derived":
        return derived_table(pairs, factor.parts, factor.scaling)
    return pairs.symmetric if factor.role == "symmetric" else pairs.antisymmetric


def _power(factor: Factor) -> int | None:
    """Degree of a homogeneous polynomial factor; None for anything else."""
    other = factor.role in _BEYOND or factor.left_swapped or factor.right_swapped
    return None if other else factor.kernel.power


@dataclass(frozen=True)
class TermTable:
    """Monomials as arrays: ``edge_gram[t, e]`` is a row of ``grams``, or -1 for no kernel."""

    grams: Matrix  # (n_grams, m_left, m_right)
    weights: Vector  # (n_terms,)
    edge_gram: NDArray[np.int64]  # (n_terms, 4)
    factors: tuple[tuple[Matrix, Matrix] | None, ...] = ()
    """``grams[g] = factors[g][0] @ factors[g][1].T`` where the rank is known to be low."""


@dataclass(frozen=True)
class TermGroup:
    """Monomials that share their group features: ``sum_h left[:, h] right[:, h] * table``.

    ``left`` and ``right`` are None where there are no group features, or where a kernel of them
    is no sum of few products; ``opaque`` then holds the factors to evaluate entry by entry.
    """

    table: TermTable
    left: Matrix | None = None
    right: Matrix | None = None
    swap_sign: float = 1.0
    """What a swap of the left pair does to its features: odd powers of x~ change sign."""
    opaque: tuple[Factor, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of products that one product with the group takes."""
        return 1 if self.left is None else self.left.shape[1]


def compile_groups(
    expansion: Expansion, grams: ObjectGrams, left: Pairs, right: Pairs
) -> list[TermGroup] | None:
    """Return an expansion as groups of terms; None for kernels of whole rows or known pairs."""
    if not expansion.terms or len(expansion.terms) > _MOST_TERMS:
        return None
    if any(factor.role in _BEYOND for term in expansion.terms for factor in term.factors):
        return None
    by_factors: dict[tuple[Factor, ...], dict[Monomial, float]] = {}
    for monomial, weight in expansion.terms.items():
        by_factors.setdefault(monomial.factors, {})[Monomial(monomial.edges)] = weight
    return [
        _compile_group(factors, _compile(terms, grams), left, right)
        for factors, terms in by_factors.items()
    ]


def _compile_group(
    factors: tuple[Factor, ...], table: TermTable, left: Pairs, right: Pairs
) -> TermGroup:
    if not factors:
        return TermGroup(table)
    rows = explicit_features(factors, left)
    columns = rows if right is left else explicit_features(factors, right)
    if rows is None or columns is None:
        return TermGroup(table, opaque=factors)
    return TermGroup(table, rows, columns, swap_sign(factors))


def gram_megabytes(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> float:
    """Megabytes that products through the object Gram matrices of a kernel take."""
    right = left if right is None else right
    groups: dict[object, set[tuple[Kernel, ...]]] = {}
    for monomial in expand(kernel, left.n_symmetric, left.n_antisymmetric).terms:
        groups.setdefault(monomial.factors, set()).update(filter(None, monomial.edges))
    known = {kernel for edges in groups.values() for kernels in edges for kernel in kernels}
    if not known:
        return 0.0
    stacked = sum(len(edges) for edges in groups.values() if len(edges) > 1)
    copies = len(known) + stacked + _IN_PRODUCTS
    return megabytes_of(left.n_objects, right.n_objects, copies=copies)


def _compile(terms: dict[Monomial, float], grams: ObjectGrams) -> TermTable:
    monomials = sorted(terms, key=lambda monomial: tuple(map(bool, monomial.edges)), reverse=True)
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


def _low_rank_factor(
    kernels: tuple[Kernel, ...], grams: ObjectGrams
) -> tuple[Matrix, Matrix] | None:
    """Explicit features of a kernel that has fewer of them than half the objects."""
    if len(kernels) != 1:
        return None
    kernel = kernels[0]
    smaller = min(grams.left.shape[0], grams.right.shape[0])
    sample = kernel.explicit(grams.left[:1])  # how many there are
    if sample is None or sp.issparse(sample) or 2 * sample.shape[1] > smaller:
        return None
    left = np.asarray(kernel.explicit(grams.left))
    same = grams.right is grams.left
    return left, left if same else np.asarray(kernel.explicit(grams.right))


# Kernel entries gathered from object Gram matrices, on both cores -------------------------------


def rows_per_range(n_columns: int) -> int:
    """Rows of that many columns that one range of work covers."""
    return max(1, _ENTRIES_PER_RANGE // max(1, n_columns))


def gathered_block(terms: TermTable, left: Pairs, right: Pairs, out: Matrix) -> None:
    """Matrix of the terms between pairs, entry by entry, into ``out``."""
    columns = right.first, right.second, terms.grams, terms.weights, terms.edge_gram

    def fill(start: int, stop: int) -> None:
        gather_rows(out[start:stop], left.first[start:stop], left.second[start:stop], *columns)

    run_in_ranges(fill, len(left), rows_per_range(len(right)))


def gathered_product(terms: TermTable, left: Pairs, right: Pairs, weights: Vector) -> Vector:
    """``sum_j terms(left_i, right_j) weights_j``, row by row."""
    out = np.zeros(len(left))
    columns = right.first, right.second, terms.grams, terms.weights, terms.edge_gram, weights

    def multiply(start: int, stop: int) -> None:
        rows = left.first[start:stop], left.second[start:stop]
        gather_products(out[start:stop], np.empty(len(right)), *rows, *columns)

    run_in_ranges(multiply, len(left), rows_per_range(len(right)))
    return out


def multiply_by_factors(
    factors: tuple[Factor, ...], left: Pairs, right: Pairs, block: Matrix
) -> None:
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
