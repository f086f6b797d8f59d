"""Solvers as users choose them: objects that carry their options; a name stands for the defaults.

Which of them "auto" stands for is decided in :mod:`pairity.solvers.plan`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, TypeAlias

from pairity.runtime.validation import check_choice, check_positive
from pairity.solvers.problem import SolverOptions


@dataclass(frozen=True)
class Solver:
    """Base of solvers, and "auto": the choice is left to :mod:`pairity.solvers.plan`."""

    name: ClassVar[str] = "auto"

    def __init_subclass__(cls, name: str | None = None) -> None:
        cls.name = name or cls.name

    def applied_to(self, options: SolverOptions) -> SolverOptions:
        """Options of a run with those of this solver."""
        return options


@dataclass(frozen=True)
class SMO(Solver, name="smo"):
    """Sequential minimal optimisation (Section 5): steps of one or two pairs, all to be seen.

    Parameters
    ----------
    selection : {"second_order", "first_order"}
        Working-set rule: largest decrease, or the maximal violating pair (26).
    iterates : {"mirrored", "averaged", "free"}
        With ``training_set="full"``: keep every iterate mirrored (Theorem 3), average it with its
        mirror image (Remark 6), or neither.
    shrinking : bool
        Set variables aside that sit firmly on a bound.
    cache_size : float
        Megabytes for kernel rows.
    """

    selection: str = "second_order"
    iterates: str = "mirrored"
    shrinking: bool = True
    cache_size: float = 200.0

    def __post_init__(self) -> None:
        check_choice(self.selection, "selection", ("second_order", "first_order"))
        check_choice(self.iterates, "iterates", ("mirrored", "averaged", "free"))
        check_positive(self.cache_size, "cache_size")

    def applied_to(self, options: SolverOptions) -> SolverOptions:
        """With the working-set rule, shrinking and cache asked for."""
        return replace(
            options,
            second_order=self.selection == "second_order",
            shrinking=bool(self.shrinking),
            cache_size=float(self.cache_size),
        )


@dataclass(frozen=True)
class Chunking(Solver, name="chunking"):
    """Working sets of thousands of pairs, products through objects: the general choice."""


@dataclass(frozen=True)
class Splitting(Solver, name="splitting"):
    """Rounds on the grid of all pairs of objects, for tensor-like kernels, finished by chunking.

    Parameters
    ----------
    precision : {"mixed", "double"}
        "mixed" works in single precision; the finish is in double precision either way.
    """

    precision: str = "mixed"

    def __post_init__(self) -> None:
        check_choice(self.precision, "precision", ("mixed", "double"))

    def applied_to(self, options: SolverOptions) -> SolverOptions:
        """In the precision asked for."""
        return replace(options, single_precision=self.precision == "mixed")


@dataclass(frozen=True)
class Newton(Solver, name="newton"):
    """Newton's method on dual variables: systems are factored up to 5,000 pairs."""


@dataclass(frozen=True)
class Spectral(Solver, name="spectral"):
    """Ridge regression in closed form: a tensor kernel and every pair of the objects once."""


@dataclass(frozen=True)
class Dense(Solver, name="dense"):
    """Ridge regression by one Cholesky factorisation."""


@dataclass(frozen=True)
class ConjugateGradients(Solver, name="cg"):
    """Ridge regression by conjugate gradients, which never form the matrix."""


@dataclass(frozen=True)
class LowRank(Solver, name="low_rank"):
    """``f(a, b) = phi_a' W phi_b`` and linear terms, for kernels of few object features phi."""


@dataclass(frozen=True)
class Primal(Solver, name="primal"):
    """Newton's method on the parameters of explicit features, for kernels that have few.

    Sparse rows of hinge and epsilon-insensitive losses without a bias, such as games of players known
    by name, take coordinate descent on the dual where that is quicker.
    """


#: Solvers of the losses: hinge and epsilon-insensitive, logistic, squared.
SUPPORT_VECTORS: tuple[type[Solver], ...] = (SMO, Chunking, Splitting, LowRank, Primal)
SMOOTH: tuple[type[Solver], ...] = (Newton, LowRank, Primal)
RIDGE: tuple[type[Solver], ...] = (
    Spectral,
    Dense,
    ConjugateGradients,
    LowRank,
    Primal,
)

SolverLike: TypeAlias = str | Solver


@cache
def _named(name: str, suitable: tuple[type[Solver], ...]) -> Solver:
    check_choice(name, "solver", ("auto", *(one.name for one in suitable)))
    return next((one() for one in suitable if one.name == name), Solver())


def as_solver(solver: Any, suitable: tuple[type[Solver], ...]) -> Solver:
    """The object that a name stands for, or the object itself, if it is a suitable one."""
    if isinstance(solver, str):
        return _named(solver, suitable)
    if not isinstance(solver, suitable):
        names = ("auto", *(one.name for one in suitable))
        known = ", ".join(f"{one.__name__}()" for one in suitable)
        raise ValueError(
            f"got solver={solver!r}; expected one of the names {', '.join(map(repr, names))} or an"
            f" object of pairity.solvers: {known}."
        )
    return solver
