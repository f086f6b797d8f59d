"""What the model goes by: features, training pairs, and pairs that surprise it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from pairity.explain import (
    Columns,
    PermutationImportance,
    contributions,
    permutation_importance,
)
from pairity.pairs import Pairs
from pairity.report.compared import names_of
from pairity.report.data import FeatureDrop, InfluentialPair, SurprisingPair
from pairity.report.held_out import HeldOut
from pairity.report.limits import Limits
from pairity.report.subject import Subject
from pairity.transform.names import PairNames

__all__ = ["feature_drops", "influential", "read_names", "surprising"]

Vector = NDArray[np.float64]

_SHOWN = 12
#: Features are shuffled in so many folds that about this many are shuffled in all.
_SHUFFLED = 40
_KINDS = {"objects": "object", "symmetric": "symmetric", "antisymmetric": "antisymmetric"}


def read_names(names: Any, pairs: Pairs) -> PairNames:
    """Names of features: a mapping by kind, a sequence of all, or none."""
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    if isinstance(names, Mapping):
        kinds = ("objects", "symmetric", "antisymmetric")
        names = [str(name) for kind in kinds for name in names.get(kind, ())]
    elif names is not None and not isinstance(names, Sequence | np.ndarray):
        raise ValueError(
            f"got feature_names of type {type(names).__name__}; expected a list, or a mapping with"
            " the keys objects, symmetric and antisymmetric."
        )
    return PairNames.read(names, *widths)


def feature_drops(
    subject: Subject, held: HeldOut, names: PairNames, limits: Limits, seed: int
) -> tuple[tuple[FeatureDrop, ...], str]:
    """Drop of the held-out score when features are shuffled, largest first, and how it was found.

    The score is that of models of folds on pairs they have not seen: accuracy, AUC or R2.  Many
    features are shuffled in fewer folds, at least in one.
    """
    chosen, note = _columns(subject.pairs, names, limits.features)
    if not held.fitted or not chosen:
        return (), "No features, or no held-out pairs to measure their importance on."
    fitted = held.fitted[: max(1, _SHUFFLED // len(chosen))]
    drops, baselines, sizes = [], [], []
    for model, tested in fitted:
        rows = _some(tested, max(1, limits.explained // len(fitted)), seed)
        found = _importance(subject, model, rows, chosen, limits.shuffles, seed)
        drops.append(found.drops)
        baselines.append(found.baseline)
        sizes.append(len(rows))
    drop = np.average(np.stack(drops), axis=0, weights=sizes)  # (features, shuffles)
    spread = drop.std(axis=1, ddof=1) if limits.shuffles > 1 else np.zeros(len(drop))
    listed = list(chosen.items())
    order = np.argsort(-drop.mean(axis=1), kind="stable")
    facts = tuple(
        FeatureDrop(
            listed[place][0],
            _kind(listed[place][1]),
            float(drop[place].mean()),
            float(spread[place]),
        )
        for place in order
    )
    baseline = np.average(baselines, weights=sizes)
    return facts, (
        f"Drop of the {_score_name(subject)} ({baseline:.3g}) on {sum(sizes)} held-out pairs"
        " when a feature is shuffled: one of objects among objects, one of pairs among pairs."
        f" Mean of {limits.shuffles} shuffles. {note}"
    ).strip()


def _some(rows: NDArray[np.intp], most: int, seed: int) -> NDArray[np.intp]:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).permutation(rows)[:most])


def _importance(
    subject: Subject,
    model: Any,
    rows: NDArray[np.intp],
    chosen: dict[str, Columns],
    shuffles: int,
    seed: int,
) -> PermutationImportance:
    labels = subject.y
    if subject.kind == "draws":  # the learner inside knows decided games, as signs
        labels = subject.targets
        rows = rows[labels[rows] != 0.0]
    return permutation_importance(
        model,
        subject.pairs[rows],
        labels[rows],
        features=chosen,
        scoring=None if _score_name(subject) != "AUC" else _auc,
        n_repeats=shuffles,
        random_state=seed,
    )


def _score_name(subject: Subject) -> str:
    """What a shuffle is judged by; AUC where labels may be rare and a boundary may be off."""
    if subject.kind == "numbers":
        return "R²"
    return "AUC" if subject.kind == "labels" and not subject.is_odd else "accuracy"


def _auc(model: Any, pairs: Pairs, y: Any) -> float:
    positive = np.asarray(y) == model.classes_[1]
    if positive.all() or not positive.any():
        return 0.5
    return float(roc_auc_score(positive, model.decision_function(pairs)))


def _columns(pairs: Pairs, names: PairNames, most: int) -> tuple[dict[str, Columns], str]:
    """Features to shuffle: one by one, or all those of objects together if they are many."""
    chosen: dict[str, Columns] = {}
    note = ""
    n = pairs.n_object_features
    if n > most or (n > 1 and _is_identity(pairs)):
        what = "which object it is" if _is_identity(pairs) else f"all {n:,} object features"
        chosen[what] = Columns(objects=tuple(range(n)))
        note = "The features of objects are shuffled together."
    else:
        for place, name in enumerate(names.objects):
            chosen[_unused(name, chosen)] = Columns(objects=(place,))
    for place, name in enumerate(names.symmetric):
        chosen[_unused(name, chosen)] = Columns(symmetric=(place,))
    for place, name in enumerate(names.antisymmetric):
        chosen[_unused(name, chosen)] = Columns(antisymmetric=(place,))
    return chosen, note


def _unused(name: str, known: Mapping[str, Any]) -> str:
    return name if name not in known else f"{name} ({len(known)})"


def _kind(columns: Columns) -> str:
    return next(word for kind, word in _KINDS.items() if getattr(columns, kind))


def _is_identity(pairs: Pairs) -> bool:
    """Whether the table says which object it is and nothing else."""
    table = pairs.objects
    if not sp.issparse(table) or table.shape[0] != table.shape[1]:
        return False
    sparse = sp.csr_array(table)
    return sparse.nnz == sparse.shape[0] and bool((sparse.diagonal() == 1.0).all())


def influential(subject: Subject, limits: Limits, seed: int) -> tuple[InfluentialPair, ...]:
    """Training pairs by the mean size of what they add to decisions about a sample of pairs.

    None for low-rank models, whose decisions are no sums over training pairs.
    """
    if not hasattr(subject.machine, "support_"):
        return ()
    n = len(subject.pairs)
    rows = _some(np.arange(n), limits.explained, seed)
    sizes = np.abs(contributions(subject.learner, subject.pairs[rows])).mean(axis=0)
    total = float(sizes.sum())
    places = np.argsort(-sizes, kind="stable")[:_SHOWN]
    trained = _training_rows(subject)
    trained = trained[subject.machine.support_[places] % len(trained)]
    names = names_of(subject.pairs)
    return tuple(
        InfluentialPair(
            names[subject.pairs.first[row]],
            names[subject.pairs.second[row]],
            subject.label_of(float(subject.targets[row])),
            float(sizes[place]),
            float(sizes[place]) / total if total > 0.0 else 0.0,
        )
        for place, row in zip(places, trained, strict=True)
    )


def _training_rows(subject: Subject) -> NDArray[np.intp]:
    """Rows that the learner was fitted to: classifiers of draws see decided games only."""
    rows = np.arange(len(subject.pairs))
    if subject.kind == "draws" and hasattr(subject.machine, "classes_"):
        return np.flatnonzero(subject.targets != 0.0)
    return rows


def surprising(
    subject: Subject, held: HeldOut, chances: Vector | None
) -> tuple[SurprisingPair, ...]:
    """Held-out pairs with the least likely outcomes, or the largest errors: worth a second look."""
    if not len(held.rows) or (chances is None and subject.kind != "numbers"):
        return ()
    targets = subject.targets[held.rows]
    if chances is None:
        predicted, surprise = held.decisions, np.abs(targets - held.decisions)
    else:
        column = (targets + 1 if subject.kind == "draws" else targets > 0).astype(np.intp)
        predicted = chances[np.arange(len(column)), column]
        surprise = 1.0 - predicted
    _, where = np.unique(held.rows, return_index=True)  # one decision a row
    places = where[np.argsort(-surprise[where], kind="stable")[:_SHOWN]]
    names = names_of(subject.pairs)
    return tuple(
        SurprisingPair(
            names[subject.pairs.first[held.rows[place]]],
            names[subject.pairs.second[held.rows[place]]],
            subject.label_of(float(targets[place])),
            float(predicted[place]),
            float(surprise[place]),
        )
        for place in places
    )
