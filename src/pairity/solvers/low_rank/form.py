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

Object features are in single precision and in a basis that suits the training pairs: it makes
``E[phi phi']`` over their ends diagonal, with entries ``moments``.  The curvature of a loss in
``W_ij`` is then nearly ``moments_i moments_j`` times the number of pairs, which is what Newton's
method divides by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Factor, Monomial, expand
from pairity.kernels.classes import parity_of, projected
from pairity.operators.terms import explicit_features
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.parity import Parity

_AC, _AD, _BC, _BD = range(4)
_STRAIGHT, _CROSSED = (_AC, _BD), (_AD, _BC)
#: More features than this make matrices W that are larger than most sets of pairs.
_MOST_FEATURES = 4096

Table: TypeAlias = NDArray[np.float32] | sp.csr_array


@dataclass(frozen=True)
class Term:
    """``scale * phi_a' W phi_b``, or ``scale * (phi_a + s phi_b)' u``, of one table of features."""

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
    bilinear: tuple[Term, ...]
    strengths: tuple[Term, ...]
    groups: tuple[Group, ...]
    parity: Parity
    has_bias: bool


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
    is_known = parity_of(kernel, n_symmetric, n_antisymmetric) is parity
    part = kernel if is_known else projected(kernel, parity)
    terms = dict(expand(part, n_symmetric, n_antisymmetric).terms)
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
        self.bilinear: list[Term] = []
        self.strengths: list[Term] = []
        self.groups: list[Group] = []

    def take(self, monomial: Monomial) -> None:
        """Remove the block that a term belongs to."""
        present = tuple(edge for edge, kernels in enumerate(monomial.edges) if kernels)
        if not present:
            weight = self.terms.pop(monomial)
            self._need(weight > 0, monomial)
            self.groups.append(Group(monomial.factors, float(np.sqrt(weight))))
            return
        (kernel, *others), *different = {kernels for kernels in monomial.edges if kernels}
        self._need(not (others or different or monomial.factors), monomial)
        sign = self.parity.sign
        if present in (_STRAIGHT, _CROSSED):
            weight = self._pop(kernel, {_STRAIGHT: 1.0, _CROSSED: sign}, monomial)
            # <sym(phi_a phi_b'), sym(phi_c phi_d')> is half of the bracket
            self.bilinear.append(Term(self._table(kernel), float(np.sqrt(2.0 * weight))))
        else:
            self._need(len(present) == 1, monomial)
            signs = {(_AC,): 1.0, (_AD,): sign, (_BC,): sign, (_BD,): 1.0}
            weight = self._pop(kernel, signs, monomial)
            self.strengths.append(Term(self._table(kernel), float(np.sqrt(weight))))

    def _pop(self, kernel: Kernel, signs: Mapping[Any, float], monomial: Monomial) -> float:
        """Remove terms on these edges that share one weight, up to the signs."""
        weights = []
        for present, sign in signs.items():
            edges = tuple((kernel,) if edge in present else () for edge in range(4))
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
        product = f"object kernels times kernels of {kinds} features"
        what = product if kinds else "products of object kernels"
        raise KernelError(
            f"got {self.kernel!r}, which has {what}: no low-rank model; expected sums of Gaussian"
            " (without group features), Product, Tensor, Additive or DirectSum kernels of objects and"
            " linear kernels of group features, such as Nystroem('product', 256) +"
            " Standardized(Linear()), or another solver."
        )


@dataclass(frozen=True)
class FeatureMap:
    """``phi(x) = explicit(x) basis``, rounded to single precision; sparse features as they are."""

    kernel: Kernel
    basis: NDArray[np.float64] | None

    def __call__(self, objects: ObjectTable) -> Table:
        """Features of objects, shape (m, r)."""
        return self.of(_explicit(self.kernel, objects))

    def of(self, explicit: NDArray[np.float64] | sp.csr_array) -> Table:
        """The same from explicit features of the kernel."""
        if self.basis is None:
            return sp.csr_array(explicit)
        return np.ascontiguousarray(np.asarray(explicit) @ self.basis, dtype=np.float32)


def learn_map(
    kernel: Kernel, objects: ObjectTable, ends: NDArray[np.float64], *, bilinear: bool
) -> tuple[FeatureMap, Table, NDArray[np.float64]]:
    """Return the map, the features of the objects, and their second moments.

    ``ends`` says how often each object is an end of a training pair.
    """
    explicit = _explicit(kernel, objects)
    shares = ends / max(float(ends.sum()), 1.0)
    if sp.issparse(explicit):
        if bilinear:
            raise KernelError(
                f"got {kernel!r} with {explicit.shape[1]} sparse features where products of features"
                " are needed; expected few dense ones: use Additive(...) for objects known by ids"
                " alone, or Nystroem(kernel, 256) for objects with features."
            )
        table = sp.csr_array(explicit)
        return FeatureMap(kernel, None), table, table.power(2).T @ shares
    explicit = np.asarray(explicit)
    if bilinear and explicit.shape[1] > _MOST_FEATURES:
        raise KernelError(
            f"got {kernel!r} with {explicit.shape[1]} features; expected at most {_MOST_FEATURES}:"
            " use Nystroem(kernel, 256)."
        )
    moments, basis = np.linalg.eigh(explicit.T @ (explicit * shares[:, np.newaxis]))
    learned = FeatureMap(kernel, basis)
    return learned, learned.of(explicit), np.maximum(moments, 0.0)


def _explicit(kernel: Kernel, objects: ObjectTable) -> NDArray[np.float64] | sp.csr_array:
    explicit = kernel.explicit(objects)
    if explicit is None:
        raise KernelError(
            f"got {kernel!r}, which has no finite number of features, in a low-rank model; expected"
            " kernels that have: wrap kernels of features as Nystroem(kernel, 256), leave others out,"
            " or use another solver."
        )
    return explicit
