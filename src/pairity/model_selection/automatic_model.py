"""The automatic model: members on shared folds, weighed by what they say about held-out pairs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.machine import PairMachine, TakesSparseRows
from pairity.estimators.object_effects import Effects, all_in_columns
from pairity.estimators.symmetrized import in_one_order
from pairity.exceptions import warn_the_caller
from pairity.model_selection.boosted import MeanOfTrees, boosts, learn_boosted
from pairity.model_selection.combination import equal_sums
from pairity.model_selection.curves import Sigmoid
from pairity.model_selection.folds import TrainingFolds, Vector, read_folds
from pairity.model_selection.members import (
    Learnt,
    Setting,
    fit_effects,
    fit_landmarks,
    held_out_loss,
    labels_of,
    learn_kernel,
    learn_landmarks,
    learn_linear,
    linear_kernels,
    raw_decisions,
    sampled,
)
from pairity.model_selection.search import PairSearch
from pairity.model_selection.weights import HeldOut, member_weights, nested_sum, weights_by_name
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Orientation
from pairity.runtime.progress import say
from pairity.training.model import PairModel
from pairity.training.read import TrainingData, read, read_pairs

#: Pairs below which families of kernels are not weighed, those below which there are no trees, and
#: those below which the honest answer is a linear kernel machine alone.
_FEW, _FEWEST_FOR_TREES, _FEWEST = 200, 64, 40
#: Pairs up to which the kernel machine is exact, and those that it and the trees are fitted to at
#: most: a sample of more.
_MOST_EXACT, _MOST_FOR_KERNELS, _MOST_FOR_TREES = 1000, 100_000, 300_000
#: Pairs beyond which a member is tuned on one of the folds.
_MOST_WITH_ALL_FOLDS = 20_000
#: Share of the memory for the columns of a member, and pairs that it is given in any case.
_SHARE, _FEWEST_IN_SAMPLE = 0.5, 1000


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
        setting = self._setting()
        data = read(self, X, y, sample_weight)
        folds = read_folds(self.cv, data, X, groups)
        learnt = self._learn(folds, setting)
        self._weigh(HeldOut.of(folds, classifies=setting.classifies), learnt, setting)
        self.held_out_rows_, self.n_splits_ = folds.held, len(folds.splits)
        return self

    def refitted(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """A copy whose members are fitted to other pairs, with the settings chosen before.

        Nothing is searched for: calibrations and weights stay as they are.
        """
        check_is_fitted(self)
        model, setting = copy.copy(self), self._setting()
        data, _ = in_one_order(read(model, X, y, sample_weight))
        model.members_ = {
            name: replace(one, model=_refitted(one, data, setting))
            for name, one in self.members_.items()
            if one.weight > 0.0
        }
        return model

    def _setting(self) -> Setting:
        limit = np.inf if self.time_limit is None else float(self.time_limit)
        return Setting(
            self._search_type._criterion_type(SYMMETRIES[self.symmetry]),
            is_classifier(self),
            int(self.random_state),
            self.memory_limit,
            time.monotonic() + limit,
            say if self.verbose else lambda sentence: None,
        )

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        names = ("time_limit", "memory_limit", "n_symmetric", "n_antisymmetric", "random_state")
        given = {name: getattr(self, name) for name in names}
        self._search_type(self.symmetry, **given)._check_parameters()
        self._check_boosting()

    def _check_boosting(self) -> None:
        """Refuse what cannot take the place of the trees."""
        boosting, classifies = self.boosting, is_classifier(self)
        if boosting is None:
            return
        is_instance = hasattr(boosting, "fit") and not isinstance(boosting, type)
        if not (is_instance and (is_classifier if classifies else is_regressor)(boosting)):
            raise ValueError(
                f"got boosting={boosting!r}; expected a {'classifier' if classifies else 'regressor'}"
                " such as those of scikit-learn, LightGBM or XGBoost, or None."
            )

    def _learn(self, folds: TrainingFolds, setting: Setting) -> dict[str, Learnt]:
        """All members that there is time for, the cheap ones first."""
        learnt: dict[str, Learnt] = {}

        def learn_trees(some: TrainingFolds) -> Learnt:
            losses = [
                held_out_loss(folds, setting.criterion, one.held_out) for one in learnt.values()
            ]
            return learn_boosted(some, setting, self.boosting, min(losses, default=np.inf))

        room = _most_within(folds, setting)
        ways: dict[str, tuple[int, Callable[[TrainingFolds], Learnt]]] = {
            "linear": (room, lambda some: self._learn_linear(some, setting)),
            "boosted trees": (min(_MOST_FOR_TREES, room), learn_trees),
            "kernels": (_MOST_FOR_KERNELS, lambda some: self._learn_kernels(some, setting)),
        }
        names = _member_names(folds)
        left_out = []
        for name in names:
            if learnt and setting.time_left <= 0.0:
                left_out.append(name)
                continue
            limited = not np.isinf(setting.deadline)
            time_left = f", about {setting.time_left:.0f} s left" if limited else ""
            setting.say(f"{name}, {len(names) - len(learnt)} members to go{time_left}")
            learnt[name] = _on_sample(folds, setting, name, *ways[name])
        if left_out:
            warn_the_caller(
                f"no time was left for {' and '.join(left_out)} within time_limit={self.time_limit:g}"
                " seconds: a larger one may lower the loss."
            )
        return learnt

    def _learn_linear(self, folds: TrainingFolds, setting: Setting) -> Learnt:
        """Effects of columns and of names; a kernel machine where they do not hold all there is.

        The fewest pairs have a kernel machine too, as their only member.
        """
        pairs, parity = folds.data.pairs, folds.data.parity
        enough = len(pairs) >= _FEW or (len(pairs) >= _FEWEST and all_in_columns(pairs))
        if parity is not None and enough:
            return learn_linear(folds, setting)
        return learn_kernel(folds, self._search(setting, linear_kernels(folds)))

    def _learn_kernels(self, folds: TrainingFolds, setting: Setting) -> Learnt:
        """The exact search on few pairs, landmarks on many; names alone have few parameters."""
        pairs = folds.data.pairs
        if len(pairs) < _FEW:
            kernels: Any = equal_sums(pairs, folds.data.parity) or linear_kernels(folds)
        elif len(pairs) <= _MOST_EXACT:
            kernels = "auto"
        elif pairs.n_object_features or pairs.n_symmetric or pairs.n_antisymmetric:
            learner = self._search_type._learner_type(self.symmetry, memory_limit=self.memory_limit)
            return learn_landmarks(folds, setting, learner)
        else:
            kernels = linear_kernels(folds)
        return learn_kernel(folds, self._search(setting, kernels))

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
        honest = {
            name: values[name] if one.nested is None else held_out.nested(one.nested)
            for name, one in learnt.items()
        }
        weights = weights_by_name(held_out, values)
        used = [name for name in values if weights[name] > 0.0]
        self.members_ = {
            name: Member(
                one.model,
                held_out.curve(one.held_out),
                weights[name],
                held_out.mean_loss(honest[name]),
                _loss_of_sum(held_out, [honest[other] for other in used if other != name]),
                one.chosen,
                one.machine,
            )
            for name, one in learnt.items()
        }
        self.weights_ = weights
        self.held_out_decisions_ = nested_sum(held_out, values, honest)
        self.best_score_ = -held_out.mean_loss(self.held_out_decisions_)
        dropped = [
            name for name in values if not weights[name] and held_out.gain(values[name]) <= 0.0
        ]
        if dropped:
            warn_the_caller(
                f"{' and '.join(dropped)} {'is' if len(dropped) == 1 else 'are'} left out: about"
                " held-out pairs no better than a constant."
            )
        shares = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
        setting.say(f"weights {shares}; held-out loss {-self.best_score_:.4f}")

    def held_out_as_written(self, pairs: Pairs) -> Vector:
        """``held_out_decisions_``, which are about pairs in one order, as the training pairs stand."""
        parity = SYMMETRIES[self.symmetry]
        decisions = np.asarray(self.held_out_decisions_)
        if parity is None:
            return decisions
        turned = Orientation.of_compact(pairs.compact()).turned
        return np.where(turned, parity.sign, 1.0)[self.held_out_rows_] * decisions

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


def _member_names(folds: TrainingFolds) -> list[str]:
    """Members that there are enough pairs for, the cheap ones first."""
    pairs = folds.data.pairs
    few = len(pairs) < _FEW
    if len(pairs) < _FEWEST:
        return ["linear"]
    linear = ["linear"] if few or folds.data.parity is not None else []
    trees = ["boosted trees"] if len(pairs) >= _FEWEST_FOR_TREES and boosts(pairs) else []
    return [*linear, "kernels", *trees] if few else [*linear, *trees, "kernels"]


def _most_within(folds: TrainingFolds, setting: Setting) -> int:
    """Pairs whose columns fit into the memory: both orders, of all pairs and of folds tuned on."""
    pairs = folds.data.pairs
    columns = 3 * pairs.n_object_features + pairs.n_symmetric + pairs.n_antisymmetric + 20
    n_folds = len(folds.splits) if len(pairs) <= _MOST_WITH_ALL_FOLDS else 1
    room = setting.budget.share(_SHARE)
    return max(_FEWEST_IN_SAMPLE, int(room.columns(columns, copies=2.0 * (1 + n_folds))))


def _on_sample(
    folds: TrainingFolds,
    setting: Setting,
    name: str,
    most: int,
    learn: Callable[[TrainingFolds], Learnt],
) -> Learnt:
    """Learn from all pairs, or from a sample of very many, which is said.

    One fold of many pairs, the last (of folds in time the longest), holds out enough to choose by.
    """
    count, some, places = len(folds.data), folds, np.arange(len(folds.held))
    if count > most:
        warn_the_caller(
            f"{name}: fitted to a sample of {most} of {count} pairs to save time and memory."
        )
        some, places = folds.of_rows(sampled(folds.data, most, setting.random_state, folds.splits))
    if len(some.data) > _MOST_WITH_ALL_FOLDS:
        places = places[len(places) - len(some.splits[-1][1]) :]
        some = replace(some, splits=some.splits[-1:])
    learnt = learn(some)
    held_out = np.full(len(folds.held), np.nan)
    held_out[places] = learnt.held_out
    return replace(learnt, held_out=held_out, nested=learnt.nested if some is folds else None)


def _loss_of_sum(held_out: HeldOut, values: list[Vector]) -> float:
    """Mean held-out loss of some members together, with weights of their own; NaN of none."""
    if not values:
        return float("nan")
    return held_out.mean_loss(np.column_stack(values) @ member_weights(held_out, values))


def _refitted(member: Member, data: TrainingData, setting: Setting) -> Any:
    """The model of a member fitted once more, to other pairs, each in its one order."""
    model = member.model
    if isinstance(model, Effects):
        weights = model.object_weight, model.pair_weight
        return fit_effects(data, setting, model.columns.parts, model.C, *weights)
    if isinstance(model, PairModel):
        return fit_landmarks(data, setting, model.kernel, member.chosen["shift"])
    if isinstance(model, MeanOfTrees):
        return MeanOfTrees.fitted(model.models, data)
    learner: Any = model.best_estimator_ if isinstance(model, PairSearch) else model
    weighed = () if (data.weights == 1.0).all() else (data.weights,)
    return clone(learner).fit(data.pairs, labels_of(data), *weighed)
