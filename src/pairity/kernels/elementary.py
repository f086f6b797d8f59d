"""Rows of features, and the linear and the Gaussian kernel of them.

Used alone, a kernel acts on the concatenated features ``X_ab = (x_a, x_ab, x~_ab, x_b)`` of
Section 3 and is order-invariant; inside a construction it acts on objects.

Products and distances come in two forms: every left row with every right row, and row by row
("paired").  Powers are products: ``np.power`` is a vendor's vector function on some processors
(AVX-512), and there ``(-x) ** 3 == -(x ** 3)`` fails in the last place, whereas IEEE products of
numbers with opposite signs are exact opposites on every processor.

What kernels learn from rows, spreads and median distances, counts each distinct row once, and
features that change sign under a swap with both signs, so that repeated observations, the order of
rows and the order in which a pair is written change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import repeat
from operator import mul
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.pairs.arrays import Features, Matrix, Places, Vector, as_dense, distinct_rows
from pairity.pairs.data import Pairs
from pairity.pairs.derived import derived_features
from pairity.pairs.parity import Parity
from pairity.runtime.validation import check_strength

if TYPE_CHECKING:
    from pairity.kernels.atoms import Atoms
    from pairity.kernels.standardized import Scaling

#: Rows between which distances are taken; more of them would move the median by a percent.
_MOST_ROWS = 1000
#: Up to this many columns distances are summed difference by difference: exact for near rows
#: far from the origin.  Above it, matrix products on centred columns are much faster.
_DIRECT_DISTANCE_COLUMNS = 64


def inner_products(left: Features, right: Features) -> Matrix:
    """``<x_i, z_j>`` for all i and j."""
    if not sp.issparse(left) and np.may_share_memory(left, right):
        # of one table NumPy makes use of the symmetry, by sums that other vector units round
        # otherwise than those of two tables: with rows turned round the last bit would differ
        right = right.copy()
    product: Any = left @ right.T
    return product.toarray() if sp.issparse(product) else np.asarray(product)


def paired_inner_products(left: Features, right: Features) -> Matrix:
    """``<x_i, z_i>`` for all i."""
    if sp.issparse(left) or sp.issparse(right):
        return np.asarray(sp.csr_array(left).multiply(sp.csr_array(right)).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", left, right)


def squared_distances(left: Features, right: Features) -> Matrix:
    """``|x_i - z_j|^2`` for all i and j."""
    if sp.issparse(left) or sp.issparse(right):
        return _expanded_distances(left, right)
    if _is_extended(left, right):
        from pairity.kernels._distance_loops import precise_distances  # fits alone compile

        return precise_distances(left, right)
    if left.shape[1] <= _DIRECT_DISTANCE_COLUMNS:
        return cdist(left, right, "sqeuclidean")
    centre = right.mean(axis=0)
    centred = right - centre
    return _expanded_distances(centred if left is right else left - centre, centred)


def _is_extended(*tables: Features) -> bool:
    """Whether some numbers are of extended precision, were that no more than double precision."""
    return any(table.dtype.char == "g" for table in tables)


def _expanded_distances(left: Features, right: Features) -> Matrix:
    """``|x|^2 + |z|^2 - 2 <x, z>``, with the rounding below zero cut off."""
    distances = inner_products(left, right)
    distances *= -2.0
    distances += paired_inner_products(left, left)[:, np.newaxis]
    distances += paired_inner_products(right, right)[np.newaxis, :]
    np.maximum(distances, 0.0, out=distances)
    if left is right:
        np.fill_diagonal(distances, 0.0)
    return distances


Value = TypeVar("Value")


def whole_power(base: Value, exponent: int) -> Value:
    """``base * ... * base`` for an exponent of at least 1; arrays, or anything else with ``*``."""
    return reduce(mul, repeat(base, int(exponent)))


# What is learned from rows -----------------------------------------------------------------------


def spread_rows(n_rows: int, size: int) -> Places:
    """At most ``size`` row numbers, evenly spread."""
    n_chosen = min(n_rows, size)
    return np.arange(n_chosen) * (n_rows - 1) // max(1, n_chosen - 1)


def spread_sample(pairs: Pairs, size: int) -> Pairs:
    """At most ``size`` of the pairs, evenly spread over the rows."""
    return pairs if len(pairs) <= size else pairs[spread_rows(len(pairs), size)]


def distinct_sample(table: Features, most_rows: int = _MOST_ROWS) -> Features:
    """At most that many distinct rows of a table, spread evenly over their order by content."""
    rows = distinct_rows(table).representative
    return table[rows if len(rows) <= most_rows else rows[spread_rows(len(rows), most_rows)]]


def median_distance(table: Features) -> float:
    """Median distance between two different rows; 1.0 where there are no two."""
    sample = distinct_sample(table)
    if sample.shape[0] < 2 or not sample.shape[1]:
        return 1.0
    distances = squared_distances(sample, sample)[np.triu_indices(sample.shape[0], 1)]
    middle = float(np.sqrt(np.median(distances)))
    return middle if np.isfinite(middle) and middle > 0.0 else 1.0


def with_both_signs(table: Matrix) -> Matrix:
    """Rows of odd features and their negatives: what the pairs and their swaps have together."""
    return np.vstack([table, -table])


def median_of_pairs(pairs: Pairs) -> float:
    """Width on ``X_ab``: squares add up, those of the objects and of the group features."""
    objects, odd = pairs.without_unused_objects().objects, with_both_signs(pairs.antisymmetric)
    tables = (table for table in (objects, pairs.symmetric, odd) if table.shape[1])
    total = sum(median_distance(table) ** 2 for table in tables)
    return float(np.sqrt(total)) if total > 0.0 else 1.0


def moments(table: Features, *, are_distinct: bool = False) -> tuple[Vector, Vector]:
    """Mean and spread of the columns over distinct rows."""
    if not table.shape[0] or not table.shape[1]:
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    rows = table if are_distinct else table[distinct_rows(table).representative]
    if not sp.issparse(rows):  # by products: of few columns that is quickest
        mean = np.ones(len(rows)) @ rows / len(rows)
        centred = rows - mean
        return mean, np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(rows))
    sparse = sp.csr_array(rows)
    mean = np.asarray(sparse.mean(axis=0)).ravel()
    square = np.asarray(sparse.multiply(sparse).mean(axis=0)).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def inverse_spreads(spread: Vector) -> Vector:
    """Factors; 1 for a column that does not vary."""
    varies = spread > 1e-12 * max(float(spread.max(initial=0.0)), 1e-300)
    return np.where(varies, 1.0 / np.where(varies, spread, 1.0), 1.0)


def rescaled(table: Features, shift: Vector, factor: Vector) -> Features:
    """``(x - shift) * factor`` column by column."""
    if sp.issparse(table) and not shift.any():
        return sp.csr_array(sp.csr_array(table).multiply(factor[np.newaxis, :]))
    return (as_dense(table) - shift) * factor


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


def derived_table(pairs: Pairs, parts: tuple[str, ...], scaling: Scaling | None) -> Matrix:
    """Features derived from those of the pairs, rescaled first if there is a scale."""
    return derived_features(pairs if scaling is None else scaling.apply(pairs), parts)


# Kernels ----------------------------------------------------------------------------------------


def concatenated_inner_product(atoms: Atoms, kernel: Kernel) -> Any:
    """``k(a,c) + k(b,d)`` plus the inner products of the group features that there are."""
    edges = atoms.objects(kernel)
    total = edges.ac + edges.bd
    if atoms.n_symmetric:
        total = total + atoms.symmetric(_INNER)
    if atoms.n_antisymmetric:
        total = total + atoms.antisymmetric(_INNER)
    return total


def require_kernel(value: Any, name: str, expected: str) -> None:
    """Refuse what is no kernel where one is expected."""
    if not isinstance(value, Kernel):
        raise KernelError(
            f"got {name}={value!r}; expected {expected} such as Gaussian(1.0): wrap a function in"
            " Callable(function)."
        )


class _ObjectKernel(Kernel):
    """A kernel of objects that is, used alone, the linear kernel of its implicit features."""

    def formula(self, atoms: Atoms) -> Any:
        return concatenated_inner_product(atoms, self)


class Linear(_ObjectKernel):
    """Inner product ``<x, z>``; on pairs ``<X_ab, X_cd>``, the linear kernel of Section 3."""

    reflection = Parity.ODD
    reflection_invariant = True
    translation = "additive"
    power = 1

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_j>``."""
        return inner_products(left, right)

    def paired(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_i>``."""
        return paired_inner_products(left, right)

    def explicit(self, features: Features) -> Features:
        """The features themselves."""
        return features


#: That of group features.
_INNER = Linear()


@dataclass(eq=False, repr=False)
class Gaussian(Kernel):
    """Gaussian kernel ``exp(-|x - z|^2 / (2 sigma^2))``.

    On pairs it is the Gaussian of ``X_ab - X_cd``, which is the product of the Gaussians of the
    parts; its balanced projection on individual features is the tensor kernel.

    Parameters
    ----------
    sigma : float or "median"
        Width, above 0.  scikit-learn's ``gamma`` is ``1 / (2 sigma^2)``.  "median" takes the
        median distance between training objects when a model is fitted.
    """

    sigma: float | str = 1.0

    reflection_invariant = True
    translation = "invariant"

    def check(self) -> None:
        """Refuse a width that is not a finite number above 0."""
        if self.sigma != "median":
            check_strength(self.sigma, "sigma", largest=1e150)  # whose square is a number

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """With the median distance between pairs for a width that is asked for so."""
        return Gaussian(median_of_pairs(pairs)) if self.sigma == "median" else self

    def fitted_to_features(self, table: Features) -> Kernel:
        """With the median distance between rows for a width that is asked for so."""
        return Gaussian(median_distance(table)) if self.sigma == "median" else self

    def formula(self, atoms: Atoms) -> Any:
        """Product of the Gaussians of the edges ac and bd and of the group features."""
        edges = atoms.objects(self)
        product = edges.ac * edges.bd
        if atoms.n_symmetric:
            product = product * atoms.symmetric(self)
        if atoms.n_antisymmetric:
            product = product * atoms.antisymmetric(self)
        return product

    @property
    def _factor(self) -> float:
        """What squared distances are multiplied by."""
        if self.sigma == "median":
            raise KernelError(
                "got values of Gaussian('median') before its width is known; expected a number:"
                " estimators find it in fit, kernel.fitted_to(pairs) does it by hand."
            )
        return -0.5 / float(self.sigma) ** 2

    def _profile(self, squared_distance: Matrix) -> Matrix:
        with np.errstate(over="ignore"):  # as far apart as that is 0
            squared_distance *= self._factor
        return np.exp(squared_distance, out=squared_distance)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Gaussian of ``x_i - z_j``."""
        if _is_extended(left, right) and not (sp.issparse(left) or sp.issparse(right)):
            from pairity.kernels._distance_loops import precise_gaussians  # fits alone compile

            return precise_gaussians(left, right, self._factor)
        return self._profile(squared_distances(left, right))

    def exponent(self, features: Features) -> Features | None:
        """``x / (sigma sqrt(2))``."""
        return features * (0.5**0.5 / float(self.sigma))

    def paired(self, left: Features, right: Features) -> Matrix:
        """Gaussian of ``x_i - z_i``."""
        difference = left - right
        return self._profile(paired_inner_products(difference, difference))


class OnRescaled(Kernel):
    """``k((x - shift) * factor, (z - shift) * factor)``: a kernel of features, rescaled first."""

    def __init__(self, kernel: Kernel, shift: Vector, factor: Vector) -> None:
        self.kernel, self.shift, self.factor = kernel, shift, factor

    @property
    def reflection(self) -> Parity | None:  # type: ignore[override]
        """That of the kernel, without a shift."""
        return None if self.shift.any() else self.kernel.reflection

    @property
    def reflection_invariant(self) -> bool:  # type: ignore[override]
        """That of the kernel, without a shift."""
        return not self.shift.any() and self.kernel.reflection_invariant

    def rescale(self, table: Features) -> Features:
        """The features that the kernel gets to see."""
        if table.shape[1] != len(self.factor):
            raise KernelError(
                f"got features with {table.shape[1]} columns; expected {len(self.factor)}, as in the"
                " fit that learned their scale."
            )
        return rescaled(table, self.shift, self.factor)

    def _both(self, left: Features, right: Features) -> tuple[Features, Features]:
        rows = self.rescale(left)
        return rows, rows if right is left else self.rescale(right)

    def _named(self, left: NamedObjects, right: NamedObjects) -> Iterator[NamedObjects]:
        tables = self._both(left.features, right.features)
        return map(NamedObjects, tables, (left.codes, right.codes))

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows."""
        return self.kernel.on_features(*self._both(left, right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows, row by row."""
        return self.kernel.paired(*self._both(left, right))

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects."""
        return self.kernel.on_objects(*self._named(left, right))

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects, row by row."""
        return self.kernel.paired_objects(*self._named(left, right))

    @property
    def power(self) -> int | None:  # type: ignore[override]
        """That of the kernel."""
        return self.kernel.power

    def compared(self, table: Features) -> Features:
        """Rescaled rows, as the kernel compares them."""
        return self.kernel.compared(self.rescale(table))

    def exponent(self, features: Features) -> Features | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.exponent(self.rescale(features))

    def explicit(self, features: Features) -> Features | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.explicit(self.rescale(features))

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features] | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.explicit_together(
            [NamedObjects(self.rescale(table.features), table.codes) for table in tables]
        )
