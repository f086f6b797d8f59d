"""Training data of a command: files read, columns found, pairs and labels made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pairity.app.cli.errors import InputError
from pairity.app.cli.options import Settings
from pairity.io import Columns, ModelFile, Objects, Recipe, labels_of_column, read_table
from pairity.io.label_columns import Labels
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import column_of


@dataclass(frozen=True, eq=False)
class Training:
    """Pairs and labels of a training table, with the way they were made."""

    pairs: Pairs
    labels: Labels
    objects: Objects
    recipe: Recipe


def read_training(settings: Settings) -> Training:
    """Read the tables of ``pairity fit``."""
    frame = read_table(settings.pairs, (settings.first, settings.second))
    name = settings.pairs.name
    labels = labels_of_column(
        column_of(frame, settings.label, name),
        numeric=settings.learner in ("svr", "ridge"),
        positive=settings.positive,
        draw=settings.draw,
        dropped=settings.drop_label,
        says_who_is_ahead=settings.symmetry == "antisymmetric",
    )
    frame = frame.iloc[labels.kept]
    objects, columns = training_objects(settings, frame)
    recipe = Recipe.learn(frame, objects, columns, name, impute=settings.impute is not None)
    recipe = replace(recipe, labels=labels.names)
    return Training(recipe.pairs(frame, objects, name), labels, objects, recipe)


def training_objects(settings: Settings, frame: Any) -> tuple[Objects, Columns]:
    """Objects of a training table and the columns that are features."""
    columns = training_columns(settings)
    if settings.objects is None:
        return Objects.named_in(frame, columns, settings.pairs.name), columns
    return table_of_objects(settings, columns)


def training_columns(settings: Settings) -> Columns:
    """Columns of a training table, those of the objects left open."""
    if settings.objects is None and (settings.feature or settings.ignore):
        raise InputError(
            "got --feature or --ignore without --objects; expected a table of objects to take"
            " features from."
        )
    return Columns(
        settings.first,
        settings.second,
        settings.label,
        symmetric=settings.symmetric_feature,
        antisymmetric=settings.antisymmetric_feature,
        time=settings.time,
    )


def table_of_objects(settings: Settings, columns: Columns) -> tuple[Objects, Columns]:
    """Objects of a table of their own, and all columns."""
    table = read_table(settings.objects, (settings.id,))
    features = object_columns(table, settings)
    objects = Objects.read(table, settings.id, features, settings.objects.name)
    return objects, replace(columns, id=settings.id, features=tuple(features))


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
    left_out = {settings.id, *settings.ignore}
    chosen = settings.feature or tuple(map(str, table.columns))
    features = [column for column in chosen if column not in left_out]
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
    """Objects of a new table, or those that the model was trained with."""
    if settings.objects is not None:
        if recipe.identity:
            raise InputError(
                "got a table of objects for a model that knows objects by their ids alone; expected"
                " none: it can be asked about the objects of its training pairs only."
            )
        column = settings.id or recipe.columns.id or "id"
        features = list(recipe.columns.features or ())
        table = read_table(settings.objects, (column,))
        return Objects.read(table, column, features, settings.objects.name)
    ids = found.metadata.ids
    if ids is None:
        raise InputError(
            "got a model saved without its objects; expected a table of them: pass one."
        )
    return Objects.stored(ids, found.metadata.objects)
