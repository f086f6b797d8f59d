"""Functions that are mostly, but not wholly, of one parity: a kernel of two strengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.atoms import Atoms
from pairity.kernels.classes import OfPairKernel, OrderInvariant, is_order_invariant
from pairity.pairs.parity import Parity, impose


@dataclass(eq=False, repr=False)
class Mixed(OfPairKernel):
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
