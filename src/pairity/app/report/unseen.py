"""Decisions about pairs that a model has not seen, by settings of what else is new to it.

The learner is fitted again on folds with the kernel and the strength that were chosen; the choice
itself was made with all pairs in view, which the page says.  The decisions of one fold become
probabilities by the sigmoid (or isotonic curve, or thresholds of draws) that fits the decisions
about the *other* folds best, so that no outcome helps to predict itself.  Decisions of logistic
regression are log-odds already.  Pairs with times are foretold from earlier ones, and curves are fitted
to earlier decisions alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pairity.app.report.report_data import Limits
from pairity.app.report.subject import Subject
from pairity.estimators.kernel_machines import PairLogistic
from pairity.inspection.fitted_function import values_of
from pairity.losses.probabilities import two_probabilities
from pairity.model_selection import ObjectKFold, PairKFold, TimeSplit
from pairity.model_selection.curves import (
    fit_draws,
    fit_isotonic,
    fit_sigmoid,
    smoothed_outcomes,
    smoothed_targets,
)
from pairity.pairs.arrays import Mask, Places, Vector
from pairity.pairs.data import Pairs

Split = tuple[Places, Places]

#: Settings by key: their names, and how many objects of a test pair are new.
SETTINGS = {
    "seen": ("both objects seen", 0),
    "one_new": ("one object new", 1),
    "both_new": ("both objects new", 2),
    "whole": ("the whole model, as it was tuned", 0),
    "later": ("later pairs", 0),
}
_NEW = {0: "two known objects", 1: "one new object", 2: "two new objects"}
#: Fewer held-out pairs than this say nothing.
_LEAST = 10
#: Folds are made fewer where the rarer label is held out with less than this part of its share.
_LOPSIDED = 0.5


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decisions about held-out rows; one that is held out k times stands there k times.

    ``fitted`` are the models of the folds with the rows they did not see, for explanations.
    Without rows, ``reason`` says why there are none.
    """

    rows: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    decisions: Vector = field(default_factory=lambda: np.zeros(0))
    folds: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    n_train: int = 0  # mean over folds
    n_folds: int = 0
    n_unconverged: int = 0
    fitted: tuple[tuple[Any, Places], ...] = ()
    reason: str = ""
    in_time: bool = False  # each fold is foretold from all pairs before it

    @property
    def weights(self) -> Vector:
        """1/k for a row that is held out k times."""
        times = np.bincount(self.rows) if len(self.rows) else np.zeros(0)
        return np.asarray(1.0 / times[self.rows])


def refitted(pairs: Pairs) -> tuple[str, ...]:
    """Settings that the learner is fitted again for; of pairs with times, what comes later."""
    return ("seen" if pairs.time is None else "later", "one_new", "both_new")


def sample_rows(unordered: Places, most: int, seed: int) -> Places:
    """All rows, or those of unordered pairs drawn at random until there are too many."""
    if len(unordered) <= most:
        return np.arange(len(unordered))
    place = np.random.default_rng(seed).permutation(int(unordered.max()) + 1)
    return np.sort(np.argsort(place[unordered], kind="stable")[:most])


def hold_out(
    subject: Subject, key: str, limits: Limits, seed: int, groups: Any, object_groups: Any
) -> HeldOut:
    """Fit on folds and decide about what they hold out; fewer folds where many are too many."""
    reason, useful = "too few pairs to hold some out", []
    new, in_time = SETTINGS[key][1], key == "later"
    told_apart = subject.kind == "labels" and not subject.is_odd  # each fold needs both labels
    for n_folds in dict.fromkeys((limits.folds, min(3, limits.folds), 2)):
        splitter: Any = PairKFold(
            n_folds, new=0, random_state=seed, stratify=told_apart and groups is None
        )
        if new:
            splitter = ObjectKFold(n_folds, new=new, random_state=seed, object_groups=object_groups)
        if in_time:
            splitter, groups = TimeSplit(n_folds), None
        try:
            splits = list(splitter.split(subject.pairs, subject.targets, groups))
        except ValueError:
            reason = f"too few pairs with {_NEW[new]} can be held out"
            continue
        held = np.unique(np.concatenate([test for _, test in splits]))
        kinds = [np.unique(subject.targets[test]) for _, test in splits] if told_apart else []
        alone = next((kind[0] for kind in kinds if len(kind) < 2), None)
        if len(held) < _LEAST:
            reason = f"{len(held)} such pairs can be held out, too few to say anything"
        elif alone is not None:
            label = subject.label_of(alone)
            reason = f"there are folds whose held-out pairs all have the label {label!r}"
        else:
            useful.append(splits)
            if not (told_apart and _is_lopsided(subject.targets > 0, held)):
                return _decide(subject, splits, in_time=in_time)
    if not useful:
        return HeldOut(reason=reason)
    return _decide(subject, useful[0], in_time=in_time)


def _is_lopsided(positive: Mask, held: Places) -> bool:
    """Whether the rarer label is much rarer among held-out pairs than among all pairs.

    Single groups of objects that belong together leave hardly any held-out pair of the other
    label; fewer and larger folds leave more.
    """
    shares = [min(np.mean(mask), 1.0 - np.mean(mask)) for mask in (positive[held], positive)]
    return bool(shares[0] < _LOPSIDED * shares[1])


def _decide(subject: Subject, splits: list[Split], *, in_time: bool = False) -> HeldOut:
    refitted = [(*subject.refit(train), fold) for fold, (train, _) in enumerate(splits)]
    refitted = [(model, done, fold) for model, done, fold in refitted if model is not None]
    if not refitted:
        return HeldOut(reason="the training pairs of every fold are of one label only")
    fitted = tuple((model, splits[fold][1]) for model, _, fold in refitted)
    rows = [test for _, test in fitted]
    return HeldOut(
        np.concatenate(rows),
        np.concatenate([values_of(model, subject.pairs[test]) for model, test in fitted]),
        np.repeat([fold for _, _, fold in refitted], [len(test) for test in rows]),
        n_train=round(float(np.mean([len(splits[fold][0]) for _, _, fold in refitted]))),
        n_folds=len(rows),
        n_unconverged=sum(not done for _, done, _ in refitted),
        fitted=fitted,
        in_time=in_time,
    )


# Chances ----------------------------------------------------------------------------------------


def _chances(
    subject: Subject, asked: Vector, decisions: Vector, targets: Vector, weights: Vector
) -> Vector:
    """Probabilities for decisions, by the curve of the model's own kind fitted to others."""
    if subject.kind == "draws":
        draws = fit_draws(decisions, smoothed_outcomes(targets, weights), weights)
        return draws.probabilities(asked)
    fit = fit_isotonic if getattr(subject.model, "method", "") == "isotonic" else fit_sigmoid
    smoothed = smoothed_targets(targets, weights, subject.parity)
    return two_probabilities(fit(decisions, smoothed, weights, subject.parity).log_odds(asked))


def chances_of_fold_decisions(subject: Subject, held: HeldOut) -> Vector | None:
    """Probabilities of the classes, one column each; None where nothing can be fitted.

    In the order of time they are NaN where there are no earlier decisions.
    """
    if subject.kind == "numbers" or not len(held.rows):
        return None
    if subject.kind == "labels" and isinstance(subject.machine, PairLogistic):  # log-odds already
        return two_probabilities(held.decisions)
    targets, weights = subject.targets[held.rows], held.weights
    chances = np.full((len(held.rows), len(subject.classes)), np.nan)
    for fold in np.unique(held.folds):
        mine = held.folds == fold
        known = held.folds < fold if held.in_time else ~mine
        others = held.decisions[known], targets[known], weights[known]
        if known.any() and _can_fit(subject, others[1]):
            chances[mine] = _chances(subject, held.decisions[mine], *others)
        elif not held.in_time:
            return None
    return None if np.isnan(chances).all() else chances


def with_chances(subject: Subject, held: HeldOut) -> tuple[HeldOut, Vector | None]:
    """Held-out decisions and their probabilities; those that only serve later ones are left out."""
    chances = chances_of_fold_decisions(subject, held)
    if chances is None or not held.in_time:
        return held, chances
    kept = np.flatnonzero(~np.isnan(chances[:, 0]))
    of = {name: getattr(held, name)[kept] for name in ("rows", "decisions", "folds")}
    return replace(held, **of), chances[kept]


def _can_fit(subject: Subject, targets: Vector) -> bool:
    return subject.is_odd or len(np.unique(targets)) > 1


def chances_of_model(subject: Subject, held: HeldOut, pairs: Any) -> Vector | None:
    """Probabilities by the model itself; by a sigmoid of held-out decisions where it has none."""
    if subject.kind == "numbers":
        return None
    if hasattr(subject.model, "predict_proba"):
        return np.asarray(subject.model.predict_proba(pairs))
    targets = subject.targets[held.rows]
    if not len(held.rows) or not _can_fit(subject, targets):
        return None
    return _chances(subject, subject.values(pairs), held.decisions, targets, held.weights)
