"""TransductivePairSVC: labelled and unlabelled pairs (Section 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.classifier import PairClassifier
from pairity.estimators.labels import label_decisions
from pairity.estimators.semi import read_partly_labelled
from pairity.estimators.support import SupportVectorMachine, most_steps
from pairity.losses import PiecewiseLinear, hinge
from pairity.operators.blockwise import operator_within
from pairity.parity import Parity
from pairity.progress import say
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choice import SOLVERS, solve
from pairity.solvers.problem import Problem, Solution, SolverOptions
from pairity.solvers.switching import Switch, Switching, initial_labels, losses_of
from pairity.solvers.training import TrainingSet, train
from pairity.validation import check_count, check_not_negative, check_strength

__all__ = ["TransductivePairSVC"]

Vector = NDArray[np.float64]


class TransductivePairSVC(PairClassifier, SupportVectorMachine):
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
    training_set, solver, selection, iterates, shrinking, cache_size, memory_limit, precision, tol,
    max_iter, class_weight, tie_label, n_symmetric, n_antisymmetric, callback, verbose
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
    >>> model = TransductivePairSVC("antisymmetric", "linear").fit(pairs, [1, 0, 0, -1])
    >>> model.transduction_
    array([ 1, -1,  1, -1])
    """

    def __init__(
        self,
        symmetry: str = "symmetric",
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        C_unlabelled: float | None = None,
        max_switches: int | None = None,
        positive_fraction: float | None = None,
        annealing: int = 6,
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
        self.C_unlabelled = C_unlabelled
        self.max_switches = max_switches
        self.positive_fraction = positive_fraction
        self.annealing = annealing
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

    #: Every round starts from the last solution; fits themselves start anew.
    warm_start = False
    #: The callback watches rounds, which all solvers have.
    _watches_steps = False
    _solvers = SOLVERS

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TransductivePairSVC:
        """Fit to pairs some of which have labels.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, and ``unlabelled`` where there is none.
        sample_weight : array-like of shape (n,), optional
            Factor on the penalty of each row.
        """
        self._check_parameters()
        rows = read_partly_labelled(self, X, y, sample_weight)
        self.classes_ = rows.classes
        self._unlabelled, self._weights = rows.unlabelled, rows.weights
        loss = hinge(np.where(rows.unlabelled, 1.0, rows.signs), rows.weights)
        self._solve(rows.pairs, loss, rows.parity)
        del self._unlabelled, self._weights
        return self

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

    def _train(self, data: TrainingSet[PiecewiseLinear]) -> tuple[Solution, Certificate]:
        """Choose the labels on J, then train on J or I with them."""
        options = replace(self._options(most_steps(len(data.pairs))), callback=None, report=None)
        problem = data.halved()
        unlabelled = self._unlabelled
        start, labels = self._supervised(data, problem, options)
        penalty = float(self.C if self.C_unlabelled is None else self.C_unlabelled)
        factor = 1.0 if data.parity is None else 2.0
        switching = Switching(
            problem=problem,
            unlabelled=unlabelled,
            weights=factor * np.where(unlabelled, 1.0, float(self.C)) * self._weights,
            most_switches=self._switches_on_j(data.parity),
            solve=self._solve_quietly,
            options=options,
            watch=self._watch,
        )
        labels, theta, self.history_ = self._descend(switching, labels, penalty, start)
        self.transduction_ = label_decisions(labels, self.classes_, self.tie_label)
        weights = np.where(unlabelled, penalty, float(self.C)) * self._weights
        final = replace(data, loss=losses_of(labels, weights))
        full = self.training_set == "full"
        if full and data.parity is not None:
            theta = np.concatenate([theta, data.parity.sign * theta]) / 2.0
        return train(
            final,
            full=full,
            solver="chunking" if self.solver in ("auto", "splitting") else self.solver,
            iterates=self.iterates,
            options=options,
            start=theta,
        )

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
        self, data: TrainingSet[PiecewiseLinear], problem: Problem, options: SolverOptions
    ) -> tuple[Vector, Vector]:
        """Dual variables on J from labelled rows alone, and labels of all rows."""
        labelled = np.flatnonzero(~self._unlabelled)
        loss = data.loss.take(labelled).times(float(self.C))
        small = replace(data, pairs=data.pairs[labelled], loss=loss).halved()
        solution = solve(small, self.solver, options)
        bias = certify(small, solution.theta, options.tol).bias
        operator = operator_within(data.projected, data.pairs, options.budget, small.operator.left)
        outputs = operator.product(solution.theta) + bias
        labels = data.loss.above.copy()
        n_positive = self._n_positive(data.parity, labels[labelled])
        labels[self._unlabelled] = initial_labels(outputs[self._unlabelled], n_positive)
        theta = np.zeros(len(labels))
        theta[labelled] = solution.theta
        return theta, labels

    def _n_positive(self, parity: Parity | None, known: Vector) -> int | None:
        """How many unlabelled rows are positive; None where the law decides."""
        r = self.positive_fraction
        n = int(np.count_nonzero(self._unlabelled))
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

    def _switches_on_j(self, parity: Parity | None) -> float:
        if self.max_switches is None:
            return np.inf
        return self.max_switches / 2 if parity is Parity.EVEN else float(self.max_switches)

    def _solve_quietly(
        self, problem: Problem, options: SolverOptions, start: Vector | None
    ) -> Solution:
        return solve(problem, self.solver, replace(options, say=None), start)

    def _watch(self, record: Switch) -> None:
        if self.verbose:
            say(
                f"penalty {record.penalty:.3g}: objective {record.objective:.10g},"
                f" {record.n_switched} labels switched"
            )
        if self.callback is not None:
            self.callback(record)
