"""Features centred before they are multiplied, where a model does not depend on their mean.

An inner product of columns with a large mean (a timestamp of 1.7e9) loses all digits that tell
objects apart.  A function ``g(a) - g(b)`` of linear g does not depend on the mean at all, and a
function with a bias only through the bias.  Whether a kernel is of that kind is read off its
expansion: edges and factors get random numbers, then those of shifted features
(``k(x, z) + u(x) + u(z)`` for a kernel whose ``translation`` is "additive"), and the value must
stay, or change by a function of either pair, which the bias takes up.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.constructions import Balanced, SkewBalanced
from pairity.kernels.expansion import Expansion, Factor, Monomial, expand
from pairity.kernels.features import Matrix
from pairity.kernels.scaling import Scaling, moments
from pairity.kernels.standardized import Rescaled
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["fitted_kernel", "ignores_the_mean"]

#: A mean of so many spreads is worth centring: below, products lose no more than two digits.
_FAR = 8.0
#: Derived features that a common shift of both objects leaves alone.
_DIFFERENCES = {
    "difference",
    "absolute_difference",
    "antisymmetric",
    "absolute_antisymmetric",
}
#: Random pairs on either side; an identity between polynomials that holds for them holds.
_PROBES = 4


def fitted_kernel(kernel: Kernel, pairs: Pairs, parity: Parity | None, *, has_bias: bool) -> Kernel:
    """A kernel with its parameters found on training pairs, on centred features where it may."""
    if sp.issparse(pairs.objects) or not ignores_the_mean(kernel, pairs, parity, has_bias=has_bias):
        return kernel.fitted_to(pairs)
    scaling = _centring(pairs)
    if scaling is None:
        return kernel.fitted_to(pairs)
    return Rescaled(kernel.fitted_to(scaling.apply(pairs)), scaling)


def _centring(pairs: Pairs) -> Scaling | None:
    """Shifts to mean 0, or None where all means are small beside their spreads."""
    shifts, far = [], False
    for table in (pairs.without_unused_objects().objects, pairs.symmetric):
        mean, spread = moments(table)
        far |= bool((np.abs(mean) > _FAR * spread).any())
        shifts.append(mean)
    if not far:
        return None
    ones = [np.ones(len(shift)) for shift in (*shifts, np.empty(pairs.n_antisymmetric))]
    return Scaling(shifts[0], ones[0], shifts[1], ones[1], ones[2])


def ignores_the_mean(
    kernel: Kernel, pairs: Pairs, parity: Parity | None, *, has_bias: bool
) -> bool:
    """Whether shifting objects, and symmetric group features, leaves every model as it is.

    With a bias the kernel may change by a function of the left and one of the right pair.
    """
    projected = kernel
    if parity is not None:
        projected = Balanced(kernel) if parity is Parity.EVEN else SkewBalanced(kernel)
    try:
        expansion = expand(projected, pairs.n_symmetric, pairs.n_antisymmetric)
    except KernelError:  # standardised, or no kernel of these pairs: not for us to say
        return False
    if not _is_made_of_shiftable_parts(expansion):
        return False
    values = _Values(np.random.default_rng(0))
    plain, shifted = _evaluate(expansion, values.plain), _evaluate(expansion, values.shifted)
    change = shifted - plain
    if has_bias and parity is not Parity.ODD:
        change = change - change.mean(axis=0) - change.mean(axis=1)[:, np.newaxis] + change.mean()
    return bool(np.abs(change).max() <= 1e-10 * np.abs(shifted).max())


def _is_made_of_shiftable_parts(expansion: Expansion) -> bool:
    """Whether a shift has a known effect on every symbol, and any at all on one of them."""
    effects: set[str | None] = set()
    for monomial in expansion.terms:
        effects.update(kernel.translation for kernels in monomial.edges for kernel in kernels)
        effects.update(map(_effect_on, monomial.factors))
    return None not in effects and "additive" in effects


def _effect_on(factor: Factor) -> str | None:
    if factor.role == "symmetric":
        return factor.kernel.translation
    still = factor.role == "antisymmetric" or (
        factor.role == "derived"
        and factor.scaling is None
        and _DIFFERENCES.issuperset(factor.parts)
    )
    return "invariant" if still else None


class _Values:
    """Random numbers for the symbols of an expansion, before and after a shift."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._known: dict[Any, Matrix] = {}

    def _matrix(self, key: Any) -> Matrix:
        return self._known.setdefault(key, self._random.normal(size=(_PROBES, _PROBES)))

    def _vector(self, key: Any) -> Matrix:
        return self._known.setdefault(key, self._random.normal(size=_PROBES))

    def plain(self, symbol: Kernel | Factor, edge: int) -> Matrix:
        """The value of a kernel on an edge, or of a factor."""
        return self._matrix((symbol, edge))

    def shifted(self, symbol: Kernel | Factor, edge: int) -> Matrix:
        """The same for shifted features: ends a and b are 0 and 1 of the left, c and d of the right."""
        value = self.plain(symbol, edge)
        effect = _effect_on(symbol) if isinstance(symbol, Factor) else symbol.translation
        if effect != "additive":
            return value
        left = self._vector((symbol, "left", edge // 2))
        right = self._vector((symbol, "right", edge % 2))
        return value + left[:, np.newaxis] + right


def _evaluate(expansion: Expansion, value: Function[[Any, int], Matrix]) -> Matrix:
    def of_monomial(monomial: Monomial) -> Matrix:
        product = np.ones((_PROBES, _PROBES))
        for edge, kernels in enumerate(monomial.edges):
            for kernel in kernels:
                product = product * value(kernel, edge)
        for factor in monomial.factors:
            product = product * value(factor, 0)
        return product

    terms = (weight * of_monomial(monomial) for monomial, weight in expansion.terms.items())
    return sum(terms, start=np.zeros((_PROBES, _PROBES)))
