"""Even and odd parts of kernels of features under a change of sign: formulas (9) and (11)."""

from __future__ import annotations

from typing import Any

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.features import Features, Matrix
from pairity.parity import Parity, impose

__all__ = ["EvenPart", "OddPart"]


class _ReflectionPart(Kernel):
    """Even or odd part of a kernel of features under ``z -> -z``."""

    reflection_invariant = True
    _parity: Parity

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.check()

    def check(self) -> None:
        """Refuse a kernel whose parts need not be kernels."""
        super().check()
        if not self.kernel.reflection_invariant:
            raise KernelError(
                f"got {self.kernel!r}, for which k(-x, -z) = k(x, z) is not known; expected a kernel"
                " such as Linear, Polynomial or Gaussian, whose even and odd parts are kernels."
            )

    @property
    def reflection(self) -> Parity:  # type: ignore[override]
        """The parity of this part."""
        return self._parity

    def formula(self, atoms: Atoms) -> Any:
        """Only defined on features."""
        raise KernelError(
            f"got {self!r} as a kernel of pairs; expected it as k2 or k3 of a construction: use"
            " Balanced(...) or SkewBalanced(...) to project a kernel of pairs."
        )

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``(k(x, z) +- k(x, -z)) / 2``."""
        kernel = self.kernel
        return impose(
            self._parity, kernel.on_features(left, right), kernel.on_features(left, -right)
        )

    def paired(self, left: Features, right: Features) -> Matrix:
        """The same, row by row."""
        return impose(
            self._parity, self.kernel.paired(left, right), self.kernel.paired(left, -right)
        )


class EvenPart(_ReflectionPart):
    """``(k(x, z) + k(x, -z)) / 2``: makes any reflection-invariant kernel satisfy (9)."""

    _parity = Parity.EVEN


class OddPart(_ReflectionPart):
    """``(k(x, z) - k(x, -z)) / 2``: makes any reflection-invariant kernel satisfy (11)."""

    _parity = Parity.ODD
