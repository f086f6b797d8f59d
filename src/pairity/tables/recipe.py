"""Which columns are what, and the way from tables to pairs; kept in the model file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.pairs import Pairs
from pairity.tables.identities import as_objects, id_texts, locate, refuse_repeated, text_of
from pairity.tables.labels import LabelNames
from pairity.tables.missing import Filling, Table, numbers, refuse_missing
from pairity.tables.reading import column_of

__all__ = ["Columns", "Objects", "Recipe"]


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

    def __post_init__(self) -> None:
        given = [self.first, self.second, *self.ignored, *self.symmetric, *self.antisymmetric]
        given += [*(self.features or ()), *(x for x in (self.label, self.id) if x is not None)]
        if not all(isinstance(name, str) for name in given):
            raise ValueError("got names of columns that are no texts; expected texts.")


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects as read: ids, their texts, and numbers with gaps; no numbers for ids alone."""

    ids: NDArray[Any]
    texts: NDArray[Any]
    numbers: Table | None
    name: str

    @classmethod
    def read(cls, frame: Any, id_column: str, features: list[str], name: str) -> Objects:
        """Objects of a table with one row each."""
        column = column_of(frame, id_column, name)
        texts = id_texts(column, id_column, name)
        refuse_repeated(texts, name)
        return cls(as_objects(column.tolist()), texts, numbers(frame, features, name), name)

    @classmethod
    def stored(cls, ids: NDArray[Any], numbers: Any) -> Objects:
        """Objects that were kept with a model."""
        texts = as_objects(text_of(value) for value in ids.tolist())
        return cls(as_objects(ids.tolist()), texts, numbers, "the model")

    @classmethod
    def named_in(cls, frame: Any, columns: Columns, name: str) -> Objects:
        """Objects without features: the ids that pairs name, in the order of their texts."""
        found: dict[str, Any] = {}
        for column in (columns.first, columns.second):
            texts = id_texts(column_of(frame, column, name), column, name)
            found.update(zip(texts.tolist(), frame[column].tolist(), strict=True))
        texts = as_objects(sorted(found))
        return cls(as_objects(found[text] for text in texts), texts, None, f"the ids of {name}")


@dataclass(frozen=True)
class Recipe:
    """How tables become pairs, learned from the training tables.

    Attributes
    ----------
    columns : Columns
        Names, those of the object features spelt out.
    identity : bool
        Whether objects are known by their ids alone, one indicator feature each.
    filling : Filling or None, and the same for symmetric and antisymmetric group features
        What missing numbers become; None where they are refused.
    labels : LabelNames or None
        Names of the labels, where the model has others.
    """

    columns: Columns
    identity: bool
    filling: Filling | None = None
    symmetric_filling: Filling | None = None
    antisymmetric_filling: Filling | None = None
    labels: LabelNames | None = None

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
            symmetric_filling=Filling.learn(symmetric, list(columns.symmetric), name),
            antisymmetric_filling=Filling.learn(
                antisymmetric, list(columns.antisymmetric), name, zero=True
            ),
        )
        if objects.numbers is None:
            return recipe
        used = np.unique(np.concatenate(recipe._places(frame, objects, name)))
        filling = Filling.learn(objects.numbers[used], recipe._features, objects.name)
        return replace(recipe, filling=filling)

    def pairs(self, frame: Any, objects: Objects, name: str) -> Pairs:
        """Pairs of a table of ids among these objects."""
        first, second = self._places(frame, objects, name)
        symmetric, antisymmetric = self._group(frame, name)
        table = self.object_table(objects)
        return Pairs(table, first, second, symmetric, antisymmetric, ids=objects.texts)

    def object_table(self, objects: Objects) -> Table | sp.csr_array:
        """Features of objects as the model gets them."""
        if self.identity or objects.numbers is None:
            return sp.csr_array(sp.identity(len(objects.texts), format="csr"))
        block = objects.numbers
        if self.filling is None:
            refuse_missing(block, self._features, objects.name)
            return block
        return np.hstack(self.filling.apply(block))

    def feature_names(self, objects: Objects) -> dict[str, list[str]]:
        """Names of the model's features by kind."""
        names = {
            "objects": [f"is {text}" for text in objects.texts]
            if self.identity
            else self._features,
            "symmetric": list(self.columns.symmetric),
            "antisymmetric": list(self.columns.antisymmetric),
        }
        if self.filling is not None:
            names["objects"] = names["objects"] + self.filling.flag_names(self._features)
        for filling, kind in (
            (self.symmetric_filling, "symmetric"),
            (self.antisymmetric_filling, "antisymmetric"),
        ):
            if filling is not None:
                own = list(getattr(self.columns, kind))
                names["symmetric"] = names["symmetric"] + filling.flag_names(own)
        return names

    @property
    def _features(self) -> list[str]:
        return list(self.columns.features or ())

    def _places(
        self, frame: Any, objects: Objects, name: str
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        columns = self.columns.first, self.columns.second
        first, second = (
            locate(
                id_texts(column_of(frame, column, name), column, name),
                objects.texts,
                column,
                objects.name,
            )
            for column in columns
        )
        return first, second

    def _group_numbers(self, frame: Any, name: str) -> tuple[Table, Table]:
        columns = self.columns.symmetric, self.columns.antisymmetric
        symmetric, antisymmetric = (numbers(frame, list(names), name) for names in columns)
        return symmetric, antisymmetric

    def _group(self, frame: Any, name: str) -> tuple[Table, Table]:
        """Group features without gaps, flags among the symmetric ones."""
        symmetric, antisymmetric = self._group_numbers(frame, name)
        flags = []
        if self.symmetric_filling is None or self.antisymmetric_filling is None:
            refuse_missing(symmetric, list(self.columns.symmetric), name)
            refuse_missing(antisymmetric, list(self.columns.antisymmetric), name)
            return symmetric, antisymmetric
        symmetric, flag = self.symmetric_filling.apply(symmetric)
        flags.append(flag)
        antisymmetric, flag = self.antisymmetric_filling.apply(antisymmetric)
        flags.append(flag)
        return np.hstack([symmetric, *flags]), antisymmetric
