"""Atoms that are others with something done to what kernels compare: the rest is passed on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.scaling import Scaling

__all__ = ["WrappedAtoms"]


@dataclass(frozen=True)
class WrappedAtoms:
    """Base of atoms that change kernels of objects or of group features on their way."""

    inner: Atoms

    #: The kernel that wraps others so, and what to do where it cannot wrap a kernel of whole rows.
    wrapper: ClassVar[str]
    instead: ClassVar[str]

    @property
    def n_symmetric(self) -> int:
        """Number of symmetric group features."""
        return self.inner.n_symmetric

    @property
    def n_antisymmetric(self) -> int:
        """Number of antisymmetric group features."""
        return self.inner.n_antisymmetric

    def symmetric(self, kernel: Kernel) -> Any:
        """As it is."""
        return self.inner.symmetric(kernel)

    def antisymmetric(self, kernel: Kernel) -> Any:
        """As it is."""
        return self.inner.antisymmetric(kernel)

    def derived(
        self, kernel: Kernel, parts: tuple[str, ...], scaling: Scaling | None = None
    ) -> Any:
        """As it is."""
        return self.inner.derived(kernel, parts, scaling)

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
