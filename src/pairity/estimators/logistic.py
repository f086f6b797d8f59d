"""PairLogistic: kernel logistic regression of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pairity.distributed.dataset import PairDataset
from pairity.estimators.classifier import PairClassifier
from pairity.estimators.from_dataset import fit_from_dataset
from pairity.estimators.two_labels import TwoProbabilities
from pairity.losses import Logistic
from pairity.losses.compact import LossRecipe
from pairity.solvers.certificate import Certificate
from pairity.solvers.newton import solve_newton
from pairity.solvers.problem import Solution
from pairity.solvers.training import TrainingSet, train_halved
from pairity.validation import check_strength

__all__ = ["PairLogistic"]


class PairLogistic(TwoProbabilities, PairClassifier):
    """Kernel logistic regression of pairs: probabilities that obey the swap law exactly.

    Minimises ``1/2 |f|^2 + C sum_I log(1 + exp(-y (f + bias)))`` over the full training set I, or
    the same with 2C and the balanced or skew-balanced kernel over the halved set J, by Newton's
    method.  The antisymmetric model has no bias.  For probabilities

        P(a beats b) + P(b beats a) == 1     antisymmetric, and P = 1/2 for (a, a),
        P(a ~ b) == P(b ~ a)                 symmetric,

    bit for bit.

    Each row given to :meth:`fit` is one observation of an unordered pair, in whichever order it
    happens to be written.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey.  "none" trains on the rows exactly as given.
    kernel : Kernel, str or callable
        A kernel of :mod:`pairity.kernels`, the name of a default one, or a function of two
        feature tables.
    C : float
        Weight of the loss on the full set I; the halved set uses 2C, with the same optimum.
    training_set : {"halved", "full"}
        Whether coefficients are given on J, or on the rows followed by their mirror images.
    solver : {"auto", "newton", "low_rank"}
        "newton" is Newton's method on dual variables: up to 5,000 pairs its systems are
        factored, from there on solved by conjugate gradients.  "low_rank" is Newton's method on
        the parameters of few object features, as in :class:`~pairity.PairSVC`; "auto" takes it
        for kernels in :class:`~pairity.kernels.Nystroem`.
    memory_limit : float, optional
        Megabytes that a fit may use; a share of what is free by default.
    tol : float
        Largest difference allowed between a dual variable, over its bound, and the probability
        that it stands for; of "low_rank" the largest duality gap, relative to the objective.
    max_iter : int
        Newton steps allowed; -1 for 200.
    class_weight : dict, "balanced" or None
        Factors on C by class.  Must be equal in the antisymmetric case (Lemma 1).
    tie_label : object
        Label predicted where the decision is exactly 0, as in :class:`~pairity.PairSVC`.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, when plain rows are given instead of
        :class:`~pairity.Pairs`.
    warm_start : bool
        Start from the last solution when :meth:`fit` is called again with as many rows.
    callback : callable
        Called with an :class:`~pairity.solvers.problem.Iterate` after every Newton step; returning
        something true stops the fit.
    verbose : bool
        Say what is done, and how far it is, on standard error.

    Attributes
    ----------
    classes_, dual_coef_, support_, support_pairs_, intercept_, objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`; every row is a support row.
    approximation_ : tuple of FeatureError
        Of low-rank models, which have no support rows, as in :class:`~pairity.PairSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> model = PairLogistic("antisymmetric", "linear").fit(pairs, [1, -1, 1, -1])
    >>> model.predict_proba(Pairs(strength, first=[0, 3, 1], second=[3, 0, 1])).round(3)
    array([[0.054, 0.946],
           [0.946, 0.054],
           [0.5  , 0.5  ]])
    """

    _solvers = ("auto", "newton", "low_rank")

    def __init__(
        self,
        symmetry: str = "symmetric",
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        training_set: str = "halved",
        solver: str = "auto",
        memory_limit: float | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: Any = None,
        tie_label: Any = None,
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        warm_start: bool = False,
        callback: Callable[..., object] | None = None,
        verbose: bool = False,
    ) -> None:
        self.symmetry = symmetry
        self.kernel = kernel
        self.C = C
        self.training_set = training_set
        self.solver = solver
        self.memory_limit = memory_limit
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.tie_label = tie_label
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PairLogistic:
        """Fit to labelled pairs.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values.  In the antisymmetric case one value is enough (rows
            written winner first).
        sample_weight : array-like of shape (n,), optional
            Factor on C for each row, that is each unordered pair.
        """
        if isinstance(X, PairDataset):
            recipe = LossRecipe("logistic", float(self.C))
            return fit_from_dataset(self, X, y, sample_weight, recipe)
        pairs, signs, weights, parity = self._read_training(X, y, sample_weight)
        counted = np.flatnonzero(weights > 0)
        loss = Logistic(signs[counted], float(self.C) * weights[counted])
        self._solve(pairs[counted], loss, parity)
        self._renumber(counted, len(pairs))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.C, "C")

    def _train(self, data: TrainingSet[Logistic]) -> tuple[Solution, Certificate]:
        return train_halved(
            data,
            solve_newton,
            full=self.training_set == "full",
            options=self._options(200),
            start=self._start(len(data.pairs)),
        )
