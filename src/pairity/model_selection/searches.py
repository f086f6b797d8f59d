"""PairSVCCV, PairLogisticCV and PairRidgeCV: estimators that choose their kernel and strength."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from pairity.estimators.kernel_machines import PairLogistic, PairSVC
from pairity.estimators.machine import PairMachine
from pairity.estimators.ridge import PairRidge
from pairity.model_selection.curves import Criterion, SquaredError, Vector
from pairity.model_selection.search import ClassifierSearch, PairSearch


@dataclass(eq=False, repr=False)
class PairSVCCV(ClassifierSearch):
    """:class:`~pairity.PairSVC` with its kernel and C chosen on held-out pairs.

    The default needs no choices: ``kernel="auto"`` weighs families of kernels (sums of effects of
    single objects, interactions, distances, derived features, identity; always a linear term) by
    what they are worth on held-out pairs and adds them up; C runs over a path; the sigmoid of
    the probabilities is fitted to held-out decisions.  All folds and all C share Gram matrices
    and decompositions.  The model that is kept is fitted to all pairs and certified.  Of more than
    5,000 pairs C is validated for the sum of families in the span of 400 of them, where its entries
    are costly; a kernel of your own is validated as it is.

    Widths and scales of features are found on all training pairs, which needs no labels; all that
    looks at labels is done on folds.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey.
    kernel : "auto", Kernel, str, callable, or a list of them
        What to choose from; "auto" may be in the list.  A grid of widths is a list:
        ``[Gaussian(s) for s in (0.5, 1.0, 2.0)]``.
    Cs : int or array-like
        Values of C to try; a number means so many from 0.001 to 1000.
    cv : splitter, int, or list of (train, test), optional
        Which pairs are held out: decides what the choice and the probabilities hold for.  By
        default five folds of unordered pairs; ``ObjectKFold(5)`` for pairs of new objects.
    scoring : {"log_loss", "accuracy", "roc_auc"}
        What the choice is by; all three are in ``cv_results_``.
    path_tol : float
        KKT violation, in units of the margin, of the fits on folds.
    patience : int or None
        The path goes from weak to strong; it ends after so many values of C in a row that are
        worse than the best by more than a standard error over folds (large C on noisy pairs takes
        most of the time).  None tries all of them.
    tol : float
        KKT violation of the fit that is kept.
    positive, class_weight, tie_label, n_symmetric, n_antisymmetric, memory_limit, verbose
        As in :class:`~pairity.PairSVC`.
    time_limit : float, optional
        Seconds, looked at between steps: the best of what was tried until then is kept.
    random_state : int
        Seed of the pairs in whose kernel functions trials of ``kernel="auto"`` are expanded.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        As in ``GridSearchCV``.
    kernel_ : Kernel or str
        The kernel that was chosen.
    combination_ : Combination or None
        What ``kernel="auto"`` found: weights of the families and their held-out losses.
    held_out_rows_, held_out_decisions_ : ndarray
        Rows (among those of weight above 0) and the decisions about them by folds without them.
    slope_, offset_ : float
        Of the probabilities.
    classes_, support_, support_pairs_, dual_coef_, intercept_, objective_, certificate_, n_iter_
        As in :class:`~pairity.PairSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVCCV
    >>> objects = np.random.default_rng(0).normal(size=(20, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    >>> model = PairSVCCV("antisymmetric").fit(pairs, y)
    >>> bool(model.score(pairs, y) > 0.95)
    True
    >>> p = model.predict_proba(pairs)
    >>> bool((p == model.predict_proba(pairs.swap())[:, ::-1]).all())
    True
    """

    _learner_type: ClassVar[type[PairMachine]] = PairSVC


@dataclass(eq=False, repr=False)
class PairLogisticCV(ClassifierSearch):
    """:class:`~pairity.PairLogistic` with its kernel and C chosen on held-out pairs.

    Parameters and attributes are those of :class:`PairSVCCV`; ``path_tol`` is the largest error
    of a probability in the fits on folds.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogisticCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(20, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    >>> bool(PairLogisticCV("antisymmetric").fit(pairs, y).score(pairs, y) > 0.95)
    True
    """

    _: KW_ONLY
    path_tol: float = 0.02

    _learner_type: ClassVar[type[PairMachine]] = PairLogistic


@dataclass(eq=False, repr=False)
class PairRidgeCV(RegressorMixin, PairSearch):
    """:class:`~pairity.PairRidge` with its kernel and alpha chosen on held-out pairs.

    For any splitter, kernel and number of pairs; :class:`~pairity.PairRidge` itself chooses alpha
    by leaving out single pairs, in closed form, where there are few pairs or all of them.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.
    kernel : "auto", Kernel, str, callable, or a list of them
        What to choose from; see :class:`PairSVCCV`.
    alphas : int or array-like
        Values of alpha to try; a number means so many from 0.001 to 1000.
    cv, path_tol, patience, tol, n_symmetric, n_antisymmetric, memory_limit, time_limit, random_state,
    verbose
        As in :class:`PairSVCCV`; tolerances are relative residuals.
    fit_intercept : bool
        Whether a symmetric model has a bias.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        As in ``GridSearchCV``; scores are minus the mean squared error.
    kernel_, combination_, held_out_rows_, held_out_decisions_
        As in :class:`PairSVCCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRidgeCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(20, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = objects[pairs.first, 0] - objects[pairs.second, 0]
    >>> bool(PairRidgeCV("antisymmetric").fit(pairs, y).score(pairs, y) > 0.99)
    True
    """

    _: KW_ONLY
    alphas: Any = 7
    path_tol: float = 1e-2
    fit_intercept: bool = True

    _learner_type: ClassVar[type[PairMachine]] = PairRidge
    _criterion_type: ClassVar[type[Criterion]] = SquaredError
    _strength: ClassVar[str] = "alpha"
    _is_penalty: ClassVar[bool] = True
    _passed_on: ClassVar[tuple[str, ...]] = (*PairSearch._passed_on, "fit_intercept")
    #: The only score.
    scoring: ClassVar[str] = "squared_error"

    def predict(self, X: Any) -> Vector:
        """Values of the model that was kept; swapped pairs have equal or opposite ones."""
        return self._kept().predict(X)


def at_the_edge(search: Any) -> str:
    """That the best strength of a fitted search is the last one tried, in words; "" where not."""
    name = search._strength
    table = search.cv_results_
    scores = np.asarray(table["mean_test_score"], dtype=np.float64)
    tried = np.array(table[f"param_{name}"], dtype=np.float64)[np.isfinite(scores)]
    best = float(search.best_params_[name])
    if len(np.unique(tried)) < 2 or tried.min() < best < tried.max():
        return ""
    which = "largest" if best >= tried.max() else "smallest"
    return f"the best {name}, {best:g}, is the {which} that was tried: others may be better"
