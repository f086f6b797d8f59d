"""``pairity predict`` and ``pairity rank``: a model asked about pairs, or about objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.outputs import new_paths
from pairity.app.cli.training_data import read_objects, recipe_of, refuse_many_tables
from pairity.distributed.predictions import result_columns
from pairity.estimators.unwrap import machine_of
from pairity.inspection import group_objects, rank_objects
from pairity.io import Objects, Recipe, read_model_file, read_table, write_table
from pairity.io.tables import kind_of
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import text_of

_RANKINGS, _GROUPINGS = ("least_squares", "mean", "wins"), ("average", "components")


@contextmanager
def _asked(settings: Settings) -> Iterator[tuple[Any, Recipe, Objects, Path]]:
    """The model, how tables become pairs, its objects or other ones, and where a table goes."""
    outputs = new_paths(settings.outputs(), settings.inputs(), force=settings.force)
    with bad_input(), outputs as (staged,):
        kind_of(settings.output)
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings)
        yield found.model, recipe, read_objects(found, recipe, settings), staged


def run_predict(settings: Settings) -> None:
    """Read, predict, write, say."""
    if settings.distributed is not None:
        from pairity.app.cli.distributed_commands import run_distributed_predict

        run_distributed_predict(settings, settings.distributed)
        return
    refuse_many_tables(settings.sources)
    with _asked(settings) as (model, recipe, objects, staged):
        frame = read_table(settings.pairs, recipe.columns.ends)
        pairs = recipe.pairs(frame, objects, settings.pairs.name)
        table = _table(frame, recipe, result_columns(model, pairs, label_names(model, recipe)))
        write_table(table, staged)
    content: dict[str, Any] = {"pairs": len(table), "predictions": str(settings.output)}
    if "label" in table:
        counts = table["label"].map(text_of, na_action="ignore").value_counts().sort_index()
        content["labels"] = {str(label): int(count) for label, count in counts.items()}
    content |= _agreement(frame, recipe, table, model)
    say(settings, f"predictions of {settings.model}", content)


def label_names(model: Any, recipe: Recipe) -> list[Any] | None:
    """Names of the labels in the order of the model's; None where these are the labels themselves."""
    if recipe.labels is None or not hasattr(model, "classes_"):
        return None
    names: list[Any] = recipe.labels.of(model.classes_).tolist()
    return names


def refuse_taken(results: Iterable[str], recipe: Recipe) -> None:
    """Refuse columns of ids whose names columns of results have."""
    taken = [name for name in results if name in recipe.columns.ends]
    if taken:
        raise InputError(
            f"got a column of ids named {taken[0]!r}, as a column of results is; expected another name:"
            " rename it in the table of pairs."
        )


def _table(frame: Any, recipe: Recipe, results: dict[str, Any]) -> Any:
    refuse_taken(results, recipe)
    ids = recipe.columns.ends
    if "label" in results:
        results["label"] = pd.arrays.ArrowExtensionArray(results["label"])
    columns: dict[str, Any] = {name: frame[name].to_numpy(dtype=object) for name in ids}
    return pd.DataFrame(columns | results).astype({name: frame[name].dtype for name in ids})


def _agreement(frame: Any, recipe: Recipe, table: Any, model: Any) -> dict[str, Any]:
    """How often predictions agree with the labels of the table, where it has some of the model's."""
    label = recipe.columns.label
    if label is None or label not in frame.columns:
        return {}
    if "value" in table:
        truth = pd.to_numeric(frame[label], errors="coerce").to_numpy()
        known = np.isfinite(truth)
        errors = np.abs(truth - table["value"].to_numpy())[known]
        return {"mean absolute error": float(errors.mean())} if known.any() else {}
    names = label_names(model, recipe) or model.classes_.tolist()
    truth, said = (
        column.map(text_of).to_numpy(dtype=object) for column in (frame[label], table["label"])
    )
    known = np.isin(truth, [text_of(name) for name in names])
    if not known.any():
        return {}
    share = float((truth == said)[known].mean())
    return {"pairs with a label": int(known.sum()), "agree with it": share}


# ``pairity rank`` -------------------------------------------------------------------------------


def run_rank(settings: Settings) -> None:
    """Read, rank or group, write, say."""
    with _asked(settings) as (model, recipe, objects, staged):
        compared = _compared(recipe, objects, settings)
        symmetry = machine_of(model).symmetry
        work = {"antisymmetric": _ranked, "symmetric": _grouped}.get(symmetry)
        if work is None:
            raise InputError(
                f"got a model with symmetry {symmetry!r}; expected an antisymmetric one to rank by, or"
                " a symmetric one to group by."
            )
        table, content = work(model, compared, objects, settings)
        write_table(table, staged)
    content["table"] = str(settings.output)
    say(settings, f"objects by {settings.model}", content)


def _compared(recipe: Recipe, objects: Objects, settings: Settings) -> Pairs:
    """The pairs given, or all pairs of the objects, on neutral ground."""
    if settings.pairs is not None:
        frame = read_table(settings.pairs, recipe.columns.ends)
        return recipe.pairs(frame, objects, settings.pairs.name)
    names = recipe.feature_names(objects)
    if names["symmetric"]:
        raise InputError(
            f"got a model with the feature {names['symmetric'][0]!r} of pairs, which all pairs of"
            " objects do not have; expected --pairs FILE with the pairs to compare."
        )
    table = recipe.object_table(objects)
    n = len(objects.texts)
    flat = np.zeros((n * (n - 1) // 2, len(names["antisymmetric"])))
    return Pairs.complete(table, antisymmetric=flat, ids=objects.texts)


def _ranked(
    model: Any, pairs: Pairs, objects: Objects, settings: Settings
) -> tuple[Any, dict[str, Any]]:
    method = _method(settings, _RANKINGS, "antisymmetric")
    if settings.threshold is not None:
        raise InputError("got --threshold for an antisymmetric model; expected a symmetric one.")
    ranking = rank_objects(model, pairs, ids=objects.ids, method=method)
    return ranking.to_frame(), {
        "objects": len(ranking),
        "best": list(ranking.ids[ranking.order[:5]]),
        "explained by the ranking": 1.0 - ranking.cyclic_share,
        "cyclic": ranking.cyclic_share,
        "triangles that go round": f"{ranking.cycles.n_cyclic} of {ranking.cycles.n_triangles}",
    }


def _grouped(
    model: Any, pairs: Pairs, objects: Objects, settings: Settings
) -> tuple[Any, dict[str, Any]]:
    method, threshold = _method(settings, _GROUPINGS, "symmetric"), settings.threshold
    groups = group_objects(model, pairs, ids=objects.ids, method=method, threshold=threshold)
    return groups.to_frame(), {
        "objects": len(groups.labels),
        "groups": groups.n_groups,
        "groups of several": int((groups.sizes > 1).sum()),
        "largest": int(groups.sizes.max(initial=0)),
        "threshold": groups.threshold,
    }


def _method(settings: Settings, allowed: tuple[str, ...], symmetry: str) -> str:
    """The method asked for, the first of those allowed by default."""
    method: str = settings.method or allowed[0]
    if method not in allowed:
        raise InputError(
            f"got --method {method} for a model that is {symmetry}; expected one of"
            f" {', '.join(allowed)}."
        )
    return method
