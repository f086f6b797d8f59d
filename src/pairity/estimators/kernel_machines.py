"""PairSVC, PairSVR and PairLogistic: one machine with three losses (Sections 4, 5 and 7.1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from pairity.estimators.machine import (
    PairClassifier,
    PairRegressor,
    PenalisedMachine,
    TwoProbabilities,
)
from pairity.estimators.uncertainty import WithPosterior
from pairity.runtime.validation import check_not_negative
from pairity.solvers.choices import SMOOTH, Solver


@dataclass(eq=False, repr=False)
class PairSVC(PairClassifier, PenalisedMachine):
    """Support vector classifier of pairs, exactly symmetric or antisymmetric under a swap.

    Solves the l1-soft margin problem (12) of the paper on the full training set I, or the
    equivalent problem (20) or (22) on the halved set J:

        minimise 1/2 theta' K theta - sum(beta),   theta = y beta,   0 <= beta <= 2C,

    with ``sum(theta) = 0`` and a bias in the symmetric case, and neither in the antisymmetric
    case.  The decision function obeys ``f(b, a) == f(a, b)`` or ``f(b, a) == -f(a, b)`` bit for
    bit, for any pairs.

    Each row given to :meth:`fit` is one observation of an unordered pair, in whichever order it
    happens to be written.  Do not add mirror images: ``training_set="full"`` does.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey.  "none" trains on the rows exactly as given.
    kernel : Kernel, str or callable
        A kernel of :mod:`pairity.kernels`, the name of a default one, or a function of two
        feature tables.  An order-invariant kernel is projected to the symmetry asked for.
    C : float
        Penalty of the paper: on the full set I.  The halved set uses 2C, with the same optimum.
    training_set : {"halved", "full"}
        Solve on J (half the variables) or on I.
    solver : {"auto", "smo", "chunking", "splitting", "primal", "low_rank"} or a solver object
        An object carries options of its own, as in
        :class:`~pairity.solvers.SMO` ``(selection="first_order")``; a name stands for the defaults.
        "smo" is sequential minimal optimisation, "chunking" works on thousands of pairs at a
        time, "splitting" on the grid of all pairs of objects (tensor-like kernels), "primal" on
        the parameters of kernels that are inner products of few explicit features (linear ones,
        :class:`~pairity.kernels.Identity`); "auto" takes it where they are fewer than the pairs.
        "low_rank" is for kernels of few object features phi: it finds ``phi_a' W phi_b`` and
        linear terms by Newton's method, in O(m r^2 + n r) for each pass over n pairs of m
        objects with r features, and keeps no support pairs.  "auto" takes it for kernels in
        :class:`~pairity.kernels.Nystroem` (with a symmetry and without a callback), else chooses
        among the others by size, density, kernel and memory, and says so when verbose.  All
        others reach the same certificate.
    memory_limit : float, optional
        Megabytes that a fit may use; a share of what is free by default.  A cheaper way is
        taken, or the fit refused, rather than exceed it.
    tol : float
        Largest violation of the KKT conditions allowed, as in scikit-learn's SVC; of "low_rank"
        the largest duality gap, relative to the objective.
    max_iter : int
        Steps allowed; -1 for no limit but a very large one (200 of Newton's method for
        "low_rank").
    class_weight : dict, "balanced" or None
        Factors on C by class.  Must be equal in the antisymmetric case (Lemma 1).
    positive : object
        Label that says that the first object is ahead (antisymmetric), or that the two are alike.
        Rankings, effects, judges and reports follow it, and ask for it where labels of an
        antisymmetric model do not speak for themselves (texts, or numbers such as 1 and 2).  The
        fit is the same: ``classes_`` stay sorted, and decisions above 0 are for ``classes_[1]``.
    tie_label : object
        Label predicted where the decision is exactly 0.  By default 0 for labels -v and +v, the
        mean of two other numbers, and "tie" for text.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, when plain rows ``[x_a | x_ab | x~_ab | x_b]`` are
        given instead of :class:`~pairity.Pairs`.
    decay : float, optional
        Half-life of observations, in the unit of the times of the pairs: a pair counts half as much
        as one that is so much later.  The simple alternative to a kernel of time
        (:class:`~pairity.kernels.Drift`).
    warm_start : bool
        Start from the last solution when :meth:`fit` is called again with as many rows ("low_rank"
        starts anew).
    callback : callable
        Called with an :class:`~pairity.solvers.problem.Iterate` after every step; returning
        something true stops the fit.
    verbose : bool
        Say what is done, and how far it is, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels; ``classes_[1]`` is the positive one.
    support_ : ndarray
        Rows with nonzero dual variables; on the full set rows from n on are the mirrored ones.
    dual_coef_ : ndarray
        ``y * beta`` (halved) or ``y * alpha`` (full) of the support rows.
    intercept_ : float
        Bias; exactly 0.0 in the antisymmetric case.
    objective_ : float
        Optimal value of the dual, as the paper writes it: the same for both training sets.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation and interval of optimal biases, recomputed.
    n_iter_ : int
        Steps taken.
    support_pairs_ : Pairs
        The support pairs.
    approximation_ : tuple of FeatureError
        Low-rank models alone, in the place of ``support_``, ``support_pairs_`` and
        ``dual_coef_``: what landmark features lose of each object kernel on the training objects
        (empty for kernels whose own features are few).

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> model = PairSVC("antisymmetric", kernel="linear").fit(pairs, [1, -1, 1, -1])
    >>> model.predict(Pairs(strength, first=[0, 3, 1], second=[3, 0, 1]))
    array([ 1, -1,  0])
    """

    _: KW_ONLY
    warm_start: bool = False


@dataclass(eq=False, repr=False)
class PairSVR(PairRegressor, PenalisedMachine):
    """Support vector regression of pairs, exactly symmetric or antisymmetric under a swap.

    Solves (41) of the paper on the full training set I through its dual (42), or the equivalent
    problem on the halved set J.  With one signed variable ``theta = alpha_hat - alpha`` per row:

        minimise 1/2 theta' K theta - y' theta + epsilon |theta|_1,   |theta| <= 2C,

    with the balanced kernel, ``sum(theta) = 0`` and a bias in the symmetric case, and with the
    skew-balanced kernel and neither in the antisymmetric case.  (The double sum over targets that
    is printed in (42) is a misprint for a single one.)  The function obeys ``f(b, a) == f(a, b)``
    or ``f(b, a) == -f(a, b)`` bit for bit, for any pairs.

    Each row given to :meth:`fit` is one observation of an unordered pair, in whichever order it
    happens to be written: in the antisymmetric case "a beats b by 3" and "b beats a by -3" are the
    same row.  Do not add mirror images: ``training_set="full"`` does.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.  "none" trains on the rows exactly as given.
    kernel : Kernel, str or callable
        A kernel of :mod:`pairity.kernels`, the name of a default one, or a function of two
        feature tables.  An order-invariant kernel is projected to the symmetry asked for.
    C : float
        Penalty of the paper: on the full set I.  The halved set uses 2C, with the same optimum.
    epsilon : float
        Errors up to this cost nothing; 0 is the absolute error.
    training_set : {"halved", "full"}
        Solve on J (half the variables) or on I.
    solver : {"auto", "smo", "chunking", "splitting", "primal", "low_rank"} or a solver object
        As in :class:`~pairity.PairSVC`; pairs that were observed with several different targets
        are not for "splitting", which then leaves all the work to "chunking".
    memory_limit, max_iter
        As in :class:`~pairity.PairSVC`.
    tol : float
        Largest violation of the KKT conditions allowed, in units of the targets; of "low_rank"
        the largest duality gap, relative to the objective.
    n_symmetric, n_antisymmetric, decay, warm_start, callback, verbose
        As in :class:`~pairity.PairSVC`.

    Attributes
    ----------
    dual_coef_ : ndarray
        ``alpha_hat - alpha`` of the support rows.
    support_, support_pairs_, intercept_, objective_, certificate_, n_iter_, approximation_
        As in :class:`~pairity.PairSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVR
    >>> strength = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> pairs = Pairs(strength, first=[0, 1, 2, 3], second=[1, 2, 3, 0])
    >>> margin = [2.0, -1.0, 2.0, -3.0]
    >>> model = PairSVR("antisymmetric", kernel="linear", C=10.0, epsilon=0.0).fit(pairs, margin)
    >>> model.predict(Pairs(strength, first=[0, 2, 1], second=[2, 0, 1])).round(3)
    array([ 1., -1.,  0.])
    """

    _: KW_ONLY
    epsilon: float = 0.1
    warm_start: bool = False

    _loss: ClassVar[str] = "epsilon"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative(self.epsilon, "epsilon")


@dataclass(eq=False, repr=False)
class PairLogistic(WithPosterior, TwoProbabilities, PairClassifier, PenalisedMachine):
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
    positive : object
        Label that says that the first object is ahead, as in :class:`PairSVC`.
    tie_label : object
        Label predicted where the decision is exactly 0, as in :class:`~pairity.PairSVC`.
    n_symmetric, n_antisymmetric, decay, warm_start, callback, verbose
        As in :class:`~pairity.PairSVC`; steps are those of Newton's method.

    Attributes
    ----------
    classes_, dual_coef_, support_, support_pairs_, intercept_, objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`; every row is a support row.
    approximation_ : tuple of FeatureError
        Of low-rank models, which have no support rows, as in :class:`~pairity.PairSVC`.
    observed_ : Observations
        What it was fitted to, kept for intervals; not of low-rank models.

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
    warm_start: bool = False

    _loss: ClassVar[str] = "logistic"
    _solvers: ClassVar[tuple[type[Solver], ...]] = SMOOTH
    _watches_steps: ClassVar[bool] = False
