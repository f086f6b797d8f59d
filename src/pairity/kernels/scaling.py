"""What kernels learn from training pairs: scales of features, and widths of Gaussian kernels.

Objects and symmetric group features are shifted to mean 0, antisymmetric ones are not: their sign
must stay theirs.  A width is the median distance between different rows.  Each distinct row counts
once, and features that change sign under a swap count with both signs, so that repeated
observations, the order of rows and the order in which a pair is written change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pairity.kernels.features import squared_distances
from pairity.pairs.arrays import Features, Matrix, Places, Vector, as_dense, distinct_rows
from pairity.pairs.data import Pairs

SCALES = ("auto", "columns", "common")
#: Spreads of columns further apart than this speak for different units.
_SAME_UNIT = 10.0
#: Columns whose means are within this share of their spread look centred, as scores of PCA are.
_CENTRED = 0.05


@dataclass(frozen=True, eq=False)
class Scaling:
    """Shifts and factors: ``(x - shift) * factor``; none learned on sparse objects has a shift.

    Compared by identity: one scaling is learned in one fit.
    """

    object_shift: Vector
    object_factor: Vector
    symmetric_shift: Vector
    symmetric_factor: Vector
    antisymmetric_factor: Vector

    @classmethod
    def of(cls, pairs: Pairs, scale: str) -> Scaling:
        """Learn from training pairs, each distinct object and row counted once.

        ``scale="columns"`` gives every column of objects the spread 1, ``"common"`` divides all by
        one number, as suits pixels, coordinates or principal components; ``"auto"`` takes
        columns where their spreads differ so much that they can hardly share a unit.
        """
        mean, spread = moments(pairs.without_unused_objects().objects)
        if scale == "auto":
            scale = "columns" if _differ_in_unit(mean, spread) else "common"
        if scale == "common":
            spread = np.full_like(spread, np.sqrt(np.mean(spread**2)) if len(spread) else 1.0)
        if sp.issparse(pairs.objects):
            mean = np.zeros_like(mean)
        symmetric_mean, symmetric_spread = moments(pairs.symmetric)
        odd_spread = moments(with_both_signs(pairs.antisymmetric))[1]
        even = symmetric_mean, _inverse(symmetric_spread)
        return cls(mean, _inverse(spread), *even, _inverse(odd_spread))

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of object, symmetric and antisymmetric features."""
        return len(self.object_factor), len(self.symmetric_factor), len(self.antisymmetric_factor)

    @property
    def rescales(self) -> bool:
        """Whether it does more than shift."""
        factors = self.object_factor, self.symmetric_factor, self.antisymmetric_factor
        return bool((np.concatenate(factors) != 1.0).any())

    def apply(self, pairs: Pairs) -> Pairs:
        """The pairs with their features rescaled."""
        return pairs.with_features(
            rescaled(pairs.objects, self.object_shift, self.object_factor),
            rescaled(pairs.symmetric, self.symmetric_shift, self.symmetric_factor),
            pairs.antisymmetric * self.antisymmetric_factor,
        )


def rescaled(table: Features, shift: Vector, factor: Vector) -> Features:
    """``(x - shift) * factor`` column by column."""
    if sp.issparse(table) and not shift.any():
        return sp.csr_array(sp.csr_array(table).multiply(factor[np.newaxis, :]))
    return (as_dense(table) - shift) * factor


def derived_table(pairs: Pairs, parts: tuple[str, ...], scaling: Scaling | None) -> Matrix:
    """Features derived from those of the pairs, rescaled first if there is a scale."""
    from pairity.pairs.derived import derived_features

    return derived_features(pairs if scaling is None else scaling.apply(pairs), parts)


def moments(table: Features) -> tuple[Vector, Vector]:
    """Mean and spread of the columns over distinct rows."""
    if not table.shape[0] or not table.shape[1]:
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    rows = table[distinct_rows(table).representative]
    if not sp.issparse(rows):
        return rows.mean(axis=0), rows.std(axis=0)
    sparse = sp.csr_array(rows)
    mean = np.asarray(sparse.mean(axis=0)).ravel()
    square = np.asarray(sparse.multiply(sparse).mean(axis=0)).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _inverse(spread: Vector) -> Vector:
    """Factors; 1 for a column that does not vary."""
    varies = spread > 1e-12 * max(float(spread.max(initial=0.0)), 1e-300)
    return np.where(varies, 1.0 / np.where(varies, spread, 1.0), 1.0)


def _differ_in_unit(mean: Vector, spread: Vector) -> bool:
    """Whether spreads are far apart, other than by the decay of centred principal components."""
    varying = spread > 0
    if varying.sum() < 2:
        return False
    mean, spread = mean[varying], spread[varying]
    if float(spread.max()) <= _SAME_UNIT * float(np.median(spread)):
        return False
    return bool((np.abs(mean) > _CENTRED * spread).any())


# Samples, and widths of Gaussian kernels --------------------------------------------------------

#: Rows between which distances are taken; more of them would move the median by a percent.
_MOST_ROWS = 1000


def spread_rows(n_rows: int, size: int) -> Places:
    """At most ``size`` row numbers, evenly spread."""
    return np.linspace(0, n_rows - 1, min(n_rows, size)).astype(np.intp)


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
