"""``pairity predict``: a model asked about pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import meaning_of, say
from pairity.app.cli.options import STANDARD_OUTPUT, Settings
from pairity.app.cli.outputs import new_paths
from pairity.app.cli.prediction_scores import Judged, scores_of_labels, scores_of_values
from pairity.app.cli.training_data import known_part, read_objects, recipe_of, refuse_many_tables
from pairity.distributed.predictions import result_columns
from pairity.estimators.unwrap import machine_of
from pairity.io import Objects, Recipe, read_model_file, read_table, write_table
from pairity.io.tables import kind_of, table_text
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import text_of


@dataclass(frozen=True, eq=False)
class Asked:
    """The model, how tables become pairs, its objects or other ones, and where tables go."""

    model: Any
    recipe: Recipe
    objects: Objects
    staged: Mapping[Path, Path]

    def meaning(self) -> dict[str, str]:
        """Which label says that the first object is ahead, for a summary."""
        return meaning_of(self.model, label_names(self.model, self.recipe))

    def pairs_in(self, path: Path) -> Pairs:
        """Pairs of a table."""
        frame = read_table(path, self.recipe.columns.ends)
        return self.recipe.pairs(frame, self.objects, path.name)

    def write(self, table: Any, path: Path) -> None:
        """Write a table to where it waits for its place, or to standard output."""
        if path == STANDARD_OUTPUT:
            print(table_text(table), end="")
        else:
            write_table(table, self.staged[path])


@contextmanager
def asked(settings: Settings) -> Iterator[Asked]:
    """What a command works with, while its outputs are staged."""
    paths = settings.outputs()
    with bad_input(), new_paths(paths, settings.inputs(), force=settings.force) as staged:
        for path in paths:
            kind_of(path)
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings)
        places = dict(zip(paths, staged, strict=True))
        yield Asked(found.model, recipe, read_objects(found, recipe, settings), places)


def run_predict(settings: Settings) -> None:
    """Read, predict, write, say."""
    if settings.distributed is not None:
        from pairity.app.cli.distributed_commands import run_distributed_predict

        run_distributed_predict(settings, settings.distributed)
        return
    refuse_many_tables(settings.sources)
    with asked(settings) as given:
        model, recipe = given.model, given.recipe
        frame = read_table(settings.pairs, recipe.columns.ends)
        frame, left_out = known_part(settings, frame, recipe.columns.ends, given.objects)
        pairs = recipe.pairs(frame, given.objects, settings.pairs.name)
        results = result_columns(model, pairs, label_names(model, recipe))
        content: dict[str, Any] = {
            "pairs": len(frame),
            **given.meaning(),
            "predictions": "standard output" if settings.to_stdout else str(settings.output),
            **left_out,
            **_scores(frame, recipe, results, model),
        }
        content |= _judged(settings, given, frame, results)
        table, renamed = _with_results(frame, recipe, results)
        given.write(table, settings.output)
    if renamed:
        content["columns renamed"] = renamed
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


def _with_results(
    frame: Any, recipe: Recipe, results: dict[str, Any]
) -> tuple[Any, dict[str, str]]:
    """The table as given, with the results after its columns, and which of its columns gave way."""
    refuse_taken(results, recipe)
    taken = {*map(str, frame.columns), *results}
    renamed: dict[str, str] = {}
    for name in results:
        if name in frame.columns:
            other = f"given {name}"
            while other in taken:
                other = f"given {other}"
            renamed[name] = other
            taken.add(other)
    columns = dict(results)
    if "label" in columns:
        columns["label"] = pd.arrays.ArrowExtensionArray(columns["label"])
    kept = frame.rename(columns=renamed).reset_index(drop=True)
    return pd.concat([kept, pd.DataFrame(columns)], axis=1), renamed


def _scores(frame: Any, recipe: Recipe, results: dict[str, Any], model: Any) -> dict[str, Any]:
    """How often each label is predicted, and how good that is where the table has labels."""
    counts: dict[str, Any] = {}
    if "label" in results:
        texts = Counter(map(text_of, results["label"].drop_null().to_pylist()))
        counts = {"labels": dict(sorted(texts.items()))}
    label = recipe.columns.label
    if label is None or label not in frame.columns:
        return counts
    if "value" in results:
        return counts | scores_of_values(frame[label], np.asarray(results["value"]))
    names = label_names(model, recipe) or model.classes_.tolist()
    symmetric = machine_of(model).symmetry == "symmetric"
    return counts | scores_of_labels(frame[label], results, names, symmetric=symmetric)


def _judged(
    settings: Settings, given: Asked, frame: Any, results: dict[str, Any]
) -> dict[str, Any]:
    """Scores beside odds, and a table of scores over time, where they are asked for."""
    if settings.scores is None:
        if settings.time is not None or settings.every is not None:
            raise InputError("got --time or --every without --scores; expected both.")
        if not settings.odds:
            return {}
    model, recipe = given.model, given.recipe
    names = label_names(model, recipe) or getattr(model, "classes_", np.zeros(0)).tolist()
    found = Judged.of(settings, frame, recipe, results, names)
    if settings.scores is not None:
        given.write(found.by_date(), settings.scores)
    return found.beside_odds()
