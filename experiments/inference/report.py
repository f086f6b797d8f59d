"""Tables of the results, in Markdown, as docs/uncertainty.md shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.inference.coverage import CASES, MEASURES
from experiments.inference.speed import COMMAND
from experiments.tables import markdown_table

RESULTS = Path(__file__).resolve().parents[1] / "results" / "inference.json"


def markdown(results: dict[str, Any]) -> str:
    """All tables, with a line before each."""
    parts = [
        [
            "Coverage of 90 % intervals, in per cent, of scores, of effects of style columns and of",
            "predictions; the share of simulations in which all scores lie in their simultaneous",
            "intervals, and all true ranks in the ranges of ranks. With standard errors.",
            "",
            *_coverage(results["coverage"]),
            *_regression(results["regression"]),
        ],
        [
            "Votes that suggestions need, in per cent of random votes, to be as good as all of these:",
            "in the order of all pairs of objects, and in the ten leaders. In brackets, what random and",
            "suggested votes miss at the end, in per cent.",
            "",
            *_suggestions(results["suggestions"]),
        ],
        [
            f"Judges, {results['judges']['seeds']} seeds: of 40 with 60 votes each, 5 answer at random"
            " and 5 always take",
            "the first. The scores are nearer to the truth by judge in"
            f" {results['judges']['ranking better in']} of them.",
            "",
            *_judges(results["judges"]["measures"]),
        ],
    ]
    if "speed" in results:
        parts.append(_speed(results["speed"]))
    return "\n".join(line for part in parts for line in part)


def _coverage(rows: dict[str, Any]) -> list[str]:
    header = ["", *(name.replace("_", " ") for name in MEASURES), "runs"]
    cells = [
        [name, *(_share(rows[name], measure) for measure in MEASURES), _runs(rows[name])]
        for name in (case.name for case in CASES)
        if name in rows
    ]
    return markdown_table(header, cells)


def _runs(row: dict[str, Any]) -> str:
    ranked = "" if row["n_ranked"] == row["n_runs"] else f" ({row['n_ranked']} with scores)"
    return f"{row['n_runs']}{ranked}"


def _share(row: dict[str, Any], measure: str) -> str:
    return f"{100 * row['shares'][measure]:.1f} ± {100 * row['errors'][measure]:.1f}"


def _regression(found: dict[str, float]) -> list[str]:
    return [
        f"Ridge regression, a function drawn from its kernel: {100 * found['right']:.1f} %; a kernel"
        f" three times as wide: {100 * found['wide']:.1f} % ({found['runs']} runs).",
        "",
    ]


def _suggestions(rows: dict[str, Any]) -> list[str]:
    header = [
        "votes",
        "random votes",
        "at a time",
        "for the order, %",
        "for the ten leaders, %",
        "seeds",
    ]
    cells = [
        [
            name,
            *(str(row[key]) for key in ("random votes", "batch")),
            *(_needed(row[key]) for key in ("order", "leaders")),
            str(row["seeds"]),
        ]
        for name, row in rows.items()
    ]
    return markdown_table(header, cells)


def _needed(found: dict[str, Any]) -> str:
    missed = ", ".join(
        f"{100 * found[key]:.1f}" for key in ("missed at random", "missed by suggestions")
    )
    if found["share"] is None:
        return f"not reached ({missed})"
    spread = "" if found["spread"] is None else f" ± {100 * found['spread']:.0f}"
    return f"{100 * found['share']:.0f}{spread} ({missed})"


def _judges(rows: dict[str, Any]) -> list[str]:
    cells = [[name, f"{row['mean']:.3f}", f"{row['worst']:.3f}"] for name, row in rows.items()]
    return markdown_table(["", "mean", "worst seed"], cells)


def _speed(found: dict[str, Any]) -> list[str]:
    steps = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found["steps"].items())
    rows = {
        f"a million votes on 100 models, 4 style columns, 200 judges ({steps})": found["million"],
        "votes on 59 language models, 2 style columns, 124 judges, in the shell": found["shell"],
    }
    header = ["", "seconds", "processor seconds", "megabytes"]
    cells = [
        [
            name,
            f"{row['seconds']:.1f}",
            f"{row['processor seconds']:.1f}",
            f"{row['megabytes']:.0f}",
        ]
        for name, row in rows.items()
    ]
    return [
        "Leaderboards with clustered intervals and effects of style, with what Python takes to start;",
        "seconds are those of one core beside other work:",
        "",
        *markdown_table(header, cells),
        f"The second is `pairity {COMMAND}`.",
    ]
