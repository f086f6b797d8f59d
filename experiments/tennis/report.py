"""Results of strengths that drift as tables: tennis beside Elo, football beside made features."""

from __future__ import annotations

from typing import Any

from experiments.tables import markdown_table


def tables(tennis: dict[str, Any], drifting: dict[str, Any], football: dict[str, Any]) -> str:
    """Everything that ``make tennis`` and ``make football`` have measured of drift."""
    return "\n".join([*_tennis(tennis), *_football(drifting, football)])


def _tennis(found: dict[str, Any]) -> list[str]:
    ours = found["drift"]
    plain = min(row["log_loss"] for row in found["ratings"] if row["elo"] == "plain")
    rows = [[f"Pairity: {ours['model']}", *_figures(ours), f"{ours['log_loss'] - plain:+.4f}"]]
    rows += [
        [
            f"{row['elo']} Elo, by {row['periods']}",
            *_figures(row),
            f"{row['log_loss'] - plain:+.4f}",
        ]
        for row in found["ratings"]
    ]
    lines = [
        f"**Tennis**, {found['matches']:,} matches from 28 August 2011 on, each foretold from all weeks"
        f" before it. The whole walk of {ours['processor seconds'] / 60:.0f} processor minutes peaks at"
        f" {ours['peak megabytes']:,.0f} MB.",
        "",
        *markdown_table(["", "log-loss", "accuracy", "beside the better plain Elo"], rows),
    ]
    names = [name for name in found["years"][0] if name not in ("year", "matches")]
    years = [
        [row["year"], f"{row['matches']:,}", *(f"{row[name]:.4f}" for name in names)]
        for row in found["years"]
    ]
    tried = [[row["model"], *_figures(row)] for row in found["candidates"]]
    return [
        *lines,
        "Log-loss year by year:",
        "",
        *markdown_table(["", "matches", *names], years),
        "What was tried on the last training year, foretold month by month:",
        "",
        *markdown_table(["", "log-loss", "accuracy"], tried),
    ]


def _football(drifting: dict[str, Any], football: dict[str, Any]) -> list[str]:
    """Drift alone beside models of made features, on the same matches."""
    split = football["splits"][0]
    name = split["split"]["name"]
    ours = drifting[name]
    methods = [*split["scores"], {"method": "**strengths that drift, and who is at home**", **ours}]
    rows = [
        [row["method"], f"{row['rps']:.4f}", f"{row['log-loss']:.4f}"]
        for row in sorted(methods, key=lambda row: -row["log-loss"])
    ]
    return [
        f"**Football**, {ours['matches']:,} international matches, {name}, foretold month by month; the"
        " other models go by ratings, or by features made of earlier results by hand.",
        "",
        *markdown_table(["", "ranked probability score", "log-loss"], rows),
    ]


def _figures(row: dict[str, Any]) -> list[str]:
    return [f"{row['log_loss']:.4f}", f"{100.0 * row['accuracy']:.1f} %"]
