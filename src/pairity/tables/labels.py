"""Labels from a column: two of them, three outcomes, or numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.tables.identities import text_of

__all__ = ["LabelNames", "Labels", "read_labels"]


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
        named = [known.get(label, "tie") for label in labels.tolist()]
        return np.fromiter(named, dtype=object, count=len(named))


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the rows that are kept."""

    values: NDArray[Any]
    kept: NDArray[np.intp]
    names: LabelNames | None
    counts: dict[str, int]
    n_dropped: int


def read_labels(
    column: Any,
    *,
    numeric: bool = False,
    positive: str | None = None,
    draw: str | None = None,
    dropped: Sequence[str] = (),
) -> Labels:
    """Read a pandas column of labels.

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
    """
    _refuse_missing(column)
    texts = np.array([text_of(value) for value in column.tolist()], dtype=object)
    kept = _kept(texts, dropped, column)
    counts = dict(sorted(Counter(texts[kept].tolist()).items()))
    n_dropped = len(texts) - len(kept)
    if numeric:
        return Labels(_as_numbers(column)[kept], kept, None, {}, n_dropped)
    _refuse_unknown(counts, positive, draw, column)
    _refuse_count(counts, draw, column)
    if positive is None and _are_numbers(column):
        return Labels(_plain(column)[kept], kept, None, counts, n_dropped)
    values, names = _signed(texts[kept], list(counts), positive, draw, column)
    originals = {text_of(value): value for value in column.tolist()}
    names = LabelNames(names.values, [originals.get(name, name) for name in names.names])
    return Labels(values, kept, names, counts, n_dropped)


def _refuse_missing(column: Any) -> None:
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"got {n_missing} missing label(s) in column {column.name!r}; expected one in every row:"
            " fill them in, or drop those rows and ask for them with pairity predict."
        )


def _kept(texts: NDArray[Any], dropped: Sequence[str], column: Any) -> NDArray[np.intp]:
    unknown = [text for text in dropped if text not in set(texts.tolist())]
    if unknown:
        raise ValueError(
            f"got --drop-label {unknown[0]}, which no row of column {column.name!r} has; expected one"
            f" of {_listed(texts)}."
        )
    kept = np.flatnonzero(~np.isin(texts, list(dropped)))
    if not len(kept):
        raise ValueError(
            f"got no row of column {column.name!r} left after --drop-label; expected some."
        )
    return kept


def _refuse_unknown(
    counts: dict[str, int], positive: str | None, draw: str | None, column: Any
) -> None:
    for flag, text in (("--positive", positive), ("--draw", draw)):
        if text is not None and text not in counts:
            raise ValueError(
                f"got {flag} {text}, which no row of column {column.name!r} has; expected one of"
                f" {_listed(counts)}."
            )


def _refuse_count(counts: dict[str, int], draw: str | None, column: Any) -> None:
    most = 2 if draw is None else 3
    if len(counts) <= most:
        return
    fix = "leave some out with --drop-label"
    if draw is None:
        fix += ", or name the draws with --draw LABEL if there are three outcomes"
    raise ValueError(
        f"got {len(counts)} labels in column {column.name!r}: {_listed(counts)}; expected {most}:"
        f" {fix}; for numbers to predict use --learner ridge or svr."
    )


def _signed(
    texts: NDArray[Any], present: list[str], positive: str | None, draw: str | None, column: Any
) -> tuple[NDArray[np.int64], LabelNames]:
    """-1, 0 and +1, and what they stand for."""
    if positive is None:
        raise ValueError(
            f"got the labels {_listed(present)} in column {column.name!r}; expected to know which of"
            ' them says "alike", or "the first is ahead": pass --positive LABEL.'
        )
    others = [text for text in present if text not in (positive, draw)]
    negative = others[0] if others else f"not {positive}"
    values = np.where(texts == positive, 1, np.where(texts == draw, 0, -1)).astype(np.int64)
    if draw is None:
        return values, LabelNames([-1, 1], [negative, positive])
    return values, LabelNames([-1, 0, 1], [negative, draw, positive])


def _are_numbers(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "biuf"


def _plain(column: Any) -> NDArray[Any]:
    """Labels that are numbers: whole where they can be."""
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return np.asarray(values)


def _as_numbers(column: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(
            f"got texts in column {column.name!r}; expected numbers to predict: labels are for"
            " --learner svc or logistic."
        ) from None


def _listed(texts: Any) -> str:
    found = list(dict.fromkeys(texts))
    return ", ".join(map(str, found[:5])) + (", ..." if len(found) > 5 else "")
