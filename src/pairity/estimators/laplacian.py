"""LaplacianPairSVC: a machine that is smooth along a graph of labelled and unlabelled pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.machine import PairClassifier, PenalisedMachine
from pairity.operators.blockwise import operator_within
from pairity.operators.manifold import DeformedOperator, full_laplacian, pair_laplacian
from pairity.runtime.memory import megabytes_of
from pairity.runtime.validation import check_choice, check_count, check_not_negative
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choices import SMO, Chunking, Solver
from pairity.solvers.plan import solve
from pairity.solvers.problem import AnyProblem, Solution, SolverOptions, TrainingSet
from pairity.solvers.smo import solve_smo
from pairity.training.fit import HowToFit, fitted_of, lift, prepare, solved_and_certified
from pairity.training.read import TrainingData

#: Square matrices of doubles over all pairs that a fit holds.
_MATRICES = 5.0


@dataclass(eq=False, repr=False)
class LaplacianPairSVC(PairClassifier, PenalisedMachine):
    """Support vector classifier of pairs with manifold regularisation (Belkin and Niyogi).

    Adds to the machine of :class:`~pairity.PairSVC` on the labelled pairs the penalty

        manifold / 2 * f' L f / |I|

    where L is the normalised Laplacian of a graph over I, *all* training pairs, labelled or not,
    in both orders, and f is without its bias: neighbouring pairs should have similar decisions.
    The graph is mirrored with its pairs, so the swap law holds as before.  The problem is an
    ordinary machine with a bent kernel (:mod:`pairity.operators.manifold`), held as a dense
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
    training_set, solver, memory_limit, tol, max_iter, class_weight, tie_label, n_symmetric,
    n_antisymmetric, callback, verbose
        As in :class:`~pairity.PairSVC`; the solver is "auto", "smo" or "chunking".

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
    >>> model = LaplacianPairSVC("antisymmetric", kernel="linear", n_neighbors=2)
    >>> model.fit(pairs, [1, 0, 0, -1]).predict(pairs)
    array([ 1, -1,  1, -1])
    """

    _: KW_ONLY
    manifold: float = 100.0
    graph: Any = "pairs"
    n_neighbors: int = 6
    unlabelled: Any = 0

    #: A bent kernel has no tensor form to split.
    _solvers: ClassVar[tuple[type[Solver], ...]] = (SMO, Chunking)
    _remedy: ClassVar[str] = "raise max_iter or tol, lower C or manifold, or scale the features"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative(self.manifold, "manifold")
        check_count(self.n_neighbors, "n_neighbors")
        if isinstance(self.graph, str):
            check_choice(self.graph, "graph", ("pairs", "objects"))

    def _fit(self, data: TrainingData) -> LaplacianPairSVC:
        assert data.unlabelled is not None
        how = self._how_to_fit(len(data))
        labelled = np.flatnonzero(~data.unlabelled)
        loss = self._recipe().of(data.targets[labelled], data.weights[labelled])
        on_both = how.options_on_both_orders(data.parity)
        self._refuse_too_many(len(data), 1 if on_both is None else 2)
        # the penalty is on the function without its bias, and depends on the features' mean
        bias_is_free = float(self.manifold) == 0.0
        training = prepare(data, loss, self.kernel, how, bias_is_free=bias_is_free)
        found = self._train(training, labelled, how, on_both)
        return self._keep(data, fitted_of(training, *found, full=how.full), how)

    def _refuse_too_many(self, n: int, orders: int) -> None:
        side = orders * n
        if not self._budget.holds(side, side, copies=_MATRICES):
            self._budget.refuse(
                f"{n} labelled and unlabelled pairs",
                megabytes_of(side, side, copies=_MATRICES),
                "fewer unlabelled pairs or a larger memory_limit",
            )

    def _train(
        self,
        data: TrainingSet[Any],
        labelled: NDArray[np.intp],
        how: HowToFit,
        on_both: SolverOptions | None,
    ) -> tuple[Solution, Certificate]:
        """Bend the kernel, solve on the labelled rows of J, spread over all rows.

        With options for both orders the same on I, whose iterates are averaged with their mirror
        images, or free.
        """
        pairs, kernel, options = data.pairs, data.projected, on_both or how.options
        if on_both is not None:
            pairs, kernel = data.pairs.with_mirrored(), data.kernel
            labelled = np.concatenate([labelled, labelled + len(data.pairs)])
        laplacian = pair_laplacian if on_both is None else full_laplacian
        links = laplacian(data.pairs, data.parity, self.graph, int(self.n_neighbors))
        # f_I' L_I f_I / |I| = f_J' L_J f_J / |J|
        penalty = (float(self.manifold) / len(pairs)) * links
        operator = DeformedOperator(operator_within(kernel, pairs, self._budget), penalty, labelled)
        problem = AnyProblem(operator, data.halved_loss, data.has_bias)
        if on_both is not None and data.parity is not None:
            problem = AnyProblem(operator, data.loss.with_mirrored(data.parity.sign), True)

        def solve_once(problem: Any, options: SolverOptions, start: Any) -> Solution:
            if on_both is not None:
                return solve_smo(problem, options, start)
            return solve(problem, how.solver, options, start)

        # what the coefficients of the plain kernel lose in rounding counts
        solution, certificate = solved_and_certified(
            problem,
            solve_once,
            options,
            certified=lambda theta: certify(problem, theta, options.tol, operator.lost(theta)),
        )
        theta = operator.coefficients(solution.theta)
        if on_both is None and how.full and data.parity is not None:
            theta = lift(theta, data.parity.sign)
        return replace(solution, theta=theta), certificate
