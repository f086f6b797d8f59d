"""Training data of a command: files read, columns found, pairs and labels made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from pairity.app.cli.errors import InputError
from pairity.app.cli.options import Settings
from pairity.io import Columns, ModelFile, Objects, Recipe, labels_of_column, read_table
from pairity.io.label_columns import Labels
from pairity.io.recipe import known_rows
from pairity.pairs.data import Pairs
from pairity.pairs.encoding import TableEncoding
from pairity.pairs.from_tables import column_of, ids_in, text_of, warn_of_ids_among


@dataclass(frozen=True, eq=False)
class Training:
    """Pairs and labels of a training table, with the way they were made."""

    pairs: Pairs
    labels: Labels
    objects: Objects
    recipe: Recipe
    groups: NDArray[Any] | None  # what rows hang together by, of validation
    left_out: dict[str, Any]  # rows that name no object, as a summary says it
    dates: bool  # whether times are days, as they are of dates


def read_training(settings: Settings) -> Training:
    """Read the tables of ``pairity fit``."""
    frame = read_table(settings.pairs, (settings.first, settings.second))
    name = settings.pairs.name
    left_out: dict[str, Any] = {}
    columns, objects, encoding = training_columns(settings), None, None
    if settings.objects is not None:
        objects, columns, encoding = table_of_objects(settings, columns, frame)
        frame, left_out = known_part(settings, frame, columns.ends, objects)
    labels = labels_of_column(
        column_of(frame, settings.label, name),
        numeric=settings.learner in ("svr", "ridge"),
        positive=settings.positive,
        draw=settings.draw,
        dropped=settings.drop_label,
        says_who_is_ahead=settings.symmetry == "antisymmetric",
        unlabelled=settings.learner in ("transductive", "laplacian"),
    )
    frame = frame.iloc[labels.kept]
    if objects is None:
        objects, columns = named_objects(settings, frame)
    if getattr(settings, "encode", False):
        recipe = Recipe.encoded(frame, objects, columns, name, encoding)
    else:
        recipe = Recipe.learn(frame, objects, columns, name, impute=settings.impute is not None)
    recipe = replace(recipe, labels=labels.names)
    pairs = recipe.pairs(frame, objects, name)
    groups = None
    if settings.groups is not None:
        groups = np.array([text_of(value) for value in ids_in(frame, settings.groups, name)])
    dates = has_dates(frame, settings.time)
    return Training(pairs, labels, objects, recipe, groups, left_out, dates)


def has_dates(frame: Any, column: str | None) -> bool:
    """Whether a column of times holds dates, which become days."""
    return column is not None and not is_numeric_dtype(frame[column])


def known_part(
    settings: Settings, frame: Any, ends: tuple[str, str], objects: Objects
) -> tuple[Any, dict[str, Any]]:
    """Rows whose objects are known, with ``--skip-unknown``, and what to say of the others."""
    if not settings.skip_unknown:
        return frame, {}
    known = known_rows(frame, ends, objects, settings.pairs.name)
    if not known.any():
        raise InputError(
            f"got no row of {settings.pairs.name} whose two ids {objects.name} has; expected some:"
            " check that the ids are written alike."
        )
    n_unknown = int(np.count_nonzero(~known))
    return frame[known], {"rows of unknown ids, left out": n_unknown} if n_unknown else {}


def training_objects(settings: Settings, frame: Any) -> tuple[Objects, Columns]:
    """Objects of a training table and the columns that are features."""
    if settings.objects is None:
        return named_objects(settings, frame)
    return table_of_objects(settings, training_columns(settings))[:2]


def named_objects(settings: Settings, frame: Any) -> tuple[Objects, Columns]:
    """Objects that the pairs name, where there is no table of them."""
    names_only, name = settings.ids == "names", settings.pairs.name
    columns = replace(training_columns(settings), features=() if names_only else None)
    return Objects.named_in(frame, columns, name, names_only=names_only), columns


def training_columns(settings: Settings) -> Columns:
    """Columns of a training table, those of the objects left open."""
    if settings.objects is None and settings.id != "id":
        raise InputError(
            f"got --id {settings.id} without --objects; expected the table of objects that has the"
            " column, or neither."
        )
    if settings.objects is None and (settings.feature or settings.ignore):
        raise InputError(
            "got --feature or --ignore without --objects; expected a table of objects to take"
            " features from."
        )
    grouped = settings.symmetric_feature or settings.antisymmetric_feature
    if settings.ids == "names" and (settings.objects is not None or not grouped):
        raise InputError(
            "got --ids names "
            + ("with --objects" if settings.objects is not None else "without features of pairs")
            + "; expected --symmetric-feature or --antisymmetric-feature, and no table of objects:"
            " they are all that a model goes by whose ids are names only."
        )
    return Columns(
        settings.first,
        settings.second,
        settings.label,
        symmetric=settings.symmetric_feature,
        antisymmetric=settings.antisymmetric_feature,
        time=settings.time,
    )


def table_of_objects(
    settings: Settings, columns: Columns, frame: Any = None
) -> tuple[Objects, Columns, TableEncoding | None]:
    """Objects of a table of their own, all columns, and how those of any type become numbers.

    That is learnt, with ``--encode``, from the objects that the pairs of ``frame`` name.
    """
    table, name = read_table(settings.objects, (settings.id,)), settings.objects.name
    features = object_columns(table, settings)
    encoding = None
    if frame is not None and getattr(settings, "encode", False):
        ends = (column_of(frame, end, settings.pairs.name) for end in columns.ends)
        named = {text_of(value) for end in ends for value in end}
        used = table[settings.id].map(text_of).isin(named)
        encoding = TableEncoding.learn(table[used], features)
    objects = Objects.read(table, settings.id, features, name, encoding)
    return objects, replace(columns, id=settings.id, features=tuple(features)), encoding


def names_of_objects(settings: Settings) -> dict[str, str]:
    """What objects are called in the column of ``--name``, by their ids; ids tell equal names apart."""
    if settings.name is None:
        return {}
    if settings.objects is None:
        raise InputError("got --name without --objects; expected the table that has the column.")
    table = read_table(settings.objects, (settings.id, settings.name))
    column = column_of(table, settings.name, settings.objects.name)
    names = column.map(text_of, na_action="ignore").fillna("?")
    repeated = names.duplicated(keep=False).tolist()
    ids = table[settings.id].map(text_of).tolist()
    return {
        text: f"{name} ({text})" if twice else name
        for text, name, twice in zip(ids, names, repeated, strict=True)
    }


def refuse_many_tables(sources: Sequence[Path]) -> None:
    """Refuse what only workers can read."""
    if len(sources) > 1:
        raise InputError(
            f"got {len(sources)} tables of pairs, the second {sources[1]}; expected one, or"
            " --distributed, which takes any number of Parquet files."
        )
    if sources[0].is_dir():
        raise InputError(
            f"got {sources[0]}, which is a directory; expected a table of pairs, or --distributed,"
            " which takes folders of Parquet files."
        )


def object_columns(table: Any, settings: Settings) -> list[str]:
    """Names of the columns of an objects table that are features."""
    name = settings.objects.name
    for column in (settings.id, *settings.feature, *settings.ignore):
        column_of(table, column, name)
    left_out = {settings.id, *settings.ignore, getattr(settings, "name", None)}
    chosen = settings.feature or tuple(map(str, table.columns))
    features = [column for column in chosen if column not in left_out]
    if not settings.feature:
        warn_of_ids_among(table, features, "pass --id {name} or --ignore {name}")
    if not features:
        raise InputError(
            f"got no feature in {name}; expected columns besides {settings.id!r}: leave --objects out"
            " to know objects by their ids alone."
        )
    return features


def recipe_of(found: ModelFile, settings: Settings) -> Recipe:
    """How the model's training tables became pairs, with the columns of ids that are asked about."""
    recipe = found.metadata.extra.get("recipe")
    if not isinstance(recipe, Recipe):
        raise InputError(
            f"got {settings.model}, a model saved without the names of its columns; expected one made"
            " by pairity fit: load it in Python with pairity.load."
        )
    given = {end: getattr(settings, end, None) for end in ("first", "second")}
    named = {end: name for end, name in given.items() if name}
    return replace(recipe, columns=replace(recipe.columns, **named))


def read_objects(found: ModelFile, recipe: Recipe, settings: Settings) -> Objects:
    """Objects of a new table, those that the model was trained with, or those that pairs name."""
    if settings.objects is None and settings.id is not None:
        raise InputError(
            f"got --id {settings.id} without a table of objects; expected the table that has the"
            " column, or neither."
        )
    if recipe.names_only:
        if settings.objects is not None or settings.pairs is None:
            raise InputError(
                f"got {'a table of objects' if settings.objects else 'no table of pairs'} for a model"
                " that goes by features of pairs alone; expected a table of pairs with those features:"
                " pass it (--pairs)."
            )
        frame = read_table(settings.pairs, recipe.columns.ends)
        return Objects.named_in(frame, recipe.columns, settings.pairs.name, names_only=True)
    if settings.objects is not None:
        if recipe.identity:
            raise InputError(
                "got a table of objects for a model that knows objects by their ids alone; expected"
                " none: it can be asked about the objects of its training pairs only."
            )
        column = settings.id or recipe.columns.id or "id"
        features = list(recipe.columns.features or ())
        table = read_table(settings.objects, (column,))
        return Objects.read(table, column, features, settings.objects.name, recipe.encoding)
    ids = found.metadata.ids
    if ids is None:
        raise InputError(
            "got a model saved without its objects; expected a table of them: pass one."
        )
    return Objects.stored(ids, found.metadata.objects)
