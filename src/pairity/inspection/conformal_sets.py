"""Conformal sets and intervals for any model of pairs, from folds that never leak objects.

How far a model is off depends on how much of a pair it knows.  So held-out values are kept apart by
the number of objects, 0 to 2, that no training pair of their fold has, and a pair is judged by those
of its own kind.  With nonconformity ``a = |y - f|`` of numbers, ``a = -y f`` of labels -1 and +1, and
q the smallest value that ``ceil((n + 1) level)`` of the n held-out values do not exceed,

    [f - q, f + q],    respectively    {v in {-1, +1} : -v f <= q}

holds the truth for a share ``level`` of new pairs, whatever the model (Vovk, Gammerman and Shafer,
Algorithmic Learning in a Random World, 2005), as far as folds are alike and pairs of one kind
exchangeable.  Where too few were held out the interval is infinite and the set holds both labels.

Both mirror exactly under a swap, because f does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from pairity.estimators.unwrap import innermost
from pairity.inspection.fitted_function import require_pairs, values_of
from pairity.model_selection.held_out import Trainer
from pairity.model_selection.splitter import PairKFold
from pairity.model_selection.splitters import ObjectKFold
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.pairs.same_objects import ends_of, together
from pairity.runtime.validation import check_count, check_level
from pairity.training.labels import read_labels, read_targets


@dataclass(frozen=True, eq=False)
class Conformal:
    """A fitted model with held-out nonconformities, one array for 0, 1 and 2 new objects."""

    model: Any
    training: Pairs
    nonconformities: tuple[Vector, Vector, Vector]

    def reach(self, pairs: Pairs, level: float = 0.9) -> Vector:
        """``q`` of each pair; infinite where too few pairs of its kind were held out."""
        check_level(level)
        require_pairs(pairs)
        quantiles = np.full(3, np.inf)
        for kind, values in enumerate(self.nonconformities):  # sorted
            number = int(np.ceil((len(values) + 1) * level))
            if number <= len(values):
                quantiles[kind] = values[number - 1]
        both, n_training = together(self.training, pairs), len(self.training)
        n_new = ends_of(both).n_new(np.arange(len(both)) < n_training)
        return quantiles[n_new[n_training:]]

    def predict_interval(self, pairs: Pairs, level: float = 0.9) -> Vector:
        """Lower and upper ends for new observations of a regressor, shape (n, 2)."""
        if is_classifier(self.model):
            raise ValueError(
                f"got intervals of {type(self.model).__name__}, a classifier; expected a regressor:"
                " predict_set says which labels are possible."
            )
        centre, reach = values_of(self.model, pairs), self.reach(pairs, level)
        return np.column_stack([centre - reach, centre + reach])

    def predict_set(self, pairs: Pairs, level: float = 0.9) -> NDArray[np.bool_]:
        """Which of ``model.classes_`` are possible, shape (n, 2)."""
        if not is_classifier(self.model):
            raise ValueError(
                f"got sets of {type(self.model).__name__}, a regressor; expected a classifier:"
                " predict_interval gives intervals."
            )
        decisions, reach = values_of(self.model, pairs), self.reach(pairs, level)
        return np.column_stack([decisions <= reach, -decisions <= reach])


def conformal(
    model: Any,
    pairs: Pairs,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: Any = 0,
) -> Conformal:
    """Conformal sets and intervals of a fitted model, from clones on folds of what it was fitted to.

    Parameters
    ----------
    model : fitted model
        A classifier of two labels with ``decision_function``, or a regressor; alone, in a pipeline
        or in a search.
    pairs, y : Pairs, array-like of shape (n,)
        What it was fitted to.
    groups : array-like of shape (n,), optional
        Pairs of one group (a judge, a day) are never on both sides of a fold.
    n_splits : int
        Number of folds, of pairs and of objects.
    random_state : int, Generator or None
        Seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVR
    >>> from pairity.inspection import conformal
    >>> strength = np.arange(12.0)[:, None]
    >>> games = Pairs.complete(strength)
    >>> margin = strength[games.first, 0] - strength[games.second, 0]
    >>> model = PairSVR("antisymmetric", kernel="linear", C=100.0).fit(games, margin)
    >>> low, high = conformal(model, games, margin).predict_interval(games).T
    >>> bool(((low <= margin) & (margin <= high)).mean() >= 0.9)
    True
    """
    require_pairs(pairs)
    check_count(n_splits, "n_splits", 2)
    targets, classes = np.asarray(y), getattr(model, "classes_", None)
    if is_classifier(model):
        if classes is None or len(classes) != 2:
            raise ValueError(f"got {model!r}; expected a fitted classifier of two labels.")
        truth = np.where(targets == classes[1], 1.0, -1.0)
        read_labels(targets, len(pairs), None if len(np.unique(targets)) > 1 else _odd(model))
    else:
        truth = read_targets(targets, len(pairs))
    trainer = Trainer(model, pairs, targets, None)
    splitters: list[Any] = [
        PairKFold(n_splits, new=(0, 1, 2), random_state=random_state),
        ObjectKFold(n_splits, new=(1, 2), random_state=random_state),
    ]
    ends = ends_of(pairs)
    off, n_new = [np.zeros(0)], [np.zeros(0, dtype=np.intp)]
    for train, test in (fold for one in splitters for fold in one.split(pairs, groups=groups)):
        if not len(train) or not len(test):
            continue
        if classes is not None and len(np.unique(targets[train])) < 2 and _odd(model) is None:
            continue
        values = values_of(trainer.fit(train, classes), pairs[test])
        off.append(-truth[test] * values if classes is not None else np.abs(truth[test] - values))
        trained = np.isin(np.arange(len(pairs)), train)
        n_new.append(ends.n_new(trained)[test])
    values, kind = np.concatenate(off), np.concatenate(n_new)
    known, partly, new = (np.sort(values[kind == number]) for number in range(3))
    return Conformal(model, pairs, (known, partly, new))


def _odd(model: Any) -> Any:
    """The parity of an antisymmetric model, None of others."""
    parity = SYMMETRIES[innermost(model).symmetry]
    return parity if parity is Parity.ODD else None
