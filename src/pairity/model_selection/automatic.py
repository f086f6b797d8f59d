"""PairClassifierCV and PairRegressorCV: the automatic model, for users who want no choices."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.machine import PairMachine, TakesSparseRows, TwoProbabilities
from pairity.model_selection.boosted import boosts, learn_boosted
from pairity.model_selection.curves import Criterion, CrossEntropy, Sigmoid, SquaredError
from pairity.model_selection.folds import TrainingFolds, Vector, read_folds
from pairity.model_selection.landmark_machine import learn_landmarks
from pairity.model_selection.members import (
    Learnt,
    Setting,
    learn_kernel,
    learn_linear,
    linear_kernels,
    raw_decisions,
)
from pairity.model_selection.sampled import on_sample, warn
from pairity.model_selection.search import PairSearch
from pairity.model_selection.searches import PairLogisticCV, PairRidgeCV
from pairity.model_selection.weights import HeldOut, member_weights
from pairity.pairs.parity import SYMMETRIES
from pairity.runtime.progress import say
from pairity.runtime.validation import check_choice, check_positive
from pairity.training.read import read, read_pairs

#: Pairs below which the honest answer is a linear model.
_FEW = 200
#: Pairs up to which the kernel machine is exact, and those that it and the trees are fitted to at
#: most: a sample of more.
_MOST_EXACT, _MOST_FOR_KERNELS, _MOST_FOR_TREES = 1000, 100_000, 300_000


@dataclass(frozen=True, eq=False)
class Member:
    """One member of an automatic model.

    Attributes
    ----------
    model : object
        A fitted search, :class:`~pairity.Symmetrized` estimator or linear model with effects.
    curve : Sigmoid
        From its decisions to log-odds; the identity of a regressor.
    weight : float
        Of its log-odds in the sum; 0 where held-out pairs say that it is of no use.
    loss : float
        Mean held-out loss of this member alone.
    without : float
        That of the other members together, with weights of their own; NaN of an only member.
    chosen : dict
        Settings that it chose.
    machine : PairMachine or None
        Of kernels on many pairs: an exact machine with the same kernel on a sample of them.
    """

    model: Any = field(repr=False)
    curve: Sigmoid
    weight: float
    loss: float
    without: float
    chosen: dict[str, Any]
    machine: PairMachine | None = field(default=None, repr=False)


@dataclass(eq=False, repr=False)
class AutomaticModel(TakesSparseRows):
    """Base of the two automatic models: members on shared folds, weighed, added up."""

    symmetry: str
    _: KW_ONLY
    boosting: Any = None
    cv: Any = None
    time_limit: float | None = None
    memory_limit: float | None = None
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    random_state: int = 0
    verbose: bool = False

    _classifies: ClassVar[bool]
    _criterion_type: ClassVar[type[Criterion]]
    _search_type: ClassVar[type[PairSearch]]

    # Fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit all members, weigh them on held-out pairs, keep the sum.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, or targets of a regression.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, in fits and in validation.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together, or times for ``TimeSplit``.
        """
        self._check_parameters()
        started = time.monotonic()
        data = read(self, X, y, sample_weight)
        folds = read_folds(self.cv, data, X, groups)
        setting = Setting(
            self._criterion_type(data.parity),
            self._classifies,
            int(self.random_state),
            self.memory_limit,
            started + (np.inf if self.time_limit is None else float(self.time_limit)),
            say if self.verbose else _silent,
        )
        learnt = self._learn(folds, setting)
        self._weigh(HeldOut.of(folds, classifies=self._classifies), learnt, setting)
        self.held_out_rows_, self.n_splits_ = folds.held, len(folds.splits)
        return self

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        for name in ("time_limit", "memory_limit"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name)

    def _learn(self, folds: TrainingFolds, setting: Setting) -> dict[str, Learnt]:
        """All members that there is time for, the cheap ones first."""
        pairs, parity = folds.data.pairs, folds.data.parity
        few = len(pairs) < _FEW
        steps: dict[str, Callable[[], Learnt]] = {}
        if parity is not None and not few:
            steps["linear"] = lambda: learn_linear(folds, setting)
        if few:
            steps["linear"] = lambda: learn_kernel(
                folds, self._search(setting, linear_kernels(folds))
            )
        else:
            if boosts(pairs):
                steps["boosted trees"] = lambda: on_sample(
                    folds,
                    _MOST_FOR_TREES,
                    setting,
                    "boosted trees",
                    lambda some: learn_boosted(some, setting, self.boosting),
                )
            steps["kernels"] = lambda: on_sample(
                folds,
                _MOST_FOR_KERNELS,
                setting,
                "kernels",
                lambda some: self._learn_kernels(some, setting),
            )
        learnt: dict[str, Learnt] = {}
        left_out = []
        for name, learn in steps.items():
            if learnt and setting.time_left <= 0.0:
                left_out.append(name)
                continue
            setting.say(f"{name}, {len(steps) - len(learnt)} members to go{_time_left(setting)}")
            learnt[name] = learn()
        if left_out:
            warn(
                f"no time was left for {' and '.join(left_out)} within time_limit={self.time_limit:g}"
                " seconds: a larger one may lower the loss."
            )
        return learnt

    def _learn_kernels(self, folds: TrainingFolds, setting: Setting) -> Learnt:
        """The exact search on few pairs, landmarks on many; names alone have few parameters."""
        pairs = folds.data.pairs
        if len(pairs) <= _MOST_EXACT:
            return learn_kernel(folds, self._search(setting, "auto"))
        if not (pairs.n_object_features or pairs.n_symmetric or pairs.n_antisymmetric):
            return learn_kernel(folds, self._search(setting, linear_kernels(folds)))
        learner = self._search_type._learner_type(self.symmetry, memory_limit=self.memory_limit)
        return learn_landmarks(folds, setting, learner)

    def _search(self, setting: Setting, kernel: Any) -> PairSearch:
        left = setting.time_left
        return self._search_type(
            self.symmetry,
            kernel=kernel,
            memory_limit=self.memory_limit,
            random_state=int(self.random_state),
            verbose=self.verbose,
            time_limit=None if np.isinf(left) else max(1.0, left),
        )

    def _weigh(self, held_out: HeldOut, learnt: dict[str, Learnt], setting: Setting) -> None:
        """Weights of the members, and what each of them contributes."""
        values = {name: held_out.calibrated(one.held_out) for name, one in learnt.items()}
        losses = {name: held_out.mean(held_out.losses(z)) for name, z in values.items()}
        useful = [name for name in values if held_out.gains(values[name])[0] > 0.0]
        useful = useful or [min(losses, key=lambda name: losses[name])]
        found = member_weights(held_out, [values[name] for name in useful])
        weights = dict.fromkeys(values, 0.0) | dict(zip(useful, found.tolist(), strict=True))
        self.members_ = {
            name: Member(
                one.model,
                held_out.curve(one.held_out),
                weights[name],
                losses[name],
                _loss_without(held_out, values, useful, name),
                one.chosen,
                one.machine,
            )
            for name, one in learnt.items()
        }
        self.weights_ = weights
        total = np.sum([weights[name] * values[name] for name in useful], axis=0)
        self.held_out_decisions_ = total
        self.best_score_ = -held_out.mean(held_out.losses(total))
        dropped = [name for name in values if name not in useful]
        if dropped:
            warn(
                f"{' and '.join(dropped)} {'is' if len(dropped) == 1 else 'are'} left out: about"
                " held-out pairs no better than a constant."
            )
        shares = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
        setting.say(f"weights {shares}; held-out loss {-self.best_score_:.4f}")

    # The fitted function ----------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are members."""
        return hasattr(self, "members_")

    def _decide(self, X: Any) -> Vector:
        """Weighted sum of calibrated log-odds, or of values."""
        return np.sum(list(self.contributions(X).values()), axis=0)

    def contributions(self, X: Any) -> dict[str, Vector]:
        """What each member of a weight above 0 adds to the log-odds, or to the values, of pairs."""
        check_is_fitted(self)
        pairs = read_pairs(self, X, reset=False)
        return {
            name: one.weight * one.curve.log_odds(raw_decisions(one.model, pairs))
            for name, one in self.members_.items()
            if one.weight > 0.0
        }

    @property
    def best_estimator_(self) -> PairMachine:
        """The exact kernel machine that explanations are about."""
        check_is_fitted(self)
        for member in self.members_.values():
            if isinstance(member.model, PairSearch):
                return member.model.best_estimator_
            if member.machine is not None:
                return member.machine
        raise AttributeError("no member is a kernel machine: there was no time left for one.")

    @property
    def certificate_(self) -> Any:
        """Certificate of the kernel machine among the members."""
        return self.best_estimator_.certificate_


def _loss_without(
    held_out: HeldOut, values: dict[str, Vector], useful: list[str], name: str
) -> float:
    others = [values[one] for one in useful if one != name]
    if not others:
        return float("nan")
    weights = member_weights(held_out, others)
    return held_out.mean(held_out.losses(np.column_stack(others) @ weights))


def _silent(sentence: str) -> None:
    """Say nothing."""


def _time_left(setting: Setting) -> str:
    return "" if np.isinf(setting.deadline) else f", about {setting.time_left:.0f} s left"


@dataclass(eq=False, repr=False)
class PairClassifierCV(TwoProbabilities, AutomaticModel):
    """The automatic classifier of pairs: kernels, boosted trees and a linear model, combined.

    Three members are tuned on the same folds and fitted to all pairs: a linear model with an
    effect of each object (and of each pair of objects, where pairs come back), symmetrised
    histogram boosting (:class:`~pairity.Symmetrized`) and the automatic kernel machine
    (:class:`~pairity.PairLogisticCV`).  Their decisions about held-out pairs are calibrated, and
    the calibrated log-odds added with weights that stay equal unless many held-out pairs insist
    (:mod:`pairity.model_selection.weights`).  The swap law holds bit for bit.  Below 200 pairs
    there is the linear model alone.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that decisions obey.
    boosting : estimator, optional
        A classifier to take the place of scikit-learn's histogram boosting: LightGBM's or
        XGBoost's, say, with its own settings.
    cv : splitter, int, or list of (train, test), optional
        Which pairs are held out: decides what the choices and the probabilities hold for.  By
        default five folds of unordered pairs; ``ObjectKFold(5)`` for pairs of new objects.
    time_limit : float, optional
        Seconds; looked at between steps.  A member that no time is left for is named in a warning.
    memory_limit, positive, tie_label, n_symmetric, n_antisymmetric, verbose
        As in :class:`~pairity.PairSVC`.
    random_state : int
        Seed of trees, samples and landmarks.

    Attributes
    ----------
    members_ : dict of Member
        Each with its model, weight, held-out loss, and the loss of the others without it.
    weights_ : dict
        Weights of the members.
    best_score_ : float
        Minus the mean held-out log-loss of the whole.
    classes_ : ndarray of shape (2,)
        Labels.
    best_estimator_, certificate_
        An exact kernel machine, which explanations are about: the kernel member itself up to 1000
        pairs; beyond, one with the same kernel fitted to a sample of 1000.
    held_out_rows_, held_out_decisions_ : ndarray
        Rows and log-odds, in one order of each pair, by folds without them.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairClassifierCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(15, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    >>> model = PairClassifierCV("antisymmetric").fit(pairs, y)
    >>> there, back = model.predict_proba(pairs), model.predict_proba(pairs.swap())
    >>> bool((there[:, 1] + back[:, 1] == 1.0).all())
    True
    """

    _: KW_ONLY
    positive: Any = None
    tie_label: Any = None

    class_weight: ClassVar[None] = None
    _classifies: ClassVar[bool] = True
    _criterion_type: ClassVar[type[Criterion]] = CrossEntropy
    _search_type: ClassVar[type[PairSearch]] = PairLogisticCV

    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, shape (n,)."""
        return self._decide(X)


@dataclass(eq=False, repr=False)
class PairRegressorCV(RegressorMixin, AutomaticModel):
    """The automatic regression of pairs: kernels, boosted trees and a linear model, combined.

    As :class:`PairClassifierCV`, with values in the place of log-odds and squared errors in the
    place of log-losses; the kernel machine is :class:`~pairity.PairRidgeCV`.

    Parameters
    ----------
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law that values obey.
    boosting, cv, time_limit, memory_limit, n_symmetric, n_antisymmetric, random_state, verbose
        As in :class:`PairClassifierCV`; ``boosting`` is a regressor.

    Attributes
    ----------
    members_, weights_, best_score_, best_estimator_, certificate_
        As in :class:`PairClassifierCV`; ``best_score_`` is minus the mean squared error.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairRegressorCV, Pairs
    >>> objects = np.random.default_rng(0).normal(size=(15, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = objects[pairs.first, 0] - objects[pairs.second, 0]
    >>> model = PairRegressorCV("antisymmetric").fit(pairs, y)
    >>> bool((model.predict(pairs) == -model.predict(pairs.swap())).all())
    True
    """

    _classifies: ClassVar[bool] = False
    _criterion_type: ClassVar[type[Criterion]] = SquaredError
    _search_type: ClassVar[type[PairSearch]] = PairRidgeCV

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: linear on few rows, and no good where rows are no pairs."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: Any) -> Vector:
        """Values; swapped pairs have equal or opposite ones."""
        return self._decide(X)
