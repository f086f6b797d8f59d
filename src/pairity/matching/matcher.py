"""From raw tables to matches: candidates, features, a model where there are labels, constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from pairity.inspection.sparse_groups import average_groups, linked_parts, one_to_one, pairs_within
from pairity.matching.candidates import Candidates, nearest_records
from pairity.matching.labelled import Labelled
from pairity.matching.matches import Matches
from pairity.matching.pair_features import PairFeatures, as_pairs, decide
from pairity.matching.precision_recall import PrecisionRecall, best_threshold
from pairity.matching.records import Records
from pairity.model_selection.automatic import PairClassifierCV
from pairity.pairs.arrays import Mask, Places, Vector
from pairity.runtime.validation import check_choice, check_count

CONSTRAINTS = ("auto", "one-to-one", "transitive", "none")
#: Records with several labelled partners, of those with one, beyond which one-to-one is not assumed.
_SEVERAL = 0.02
#: Pairs of connected records that are judged besides the candidates: as many as these, at least so many.
_PAIRS_WITHIN = 100_000


def match(
    left: Any,
    right: Any = None,
    *,
    labels: Any = None,
    id: str | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    neighbours: int = 10,
    constraint: str = "auto",
    threshold: float | None = None,
    model: Any = None,
) -> Matches:
    """Match the records of one table, or of two, straight from their columns.

    Parameters
    ----------
    left, right : tables of pandas, polars or Arrow
        Records, one row each.  Without ``right`` the records of ``left`` are compared with one another.
        Columns that both tables have are compared, by what they hold.
    labels : table or (first, second) or (first, second, y), optional
        Pairs of ids and whether they match; without ``y`` (two columns) all of them do, and every
        other candidate of those records counts as a non-match.  Without labels evidence is
        weighed without supervision (:mod:`pairity.matching.mixture`).
    id : str, optional
        Column of ids; "id" if there is one, row numbers otherwise.
    kinds : mapping, optional
        What columns hold, where the content does not tell: "text", "name", "number", "date", "code",
        "geo".
    ignore : sequence of str
        Columns that are not compared.
    neighbours : int
        Candidates that each record may name.
    constraint : {"auto", "one-to-one", "transitive", "none"}
        "one-to-one": no record has two partners; "transitive": records of a group all match (average
        linkage); "auto": the first for two tables, unless labels say otherwise, the second for one.
    threshold : float, optional
        Log-odds above which a pair matches; by default that of the largest F1 on held-out labels, or 0.
    model : symmetric classifier of pairs, optional
        Learns from the labels; :class:`~pairity.PairClassifierCV` by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from pairity.matching import match
    >>> names, cities = ["Anna Blum", "Carl Dorn", "Eva Frey"], ["Graz", "Linz", "Wels"]
    >>> one = pd.DataFrame({"name": names, "city": cities})
    >>> names, cities = ["Frey, Eva", "Ana Blum", "Karl Dorn"], ["Wels", "Graz", "Linz"]
    >>> two = pd.DataFrame({"name": names, "city": cities})
    >>> found = match(one, two)
    >>> sorted(zip(found.to_frame()["first"], found.to_frame()["second"], strict=True))
    [('0', '1'), ('1', '2'), ('2', '0')]
    """
    check_choice(constraint, "constraint", CONSTRAINTS)
    check_count(neighbours, "neighbours")
    records = Records.read(left, right, id=id, kinds=kinds, ignore=ignore)
    known = None if labels is None else Labelled.read(labels, records)
    candidates = nearest_records(records, neighbours)
    features = PairFeatures(records, candidates)
    if known is None:
        fitted, quality, recall, cut = None, None, None, 0.0
    else:
        known = known.with_others(candidates, len(records))
        fitted = PairClassifierCV("symmetric") if model is None else clone(model)
        fitted.fit(as_pairs(features.of(known.first, known.second)), known.labels)
        cut, quality = _held_out(fitted, known)
        recall = known.recall_of(candidates, len(records))
    decisions = decide(fitted, features.of_candidates)
    cut = cut if threshold is None else float(threshold)
    chosen = _resolved(constraint, records, known)
    if chosen == "transitive":
        kept = _grouped(candidates, decisions, cut, features, fitted)
    else:
        matched = decisions > cut
        if chosen == "one-to-one":
            matched = one_to_one(*candidates.ends, decisions, cut)
        linked = np.where(matched, 1.0, -1.0)
        kept = matched, linked_parts(*candidates.ends, linked, len(records), 0.0)
    return Matches(
        records, candidates, features, fitted, known, decisions, cut, chosen, *kept, quality, recall
    )


def _held_out(model: Any, known: Labelled) -> tuple[float, PrecisionRecall | None]:
    """Threshold and quality by decisions about pairs that were not trained on."""
    rows = getattr(model, "held_out_rows_", None)
    if rows is None:
        return 0.0, None
    decisions, true = model.held_out_decisions_, known.matches[rows]
    cut = best_threshold(decisions, true)
    return cut, PrecisionRecall.of(decisions > cut, true)


def _resolved(constraint: str, records: Records, known: Labelled | None) -> str:
    if constraint == "one-to-one" and not records.linking:
        raise ValueError(
            "got constraint='one-to-one' for one table; expected two tables, or 'transitive'."
        )
    if constraint != "auto":
        return constraint
    if not records.linking:
        return "transitive"
    several = 0.0 if known is None else known.share_with_several
    return "one-to-one" if several <= _SEVERAL else "none"


def _grouped(
    candidates: Candidates, decisions: Vector, cut: float, features: PairFeatures, model: Any
) -> tuple[Mask, Places]:
    """Matched candidates, and groups of records that match one another on average.

    Records that candidates connect may be more than a record names: all their pairs are judged.
    """
    n_records, ends = len(features.records), candidates.ends
    parts = linked_parts(*ends, decisions, n_records, cut)
    first, second = pairs_within(parts, max(_PAIRS_WITHIN, len(candidates)))
    new = ~candidates.contains(first, second, n_records)
    first, second = first[new], second[new]
    more = decide(model, features.of(first, second))
    groups = average_groups(
        np.concatenate([ends[0], first]),
        np.concatenate([ends[1], second]),
        np.concatenate([decisions, more]),
        n_records,
        cut,
        float(min(decisions.min(initial=cut - 1.0), more.min(initial=cut - 1.0))),
    )
    return groups[ends[0]] == groups[ends[1]], groups
