"""What a kernel is, and the algebra of kernels: sums, entrywise products, scaling.

A kernel is declared once.  On *features* (of objects, or group features of pairs) it is a
function of two rows: :meth:`Kernel.on_features`.  On *pairs* it is a formula over atoms
(:mod:`pairity.kernels.atoms`): object kernels between the four ends, kernels of group features.
Gram matrices, rows, diagonals, classes and expansions all follow from that one formula.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable as Function
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from inspect import signature
from operator import add, mul
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from pairity.exceptions import KernelError
from pairity.pairs.arrays import Features, Matrix, Vector, joined
from pairity.pairs.parity import Parity

if TYPE_CHECKING:
    from pairity.kernels.atoms import Atoms
    from pairity.kernels.drift import States
    from pairity.pairs.data import Pairs


class NamedObjects(NamedTuple):
    """Objects as kernels see them: features, and numbers that stand for ids, if any."""

    features: Features
    codes: Matrix | None


class Kernel(BaseEstimator):
    """Base of all kernels; parameters work as in scikit-learn (``kernel__sigma`` in a search).

    Subclasses that act on pairs define :meth:`formula`; those that act on features define
    :meth:`on_features` and :meth:`paired` as well.
    """

    #: What k(x, -z) is: EVEN if k(x, z), ODD if -k(x, z), None if neither; formulas (9), (11).
    reflection: Parity | None = None
    #: Whether k(-x, -z) = k(x, z).
    reflection_invariant: bool = False
    #: What a shift of x and z by the same row does to k(x, z): nothing ("invariant"), or adding a
    #: function of x and one of z ("additive"); None if neither is known.
    translation: str | None = None
    #: What K(ab, dc) is, for a kernel that knows its pairs: EVEN if K(ab, cd), ODD if -K(ab, cd).
    swap_parity: Parity | None = None
    #: Whether the laws of the formula follow from its form, not from a user's word.
    proven: bool = True

    # Structure that a kernel may declare: operators ask for it, and never for the type of a kernel

    #: p, for a kernel of features that is ``<x, z>^p`` of the rows that :meth:`compared` returns.
    power: int | None = None
    #: P, for a kernel of whole rows that is ``X_ab P X_cd'``, formula (37).
    bilinear_matrix: Matrix | None = None
    #: k1, for a kernel of pairs that is ``(k1(a,c) - k1(a,d) - k1(b,c) + k1(b,d))^2 / 4``.
    metric_of: Kernel | None = None
    #: Whether it stands for few features of objects, and so for a low-rank model.
    of_few_features: bool = False
    #: Whether it compares the times of two pairs.
    of_time: bool = False
    #: Whether it is 1 for the same object and 0 otherwise.
    tells_apart: bool = False

    def compared(self, table: Features) -> Features:
        """The rows that the kernel compares in the end, which differ where it rescales features."""
        return table

    def exponent(self, features: Features) -> Features | None:
        """Rows phi with ``k(x, z) = exp(-|phi(x) - phi(z)|^2)``, where there are such."""
        return None

    def explicit(self, features: Features) -> Features | None:
        """Rows whose inner products are this kernel of features, where they are few; or None."""
        return None

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features] | None:
        """The same for several tables in one space, for a kernel that may look at ids as well."""
        rows = [self.explicit(table.features) for table in tables]
        few = [part for part in rows if part is not None]
        return few if len(few) == len(rows) else None

    def states(self, times: Vector, gaps: Vector) -> States | None:
        """A Markov kernel of time as states that go from moment to moment; None for any other."""
        return None

    def products(self, lefts: list[Pairs], right: Pairs, weights: Matrix) -> list[Matrix] | None:
        """``sum_j K(left_i, right_j) weights_j`` for lists of left pairs, without the matrix.

        None by default: a kernel that knows its pairs may have a quicker way than its entries.
        """
        return None

    # Values -----------------------------------------------------------------------------------

    def __post_init__(self) -> None:  # of kernels that are dataclasses
        self.check()

    def formula(self, atoms: Atoms) -> Any:
        """Value of the kernel between two pairs, written with atoms."""
        raise NotImplementedError

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``k(x_i, z_j)`` for all rows."""
        raise KernelError(
            f"got {self!r}, a kernel of pairs, where objects or group features are compared;"
            " expected an object kernel such as Linear(), Polynomial(2) or Gaussian(1.0)."
        )

    def paired(self, left: Features, right: Features) -> Matrix:
        """``k(x_i, z_i)`` row by row."""
        return np.diagonal(self.on_features(left, right)).copy()

    def on_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """The same as :meth:`on_features`, for a kernel that may look at ids as well."""
        return self.on_features(left.features, right.features)

    def paired_objects(self, left: NamedObjects, right: NamedObjects) -> Matrix:
        """The same as :meth:`paired`, for a kernel that may look at ids as well."""
        return self.paired(left.features, right.features)

    def on_pairs(self, left: Pairs, right: Pairs) -> Matrix:
        """``K(left_i, right_j)`` for a kernel that knows its pairs, not just their features."""
        raise NotImplementedError

    def paired_on_pairs(self, left: Pairs, right: Pairs) -> Matrix:
        """``K(left_i, right_i)`` for a kernel that knows its pairs."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse parameters out of range; called by constructors and again before a fit."""
        for child in self.children():
            child.check()

    def parameters(self) -> dict[str, Any]:
        """Constructor parameters by name: ``get_params(deep=False)``, without its cost."""
        own_type: Any = type(self)
        return {name: getattr(self, name) for name in _parameter_names(own_type)}

    def children(self) -> tuple[Kernel, ...]:
        """Kernels among the parameters."""
        listed = (v if type(v) is tuple else (v,) for v in self.parameters().values())
        return tuple(item for items in listed for item in items if isinstance(item, Kernel))

    def walk(self) -> list[Kernel]:
        """This kernel and all kernels inside it."""
        return [self, *(kernel for child in self.children() for kernel in child.walk())]

    def mapped(self, change: Function[[Kernel], Kernel]) -> Kernel:
        """A copy with the kernels among the parameters changed; matrices are shared."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        for name, value in self.parameters().items():
            if isinstance(value, Kernel):
                setattr(twin, name, change(value))
            elif isinstance(value, tuple) and any(isinstance(item, Kernel) for item in value):
                setattr(twin, name, tuple(map(change, value)))
        return twin

    def detached(self) -> Kernel:
        """A copy that parameters set on this kernel later do not reach; matrices are shared."""
        return self.mapped(lambda child: child.detached())

    # Parameters that the training pairs decide (``sigma="median"``, standardisation) ----------

    def fitted_to(self, pairs: Pairs) -> Kernel:
        """The kernel of pairs with all its parameters known, from the training pairs."""
        return self.mapped(lambda child: child.fitted_to(pairs))

    def fitted_to_features(self, table: Features) -> Kernel:
        """The kernel of features with all its parameters known, from the rows of a table."""
        return self.mapped(lambda child: child.fitted_to_features(table))

    def fitted_to_times(self, times: Vector) -> Kernel:
        """The kernel with what it asks of the times of the training pairs."""
        return self.mapped(lambda child: child.fitted_to_times(times))

    def gram(self, left: Pairs, right: Pairs | None = None) -> Matrix:
        """Matrix ``K(left_i, right_j)``, in blocks of rows: the reference for every fast path."""
        from pairity.kernels.atoms import dense_gram

        return dense_gram(self, left, left if right is None else right)

    __call__ = gram

    def diagonal(self, pairs: Pairs) -> Matrix:
        """``K(pair_i, pair_i)`` for all i."""
        from pairity.kernels.atoms import PairedAtoms

        return np.asarray(self.formula(PairedAtoms(pairs, pairs)))

    @property
    def token(self) -> tuple[Any, ...]:
        """Structural identity: equal kernels have equal tokens (arrays count by identity)."""
        kept = self.__dict__.get("_token")
        return kept or (type(self).__name__, *map(_token, self.parameters().values()))

    def with_token(self) -> Self:
        """This kernel, its parameters as they will stay: what it is need not be found out again."""
        for kernel in reversed(self.walk()):
            kernel.__dict__["_token"] = kernel.token
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without the token, in which arrays count by identity."""
        return {name: value for name, value in self.__dict__.items() if name != "_token"}

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Kernel) and self.token == other.token)

    def __hash__(self) -> int:
        return hash(self.token)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        values = self.parameters()
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in values.items())
        return f"{type(self).__name__}({shown})"

    # Algebra --------------------------------------------------------------------------------

    def __add__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            both = (k.terms if isinstance(k, Sum) else (k,) for k in (self, other))
            return Sum(sum(both, ()))
        return NotImplemented

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            both = (k.factors if isinstance(k, EntrywiseProduct) else (k,) for k in (self, other))
            return EntrywiseProduct(sum(both, ()))
        if isinstance(other, numbers.Real):
            return Scaled(float(other), self)
        return NotImplemented

    __rmul__ = __mul__


@cache
def _parameter_names(kernel_type: Any) -> tuple[str, ...]:
    own = kernel_type.__init__ is not object.__init__
    return tuple(signature(kernel_type).parameters) if own else ()


def _token(value: Any) -> Any:
    if isinstance(value, Kernel):
        return value.token
    if isinstance(value, float | int | str):
        return value
    if isinstance(value, tuple):
        return tuple(map(_token, value))
    return value if isinstance(value, Hashable) and not callable(value) else ("identity", id(value))


def _shown(value: Any) -> str:
    if not isinstance(value, Hashable):  # arrays, nested lists, tables
        return f"<{'x'.join(map(str, np.shape(value)))} matrix>"
    if callable(value) and not isinstance(value, Kernel):
        return getattr(value, "__name__", repr(value))
    return repr(value)


def _of_children(name: str) -> Any:
    """A method: what those of that name of all children return, combined."""
    return lambda self, *arguments: self.combine(
        getattr(child, name)(*arguments) for child in self.children()
    )


def _of_kernel(name: str) -> Any:
    """A property: that of the one kernel inside."""
    return property(lambda self: getattr(self.kernel, name), doc="That of the kernel.")


class CombinedKernel(Kernel):
    """A kernel whose values are those of its children, combined entry by entry."""

    _operation: Any

    def combine(self, values: Iterator[Any]) -> Any:
        """Values of the children, combined."""
        return reduce(self._operation, values)

    formula = _of_children("formula")
    on_features, paired = _of_children("on_features"), _of_children("paired")
    on_objects, paired_objects = _of_children("on_objects"), _of_children("paired_objects")

    @property
    def reflection_invariant(self) -> bool:  # type: ignore[override]
        """Whether all children are."""
        return all(child.reflection_invariant for child in self.children())


class Sum(CombinedKernel):
    """Sum of kernels; stays in the class that all terms share."""

    def __init__(self, terms: tuple[Kernel, ...]) -> None:
        self.terms = terms

    _operation = staticmethod(add)

    def explicit(self, features: Features) -> Features | None:
        """Those of all terms beside one another, if all have some."""
        parts = [term.explicit(features) for term in self.terms]
        return None if any(part is None for part in parts) else joined(parts, 1)

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features] | None:
        """Those of all terms beside one another, if all have some."""
        few = [part for term in self.terms if (part := term.explicit_together(tables)) is not None]
        complete = len(few) == len(self.terms)
        return [joined(beside, 1) for beside in zip(*few, strict=True)] if complete else None

    @property
    def reflection(self) -> Parity | None:  # type: ignore[override]
        """The reflection parity that all terms share, if they do."""
        reflections = {term.reflection for term in self.terms}
        return reflections.pop() if len(reflections) == 1 else None

    @property
    def translation(self) -> str | None:  # type: ignore[override]
        """Additive if one term is and the others are at most that."""
        effects = {term.translation for term in self.terms}
        if None in effects:
            return None
        return "additive" if "additive" in effects else "invariant"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return " + ".join(map(repr, self.terms))


class EntrywiseProduct(CombinedKernel):
    """Entrywise product; parities multiply (even*even = odd*odd = even, even*odd = odd)."""

    def __init__(self, factors: tuple[Kernel, ...]) -> None:
        self.factors = factors

    _operation = staticmethod(mul)

    @property
    def reflection(self) -> Parity | None:  # type: ignore[override]
        """Product of the factors' reflection parities, where all have one."""
        parities = [factor.reflection for factor in self.factors]
        known = [parity for parity in parities if parity is not None]
        return reduce(mul, known) if len(known) == len(parities) else None

    @property
    def translation(self) -> str | None:  # type: ignore[override]
        """Invariant if every factor is."""
        invariant = all(factor.translation == "invariant" for factor in self.factors)
        return "invariant" if invariant else None

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = (f"({f!r})" if isinstance(f, Sum) else repr(f) for f in self.factors)
        return " * ".join(shown)


@dataclass(eq=False, repr=False)
class Scaled(CombinedKernel):
    """A kernel times a number that is not negative."""

    factor: float
    kernel: Kernel

    translation, reflection = _of_kernel("translation"), _of_kernel("reflection")

    def check(self) -> None:
        """Refuse a factor that would make the kernel negative."""
        if not 0.0 <= self.factor < np.inf:
            raise KernelError(
                f"got a kernel scaled by {self.factor}; expected a finite factor of at least 0: a"
                " negative multiple of a kernel is not positive semi-definite."
            )
        super().check()

    def combine(self, values: Iterator[Any]) -> Any:
        """The value of the kernel, times the factor."""
        return next(values) * self.factor

    def explicit(self, features: Features) -> Features | None:
        """Those of the kernel, times the root of the factor."""
        rows = self.kernel.explicit(features)
        return None if rows is None else rows * float(np.sqrt(self.factor))

    def explicit_together(self, tables: Sequence[NamedObjects]) -> list[Features] | None:
        """Those of the kernel, times the root of the factor."""
        rows = self.kernel.explicit_together(tables)
        return None if rows is None else [part * float(np.sqrt(self.factor)) for part in rows]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.factor:g} * {inner}"
