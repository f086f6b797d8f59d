"""What is in the data: counts, and what a reader should be warned of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pairity.report.data import Notice, Observed
from pairity.report.subject import Subject
from pairity.selection.identity import Ends, ends_of
from pairity.validation import as_dense

__all__ = ["describe", "warn"]

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]

_FEW_OBJECTS, _FEW_PAIRS = 12, 60
#: A label this rare makes an accuracy look better than it is.
_RARE = 0.1


def describe(subject: Subject) -> Observed:
    """Numbers of pairs, objects, features and labels."""
    pairs, ends = subject.pairs, ends_of(subject.pairs)
    counts: tuple[tuple[str, int], ...] = ()
    if subject.kind != "numbers":
        counts = tuple(
            (name, int(np.count_nonzero(subject.y == value)))
            for value, name in zip(subject.classes, subject.class_names, strict=True)
        )
    bounds = None
    if subject.kind == "numbers":
        y = subject.targets
        bounds = float(y.min()), float(y.mean()), float(y.max())
    return Observed(
        n_pairs=len(pairs),
        n_distinct=len(np.unique(ends.unordered())),
        n_objects=ends.n_objects,
        n_features=(pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric),
        label_counts=counts,
        target_range=bounds,
    )


def warn(subject: Subject) -> Iterator[Notice]:
    """Duplicates, contradictions, self pairs, mirror images, few objects, and their like."""
    ends = ends_of(subject.pairs)
    aligned = _aligned(subject, ends)
    yield from _about_repetition(subject, ends, aligned)
    yield from _about_size(ends, subject)
    yield from _about_labels(subject)
    yield from _about_features(subject, ends)


def _aligned(subject: Subject, ends: Ends) -> Vector:
    """Outcomes as seen from the object with the lower number."""
    if not subject.is_odd:
        return subject.targets
    return np.where(ends.first <= ends.second, subject.targets, -subject.targets)


def _about_repetition(subject: Subject, ends: Ends, aligned: Vector) -> Iterator[Notice]:
    unordered = ends.unordered()
    n_distinct = int(unordered.max()) + 1
    alone = int(np.count_nonzero(ends.first == ends.second))
    if _is_doubled(ends, unordered, aligned):
        yield Notice(
            "warning",
            "Doubled rows",
            "Every pair stands there together with its mirror image. Each row counts as one"
            " observation of an unordered pair, so every observation counts twice: keep one order.",
        )
    repeated = len(unordered) - n_distinct
    if repeated:
        yield Notice(
            "note",
            "Repeated pairs",
            f"{repeated:,} of {len(unordered):,} rows observe a pair that another row observes too."
            " They count as data; validation keeps all observations of a pair on one side.",
        )
    contradicting = _n_contradicting(subject, unordered, aligned)
    if contradicting:
        law = "the swap law taken into account" if subject.parity is not None else "in any order"
        yield Notice(
            "warning",
            "Contradictions",
            f"{contradicting:,} pairs were observed with different outcomes ({law}). No model can get"
            " all of them right.",
        )
    if alone:
        yield Notice(
            "warning",
            "Self pairs",
            f"{alone:,} rows pair an object with itself. Check that they are meant.",
        )


def _is_doubled(ends: Ends, unordered: Rows, aligned: Vector) -> bool:
    """Whether the two orders of every unordered pair have the same outcomes."""
    proper = ends.first != ends.second
    if not proper.any():
        return False
    forth = proper & (ends.first < ends.second)
    back = proper & (ends.first > ends.second)
    if np.count_nonzero(forth) != np.count_nonzero(back):
        return False
    sides = []
    for chosen in (forth, back):
        order = np.lexsort((aligned[chosen], unordered[chosen]))
        sides.append(np.column_stack([unordered[chosen][order], aligned[chosen][order]]))
    return bool(np.array_equal(sides[0], sides[1]))


def _n_contradicting(subject: Subject, unordered: Rows, aligned: Vector) -> int:
    """Unordered pairs with more than one outcome; numbers contradict where signs do."""
    values = aligned
    if subject.kind == "numbers":
        if not subject.is_odd:
            return 0
        values = np.sign(aligned)
    lowest = np.full(int(unordered.max()) + 1, np.inf)
    highest = -lowest
    np.minimum.at(lowest, unordered, values)
    np.maximum.at(highest, unordered, values)
    return int(np.count_nonzero(lowest < highest))


def _about_size(ends: Ends, subject: Subject) -> Iterator[Notice]:
    if ends.n_objects < _FEW_OBJECTS or len(ends) < _FEW_PAIRS:
        yield Notice(
            "warning",
            "Few data",
            f"There are {ends.n_objects:,} objects in {len(ends):,} pairs. Figures about new objects"
            " rest on few objects, however many pairs there are.",
        )
    times = np.bincount(ends.first, minlength=ends.n_objects)
    times = times + np.bincount(ends.second, minlength=ends.n_objects)
    once = int(np.count_nonzero(times == 1))
    if once > 0.5 * ends.n_objects:
        yield Notice(
            "note",
            "Objects seen once",
            f"{once:,} of {ends.n_objects:,} objects occur in one pair only: what the model says of"
            " them comes from their features.",
        )
    size = (ends.n_objects, ends.n_objects)
    graph = coo_array((np.ones(len(ends)), (ends.first, ends.second)), shape=size)
    n_parts = int(connected_components(graph, directed=False)[0])
    if n_parts > 1 and subject.is_odd:
        yield Notice(
            "note",
            "Separate parts",
            f"The pairs fall into {n_parts:,} parts without a comparison between them. Objects of"
            " different parts are compared through their features alone.",
        )


def _about_labels(subject: Subject) -> Iterator[Notice]:
    if subject.kind != "labels" or subject.is_odd:
        return
    share = float(np.mean(subject.targets > 0))
    if min(share, 1.0 - share) < _RARE:
        rare = subject.class_names[int(share < 0.5)]
        yield Notice(
            "note",
            "A rare label",
            f"{100.0 * min(share, 1.0 - share):.1f} % of the pairs have the label {rare!r}. Accuracy"
            " says little then: look at AUC and log-loss.",
        )


def _about_features(subject: Subject, ends: Ends) -> Iterator[Notice]:
    pairs = subject.pairs
    if not pairs.n_object_features:
        return
    looks = ends_of(pairs, "content")
    if looks.n_objects < ends.n_objects:
        n_alike = ends.n_objects - looks.n_objects
        yield Notice(
            "note",
            "Lookalikes",
            f"{n_alike:,} objects have the features of another one, so that features cannot tell them"
            " apart.",
        )
    table = pairs.objects[ends.table_rows]
    if table.shape[1] <= 2000:
        dense = as_dense(table)
        constant = int(np.count_nonzero(dense.min(axis=0) == dense.max(axis=0)))
        if constant:
            yield Notice(
                "note",
                "Constant features",
                f"{constant:,} of {table.shape[1]:,} object features have one value for all objects.",
            )
