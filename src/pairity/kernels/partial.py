"""Part of a kernel: some monomials of its expansion, as a kernel of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Factor, Monomial


@dataclass(eq=False, repr=False)
class PartOfKernel(Kernel):
    """A weighted sum of monomials: what is left of a kernel when some of it goes another way."""

    terms: tuple[tuple[Monomial, float], ...]

    def formula(self, atoms: Atoms) -> Any:
        """The monomials, written with atoms again."""
        return reduce(add, (_value(atoms, monomial) * weight for monomial, weight in self.terms))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"PartOfKernel({len(self.terms)} monomials)"


def _value(atoms: Atoms, monomial: Monomial) -> Any:
    on_edges = [
        atoms.objects(kernel).on(edge // 2, edge % 2)
        for edge, kernels in enumerate(monomial.edges)
        for kernel in kernels
    ]
    return reduce(mul, [*on_edges, *(_factor(atoms, factor) for factor in monomial.factors)])


def _factor(atoms: Any, factor: Factor) -> Any:
    if factor.left_swapped:
        atoms = atoms.swap_left()
    if factor.right_swapped:
        atoms = atoms.swap_right()
    more = (factor.parts, factor.scaling) if factor.role == "derived" else ()
    return getattr(atoms, factor.role)(factor.kernel, *more)
