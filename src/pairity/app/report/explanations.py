"""What the model goes by: features, training pairs, and pairs that surprise it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from pairity.app.report.report_data import FeatureDrop, InfluentialPair, Limits, SurprisingPair
from pairity.app.report.subject import Subject
from pairity.app.report.unseen import HeldOut
from pairity.estimators.transformers import PairNames
from pairity.inspection import Columns, contributions, permutation_importance
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of

_SHOWN = 12
#: Features are shuffled in so many folds that about this many are shuffled in all.
_SHUFFLED = 40
#: Kinds of features, and what the page calls them.
_KINDS = {"objects": "object", "symmetric": "symmetric", "antisymmetric": "antisymmetric"}


def read_names(names: Any, pairs: Pairs) -> PairNames:
    """Names of features: a mapping by kind, a sequence of all, or none."""
    if isinstance(names, Mapping):
        names = [str(name) for kind in _KINDS for name in names.get(kind, ())]
    elif names is not None and not isinstance(names, Sequence | np.ndarray):
        raise ValueError(
            f"got feature_names of type {type(names).__name__}; expected a list, or a mapping with"
            " the keys objects, symmetric and antisymmetric."
        )
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    return PairNames.read(names, *widths)


def feature_drops(
    subject: Subject, held: HeldOut, names: PairNames, limits: Limits, seed: int
) -> tuple[tuple[FeatureDrop, ...], str]:
    """Drop of the held-out score when features are shuffled, largest first, and how it was found.

    The score is that of models of folds on pairs they have not seen: accuracy, AUC or R2.  Many
    features are shuffled in fewer folds, at least in one.
    """
    chosen, note = _columns(subject, names, limits.features)
    if not held.fitted or not chosen:
        return (), "No features, or no held-out pairs to measure their importance on."
    fitted = held.fitted[: max(1, _SHUFFLED // len(chosen))]
    most = max(1, limits.explained // len(fitted))
    tested = [_some(rows, most, seed) for _, rows in fitted]
    sizes = [len(rows) for rows in tested]
    labels, score = subject.y, score_name(subject)
    if subject.kind == "draws":  # the learner inside knows decided games, as signs
        labels = subject.targets
        tested = [rows[labels[rows] != 0.0] for rows in tested]
    measured = [
        permutation_importance(
            model,
            subject.pairs[rows],
            labels[rows],
            features=chosen,
            scoring=_auc if score == "AUC" else None,
            n_repeats=limits.shuffles,
            random_state=seed,
        )
        for (model, _), rows in zip(fitted, tested, strict=True)
    ]
    # (features, shuffles)
    drop = np.average([fold.drops for fold in measured], axis=0, weights=sizes)
    baseline = np.average([fold.baseline for fold in measured], weights=sizes)
    spread = drop.std(axis=1, ddof=1) if limits.shuffles > 1 else np.zeros(len(drop))
    facts = [
        FeatureDrop(
            name,
            next((word for kind, word in _KINDS.items() if getattr(columns, kind)), "object"),
            float(values.mean()),
            float(deviation),
        )
        for (name, columns), values, deviation in zip(chosen.items(), drop, spread, strict=True)
    ]
    decided = " about pairs without a draw" if subject.kind == "draws" else ""
    shown = f"{100.0 * baseline:.1f} %" if score == "accuracy" else f"{baseline:.3f}"
    return tuple(sorted(facts, key=lambda fact: -fact.mean)), (
        f"Drop of the {score}{decided} ({shown} on {sum(sizes):,} of the held-out pairs)"
        " when a feature is shuffled: one of objects among objects, one of pairs among pairs."
        f" Mean of {limits.shuffles} shuffles. {note}"
    ).strip()


def _some(rows: Places, most: int, seed: int) -> Places:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).permutation(rows)[:most])


def score_name(subject: Subject) -> str:
    """What a shuffle is judged by; AUC where labels may be rare and a boundary may be off."""
    if subject.kind == "numbers":
        return "R²"
    return "AUC" if subject.kind == "labels" and not subject.is_odd else "accuracy"


def _auc(model: Any, pairs: Pairs, y: Any) -> float:
    positive = np.asarray(y) == model.classes_[1]
    if positive.all() or not positive.any():
        return 0.5
    return float(roc_auc_score(positive, model.decision_function(pairs)))


#: What ids say, as a feature.
_WHICH = "which object it is"


def _columns(subject: Subject, names: PairNames, most: int) -> tuple[dict[str, Columns], str]:
    """Features to shuffle: one by one, or all those of objects together if they are many."""
    chosen: dict[str, Columns] = {}
    pairs, note, kinds = subject.pairs, "", list(_KINDS)
    n, identity = pairs.n_object_features, _is_identity(pairs)
    if n > most or (n > 1 and identity):
        what = _WHICH if identity else f"all {n:,} object features"
        chosen[what] = Columns(objects=tuple(range(n)), ids=identity)
        note = "The features of objects are shuffled together."
        kinds.remove("objects")
    kernels = subject.machine._model.kernel.walk()
    if pairs.ids is not None and any(kernel.tells_apart for kernel in kernels):
        chosen.setdefault(_WHICH, Columns(ids=True))
    for kind in kinds:
        for column, name in enumerate(getattr(names, kind)):
            unused = name if name not in chosen else f"{name} ({len(chosen)})"
            chosen[unused] = Columns.one(kind, column)
    return chosen, note


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
    rows = _some(np.arange(len(subject.pairs)), limits.explained, seed)
    sizes = np.abs(contributions(subject.learner, subject.pairs[rows])).mean(axis=0)
    trained = subject.trained_rows
    trained = trained[subject.machine.support_ % len(trained)]
    _, place, told, times = np.unique(
        _told(subject)[trained], axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    together = np.bincount(told.reshape(-1), sizes)
    total = float(sizes.sum()) or 1.0
    return tuple(
        InfluentialPair(
            *subject.pair_names(trained[place[one]]),
            float(together[one]),
            float(together[one]) / total,
            int(times[one]),
        )
        for one in np.lexsort((place, -together))[:_SHOWN]
    )


def _told(subject: Subject) -> Places:
    """What each row says, in whichever order it is written: unordered pair and outcome, (n, 2)."""
    ends = ends_of(subject.pairs)
    turned = subject.is_odd & (ends.first > ends.second)
    return np.column_stack([ends.unordered(), np.where(turned, -subject.targets, subject.targets)])


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
        predicted = chances[np.arange(len(targets)), subject.columns(targets)]
        # what was most likely is no surprise, however likely something else was
        surprise = np.where(predicted < chances.max(axis=1), 1.0 - predicted, -1.0)
    told = _told(subject)[held.rows]
    order = np.argsort(-surprise, kind="stable")
    order = order[surprise[order] >= 0.0]
    firsts = np.sort(np.unique(told[order], axis=0, return_index=True)[1])  # each outcome once
    return tuple(
        SurprisingPair(*subject.pair_names(held.rows[k]), float(predicted[k]), float(surprise[k]))
        for k in order[firsts[:_SHOWN]]
    )
