"""Labels from a column: two of them, three outcomes, or numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.pairs.from_tables import as_objects, text_of
from pairity.training.labels import speak_for_themselves


@dataclass(frozen=True)
class LabelNames:
    """What stands in the files for the labels of a model: one name for each of its labels.

    Models get labels whose larger one is the positive one, so that a decision above 0 always says
    "alike" or "the first is ahead".  Where the labels of a file do not sort so, they are replaced by
    -1 and +1 (or -1, 0 and +1), and their names are kept here.
    """

    values: list[int]
    names: list[Any]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.names):
            raise ValueError(f"got {len(self.names)} names for {len(self.values)} labels.")

    def of(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Names of predicted labels; a tie that has no name stays what it is."""
        known = dict(zip(self.values, self.names, strict=True))
        return as_objects(known.get(label, "tie") for label in labels.tolist())


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the rows that are kept."""

    values: NDArray[Any]
    kept: NDArray[np.intp]
    names: LabelNames | None
    counts: dict[str, int]
    n_dropped: int


def labels_of_column(
    column: Any,
    *,
    numeric: bool = False,
    positive: str | None = None,
    draw: str | None = None,
    dropped: Sequence[str] = (),
    says_who_is_ahead: bool = False,
    unlabelled: bool = False,
) -> Labels:
    """Labels of a pandas column.

    Parameters
    ----------
    column : pandas.Series
        One label a row.
    numeric : bool
        Whether they are the targets of a regression.
    positive : str, optional
        Text of the label that says "alike" or "the first is ahead".  Needed where labels are texts.
    draw : str, optional
        Text of the label of a draw; there are three outcomes then.
    dropped : sequence of str
        Texts of labels whose rows are left out.
    says_who_is_ahead : bool
        Whether one of the labels says that the first object is ahead (antisymmetric models): then
        numbers whose signs do not tell which one, such as 1 and 2, need ``positive`` as texts do.
    unlabelled : bool
        Whether rows may be without a label: they get 0, the others -1 and +1.
    """
    if unlabelled:
        return _with_unlabelled(column, positive, dropped, says_who_is_ahead)
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"got {n_missing} missing label(s) in column {column.name!r}; expected one in every row:"
            " fill them in, or drop those rows and ask for them with pairity predict."
        )
    originals = {text_of(value): value for value in column.tolist()}
    texts = np.array([text_of(value) for value in column.tolist()], dtype=object)
    _refuse_unknown([("--drop-label", text) for text in dropped], originals, column)
    kept = np.flatnonzero(~np.isin(texts, list(dropped)))
    if not len(kept):
        raise ValueError(
            f"got no row of column {column.name!r} left after --drop-label; expected some."
        )
    counts = dict(sorted(Counter(texts[kept].tolist()).items()))
    n_dropped = len(texts) - len(kept)
    if numeric:
        return Labels(_as_numbers(column)[kept], kept, None, {}, n_dropped)
    _refuse_unknown([("--positive", positive), ("--draw", draw)], counts, column)
    _refuse_count(counts, draw, column)
    if positive is None and getattr(column.dtype, "kind", "O") in "biuf":
        values = column.to_numpy()
        if says_who_is_ahead and draw is None:
            _refuse_unordered(values[kept], column)
        whole = values.dtype.kind == "f" and (values == np.floor(values)).all()
        values = values.astype(np.int64) if whole else np.asarray(values)
        return Labels(values[kept], kept, None, counts, n_dropped)
    if positive is None:
        raise ValueError(
            f"got the labels {_listed(counts)} in column {column.name!r}; expected to know which of"
            ' them says "alike", or "the first is ahead": pass --positive LABEL.'
        )
    others = [text for text in counts if text not in (positive, draw)] or [f"not {positive}"]
    stands_for: dict[int, Any] = {-1: others[0], 0: draw, 1: positive}
    values = np.where(texts == positive, 1, np.where(texts == draw, 0, -1)).astype(np.int64)
    signs = [sign for sign, text in stands_for.items() if text is not None]
    names = LabelNames(signs, [originals.get(stands_for[sign], stands_for[sign]) for sign in signs])
    return Labels(values[kept], kept, names, counts, n_dropped)


def _with_unlabelled(
    column: Any, positive: str | None, dropped: Sequence[str], says_who_is_ahead: bool
) -> Labels:
    """Signs of the rows that have a label, 0 of the others."""
    known = ~column.isna().to_numpy()
    if known.all() or not known.any():
        raise ValueError(
            f"got {'a label in every row' if known.all() else 'no label'} of column {column.name!r};"
            " expected some rows with a label and some without, which this learner uses too: leave"
            " those labels empty, or take --learner svc."
        )
    given = column[known]
    if getattr(given.dtype, "kind", "O") == "f" and (given == given.round()).all():
        given = given.astype(np.int64)  # whole numbers, but for the gaps
    read = labels_of_column(
        given, positive=positive, dropped=dropped, says_who_is_ahead=says_who_is_ahead
    )
    names, signs = read.names, read.values
    if names is None:
        distinct = np.unique(read.values).tolist()
        if len(distinct) < 2:
            raise ValueError(
                f"got the one label {text_of(distinct[0])} in column {column.name!r}; expected two: pass"
                " --positive LABEL if it says who is ahead, or rows of another label too."
            )
        low, high = distinct
        names, signs = LabelNames([-1, 1], [low, high]), np.where(read.values == high, 1, -1)
    rows = np.flatnonzero(known)[read.kept]
    kept = np.sort(np.concatenate([rows, np.flatnonzero(~known)]))
    values = np.zeros(len(known), dtype=np.int64)
    values[rows] = signs
    counts = read.counts | {"no label": int(np.count_nonzero(~known))}
    return Labels(values[kept], kept, names, counts, read.n_dropped)


def _refuse_unordered(values: NDArray[Any], column: Any) -> None:
    """Refuse two numbers of which neither is above 0 while the other is not: 1 and 2, say."""
    low, high = values.min(), values.max()
    if low < high and not speak_for_themselves(np.array([low, high])):
        raise ValueError(
            f"got the labels {text_of(low)} and {text_of(high)} in column {column.name!r}; expected to"
            ' know which of them says "the first is ahead": pass --positive LABEL.'
        )


def _refuse_unknown(
    given: list[tuple[str, str | None]], present: Collection[str], column: Any
) -> None:
    for flag, text in given:
        if text is not None and text not in present:
            raise ValueError(
                f"got {flag} {text}, which no row of column {column.name!r} has; expected one of"
                f" {_listed(present)}."
            )


def _refuse_count(counts: dict[str, int], draw: str | None, column: Any) -> None:
    most = 2 if draw is None else 3
    if len(counts) > most:
        fix = "leave some out with --drop-label"
        if draw is None:
            fix += ", or name the draws with --draw LABEL if there are three outcomes"
        raise ValueError(
            f"got {len(counts)} labels in column {column.name!r}: {_listed(counts)}; expected {most}:"
            f" {fix}; for numbers to predict use --learner ridge or svr."
        )


def _as_numbers(column: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(
            f"got texts in column {column.name!r}; expected numbers to predict: labels are for"
            " --learner svc or logistic."
        ) from None


def _listed(texts: Collection[str]) -> str:
    return ", ".join(list(texts)[:5]) + (", ..." if len(texts) > 5 else "")
