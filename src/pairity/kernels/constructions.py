"""Pair kernels built from other kernels: Remark 2, derived features, the bilinear kernel (37).

Even and odd parts of kernels of features under a change of sign, (9) and (11), serve as their k3.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import CombinedKernel, Kernel
from pairity.kernels.atoms import Atoms, Edges
from pairity.kernels.elementary import (
    inner_products,
    paired_inner_products,
    require_kernel,
    spread_sample,
    whole_power,
    with_both_signs,
)
from pairity.pairs.arrays import Features, Matrix
from pairity.pairs.data import Pairs
from pairity.pairs.derived import check_parts, common_parity, derived_features
from pairity.pairs.parity import Parity, impose
from pairity.runtime.validation import as_symmetric_matrix

#: Pairs on whose derived features a width is found.
_SAMPLE = 20_000


@dataclass(eq=False, repr=False)
class Bilinear(Kernel):
    """``K_P(X_ab, X_cd) = X_ab P X_cd'`` of formula (37): in general *not* order-invariant.

    Parameters
    ----------
    P : array-like of shape (n, n) with n = 2 n1 + n2 + n3
        Symmetric and positive semi-definite.  ``OrderInvariant(Bilinear(P))`` is (38).
    """

    P: Any

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
    def bilinear_matrix(self) -> Matrix:  # type: ignore[override]
        """P by rows without gaps: products with other arrangements may round differently."""
        return np.ascontiguousarray(self.P, dtype=np.float64)

    def _weighted(self, rows: Features) -> Matrix:
        matrix = self.bilinear_matrix
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


@dataclass(eq=False, repr=False)
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

    k1: Kernel
    k2: Kernel | None = None
    k3: Kernel | None = None

    def check(self) -> None:
        require_kernel(self.k1, "k1", "an object kernel")
        for name, kernel in (("k2", self.k2), ("k3", self.k3)):
            if kernel is not None:
                require_kernel(kernel, name, "a kernel of group features")
        super().check()
        if self.k3 is not None and self.k3.reflection is None:
            raise KernelError(
                f"got k3={self.k3!r}, which is neither even (9) nor odd (11) under a change of sign;"
                " expected a homogeneous polynomial, or EvenPart(k3) for (8), OddPart(k3) for (10)."
            )

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """With parameters of k1, k2 and k3 found on the features that each compares."""
        twin = copy(self)  # without the token
        twin.k1 = self.k1.fitted_to_features(pairs.without_unused_objects().objects)
        if self.k2 is not None:
            twin.k2 = self.k2.fitted_to_features(pairs.symmetric)
        if self.k3 is not None:
            twin.k3 = self.k3.fitted_to_features(with_both_signs(pairs.antisymmetric))
        return twin

    def base(self, k1: Edges) -> Any:
        """The construction on individual features."""
        raise NotImplementedError

    def formula(self, atoms: Atoms) -> Any:
        total = self.base(_edges(atoms, self.k1))
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
        group = {"k2": self.k2, "k3": self.k3}.items()
        shown = "".join(f", {name}={kernel!r}" for name, kernel in group if kernel is not None)
        return f"{type(self).__name__}({self.k1!r}{shown})"


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
        return _tensor(k1)


class MetricLearning(_OfObjectKernel):
    """``K_ML = (k1(a,c) - k1(a,d) - k1(b,c) + k1(b,d))^2 / 4``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Squared inner product of differences, over 4."""
        return _metric(k1)

    @property
    def metric_of(self) -> Kernel | None:  # type: ignore[override]
        """k1, where there are no group features."""
        return self.k1 if self.k2 is None and self.k3 is None else None


class TensorMetric(_OfObjectKernel):
    """``K_TM = K_TL + K_ML``, Remark 2: balanced."""

    def base(self, k1: Edges) -> Any:
        """Sum of the tensor and the metric-learning kernel."""
        return _tensor(k1) + _metric(k1)


def _edges(atoms: Atoms, kernel: Kernel) -> Edges:
    """An object kernel on the four edges; kernels of time in it compare the times of the pairs."""
    if not any(inner.of_time for inner in kernel.walk()):
        return atoms.objects(kernel)
    if kernel.of_time:
        return Edges(lambda left, right: atoms.time(kernel))
    if not isinstance(kernel, CombinedKernel):
        raise KernelError(
            f"got a kernel of time inside {kernel!r}; expected it as a factor or a term of kernels of"
            " objects, such as Gaussian(1.0) * Drift(30.0)."
        )
    inside = [_edges(atoms, child) for child in kernel.children()]
    return Edges(lambda left, right: kernel.combine(edge.on(left, right) for edge in inside))


def _tensor(k1: Edges) -> Any:
    return (k1.ac * k1.bd + k1.ad * k1.bc) * 0.5


def _metric(k1: Edges) -> Any:
    return whole_power((k1.ac - k1.ad) - (k1.bc - k1.bd), 2) * 0.25


# --8<-- [start:derived]
@dataclass(eq=False, repr=False)
class Derived(Kernel):
    """``k(phi(ab), phi(cd))`` with features phi derived from the objects and the group features.

    Parts that stay under a swap (``absolute_difference``, ``sum``, ``product``, ``distance``,
    ``symmetric``, ``absolute_antisymmetric``) make a balanced kernel of any k.  Parts that change sign
    (``difference``, ``antisymmetric``) make an order-invariant one of a reflection-invariant k, such
    as Linear or Gaussian.  Multiply two of them to use both kinds.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the derived features.
    parts : tuple of str, or one str
        What is compared, all of one kind: see :mod:`pairity.pairs.derived`.

    Examples
    --------
    >>> from pairity.kernels import Derived, Gaussian
    >>> Derived(Gaussian(1.0), ("absolute_difference", "sum"))
    Derived(Gaussian(sigma=1.0), ('absolute_difference', 'sum'))
    """

    kernel: Kernel
    parts: tuple[str, ...] | str = ("absolute_difference",)

    def check(self) -> None:
        """Refuse what is no kernel, and parts that are unknown or of two kinds."""
        if not isinstance(self.kernel, Kernel):
            raise KernelError(
                f"got {self.kernel!r} for derived features; expected a kernel such as Gaussian(1.0)."
            )
        common_parity(self.parts)
        super().check()

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """With parameters found on the derived features of the training pairs, in both orders."""
        table = derived_features(spread_sample(pairs, _SAMPLE), self.parts)
        if common_parity(self.parts) is Parity.ODD:
            table = with_both_signs(table)
        return self.mapped(lambda kernel: kernel.fitted_to_features(table))

    def formula(self, atoms: Atoms) -> Any:
        """The kernel between derived features."""
        return atoms.derived(self.kernel, check_parts(self.parts))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Derived({self.kernel!r}, {check_parts(self.parts)!r})"


# --8<-- [end:derived]
@dataclass(eq=False, repr=False)
class _ReflectionPart(Kernel):
    """Even or odd part of a kernel of features under ``z -> -z``: ``(k(x, z) +- k(x, -z)) / 2``."""

    kernel: Kernel

    reflection_invariant = True

    def check(self) -> None:
        super().check()
        if not self.kernel.reflection_invariant:
            raise KernelError(
                f"got {self.kernel!r}, for which k(-x, -z) = k(x, z) is not known; expected a kernel"
                " such as Linear, Polynomial or Gaussian, whose even and odd parts are kernels."
            )

    def formula(self, atoms: Atoms) -> Any:
        raise KernelError(
            f"got {self!r} as a kernel of pairs; expected it as k2 or k3 of a construction: use"
            " Balanced(...) or SkewBalanced(...) to project a kernel of pairs."
        )

    def on_features(self, left: Features, right: Features) -> Matrix:
        values, reflected = (self.kernel.on_features(left, z) for z in (right, -right))
        return impose(self.reflection, values, reflected)

    def paired(self, left: Features, right: Features) -> Matrix:
        values, reflected = (self.kernel.paired(left, z) for z in (right, -right))
        return impose(self.reflection, values, reflected)


class EvenPart(_ReflectionPart):
    """``(k(x, z) + k(x, -z)) / 2``: makes any reflection-invariant kernel satisfy (9)."""

    reflection = Parity.EVEN


class OddPart(_ReflectionPart):
    """``(k(x, z) - k(x, -z)) / 2``: makes any reflection-invariant kernel satisfy (11)."""

    reflection = Parity.ODD
