"""From pairs to objects: a ranking, or groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.ranking import Ranking, group_objects, rank_objects
from pairity.report.compared import Compared
from pairity.report.data import Cycle, GroupFacts, HodgeShares, RankedObject, RankingFacts
from pairity.report.limits import Limits
from pairity.report.subject import Subject

__all__ = ["group", "rank"]

Rows = NDArray[np.intp]

_LEVEL = 0.9
_CYCLES = 5


def rank(
    subject: Subject, compared: Compared, limits: Limits, seed: int
) -> tuple[RankingFacts, Rows]:
    """Least-squares scores of the compared objects with leave-out intervals, and their order."""
    refit = len(subject.pairs) <= limits.pairs and len(subject.pairs) >= 2 * limits.refits
    note = compared.note
    if not refit:
        note += " Without intervals: the model would have to be fitted again too often."
    options: dict[str, Any] = {}
    if refit:
        options = {
            "intervals": "leave_out",
            "training": subject.trained_on,
            "n_resamples": limits.refits,
            "level": _LEVEL,
            "random_state": seed,
        }
    ranking = _ranking(subject, compared, options)
    if ranking is None:
        note += " Without intervals: some parts of the pairs cannot be fitted."
        ranking = rank_objects(subject.learner, compared.pairs, n_cycles=_CYCLES)
    return _facts(ranking, compared, limits, note.strip()), ranking.order


def _ranking(subject: Subject, compared: Compared, options: dict[str, Any]) -> Ranking | None:
    try:
        return rank_objects(subject.learner, compared.pairs, n_cycles=_CYCLES, **options)
    except ValueError:
        if not options:
            raise
        return None


def _facts(ranking: Ranking, compared: Compared, limits: Limits, note: str) -> RankingFacts:
    names, parts = compared.names, ranking.parts
    lower = ranking.lower if ranking.lower is not None else [None] * len(names)
    upper = ranking.upper if ranking.upper is not None else [None] * len(names)
    objects = tuple(
        RankedObject(
            names[place],
            int(ranking.ranks[place]),
            float(ranking.scores[place]),
            None if lower[place] is None else float(lower[place]),
            None if upper[place] is None else float(upper[place]),
            float(ranking.win_shares[place]),
            int(compared.n_observed[place]),
            int(ranking.components[place]),
        )
        for place in ranking.order
    )
    return RankingFacts(
        objects=objects,
        shares=HodgeShares(parts.gradient_share, parts.curl_share, parts.harmonic_share),
        cycles=tuple(
            Cycle(tuple(names[place] for place in cycle.objects), cycle.strength)
            for cycle in ranking.cycles.cycles
        ),
        n_triangles=ranking.cycles.n_triangles,
        n_cyclic=ranking.cycles.n_cyclic,
        n_parts=parts.n_components,
        level=ranking.level,
        n_refits=limits.refits if ranking.level is not None else 0,
        note=note,
    )


def group(subject: Subject, compared: Compared) -> tuple[GroupFacts, Rows]:
    """Groups of matching objects at the boundary of the model, and the group of each."""
    found = group_objects(subject.model, compared.pairs, ids=np.arange(len(compared.names)))
    several = [members for members in map(found.members, range(found.n_groups)) if len(members) > 1]
    return (
        GroupFacts(
            groups=tuple(
                tuple(sorted(compared.names[place] for place in members)) for members in several
            ),
            n_single=found.n_groups - len(several),
            n_objects=len(compared.names),
            threshold=found.threshold,
            note=compared.note,
        ),
        found.labels,
    )
