"""Tables and figures of ``docs/scale.md`` from the result files."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.tables import markdown_table

from benchmarks.scale import costs

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
#: Work that a fit does in all, in passes: what the fit on 20 M pairs took, over its time per pass.
BILLION = {"pairs": 1e9, "objects": 1e6, "rank": 256.0, "workers": 100.0}
#: Dollars for one core and one hour: a list price of general machines, an assumption.
PRICE = 0.05


def read(results: Path, name: str) -> dict | None:
    path = results / f"scale-{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def tables(results: Path) -> str | None:
    """Everything that was measured."""
    parts = [
        make(found)
        for name, make in (
            ("one-process", one_process_table),
            ("curve", curve_table),
            ("cluster", cluster_tables),
        )
        if (found := read(results, name)) is not None
    ]
    return "\n".join(parts) if parts else None


def one_process_table(kept: dict) -> str:
    shown = []
    for row in kept["found"]:
        name = "Pairity, r = " if row["name"] == "ours" else f"Nystroem + {row['name']}, R = "
        if "accuracy" not in row:
            why = (
                f"stopped after {row['stopped after, s']:.0f} s"
                if "failed" not in row
                else "failed"
            )
            shown.append([f"{name}{row['size']:,}", why, "", "", ""])
            continue
        gap = f"{row['relative gap']:.1e}" if "relative gap" in row else ""
        shown.append(
            [
                f"{name}{row['size']:,}",
                f"{row['fit, s']:.1f} s",
                f"{100 * row['accuracy']:.2f} %",
                f"{row['peak memory, MB'] / 1000:.1f} GB",
                gap,
            ]
        )
    lines = ["### One process: 1 M pairs of 20,000 objects", ""]
    lines += markdown_table(["candidate", "training", "test accuracy", "peak memory", "gap"], shown)
    return "\n".join([*lines, _machine(kept)])


def curve_table(kept: dict) -> str:
    exact = kept["found"]["exact"]
    shown = [
        [
            f"r = {row['rank']:,}",
            f"{row['fit, s']:.1f} s",
            f"{100 * row['accuracy']:.2f} %",
            f"{100 * (row['accuracy'] - exact['accuracy']):+.2f}",
            f"{100 * row['trace lost']:.2f} %",
            f"{row['relative gap']:.1e}",
        ]
        for row in kept["found"]["ranks"]
    ]
    last = [
        "exact engine",
        f"{exact['fit, s']:.1f} s",
        f"{100 * exact['accuracy']:.2f} %",
        "",
        "",
        f"{exact['relative gap']:.1e}",
    ]
    header = ["features", "training", "test accuracy", "points beside exact", "trace lost", "gap"]
    lines = ["### Features and accuracy: 200,000 pairs of 2,000 objects", ""]
    return "\n".join([*lines, *markdown_table(header, [*shown, last]), _machine(kept)])


def cluster_tables(kept: dict) -> str:
    found = kept["found"]
    rows = found["passes"]
    predicted = costs.left_out(rows)
    shown = [
        [
            f"{row['pairs'] / 1e6:.0f} M",
            f"{row['objects']:,}",
            f"{row['rank']}",
            f"{row['pass, s']:.2f} s",
            f"{said:.2f} s",
            f"{100 * (said / row['pass, s'] - 1):+.0f} %",
        ]
        for row, said in zip(rows, predicted, strict=True)
    ]
    header = ["pairs", "objects", "r", "a pass", "predicted from the others", "off by"]
    lines = ["### Two workers: time of a pass", "", *markdown_table(header, shown)]
    lines += [
        "![time of a pass](images/scale-passes.png)",
        "",
        *_fit_lines(found),
        *_billion(found),
    ]
    return "\n".join([*lines, _machine(kept)])


def _fit_lines(found: dict) -> list[str]:
    fit = found["fit"]
    facts = [
        ["pairs, objects, r", f"{found['n_pairs']:,}, {found['n_objects']:,}, {found['rank']}"],
        ["workers", "2, one core and 1.5 GB each"],
        ["training", f"{fit['fit, s']:.0f} s, {fit['steps']} steps"],
        ["relative duality gap", f"{fit['relative gap']:.1e} (1e-2 asked for)"],
        ["test accuracy", f"{100 * fit['test accuracy']:.2f} %"],
        ["predictions written", f"{fit['predictions, s']:.0f} s, {fit['predictions, MB']:.0f} MB"],
        [
            "peak memory of workers",
            " and ".join(f"{mb:,} MB" for mb in fit["memory"]["workers, MB"]),
        ],
        ["peak memory of the process that asks", f"{fit['memory']['this process, MB']:,} MB"],
    ]
    beside = found.get("against one process")
    if beside:
        facts += [
            ["1 M of the pairs, two workers / one process: objective",
             " / ".join(f"{value:,.1f}" for value in beside["objectives"])],
            ["the same: decisions apart, mean (their spread)",
             f"{beside['decisions apart, mean']:.1e} ({beside['decisions, spread']:.2f})"],
            ["the same: labels that differ", f"{100 * beside['labels that differ']:.3f} %"],
        ]  # fmt: skip
    return ["### Two workers: a whole fit", "", *markdown_table(["", ""], facts)]


def _billion(found: dict) -> list[str]:
    rows = found["passes"]
    constants = costs.fit(rows)
    largest = max(
        (row for row in rows if row["rank"] == found["rank"]), key=lambda row: row["pairs"]
    )
    work = found["fit"]["fit, s"] / constants.seconds(
        largest["pairs"], largest["objects"], largest["rank"], largest["workers"]
    )
    a_pass = constants.seconds(**BILLION)
    minutes = a_pass * work / 60.0
    sizes = BILLION["pairs"], BILLION["objects"], BILLION["rank"], BILLION["workers"]
    memory = costs.memory_bytes(*sizes) / 1e9
    traffic = costs.traffic_bytes(BILLION["rank"], BILLION["workers"]) / 1e6
    dollars = minutes / 60.0 * BILLION["workers"] * PRICE
    facts = [
        ["a, a pair", f"{1e6 * constants.per_pair:.2f} microseconds"],
        ["b, a pair and a feature", f"{1e9 * constants.per_feature:.2f} nanoseconds"],
        ["c, an object and a pair of features", f"{1e9 * constants.per_object:.3f} nanoseconds"],
        ["work of the fit above, in passes", f"{work:.0f}"],
        ["a pass over 10^9 pairs of 10^6 objects, r = 256, 100 workers", f"{a_pass:.0f} s"],
        ["the same work as the fit above", f"{minutes:.1f} minutes"],
        ["memory of a worker", f"{memory:.1f} GB"],
        ["sent in a pass", f"{traffic:.0f} MB"],
        [f"price at {PRICE:.2f} dollars a core and hour (assumed)", f"{dollars:.2f} dollars"],
    ]
    return ["### The cost model, and 10^9 pairs", "", *markdown_table(["", ""], facts)]


def _machine(kept: dict) -> str:
    return (
        "Machine: " + ", ".join(f"{key} {value}" for key, value in kept["machine"].items()) + ".\n"
    )


def draw(results: Path) -> None:
    """Figures of whatever was measured."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cluster, curve = read(results, "cluster"), read(results, "curve")
    if cluster is not None:
        found = cluster["found"]
        rows = [row for row in found["passes"] if row["rank"] == found["rank"]]
        rows = [row for row in rows if row["objects"] == found["n_objects"]]
        constants = costs.fit(found["passes"])
        figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
        pairs = [row["pairs"] / 1e6 for row in rows]
        axes.plot(pairs, [row["pass, s"] for row in rows], "o", label="measured")
        ends = [0.0, max(pairs)]
        line = [
            constants.seconds(1e6 * end, rows[0]["objects"], rows[0]["rank"], rows[0]["workers"])
            for end in ends
        ]
        axes.plot(ends, line, "-", label="cost model")
        axes.set(xlabel="pairs, millions", ylabel="seconds a pass", xlim=(0, None), ylim=(0, None))
        axes.legend(frameon=False)
        figure.savefig(IMAGES / "scale-passes.png", dpi=150)
        plt.close(figure)
    if curve is not None:
        rows, exact = curve["found"]["ranks"], curve["found"]["exact"]
        figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
        axes.semilogx([row["rank"] for row in rows], [100 * row["accuracy"] for row in rows], "o-")
        axes.axhline(100 * exact["accuracy"], color="black", lw=1, label="exact engine")
        axes.set(xlabel="features of an object", ylabel="test accuracy, %")
        axes.set_xticks([row["rank"] for row in rows], [str(row["rank"]) for row in rows])
        axes.minorticks_off()
        axes.legend(frameon=False)
        figure.savefig(IMAGES / "scale-accuracy.png", dpi=150)
        plt.close(figure)
