"""Kernels of features derived from the two objects of a pair: differences, sums, products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.scaling import spread_sample, with_both_signs
from pairity.pairs.data import Pairs
from pairity.pairs.derived import common_parity, derived_features
from pairity.pairs.parity import Parity

#: Pairs on whose derived features a width is found.
_SAMPLE = 20_000


@dataclass(eq=False, repr=False)
class Derived(Kernel):
    """``k(phi(ab), phi(cd))`` with features phi derived from the objects and the group features.

    Parts that stay under a swap (``absolute_difference``, ``sum``, ``product``, ``symmetric``,
    ``absolute_antisymmetric``) make a balanced kernel of any k.  Parts that change sign
    (``difference``, ``antisymmetric``) make an order-invariant one of a reflection-invariant k, such
    as Linear or Gaussian.  Multiply two of them to use both kinds.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the derived features.
    parts : tuple of str
        What is compared, all of one kind: see :mod:`pairity.pairs.derived`.

    Examples
    --------
    >>> from pairity.kernels import Derived, Gaussian
    >>> Derived(Gaussian(1.0), ("absolute_difference", "sum"))
    Derived(Gaussian(sigma=1.0), ('absolute_difference', 'sum'))
    """

    kernel: Kernel
    parts: tuple[str, ...] = ("absolute_difference",)

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
        return atoms.derived(self.kernel, tuple(self.parts))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Derived({self.kernel!r}, {tuple(self.parts)!r})"
