"""Further kernels of objects: polynomials, ids, values in a matrix, functions of users.

Like all kernels of features each acts on objects inside a construction.  Used alone, it acts on whole
rows X_ab or is the linear kernel of its implicit features, and is order-invariant (Callable: as far
as the function is).
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable as Function
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.kernels.atoms import Atoms
from pairity.kernels.elementary import (
    Linear,
    _ObjectKernel,
    concatenated_inner_product,
    inner_products,
    paired_inner_products,
    whole_power,
)
from pairity.pairs.arrays import Features, Matrix, Places, as_dense, batches, distinct_rows, joined
from pairity.pairs.parity import Parity
from pairity.runtime.validation import as_symmetric_matrix

#: More monomials than this are no longer few.
_MOST_MONOMIALS = 1024
#: Powers beyond this, or with more monomials than this, take too long to be multiplied out.
_HIGHEST_EXPANDED, _LONGEST_SUM = 32, 512
#: Powers beyond this overflow for all but a few features.
_HIGHEST_DEGREE = 1000


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
        n_monomials = comb(self.degree + n_terms - 1, self.degree)
        if self.degree > _HIGHEST_EXPANDED or n_monomials > _LONGEST_SUM:
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


def monomial_features(features: Features, degree: int) -> Features | None:
    """``sqrt(p! / (e_1! ... e_d!)) x_1^e_1 ... x_d^e_d`` for all exponents that add up to p.

    Inner products of these rows are ``<x, z>^p`` with p the degree, by the multinomial theorem.
    None for more than 1024 monomials, degrees above 32, and sparse tables of a degree above 1.
    """
    if degree == 1:
        return features
    n_columns = features.shape[1]
    if sp.issparse(features) or degree > _HIGHEST_EXPANDED:
        return None
    n_monomials = comb(n_columns + degree - 1, degree)
    if n_monomials > _MOST_MONOMIALS:
        return None
    chosen = list(combinations_with_replacement(range(n_columns), degree))
    columns = np.asarray(chosen, dtype=np.intp).reshape(len(chosen), degree)
    # roots of the numbers of orders in which the columns can be written
    counts = (prod(map(factorial, Counter(names).values())) for names in chosen)
    roots = [float(factorial(degree) // count) ** 0.5 for count in counts]
    monomials = np.tile(roots, (features.shape[0], 1))
    for place in range(degree):
        monomials *= features[:, columns[:, place]]
    return monomials


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


# --8<-- [start:identity]
class Identity(_ObjectKernel):
    """``k(x, z) = 1`` for the same object and 0 otherwise: an effect of its own for each object.

    Objects are the same when their ids are, or their features in pairs without ids.  Used alone it
    is the linear kernel of indicator columns, ``k(a,c) + k(b,d)``: in an antisymmetric
    :class:`~pairity.PairLogistic` that is the model of Bradley and Terry with a Gaussian prior on
    the strengths.  A sum such as ``Additive(Gaussian()) + Additive(Identity())`` has effects of
    features and of names.  An object that was in no training pair has no effect.
    """

    translation = "invariant"
    tells_apart = True

    def on_features(self, left: Features, right: Features) -> Matrix:
        """1.0 where rows are equal."""
        rows, columns = _codes(left, right)
        return (rows[:, np.newaxis] == columns).astype(np.float64)

    def paired(self, left: Features, right: Features) -> Matrix:
        """1.0 where the two rows are equal."""
        if sp.issparse(left) or sp.issparse(right):
            return np.equal(*_codes(left, right)).astype(np.float64)
        return (left == right).all(axis=1).astype(np.float64)

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """1.0 where ids are equal, or rows without ids."""
        return self.on_features(*_what_tells(left, right))

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """1.0 where the two ids are equal, or rows without ids."""
        one, other = _what_tells(left, right)
        if left.codes is not None:
            return (one[:, 0] == other[:, 0]).astype(np.float64)
        return self.paired(one, other)

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features]:
        """Indicators of the objects of all tables, sparse: one column per distinct object."""
        tells = [_what_tells(tables[0], table)[1] for table in tables]
        if len(tells) == 1:
            distinct = distinct_rows(tells[0])
            n_distinct = len(distinct.representative)
            if distinct.are_all_in_order and n_distinct <= _MOST_KEPT:  # as those of training are
                return [_indicators_in_order(n_distinct)]
            return [_indicators(distinct.inverse, n_distinct)]
        distinct = distinct_rows(joined(tells, 0))
        ends = list(accumulate(table.shape[0] for table in tells))
        columns = np.split(distinct.inverse, ends[:-1])
        return [_indicators(column, len(distinct.representative)) for column in columns]


def _indicators(column: Places, n_columns: int) -> sp.csr_array:
    """Rows with a single 1, in the column given."""
    n_rows = len(column)
    parts = np.ones(n_rows), column.astype(np.int32), np.arange(n_rows + 1, dtype=np.int32)
    return sp.csr_array(parts, shape=(n_rows, n_columns))


#: Names whose indicators are kept from fit to fit, where they are in order.
_MOST_KEPT = 10_000


@lru_cache(maxsize=4)
def _indicators_in_order(n_rows: int) -> sp.csr_array:
    """The same where row i is in column i."""
    return _indicators(np.arange(n_rows), n_rows)


def _what_tells(left: NamedObjects, right: NamedObjects) -> tuple[Features, Features]:
    """Ids of both sides, or features of both."""
    if (left.codes is None) != (right.codes is None):
        raise KernelError(
            "got pairs with ids and pairs without for the Identity kernel; expected ids in fit and in"
            " predict, or in neither: pass ids=... to Pairs."
        )
    if left.codes is None or right.codes is None:
        return left.features, right.features
    return left.codes[:, np.newaxis], right.codes[:, np.newaxis]


def _codes(left: Features, right: Features) -> list[Places]:
    """Numbers that are equal where rows are."""
    return np.split(distinct_rows(joined([left, right], 0)).inverse, [left.shape[0]])


# --8<-- [end:identity]
