"""``pairity suggest``: which pairs to ask about next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pairity.active import suggest
from pairity.app.cli.ask_commands import Asked, asked, refuse_taken
from pairity.app.cli.errors import InputError
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.rank_command import all_pairs
from pairity.io import read_table
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import column_of


def run_suggest(settings: Settings) -> None:
    """Read, choose, write, say."""
    if settings.top is not None and settings.strategy != "top":
        raise InputError(f"got --top with --strategy {settings.strategy}; expected --strategy top.")
    with asked(settings) as given:
        pool = all_pairs(given.recipe, given.objects, settings)
        found = suggest(
            given.model,
            pool,
            settings.number,
            settings.strategy,
            top=settings.top or 10,
            costs=_costs(settings, given),
            asked=_not_again(settings, given),
        )
        table = found.to_frame()
        results = [name for name in table.columns if name not in ("first", "second")]
        refuse_taken(results, given.recipe)
        ids = given.objects.ids
        ends = {
            name: ids[end]
            for name, end in zip(
                given.recipe.columns.ends, (found.pairs.first, found.pairs.second), strict=True
            )
        }
        columns = {**ends, **{name: table[name] for name in results}}
        given.write(pd.DataFrame(columns), settings.output)
    content: dict[str, Any] = {
        **given.meaning(),
        "candidates": len(pool),
        "suggested": len(found),
        "strategy": settings.strategy,
        "first of them": [" - ".join(map(str, pair)) for pair in zip(*ends.values(), strict=True)][
            :3
        ],
        "table": "standard output" if settings.to_stdout else str(settings.output),
    }
    say(settings, f"what to ask after {settings.model}", content)


def _costs(settings: Settings, given: Asked) -> Any:
    if settings.cost is None:
        return None
    if settings.pairs is None:
        raise InputError("got --cost without POOL; expected the table that has the column.")
    frame = read_table(settings.pairs, given.recipe.columns.ends)
    return column_of(frame, settings.cost, settings.pairs.name).to_numpy(dtype=np.float64)


def _not_again(settings: Settings, given: Asked) -> Pairs | None:
    """Pairs of a table of which the ids alone count."""
    if settings.asked is None:
        return None
    frame = read_table(settings.asked, given.recipe.columns.ends)
    pairs = given.recipe.pairs(frame, given.objects, settings.asked.name)
    return pairs
