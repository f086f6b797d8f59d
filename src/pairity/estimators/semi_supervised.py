"""Machines that learn from unlabelled pairs too: LaplacianPairSVC, TransductivePairSVC (Section 7.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pairity.estimators.machine import PairClassifier, PenalisedMachine
from pairity.exceptions import ConvergenceWarning, warn_the_caller
from pairity.losses.loss import PiecewiseLinear, hinge
from pairity.operators.blockwise import operator_within
from pairity.operators.manifold import DeformedOperator, full_laplacian, pair_laplacian
from pairity.pairs.arrays import Mask, Places, Vector
from pairity.pairs.parity import Parity, halved_weight
from pairity.runtime.progress import say
from pairity.runtime.resources import megabytes_of
from pairity.runtime.validation import check_choice, check_count, check_not_negative, check_strength
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choices import SMO, Chunking, Solver, Splitting
from pairity.solvers.plan import near, solve
from pairity.solvers.problem import AnyProblem, Solution, SolverOptions, TrainingSet
from pairity.solvers.smo import solve_smo
from pairity.solvers.switching import Steps, Switch, Switching, initial_labels, losses_of
from pairity.training.fit import HowToFit, fitted_of, lift, prepare, solved_and_certified, train
from pairity.training.model import label_decisions
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
    training_set, solver, memory_limit, tol, max_iter, positive, class_weight, tie_label, n_symmetric,
    n_antisymmetric, decay, callback, verbose
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
        side = (1 if on_both is None else 2) * len(data)
        if not self._budget.holds(side, side, copies=_MATRICES):
            self._budget.refuse(
                f"{len(data)} labelled and unlabelled pairs",
                megabytes_of(side, side, copies=_MATRICES),
                "fewer unlabelled pairs or a larger memory_limit",
            )
        # the penalty is on the function without its bias, and depends on the features' mean
        bias_is_free = float(self.manifold) == 0.0
        training = prepare(data, loss, self.kernel, how, bias_is_free=bias_is_free)
        found = self._train(training, labelled, how, on_both)
        return self._keep(data, fitted_of(training, *found, full=how.full), how)

    def _train(
        self,
        data: TrainingSet[Any],
        labelled: Places,
        how: HowToFit,
        on_both: SolverOptions | None,
    ) -> tuple[Solution, Certificate]:
        """Bend the kernel, solve on the labelled rows of J, spread over all rows.

        With options for both orders the same on I, whose iterates are averaged with their mirror
        images, or free.
        """
        pairs, kernel, laplacian, options = data.pairs, data.projected, pair_laplacian, how.options
        loss, has_bias = data.halved_loss, data.has_bias
        if on_both is not None and data.parity is not None:  # rows, then their mirror images
            pairs, kernel, laplacian = pairs.with_mirrored(), data.kernel, full_laplacian
            options = on_both
            loss, has_bias = data.loss.with_mirrored(data.parity.sign), True
            labelled = np.concatenate([labelled, labelled + len(data.pairs)])
        links = laplacian(data.pairs, data.parity, self.graph, int(self.n_neighbors))
        # f_I' L_I f_I / |I| = f_J' L_J f_J / |J|
        penalty = (float(self.manifold) / len(pairs)) * links
        operator = DeformedOperator(operator_within(kernel, pairs, self._budget), penalty, labelled)
        problem = AnyProblem(operator, loss, has_bias)

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


@dataclass(eq=False, repr=False)
class TransductivePairSVC(PairClassifier, PenalisedMachine):
    """Support vector classifier of pairs that also uses pairs without a label.

    Seeks a local minimum of (45): the machine of :class:`~pairity.PairSVC` with the labels of the
    unlabelled pairs among the variables, by multiple label switching (Theorem 4), strict so that
    it ends.  The penalty of unlabelled pairs grows in steps to its final value.  The result is
    never above what switching reaches from the labels that the supervised machine gives.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey, as in :class:`~pairity.PairSVC`.
    kernel : Kernel, str or callable
        As in :class:`~pairity.PairSVC`.
    C : float
        Penalty of labelled pairs on the full set I.
    C_unlabelled : float, optional
        Penalty of unlabelled pairs; C by default.
    max_switches : int, optional
        S of the paper: switches per round, counted on ordered pairs, so even in the symmetric
        case (Theorem 4(a)).  No limit by default.
    positive_fraction : float, optional
        Share r of unlabelled pairs labelled as positive.  Antisymmetric: 1/2 by itself, nothing
        else is possible (Remark 7).  Otherwise kept through all switches; by default that of the
        labelled pairs, rounded.
    annealing : int
        Number of penalties, each 4 times the one before, up to ``C_unlabelled``.
    unlabelled : object
        The value in ``y`` that stands for "no label": 0 by default, between the labels -1 and +1
        of a loss and a win.  For labels 0 and 1 choose another, such as -1 (as scikit-learn's
        semi-supervised estimators do) or NaN.
    training_set, solver, memory_limit, tol, max_iter, positive, class_weight, tie_label, n_symmetric,
    n_antisymmetric, decay, callback, verbose
        As in :class:`~pairity.PairSVC`; class weights count for labelled pairs alone, and the
        callback gets a :class:`~pairity.solvers.switching.Switch` after every round.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        Labels of all rows of the training set, as given or as found; the tie label where an
        antisymmetric decision is 0 and stays so: the order of writing makes no winner.
    history_ : list of Switch
        Penalty, objective, number of unordered pairs switched and labels (signs, 0 for undecided)
        of every round; for a fixed penalty each objective is below the one before.
    supervised_objective_ : float
        Objective of (45) with the labels of the supervised machine, before any switch.
    classes_, dual_coef_, support_, support_pairs_, intercept_, objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`, for the labels found.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, TransductivePairSVC
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> model = TransductivePairSVC("antisymmetric", kernel="linear").fit(pairs, [1, 0, 0, -1])
    >>> model.transduction_
    array([ 1, -1,  1, -1])
    """

    _: KW_ONLY
    C_unlabelled: float | None = None
    max_switches: int | None = None
    positive_fraction: float | None = None
    annealing: int = 6
    unlabelled: Any = 0

    #: The callback watches rounds, which all solvers have.
    _watches_steps: ClassVar[bool] = False
    _solvers: ClassVar[tuple[type[Solver], ...]] = (SMO, Chunking, Splitting)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.C_unlabelled is not None:
            check_strength(self.C_unlabelled, "C_unlabelled")
        if self.positive_fraction is not None:
            check_not_negative(self.positive_fraction, "positive_fraction")
        check_count(self.annealing, "annealing")
        if self.max_switches is not None:
            check_count(self.max_switches, "max_switches")
            if self.symmetry == "symmetric" and self.max_switches % 2:
                raise ValueError(
                    f"got max_switches={self.max_switches} for a symmetric model; expected an even"
                    " number: a pair and its swap are switched together (Theorem 4)."
                )

    def _fit(self, data: TrainingData) -> TransductivePairSVC:
        """Choose the labels on J, then train on J or I with them."""
        assert data.unlabelled is not None
        how = self._how_to_fit(len(data))
        how = replace(how, options=replace(how.options, callback=None, report=None))
        unlabelled, weights = data.unlabelled, data.weights
        loss = hinge(np.where(unlabelled, 1.0, data.targets), weights)
        training = prepare(data, loss, self.kernel, how)
        start, labels = self._supervised(training, unlabelled, how)
        penalty = float(self.C if self.C_unlabelled is None else self.C_unlabelled)
        quiet, steps = replace(how.options, say=None), Steps(how.options.max_iter)
        most = np.inf if self.max_switches is None else float(self.max_switches)
        most = most / 2 if data.parity is Parity.EVEN else most  # on J, not on ordered pairs
        switching = Switching(
            problem=training.halved(),
            unlabelled=unlabelled,
            weights=halved_weight(data.parity) * np.where(unlabelled, 1.0, float(self.C)) * weights,
            most_switches=most,
            solve=lambda problem, options, start: solve(problem, how.solver, options, start),
            options=quiet,
            steps=steps,
            watch=self._watch,
        )
        labels, theta, self.history_ = self._descend(switching, labels, penalty, start)
        self.transduction_ = label_decisions(labels, self.classes_, self.tie_label)
        strengths = np.where(unlabelled, penalty, float(self.C)) * weights
        final = replace(training, loss=losses_of(labels, strengths))
        if how.full and data.parity is not None:
            theta = lift(theta, data.parity.sign)
        found = train(final, replace(how, solver=near(how.solver)), theta)
        self._keep(data, fitted_of(final, *found, full=how.full), how)
        if steps.are_used_up and self.certificate_.holds:
            # the machine is the best for its labels, but others may be better
            warn_the_caller(
                f"{type(self).__name__} chose labels until max_iter={how.options.max_iter} steps were"
                f" used up: others may have a lower objective. For these labels it is"
                f" {self.certificate_.primal:.6g} with a duality gap of {self.certificate_.gap:.3g};"
                f" {self._remedy}.",
                ConvergenceWarning,
            )
        return self

    def _descend(
        self, switching: Switching, labels: Vector, penalty: float, start: Vector
    ) -> tuple[Vector, Vector, list[Switch]]:
        """Through growing penalties; from the supervised labels too where that ends lower."""
        steps = np.asarray(penalty * 4.0 ** np.arange(1 - int(self.annealing), 1), dtype=np.float64)
        found, solution, history = switching.run(labels, steps, start)
        if self.annealing == 1:
            self.supervised_objective_ = history[0].objective
            return found, solution.theta, history
        self.supervised_objective_ = switching.objective_of(labels, penalty, start)
        if history[-1].objective <= self.supervised_objective_:
            return found, solution.theta, history
        found, solution, plain = switching.run(labels, steps[-1:], start)
        return found, solution.theta, history + plain

    def _supervised(
        self, data: TrainingSet[PiecewiseLinear], unlabelled: Mask, how: HowToFit
    ) -> tuple[Vector, Vector]:
        """Dual variables on J from labelled rows alone, and labels of all rows."""
        labelled = np.flatnonzero(~unlabelled)
        loss = data.loss.take(labelled).times(float(self.C))
        small = replace(data, pairs=data.pairs[labelled], loss=loss).halved()
        solution = solve(small, how.solver, how.options)
        bias = certify(small, solution.theta, how.options.tol).bias
        operator = operator_within(data.projected, data.pairs, self._budget, small.operator.left)
        outputs = operator.product(solution.theta) + bias
        labels = data.loss.above.copy()
        n_positive = self._n_positive(data.parity, labels[labelled], int(unlabelled.sum()))
        labels[unlabelled] = initial_labels(outputs[unlabelled], n_positive)
        theta = np.zeros(len(labels))
        theta[labelled] = solution.theta
        return theta, labels

    def _n_positive(self, parity: Parity | None, known: Vector, n: int) -> int | None:
        """How many of the n unlabelled rows are positive; None where the law decides."""
        r = self.positive_fraction
        if parity is Parity.ODD:
            if r is not None and r != 0.5:
                raise ValueError(
                    f"got positive_fraction={r!r} for an antisymmetric model; expected 0.5 or None:"
                    " of a pair and its swap exactly one is positive (Remark 7)."
                )
            return None
        if r is None:
            return round(n * float(np.mean(known > 0)))
        wanted = float(r) * n
        if wanted > n or abs(wanted - round(wanted)) > 1e-9 * max(1, n):
            near = [f"{k}/{n}" for k in sorted({min(n, int(wanted) + k) for k in (0, 1)})]
            raise ValueError(
                f"got positive_fraction={r!r} for {n} unlabelled pairs, that is {wanted:g} of them;"
                f" expected a whole number of pairs: try {' or '.join(near)}, or None."
            )
        return round(wanted)

    def _watch(self, record: Switch) -> None:
        if self.verbose:
            say(
                f"penalty {record.penalty:.3g}: objective {record.objective:.10g},"
                f" {record.n_switched} labels switched"
            )
        if self.callback is not None:
            self.callback(record)
