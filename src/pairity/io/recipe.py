"""From tables to pairs: which columns are what, and missing numbers; kept in the model file.

Missing numbers are refused with the columns and counts, or filled by a rule made on the training data
alone:

- an object feature or a symmetric group feature is filled with the median of its column, over the
  objects that training pairs name, or over the training pairs;
- an antisymmetric group feature is filled with 0, the one value that a swap does not change;
- each column that had missing numbers in training gets a column beside it that is 1 where one was
  filled and 0 elsewhere, so that a model can tell; for group features it is a symmetric one.

Numbers that are missing later, in a column that was whole in training, are filled without a flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.io.label_columns import LabelNames
from pairity.pairs.arrays import Matrix, Places
from pairity.pairs.data import Pairs
from pairity.pairs.encoding import TableEncoding
from pairity.pairs.from_tables import (
    as_objects,
    ids_in,
    indicators,
    locate,
    numbers_of,
    refuse_repeated,
    text_of,
    times_in,
)


def numbers(frame: Any, names: Sequence[str], table: str) -> Matrix:
    """Columns of a pandas table as numbers; NaN where one is missing, none infinite."""
    block = numbers_of(
        frame,
        names,
        table,
        "got texts in column {name!r} of {source}; expected numbers: leave it out with --ignore, or"
        " make numbers of it first (one column of 0 and 1 for each category, say).",
    )
    for name, n_infinite in zip(names, np.isinf(block).sum(axis=0).tolist(), strict=True):
        if n_infinite:
            raise ValueError(
                f"got {n_infinite} infinite number(s) in column {name!r} of {table}; expected finite"
                " ones: correct or drop them."
            )
    return block


def count_missing(block: Matrix, names: Sequence[str]) -> dict[str, int]:
    """Columns with missing numbers and how many."""
    counts = np.isnan(block).sum(axis=0)
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}


def refuse_missing(
    block: Matrix,
    names: Sequence[str],
    table: str,
    expected: str = "none: fill them in, drop those rows, or pass --impute median.",
) -> None:
    """Refuse missing numbers, naming the columns."""
    missing = count_missing(block, names)
    if missing:
        listed = ", ".join(f"{name!r} ({count})" for name, count in list(missing.items())[:5])
        more = ", ..." if len(missing) > 5 else ""
        raise ValueError(
            f"got missing numbers in {table}: column {listed}{more}; expected {expected}"
        )


@dataclass(frozen=True)
class Filling:
    """What missing numbers become, one value per column, and which columns had some in training."""

    values: list[float]
    flagged: list[int]

    def __post_init__(self) -> None:
        columns = range(len(self.values))
        sound = all(type(value) is float and np.isfinite(value) for value in self.values)
        if not sound or any(type(n) is not int or n not in columns for n in self.flagged):
            raise ValueError("got a rule for missing numbers that cannot be; expected numbers.")

    @classmethod
    def learn(
        cls, block: Matrix, names: Sequence[str], table: str, *, zero: bool = False
    ) -> Filling:
        """Medians of the columns, or zeros."""
        empty = np.isnan(block).all(axis=0)
        if empty.any() and len(block):
            raise ValueError(
                f"got column {names[int(np.argmax(empty))]!r} of {table} without a single number;"
                " expected some to take the median of: leave the column out."
            )
        values = np.zeros(block.shape[1]) if zero else np.nanmedian(block, axis=0)
        return cls(values.tolist(), np.flatnonzero(np.isnan(block).any(axis=0)).tolist())

    def apply(self, block: Matrix) -> tuple[Matrix, Matrix]:
        """The columns without gaps, and the flags."""
        missing = np.isnan(block)
        flags = missing[:, self.flagged].astype(np.float64)
        return np.where(missing, np.asarray(self.values), block), flags


@dataclass(frozen=True)
class Columns:
    """Names of columns: of the two ids, the label, and the features.

    ``features`` are those of the objects: None for all columns but ``id`` and ``ignored``.
    """

    first: str
    second: str
    label: str | None = None
    id: str | None = None
    features: tuple[str, ...] | None = None
    ignored: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    antisymmetric: tuple[str, ...] = ()
    time: str | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """The columns of the two ids."""
        return self.first, self.second

    def __post_init__(self) -> None:
        given = [*self.ends, *self.ignored, *self.symmetric, *self.antisymmetric]
        alone = (self.label, self.id, self.time)
        given += [*(self.features or ()), *(name for name in alone if name is not None)]
        if not all(isinstance(name, str) for name in given):
            raise ValueError("got names of columns that are no texts; expected texts.")


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects as read: ids, their texts, and numbers with gaps; no numbers for ids alone."""

    ids: NDArray[Any]
    texts: NDArray[Any]
    numbers: Matrix | None
    name: str

    @classmethod
    def read(
        cls,
        frame: Any,
        id_column: str,
        features: list[str],
        name: str,
        encoding: TableEncoding | None = None,
    ) -> Objects:
        """Objects of a table with one row each; columns of any type by their encoding."""
        ids = ids_in(frame, id_column, name)
        texts = as_objects(map(text_of, ids))
        refuse_repeated(
            texts.tolist(),
            "got the id {value!r} in {count} rows of {source}; expected each object in one row: drop"
            " the repeated rows.",
            name,
        )
        block = numbers(frame, features, name) if encoding is None else encoding.apply(frame, name)
        return cls(as_objects(ids), texts, block, name)

    @classmethod
    def stored(cls, ids: NDArray[Any], numbers: Any) -> Objects:
        """Objects that were kept with a model."""
        listed = ids.tolist()
        return cls(as_objects(listed), as_objects(map(text_of, listed)), numbers, "the model")

    @classmethod
    def named_in(
        cls, frame: Any, columns: Columns, name: str, *, names_only: bool = False
    ) -> Objects:
        """The ids that pairs name, in the order of their texts: each a feature, or a name only."""
        ids = (value for column in columns.ends for value in ids_in(frame, column, name))
        by_text = {text_of(value): value for value in ids}
        texts = sorted(by_text)
        originals = as_objects(by_text[text] for text in texts)
        nothing = np.zeros((len(texts), 0)) if names_only else None
        return cls(originals, as_objects(texts), nothing, f"the ids of {name}")


def known_rows(frame: Any, ends: Sequence[str], objects: Objects, name: str) -> NDArray[np.bool_]:
    """Which rows of a table of pairs name objects that are there, both of them."""
    known = set(objects.texts.tolist())
    sides = [[text_of(value) in known for value in ids_in(frame, column, name)] for column in ends]
    return np.asarray(np.all(sides, axis=0), dtype=np.bool_)


#: What to do about ids that a model or a table of objects does not have.
_ADVICE = {
    "ids alone": "add pairs of it to the training table, or pass --skip-unknown. Each id is a feature"
    " of this model, which knows no others: one trained with --objects, or with --ids names where"
    " features of pairs are enough, can be asked about any",
    "features": "pass a table of objects that has it (--objects), or --skip-unknown",
}


@dataclass(frozen=True)
class Recipe:
    """How tables become pairs, learned from the training tables.

    Attributes
    ----------
    columns : Columns
        Names, those of the object features spelt out.
    identity : bool
        Whether objects are known by their ids alone, one indicator feature each.  Without that and
        without object features ids are names only: any pair may be asked about.
    filling : Filling or None, and the same for symmetric and antisymmetric group features
        What missing numbers become; None where they are refused.
    labels : LabelNames or None
        Names of the labels, where the model has others.
    encoding, symmetric_encoding : TableEncoding or None
        How columns of any type, of objects and of pairs, become numbers.
    """

    columns: Columns
    identity: bool
    filling: Filling | None = None
    symmetric_filling: Filling | None = None
    antisymmetric_filling: Filling | None = None
    labels: LabelNames | None = None
    encoding: TableEncoding | None = None
    symmetric_encoding: TableEncoding | None = None

    @classmethod
    def encoded(
        cls,
        frame: Any,
        objects: Objects,
        columns: Columns,
        name: str,
        encoding: TableEncoding | None,
    ) -> Recipe:
        """Recipe of training tables with columns of any type; objects are encoded already."""
        antisymmetric = numbers(frame, columns.antisymmetric, name)
        return cls(
            columns,
            identity=objects.numbers is None,
            symmetric_filling=Filling([], []),
            antisymmetric_filling=Filling.learn(
                antisymmetric, columns.antisymmetric, name, zero=True
            ),
            encoding=encoding,
            symmetric_encoding=TableEncoding.learn(frame, columns.symmetric),
        )

    @classmethod
    def learn(
        cls, frame: Any, objects: Objects, columns: Columns, name: str, *, impute: bool
    ) -> Recipe:
        """Recipe of training tables; with ``impute`` the rule for missing numbers is made here."""
        recipe = cls(columns, identity=objects.numbers is None)
        if not impute:
            return recipe
        symmetric, antisymmetric = recipe._group_numbers(frame, name)
        recipe = replace(
            recipe,
            symmetric_filling=Filling.learn(symmetric, columns.symmetric, name),
            antisymmetric_filling=Filling.learn(
                antisymmetric, columns.antisymmetric, name, zero=True
            ),
        )
        if objects.numbers is None:
            return recipe
        used = np.unique(np.concatenate(recipe._ends(frame, objects, name)))
        filling = Filling.learn(objects.numbers[used], recipe._features, objects.name)
        return replace(recipe, filling=filling)

    def pairs(self, frame: Any, objects: Objects, name: str) -> Pairs:
        """Pairs of a table of ids among these objects."""
        first, second = self._ends(frame, objects, name)
        group = self._group(frame, name)
        time = None if self.columns.time is None else times_in(frame, self.columns.time, name)
        table = self.object_table(objects)
        return Pairs(table, first, second, *group, ids=objects.texts, time=time)

    def object_table(self, objects: Objects) -> Matrix | sp.csr_array:
        """Features of objects as the model gets them."""
        if self.identity or objects.numbers is None:
            return indicators(len(objects.texts))
        if self.encoding is not None:  # nothing is missing any more
            return objects.numbers
        if self.filling is None:
            refuse_missing(objects.numbers, self._features, objects.name)
            return objects.numbers
        return np.hstack(self.filling.apply(objects.numbers))

    def feature_names(self, objects: Objects) -> dict[str, list[str]]:
        """Names of the model's features by kind; flags of group features are symmetric ones."""
        columns = self.columns
        own = [f"is {text}" for text in objects.texts] if self.identity else [*self._features]
        symmetric = [*columns.symmetric]
        if self.symmetric_encoding is not None:
            own = own if self.encoding is None else self.encoding.columns
            symmetric = self.symmetric_encoding.columns
        flags = [
            [] if filling is None else [f"{names[column]} missing" for column in filling.flagged]
            for filling, names in (
                (self.filling, self._features),
                (self.symmetric_filling, columns.symmetric),
                (self.antisymmetric_filling, columns.antisymmetric),
            )
        ]
        return {
            "objects": own + flags[0],
            "symmetric": [*symmetric, *flags[1], *flags[2]],
            "antisymmetric": list(columns.antisymmetric),
        }

    @property
    def names_only(self) -> bool:
        """Whether ids are names and no features: the model goes by features of pairs alone."""
        return not self.identity and not self._features

    @property
    def _features(self) -> tuple[str, ...]:
        return self.columns.features or ()

    def _ends(self, frame: Any, objects: Objects, name: str) -> list[Places]:
        """Rows of the first and of the second objects."""
        return [
            locate(
                map(text_of, ids_in(frame, column, name)),
                objects.texts,
                f"in column {column!r} that {objects.name} does not have",
                _ADVICE["ids alone" if self.identity else "features"],
            )
            for column in self.columns.ends
        ]

    def _group_numbers(self, frame: Any, name: str) -> list[Matrix]:
        return [
            numbers(frame, self.columns.symmetric, name)
            if self.symmetric_encoding is None
            else self.symmetric_encoding.apply(frame, name),
            numbers(frame, self.columns.antisymmetric, name),
        ]

    def _group(self, frame: Any, name: str) -> tuple[Matrix, Matrix]:
        """Group features without gaps, flags among the symmetric ones."""
        symmetric, antisymmetric = self._group_numbers(frame, name)
        if self.symmetric_filling is None or self.antisymmetric_filling is None:
            refuse_missing(symmetric, self.columns.symmetric, name)
            refuse_missing(antisymmetric, self.columns.antisymmetric, name)
            return symmetric, antisymmetric
        flags = np.zeros((len(symmetric), 0))
        if self.symmetric_encoding is None:
            symmetric, flags = self.symmetric_filling.apply(symmetric)
        antisymmetric, more_flags = self.antisymmetric_filling.apply(antisymmetric)
        return np.hstack([symmetric, flags, more_flags]), antisymmetric
