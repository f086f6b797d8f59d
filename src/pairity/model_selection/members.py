"""Members of the automatic model: each a way to learn, with held-out decisions on the shared folds.

All members see the same training pairs, in one order, and the same folds.  A member chooses its own
settings by those folds, keeps the decisions that the folds made about their held-out pairs, and is
fitted once more to all pairs: no search is repeated for a calibration.

The kernel member of many pairs is expanded in some of them, the landmarks.  Weights of the families are
found on a sample; then the sum is fitted to all pairs as a ridge regression of the labels on its values
at the landmarks, ``n r^2`` operations, group features and all.  On thousands of pairs its calibrated
held-out log-loss is that of the exact logistic machine to a few ten-thousandths, for a small part of the
time.  An exact machine with the same kernel, fitted to a sample, is kept for explanations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from pairity.estimators.object_effects import (
    COLUMNS,
    Design,
    EffectColumns,
    Effects,
    fit_parameters,
)
from pairity.exceptions import DoubledRowsWarning, PairityWarning
from pairity.kernels import Standardized
from pairity.kernels.classes import project
from pairity.model_selection.combination import choose_combination
from pairity.model_selection.curves import Criterion
from pairity.model_selection.families import LINEAR, kernel_families
from pairity.model_selection.folds import MET_BEFORE, TrainingFolds, Trials, Vector, some_rows
from pairity.model_selection.landmark_ridge import (
    SHIFTS,
    LandmarkRidge,
    kernel_columns,
    plan_landmarks,
)
from pairity.model_selection.search import PairSearch
from pairity.model_selection.splits import ReadySplits, Rows, Split
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.pairs.same_objects import ends_of
from pairity.runtime.resources import Budget, default_limit, give_back
from pairity.training.model import PairModel
from pairity.training.read import TrainingData

#: Strengths of the linear member, weights of the effects of objects and of pairs of them.
_STRENGTHS = tuple(np.logspace(-3.0, 3.0, 13).tolist())
_OBJECT_WEIGHTS, _PAIR_WEIGHTS = (0.0, 0.1, 1.0), (0.5, 1.0, 2.0, 4.0)
#: Strengths without gain that end a path, and the promise of a step that ends a fit on a fold.
_PATIENCE, _ROUGH = 2, 1e-5
#: Pairs that an object is in on average, for it to have an effect of its own.
_COME_BACK = 2.0
#: Pairs on which families are weighed, landmarks of the model that is kept, and pairs that the exact
#: machine for explanations is fitted to.
_WEIGHED_ON, _LANDMARKS, _EXPLAINED_BY = 4000, 600, 1000


@dataclass(frozen=True, eq=False)
class Setting:
    """What members are given beside the folds."""

    criterion: Criterion
    classifies: bool
    random_state: int
    memory_limit: float | None
    deadline: float  # of time.monotonic, infinite without a limit
    say: Callable[[str], None]

    @property
    def time_left(self) -> float:
        """Seconds."""
        return self.deadline - time.monotonic()

    @property
    def loss(self) -> str:
        """What linear models minimise."""
        return "logistic" if self.classifies else "squared"

    @property
    def budget(self) -> Budget:
        """Memory that a member may use."""
        return Budget(default_limit(self.memory_limit))


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a member found: a fitted model, its held-out decisions, the settings it chose."""

    model: Any
    held_out: Vector  # of the held-out rows of all folds, NaN where there is none
    chosen: dict[str, Any] = field(default_factory=dict)
    machine: Any = None  # for explanations, where the model itself is none
    nested: list[Vector] | None = None  # for each fold, decisions by settings that others chose


def raw_decisions(model: Any, pairs: Pairs) -> Vector:
    """Decisions or values of a fitted member, before they are calibrated."""
    if hasattr(model, "decisions"):  # of a linear model, landmarks, or trees
        return np.asarray(model.decisions(pairs))
    machine = model.best_estimator_ if isinstance(model, PairSearch) else model
    decide = machine.decision_function if hasattr(machine, "decision_function") else machine.predict
    return np.asarray(decide(pairs), dtype=np.float64)


def held_out_loss(folds: TrainingFolds, criterion: Criterion, decisions: Vector) -> float:
    """Mean loss of the held-out decisions that there are, calibrated as the criterion does."""
    known = np.isfinite(decisions)
    weights = np.concatenate(folds.shares)[known]
    losses = criterion.losses(decisions[known], folds.data.targets[folds.held][known], weights)
    return float(np.average(losses, weights=weights))


def objects_come_back(pairs: Pairs) -> bool:
    """Whether objects are in several pairs, so that names can have effects."""
    ends = ends_of(pairs)
    return 2.0 * len(ends) >= _COME_BACK * ends.n_objects


def labels_of(data: TrainingData) -> Any:
    """Labels -1 and 1, or targets of a regression."""
    return data.targets if data.classes is None else np.where(data.targets > 0, 1, -1)


def drawn(count: int, most: int, seed: int) -> Rows:
    """Ascending numbers of at most so many rows."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def sampled(data: TrainingData, most: int, seed: int, splits: Sequence[Split] = ()) -> Rows:
    """Rows of a sample that can be trained on, and so can its folds; each holds out some, too.

    A label that is so rare that no row of it was drawn has one row more.
    """
    rows = drawn(len(data), most, seed)
    is_drawn = np.zeros(len(data), dtype=np.bool_)
    is_drawn[rows] = True
    is_labelled = data.classes is not None and data.parity is not Parity.ODD
    labels = np.sign(data.targets) if is_labelled else np.zeros(len(data))
    trained_on = [np.arange(len(data)), *(train for train, _ in splits)]
    wanted = [side[labels[side] == label] for side in trained_on for label in np.unique(labels)]
    for candidates in [*wanted, *(test for _, test in splits)]:
        if len(candidates) and not is_drawn[candidates].any():
            is_drawn[candidates[0]] = True
    return np.flatnonzero(is_drawn)


# Linear -------------------------------------------------------------------------------------------


def learn_linear(folds: TrainingFolds, setting: Setting) -> Learnt:
    """Linear in features, objects and pairs of objects; weights and C by held-out loss."""
    trials = Trials(folds, setting.criterion)
    parts, without_names = _best_columns(trials, setting)
    names = objects_come_back(folds.data.pairs)
    tried = {(0.0, 0.0): without_names}

    def best_of(weights: list[tuple[float, float]]) -> tuple[float, float]:
        for one in weights:
            if one not in tried:
                tried[one] = _best_strength(trials, parts, setting, one)
        return min(tried, key=lambda one: tried[one].loss)

    best = best_of([(weight, 0.0) for weight in _OBJECT_WEIGHTS] if names else [])
    if names and folds.share_met_before() > MET_BEFORE:
        objects = max(best[0], _OBJECT_WEIGHTS[1])
        for weight in _PAIR_WEIGHTS:  # as long as more is better
            best = best_of([(objects, weight)])
            if best != (objects, weight):
                break
        if best[1]:
            best = best_of([(1.0, best[1])])
    chosen = tried[best]
    C = chosen.C * folds.refit_factor()
    model = fit_effects(folds.data, setting, parts[0].columns.parts, C, *best)
    setting.say(f"linear: held-out loss {chosen.loss:.4f}, C {C:.3g}, weights of names {best}")
    settings = {"C": C, "object_weight": best[0], "pair_weight": best[1]}
    return Learnt(model, chosen.held_out, settings, nested=trials.nested())


@dataclass(frozen=True, eq=False)
class _Strength:
    """The best strength of some columns: its held-out loss and decisions."""

    loss: float
    C: float
    held_out: Vector


@dataclass(frozen=True, eq=False)
class _Part:
    """One fold: its pairs, columns fitted to the training ones, and those of both."""

    train: Pairs
    test: Pairs
    columns: EffectColumns
    known: Design
    new: Design

    @classmethod
    def of(cls, folds: TrainingFolds, split: Split) -> Self:
        train, test = (folds.data.pairs[rows].without_unused_objects() for rows in split)
        columns = EffectColumns.of(train, folds.data.parity or Parity.EVEN)
        return cls(train, test, columns, columns.design(train), columns.design(test))

    def narrowed(self, names: tuple[str, ...]) -> Self:
        """With fewer features."""
        if names == self.columns.parts:
            return self
        columns = self.columns.narrowed(self.train, names)
        known, new = (
            replace(design, features=columns.features(pairs), widths=columns.widths)
            for design, pairs in ((self.known, self.train), (self.new, self.test))
        )
        return replace(self, columns=columns, known=known, new=new)


def _best_columns(trials: Trials, setting: Setting) -> tuple[list[_Part], _Strength]:
    """Columns of least held-out loss without effects of names in all folds, and what they reach."""
    folds = trials.folds
    whole = [_Part.of(folds, split) for split in folds.splits]
    tried: list[tuple[list[_Part], _Strength]] = []
    for names in COLUMNS[folds.data.parity or Parity.EVEN]:
        parts = [part.narrowed(names) for part in whole]
        if not tried or any(
            0 < part.columns.widths[0] < last.columns.widths[0]
            for part, last in zip(parts, tried[-1][0], strict=True)
        ):
            tried.append((parts, _best_strength(trials, parts, setting, (0.0, 0.0))))
    return min(tried, key=lambda one: one[1].loss)


def _best_strength(
    trials: Trials, parts: list[_Part], setting: Setting, name_weights: tuple[float, float]
) -> _Strength:
    """The best C; all folds go from weak to strong together."""
    paths = [
        _path(trials.folds, split, part, setting, name_weights)
        for split, part in zip(trials.folds.splits, parts, strict=True)
    ]
    best, worse = _Strength(np.inf, _STRENGTHS[0], np.zeros(0)), 0
    for C, by_fold in zip(_STRENGTHS, zip(*paths, strict=True), strict=True):
        loss = trials.loss_of(list(by_fold))
        worse = 0 if loss < best.loss else worse + 1
        best = best if worse else _Strength(loss, C, np.concatenate(by_fold))
        if worse >= _PATIENCE:
            break
    return best


def _path(
    folds: TrainingFolds,
    split: Split,
    part: _Part,
    setting: Setting,
    name_weights: tuple[float, float],
) -> Iterator[Vector]:
    """Held-out decisions of one fold for all strengths, weak ones first."""
    known, new = (
        replace(design, object_weight=name_weights[0], pair_weight=name_weights[1])
        for design in (part.known, part.new)
    )
    targets, weights = folds.data.targets[split[0]], folds.data.weights[split[0]]
    at = part.columns.start()
    for C in _STRENGTHS:
        at = fit_parameters(known, targets, weights, C, setting.loss, at, _ROUGH)
        yield new.times(at[:-1]) + np.nan_to_num(at[-1])


def fit_effects(
    data: TrainingData,
    setting: Setting,
    names: tuple[str, ...],
    C: float,
    object_weight: float,
    pair_weight: float,
) -> Effects:
    """Effects of columns, objects and pairs of objects, fitted to training pairs."""
    columns = EffectColumns.of(data.pairs, data.parity or Parity.EVEN, names)
    design = columns.design(data.pairs, object_weight, pair_weight)
    fitted = fit_parameters(design, data.targets, data.weights, C, setting.loss, columns.start())
    bias = float(np.nan_to_num(fitted[-1]))
    return Effects(columns, object_weight, pair_weight, C, fitted[:-1], bias)


# Kernels ------------------------------------------------------------------------------------------


def learn_kernel(folds: TrainingFolds, search: PairSearch) -> Learnt:
    """A search for kernel and strength on the shared folds."""
    data = folds.data
    search.set_params(cv=ReadySplits(folds.splits))
    search.__dict__["_is_member"] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubledRowsWarning)  # said before
        search.fit(data.pairs, labels_of(data), data.weights)
    del search.__dict__["_is_member"]
    nested = search.__dict__.pop("_nested_decisions")
    search.set_params(cv=None)
    name = search._strength
    chosen = {name: search.best_params_[name], "kernel": str(search.kernel_)}
    return Learnt(search, search.held_out_decisions_, chosen, nested=nested)


def linear_kernels(folds: TrainingFolds) -> list[Any]:
    """Kernels for few pairs: linear, and with an effect of each object."""
    families = kernel_families(folds.data.pairs, folds.data.parity)
    linear = families.get(LINEAR)
    if linear is None:
        return [families["identity"]]
    named = objects_come_back(folds.data.pairs)
    kernels = [linear, linear + 0.3 * families["identity"]] if named else [linear]
    return [Standardized(kernel) for kernel in kernels]


def learn_landmarks(folds: TrainingFolds, setting: Setting, machine: Any) -> Learnt:
    """Weigh families on a sample, fit their sum to all pairs; ``machine`` is for explanations."""
    rows = sampled(folds.data, _WEIGHED_ON, setting.random_state, folds.splits)
    some, _ = folds.of_rows(rows)
    given = some.data.pairs, some.data.targets, some.data.weights, some.data.parity, some.splits
    found = choose_combination(
        *given,
        setting.criterion,
        random_state=setting.random_state,
        budget=setting.budget,
        say=setting.say,
        deadline=setting.deadline,
    )
    give_back()
    basis, ridge = _expanded(folds.data, setting, found.kernel, folds.splits)
    with threadpool_limits(1):
        best = ridge.evaluate(np.ones(1))
        shift = SHIFTS[best.shift]
        coefficients, bias = ridge.fitted(np.ones(1), shift)
    model = PairModel(found.kernel, basis, coefficients, bias, folds.data.parity)
    setting.say(f"kernels: held-out loss {best.loss:.4f} with {len(basis)} landmarks")
    _explain(folds.data, setting, machine.set_params(kernel=found.kernel), 2.0 / shift)
    chosen = {"families": found.weights, "scale": found.scale, "shift": shift}
    return Learnt(model, best.decisions, chosen, machine)


def fit_landmarks(data: TrainingData, setting: Setting, kernel: Any, shift: float) -> PairModel:
    """A model with a kernel and a shift that were chosen before, fitted to training pairs."""
    with threadpool_limits(1):
        basis, ridge = _expanded(data, setting, kernel, ())
        return PairModel(kernel, basis, *ridge.fitted(np.ones(1), shift), data.parity)


def _expanded(
    data: TrainingData, setting: Setting, kernel: Any, splits: Any
) -> tuple[Pairs, LandmarkRidge]:
    """Landmarks among the training pairs, and a kernel between all pairs and these."""
    room = plan_landmarks(len(data), 1, _LANDMARKS, setting.budget)
    landmarks = drawn(len(data), room.n_landmarks, setting.random_state + 1)
    basis = data.pairs[landmarks].without_unused_objects()
    projected = project(kernel, data.parity, data.pairs)
    columns: Any = kernel_columns(projected, data.pairs, basis, 1.0, room.dtype)
    has_bias = data.parity is not Parity.ODD
    given = data.targets, data.weights, splits, setting.criterion
    return basis, LandmarkRidge([columns], landmarks, *given, has_bias=has_bias)


def _explain(data: TrainingData, setting: Setting, machine: Any, strength: float) -> None:
    """Fit an exact machine to a sample; its support rows are those of all pairs."""
    rows = sampled(data, _EXPLAINED_BY, setting.random_state + 2)
    some = some_rows(data, rows)
    by_C = hasattr(machine, "C")
    machine.set_params(**({"C": strength} if by_C else {"alpha": 1.0 / strength}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        machine.fit(some.pairs, labels_of(some), some.weights)
    machine.support_ = data.rows[rows[machine.support_]]
