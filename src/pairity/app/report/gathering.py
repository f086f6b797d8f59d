"""All numbers of a report, from a model and what it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pairity._version import __version__
from pairity.app.report.compared import (
    Compared,
    choose_objects,
    clustered,
    group,
    matrix_of,
    rank,
    spaced,
    square,
)
from pairity.app.report.estimates import Sample, measure, setting_of, setting_of_whole
from pairity.app.report.explanations import (
    feature_drops,
    influential,
    read_names,
    score_name,
    surprising,
)
from pairity.app.report.observations import describe, warn
from pairity.app.report.pictures import (
    certificate_of,
    check_swap,
    distribution,
    members_of,
    over_time,
    reliability,
    search_facts,
)
from pairity.app.report.report_data import (
    GroupFacts,
    Limits,
    Matrix,
    Notice,
    RankingFacts,
    ReportData,
    Setting,
)
from pairity.app.report.subject import Subject, read_targets
from pairity.app.report.unseen import (
    HeldOut,
    chances_of_model,
    hold_out,
    refitted,
    sample_rows,
    with_chances,
)
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of


def gather(
    model: Any,
    pairs: Pairs,
    y: Any,
    *,
    title: str | None = None,
    feature_names: Any = None,
    label_names: Any = None,
    object_names: Any = None,
    objects: Any = None,
    groups: Any = None,
    object_groups: Any = None,
    test: tuple[Pairs, Any] | None = None,
    test_name: str = "pairs set aside",
    limits: Limits | None = None,
    dates: bool = False,
    random_state: int = 0,
) -> ReportData:
    """Find all that a report of a fitted model says.

    Parameters
    ----------
    model : fitted estimator
        ``PairSVC``, ``PairLogistic``, ``PairSVR``, ``PairRidge``, their tuned forms
        (``PairSVCCV``, ...), ``CalibratedPairClassifier``, ``PairDrawClassifier``, or a pipeline or
        search around one.
    pairs : Pairs
        What it was fitted to; their ids name objects on the page.
    y : array-like of shape (n,)
        Labels or targets.
    title : str, optional
        Heading of the page.
    feature_names : sequence of str, or mapping, optional
        Names of object, symmetric and antisymmetric features, in this order; or a mapping with the
        keys ``objects``, ``symmetric`` and ``antisymmetric``.
    label_names : mapping, or object with ``values`` and ``names``, optional
        What labels are called on the page: ``{1: "won", -1: "lost"}``.
    object_names : mapping, optional
        What objects are called on the page, by their ids: ``{"80": "GPT 4"}``.
    objects : array-like, or Pairs, optional
        Objects to rank or to group, all pairs of which are compared; or the pairs to compare, with
        the group features that the model needs.  By default the objects of ``pairs``, those in most
        pairs first.
    groups : array-like of shape (n,), optional
        Pairs of one group (a traveller's choices) are never on both sides of a split.
    object_groups : array-like of shape (m,), optional
        Objects of one group (images of a digit) are new together.
    test : (pairs, y), optional
        Pairs that were set aside before: the model itself is measured on them too.
    test_name : str
        What they are called.
    limits : Limits, optional
        How much work the report may be.
    dates : bool
        Whether times are days since 1970-01-01, to be shown as dates.
    random_state : int
        Seed of folds, samples and shuffles.
    """
    limits, seed = limits or Limits(), int(random_state)
    subject = Subject.read(model, pairs, y, label_names, object_names)
    names = read_names(feature_names, pairs)
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and groups.shape != (len(pairs),):
        raise ValueError(
            f"got groups of shape {groups.shape} for {len(pairs)} pairs; expected one per pair."
        )
    kept = sample_rows(ends_of(pairs).unordered(), limits.pairs, seed)
    validated = subject.some(kept)
    kept_groups = None if groups is None else groups[kept]
    parts = []
    for key in refitted(pairs):
        held = hold_out(validated, key, limits, seed, kept_groups, object_groups)
        held, chances = with_chances(validated, held)
        setting = setting_of(key, validated, held, chances, kept_groups, names.antisymmetric)
        parts.append((setting, held, chances))
    settings = [setting for setting, _, _ in parts]
    whole = setting_of_whole(model, subject, groups, names.antisymmetric)
    if whole is not None:
        settings.insert(0, whole)
    if test is not None:
        settings.append(_given(subject, validated, parts[0][1], test, test_name))
    # Later pairs are what matters where there are some; else most pairs, the first of equal ones.
    shown, held, chances = max(
        parts, key=lambda part: (part[1].in_time and part[0].n_pairs > 0, part[0].n_pairs)
    )
    compared = choose_objects(subject, objects, limits.objects)
    ranking, grouping, matrix, reason = _order(subject, validated, held, compared, limits, seed)
    drops, drops_note = feature_drops(validated, held, names, limits, seed)
    has_held = bool(len(held.rows))
    with_curve = has_held and (subject.kind == "numbers" or chances is not None)
    what = validated, shown.key, held, chances
    later, later_chances = parts[0][1:]
    leaders = None  # ids of the ranked objects in their order
    if ranking is not None and compared.pairs.ids is not None:
        by_name = dict(zip(compared.names, compared.pairs.ids.tolist(), strict=True))
        leaders = [by_name[one.name] for one in ranking.objects]
    default_title = "Who is ahead of whom" if subject.is_odd else "What belongs together"
    if subject.parity is None or subject.kind == "numbers":
        default_title = "A model of pairs"
    return ReportData(
        title=title or default_title,
        model=subject.facts(),
        observed=describe(subject),
        settings=tuple(settings),
        reliability=reliability(*what) if with_curve else None,
        distribution=distribution(*what) if has_held else None,
        ranking=ranking,
        groups=grouping,
        matrix=matrix,
        features=drops,
        features_note=drops_note,
        influential=influential(subject, limits, seed),
        surprising=surprising(validated, held, chances),
        search=search_facts(model),
        certificate=certificate_of(subject),
        swap=check_swap(subject, seed),
        notices=(*warn(subject), *_about_limits(subject, validated, reason)),
        version=__version__,
        features_score=score_name(subject),
        members=members_of(model),
        time=over_time(validated, later, later_chances, leaders, dates=dates),
    )


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
    chances = chances_of_model(validated, held, pairs)
    figures, guess = measure(subject, sample, targets, subject.values(pairs), chances)
    return Setting("given", name, figures, guess, len(pairs), len(subject.pairs), n_folds=1)


def _order(
    subject: Subject,
    validated: Subject,
    held: HeldOut,
    compared: Compared,
    limits: Limits,
    seed: int,
) -> tuple[RankingFacts | None, GroupFacts | None, Matrix | None, str]:
    """Ranking or groups, and the matrix in their order; or why there is none."""
    if subject.parity is None:
        return None, None, None, "A model without a swap law gives no order of objects."
    if len(compared.names) < 2 or not len(compared.pairs):
        return None, None, None, "There are no pairs of objects to compare."
    quantity = {"numbers": "value", "draws": "points"}.get(subject.kind, "probability")
    both = compared.pairs, compared.pairs.swap()
    forth, back = (_shown_values(validated, held, pairs) for pairs in both)
    if forth is None or back is None:
        quantity = "value"
        forth, back = map(subject.values, both)
    table = square(compared, forth, back)
    if subject.is_odd:
        ranking, order = rank(subject, compared, limits, seed)
        shown = spaced(order, limits.shown)
        return ranking, None, matrix_of(table, compared.names, *shown, quantity, None), ""
    groups, labels = None, np.zeros(len(compared.names), dtype=np.intp)
    if subject.kind == "labels":
        groups, labels = group(subject, compared)
    similarity = subject.values(compared.pairs)
    alike = square(compared, similarity, similarity)
    shown = clustered(alike, labels, limits.shown)
    return None, groups, matrix_of(table, compared.names, *shown, quantity, labels), ""


def _shown_values(subject: Subject, held: HeldOut, pairs: Pairs) -> Vector | None:
    """What the matrix shows: a probability, expected points of a game, or a prediction."""
    if subject.kind == "numbers":
        return subject.values(pairs)
    chances = chances_of_model(subject, held, pairs)
    if chances is None:
        return None
    return chances[:, -1] + (0.5 * chances[:, 1] if subject.kind == "draws" else 0.0)


def _about_limits(subject: Subject, validated: Subject, reason: str) -> Iterator[Notice]:
    if len(validated.pairs) < len(subject.pairs):
        yield Notice(
            "note",
            "A sample was validated",
            f"Models of the folds were fitted to {len(validated.pairs):,} of"
            f" {len(subject.pairs):,} pairs, so that figures are rather too low than too high.",
        )
    if reason:
        yield Notice("note", "No order of objects", reason)
