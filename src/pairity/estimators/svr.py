"""PairSVR: support vector regression of pairs (Section 7.1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from pairity.estimators.machine import PairRegressor, SupportVectorMachine
from pairity.losses.smoothed import LossRecipe
from pairity.runtime.validation import check_not_negative


@dataclass(eq=False, repr=False)
class PairSVR(PairRegressor, SupportVectorMachine):
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
    n_symmetric, n_antisymmetric, warm_start, callback, verbose
        As in :class:`~pairity.PairSVC`.

    Attributes
    ----------
    support_ : ndarray
        Rows with nonzero dual variables; on the full set rows from n on are the mirrored ones.
    dual_coef_ : ndarray
        ``alpha_hat - alpha`` of the support rows.
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
        Of low-rank models, which have no support pairs, as in :class:`~pairity.PairSVC`.

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

    def _recipe(self) -> LossRecipe:
        return LossRecipe("epsilon", float(self.C), float(self.epsilon))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative(self.epsilon, "epsilon")
