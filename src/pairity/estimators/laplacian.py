"""LaplacianPairSVC: a machine that is smooth along a graph of labelled and unlabelled pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.classifier import PairClassifier
from pairity.estimators.semi import read_partly_labelled
from pairity.estimators.support import SupportVectorMachine, most_steps
from pairity.graphs.manifold import full_laplacian, pair_laplacian
from pairity.losses import PiecewiseLinear, hinge
from pairity.memory import megabytes_of
from pairity.operators.blockwise import operator_within
from pairity.operators.deformed import DeformedOperator
from pairity.parity import Parity
from pairity.solvers.certificate import Certificate
from pairity.solvers.choice import solve
from pairity.solvers.problem import AnyProblem, Solution, SolverOptions
from pairity.solvers.smo import solve_smo
from pairity.solvers.training import TrainingSet, solved_and_certified
from pairity.validation import check_choice, check_count, check_not_negative

__all__ = ["LaplacianPairSVC"]

#: Square matrices of doubles over all pairs that a fit holds.
_MATRICES = 5.0


class LaplacianPairSVC(PairClassifier, SupportVectorMachine):
    """Support vector classifier of pairs with manifold regularisation (Belkin and Niyogi).

    Adds to the machine of :class:`~pairity.PairSVC` on the labelled pairs the penalty

        manifold / 2 * f' L f / |I|

    where L is the normalised Laplacian of a graph over I, *all* training pairs, labelled or not,
    in both orders, and f is without its bias: neighbouring pairs should have similar decisions.
    The graph is mirrored with its pairs, so the swap law holds as before.  The problem is an
    ordinary machine with a bent kernel (:mod:`pairity.operators.deformed`), held as a dense
    matrix: for thousands of pairs.

    Parameters
    ----------
    symmetry, kernel, C
        As in :class:`~pairity.PairSVC`.
    manifold : float
        Strength of the penalty; 0 gives the supervised machine.
    graph : {"pairs", "objects"} or matrix of shape (n, n)
        "pairs": nearest neighbours by all features of the pairs.  "objects": pairs that share an
        object and whose other objects are nearest neighbours.  A matrix: symmetric weights between
        the rows given to :meth:`fit`, in the order and orientation in which they are written.
    n_neighbors : int
        Neighbours of each node of the graph.
    unlabelled : object
        The value in ``y`` that stands for "no label", as in :class:`~pairity.TransductivePairSVC`.
    training_set, solver, selection, iterates, shrinking, cache_size, memory_limit, precision, tol,
    max_iter, class_weight, tie_label, n_symmetric, n_antisymmetric, callback, verbose
        As in :class:`~pairity.PairSVC`; there is no ``solver="splitting"``.

    Attributes
    ----------
    dual_coef_, support_, support_pairs_ : coefficients of the plain kernel at all pairs
    classes_, intercept_, objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`; the certificate is that of the problem with the bent kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import LaplacianPairSVC, Pairs
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> model = LaplacianPairSVC("antisymmetric", "linear", n_neighbors=2)
    >>> model.fit(pairs, [1, 0, 0, -1]).predict(pairs)
    array([ 1, -1,  1, -1])
    """

    #: A bent kernel has no tensor form to split.
    _solvers = ("auto", "smo", "chunking")

    def __init__(
        self,
        symmetry: str = "symmetric",
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        manifold: float = 100.0,
        graph: Any = "pairs",
        n_neighbors: int = 6,
        unlabelled: Any = 0,
        training_set: str = "halved",
        solver: str = "auto",
        selection: str = "second_order",
        iterates: str = "mirrored",
        shrinking: bool = True,
        cache_size: float = 200.0,
        memory_limit: float | None = None,
        precision: str = "mixed",
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: Any = None,
        tie_label: Any = None,
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        callback: Callable[..., object] | None = None,
        verbose: bool = False,
    ) -> None:
        self.symmetry = symmetry
        self.kernel = kernel
        self.C = C
        self.manifold = manifold
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.unlabelled = unlabelled
        self.training_set = training_set
        self.solver = solver
        self.selection = selection
        self.iterates = iterates
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.memory_limit = memory_limit
        self.precision = precision
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.tie_label = tie_label
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LaplacianPairSVC:
        """Fit to pairs some of which have labels.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, and ``unlabelled`` where there is none.
        sample_weight : array-like of shape (n,), optional
            Factor on C for each labelled row.
        """
        self._check_parameters()
        rows = read_partly_labelled(self, X, y, sample_weight)
        on_i = self.training_set == "full" and self.iterates != "mirrored"
        self._refuse_too_many(len(rows.pairs), 2 if on_i and rows.parity is not None else 1)
        self.classes_ = rows.classes
        self._labelled: NDArray[np.intp] = np.flatnonzero(~rows.unlabelled)
        chosen = self._labelled
        loss = hinge(rows.signs[chosen], float(self.C) * rows.weights[chosen])
        self._solve(rows.pairs, loss, rows.parity)
        del self._labelled
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative(self.manifold, "manifold")
        check_count(self.n_neighbors, "n_neighbors")
        if isinstance(self.graph, str):
            check_choice(self.graph, "graph", ("pairs", "objects"))

    def _refuse_too_many(self, n: int, orders: int) -> None:
        side = orders * n
        if not self._budget.holds(side, side, copies=_MATRICES):
            self._budget.refuse(
                f"{n} labelled and unlabelled pairs",
                megabytes_of(side, side, copies=_MATRICES),
                "fewer unlabelled pairs or a larger memory_limit",
            )

    def _train(self, data: TrainingSet[PiecewiseLinear]) -> tuple[Solution, Certificate]:
        """Bend the kernel, solve on the labelled rows, spread over all rows."""
        options = self._options(most_steps(len(data.pairs)))
        full = self.training_set == "full" and data.parity is not None
        if full and self.iterates != "mirrored":
            return self._train_on_both_orders(data, options)
        graph = data.pairs, data.parity, self.graph, int(self.n_neighbors)
        # f_I' L_I f_I / |I| = f_J' L_J f_J / |J|
        operator = DeformedOperator(
            operator_within(data.projected, data.pairs, self._budget),
            (float(self.manifold) / len(data.pairs)) * pair_laplacian(*graph),
            self._labelled,
        )
        factor = 1.0 if data.parity is None else 2.0
        loss = data.loss.times(factor)
        problem = AnyProblem(operator, loss, data.parity is not Parity.ODD)
        solution, certificate = solved_and_certified(
            problem, lambda *args: solve(args[0], self.solver, *args[1:]), options
        )
        theta = operator.coefficients(solution.theta)
        if full and data.parity is not None:
            theta = np.concatenate([theta, data.parity.sign * theta]) / 2.0
        return replace(solution, theta=theta), certificate

    def _train_on_both_orders(
        self, data: TrainingSet[PiecewiseLinear], options: SolverOptions
    ) -> tuple[Solution, Certificate]:
        """The same on I, with iterates that are averaged with their mirror images, or free."""
        assert data.parity is not None
        both, n = data.pairs.with_mirrored(), len(data.pairs)
        graph = data.pairs, data.parity, self.graph, int(self.n_neighbors)
        operator = DeformedOperator(
            operator_within(data.kernel, both, self._budget),
            (float(self.manifold) / len(both)) * full_laplacian(*graph),
            np.concatenate([self._labelled, self._labelled + n]),
        )
        problem = AnyProblem(operator, data.loss.with_mirrored(data.parity.sign), True)
        sign = data.parity.sign if self.iterates == "averaged" else 0.0
        solution, certificate = solved_and_certified(
            problem, solve_smo, replace(options, mirror_sign=sign)
        )
        return replace(solution, theta=operator.coefficients(solution.theta)), certificate
