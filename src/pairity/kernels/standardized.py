"""Kernels of pairs on standardised or centred features, and the names of default kernels.

Objects and symmetric group features are shifted to mean 0, antisymmetric ones are not: their sign
must stay theirs.  Atoms then see other numbers; the formula of a kernel stays.

Features are centred where a model does not depend on their mean: an inner product of columns with
a large mean (a timestamp of 1.7e9) loses all digits that tell objects apart.  A function
``g(a) - g(b)`` of linear g does not depend on the mean at all, and a function with a bias only
through the bias.  Whether a kernel is of that kind is read off its expansion: edges and factors get
random numbers, then those of shifted features (``k(x, z) + u(x) + u(z)`` for a kernel whose
``translation`` is "additive"), and the value must stay, or change by a function of either pair,
which the bias takes up.

A name means the same kernel wherever a kernel is asked for by its name: in estimators, searches,
``Nystroem("gaussian")`` and formulas of the command line.  Names of Gaussian kernels stand for
standardised features and the median width: "gaussian" is ``Standardized(Gaussian("median"))``,
"tensor" is ``Standardized(Tensor(Gaussian("median")))``.  Classes are what their parameters say:
``Gaussian()`` has sigma 1 on the features as they are, and ``gaussian(2.0)`` in a formula is
``Gaussian(2.0)``.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from itertools import starmap
from operator import mul
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges, Factor, Monomial, Parts, expand
from pairity.kernels.classes import projected
from pairity.kernels.constructions import (
    Additive,
    DirectSum,
    MetricLearning,
    Product,
    Tensor,
    TensorMetric,
)
from pairity.kernels.elementary import (
    Gaussian,
    Linear,
    OnRescaled,
    inverse_spreads,
    moments,
    rescaled,
    with_both_signs,
)
from pairity.kernels.object_kernels import Callable, Identity, Polynomial
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.validation import check_choice

SCALES = ("auto", "columns", "common")
#: Spreads of columns further apart than this speak for different units.
_SAME_UNIT = 10.0
#: Columns whose means are within this share of their spread look centred, as scores of PCA are.
_CENTRED = 0.05
#: A mean of so many spreads is worth centring: below, products lose no more than two digits.
_FAR = 8.0
#: Derived features that a common shift of both objects leaves alone.
_DIFFERENCES = {"difference", "absolute_difference", "antisymmetric", "absolute_antisymmetric"}
#: Random pairs on either side; an identity between polynomials that holds for them holds.
_PROBES = 4


@dataclass(frozen=True, eq=False)
class Scaling:
    """Shifts and factors: ``(x - shift) * factor``; none learned on sparse objects has a shift.

    Compared by identity: one scaling is learned in one fit.
    """

    object_shift: Vector
    object_factor: Vector
    symmetric_shift: Vector
    symmetric_factor: Vector
    antisymmetric_factor: Vector

    @classmethod
    def of(cls, pairs: Pairs, scale: str) -> Scaling:
        """Learn from training pairs, each distinct object and row counted once.

        ``scale="columns"`` gives every column of objects the spread 1, ``"common"`` divides all by
        one number, as suits pixels, coordinates or principal components; ``"auto"`` takes
        columns where their spreads differ so much that they can hardly share a unit.
        """
        used = pairs.without_unused_objects()
        mean, spread = moments(used.objects, are_distinct=used.has_distinct_features)
        if scale == "auto":
            scale = "columns" if _differ_in_unit(mean, spread) else "common"
        if scale == "common":
            spread = np.full_like(spread, np.sqrt(np.mean(spread**2)) if len(spread) else 1.0)
        if sp.issparse(pairs.objects):
            mean = np.zeros_like(mean)
        symmetric_mean, symmetric_spread = moments(pairs.symmetric)
        odd_spread = moments(with_both_signs(pairs.antisymmetric))[1]
        even = symmetric_mean, inverse_spreads(symmetric_spread)
        return cls(mean, inverse_spreads(spread), *even, inverse_spreads(odd_spread))

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of object, symmetric and antisymmetric features."""
        return len(self.object_factor), len(self.symmetric_factor), len(self.antisymmetric_factor)

    @property
    def rescales(self) -> bool:
        """Whether it does more than shift."""
        factors = self.object_factor, self.symmetric_factor, self.antisymmetric_factor
        return bool((np.concatenate(factors) != 1.0).any())

    def apply(self, pairs: Pairs) -> Pairs:
        """The pairs with their features rescaled."""
        return pairs.with_features(
            rescaled(pairs.objects, self.object_shift, self.object_factor),
            rescaled(pairs.symmetric, self.symmetric_shift, self.symmetric_factor),
            pairs.antisymmetric * self.antisymmetric_factor,
        )


def _differ_in_unit(mean: Vector, spread: Vector) -> bool:
    """Whether spreads are far apart, other than by the decay of centred principal components."""
    varying = spread > 0
    if varying.sum() < 2:
        return False
    mean, spread = mean[varying], spread[varying]
    if float(spread.max()) <= _SAME_UNIT * float(np.median(spread)):
        return False
    return bool((np.abs(mean) > _CENTRED * spread).any())


@dataclass(frozen=True)
class WrappedAtoms:
    """Base of atoms that change kernels of objects or of group features; the rest is passed on."""

    inner: Atoms

    #: The kernel that wraps others so, and what to do where it cannot wrap a kernel of whole rows.
    wrapper: ClassVar[str]
    instead: ClassVar[str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def rows(self, kernel: Kernel) -> Any:
        """Refuse: objects cannot be told apart there."""
        raise KernelError(
            f"got {self.wrapper} around {kernel!r}, a kernel of whole rows; expected one made of object"
            f" kernels: {self.instead}."
        )

    def known(self, kernel: Kernel) -> Any:
        """Refuse: there are no features to change."""
        raise KernelError(
            f"got {self.wrapper} around {kernel!r}, which knows its pairs; expected a kernel of"
            f" features: leave {self.wrapper} out."
        )

    def swap_left(self) -> Self:
        """Left pair mirrored."""
        return replace(self, inner=self.inner.swap_left())

    def swap_right(self) -> Self:
        """Right pair mirrored."""
        return replace(self, inner=self.inner.swap_right())


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

    def derived(self, kernel: Kernel, parts: Parts, scaling: Scaling | None = None) -> Any:
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
        return self.kernel.formula(_RescaledAtoms(atoms, self.scaling))

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


def fitted_kernel(kernel: Kernel, pairs: Pairs, parity: Parity | None, *, has_bias: bool) -> Kernel:
    """A kernel with its parameters found on training pairs, on centred features where it may."""
    if pairs.time is not None:
        kernel = kernel.fitted_to_times(pairs.time)
    dense = not sp.issparse(pairs.objects)
    free = dense and ignores_the_mean(kernel, pairs, parity, has_bias=has_bias)
    scaling = _centring(pairs) if free else None
    if scaling is None:
        return kernel.fitted_to(pairs)
    return Rescaled(kernel.fitted_to(scaling.apply(pairs)), scaling)


def _centring(pairs: Pairs) -> Scaling | None:
    """Shifts to mean 0, or None where all means are small beside their spreads."""
    objects = pairs.without_unused_objects().objects
    distinct = pairs.has_distinct_features
    # any shift will do for group features: equal rows need not be looked for
    found = [moments(objects, are_distinct=distinct), moments(pairs.symmetric, are_distinct=True)]
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
    return _ignores_the_mean(kernel, pairs.n_symmetric, pairs.n_antisymmetric, parity, has_bias)


@lru_cache(maxsize=256)
def _ignores_the_mean(
    kernel: Kernel, n_symmetric: int, n_antisymmetric: int, parity: Parity | None, has_bias: bool
) -> bool:
    part = kernel if parity is None else projected(kernel, parity)
    try:
        terms = expand(part, n_symmetric, n_antisymmetric).terms
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
    if symbol.role == "time":  # which is not shifted
        return "invariant"
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
        values = np.zeros((_PROBES, _PROBES))
        for monomial, weight in terms.items():
            values += reduce(mul, starmap(value, _symbols(monomial)), weight)
        return values

    return total(draw), total(shifted)


# Names ------------------------------------------------------------------------------------------

_DEFAULTS: dict[str, Function[[], Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": lambda: Standardized(Gaussian("median")),
    "additive": lambda: Standardized(Additive(Gaussian("median"))),
    "product": lambda: Standardized(Product(Gaussian("median"))),
    "direct_sum": lambda: Standardized(DirectSum(Gaussian("median"))),
    "tensor": lambda: Standardized(Tensor(Gaussian("median"))),
    "identity": Identity,
    "metric_learning": lambda: MetricLearning(Linear()),
    "tensor_metric": lambda: TensorMetric(Linear()),
}

KERNEL_NAMES = tuple(_DEFAULTS)


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel from a kernel, one of the names, or a function of two feature tables."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _DEFAULTS:
        return _DEFAULTS[kernel]()
    if callable(kernel):
        return Callable(kernel)
    raise KernelError(
        f"got kernel={kernel!r}; expected a kernel of pairity.kernels, a function of two feature"
        f" tables, or one of {', '.join(map(repr, KERNEL_NAMES))}."
    )
