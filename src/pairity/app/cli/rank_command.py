"""``pairity rank``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.outputs import new_paths
from pairity.app.cli.training_data import read_objects, recipe_of
from pairity.estimators.unwrap import machine_of
from pairity.inspection import group_objects, rank_objects
from pairity.io import Objects, Recipe, read_model_file, read_table, write_table
from pairity.io.tables import kind_of
from pairity.pairs.data import Pairs

_RANKINGS, _GROUPINGS = ("least_squares", "mean", "wins"), ("average", "components")


def run_rank(settings: Settings) -> None:
    """Read, rank or group, write, say."""
    with (
        bad_input(),
        new_paths(settings.outputs(), settings.inputs(), force=settings.force) as staged,
    ):
        kind_of(settings.output)
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings.model)
        objects = read_objects(found, recipe, settings.objects, settings.id)
        compared = _compared(recipe, objects, settings)
        symmetry = machine_of(found.model).symmetry
        work = {"antisymmetric": _ranked, "symmetric": _grouped}.get(symmetry)
        if work is None:
            raise InputError(
                f"got a model with symmetry {symmetry!r}; expected an antisymmetric one to rank by, or"
                " a symmetric one to group by."
            )
        table, content = work(found.model, compared, objects, settings)
        write_table(table, staged[0])
    content["table"] = str(settings.output)
    say(settings, f"objects by {settings.model}", content)


def _compared(recipe: Recipe, objects: Objects, settings: Settings) -> Pairs:
    """The pairs given, or all pairs of the objects, on neutral ground."""
    if settings.pairs is not None:
        columns = recipe.columns
        frame = read_table(settings.pairs, (columns.first, columns.second))
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
