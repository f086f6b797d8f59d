"""All numbers of a report, from a model and what it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity._version import __version__
from pairity.pairs import Pairs
from pairity.report.chances import chances_of_fold_decisions, chances_of_model
from pairity.report.compared import Compared, choose_objects
from pairity.report.data import GroupFacts, Matrix, Notice, RankingFacts, ReportData, Setting
from pairity.report.estimates import Sample
from pairity.report.explanations import feature_drops, influential, read_names, surprising
from pairity.report.held_out import SETTINGS, HeldOut, hold_out, sample_rows
from pairity.report.laws import certificate_of, check_swap
from pairity.report.limits import Limits
from pairity.report.matrix import matrix_by_cluster, matrix_by_rank, square
from pairity.report.observations import describe, warn
from pairity.report.ordering import group, rank
from pairity.report.pictures import distribution, reliability
from pairity.report.search import search_facts
from pairity.report.subject import Subject, read_targets
from pairity.report.validation import measure, setting_of
from pairity.selection.identity import ends_of

__all__ = ["gather"]

Vector = NDArray[np.float64]


def gather(
    model: Any,
    pairs: Pairs,
    y: Any,
    *,
    title: str | None = None,
    feature_names: Any = None,
    label_names: Any = None,
    objects: Any = None,
    groups: Any = None,
    object_groups: Any = None,
    test: tuple[Pairs, Any] | None = None,
    test_name: str = "pairs set aside",
    limits: Limits | None = None,
    random_state: int = 0,
) -> ReportData:
    """Find all that a report says; parameters are those of :func:`~pairity.report.write_report`."""
    limits, seed = limits or Limits(), int(random_state)
    subject = Subject.read(model, pairs, y, label_names)
    names = read_names(feature_names, pairs)
    groups = _read_groups(groups, len(pairs))
    kept = sample_rows(ends_of(pairs).unordered(), limits.pairs, seed)
    validated = subject.some(kept)
    kept_groups = None if groups is None else groups[kept]
    parts = _hold_out_all(validated, limits, seed, kept_groups, object_groups)
    settings = [part.setting for part in parts]
    if test is not None:
        settings.append(_given(subject, validated, parts[0].held, test, test_name))
    shown = max(parts, key=lambda part: part.setting.n_pairs)  # the first of equal ones
    compared = choose_objects(subject, objects, limits.objects)
    ordered = _order(subject, validated, shown.held, compared, limits, seed)
    drops, drops_note = feature_drops(validated, shown.held, names, limits, seed)
    has_held = bool(len(shown.held.rows))
    with_curve = has_held and (subject.kind == "numbers" or shown.chances is not None)
    return ReportData(
        title=title or _default_title(subject),
        model=subject.facts(),
        observed=describe(subject),
        settings=tuple(settings),
        reliability=reliability(validated, shown.key, shown.held, shown.chances)
        if with_curve
        else None,
        distribution=distribution(validated, shown.key, shown.held, shown.chances)
        if has_held
        else None,
        ranking=ordered.ranking,
        groups=ordered.groups,
        matrix=ordered.matrix,
        features=drops,
        features_note=drops_note,
        influential=influential(subject, limits, seed),
        surprising=surprising(validated, shown.held, shown.chances),
        search=search_facts(model),
        certificate=certificate_of(subject),
        swap=check_swap(subject, seed),
        notices=(*warn(subject), *_about_limits(subject, validated, ordered)),
        version=__version__,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """One setting with what was found for it."""

    key: str
    held: HeldOut
    chances: Vector | None
    setting: Setting


@dataclass(frozen=True, eq=False)
class _Ordered:
    ranking: RankingFacts | None
    groups: GroupFacts | None
    matrix: Matrix | None
    reason: str = ""


def _default_title(subject: Subject) -> str:
    what = {True: "Who is ahead of whom", False: "What belongs together"}
    if subject.parity is None or subject.kind == "numbers":
        return "A model of pairs"
    return what[subject.is_odd]


def _read_groups(groups: Any, n_pairs: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_pairs,):
        raise ValueError(
            f"got groups of shape {values.shape} for {n_pairs} pairs; expected one per pair."
        )
    return values


def _hold_out_all(
    subject: Subject, limits: Limits, seed: int, groups: Any, object_groups: Any
) -> list[_Part]:
    parts = []
    for key in SETTINGS:
        held = hold_out(subject, key, limits, seed, groups, object_groups)
        chances = chances_of_fold_decisions(subject, held)
        parts.append(_Part(key, held, chances, setting_of(key, subject, held, chances, groups)))
    return parts


def _given(
    subject: Subject, validated: Subject, held: HeldOut, test: tuple[Pairs, Any], name: str
) -> Setting:
    """Figures of the model itself on pairs that it was not fitted to."""
    pairs, y = test
    targets = read_targets(np.asarray(y), subject.kind, subject.classes)
    if len(targets) != len(pairs):
        raise ValueError(
            f"got {len(targets)} labels for {len(pairs)} test pairs; expected one per pair."
        )
    sample = Sample(np.arange(len(pairs)), np.ones(len(pairs)), ends_of(pairs))
    decisions = subject.values(subject.model, pairs)
    chances = chances_of_model(validated, held, pairs)
    figures, guess = measure(subject, sample, targets, decisions, chances)
    return Setting(
        "given", name, figures, guess, n_pairs=len(pairs), n_train=len(subject.pairs), n_folds=1
    )


def _order(
    subject: Subject,
    validated: Subject,
    held: HeldOut,
    compared: Compared,
    limits: Limits,
    seed: int,
) -> _Ordered:
    """Ranking or groups, and the matrix in their order."""
    if subject.parity is None:
        return _Ordered(None, None, None, "A model without a swap law gives no order of objects.")
    if len(compared.names) < 2 or not len(compared.pairs):
        return _Ordered(None, None, None, "There are no pairs of objects to compare.")
    quantity = {"numbers": "value", "draws": "points"}.get(subject.kind, "probability")
    forth, back = (
        _shown_values(validated, held, p) for p in (compared.pairs, compared.pairs.swap())
    )
    if forth is None or back is None:
        quantity = "value"
        forth, back = (
            subject.values(subject.model, p) for p in (compared.pairs, compared.pairs.swap())
        )
    table = square(compared, forth, back)
    if subject.is_odd:
        ranking, order = rank(subject, compared, limits, seed)
        return _Ordered(
            ranking, None, matrix_by_rank(table, compared, order, quantity, limits.shown)
        )
    groups, labels = None, np.zeros(len(compared.names), dtype=np.intp)
    if subject.kind == "labels":
        groups, labels = group(subject, compared)
    similarity = subject.values(subject.model, compared.pairs)
    alike = square(compared, similarity, similarity)
    matrix = matrix_by_cluster(table, alike, labels, compared, quantity, limits.shown)
    return _Ordered(None, groups, matrix)


def _shown_values(subject: Subject, held: HeldOut, pairs: Pairs) -> Vector | None:
    """What the matrix shows: a probability, expected points of a game, or a prediction."""
    if subject.kind == "numbers":
        return subject.values(subject.model, pairs)
    chances = chances_of_model(subject, held, pairs)
    if chances is None:
        return None
    return chances[:, -1] + (0.5 * chances[:, 1] if subject.kind == "draws" else 0.0)


def _about_limits(subject: Subject, validated: Subject, ordered: _Ordered) -> list[Notice]:
    found = []
    if len(validated.pairs) < len(subject.pairs):
        found.append(
            Notice(
                "note",
                "A sample was validated",
                f"Models of the folds were fitted to {len(validated.pairs):,} of"
                f" {len(subject.pairs):,} pairs, so that figures are rather too low than too high.",
            )
        )
    if ordered.reason:
        found.append(Notice("note", "No order of objects", ordered.reason))
    return found
