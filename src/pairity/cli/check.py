"""``pairity check``: what is in the tables, and whether a model could be trained on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import pairity
from pairity.cli.console import make_console
from pairity.cli.data import object_columns, training_objects
from pairity.cli.errors import InputError, bad_input
from pairity.cli.observations import describe_labels, describe_pairs
from pairity.cli.settings import CheckSettings
from pairity.cli.summary import print_json, print_summary
from pairity.tables import Recipe, read_table
from pairity.tables.identities import text_of
from pairity.tables.missing import count_missing, numbers
from pairity.tables.reading import column_of

__all__ = ["run_check"]


def run_check(settings: CheckSettings) -> None:
    """Read, look, say; exit code 2 if fit would refuse the data."""
    with bad_input():
        content, problems = _looked_at(settings)
    content["problems"] = problems or "none"
    if settings.as_json:
        print_json({**content, "problems": problems})
    else:
        print_summary(make_console(), f"what is in {settings.pairs}", content)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]}{more}")


def _looked_at(settings: CheckSettings) -> tuple[dict[str, Any], list[str]]:
    problems: list[str] = []
    frame = read_table(settings.pairs, (settings.first, settings.second))
    name = settings.pairs.name
    ends = {
        column: _ids(column_of(frame, column, name), column, name, problems)
        for column in (settings.first, settings.second)
    }
    first, second = ends[settings.first], ends[settings.second]
    content: dict[str, Any] = {"rows": len(frame)}
    content |= describe_pairs(first, second)
    if settings.objects is not None:
        content |= _describe_objects(settings, set(first) | set(second), problems)
    group = [*settings.symmetric_feature, *settings.antisymmetric_feature]
    missing = count_missing(numbers(frame, group, name), group)
    if settings.impute is None:
        _note_missing(missing, name, problems)
    if settings.label is not None:
        column = column_of(frame, settings.label, name)
        content |= describe_labels(first, second, column, problems)
        if not problems:
            content |= _models_say(settings, frame, column)
    return content, problems


def _models_say(settings: CheckSettings, frame: Any, column: Any) -> dict[str, Any]:
    """What models of each symmetry make of held-out pairs; nothing where they cannot be made."""
    if not hasattr(pairity, "parity_report"):
        return {}
    values = pd.factorize(column.map(text_of), sort=True)[0]
    if _is_numeric(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif values.max() > 1:
        return {}
    kept = (
        values != np.median(np.unique(values)) if len(np.unique(values)) == 3 else values == values
    )
    frame = frame[kept]
    objects, columns = training_objects(settings, frame)
    recipe = Recipe.learn(
        frame, objects, columns, settings.pairs.name, impute=settings.impute is not None
    )
    try:
        report = pairity.parity_report(
            recipe.pairs(frame, objects, settings.pairs.name), values[kept]
        )
    except ValueError as error:
        return {"models of each symmetry": f"not compared: {error}"}
    return {"models of each symmetry": f"{report.verdict}: {report.sentence}"}


def _ids(column: Any, name: str, table: str, problems: list[str]) -> Any:
    """Texts of ids; None where one is missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        problems.append(f"{n_missing} missing id(s) in column {name!r} of {table}")
    return column.map(text_of, na_action="ignore").astype(object).where(~column.isna(), None)


def _describe_objects(
    settings: CheckSettings, named: set[Any], problems: list[str]
) -> dict[str, Any]:
    assert settings.objects is not None
    source = settings.objects.name
    table = read_table(settings.objects, (settings.id,))
    features = object_columns(table, settings)
    ids = _ids(table[settings.id], settings.id, source, problems)
    repeated = int(ids.dropna().duplicated().sum())
    if repeated:
        problems.append(f"{repeated} repeated id(s) in column {settings.id!r} of {source}")
    known = set(ids.dropna())
    unknown = sorted(text for text in named if text is not None and text not in known)
    if unknown:
        problems.append(
            f"{len(unknown)} id(s) without an object in {source}, such as {unknown[0]!r}"
        )
    content: dict[str, Any] = {
        "objects in the table": len(table),
        "objects without a pair": len(known - named),
        "unknown ids": len(unknown),
    }
    numeric = [column for column in features if _is_numeric(table[column])]
    texts = [column for column in features if column not in numeric]
    if texts:
        content["columns of text"] = texts
        problems.append(f"text in column {texts[0]!r} of {source}: leave it out with --ignore")
    block = numbers(table, numeric, source)
    content["features"] = numeric
    missing = count_missing(block, numeric)
    if settings.impute is None:
        _note_missing(missing, source, problems)
    if missing:
        content["missing numbers"] = missing
    alike = int(pd.DataFrame(block).duplicated().sum()) if numeric else 0
    if alike:
        content["objects with the features of another"] = alike
    return content


def _is_numeric(column: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def _note_missing(missing: dict[str, int], source: str, problems: list[str]) -> None:
    if missing:
        column, count = next(iter(missing.items()))
        problems.append(
            f"missing numbers in {len(missing)} column(s) of {source}, such as {column!r} ({count}):"
            " fill them in, or pass --impute median to pairity fit"
        )
