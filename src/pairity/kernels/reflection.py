"""Even and odd parts of kernels of features under a change of sign: formulas (9) and (11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.pairs.arrays import Features, Matrix
from pairity.pairs.parity import Parity, impose


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
