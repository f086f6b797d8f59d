"""Elementary kernels: on objects inside a construction, on whole rows X_ab when used alone.

Used alone, each acts on the concatenated features ``X_ab = (x_a, x_ab, x~_ab, x_b)`` of
Section 3 and is order-invariant (Callable: as far as the function is).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.features import (
    inner_products,
    is_long_power,
    monomial_features,
    paired_inner_products,
    paired_squared_distances,
    squared_distances,
    whole_power,
)
from pairity.kernels.scaling import median_distance, median_of_pairs
from pairity.pairs.arrays import Features, Matrix, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.validation import as_symmetric_matrix, check_strength

#: Powers beyond this overflow for all but a few features.
_HIGHEST_DEGREE = 1000


def concatenated_inner_product(atoms: Atoms, kernel: Kernel) -> Any:
    """``k(a,c) + k(b,d)`` plus the inner products of the group features that there are."""
    edges = atoms.objects(kernel)
    total = edges.ac + edges.bd
    if atoms.n_symmetric:
        total = total + atoms.symmetric(Linear())
    if atoms.n_antisymmetric:
        total = total + atoms.antisymmetric(Linear())
    return total


class _ObjectKernel(Kernel):
    """A kernel of objects that is, used alone, the linear kernel of its implicit features."""

    def formula(self, atoms: Atoms) -> Any:
        return concatenated_inner_product(atoms, self)


class Linear(_ObjectKernel):
    """Inner product ``<x, z>``; on pairs ``<X_ab, X_cd>``, the linear kernel of Section 3."""

    reflection = Parity.ODD
    reflection_invariant = True
    translation = "additive"
    power = 1

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_j>``."""
        return inner_products(left, right)

    def paired(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_i>``."""
        return paired_inner_products(left, right)

    def explicit(self, features: Features) -> Features:
        """The features themselves."""
        return features


@dataclass(eq=False, repr=False)
class Polynomial(Kernel):
    """Homogeneous polynomial kernel ``<x, z>^degree``, formula (5).

    Parameters
    ----------
    degree : int
        From 1 to 1000.  Even degrees have even reflection parity (9), odd degrees odd (11).
    """

    degree: int = 3

    reflection_invariant = True

    def check(self) -> None:
        """Refuse a degree that is not a positive integer."""
        whole = isinstance(self.degree, numbers.Integral) and not isinstance(self.degree, bool)
        if not whole or not 1 <= self.degree <= _HIGHEST_DEGREE:
            raise KernelError(
                f"got Polynomial(degree={self.degree!r}); expected a whole number from 1 to"
                f" {_HIGHEST_DEGREE}."
            )

    @property
    def reflection(self) -> Parity:  # type: ignore[override]
        """Parity of the degree."""
        return Parity.ODD if self.degree % 2 else Parity.EVEN

    @property
    def power(self) -> int:  # type: ignore[override]
        """The degree."""
        return int(self.degree)

    def formula(self, atoms: Atoms) -> Any:
        """``<X_ab, X_cd>^degree``, of whole rows where that has too many monomials."""
        n_terms = 2 + bool(atoms.n_symmetric) + bool(atoms.n_antisymmetric)
        if is_long_power(n_terms, self.degree):
            return atoms.rows(self)
        return whole_power(concatenated_inner_product(atoms, Linear()), self.degree)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_j>^degree``."""
        return whole_power(inner_products(left, right), self.degree)

    def paired(self, left: Features, right: Features) -> Matrix:
        """``<x_i, z_i>^degree``."""
        return whole_power(paired_inner_products(left, right), self.degree)

    def explicit(self, features: Features) -> Features | None:
        """Monomials of the features, where they are few."""
        return monomial_features(features, self.degree)


@dataclass(eq=False, repr=False)
class Gaussian(Kernel):
    """Gaussian kernel ``exp(-|x - z|^2 / (2 sigma^2))``.

    On pairs it is the Gaussian of ``X_ab - X_cd``, which is the product of the Gaussians of the
    parts; its balanced projection on individual features is the tensor kernel.

    Parameters
    ----------
    sigma : float or "median"
        Width, above 0.  scikit-learn's ``gamma`` is ``1 / (2 sigma^2)``.  "median" takes the
        median distance between training objects (:mod:`pairity.kernels.scaling`) when a model is
        fitted.
    """

    sigma: float | str = 1.0

    reflection_invariant = True
    translation = "invariant"

    def check(self) -> None:
        """Refuse a width that is not a finite number above 0."""
        if self.sigma != "median":
            check_strength(self.sigma, "sigma", largest=1e150)  # whose square is a number

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """With the median distance between pairs for a width that is asked for so."""
        return Gaussian(median_of_pairs(pairs)) if self.sigma == "median" else self

    def fitted_to_features(self, table: Features) -> Kernel:
        """With the median distance between rows for a width that is asked for so."""
        return Gaussian(median_distance(table)) if self.sigma == "median" else self

    def formula(self, atoms: Atoms) -> Any:
        """Product of the Gaussians of the edges ac and bd and of the group features."""
        edges = atoms.objects(self)
        product = edges.ac * edges.bd
        if atoms.n_symmetric:
            product = product * atoms.symmetric(self)
        if atoms.n_antisymmetric:
            product = product * atoms.antisymmetric(self)
        return product

    def _profile(self, squared_distance: Matrix) -> Matrix:
        if self.sigma == "median":
            raise KernelError(
                "got values of Gaussian('median') before its width is known; expected a number:"
                " estimators find it in fit, kernel.fitted_to(pairs) does it by hand."
            )
        with np.errstate(over="ignore"):  # as far apart as that is 0
            squared_distance *= -0.5 / float(self.sigma) ** 2
        return np.exp(squared_distance, out=squared_distance)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Gaussian of ``x_i - z_j``."""
        return self._profile(squared_distances(left, right))

    def paired(self, left: Features, right: Features) -> Matrix:
        """Gaussian of ``x_i - z_i``."""
        return self._profile(paired_squared_distances(left, right))


class _Renamed(Kernel):
    """A kernel with a parameter whose name is that of a method or property of kernels."""

    _attributes: ClassVar[dict[str, str]]  # by parameter

    def parameters(self) -> dict[str, Any]:
        return {name: getattr(self, attribute) for name, attribute in self._attributes.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.parameters()

    def set_params(self, **params: Any) -> Self:
        if set(params) - set(self._attributes):
            expected = ", ".join(self._attributes)
            raise ValueError(f"got parameters {sorted(params)}; expected {expected}.")
        for name, value in params.items():
            setattr(self, self._attributes[name], value)
        return self


class Precomputed(_Renamed, _ObjectKernel):
    """Kernel values looked up in a matrix.

    The feature table of the objects is then one column of whole numbers: the row of ``gram`` that
    belongs to the object (``np.arange(m)[:, None]`` for all of them).  Used alone it is the
    linear kernel on the concatenation of the implicit features: ``gram[a,c] + gram[b,d]``.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        Symmetric and positive semi-definite (checked when a model is fitted).
    """

    proven = False
    _attributes = {"gram": "gram_matrix"}

    def __init__(self, gram: Any) -> None:
        self.gram_matrix = gram
        self.check()

    def check(self) -> None:
        """Refuse a matrix that is not square, symmetric and finite."""
        _ = self.gram_values

    @property
    def gram_values(self) -> Matrix:
        """The matrix, checked."""
        return as_symmetric_matrix(self.gram_matrix, "the precomputed Gram matrix")

    def _places(self, features: Features) -> Any:
        if features.shape[1] != 1:
            raise KernelError(
                f"got objects with {features.shape[1]} feature columns for a Precomputed kernel;"
                " expected one column, the row number of each object in the matrix."
            )
        column = as_dense(features)
        size = len(self.gram_matrix)
        places = np.clip(column[:, 0], 0, max(0, size - 1)).astype(np.intp)
        if (places != column[:, 0]).any() or (len(places) and not size):
            raise KernelError(
                "got object features that are not row numbers of the precomputed matrix; expected"
                f" whole numbers from 0 to {size - 1}."
            )
        return places

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Entries of the matrix."""
        return self.gram_values[np.ix_(self._places(left), self._places(right))]

    def paired(self, left: Features, right: Features) -> Matrix:
        """Entries of the matrix, row by row."""
        return self.gram_values[self._places(left), self._places(right)]


class Callable(_Renamed):
    """A function of two feature tables as a kernel.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns the matrix of ``k(x_i, z_j)``.  Inside a construction it gets
        object features (or group features); used alone it gets whole rows ``X_ab``.
    reflection : {"even", "odd", None}
        What ``k(x, -z)`` is, for use as k3 in (8) or (10); checked when a model is fitted.
    """

    proven = False
    _attributes = {"function": "function", "reflection": "declared_reflection"}

    def __init__(self, function: Function[[Any, Any], Any], reflection: Any = None) -> None:
        self.function = function
        self.declared_reflection = reflection
        self.check()

    def check(self) -> None:
        """Refuse something that cannot be called, or an unknown parity."""
        if not callable(self.function):
            raise KernelError(f"got {self.function!r}; expected a function of two feature tables.")
        if self.declared_reflection not in ("even", "odd", None):
            raise KernelError(
                f"got reflection={self.declared_reflection!r}; expected 'even', 'odd' or None."
            )

    @property
    def reflection(self) -> Parity | None:  # type: ignore[override]
        """The parity that the user declared."""
        return {"even": Parity.EVEN, "odd": Parity.ODD, None: None}[self.declared_reflection]

    @property
    def reflection_invariant(self) -> bool:  # type: ignore[override]
        """A declared parity implies it for a symmetric kernel."""
        return self.declared_reflection is not None

    def formula(self, atoms: Atoms) -> Any:
        """The function on whole rows."""
        return atoms.rows(self)

    def on_features(self, left: Features, right: Features) -> Matrix:
        """Values of the function, checked for shape and for NaN."""
        tables = (table.astype(np.float64, copy=False) for table in (left, right))
        values = as_dense(self.function(*tables)).astype(np.float64, copy=False)
        if values.shape != (left.shape[0], right.shape[0]):
            raise KernelError(
                f"got values of shape {values.shape} from the kernel function for tables of"
                f" {left.shape[0]} and {right.shape[0]} rows; expected one value per pair of rows."
            )
        if not np.isfinite(values).all():
            raise KernelError(
                "got NaN or infinite values from the kernel function; expected finite numbers."
            )
        return values

    def paired(self, left: Features, right: Features) -> Matrix:
        """Values row by row, from diagonals of small blocks."""
        parts = batches(left.shape[0], 32)
        blocks = (np.diagonal(self.on_features(left[part], right[part])) for part in parts)
        return np.concatenate([np.zeros(0), *blocks])
