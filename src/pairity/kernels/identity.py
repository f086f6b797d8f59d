"""Identity: every object is like itself and like no other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.elementary import _ObjectKernel
from pairity.kernels.features import Features, Matrix, NamedObjects
from pairity.pairs.arrays import Places
from pairity.pairs.distinct import distinct_rows, joined


class Identity(_ObjectKernel):
    """``k(x, z) = 1`` for the same object and 0 otherwise: an effect of its own for each object.

    Objects are the same when their ids are, or their features in pairs without ids.  Used alone it
    is the linear kernel of indicator columns, ``k(a,c) + k(b,d)``: in an antisymmetric
    :class:`~pairity.PairLogistic` that is the model of Bradley and Terry with a Gaussian prior on
    the strengths.  A sum such as ``Additive(Gaussian()) + Additive(Identity())`` has effects of
    features and of names.  An object that was in no training pair has no effect.
    """

    translation = "invariant"

    def on_features(self, left: Features, right: Features) -> Matrix:
        """1.0 where rows are equal."""
        rows, columns = _codes(left, right)
        return (rows[:, np.newaxis] == columns).astype(np.float64)

    def paired(self, left: Features, right: Features) -> Matrix:
        """1.0 where the two rows are equal."""
        return np.equal(*_codes(left, right)).astype(np.float64)

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """1.0 where ids are equal, or rows without ids."""
        return self.on_features(*_what_tells(left, right))

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """1.0 where the two ids are equal, or rows without ids."""
        return self.paired(*_what_tells(left, right))

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features]:
        """Indicators of the objects of all tables, sparse: one column per distinct object."""
        tells = [_what_tells(tables[0], table)[1] for table in tables]
        codes = distinct_rows(joined(tells, 0)).inverse
        n_columns = int(codes.max(initial=-1)) + 1
        ends = np.cumsum([table.shape[0] for table in tells])[:-1]
        return [_indicators(column, n_columns) for column in np.split(codes, ends)]


def _indicators(column: Places, n_columns: int) -> sp.csr_array:
    """Rows with a single 1, in the column given."""
    n_rows = len(column)
    parts = np.ones(n_rows), column.astype(np.int32), np.arange(n_rows + 1, dtype=np.int32)
    return sp.csr_array(parts, shape=(n_rows, n_columns))


def _what_tells(left: NamedObjects, right: NamedObjects) -> tuple[Features, Features]:
    """Ids of both sides, or features of both."""
    if (left.codes is None) != (right.codes is None):
        raise KernelError(
            "got pairs with ids and pairs without for the Identity kernel; expected ids in fit and in"
            " predict, or in neither: pass ids=... to Pairs."
        )
    if left.codes is None or right.codes is None:
        return left.features, right.features
    return left.codes[:, np.newaxis], right.codes[:, np.newaxis]


def _codes(left: Features, right: Features) -> list[Places]:
    """Numbers that are equal where rows are."""
    return np.split(distinct_rows(joined([left, right], 0)).inverse, [left.shape[0]])
