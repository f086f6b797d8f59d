"""What is in the data: counts, and what a reader should be warned of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairity.app.report.report_data import Notice, Observed
from pairity.app.report.subject import Subject
from pairity.pairs.arrays import Places, Vector, as_dense
from pairity.pairs.same_objects import Ends, connected_parts, ends_of

_FEW_OBJECTS, _FEW_PAIRS = 12, 60
#: A label this rare makes an accuracy look better than it is.
_RARE = 0.1
#: Columns that are looked through for constant ones.
_MOST_COLUMNS = 2000

#: What may be found, in the order in which it is told: how much it matters, and the words.
_NOTICES = {
    "Doubled rows": "warning: Every pair stands there together with its mirror image. Each row"
    " counts as one observation of an unordered pair, so every observation counts twice: keep one"
    " order.",
    "Repeated pairs": "note: {count:,} of {pairs:,} rows observe a pair that another row observes"
    " too. They count as data; validation keeps all observations of a pair on one side.",
    "Contradictions": "warning: {count:,} pairs were observed with different outcomes ({law}). No"
    " model can get all of them right.",
    "Self pairs": "warning: {count:,} rows pair an object with itself. Check that they are meant.",
    "Few data": "warning: There are {objects:,} objects in {pairs:,} pairs. Figures about new"
    " objects rest on few objects, however many pairs there are.",
    "Objects seen once": "note: {count:,} of {objects:,} objects occur in one pair only: what the"
    " model says of them comes from their features.",
    "Separate parts": "note: The pairs fall into {count:,} parts without a comparison between them."
    " Objects of different parts are compared through their features alone.",
    "A rare label": "note: {count:.1f} % of the pairs have the label {rare!r}. Accuracy says little"
    " then: look at AUC and log-loss.",
    "Lookalikes": "note: {count:,} objects have the features of another one, so that features cannot"
    " tell them apart.",
    "Constant features": "note: {count:,} of {features:,} object features have one value for all"
    " objects.",
}


def describe(subject: Subject) -> Observed:
    """Numbers of pairs, objects, features and labels."""
    pairs, ends, y = subject.pairs, ends_of(subject.pairs), subject.targets
    is_number = subject.kind == "numbers"
    return Observed(
        n_pairs=len(pairs),
        n_distinct=len(np.unique(ends.unordered())),
        n_objects=ends.n_objects,
        n_features=(pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric),
        label_counts=tuple(
            (name, int(np.count_nonzero(subject.y == value)))
            for value, name in zip(subject.classes, subject.class_names, strict=True)
        ),
        target_range=(float(y.min()), float(y.mean()), float(y.max())) if is_number else None,
    )


def warn(subject: Subject) -> Iterator[Notice]:
    """Duplicates, contradictions, self pairs, mirror images, few objects, and their like."""
    ends = ends_of(subject.pairs)
    unordered, n_objects = ends.unordered(), ends.n_objects
    # outcomes as seen from the object with the lower number
    turned = subject.is_odd & (ends.first > ends.second)
    aligned = np.where(turned, -subject.targets, subject.targets)
    times = np.bincount(np.concatenate([ends.first, ends.second]), minlength=n_objects)
    once = int(np.count_nonzero(times == 1))
    n_parts = int(connected_parts(ends.first, ends.second, n_objects).max()) + 1
    share, rare = _rarer_label(subject)
    counts = {
        "Doubled rows": _is_doubled(ends, unordered, aligned),
        "Repeated pairs": len(unordered) - (int(unordered.max()) + 1),
        "Contradictions": _n_contradicting(subject, unordered, aligned),
        "Self pairs": int(np.count_nonzero(ends.first == ends.second)),
        "Few data": n_objects < _FEW_OBJECTS or len(ends) < _FEW_PAIRS,
        "Objects seen once": once if once > 0.5 * n_objects else 0,
        "Separate parts": n_parts if n_parts > 1 and subject.is_odd else 0,
        "A rare label": 0.0 if rare is None else 100.0 * share,
        **_about_features(subject, ends),
    }
    facts = {
        "pairs": len(ends),
        "objects": n_objects,
        "features": subject.pairs.n_object_features,
        "law": "in any order" if subject.parity is None else "the swap law taken into account",
        "rare": rare,
    }
    for title, words in _NOTICES.items():
        if counts.get(title) or (title == "A rare label" and rare is not None):
            weight, _, text = words.partition(": ")
            yield Notice(weight, title, text.format(count=counts[title], **facts))


def _is_doubled(ends: Ends, unordered: Places, aligned: Vector) -> bool:
    """Whether the two orders of every unordered pair have the same outcomes."""
    sides = []
    for chosen in (ends.first < ends.second, ends.first > ends.second):
        order = np.lexsort((aligned[chosen], unordered[chosen]))
        sides.append(np.column_stack([unordered[chosen][order], aligned[chosen][order]]))
    return len(sides[0]) > 0 and np.array_equal(sides[0], sides[1])


def _n_contradicting(subject: Subject, unordered: Places, aligned: Vector) -> int:
    """Unordered pairs with more than one outcome; numbers contradict where signs do."""
    if subject.kind == "numbers":
        if not subject.is_odd:
            return 0
        aligned = np.sign(aligned)
    outcomes = np.unique(np.column_stack([unordered, aligned]), axis=0)
    return int(np.count_nonzero(np.bincount(outcomes[:, 0].astype(np.intp)) > 1))


def _rarer_label(subject: Subject) -> tuple[float, str | None]:
    """Share of a label that makes an accuracy look better than it is, and its name."""
    if subject.kind != "labels" or subject.is_odd:
        return 0.0, None
    positive = float(np.mean(subject.targets > 0))
    share = min(positive, 1.0 - positive)
    return share, subject.class_names[int(positive < 0.5)] if share < _RARE else None


def _about_features(subject: Subject, ends: Ends) -> dict[str, int]:
    """Objects that features cannot tell apart, and features that tell nothing."""
    pairs = subject.pairs
    if not pairs.n_object_features:
        return {}
    counts = {"Lookalikes": max(0, ends.n_objects - ends_of(pairs, "content").n_objects)}
    if pairs.n_object_features <= _MOST_COLUMNS:
        table = as_dense(pairs.objects[ends.table_rows])
        counts["Constant features"] = int(np.count_nonzero(table.min(axis=0) == table.max(axis=0)))
    return counts
