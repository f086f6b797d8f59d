"""``pairity rank``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.cli.console import make_console
from pairity.cli.data import read_objects, recipe_of
from pairity.cli.errors import InputError, bad_input
from pairity.cli.outputs import new_paths
from pairity.cli.settings import RankSettings
from pairity.cli.summary import innermost, print_json, print_summary
from pairity.files import read_model_file
from pairity.pairs import Pairs
from pairity.ranking import group_objects, rank_objects
from pairity.tables import Objects, Recipe, read_table, write_table
from pairity.tables.reading import kind_of

__all__ = ["run_rank"]

_RANKINGS, _GROUPINGS = ("least_squares", "mean", "wins"), ("average", "components")


def run_rank(settings: RankSettings) -> None:
    """Read, rank or group, write, say."""
    others = [path for path in (settings.objects, settings.pairs) if path is not None]
    with (
        bad_input(),
        new_paths([settings.output], [settings.model, *others], force=settings.force) as staged,
    ):
        kind_of(settings.output)
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings.model)
        objects = read_objects(found, recipe, settings.objects, settings.id)
        compared = _compared(recipe, objects, settings)
        symmetry = innermost(found.model).symmetry
        work = {"antisymmetric": _ranked, "symmetric": _grouped}.get(symmetry)
        if work is None:
            raise InputError(
                f"got a model with symmetry {symmetry!r}; expected an antisymmetric one to rank by, or"
                " a symmetric one to group by."
            )
        table, content = work(found.model, compared, objects, settings)
        write_table(table, staged[0])
    content["table"] = str(settings.output)
    if settings.as_json:
        print_json(content)
    else:
        print_summary(make_console(), f"objects by {settings.model}", content)


def _compared(recipe: Recipe, objects: Objects, settings: RankSettings) -> Pairs:
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
    model: Any, pairs: Pairs, objects: Objects, settings: RankSettings
) -> tuple[Any, dict[str, Any]]:
    _refuse_option(settings.method, _RANKINGS, "antisymmetric")
    if settings.threshold is not None:
        raise InputError("got --threshold for an antisymmetric model; expected a symmetric one.")
    method = settings.method or "least_squares"
    ranking = rank_objects(model, pairs, ids=objects.ids, method=method)
    best = [ranking.ids[place] for place in ranking.order[:5]]
    return ranking.to_frame(), {
        "objects": len(ranking),
        "best": best,
        "explained by the ranking": 1.0 - ranking.cyclic_share,
        "cyclic": ranking.cyclic_share,
        "triangles that go round": f"{ranking.cycles.n_cyclic} of {ranking.cycles.n_triangles}",
    }


def _grouped(
    model: Any, pairs: Pairs, objects: Objects, settings: RankSettings
) -> tuple[Any, dict[str, Any]]:
    _refuse_option(settings.method, _GROUPINGS, "symmetric")
    groups = group_objects(
        model,
        pairs,
        ids=objects.ids,
        method=settings.method or "average",
        threshold=settings.threshold,
    )
    return groups.to_frame(), {
        "objects": len(groups.labels),
        "groups": groups.n_groups,
        "groups of several": int((groups.sizes > 1).sum()),
        "largest": int(groups.sizes.max(initial=0)),
        "threshold": groups.threshold,
    }


def _refuse_option(method: str | None, allowed: tuple[str, ...], symmetry: str) -> None:
    if method is not None and method not in allowed:
        raise InputError(
            f"got --method {method} for a model that is {symmetry}; expected one of"
            f" {', '.join(allowed)}."
        )
