"""A kernel of pairs on standardised features: the formula stays, its atoms see other numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges
from pairity.kernels.features import Features, Matrix, NamedObjects
from pairity.kernels.scaling import SCALES, Scaling, rescaled
from pairity.kernels.wrapped_atoms import WrappedAtoms
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.validation import check_choice

__all__ = ["OnRescaled", "Rescaled", "Standardized"]


class OnRescaled(Kernel):
    """``k((x - shift) * factor, (z - shift) * factor)``: a kernel of features, rescaled first."""

    def __init__(
        self, kernel: Kernel, shift: NDArray[np.float64], factor: NDArray[np.float64]
    ) -> None:
        self.kernel = kernel
        self.shift = shift
        self.factor = factor

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

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows."""
        rows = self.rescale(left)
        return self.kernel.on_features(rows, rows if right is left else self.rescale(right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """Values between rescaled rows, row by row."""
        return self.kernel.paired(self.rescale(left), self.rescale(right))

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects."""
        rows = left._replace(features=self.rescale(left.features))
        same = right.features is left.features
        other = rows.features if same else self.rescale(right.features)
        return self.kernel.on_objects(rows, right._replace(features=other))

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """Values between rescaled objects, row by row."""
        sides = (side._replace(features=self.rescale(side.features)) for side in (left, right))
        return self.kernel.paired_objects(*sides)

    def explicit(self, features: Features) -> Features | None:
        """Those of the kernel, from rescaled rows."""
        return self.kernel.explicit(self.rescale(features))


@dataclass(frozen=True)
class _RescaledAtoms(WrappedAtoms):
    """Atoms whose features are rescaled before a kernel compares them."""

    scaling: Scaling

    wrapper = "Standardized"
    instead = "standardise the objects with ObjectTransformer(StandardScaler()) instead"

    def objects(self, kernel: Kernel) -> Edges:
        """The kernel on rescaled objects."""
        scaling = self.scaling
        return self.inner.objects(OnRescaled(kernel, scaling.object_shift, scaling.object_factor))

    def symmetric(self, kernel: Kernel) -> Any:
        """The kernel on rescaled features."""
        scaling = self.scaling
        return self.inner.symmetric(
            OnRescaled(kernel, scaling.symmetric_shift, scaling.symmetric_factor)
        )

    def antisymmetric(self, kernel: Kernel) -> Any:
        """The kernel on rescaled features, which stay centred at 0."""
        factor = self.scaling.antisymmetric_factor
        return self.inner.antisymmetric(OnRescaled(kernel, scaling_origin(factor), factor))

    def derived(
        self, kernel: Kernel, parts: tuple[str, ...], scaling: Scaling | None = None
    ) -> Any:
        """The kernel on features derived from rescaled ones."""
        if scaling is not None:
            raise KernelError(_TWICE)
        return self.inner.derived(kernel, parts, self.scaling)


_TWICE = "got Standardized inside Standardized; expected one of them."
_ORIGINS: dict[int, NDArray[np.float64]] = {}


def scaling_origin(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """A shift of zeros; one array for each width, because arrays are compared by identity."""
    return _ORIGINS.setdefault(len(factor), np.zeros(len(factor)))


class Rescaled(Kernel):
    """A kernel of pairs on rescaled features, the scale being known: what a fit leaves behind."""

    def __init__(self, kernel: Kernel, scaling: Scaling) -> None:
        self.kernel = kernel
        self.scaling = scaling

    def formula(self, atoms: Atoms) -> Any:
        """The formula of the kernel, on rescaled atoms."""
        if isinstance(atoms, _RescaledAtoms):
            raise KernelError(_TWICE)
        return self.kernel.formula(_RescaledAtoms(atoms, self.scaling))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Standardized({self.kernel!r})" if self.scaling.rescales else repr(self.kernel)


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

    def __init__(self, kernel: Kernel, scale: str = "auto") -> None:
        self.kernel = kernel
        self.scale = scale
        self.check()

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
