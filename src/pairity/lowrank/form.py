"""A kernel with few object features, read as a model with parameters.

After its projection to a parity (sign s = +1 or -1) a kernel may be a sum of

==============================================  ==========================  ====================
term of the kernel                              function                    parameters
==============================================  ==========================  ====================
``w (k(a,c) k(b,d) + s k(a,d) k(b,c))``         ``phi_a' W phi_b``          W, with W' = s W
``w (k(a,c) + s k(a,d) + s k(b,c) + k(b,d))``   ``(phi_a + s phi_b)' u``    u
``w <x_ab, x_cd>`` (group features)             ``x_ab' v``                 v
==============================================  ==========================  ====================

with ``k(a, c) = <phi_a, phi_c>``.  The squared norm of all parameters is that of the function in
the space of the kernel: the problem is the same as that of a machine with this kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.constructions import Balanced, SkewBalanced
from pairity.kernels.expansion import Factor, Monomial, expand, parity_of
from pairity.kernels.nystroem import Approximated, LandmarkFeatures, Nystroem
from pairity.operators.factors import explicit_features
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["Bilinear", "Form", "Group", "Strength", "group_columns", "is_approximated", "read_form"]

_AC, _AD, _BC, _BD = range(4)
_STRAIGHT, _CROSSED = (_AC, _BD), (_AD, _BC)


@dataclass(frozen=True)
class Bilinear:
    """``scale * phi_a' W phi_b`` with the object features number ``table``."""

    table: int
    scale: float


@dataclass(frozen=True)
class Strength:
    """``scale * (phi_a + s phi_b)' u``."""

    table: int
    scale: float


@dataclass(frozen=True)
class Group:
    """``scale * x_ab' v`` with the products of columns that the factors stand for."""

    factors: tuple[Factor, ...]
    scale: float


@dataclass(frozen=True)
class Form:
    """Blocks of a model, and the kernels whose explicit features they use."""

    kernels: tuple[Kernel, ...]
    bilinear: tuple[Bilinear, ...]
    strengths: tuple[Strength, ...]
    groups: tuple[Group, ...]
    parity: Parity
    has_bias: bool


def is_approximated(kernel: Kernel) -> bool:
    """Whether a kernel is wrapped in Nystroem, or was before it was fitted: a low-rank model."""
    kinds = Nystroem | Approximated | LandmarkFeatures
    return any(isinstance(inner, kinds) for inner in kernel.walk())


def read_form(
    kernel: Kernel,
    parity: Parity | None,
    n_symmetric: int,
    n_antisymmetric: int,
    *,
    with_bias: bool = True,
) -> Form:
    """Read the blocks off the expansion of the projected kernel, or say why there are none."""
    if parity is None:
        raise KernelError(
            "got symmetry='none' with a low-rank model; expected 'symmetric' or 'antisymmetric': use"
            " solver='auto' with a kernel that is not Nystroem."
        )
    projected = kernel
    if parity_of(kernel, n_symmetric, n_antisymmetric) is not parity:
        projected = Balanced(kernel) if parity is Parity.EVEN else SkewBalanced(kernel)
    terms = dict(expand(projected, n_symmetric, n_antisymmetric).terms)
    reader = _Reader(kernel, parity, terms)
    while terms:
        reader.take(next(iter(terms)))
    return Form(
        tuple(reader.kernels),
        tuple(reader.bilinear),
        tuple(reader.strengths),
        tuple(reader.groups),
        parity,
        with_bias and parity is Parity.EVEN,
    )


def group_columns(form: Form, pairs: Pairs) -> NDArray[np.float64]:
    """Columns of group features that the model is linear in, scaled, shape (n, g)."""
    columns = [np.zeros((len(pairs), 0))]
    for group in form.groups:
        table = explicit_features(group.factors, pairs)
        if table is None:
            raise KernelError(
                f"got {group.factors}, a kernel of group features that is no inner product of few"
                " columns; expected Linear() or a Polynomial of low degree in a low-rank model."
            )
        columns.append(group.scale * table)
    return np.hstack(columns)


class _Reader:
    """Takes terms off an expansion, block by block."""

    def __init__(self, kernel: Kernel, parity: Parity, terms: dict[Monomial, float]) -> None:
        self.kernel, self.parity, self.terms = kernel, parity, terms
        self.kernels: list[Kernel] = []
        self.bilinear: list[Bilinear] = []
        self.strengths: list[Strength] = []
        self.groups: list[Group] = []

    def take(self, monomial: Monomial) -> None:
        """Remove the block that a term belongs to."""
        present = tuple(edge for edge, kernels in enumerate(monomial.edges) if kernels)
        kernels = {kernels for kernels in monomial.edges if kernels}
        if not present:
            weight = self.terms.pop(monomial)
            self._need(weight > 0, monomial)
            self.groups.append(Group(monomial.factors, float(np.sqrt(weight))))
            return
        single = len(kernels) == 1 and len(next(iter(kernels))) == 1
        self._need(single and not monomial.factors, monomial)
        kernel = next(iter(kernels))[0]
        sign = self.parity.sign
        if present in (_STRAIGHT, _CROSSED):
            weight = self._pop(kernel, {_STRAIGHT: 1.0, _CROSSED: sign}, monomial)
            # <sym(phi_a phi_b'), sym(phi_c phi_d')> is half of the bracket
            self.bilinear.append(Bilinear(self._table(kernel), float(np.sqrt(2.0 * weight))))
        else:
            self._need(len(present) == 1, monomial)
            edges: dict[tuple[int, ...], float] = {
                (_AC,): 1.0,
                (_AD,): sign,
                (_BC,): sign,
                (_BD,): 1.0,
            }
            weight = self._pop(kernel, edges, monomial)
            self.strengths.append(Strength(self._table(kernel), float(np.sqrt(weight))))

    def _pop(
        self, kernel: Kernel, signs: dict[tuple[int, ...], float], monomial: Monomial
    ) -> float:
        """Remove terms on these edges that share one weight, up to the signs."""
        weights = []
        for places, sign in signs.items():
            edges = tuple((kernel,) if edge in places else () for edge in range(4))
            weights.append(sign * self.terms.pop(Monomial(edges), 0.0))
        weight = weights[0]
        self._need(weight > 0 and np.allclose(weights, weight, rtol=1e-9, atol=0.0), monomial)
        return weight

    def _table(self, kernel: Kernel) -> int:
        if kernel not in self.kernels:
            self.kernels.append(kernel)
        return self.kernels.index(kernel)

    def _need(self, holds: bool, monomial: Monomial) -> None:
        if holds:
            return
        kinds = " and ".join(dict.fromkeys(factor.role for factor in monomial.factors))
        what = "products of object kernels"
        if kinds:
            what = f"object kernels times kernels of {kinds} features"
        raise KernelError(
            f"got {self.kernel!r}, which has {what}: no low-rank model; expected sums of Gaussian"
            " (without group features), Product, Tensor, Additive or DirectSum kernels of objects and"
            " linear kernels of group features, such as Nystroem('product', 256) +"
            " Standardized(Linear()), or another solver."
        )
