"""A kernel of pairs on standardised or centred features: its atoms see other numbers.

Features are centred where a model does not depend on their mean: an inner product of columns with
a large mean (a timestamp of 1.7e9) loses all digits that tell objects apart.  A function
``g(a) - g(b)`` of linear g does not depend on the mean at all, and a function with a bias only
through the bias.  Whether a kernel is of that kind is read off its expansion: edges and factors get
random numbers, then those of shifted features (``k(x, z) + u(x) + u(z)`` for a kernel whose
``translation`` is "additive"), and the value must stay, or change by a function of either pair,
which the bias takes up.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import starmap
from operator import add, mul
from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges, WrappedAtoms
from pairity.kernels.constructions import projected
from pairity.kernels.expansion import Factor, Monomial, expand
from pairity.kernels.features import Features, Matrix, NamedObjects
from pairity.kernels.scaling import SCALES, Scaling, moments, rescaled
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.validation import check_choice


class OnRescaled(Kernel):
    """``k((x - shift) * factor, (z - shift) * factor)``: a kernel of features, rescaled first."""

    def __init__(self, kernel: Kernel, shift: Vector, factor: Vector) -> None:
        self.kernel, self.shift, self.factor = kernel, shift, factor

    @property
    def reflection(self) -> Parity | None:  # type: ignore[override]
        """That of the kernel, without a shift."""
        return None if self.shift.any() else self.kernel.reflection

    @property
    def reflection_invariant(self) -> bool:  # type: ignore[override]
        """That of the kernel, without a shift."""
        return not self.shift.any() and self.kernel.reflection_invariant

    def rescale(self, table: Features) -> Features:
        """The features that the kernel gets to see."""
        if table.shape[1] != len(self.factor):
            raise KernelError(
                f"got features with {table.shape[1]} columns; expected {len(self.factor)}, as in the"
                " fit that learned their scale."
            )
        return rescaled(table, self.shift, self.factor)

    def _both(self, left: Features, right: Features) -> tuple[Features, Features]:
        rows = self.rescale(left)
        return rows, rows if right is left else self.rescale(right)

    def _named(self, *sides: NamedObjects) -> Iterator[NamedObjects]:
        tables = self._both(*(side.features for side in sides))
        return (NamedObjects(*new) for new in zip(tables, (s.codes for s in sides), strict=True))

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows."""
        return self.kernel.on_features(*self._both(left, right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows, row by row."""
        return self.kernel.paired(*self._both(left, right))

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects."""
        return self.kernel.on_objects(*self._named(left, right))

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects, row by row."""
        return self.kernel.paired_objects(*self._named(left, right))

    @property
    def power(self) -> int | None:  # type: ignore[override]
        """That of the kernel."""
        return self.kernel.power

    def compared(self, table: Features) -> Features:
        """Rescaled rows, as the kernel compares them."""
        return self.kernel.compared(self.rescale(table))

    def explicit(self, features: Features) -> Features | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.explicit(self.rescale(features))

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features] | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.explicit_together(
            [NamedObjects(self.rescale(table.features), table.codes) for table in tables]
        )


_TWICE = "got Standardized inside Standardized; expected one of them."


@dataclass(frozen=True)
class _RescaledAtoms(WrappedAtoms):
    """Atoms whose features are rescaled before a kernel compares them."""

    scaling: Scaling

    wrapper = "Standardized"
    instead = "standardise the objects with ObjectTransformer(StandardScaler()) instead"

    def objects(self, kernel: Kernel) -> Edges:
        by = self.scaling
        return self.inner.objects(OnRescaled(kernel, by.object_shift, by.object_factor))

    def symmetric(self, kernel: Kernel) -> Any:
        by = self.scaling
        return self.inner.symmetric(OnRescaled(kernel, by.symmetric_shift, by.symmetric_factor))

    def antisymmetric(self, kernel: Kernel) -> Any:
        factor = self.scaling.antisymmetric_factor  # these features stay centred at 0
        return self.inner.antisymmetric(OnRescaled(kernel, _zeros(len(factor)), factor))

    def derived(
        self, kernel: Kernel, parts: tuple[str, ...], scaling: Scaling | None = None
    ) -> Any:
        if scaling is not None:
            raise KernelError(_TWICE)
        return self.inner.derived(kernel, parts, self.scaling)


@cache
def _zeros(width: int) -> Vector:
    """One array for each width, because arrays are compared by identity."""
    return np.zeros(width)


class Rescaled(Kernel):
    """A kernel of pairs on rescaled features, the scale being known: what a fit leaves behind."""

    def __init__(self, kernel: Kernel, scaling: Scaling) -> None:
        self.kernel, self.scaling = kernel, scaling

    def formula(self, atoms: Atoms) -> Any:
        """The formula of the kernel, on rescaled atoms."""
        if isinstance(atoms, _RescaledAtoms):
            raise KernelError(_TWICE)
        rescaled_atoms: Any = _RescaledAtoms(atoms, self.scaling)
        return self.kernel.formula(rescaled_atoms)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Standardized({self.kernel!r})" if self.scaling.rescales else repr(self.kernel)


@dataclass(eq=False, repr=False)
class Standardized(Kernel):
    """A kernel of pairs on features that are standardised when a model is fitted.

    Parameters
    ----------
    kernel : Kernel
        Kernel of pairs made of object kernels and kernels of group features.
    scale : {"auto", "columns", "common"}
        Every column of the objects to spread 1; or all divided by one number, as suits columns
        that share a unit (pixels, coordinates, principal components); "auto" takes columns only
        where spreads differ by more than a factor of 10.  Columns of group features are brought
        to spread 1 each, antisymmetric ones without a shift.
    """

    kernel: Kernel
    scale: str = "auto"

    def check(self) -> None:
        """Refuse what is no kernel, and an unknown scale."""
        if not isinstance(self.kernel, Kernel):
            raise KernelError(f"got {self.kernel!r} to standardise; expected a kernel of pairs.")
        check_choice(self.scale, "scale", SCALES)
        super().check()

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """The kernel with the scale of the training pairs, and widths found on that scale."""
        scaling = Scaling.of(pairs, self.scale)
        return Rescaled(self.kernel.fitted_to(scaling.apply(pairs)), scaling)

    def formula(self, atoms: Atoms) -> Any:
        """Unknown before a fit."""
        raise KernelError(
            f"got values of {self!r} before the scale is known; expected a fitted kernel: estimators"
            " do it in fit, kernel.fitted_to(pairs) does it by hand."
        )


# Centring ---------------------------------------------------------------------------------------

#: A mean of so many spreads is worth centring: below, products lose no more than two digits.
_FAR = 8.0
#: Derived features that a common shift of both objects leaves alone.
_DIFFERENCES = {"difference", "absolute_difference", "antisymmetric", "absolute_antisymmetric"}
#: Random pairs on either side; an identity between polynomials that holds for them holds.
_PROBES = 4


def fitted_kernel(kernel: Kernel, pairs: Pairs, parity: Parity | None, *, has_bias: bool) -> Kernel:
    """A kernel with its parameters found on training pairs, on centred features where it may."""
    dense = not sp.issparse(pairs.objects)
    free = dense and ignores_the_mean(kernel, pairs, parity, has_bias=has_bias)
    scaling = _centring(pairs) if free else None
    if scaling is None:
        return kernel.fitted_to(pairs)
    return Rescaled(kernel.fitted_to(scaling.apply(pairs)), scaling)


def _centring(pairs: Pairs) -> Scaling | None:
    """Shifts to mean 0, or None where all means are small beside their spreads."""
    found = [moments(table) for table in (pairs.without_unused_objects().objects, pairs.symmetric)]
    if not any((np.abs(mean) > _FAR * spread).any() for mean, spread in found):
        return None
    (mean, _), (even_mean, _) = found
    ones = (np.ones(width) for width in (len(mean), len(even_mean), pairs.n_antisymmetric))
    return Scaling(mean, next(ones), even_mean, next(ones), next(ones))


def ignores_the_mean(
    kernel: Kernel, pairs: Pairs, parity: Parity | None, *, has_bias: bool
) -> bool:
    """Whether shifting objects, and symmetric group features, leaves every model as it is.

    With a bias the kernel may change by a function of the left and one of the right pair.
    """
    part = kernel if parity is None else projected(kernel, parity)
    try:
        terms = expand(part, pairs.n_symmetric, pairs.n_antisymmetric).terms
    except KernelError:  # standardised, or no kernel of these pairs: not for us to say
        return False
    effects = {_effect_on(symbol) for monomial in terms for symbol, _ in _symbols(monomial)}
    if None in effects or "additive" not in effects:
        return False
    plain, shifted = _probed(terms)
    change = shifted - plain
    if has_bias and parity is not Parity.ODD:
        change = change - change.mean(axis=0) - change.mean(axis=1)[:, np.newaxis] + change.mean()
    return bool(np.abs(change).max() <= 1e-10 * np.abs(shifted).max())


def _symbols(monomial: Monomial) -> list[tuple[Kernel | Factor, int]]:
    """Kernels and the edges that they are on, and factors."""
    on_edges = [(kernel, edge) for edge, kernels in enumerate(monomial.edges) for kernel in kernels]
    return [*on_edges, *((factor, 0) for factor in monomial.factors)]


def _effect_on(symbol: Kernel | Factor) -> str | None:
    """What a shift does to a symbol."""
    if isinstance(symbol, Kernel):
        return symbol.translation
    if symbol.role == "symmetric":
        return symbol.kernel.translation
    differences = symbol.role == "derived" and _DIFFERENCES.issuperset(symbol.parts)
    still = symbol.role == "antisymmetric" or (differences and symbol.scaling is None)
    return "invariant" if still else None


def _probed(terms: dict[Monomial, float]) -> tuple[Matrix, Matrix]:
    """Values of an expansion for random values of its symbols, and for those after a shift.

    Ends a and b are 0 and 1 of the left pair, c and d of the right one.
    """
    random, drawn = np.random.default_rng(0), dict[Any, Matrix]()

    def draw(*key: Any, shape: tuple[int, ...] = (_PROBES, _PROBES)) -> Matrix:
        return drawn.setdefault(key, random.normal(size=shape))

    def shifted(symbol: Kernel | Factor, edge: int) -> Matrix:
        value = draw(symbol, edge)
        if _effect_on(symbol) != "additive":
            return value
        left = draw(symbol, "left", edge // 2, shape=(_PROBES, 1))
        return value + left + draw(symbol, "right", edge % 2, shape=(_PROBES,))

    def total(value: Function[[Any, int], Matrix]) -> Matrix:
        return reduce(
            add,
            (
                weight
                * reduce(mul, starmap(value, _symbols(monomial)), np.ones((_PROBES, _PROBES)))
                for monomial, weight in terms.items()
            ),
        )

    return total(draw), total(shifted)
