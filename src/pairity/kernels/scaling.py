"""Features of pairs brought to one scale, learned from the training pairs.

Objects and symmetric group features are shifted to mean 0, antisymmetric ones are not: their
sign must stay theirs.  All of it is entry by entry, so that a swap changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.distinct import distinct_rows
from pairity.kernels.features import Features
from pairity.kernels.widths import with_both_signs
from pairity.pairs import Pairs
from pairity.validation import as_dense

__all__ = ["SCALES", "Scaling", "moments", "rescaled"]

SCALES = ("auto", "columns", "common")
#: Spreads of columns further apart than this speak for different units.
_SAME_UNIT = 10.0
#: Columns whose means are within this share of their spread look centred, as scores of PCA are.
_CENTRED = 0.05

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaling:
    """Shifts and factors: ``(x - shift) * factor``; none learned on sparse objects has a shift.

    Compared by identity: one scaling is learned in one fit.
    """

    object_shift: Row
    object_factor: Row
    symmetric_shift: Row
    symmetric_factor: Row
    antisymmetric_factor: Row

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
        return cls(
            mean,
            _inverse(spread),
            symmetric_mean,
            _inverse(symmetric_spread),
            _inverse(moments(with_both_signs(pairs.antisymmetric))[1]),
        )

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of object, symmetric and antisymmetric features."""
        return len(self.object_factor), len(self.symmetric_factor), len(self.antisymmetric_factor)

    @property
    def rescales(self) -> bool:
        """Whether it does more than shift."""
        factors = self.object_factor, self.symmetric_factor, self.antisymmetric_factor
        return any(bool((factor != 1.0).any()) for factor in factors)

    def apply(self, pairs: Pairs) -> Pairs:
        """The pairs with their features rescaled."""
        return pairs.with_features(
            rescaled(pairs.objects, self.object_shift, self.object_factor),
            rescaled(pairs.symmetric, self.symmetric_shift, self.symmetric_factor),
            pairs.antisymmetric * self.antisymmetric_factor,
        )


def rescaled(table: Features, shift: Row, factor: Row) -> Features:
    """``(x - shift) * factor`` column by column."""
    if sp.issparse(table) and not shift.any():
        return sp.csr_array(sp.csr_array(table).multiply(factor[np.newaxis, :]))
    return (as_dense(table) - shift) * factor


def moments(table: Features) -> tuple[Row, Row]:
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


def _inverse(spread: Row) -> Row:
    """Factors; 1 for a column that does not vary."""
    varies = spread > 1e-12 * max(float(spread.max(initial=0.0)), 1e-300)
    return np.where(varies, 1.0 / np.where(varies, spread, 1.0), 1.0)


def _differ_in_unit(mean: Row, spread: Row) -> bool:
    """Whether spreads are far apart, other than by the decay of centred principal components."""
    varying = spread > 0
    if varying.sum() < 2:
        return False
    mean, spread = mean[varying], spread[varying]
    if float(spread.max()) <= _SAME_UNIT * float(np.median(spread)):
        return False
    return bool((np.abs(mean) > _CENTRED * spread).any())
