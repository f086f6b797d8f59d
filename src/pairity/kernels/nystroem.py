"""Nystroem: landmark features for the object kernels of a kernel of pairs.

The formula stays, its atoms get other object kernels: projections and the swap laws hold as for
any kernel of objects, at a rank that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, Edges, Expansion, expand
from pairity.kernels.elementary import OnRescaled
from pairity.kernels.landmarks import WAYS, FeatureError, LandmarkFeatures
from pairity.kernels.object_kernels import Precomputed
from pairity.kernels.standardized import KERNEL_NAMES, WrappedAtoms, as_kernel
from pairity.pairs.arrays import Features, Matrix
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_choice, check_count


@dataclass(frozen=True)
class _LandmarkAtoms(WrappedAtoms):
    """Atoms whose object kernels are replaced by landmark features, where there are some."""

    features: tuple[LandmarkFeatures, ...]

    wrapper = "Nystroem"
    instead = "leave Nystroem out, or use Product(Nystroem(k1)) with a kernel k1 of objects"

    def objects(self, kernel: Kernel) -> Edges:
        alike = (features for features in self.features if _alike(features.kernel, kernel))
        return self.inner.objects(next(alike, kernel))


def _alike(one: Any, two: Any) -> bool:
    """Whether two kernels are the same, with arrays compared by their numbers: copies count."""
    if one is two:
        return True
    if isinstance(one, Kernel):
        return type(one) is type(two) and _alike(one.parameters(), two.parameters())
    if isinstance(one, dict):
        return all(_alike(value, two[name]) for name, value in one.items())
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(_alike, one, two))
    if sp.issparse(one):
        return one.shape == two.shape and (one != two).nnz == 0
    return np.array_equal(one, two) if isinstance(one, np.ndarray) else bool(one == two)


@dataclass(eq=False, repr=False)
class Approximated(Kernel):
    """A kernel of pairs with landmark features for its object kernels: what a fit leaves behind."""

    kernel: Kernel
    features: tuple[LandmarkFeatures, ...]

    of_few_features = True

    def check(self) -> None:
        """Refuse what is no kernel, and features that are none of landmarks."""
        sound = isinstance(self.kernel, Kernel) and isinstance(self.features, tuple)
        if not (sound and all(isinstance(one, LandmarkFeatures) for one in self.features)):
            raise KernelError("got an approximation whose parts do not fit; expected a fitted one.")
        super().check()

    def formula(self, atoms: Atoms) -> Any:
        """The formula of the kernel, on atoms with landmark features."""
        return self.kernel.formula(_LandmarkAtoms(atoms, self.features))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Nystroem({self.kernel!r})"


@dataclass(eq=False, repr=False)
class Nystroem(Kernel):
    """A kernel whose object kernels become inner products of few features when a model is fitted.

    Each object kernel k that the formula of the kernel uses is replaced by
    ``k(x, Z) k(Z, Z)^+ k(Z, z)`` with landmarks Z found among the training objects.  It is exact
    where every distinct object is a landmark.  Kernels of group features and of derived features
    stay as they are, and so do object kernels that have at most ``n_components`` features of their
    own, such as Linear on a narrow table, or sparse ones.  :func:`approximation_errors` says how
    much a fitted kernel has lost.

    Inside a construction it stands for an object kernel: ``Product(Nystroem(Gaussian("median")))``.

    Parameters
    ----------
    kernel : Kernel or str
        Kernel of pairs (or of objects, inside a construction), or the name of a default one such
        as "gaussian" or "product".
    n_components : int
        Most landmarks, and so most features, of each object kernel.
    landmarks : {"k-means", "leverage", "uniform"}
        Means of clusters of objects as the kernel sees them; or objects drawn in proportion to
        their approximate ridge leverage (:mod:`pairity.kernels.landmarks`), or drawn evenly.
        Sparse objects and functions of users have no means: "k-means" is "leverage" for them.
    random_state : int
        Seed of the choice.

    Examples
    --------
    >>> from pairity.kernels import Gaussian, Nystroem, Product
    >>> Nystroem("gaussian", 64)
    Nystroem('gaussian', n_components=64, landmarks='k-means', random_state=0)
    >>> Product(Nystroem(Gaussian("median"), 64, "leverage")).k1.n_components
    64
    """

    kernel: Kernel | str
    n_components: int = 256
    landmarks: str = "k-means"
    random_state: int = 0

    of_few_features = True

    def check(self) -> None:
        """Refuse what is no kernel, an unknown choice of landmarks, and numbers out of range."""
        named = isinstance(self.kernel, str) and self.kernel in KERNEL_NAMES
        if not (named or isinstance(self.kernel, Kernel)):
            raise KernelError(
                f"got kernel={self.kernel!r} for Nystroem; expected a kernel of pairity.kernels, or"
                f" one of {', '.join(map(repr, KERNEL_NAMES))}."
            )
        check_count(self.n_components, "n_components", error=KernelError)
        check_count(self.random_state, "random_state", 0, error=KernelError)
        check_choice(self.landmarks, "landmarks", WAYS, error=KernelError)
        super().check()

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """The kernel of pairs with landmarks among the objects of the training pairs."""
        self.check()
        kernel = as_kernel(self.kernel).fitted_to(pairs)
        table = pairs.without_unused_objects().objects
        # without features it is the kernel itself, and refuses what has no object kernels
        expansion = expand(Approximated(kernel, ()), pairs.n_symmetric, pairs.n_antisymmetric)
        features = (self._landmarks(k1, table) for k1 in _object_kernels(expansion))
        return Approximated(kernel, tuple(one for one in features if one is not None))

    def fitted_to_features(self, table: Features) -> Kernel:
        """The kernel of features with landmarks among the rows of a table."""
        self.check()
        kernel = as_kernel(self.kernel).fitted_to_features(table)
        return self._landmarks(kernel, table) or kernel

    def _landmarks(self, kernel: Kernel, table: Features) -> LandmarkFeatures | None:
        """Features for a kernel of objects; None where it has few, or sparse ones, of its own."""
        _refuse_names(kernel)
        own = kernel.explicit(table[:1])
        if own is not None and (sp.issparse(own) or own.shape[1] <= self.n_components):
            return None
        return LandmarkFeatures.of(
            kernel, table, int(self.n_components), self.landmarks, int(self.random_state)
        )

    def formula(self, atoms: Atoms) -> Any:
        """Unknown before a fit."""
        raise KernelError(self._unknown)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Unknown before a fit."""
        raise KernelError(self._unknown)

    @property
    def _unknown(self) -> str:
        return (
            f"got values of {self!r} before the landmarks are known; expected a fitted kernel:"
            " estimators do it in fit, kernel.fitted_to(pairs) does it by hand."
        )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        options = list(self.parameters().items())[1:]
        shown = ", ".join(f"{name}={value!r}" for name, value in options)
        return f"Nystroem({self.kernel!r}, {shown})"


def _object_kernels(expansion: Expansion) -> tuple[Kernel, ...]:
    """Kernels on the edges of an expansion, each once, in the order they occur."""
    edges = (edge for monomial in expansion.terms for edge in monomial.edges)
    return tuple(dict.fromkeys(kernel for edge in edges for kernel in edge))


def _refuse_names(kernel: Kernel) -> None:
    """Refuse kernels that look objects up by id or number: nothing lies between two of those."""
    for inner in kernel.walk():
        by_id = not inner.children() and type(inner).on_objects is not Kernel.on_objects
        if by_id or isinstance(inner, Precomputed):
            raise KernelError(
                f"got Nystroem around {inner!r}, which looks objects up by id or number; expected"
                " kernels of features: add it outside, as in Nystroem(kernel) + Additive(Identity())."
            )


def approximation_errors(kernel: Kernel, table: Features) -> tuple[FeatureError, ...]:
    """What each :class:`LandmarkFeatures` of a fitted kernel loses on the objects of a table.

    Parameters
    ----------
    kernel : Kernel
        A kernel with landmarks: ``Nystroem(...).fitted_to(pairs)``.
    table : array or CSR of shape (n_objects, n_columns)
        Objects, such as ``pairs.objects``.

    Returns
    -------
    tuple of FeatureError
        One for each object kernel that landmarks stand for; landmarks of group features are left
        out.
    """
    return tuple(error for k1 in _object_kernels(expand(kernel)) for error in _errors(k1, table))


def _errors(kernel: Kernel, table: Features) -> Iterator[FeatureError]:
    """Errors of the landmark features inside an object kernel, on the table as they see it."""
    if isinstance(kernel, LandmarkFeatures):
        yield kernel.error(table)
        return
    if isinstance(kernel, OnRescaled):
        table = kernel.rescale(table)
    for child in kernel.children():
        yield from _errors(child, table)
