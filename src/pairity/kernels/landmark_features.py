"""A kernel as the inner product of few features: similarities to landmarks, whitened.

With landmarks Z the kernel k is replaced by

    k(x, Z) k(Z, Z)^+ k(Z, z) = <phi(x), phi(z)>,    phi(x) = k(x, Z) W,    W W' = k(Z, Z)^+.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.distinct import distinct_rows
from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.elementary import concatenated_inner_product
from pairity.kernels.features import Features, Matrix, inner_products, paired_inner_products
from pairity.kernels.landmarks import chosen_landmarks, whitened

__all__ = ["FeatureError", "LandmarkFeatures"]

#: Kernel values between rows and landmarks held at a time.
_BLOCK_ENTRIES = 2_000_000


@dataclass(frozen=True)
class FeatureError:
    """What landmark features lose of a kernel on some rows; 0.0 is nothing, 1.0 everything."""

    share: float
    """``1 - sum |phi(x)|^2 / sum k(x, x)``: share of the trace."""
    largest: float
    """The largest ``1 - |phi(x)|^2 / k(x, x)`` of a row."""
    n_components: int
    """Number of features."""


class LandmarkFeatures(Kernel):
    """``<phi(x), phi(z)>`` with ``phi(x) = k(x, Z) W``: what fitting :class:`Nystroem` leaves behind.

    Parameters
    ----------
    kernel : Kernel
        Kernel k of features.
    landmarks : array or CSR of shape (n_landmarks, n_columns)
        Rows Z.
    whitening : array of shape (n_landmarks, n_components)
        ``W`` with ``W W' = k(Z, Z)^+``.
    """

    def __init__(self, kernel: Kernel, landmarks: Features, whitening: Matrix) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.whitening = whitening
        self.check()

    def check(self) -> None:
        """Refuse what is no kernel, and a matrix that does not fit the landmarks."""
        if not isinstance(self.kernel, Kernel):
            raise KernelError(f"got {self.kernel!r} for landmark features; expected a kernel.")
        shapes = np.shape(self.landmarks), np.shape(self.whitening)
        if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
            raise KernelError(
                f"got landmarks of shape {shapes[0]} and a whitening of shape {shapes[1]}; expected a"
                " row of each for every landmark."
            )
        super().check()

    @classmethod
    def of(
        cls, kernel: Kernel, table: Features, n_components: int, way: str, seed: int
    ) -> LandmarkFeatures:
        """Features of a kernel whose parameters are known, from the rows of a table."""
        landmarks = chosen_landmarks(kernel, table, n_components, way, seed)
        return cls(kernel, landmarks, whitened(kernel, landmarks))

    def formula(self, atoms: Atoms) -> Any:
        """``k(a,c) + k(b,d)`` plus inner products of group features."""
        return concatenated_inner_product(atoms, self)

    def explicit(self, features: Features) -> Matrix:
        """``k(x, Z) W``, shape (rows, components), a block of rows at a time."""
        rows = np.empty((features.shape[0], self.whitening.shape[1]))
        for part in self._blocks(features):
            rows[part] = self.kernel.on_features(features[part], self.landmarks) @ self.whitening
        return rows

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``<phi(x_i), phi(z_j)>``."""
        rows = self.explicit(left)
        return inner_products(rows, rows if right is left else self.explicit(right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """``<phi(x_i), phi(z_i)>``."""
        values = np.empty(left.shape[0])
        for part in self._blocks(left):
            sides = self._explicit_once(left[part]), self._explicit_once(right[part])
            values[part] = paired_inner_products(*sides)
        return values

    def error(self, table: Features) -> FeatureError:
        """What the features lose of the kernel on the rows of a table."""
        exact, kept = np.empty(table.shape[0]), np.empty(table.shape[0])
        for part in self._blocks(table):
            rows, features = table[part], self.explicit(table[part])
            exact[part] = self.kernel.paired(rows, rows)
            kept[part] = paired_inner_products(features, features)
        lost = exact - kept
        share = float(lost.sum() / exact.sum()) if exact.sum() > 0.0 else 0.0
        largest = float((lost[exact > 0.0] / exact[exact > 0.0]).max(initial=0.0))
        return FeatureError(max(share, 0.0), largest, self.whitening.shape[1])

    def _explicit_once(self, features: Features) -> Matrix:
        """The features of rows that occur many times, as the ends of pairs do."""
        distinct = distinct_rows(features)
        return self.explicit(features[distinct.representative])[distinct.inverse]

    def _blocks(self, table: Features) -> Iterator[slice]:
        step = max(1, _BLOCK_ENTRIES // max(1, *self.whitening.shape))
        return (slice(start, start + step) for start in range(0, table.shape[0], step))
