"""Pair kernels built from other kernels: projections, Remark 2, the bilinear kernel (37)."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges
from pairity.kernels.features import (
    Features,
    Matrix,
    inner_products,
    paired_inner_products,
)
from pairity.kernels.powers import whole_power
from pairity.kernels.widths import with_both_signs
from pairity.pairs import Pairs
from pairity.parity import Parity, impose
from pairity.validation import as_symmetric_matrix

__all__ = [
    "Additive",
    "Balanced",
    "Bilinear",
    "DirectSum",
    "MetricLearning",
    "OrderInvariant",
    "Product",
    "SkewBalanced",
    "Tensor",
    "TensorMetric",
]


def _require_kernel(value: Any, name: str, expected: str) -> None:
    if not isinstance(value, Kernel):
        raise KernelError(
            f"got {name}={value!r}; expected {expected} such as Gaussian(1.0): wrap a function in"
            " Callable(function)."
        )


class Bilinear(Kernel):
    """``K_P(X_ab, X_cd) = X_ab P X_cd'`` of formula (37): in general *not* order-invariant.

    Parameters
    ----------
    P : array-like of shape (n, n) with n = 2 n1 + n2 + n3
        Symmetric and positive semi-definite.  ``OrderInvariant(Bilinear(P))`` is (38).
    """

    def __init__(self, P: Any) -> None:
        self.P = P
        self.check()

    def check(self) -> None:
        """Refuse a matrix that is not symmetric positive semi-definite."""
        matrix = as_symmetric_matrix(self.P, "P")
        smallest = float(np.linalg.eigvalsh(matrix)[0]) if len(matrix) else 0.0
        if smallest < -1e-9 * max(1.0, float(np.abs(matrix).max(initial=0.0))):
            raise KernelError(
                f"got P with eigenvalue {smallest:.6g}; expected a positive semi-definite matrix:"
                " M' M is one for every M."
            )

    def formula(self, atoms: Atoms) -> Any:
        """A kernel of whole rows."""
        return atoms.rows(self)

    @property
    def matrix(self) -> Matrix:
        """P by rows without gaps: products with other arrangements may round differently."""
        return np.ascontiguousarray(self.P, dtype=np.float64)

    def _weighted(self, rows: Features) -> Matrix:
        matrix = self.matrix
        if rows.shape[1] != len(matrix):
            raise KernelError(
                f"got pairs with {rows.shape[1]} features for P of size {len(matrix)}; expected P of"
                " size 2*n1 + n2 + n3."
            )
        return np.asarray(rows @ matrix)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``X P Z'``."""
        return inner_products(self._weighted(left), right)

    def paired(self, left: Features, right: Features) -> Matrix:
        """``x_i P z_i'``."""
        return paired_inner_products(self._weighted(left), right)


class _OfPairKernel(Kernel):
    """A construction on one pair kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.check()

    def check(self) -> None:
        """Refuse what is no kernel."""
        _require_kernel(self.kernel, "kernel", "a kernel of pairs")
        super().check()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r})"


class OrderInvariant(_OfPairKernel):
    """``(K(ab, cd) + K(ba, dc)) / 2``, formula (38): order-invariant for every pair kernel K."""

    def formula(self, atoms: Atoms) -> Any:
        """Mean over the simultaneous swap of both pairs."""
        mirrored = atoms.swap_left().swap_right()
        return (self.kernel.formula(atoms) + self.kernel.formula(mirrored)) * 0.5


class Balanced(_OfPairKernel):
    """``(K(ab, cd) + K(ba, cd)) / 2``, formula (6): the even part of an order-invariant kernel."""

    def formula(self, atoms: Atoms) -> Any:
        """Even part in the left pair."""
        return impose(
            Parity.EVEN, self.kernel.formula(atoms), self.kernel.formula(atoms.swap_left())
        )


class SkewBalanced(_OfPairKernel):
    """``(K(ab, cd) - K(ba, cd)) / 2``, formula (7): the odd part of an order-invariant kernel."""

    def formula(self, atoms: Atoms) -> Any:
        """Odd part in the left pair."""
        return impose(
            Parity.ODD, self.kernel.formula(atoms), self.kernel.formula(atoms.swap_left())
        )


class _OfObjectKernel(Kernel):
    """A construction on an object kernel k1, with group kernels k2 and k3 as in (8) and (10).

    ``k3`` of even reflection parity (9), such as ``Polynomial(2)``, is added: ``base + k2 + k3``
    is balanced.  ``k3`` of odd parity (11), such as ``Linear()``, multiplies: ``(base + k2) * k3``
    is skew-balanced.

    Parameters
    ----------
    k1 : Kernel
        Kernel of objects.
    k2 : Kernel, optional
        Kernel of the symmetric group features.
    k3 : Kernel, optional
        Kernel of the antisymmetric group features, of even or odd reflection parity.
    """

    def __init__(self, k1: Kernel, k2: Kernel | None = None, k3: Kernel | None = None) -> None:
        self.k1 = k1
        self.k2 = k2
        self.k3 = k3
        self.check()

    def check(self) -> None:
        """Refuse what is no kernel, and a k3 that is neither even nor odd."""
        _require_kernel(self.k1, "k1", "an object kernel")
        for name, kernel in (("k2", self.k2), ("k3", self.k3)):
            if kernel is not None:
                _require_kernel(kernel, name, "a kernel of group features")
        super().check()
        if self.k3 is not None and self.k3.reflection is None:
            raise KernelError(
                f"got k3={self.k3!r}, which is neither even (9) nor odd (11) under a change of sign;"
                " expected a homogeneous polynomial, or EvenPart(k3) for (8), OddPart(k3) for (10)."
            )

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """With parameters of k1, k2 and k3 found on the features that each compares."""
        tables = {"k2": pairs.symmetric, "k3": with_both_signs(pairs.antisymmetric)}
        twin = copy(self)
        twin.k1 = self.k1.fitted_to_features(pairs.without_unused_objects().objects)
        for name, table in tables.items():
            kernel = getattr(self, name)
            if kernel is not None:
                setattr(twin, name, kernel.fitted_to_features(table))
        return twin

    def base(self, k1: Edges) -> Any:
        """The construction on individual features."""
        raise NotImplementedError

    def formula(self, atoms: Atoms) -> Any:
        """Formula (8) or (10) on the base."""
        total = self.base(atoms.objects(self.k1))
        if self.k2 is not None:
            self._need(atoms.n_symmetric, "k2", "symmetric")
            total = total + atoms.symmetric(self.k2)
        if self.k3 is None:
            return total
        self._need(atoms.n_antisymmetric, "k3", "antisymmetric")
        group = atoms.antisymmetric(self.k3)
        return total + group if self.k3.reflection is Parity.EVEN else total * group

    def _need(self, n_features: int, name: str, kind: str) -> None:
        if not n_features:
            raise KernelError(
                f"got {name} in {self!r} but pairs without {kind} group features; expected some: pass"
                f" {kind}=... to Pairs or leave {name} out."
            )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        group = "".join(
            f", {name}={kernel!r}"
            for name, kernel in (("k2", self.k2), ("k3", self.k3))
            if kernel is not None
        )
        return f"{type(self).__name__}({self.k1!r}{group})"


class Additive(_OfObjectKernel):
    """``k1(a,c) + k1(b,d)``: order-invariant; functions ``g(a) + g(b)`` and ``g(a) - g(b)``.

    Its balanced projection is :class:`DirectSum`; its skew-balanced one is the kernel of
    transitive preferences, differences of a strength g.
    """

    def base(self, k1: Edges) -> Any:
        """``k1(a,c) + k1(b,d)``."""
        return k1.ac + k1.bd


class Product(_OfObjectKernel):
    """``k1(a,c) k1(b,d)``: order-invariant.

    Its balanced projection is :class:`Tensor`; its skew-balanced one is the determinant kernel
    for intransitive preferences.
    """

    def base(self, k1: Edges) -> Any:
        """``k1(a,c) k1(b,d)``."""
        return k1.ac * k1.bd


class DirectSum(_OfObjectKernel):
    """``K_DL = (k1(a,c) + k1(a,d) + k1(b,c) + k1(b,d)) / 2``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Sum over the four edges, halved."""
        return ((k1.ac + k1.ad) + (k1.bc + k1.bd)) * 0.5


class Tensor(_OfObjectKernel):
    """``K_TL = (k1(a,c) k1(b,d) + k1(a,d) k1(b,c)) / 2``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Permanent of the edge matrix, halved."""
        return (k1.ac * k1.bd + k1.ad * k1.bc) * 0.5


class MetricLearning(_OfObjectKernel):
    """``K_ML = (k1(a,c) - k1(a,d) - k1(b,c) + k1(b,d))^2 / 4``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Squared inner product of differences, over 4."""
        return whole_power((k1.ac - k1.ad) - (k1.bc - k1.bd), 2) * 0.25


class TensorMetric(_OfObjectKernel):
    """``K_TM = K_TL + K_ML``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Sum of the tensor and the metric-learning kernel."""
        tensor = (k1.ac * k1.bd + k1.ad * k1.bc) * 0.5
        return tensor + whole_power((k1.ac - k1.ad) - (k1.bc - k1.bd), 2) * 0.25
