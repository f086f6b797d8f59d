"""PairLogistic: kernel logistic regression of pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from pairity.estimators.machine import MOST_NEWTON_STEPS, PairClassifier, TwoProbabilities
from pairity.losses.smoothed import LossRecipe
from pairity.runtime.validation import check_strength
from pairity.solvers.choices import SMOOTH, Solver


@dataclass(eq=False, repr=False)
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
    solver : {"auto", "newton", "primal", "low_rank"} or an object of pairity.solvers
        "newton" is Newton's method on dual variables: up to 5,000 pairs its systems are
        factored, from there on solved by conjugate gradients.  "primal" is Newton's method on the
        parameters of explicit features, as in :class:`~pairity.PairSVC`.  "low_rank" is Newton's
        method on the parameters of few object features, as there; "auto" takes it for kernels in
        :class:`~pairity.kernels.Nystroem`.
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
    n_symmetric, n_antisymmetric, warm_start, callback, verbose
        As in :class:`~pairity.PairSVC`; steps are those of Newton's method.

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
    >>> model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, [1, -1, 1, -1])
    >>> model.predict_proba(Pairs(strength, first=[0, 3, 1], second=[3, 0, 1])).round(3)
    array([[0.054, 0.946],
           [0.946, 0.054],
           [0.5  , 0.5  ]])
    """

    _: KW_ONLY
    C: float = 1.0
    warm_start: bool = False

    _solvers: ClassVar[tuple[type[Solver], ...]] = SMOOTH

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_strength(self.C, "C")

    def _recipe(self) -> LossRecipe:
        return LossRecipe("logistic", float(self.C))

    def _most_steps(self, n_pairs: int) -> int:
        return MOST_NEWTON_STEPS
