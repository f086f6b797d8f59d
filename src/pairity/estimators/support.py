"""Machines with support vectors: quadratic duals with bounds, and the solvers they share."""

from __future__ import annotations

from dataclasses import replace

from pairity.estimators.base import PairMachine
from pairity.losses.piecewise import PiecewiseLinear
from pairity.solvers.certificate import Certificate
from pairity.solvers.choice import SOLVERS
from pairity.solvers.problem import Solution, SolverOptions
from pairity.solvers.training import TrainingSet, train
from pairity.validation import check_choice, check_positive, check_strength

__all__ = ["SupportVectorMachine", "most_steps"]


def most_steps(n_pairs: int) -> int:
    """Steps that ``max_iter=-1`` allows: seconds for few pairs, however large C is."""
    return max(min(10_000_000, 1_000_000 + 1000 * n_pairs), 100 * n_pairs)


class SupportVectorMachine(PairMachine):
    """Base of :class:`~pairity.PairSVC`, :class:`~pairity.PairSVR` and their like."""

    C: float
    selection: str
    iterates: str
    shrinking: bool
    cache_size: float
    precision: str
    warm_start: bool

    _solvers: tuple[str, ...] = (*SOLVERS, "low_rank")
    #: Whether the callback gets single steps of a solver.
    _watches_steps = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        watched = self._watches_steps and self.callback is not None
        if watched and self.solver not in ("auto", "smo"):
            raise ValueError(
                f"got a callback with solver={self.solver!r}; expected solver='smo' or 'auto': only"
                " sequential minimal optimisation has single steps to watch."
            )
        check_choice(self.selection, "selection", ("second_order", "first_order"))
        check_choice(self.iterates, "iterates", ("mirrored", "averaged", "free"))
        check_strength(self.C, "C")
        check_positive(self.cache_size, "cache_size")
        check_choice(self.precision, "precision", ("mixed", "double"))

    def _train(self, data: TrainingSet[PiecewiseLinear]) -> tuple[Solution, Certificate]:
        return train(
            data,
            full=self.training_set == "full",
            solver=self.solver,
            iterates=self.iterates,
            options=self._options(most_steps(len(data.pairs))),
            start=self._start(len(data.pairs)),
        )

    def _options(self, most_steps: int) -> SolverOptions:
        return replace(
            super()._options(most_steps),
            second_order=self.selection == "second_order",
            shrinking=bool(self.shrinking),
            cache_size=float(self.cache_size),
            single_precision=self.precision == "mixed",
        )
