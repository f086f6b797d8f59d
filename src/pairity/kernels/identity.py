"""Identity: every object is like itself and like no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity.distinct import distinct_rows
from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.elementary import concatenated_inner_product
from pairity.kernels.features import Features, Matrix, NamedObjects

__all__ = ["Identity"]


class Identity(Kernel):
    """``k(x, z) = 1`` for the same object and 0 otherwise: an effect of its own for each object.

    Objects are the same when their ids are, or their features in pairs without ids.  Used alone it
    is the linear kernel of indicator columns, ``k(a,c) + k(b,d)``: in an antisymmetric
    :class:`~pairity.PairLogistic` that is the model of Bradley and Terry with a Gaussian prior on
    the strengths.  A sum such as ``Additive(Gaussian()) + Additive(Identity())`` has effects of
    features and of names.  An object that was in no training pair has no effect.
    """

    translation = "invariant"

    def formula(self, atoms: Atoms) -> Any:
        """``k(a,c) + k(b,d)`` plus inner products of group features."""
        return concatenated_inner_product(atoms, self)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """1.0 where rows are equal."""
        codes = _codes(left, right)
        return (codes[0][:, np.newaxis] == codes[1][np.newaxis, :]).astype(np.float64)

    def paired(self, left: Features, right: Features) -> Matrix:
        """1.0 where the two rows are equal."""
        codes = _codes(left, right)
        return (codes[0] == codes[1]).astype(np.float64)

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


def _codes(left: Features, right: Features) -> tuple[Any, Any]:
    """Numbers that are equal where rows are."""
    both = sp.vstack([left, right], format="csr") if sp.issparse(left) else np.vstack([left, right])
    codes = distinct_rows(both).inverse
    return codes[: left.shape[0]], codes[left.shape[0] :]
