"""Object features of a model, in single precision and in a basis that suits the training pairs.

The basis makes ``E[phi phi']`` over the ends of the training pairs diagonal, with entries
``moments``: the curvature of a loss in ``W_ij`` is then nearly ``moments_i moments_j`` times the
number of pairs, which is what Newton's method divides by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.pairs import ObjectTable

__all__ = ["FeatureMap", "Table", "learn_map"]

Table: TypeAlias = NDArray[np.float32] | sp.csr_array
#: More features than this make matrices W that are larger than most sets of pairs.
_MOST_FEATURES = 4096


@dataclass(frozen=True)
class FeatureMap:
    """``phi(x) = explicit(x) basis``, rounded to single precision; sparse features as they are."""

    kernel: Kernel
    basis: NDArray[np.float64] | None

    def __call__(self, objects: ObjectTable) -> Table:
        """Features of objects, shape (m, r)."""
        explicit = _explicit(self.kernel, objects)
        if self.basis is None:
            return sp.csr_array(explicit)
        return np.ascontiguousarray(np.asarray(explicit) @ self.basis, dtype=np.float32)


def learn_map(
    kernel: Kernel, objects: ObjectTable, ends: NDArray[np.float64], *, bilinear: bool
) -> tuple[FeatureMap, Table, NDArray[np.float64]]:
    """Return the map, the features of the objects, and their second moments.

    ``ends`` says how often each object is an end of a training pair.
    """
    explicit = _explicit(kernel, objects)
    shares = ends / max(float(ends.sum()), 1.0)
    if sp.issparse(explicit):
        if bilinear:
            raise KernelError(
                f"got {kernel!r} with {explicit.shape[1]} sparse features where products of features"
                " are needed; expected few dense ones: use Additive(...) for objects known by ids"
                " alone, or Nystroem(kernel, 256) for objects with features."
            )
        table = sp.csr_array(explicit)
        return FeatureMap(kernel, None), table, table.power(2).T @ shares
    explicit = np.asarray(explicit)
    if bilinear and explicit.shape[1] > _MOST_FEATURES:
        raise KernelError(
            f"got {kernel!r} with {explicit.shape[1]} features; expected at most {_MOST_FEATURES}:"
            " use Nystroem(kernel, 256)."
        )
    moments, basis = np.linalg.eigh(explicit.T @ (explicit * shares[:, np.newaxis]))
    learned = FeatureMap(kernel, basis)
    table = np.ascontiguousarray(explicit @ basis, dtype=np.float32)
    return learned, table, np.maximum(moments, 0.0)


def _explicit(kernel: Kernel, objects: ObjectTable) -> NDArray[np.float64] | sp.csr_array:
    explicit = kernel.explicit(objects)
    if explicit is None:
        raise KernelError(
            f"got {kernel!r}, which has no finite number of features, in a low-rank model; expected"
            " kernels that have: wrap kernels of features as Nystroem(kernel, 256), leave others out,"
            " or use another solver."
        )
    return explicit
