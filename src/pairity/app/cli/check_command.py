"""``pairity check``: what is in the tables, and whether a model could be trained on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

import pairity
from pairity.app.cli.console import make_console, show_stages
from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.training_data import object_columns, training_columns, training_objects
from pairity.io import Recipe, read_table
from pairity.io.recipe import count_missing, numbers
from pairity.pairs.from_tables import column_of, text_of, times_in

#: Standard errors from chance at which comparisons of both orders speak for a symmetry.
_CLEAR = 3.0
_MOST_LABELS = 12
#: Columns that name an unordered pair.
_PAIR = ["low", "high"]


def describe_pairs(first: Any, second: Any) -> dict[str, Any]:
    """Counts of objects and of repeated, reversed and self pairs."""
    table = _ordered(first, second)
    n_distinct = len(table.drop_duplicates(_PAIR))
    orders = table.drop_duplicates([*_PAIR, "turned"]).groupby(_PAIR, dropna=False).size()
    content: dict[str, Any] = {
        "objects in pairs": len(set(first.dropna()) | set(second.dropna())),
        "distinct pairs": n_distinct,
        "rows that repeat a pair": len(table) - n_distinct,
        "pairs written in both orders": int((orders > 1).sum()),
        "pairs of an object with itself": int((first == second).sum()),
    }
    both = _by_order(table, _PAIR)
    if both.shape[1] == 2 and (both[False] == both[True]).all():
        content["note on rows"] = (
            "every pair is there in both orders equally often: if these are mirror images, keep one"
        )
    return content


def describe_labels(first: Any, second: Any, column: Any, problems: list[str]) -> dict[str, Any]:
    """Label counts, contradictions, and what repeated pairs say about a swap."""
    n_missing = int(column.isna().sum())
    if n_missing:
        problems.append(f"{n_missing} missing label(s) in column {column.name!r}")
    labels = column.dropna().map(text_of)
    counts = labels.value_counts().sort_index()
    content: dict[str, Any] = {"labels": f"{len(counts)} different values"}
    if len(counts) <= _MOST_LABELS:
        content["labels"] = {str(label): int(count) for label, count in counts.items()}
    if len(counts) < 2 and len(labels):
        content["note on labels"] = "one label only: enough for an antisymmetric model of winners"
    table = _ordered(first, second).assign(label=column.map(text_of, na_action="ignore"))
    table = table.dropna(subset=["label", *_PAIR])
    within = table.groupby([*_PAIR, "turned"])["label"].nunique()
    content["pairs with different labels in one order"] = int((within > 1).sum())
    sides = _two_sided(table)
    # comparisons of an observation with one of the same pair in the other order
    counted = [_by_order(sides, key) for key in ([*_PAIR, "label"], _PAIR)]
    same, total = (int(n.prod(axis=1).sum()) if n.shape[1] == 2 else 0 for n in counted)
    chance = float((sides["label"].value_counts(normalize=True) ** 2).sum())
    content["comparisons of both orders"] = {"same label": same, "other label": total - same}
    content["symmetry"] = symmetry_of(same, total, chance)
    return content


def _ordered(first: Any, second: Any) -> Any:
    """Each pair by its two texts in order, and whether it was written the other way."""
    low, high = first.to_numpy(dtype=object), second.to_numpy(dtype=object)
    turned = np.array([str(a) > str(b) for a, b in zip(low, high, strict=True)], dtype=bool)
    return pd.DataFrame(
        {"low": np.where(turned, high, low), "high": np.where(turned, low, high), "turned": turned}
    )


def _two_sided(table: Any) -> Any:
    """Rows with two labels: as they are, without the middle one of three, or by sign."""
    if table["label"].nunique() <= 2:
        return table
    values = pd.to_numeric(table["label"], errors="coerce")
    if values.isna().any():
        return table
    if values.nunique() == 3:
        middle = float(np.median(values.unique()))
        return table[values != middle]
    return table.assign(label=np.sign(values))[values != 0]


def _by_order(table: Any, key: list[str]) -> Any:
    """Numbers of observations of proper pairs, a column for each of the two orders."""
    proper = table[table["low"] != table["high"]]
    return proper.groupby([*key, "turned"]).size().unstack("turned", fill_value=0)


def symmetry_of(same: int, total: int, chance: float) -> str:
    """What labels of pairs written in both orders speak for.

    ``same`` of ``total`` comparisons of an observation (a, b) with an observation (b, a) have the
    same label, and ``chance`` of them would if labels had nothing to do with the pair.
    """
    if not total:
        return "cannot be seen: no pair is written in both orders; what the labels mean decides"
    share = same / total
    error = (max(chance * (1.0 - chance), 1e-9) / total) ** 0.5
    said = f"{share:.0%} of comparisons of both orders have the same label, {chance:.0%} by chance"
    if share - chance > _CLEAR * error:
        return f"symmetric: {said}"
    if chance - share > _CLEAR * error:
        return f"antisymmetric: {said}"
    return f"neither clearly: {said}"


# ``pairity check`` ------------------------------------------------------------------------------


def run_check(settings: Settings) -> None:
    """Read, look, say; exit code 2 if fit would refuse the data."""
    with show_stages(make_console(), "reading", 2) as enter, bad_input():
        content, problems = _looked_at(settings, enter)
    content["problems"] = problems if problems or settings.as_json else "none"
    say(settings, f"what is in {settings.pairs}", content)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]}{more}")


def _looked_at(
    settings: Settings, enter: Callable[[str], None]
) -> tuple[dict[str, Any], list[str]]:
    problems: list[str] = []
    frame = read_table(settings.pairs, (settings.first, settings.second))
    name = settings.pairs.name
    first, second = (
        _ids(column_of(frame, column, name), column, name, problems)
        for column in (settings.first, settings.second)
    )
    training_columns(settings)
    if settings.time is not None:
        times_in(frame, settings.time, name)
    content = {"rows": len(frame), **describe_pairs(first, second)}
    if settings.objects is not None:
        content |= _describe_objects(settings, set(first) | set(second), problems)
    group = [*settings.symmetric_feature, *settings.antisymmetric_feature]
    _count_missing(settings, numbers(frame, group, name), group, name, problems)
    if settings.label is not None:
        column = column_of(frame, settings.label, name)
        content |= describe_labels(first, second, column, problems)
        if not problems:
            enter("comparing models of each symmetry")
            content |= _models_say(settings, frame, column)
    return content, problems


def _models_say(settings: Settings, frame: Any, column: Any) -> dict[str, Any]:
    """What models of each symmetry make of held-out pairs; nothing where they cannot be made."""
    values = pd.factorize(column.map(text_of), sort=True)[0]
    if is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif values.max() > 1:
        return {}
    distinct = np.unique(values)
    kept = values != np.median(distinct) if len(distinct) == 3 else values == values
    frame, name = frame[kept], settings.pairs.name
    objects, columns = training_objects(settings, frame)
    recipe = Recipe.learn(frame, objects, columns, name, impute=settings.impute is not None)
    try:
        report = pairity.parity_report(recipe.pairs(frame, objects, name), values[kept])
    except ValueError as error:
        return {"models of each symmetry": f"not compared: {error}"}
    sentence = re.sub(  # advice for Python in the words of the shell
        r"symmetry='none' with Mixed\(kernel(.*?)\)",
        r"--symmetry none --kernel 'mixed(gaussian\1)'",
        report.sentence,
    )
    sentence = re.sub(r"symmetry='(\w+)'", r"--symmetry \1", sentence)
    return {"models of each symmetry": f"{report.verdict}: {sentence}"}


def _ids(column: Any, name: str, table: str, problems: list[str]) -> Any:
    """Texts of ids; None where one is missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        problems.append(f"{n_missing} missing id(s) in column {name!r} of {table}")
    return column.map(text_of, na_action="ignore").astype(object).where(~column.isna(), None)


def _describe_objects(settings: Settings, named: set[Any], problems: list[str]) -> dict[str, Any]:
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
    numeric = [column for column in features if is_numeric_dtype(table[column])]
    texts = [column for column in features if column not in numeric]
    if texts:
        content["columns of text"] = texts
        problems.append(f"text in column {texts[0]!r} of {source}: leave it out with --ignore")
    block = numbers(table, numeric, source)
    content["features"] = numeric
    missing = _count_missing(settings, block, numeric, source, problems)
    if missing:
        content["missing numbers"] = missing
    alike = int(pd.DataFrame(block).duplicated().sum()) if numeric else 0
    if alike:
        content["objects with the features of another"] = alike
    return content


def _count_missing(
    settings: Settings, block: Any, columns: list[str], source: str, problems: list[str]
) -> dict[str, int]:
    """Missing numbers by column, a problem unless they are filled."""
    missing = count_missing(block, columns)
    if missing and settings.impute is None:
        column, count = next(iter(missing.items()))
        problems.append(
            f"missing numbers in {len(missing)} column(s) of {source}, such as {column!r} ({count}):"
            " fill them in, or pass --impute median to pairity fit"
        )
    return missing
