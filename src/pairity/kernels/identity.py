"""Identity: every object is like itself and like no other."""

from __future__ import annotations

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.elementary import _ObjectKernel
from pairity.kernels.features import NamedObjects
from pairity.pairs.arrays import Features, Matrix, Places, distinct_rows, joined


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
