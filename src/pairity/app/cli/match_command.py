"""``pairity match``: from raw tables to matched pairs and groups."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pairity.app.cli.console import make_console, show_stages
from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import STANDARD_OUTPUT, Settings
from pairity.app.cli.outputs import new_paths
from pairity.io import read_table, write_table
from pairity.io.tables import table_text
from pairity.matching import Matches, match
from pairity.pairs.from_tables import column_of

#: Pairs to label next.
_SUGGESTED = 20


def run_match(settings: Settings) -> None:
    """Read, match, write, say."""
    _refuse_unused(settings)
    start = time.perf_counter()
    with (
        new_paths(settings.outputs(), settings.inputs(), force=settings.force) as staged,
        show_stages(make_console(), "reading", 3) as enter,
        bad_input(),
    ):
        tables = [read_table(path, None) for path in _given(settings)]  # a code keeps its zeros
        labels, held_out = _labels(settings.labels, settings), _labels(settings.held_out, settings)
        enter("matching")
        found = match(
            *tables,
            labels=labels,
            id=settings.id,
            kinds=_kinds(settings.kind),
            ignore=settings.ignore,
            neighbours=settings.neighbours,
            constraint=settings.constraint,
            threshold=settings.threshold,
        )
        enter("writing")
        scores = {} if held_out is None else found.evaluate(held_out)
        written = {
            settings.output: found.to_frame,
            settings.groups_output: found.groups_frame,
            settings.suggestions: lambda: found.suggest(settings.number or _SUGGESTED),
        }
        places = dict(zip(settings.outputs(), staged, strict=True))
        for path, make in written.items():
            if path == STANDARD_OUTPUT:
                print(table_text(make()), end="")
            elif path is not None:
                write_table(make(), places[path])
    content = _summary(settings, found, scores)
    content["seconds"] = round(time.perf_counter() - start, 2)
    say(settings, f"records of {' and '.join(map(str, _given(settings)))}", content)


def _refuse_unused(settings: Settings) -> None:
    """Refuse options of tables that are not given."""
    for name in ("first", "second", "label"):
        if getattr(settings, name) is not None and not (settings.labels or settings.held_out):
            raise InputError(
                f"got --{name} without --labels or --held-out; expected the table that has the column."
            )
    if settings.number is not None and settings.suggestions is None:
        raise InputError("got --number without --suggestions; expected the file of the pairs.")


def _given(settings: Settings) -> list[Path]:
    return [path for path in (settings.left, settings.right) if path is not None]


def _labels(path: Path | None, settings: Settings) -> Any:
    """Two columns of ids, and that of the labels where there is one."""
    if path is None:
        return None
    table = read_table(path, None)
    defaults = [*map(str, table.columns), None, None]
    given = settings.first, settings.second, settings.label
    chosen = [name or default for name, default in zip(given, defaults, strict=False)]
    if chosen[1] is None:
        raise InputError(
            f"got one column in {path}; expected two of ids, and one that says whether they match."
        )
    columns = [column_of(table, name, path.name) for name in chosen if name is not None]
    return tuple(column.tolist() for column in columns)


def _kinds(given: tuple[str, ...]) -> dict[str, str]:
    kinds = {}
    for entry in given:
        name, sign, kind = entry.rpartition("=")
        if not sign:
            raise InputError(f"got --kind {entry}; expected COL=KIND, as in phone=code.")
        kinds[name] = kind
    return kinds


def _summary(settings: Settings, found: Matches, scores: dict[str, Any]) -> dict[str, Any]:
    records, known = found.records, found.labelled
    left, right = records.sides()
    if known is None:
        learnt = f"no labels: evidence weighed by EM in {found.features.mixture.n_steps} steps"
    else:
        learnt = f"{len(known)} labelled pairs, {int(known.matches.sum())} of them matches"
    content: dict[str, Any] = {
        "records": [len(left), len(right)] if records.linking else len(left),
        "columns": records.kinds,
        "not compared": records.left_out or None,
        "candidates": f"{len(found.candidates)} of {found.candidates.n_possible} pairs",
        "candidates among labelled matches": _text(found.candidate_recall),
        "learnt from": learnt,
        "constraint": found.constraint,
        "threshold (log-odds)": found.threshold,
        "labelled pairs held out in turn": None
        if found.quality is None
        else found.quality.to_dict(),
        "matches": found.n_matches,
        "expected precision": found.expected_precision if found.model is None else None,
        "groups of several records": int((found.groups_frame().groupby("group").size() > 1).sum()),
    }
    if scores:
        content |= {
            "held-out pairs": scores["pairs"].to_dict(),
            "held-out pairs, by the matches": scores["matches"].to_dict(),
            "candidates among held-out matches": _text(scores["candidates"]),
        }
    content |= {
        "pairs": "standard output" if settings.to_stdout else str(settings.output),
        "groups": _text(settings.groups_output),
        "to label next": _text(settings.suggestions),
    }
    return {name: value for name, value in content.items() if value is not None}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
