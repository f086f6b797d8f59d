"""Kernel matrices of sums of exponentials, inner products and names: entries anew, by tiles.

Nothing is held between objects, so that pairs of objects that appear once cost no more than others,
and neither do many group features.

A monomial of Gaussian kernels, of objects and of group features, is one exponential of a distance
between rows that hold all that it compares; monomials that have few explicit features
(:mod:`pairity.operators.words`) are together one inner product; kernels that tell objects apart
compare their numbers.  Terms that circumstances multiply, Gaussian kernels of what a swap leaves as
it is, are added up before they are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.kernels.atoms import Factor, Monomial, expand
from pairity.operators.explicit_rows import ExplicitFeatures, tables_of
from pairity.operators.group_features import group_table
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.pair_operator import PairOperator
from pairity.operators.spectral import GridStructure, SpectralGrid
from pairity.operators.tile_terms import (
    Exponential,
    InContext,
    InnerProduct,
    Multiplied,
    SameObjects,
    Term,
)
from pairity.operators.words import form_of
from pairity.pairs.arrays import Matrix, Vector, as_dense
from pairity.pairs.data import Pairs
from pairity.runtime.resources import one_blas_thread

#: Exponentials of an entry that take about as long as reading it from memory for the first time.
_FEW_EXPONENTIALS = 4
#: More exponentials, or explicit features, than these for an entry are better gathered.
_MOST_EXPONENTIALS, MOST_FEATURES = 12, 200


class Tiles(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held, so that a matrix in memory is worth it.
    is_costly = True
    #: Products with less than double precision are quicker.
    has_rough_products = True

    def __init__(
        self, kernel: Kernel, left: Pairs, terms: list[Term], right: Pairs | None = None
    ) -> None:
        super().__init__(kernel, left, right)
        self._terms = terms

    @property
    def entries_are_cheap(self) -> bool:  # type: ignore[override]
        """Whether few exponentials make an entry."""
        return sum(term.n_exponentials for term in self._terms) <= _FEW_EXPONENTIALS

    @cached_property
    def _through_objects(self) -> PairOperator:
        """The same kernel by Gram matrices of objects, for solvers that are asked to take them."""
        return PairOperator(self.kernel, self.left)

    @property
    def grid_structure(self) -> GridStructure | None:
        """The tensor form of the kernel, if it has one."""
        return self._through_objects.grid_structure if self.right is self.left else None

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """That form diagonalised."""
        return self._through_objects.spectral_grid if self.right is self.left else None

    @property
    def object_megabytes(self) -> float:
        """What the rows take."""
        return sum(term.megabytes for term in self._terms)

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The entries of some rows and columns, into ``out`` in its precision."""
        if out is None:
            left, right = (
                np.arange(n)[part] for n, part in zip(self.shape, (rows, columns), strict=True)
            )
            out = np.empty((len(left), len(right)))
        out[...] = 0.0
        with one_blas_thread():
            for term in self._terms:
                term.add_entries(out, rows, columns)
        return out

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector, in double precision."""
        return self._product(vector, np.float64)

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector: entries in single precision, added up in double."""
        return self._product(vector, np.float32)

    def _product(self, vector: Vector, dtype: Any) -> Vector:
        used, out = np.flatnonzero(vector), np.zeros(self.shape[0])
        weights = vector[used]
        with one_blas_thread():
            if self.right is not self.left or 2 * len(used) <= len(vector):
                for term in self._terms:
                    out += term.product(slice(None), used, weights, dtype)
                return out
            others = np.flatnonzero(vector == 0.0)
            for term in self._terms:
                out[used] += term.square_product(used, weights, dtype)
                out[others] += term.product(others, used, weights, dtype)
        return out


# The terms of a kernel ---------------------------------------------------------------------------

#: Factors of a monomial that multiply the rest of it.
_Context: TypeAlias = tuple[Factor, ...]


def tiles_of(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> Tiles | None:
    """The kernel between pairs by tiles; None where it is no sum for them."""
    terms = terms_of(kernel, left, left if right is None else right)
    return None if terms is None else Tiles(kernel, left, terms, right)


def terms_of(kernel: Kernel, left: Pairs, right: Pairs) -> list[Term] | None:
    """The kernel as few terms; None where it is no such sum, or takes no exponentials."""
    if sp.issparse(left.objects):
        return None
    made = _Making(left, right)
    gathered = _by_context(expand(kernel, left.n_symmetric, left.n_antisymmetric).terms, made)
    terms: list[Term] = []
    in_context: dict[_Context, list[Multiplied]] = {}
    for (context, base, ratio), monomials in gathered.items():
        found = made.terms(monomials)
        if found is None:
            return None
        if context:
            in_context.setdefault(context, []).append(Multiplied(found, base, ratio))
        else:
            terms += found
    terms += [InContext(made.context(factors), sums) for factors, sums in in_context.items()]
    return terms if 0 < made.n_exponentials <= _MOST_EXPONENTIALS else None


_Key: TypeAlias = tuple[_Context, float, float]


def _by_context(
    monomials: dict[Monomial, float], made: _Making
) -> dict[_Key, dict[Monomial, float]]:
    """Monomials by what multiplies them: context, base and ratio.

    A context is apart from the rest of a monomial where the rest has explicit features, or where
    it occurs without the context as well.
    """
    rests: dict[Monomial, dict[_Context, float]] = {}
    for monomial, weight in monomials.items():
        context, rest = made.split(monomial)
        rests.setdefault(rest, {})[context] = weight
    gathered: dict[_Key, dict[Monomial, float]] = {}

    def put(key: _Key, monomial: Monomial, weight: float) -> None:
        gathered.setdefault(key, {})[monomial] = weight

    for rest, weights in rests.items():
        plain = weights.pop((), None)
        if plain is not None and len(weights) == 1:
            ((context, weight),) = weights.items()
            # of terms of one family the same ratio, up to rounding
            put((context, 1.0, float(f"{weight / plain:.13e}")), rest, plain)
            continue
        if plain is not None:
            put(((), 0.0, 1.0), rest, plain)
        for context, weight in weights.items():
            if made.is_exponential(rest):
                whole = replace(rest, factors=rest.factors + context)
                put(((), 0.0, 1.0), whole, weight)
            else:
                put((context, 0.0, 1.0), rest, weight)
    return gathered


class _Making:
    """Makes terms between two lists of pairs, and counts exponentials."""

    def __init__(self, left: Pairs, right: Pairs) -> None:
        self.left, self.right, self.n_exponentials = left, right, 0
        self._one, self._judged = left[:1].without_unused_objects(), dict[Monomial, bool]()
        self._objects: dict[Kernel, tuple[Matrix, Matrix]] = {}

    def split(self, monomial: Monomial) -> tuple[_Context, Monomial]:
        """Gaussian factors that no swap changes, and the rest; nothing apart where all are such."""
        context = tuple(
            factor
            for factor in monomial.factors
            if factor.role in ("symmetric", "derived")
            and not (factor.is_odd or factor.left_swapped or factor.right_swapped)
            and factor.kernel.exponent(group_table(factor, self._one)) is not None
        )
        rest = tuple(factor for factor in monomial.factors if factor not in context)
        if not (rest or any(monomial.edges)):
            return (), monomial
        return context, replace(monomial, factors=rest)

    def is_exponential(self, monomial: Monomial) -> bool:
        """Whether it is one exponential of a distance, judged by one pair."""
        if monomial not in self._judged:
            one, kernels = self._one, {kernel for edge in monomial.edges for kernel in edge}
            self._judged[monomial] = bool(kernels or monomial.factors) and (
                all(kernel.exponent(one.objects) is not None for kernel in kernels)
                and all(_of_group(factor, one, one) is not None for factor in monomial.factors)
            )
        return self._judged[monomial]

    def context(self, factors: _Context) -> Exponential:
        """The exponential of a context, one for all sums that it multiplies."""
        return self._exponential(1.0, Monomial(factors=factors))

    def _exponential(self, weight: float, monomial: Monomial) -> Exponential:
        """A monomial from rows of left and right pairs that hold all that it compares."""
        left, right = self.left, self.right
        parts: list[tuple[Matrix, Matrix]] = []
        for edge, kernels in enumerate(monomial.edges):
            at_left = left.first if edge < 2 else left.second
            at_right = right.second if edge % 2 else right.first
            for one, two in map(self._of_objects, kernels):
                parts.append((one[at_left], two[at_right]))
        for factor in monomial.factors:
            tables: Any = _of_group(factor, left, right)
            parts.append(_centred(*tables))
        self.n_exponentials += 1
        return Exponential(weight, *(np.hstack(tables) for tables in zip(*parts, strict=True)))

    def _of_objects(self, kernel: Kernel) -> tuple[Matrix, Matrix]:
        """What a kernel compares of all objects of both sides."""
        if kernel not in self._objects:
            tables: Any = [kernel.exponent(side.objects) for side in (self.left, self.right)]
            self._objects[kernel] = _centred(*map(as_dense, tables))
        return self._objects[kernel]

    def terms(self, monomials: dict[Monomial, float]) -> list[Term] | None:
        """Terms of a sum of monomials; None where one of them is no such."""
        exponentials: list[Exponential] = []
        same: dict[Kernel, list[float]] = {}
        others: dict[Monomial, float] = {}
        for monomial, weight in monomials.items():
            kernel = self._telling(monomial)
            if kernel is not None:
                edge = next(at for at, kernels in enumerate(monomial.edges) if kernels)
                same.setdefault(kernel, [0.0] * 4)[edge] += weight
            elif not self.is_exponential(monomial):
                others[monomial] = weight
            elif self.n_exponentials == _MOST_EXPONENTIALS:
                return None
            else:
                exponentials.append(self._exponential(weight, monomial))
        names = [self._same_objects(kernel, weights) for kernel, weights in same.items()]
        rest = [_inner_product(others, self.left, self.right)] if others else []
        found = [*_paired(exponentials), *names, *rest]
        return None if None in found else [term for term in found if term is not None]

    def _telling(self, monomial: Monomial) -> Kernel | None:
        """The kernel of a monomial that has an indicator of one end, and nothing else."""
        kernels = [kernel for edge in monomial.edges for kernel in edge]
        if len(kernels) != 1 or monomial.factors:
            return None
        named = NamedObjects(self._one.objects, self._one.id_codes)
        tables = kernels[0].explicit_together([named])
        return kernels[0] if tables is not None and _are_indicators(tables) else None

    def _same_objects(self, kernel: Kernel, weights: list[float]) -> SameObjects | None:
        sides = self.left, self.right
        named = [NamedObjects(side.objects, side.id_codes) for side in sides]
        tables: Any = kernel.explicit_together(named)
        if not _are_indicators(tables):
            return None
        (a, b), (c, d) = (
            (table.indices[side.first], table.indices[side.second])
            for side, table in zip(sides, tables, strict=True)
        )
        return SameObjects(weights, (a, c), (b, d))


def _are_indicators(tables: Iterable[Any]) -> bool:
    """Whether rows have a single 1 each."""
    return all(
        sp.issparse(table) and (np.diff(table.indptr) == 1).all() and (table.data == 1.0).all()
        for table in tables
    )


def _inner_product(terms: dict[Monomial, float], left: Pairs, right: Pairs) -> InnerProduct | None:
    """Monomials by their explicit features; None where these are sparse or many, or none."""
    form = form_of(terms)
    one = tables_of(form, (left[:1].without_unused_objects(),)) if form else None
    if not one or any(one[0].is_unknown(block) for block in form):
        return None
    features = ExplicitFeatures(form, one[0])
    if features.is_sparse or features.n_columns > MOST_FEATURES:
        return None
    known: Any = tables_of(form, (left, right))
    rows, columns = (ExplicitFeatures(form, side).rows for side in known)
    return InnerProduct((rows, columns))


def _paired(sums: list[Exponential]) -> list[Term]:
    """The terms, twins as one."""
    found: list[Term] = []
    for term in sums:
        for place, other in enumerate(found):
            both = other.with_twin(term) if isinstance(other, Exponential) else None
            if both is not None:
                found[place] = both
                break
        else:
            found.append(term)
    return found


def _centred(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Both tables moved to the middle of the right one, where less is lost in rounding."""
    middle = np.ones(len(right)) @ right / max(1, len(right))
    return left - middle, right - middle


def _of_group(factor: Factor, left: Pairs, right: Pairs) -> tuple[Matrix, Matrix] | None:
    if factor.role not in ("symmetric", "antisymmetric", "derived"):
        return None
    rows = factor.kernel.exponent(group_table(factor, left.swap() if factor.left_swapped else left))
    columns = factor.kernel.exponent(
        group_table(factor, right.swap() if factor.right_swapped else right)
    )
    return None if rows is None or columns is None else (as_dense(rows), as_dense(columns))
