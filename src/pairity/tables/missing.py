"""Missing numbers: refused with the columns and counts, or filled by a rule that is kept.

The rule, made on the training data alone:

- an object feature or a symmetric group feature is filled with the median of its column, over the
  objects that training pairs name, or over the training pairs;
- an antisymmetric group feature is filled with 0, the one value that a swap does not change;
- each column that had missing numbers in training gets a column beside it that is 1 where one was
  filled and 0 elsewhere, so that a model can tell; for group features it is a symmetric one.

Numbers that are missing later, in a column that was whole in training, are filled without a flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.tables.reading import column_of

__all__ = ["Filling", "count_missing", "numbers", "refuse_missing"]

Table = NDArray[np.float64]


def numbers(frame: Any, names: list[str], table: str) -> Table:
    """Columns of a pandas table as numbers; NaN where one is missing, none infinite."""
    block = np.empty((len(frame), len(names)))
    for place, name in enumerate(names):
        block[:, place] = _numbers(column_of(frame, name, table), name, table)
    return block


def _numbers(column: Any, name: str, table: str) -> NDArray[np.float64]:
    try:
        values = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise ValueError(
            f"got texts in column {name!r} of {table}; expected numbers: leave it out with --ignore,"
            " or make numbers of it first (one column of 0 and 1 for each category, say)."
        ) from None
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise ValueError(
            f"got {n_infinite} infinite number(s) in column {name!r} of {table}; expected finite ones:"
            " correct or drop them."
        )
    return values


def count_missing(block: Table, names: list[str]) -> dict[str, int]:
    """Columns with missing numbers and how many."""
    counts = np.isnan(block).sum(axis=0)
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}


def refuse_missing(block: Table, names: list[str], table: str) -> None:
    """Refuse missing numbers, naming the columns."""
    missing = count_missing(block, names)
    if missing:
        listed = ", ".join(f"{name!r} ({count})" for name, count in list(missing.items())[:5])
        more = ", ..." if len(missing) > 5 else ""
        raise ValueError(
            f"got missing numbers in {table}: column {listed}{more}; expected none: fill them in, drop"
            " those rows, or pass --impute median."
        )


@dataclass(frozen=True)
class Filling:
    """What missing numbers of some columns become.

    Attributes
    ----------
    values : list of float
        One for each column.
    flagged : list of int
        Places of the columns that had missing numbers in training.
    """

    values: list[float]
    flagged: list[int]

    def __post_init__(self) -> None:
        sound = all(type(value) is float and np.isfinite(value) for value in self.values)
        places = range(len(self.values))
        if not sound or any(
            type(place) is not int or place not in places for place in self.flagged
        ):
            raise ValueError("got a rule for missing numbers that cannot be; expected numbers.")

    @classmethod
    def learn(cls, block: Table, names: list[str], table: str, *, zero: bool = False) -> Filling:
        """Medians of the columns, or zeros."""
        empty = np.isnan(block).all(axis=0)
        if empty.any() and len(block):
            raise ValueError(
                f"got column {names[int(np.argmax(empty))]!r} of {table} without a single number;"
                " expected some to take the median of: leave the column out."
            )
        values = np.zeros(block.shape[1]) if zero else np.nanmedian(block, axis=0)
        flagged = np.flatnonzero(np.isnan(block).any(axis=0))
        return cls([float(value) for value in values], [int(place) for place in flagged])

    def apply(self, block: Table) -> tuple[Table, Table]:
        """The columns without gaps, and the flags."""
        missing = np.isnan(block)
        flags = missing[:, self.flagged].astype(np.float64)
        return np.where(missing, np.asarray(self.values), block), flags

    def flag_names(self, names: list[str]) -> list[str]:
        """Names of the flags."""
        return [f"{names[place]} missing" for place in self.flagged]
