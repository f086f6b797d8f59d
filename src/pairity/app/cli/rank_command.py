"""``pairity rank``: objects ranked by a model, or grouped; ``pairity suggest``: what to ask next."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pairity.active import suggest
from pairity.app.cli.ask_commands import Asked, asked, label_names, refuse_taken
from pairity.app.cli.errors import InputError
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.estimators.unwrap import machine_of
from pairity.inspection import Ranking, effects, group_objects, judges, rank_objects
from pairity.io import Objects, Recipe, read_table
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import column_of, text_of

_RANKINGS, _GROUPINGS = ("least_squares", "mean", "wins"), ("average", "components")


def run_rank(settings: Settings) -> None:
    """Read, rank or group, write, say."""
    with asked(settings) as given:
        content = write_ranking(given, settings)
    content["table"] = "standard output" if settings.to_stdout else str(settings.output)
    say(settings, f"objects by {settings.model}", content)


def write_ranking(given: Asked, settings: Settings) -> dict[str, Any]:
    """Rank or group, write the tables, and return what to say of them."""
    compared = _compared(given, settings, _table_of_pairs(given, settings))
    symmetry = machine_of(given.model).symmetry
    work = {"antisymmetric": _ranked, "symmetric": _grouped}.get(symmetry)
    if work is None:
        raise InputError(
            f"got a model with symmetry {symmetry!r}; expected an antisymmetric one to rank by, or"
            " a symmetric one to group by."
        )
    table, content = work(given, compared, settings)
    given.write(table, settings.output)
    for name, make in {"effects": _effects, "judges": _judges}.items():
        path = getattr(settings, name)
        if path is not None:
            given.write(make(given, settings), path)
            content[name] = str(path)
    return content


def _table_of_pairs(given: Asked, settings: Settings) -> Any:
    """The table of the pairs to compare, where there is one."""
    if settings.pairs is None:
        return None
    return read_table(settings.pairs, given.recipe.columns.ends)


def _compared(given: Asked, settings: Settings, frame: Any) -> Pairs:
    """The pairs of a table, or all pairs of the objects on neutral ground; at a time if one is given."""
    recipe, at = given.recipe, getattr(settings, "at", None)
    timed = recipe.columns.time is not None
    if at is not None and not timed:
        raise InputError(
            "got --at for a model trained without --time; expected one trained with it."
        )
    if frame is None and timed and at is None:
        raise InputError(
            "got a model trained with --time; expected --at TIME, when objects are compared."
        )
    if at is not None:  # in the place of the times that a table may have
        recipe = replace(recipe, columns=replace(recipe.columns, time=None))
    if frame is None:
        pairs = _all_pairs(recipe, given.objects)
    else:
        pairs = recipe.pairs(frame, given.objects, settings.pairs.name)
    if at is None:
        return pairs
    with suppress(ValueError):  # a date as it is written
        at = float(at)
    return pairs.at(at)


def _all_pairs(recipe: Recipe, objects: Objects) -> Pairs:
    """All pairs of the objects, on neutral ground."""
    names = recipe.feature_names(objects)
    if names["symmetric"]:
        raise InputError(
            f"got a model with the feature {names['symmetric'][0]!r} of pairs, which all pairs of"
            " objects do not have; expected --pairs FILE with the pairs to compare."
        )
    table, n = recipe.object_table(objects), len(objects.texts)
    flat = np.zeros((n * (n - 1) // 2, len(names["antisymmetric"])))
    return Pairs.complete(table, antisymmetric=flat, ids=objects.texts)


def _ranked(given: Asked, pairs: Pairs, settings: Settings) -> tuple[Any, dict[str, Any]]:
    method = _method(settings, _RANKINGS, "antisymmetric")
    if settings.threshold is not None:
        raise InputError("got --threshold for an antisymmetric model; expected a symmetric one.")
    _refuse_without_intervals(settings)
    ranking = rank_objects(
        given.model,
        pairs,
        ids=given.objects.ids,
        method=method,
        intervals="analytic" if settings.intervals else None,
        by=_clusters(given, settings),
        level=0.9 if settings.level is None else settings.level,
    )
    content = {
        "objects": len(ranking),
        **given.meaning(),
        "best": list(ranking.ids[ranking.order[:5]]),
        "explained by the ranking": 1.0 - ranking.cyclic_share,
        "cyclic": ranking.cyclic_share,
        "triangles that go round": f"{ranking.cycles.n_cyclic} of {ranking.cycles.n_triangles}",
    }
    return ranking.to_frame(), content | _certainty(ranking)


def _refuse_without_intervals(settings: Settings) -> None:
    """Refuse what only intervals, effects or judges go by, where none of them is asked for."""
    if settings.level is not None and not (settings.intervals or settings.effects):
        raise InputError("got --level without --intervals or --effects; expected one of them.")
    if settings.by is not None and not (settings.intervals or settings.effects or settings.judges):
        raise InputError(
            f"got --by {settings.by} without --intervals, --effects or --judges; expected one of them:"
            " a ranking alone does not go by it."
        )
    if settings.training is not None and settings.by in (None, "object"):
        raise InputError(
            "got --training without --by COL; expected the column of that table whose rows hang"
            " together, or no table."
        )


def _certainty(ranking: Ranking) -> dict[str, Any]:
    """What is certain about a ranking, and which parts of it stand apart."""
    content: dict[str, Any] = {}
    if ranking.parts.n_components > 1:
        content["parts ranked apart"] = ranking.named_parts()
    sure = ranking.certainty
    if sure is not None:
        lead = ranking.order[0]
        tied = [row for row in ranking.order if not (sure.ahead[lead, row] or row == lead)]
        tied = [row for row in tied if ranking.components[row] == ranking.components[lead]]
        content["level of intervals"] = sure.level
        content["leader is the best with probability"] = float(sure.chance_best[lead])
        content["tied with the leader"] = list(ranking.ids[tied]) or "nobody"
    return content


def _effects(given: Asked, settings: Settings) -> Any:
    """A table of effects; objects known by their names alone are in the ranking."""
    names = given.recipe.feature_names(given.objects)
    kinds = ["symmetric", "antisymmetric"] + ([] if given.recipe.identity else ["objects"])
    found = effects(
        given.model,
        clusters=_clusters(given, settings),
        level=0.9 if settings.level is None else settings.level,
        kinds=kinds,
        names={kind: list(columns) for kind, columns in names.items()},
    )
    return found.to_frame()


def _judges(given: Asked, settings: Settings) -> Any:
    """A table of judges, the least reliable first; rows are taken as they were shown."""
    if settings.by is None or settings.by == "object":
        raise InputError("got --judges without --by COL; expected the column that names the judge.")
    return judges(given.model, _clusters(given, settings)).to_frame()


def _clusters(given: Asked, settings: Settings) -> Any:
    """What rows of the training table hang together by; None if nothing is named."""
    if settings.by is None or settings.by == "object":
        return settings.by
    if settings.training is None:
        raise InputError(
            f"got --by {settings.by} without --training; expected the table that the model was trained"
            " on, which has that column: pass --training PAIRS."
        )
    frame = read_table(settings.training, given.recipe.columns.ends)
    column = column_of(frame, settings.by, settings.training.name)
    observed = getattr(machine_of(given.model), "observed_", None)
    n_rows = len(column) if observed is None else observed.n_rows
    label = given.recipe.columns.label
    if n_rows != len(column) and label is not None and label in frame.columns:
        names = label_names(given.model, given.recipe) or given.model.classes_.tolist()
        decided = {text_of(name) for name in (names[0], names[-1])}
        column = column[frame[label].map(text_of).isin(decided).to_numpy()]
    if n_rows != len(column):
        raise InputError(
            f"got {len(column)} rows in {settings.training.name}; expected the {n_rows} that the model"
            " was trained on: pass the same table."
        )
    return column.map(text_of).to_numpy(dtype=object).astype(str)


def _grouped(given: Asked, pairs: Pairs, settings: Settings) -> tuple[Any, dict[str, Any]]:
    for name in ("intervals", "level", "by", "training", "effects", "judges"):
        if getattr(settings, name) not in (None, False):
            raise InputError(
                f"got --{name} for a symmetric model; expected an antisymmetric one: groups have no"
                " intervals or effects."
            )
    model, objects = given.model, given.objects
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


# ``pairity suggest`` ----------------------------------------------------------------------------


def run_suggest(settings: Settings) -> None:
    """Read, choose, write, say."""
    if settings.top is not None and settings.strategy != "top":
        raise InputError(f"got --top with --strategy {settings.strategy}; expected --strategy top.")
    with asked(settings) as given:
        frame = _table_of_pairs(given, settings)
        pool = _compared(given, settings, frame)
        found = suggest(
            given.model,
            pool,
            settings.number,
            settings.strategy,
            top=settings.top or 10,
            costs=_costs(settings, frame),
            asked=None if settings.asked is None else given.pairs_in(settings.asked),
        )
        table = found.to_frame()
        results = [name for name in table.columns if name not in ("first", "second")]
        refuse_taken(results, given.recipe)
        ids, (first, second) = given.objects.ids, given.recipe.columns.ends
        ends = {first: ids[found.pairs.first], second: ids[found.pairs.second]}
        columns = ends | {name: table[name] for name in results}
        given.write(pd.DataFrame(columns), settings.output)
    shown = [" - ".join(map(str, pair)) for pair in zip(*ends.values(), strict=True)]
    content: dict[str, Any] = {
        **given.meaning(),
        "candidates": len(pool),
        "suggested": len(found),
        "strategy": settings.strategy,
        "first of them": shown[:3],
        "table": "standard output" if settings.to_stdout else str(settings.output),
    }
    say(settings, f"what to ask after {settings.model}", content)


def _costs(settings: Settings, frame: Any) -> Any:
    if settings.cost is None:
        return None
    if frame is None:
        raise InputError("got --cost without POOL; expected the table that has the column.")
    return column_of(frame, settings.cost, settings.pairs.name).to_numpy(dtype=np.float64)
