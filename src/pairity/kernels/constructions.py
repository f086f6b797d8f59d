"""Pair kernels built from other kernels: projections, Remark 2, the bilinear kernel (37)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges
from pairity.kernels.expansion import is_order_invariant
from pairity.kernels.features import inner_products, paired_inner_products, whole_power
from pairity.kernels.scaling import with_both_signs
from pairity.pairs.arrays import Features, Matrix
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, impose
from pairity.runtime.validation import as_symmetric_matrix


def _require_kernel(value: Any, name: str, expected: str) -> None:
    if not isinstance(value, Kernel):
        raise KernelError(
            f"got {name}={value!r}; expected {expected} such as Gaussian(1.0): wrap a function in"
            " Callable(function)."
        )


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
class _OfPairKernel(Kernel):
    """A construction on one pair kernel."""

    kernel: Kernel

    def check(self) -> None:
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


class _Projection(_OfPairKernel):
    """The part of one parity in the left pair."""

    _parity: ClassVar[Parity]

    def formula(self, atoms: Atoms) -> Any:
        value, mirrored = self.kernel.formula(atoms), self.kernel.formula(atoms.swap_left())
        return impose(self._parity, value, mirrored)


class Balanced(_Projection):
    """``(K(ab, cd) + K(ba, cd)) / 2``, formula (6): the even part of an order-invariant kernel."""

    _parity = Parity.EVEN


class SkewBalanced(_Projection):
    """``(K(ab, cd) - K(ba, cd)) / 2``, formula (7): the odd part of an order-invariant kernel."""

    _parity = Parity.ODD


def projected(kernel: Kernel, parity: Parity) -> Kernel:
    """The balanced (6) or the skew-balanced (7) part of a kernel."""
    return Balanced(kernel) if parity is Parity.EVEN else SkewBalanced(kernel)


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
        twin = copy(self)
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


def _tensor(k1: Edges) -> Any:
    return (k1.ac * k1.bd + k1.ad * k1.bc) * 0.5


def _metric(k1: Edges) -> Any:
    return whole_power((k1.ac - k1.ad) - (k1.bc - k1.bd), 2) * 0.25


@dataclass(eq=False, repr=False)
class Mixed(_OfPairKernel):
    """``even * K^b + odd * K^s``: functions ``f = f_even + f_odd`` of their own strengths.

    ``K^b`` and ``K^s`` are the balanced (6) and the skew-balanced (7) part of K.  In a machine of
    this kernel the two parts of f are orthogonal, and the penalty is

        |f|^2 = |f_even|^2 / even + |f_odd|^2 / odd,

    so a small strength lets that part speak only where the data insist.  Use it with
    ``symmetry="none"``: trained on the rows as they are written, for data that are mostly
    antisymmetric, say, but favour the object written first.  ``Mixed(K, 1, 1)`` is K,
    ``Mixed(K, 1, 0)`` is ``Balanced(K)``, ``Mixed(K, 0, 1)`` is ``SkewBalanced(K)``.
    :func:`pairity.inspection.even_odd_parts` splits the values of a fitted model.

    Parameters
    ----------
    kernel : Kernel
        Kernel of pairs.  One that is not order-invariant is made so first, by (38).
    even, odd : float
        Strengths, 0 or more and not both 0.

    Examples
    --------
    >>> from pairity.kernels import Gaussian, Mixed
    >>> Mixed(Gaussian(1.0), even=0.1)
    Mixed(Gaussian(sigma=1.0), even=0.1, odd=1.0)
    """

    even: float = 1.0
    odd: float = 1.0

    def check(self) -> None:
        """Refuse what is no kernel, and strengths out of range."""
        super().check()
        for name, strength in (("even", self.even), ("odd", self.odd)):
            if not (np.isfinite(strength) and strength >= 0.0):
                raise KernelError(
                    f"got {name}={strength!r}; expected a finite strength, 0 or more: a negative"
                    " one makes no positive semi-definite kernel."
                )
        if self.even == 0.0 and self.odd == 0.0:
            raise KernelError("got even=0 and odd=0; expected at least one strength above 0.")

    def formula(self, atoms: Atoms) -> Any:
        """The two projections of the kernel, weighted."""
        kernel = self.kernel
        if not is_order_invariant(kernel, atoms.n_symmetric, atoms.n_antisymmetric):
            kernel = OrderInvariant(kernel)
        value, mirrored = kernel.formula(atoms), kernel.formula(atoms.swap_left())
        even = impose(Parity.EVEN, value, mirrored) * float(self.even)
        return even + impose(Parity.ODD, value, mirrored) * float(self.odd)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Mixed({self.kernel!r}, even={self.even!r}, odd={self.odd!r})"
