"""Boosted trees as a member of the automatic model: histogram boosting in both orders.

Folds are boosted side by side; after some rounds the mean held-out loss of all folds says whether
more rounds pay.  Whether past rates of objects are columns, and (of more than a thousand pairs) the
size of the trees, are chosen in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from pairity.estimators.symmetrized import Symmetrized
from pairity.model_selection.folds import TrainingFolds, Trials, Vector, some_rows
from pairity.model_selection.members import Learnt, Setting, labels_of, objects_come_back
from pairity.model_selection.splits import Split
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, impose
from pairity.runtime.resources import threads_for_trees
from pairity.training.read import TrainingData

#: Rounds after which the held-out loss is looked at, as many as are boosted at a time; the first look
#: without gain ends a series.  Few pairs take half as many steps of twice the length.
_ROUNDS, _STEP = ((15, 25, 40, 65), (100, 160), (250, 400)), 0.1
_ROUNDS_OF_FEW, _STEP_OF_FEW, _FEW = ((8, 13, 20, 32), (50, 80, 125, 200)), 0.2, 1000
#: Leaves and least rows of a leaf: at first, with and without rates; then smaller trees where few
#: rounds were best, larger ones where many were.  Few pairs have small trees alone.
_FIRST, _SMALLER, _LARGER, _MANY = (8, 20), (4, 60), (24, 20), 100
_FIRST_OF_FEW = (4, 20)
#: Ways whose held-out loss is above the best one by no more than this share are all fitted, and their
#: mean is kept; a single one is fitted from several seeds; of more pairs than these the best way once.
_NEAR, _SEEDS, _MOST_WITH_MEANS = 0.01, 3, 20_000
#: A series ends where so many times the gain of the last two looks would leave it behind others.
_HOPE = 3.0
#: Share of held-out pairs of a known object and a new one from which on trees are shown such pairs.
_ONE_NEW = 0.5
#: Object features beyond which columns made of both objects are too many.
_MOST_COLUMNS = 300
#: Seeds of scikit-learn are below this number.
_SEED_RANGE = 2**32


@dataclass(frozen=True, eq=False)
class MeanOfTrees:
    """Boosted models of the same pairs, whose mean log-odds or values count."""

    models: tuple[Symmetrized, ...]

    def decisions(self, pairs: Pairs) -> Vector:
        """Mean of the models; each obeys the swap law bit for bit, and so does the mean."""
        found = [model._decide(pairs) for model in self.models]
        return np.sum(found, axis=0) / len(found)

    @classmethod
    def fitted(cls, models: Iterable[Symmetrized], data: TrainingData) -> Self:
        """Clones of models, fitted to training pairs; weights that are all alike are not handed on."""
        weights = None if (data.weights == 1.0).all() else data.weights
        given = data.pairs, labels_of(data), weights
        return cls(tuple(clone(model).fit(*given) for model in models))


@dataclass
class _Tried:
    """A way to boost: its best held-out loss so far, the rounds it took, the decisions."""

    model: Symmetrized
    loss: float = np.inf
    rounds: int = 0
    held_out: Vector | None = None
    hopeless: bool = False


def boosts(pairs: Pairs) -> bool:
    """Whether there are columns for trees: features that are not sparse, or names that come back."""
    return _has_columns(pairs) or objects_come_back(pairs)


def _has_columns(pairs: Pairs) -> bool:
    dense = pairs.n_object_features and not sp.issparse(pairs.objects)
    return bool(dense or pairs.n_symmetric or pairs.n_antisymmetric)


def learn_boosted(
    folds: TrainingFolds, setting: Setting, estimator: Any = None, rival: float = np.inf
) -> Learnt:
    """Symmetrised boosting; another estimator that is given is fitted as it is.

    ``rival`` is the held-out loss of another member: trees far above it are not boosted further.
    """
    pairs, trials, tried = folds.data.pairs, Trials(folds, setting.criterion), list[_Tried]()
    rates = "one rate" if folds.share_with_one_new() > _ONE_NEW else "rates"
    ids = [rates] if objects_come_back(pairs) else []
    ids = ["ignore", *ids] if _has_columns(pairs) else ids
    with threads_for_trees(len(pairs)):
        for name in ids:
            size = _FIRST_OF_FEW if len(pairs) <= _FEW else _FIRST
            least = min([rival, *(one.loss for one in tried)])
            tried.append(_tried(trials, setting, estimator, size, name, least))
        best = min(tried, key=lambda one: one.loss)
        more = estimator is None and len(pairs) > _FEW and not best.hopeless
        if more and setting.time_left > 0.0:
            size = _LARGER if best.rounds >= _MANY else _SMALLER
            least = min(rival, best.loss)
            tried.append(_tried(trials, setting, None, size, best.model.ids, least))
            best = min(tried, key=lambda one: one.loss)
        near = [best]
        if estimator is None and len(pairs) <= _MOST_WITH_MEANS:
            near = [one for one in tried if one.loss <= (1.0 + _NEAR) * best.loss]
        models = [best.model]
        if estimator is None:  # one way alone is fitted from several seeds
            alone = len(near) == 1 and _FEW < len(pairs) <= _MOST_WITH_MEANS
            models = [
                clone(one.model).set_params(
                    estimator__max_iter=one.rounds,
                    estimator__random_state=(setting.random_state + number) % _SEED_RANGE,
                )
                for number, one in enumerate(near * _SEEDS if alone else near)
            ]
        model = MeanOfTrees.fitted(models, folds.data)
    rounds = [one.rounds for one in near]
    setting.say(
        f"boosted trees: held-out loss {best.loss:.4f}, {len(models)} models, {rounds} rounds"
    )
    held_out = np.mean([one.held_out for one in near if one.held_out is not None], axis=0)
    chosen = {"rounds": rounds, "ids": [one.model.ids for one in near]}
    return Learnt(model, held_out, chosen, nested=trials.nested())


def _tried(
    trials: Trials, setting: Setting, given: Any, size: tuple[int, int], ids: str, rival: float
) -> _Tried:
    """Boost all folds for as long as it pays, or may bring them near the loss of a rival."""
    folds, (leaves, least) = trials.folds, size
    few = len(folds.data) <= _FEW
    kind = HistGradientBoostingClassifier if setting.classifies else HistGradientBoostingRegressor
    boosting = kind(
        learning_rate=_STEP_OF_FEW if few else _STEP,
        max_leaf_nodes=leaves,
        min_samples_leaf=least,
        l2_regularization=1.0,
        max_bins=63,
        max_features=0.7,
        early_stopping=False,
        random_state=setting.random_state % _SEED_RANGE,
    )
    pairs, parity = folds.data.pairs, folds.data.parity
    wide = sp.issparse(pairs.objects) or pairs.n_object_features > _MOST_COLUMNS
    symmetry = {Parity.EVEN: "symmetric", Parity.ODD: "antisymmetric", None: "none"}[parity]
    model = Symmetrized(
        boosting if given is None else given,
        symmetry,
        features="group" if wide else "derived",
        ids=ids,
        random_state=setting.random_state,
    )
    tried, series = _Tried(model), [_Series(folds, split, model) for split in folds.splits]
    series_of_looks, losses = _ROUNDS_OF_FEW if few else _ROUNDS, list[float]()
    for looks in series_of_looks if given is None else ((0,),):
        by_fold = [one.boosted(looks) for one in series]
        for rounds, parts in zip(looks, zip(*by_fold, strict=True), strict=True):
            loss = trials.loss_of(list(parts))
            if loss >= tried.loss:
                return tried
            tried.loss, tried.rounds, tried.held_out = loss, rounds, np.concatenate(parts)
            losses.append(loss)
        tried.hopeless = loss - _HOPE * (losses[-3:][0] - loss) > rival
        if tried.hopeless or setting.time_left <= 0.0:
            break
    return tried


class _Series:
    """One fold: an estimator that is boosted further and further, asked about held-out pairs."""

    def __init__(self, folds: TrainingFolds, split: Split, model: Symmetrized) -> None:
        part = some_rows(folds.data, split[0])
        self._model, self._parity = clone(model), folds.data.parity
        self._rows, targets, source = self._model._training_rows(part)
        self._labels = np.where(targets > 0, 1, -1) if model._classifies else targets
        weights = part.weights[source]
        self._options = {} if (weights == 1.0).all() else {"sample_weight": weights}
        self._estimator = clone(model.estimator)
        if hasattr(self._estimator, "warm_start"):
            self._estimator.set_params(warm_start=True)
        rates = self._model._rates_of(part)
        held = folds.data.pairs[split[1]].without_unused_objects()
        self._held = [
            self._model._columns(side, None if rates is None else rates.apply(side))
            for side in ([held] if self._parity is None else [held, held.swap()])
        ]

    def boosted(self, looks: tuple[int, ...]) -> list[Vector]:
        """Decisions about the held-out pairs after these numbers of rounds; 0 is all there are."""
        if looks[-1]:
            self._estimator.set_params(max_iter=looks[-1])
        self._estimator.fit(self._rows, self._labels, **self._options)
        self._model._note(self._estimator, self._rows)
        by_side = [self._staged(side, looks) for side in self._held]
        if self._parity is None:
            return by_side[0]
        return [impose(self._parity, *sides) for sides in zip(*by_side, strict=True)]

    def _staged(self, rows: Any, looks: tuple[int, ...]) -> list[Vector]:
        """Log-odds or values after some of the rounds."""
        if not looks[-1]:
            return [self._model._read_off(self._estimator, rows)]
        name = "staged_decision_function" if self._model._classifies else "staged_predict"
        stages = enumerate(getattr(self._estimator, name)(rows), 1)
        return [np.asarray(values).reshape(-1) for number, values in stages if number in looks]
