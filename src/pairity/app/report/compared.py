"""Objects compared with one another: a ranking or groups, and the matrix in an order that shows it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from pairity.app.report.report_data import (
    Cycle,
    GroupFacts,
    HodgeShares,
    Limits,
    Matrix,
    RankedObject,
    RankingFacts,
)
from pairity.app.report.subject import Subject, names_of
from pairity.inspection import Ranking, group_objects, rank_objects
from pairity.inspection.strengths_over_time import all_pairs
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import Ends, at_the_latest_time, ends_of


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs among some objects, and how those objects were chosen."""

    pairs: Pairs  # over a table of just these objects
    names: tuple[str, ...]
    n_observed: Places  # training pairs of each
    note: str


def choose_objects(subject: Subject, objects: Any, most: int) -> Compared:
    """The objects asked for, or those observed most often; all their pairs where that is possible.

    A model with symmetric group features knows nothing of pairs without them, so that the
    observed pairs alone are compared.  Antisymmetric group features are 0 on neutral ground.
    """
    if objects is not None:
        return _given(subject, objects, most)
    pairs, ends = subject.pairs, ends_of(subject.pairs)
    times = _times(ends)
    chosen = np.argsort(-times, kind="stable")[:most]
    is_part = len(chosen) < ends.n_objects
    note = f"Those in most pairs, {len(chosen)} of {ends.n_objects:,}." if is_part else ""
    # the first row of the table that is each object
    rows = ends.table_rows[np.unique(ends.table_objects, return_index=True)[1][chosen]]
    if pairs.n_symmetric:
        note += " Observed pairs alone are compared: the model needs features of pairs."
        index = np.full(ends.n_objects, -1, dtype=np.intp)
        index[chosen] = np.arange(len(chosen))
        first, second = index[ends.first], index[ends.second]
        kept = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
        kept = kept[np.sort(np.unique(ends.unordered()[kept], return_index=True)[1])]
        group = pairs.symmetric[kept], pairs.antisymmetric[kept]
        ids = None if pairs.ids is None else pairs.ids[rows]
        among = Pairs(pairs.objects[rows], first[kept], second[kept], *group, ids=ids)
    else:
        if pairs.n_antisymmetric:
            note += " On neutral ground: antisymmetric features of pairs are 0."
        among = all_pairs(pairs, rows)
    names = tuple(subject.names[row] for row in rows)
    return Compared(at_the_latest_time(among, pairs), names, times[chosen], note.strip())


def _times(ends: Ends) -> Places:
    """Number of pairs that each object is in."""
    proper = ends.first != ends.second
    times = np.bincount(ends.first, minlength=ends.n_objects)
    return times + np.bincount(ends.second[proper], minlength=ends.n_objects)


def _given(subject: Subject, objects: Any, most: int) -> Compared:
    if isinstance(objects, Pairs):
        pairs = objects[objects.first != objects.second].without_unused_objects()
    else:
        n = int(np.shape(objects)[0])
        neutral = np.zeros((n * (n - 1) // 2, subject.pairs.n_antisymmetric))
        pairs = Pairs.complete(objects, antisymmetric=neutral)
    if pairs.time is None:
        pairs = at_the_latest_time(pairs, subject.pairs)
    if pairs.n_objects > most:
        raise ValueError(
            f"got {pairs.n_objects} objects to compare; expected at most {most}: raise"
            " Limits(objects=...), or pass fewer."
        )
    if pairs.n_objects < 2:
        raise ValueError("got fewer than 2 objects to compare; expected at least two.")
    times = np.zeros(pairs.n_objects, dtype=np.intp)
    if pairs.ids is not None and subject.pairs.ids is not None:
        ends = ends_of(subject.pairs)
        known = subject.pairs.ids[ends.table_rows].tolist()
        seen = dict(zip(known, _times(ends)[ends.table_objects].tolist(), strict=True))
        times = np.array([seen.get(name, 0) for name in pairs.ids.tolist()])
    return Compared(pairs, tuple(names_of(pairs, subject.called)), times, "")


# From pairs to objects --------------------------------------------------------------------------

_LEVEL = 0.9
_CYCLES = 5


def rank(
    subject: Subject, compared: Compared, limits: Limits, seed: int
) -> tuple[RankingFacts, Places]:
    """Least-squares scores of the compared objects with intervals, and their order.

    Scores are those of ``pairity rank``: of the model that predicts, its calibration included.
    """
    ranked = partial(rank_objects, subject.model, compared.pairs, n_cycles=_CYCLES, level=_LEVEL)
    note, ranking = compared.note, None
    if hasattr(subject.machine, "observed_"):
        with suppress(ValueError):  # steps before the machine, or a curve after it: by refits
            ranking = ranked(intervals="analytic")
    if ranking is None and 2 * limits.refits <= len(subject.pairs) <= limits.pairs:
        try:
            ranking = ranked(
                intervals="leave_out",
                training=subject.trained_on,
                refit=subject.learner,
                n_resamples=limits.refits,
                random_state=seed,
            )
        except ValueError:
            note += " Without intervals: some parts of the pairs cannot be fitted."
    elif ranking is None:
        note += " Without intervals: the model would have to be fitted again too often."
    if ranking is None:
        ranking = ranked()
    facts = _facts(ranking, compared, limits.refits, note.strip(), subject.ahead)
    return facts, ranking.order


def _facts(
    ranking: Ranking, compared: Compared, n_refits: int, note: str, ahead: str
) -> RankingFacts:
    names, parts, sure = np.array(compared.names, dtype=object), ranking.parts, ranking.certainty
    blank = np.full(len(names), None)
    columns = (
        names,
        ranking.ranks,
        ranking.scores,
        blank if ranking.lower is None else ranking.lower,
        blank if ranking.upper is None else ranking.upper,
        ranking.win_shares,
        compared.n_observed,
        ranking.components,
        *((blank,) * 3 if sure is None else (sure.best_rank, sure.worst_rank, sure.tied)),
    )
    lines = zip(*(column[ranking.order].tolist() for column in columns), strict=True)
    return RankingFacts(
        objects=tuple(RankedObject(*line) for line in lines),
        shares=HodgeShares(parts.gradient_share, parts.curl_share, parts.harmonic_share),
        cycles=tuple(
            Cycle(tuple(names[list(cycle.objects)]), cycle.strength)
            for cycle in ranking.cycles.cycles
        ),
        n_triangles=ranking.cycles.n_triangles,
        n_cyclic=ranking.cycles.n_cyclic,
        n_parts=parts.n_components,
        level=ranking.level,
        n_refits=0 if sure is None or sure.source == "analytic" else n_refits,
        note=note,
        ahead=ahead,
    )


def group(subject: Subject, compared: Compared) -> tuple[GroupFacts, Places]:
    """Groups of matching objects at the boundary of the model, and the group of each."""
    names = compared.names
    found = group_objects(subject.model, compared.pairs, ids=np.arange(len(names)))
    several = [members for members in map(found.members, range(found.n_groups)) if len(members) > 1]
    groups = tuple(tuple(sorted(names[row] for row in members)) for members in several)
    n_single = found.n_groups - len(several)
    facts = GroupFacts(groups, n_single, len(names), found.threshold, compared.note)
    return facts, found.labels


# Matrix -----------------------------------------------------------------------------------------


#: Of the pairs of the objects shown, at least this share must be known for a picture.
_LEAST_KNOWN = 0.5


def square(compared: Compared, forth: Vector, back: Vector) -> Vector:
    """Values of the pairs and of the swapped pairs as a table, shape (m, m), NaN elsewhere."""
    n = len(compared.names)
    table = np.full((n, n), np.nan)
    table[compared.pairs.first, compared.pairs.second] = forth
    table[compared.pairs.second, compared.pairs.first] = back
    return table


def spaced(order: Places, shown: int) -> tuple[Places, str]:
    """Of too many objects in their order, evenly spaced ones; and a note that says so."""
    if len(order) <= shown:
        return order, ""
    kept = order[np.unique(np.round(np.linspace(0, len(order) - 1, shown)).astype(np.intp))]
    return kept, f"{len(kept)} of {len(order)} objects, evenly spaced in the ranking."


def clustered(similarity: Vector, labels: Places, shown: int) -> tuple[Places, str]:
    """Alike objects side by side; of too many, those of the largest groups, and a note.

    ``labels`` number the groups by size, largest first.
    """
    note = ""
    chosen = np.argsort(labels, kind="stable")
    if len(chosen) > shown:
        note = f"The {shown} of {len(chosen)} objects in the largest groups."
        chosen = np.sort(chosen[:shown])
    return chosen[cluster_order(similarity[np.ix_(chosen, chosen)])], note


def matrix_of(
    table: Vector, names: tuple[str, ...], order: Places, note: str, quantity: str, labels: Any
) -> Matrix | None:
    """The table in an order, that of a ranking or of clusters with ``labels``, if enough is known."""
    values, n = table[np.ix_(order, order)], len(order)
    if n < 2 or np.isfinite(values).sum() < _LEAST_KNOWN * n * (n - 1):
        return None
    blocks = (0,) * n if labels is None else tuple(labels[order].tolist())
    kind = "rank" if labels is None else "cluster"
    return Matrix(tuple(names[row] for row in order), values, blocks, quantity, kind, note)


def cluster_order(similarity: Vector) -> Places:
    """Order in which alike objects are neighbours: leaves of average linkage, best turned."""
    n = len(similarity)
    if n < 3:
        return np.arange(n)
    known = np.isfinite(similarity) & ~np.eye(n, dtype=np.bool_)
    filled = np.where(known, similarity, similarity[known].min() if known.any() else 0.0)
    distance = filled.max() - filled
    tree = linkage(distance[np.triu_indices(n, 1)], "average", optimal_ordering=True)
    return leaves_list(tree).astype(np.intp)
