"""``python -m docs.making.tables``: bring the tables of pages up to date with the result files.

Pages hold their tables between two marks, so that they can be read in the repository as well;
what stands between them is computed here from ``benchmarks/results`` and ``experiments/results``
and from nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from benchmarks import everyday, memory, regret, scales
from benchmarks.report import PUBLISHED, growth_exponents, ratios
from benchmarks.scale import report as scale
from experiments.inference import report as inference
from experiments.matching import report as matching
from experiments.peers import report as peers
from experiments.quality import report as quality
from experiments.tables import markdown_table, with_tables
from experiments.tennis import report as drift

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks" / "results"
RESULTS = ROOT / "experiments" / "results"
REGRET = BENCHMARKS / "regret.json"
MEMORY = BENCHMARKS / "memory.json"
MATCHING, QUALITY = RESULTS / "matching.json", RESULTS / "quality.json"
DRIFT = [RESULTS / f"{name}.json" for name in ("tennis", "football-drift", "football")]
PEERS = RESULTS / "peers.json"


def runs() -> list[dict]:
    """Every run of ``make bench`` that is kept, the general one first."""
    paths = sorted(
        BENCHMARKS.glob("bench*.json"), key=lambda path: (path.stem != "bench", path.stem)
    )
    return [{"name": path.stem, **json.loads(path.read_text(encoding="utf-8"))} for path in paths]


def benchmark_tables() -> str:
    """Ratios, growth and measurements of every run."""
    lines: list[str] = []
    for run in runs():
        if run["name"].endswith("everyday"):
            lines += [*_everyday(run["rows"]), *_machine(run["machine"])]
            continue
        if run["name"].endswith("scales"):
            lines += [*_scales(run["rows"]), *_machine(run["machine"])]
            continue
        lines += [f"### Run `{run['name']}`", "", *_comparison(run["rows"]), *_growth(run["rows"])]
        lines += [*_measurements(run["rows"]), *_machine(run["machine"])]
    if REGRET.exists():
        found = json.loads(REGRET.read_text(encoding="utf-8"))
        lines += ["### Regret", "", regret.table(found["rows"], found["machine"])]
    if MEMORY.exists():
        found = json.loads(MEMORY.read_text(encoding="utf-8"))
        head = ["memory_limit", "problems", "refused", "above the limit", "largest increase"]
        lines += ["### Peak memory on the problems of the regret", ""]
        lines += [*markdown_table(head, memory.summary(found["rows"])), *_machine(found["machine"])]
    return "\n".join(lines)


def _everyday(rows: list[dict]) -> list[str]:
    """The many cells of everyday work, those of a kernel together."""
    head = ["kernel", "pairs", "loss", "training takes the quickest peer, median", "least"]
    title = (
        "### Everyday sizes: linear with logistic beside LogisticRegression, all else beside SVC"
    )
    return [title, "", *markdown_table(head, everyday.table(rows))]


def _scales(rows: list[dict]) -> list[str]:
    """How fits of raw columns ended."""
    head = ["kernel", "certificate", "advice", "without a word", "longest, s", "most steps"]
    title = "### Columns of scales from 1e-3 to 1e6 in one table: how fits end"
    return [title, "", *markdown_table(head, scales.summary(rows))]


def _comparison(rows: list[dict]) -> list[str]:
    """How many times longer the peers take."""
    predictions = {(task, system): ratio for task, system, ratio in ratios(rows, "predict_seconds")}
    found = [
        [task, system, ratio, predictions.get((task, system), "")]
        for task, system, ratio in ratios(rows)
    ]
    for row in rows:
        if row["task"] in PUBLISHED:
            seconds, source = PUBLISHED[row["task"]]
            ratio = f"{seconds / row['fit_seconds']:,.0f}x"
            found.append([row["task"], f"published ({source})", ratio, ""])
    if not found:
        return []
    return markdown_table(["work", "peer", "training takes", "prediction takes"], found)


def _growth(rows: list[dict]) -> list[str]:
    shown = [f"{name} {value:.2f}" for name, value in growth_exponents(rows).items()]
    if not shown:
        return []
    return [f"Training time grows as a power of the number of pairs: {', '.join(shown)}.", ""]


def _measurements(rows: list[dict]) -> list[str]:
    columns: dict[str, Callable[[dict], str]] = {
        "work": lambda row: row["task"],
        "system": lambda row: row["system"],
        "pairs": lambda row: f"{row['n_pairs']:,}",
        "training, s": lambda row: (
            ("> " if row.get("unfinished") else "") + f"{row['fit_seconds']:.3g}"
        ),
        "KKT violation": lambda row: _shown(row, "violation", ".1e"),
        "peak, MB": lambda row: _shown(row, "peak_mb", ".0f"),
        "prediction, s": lambda row: _shown(row, "predict_seconds", ".3g"),
    }
    return markdown_table(list(columns), [[cell(row) for cell in columns.values()] for row in rows])


def _shown(row: dict, key: str, form: str) -> str:
    return format(row[key], form) if key in row else ""


def _machine(machine: dict) -> list[str]:
    return ["Machine: " + ", ".join(f"{key} {value}" for key, value in machine.items()) + ".", ""]


#: Work that the README shows: its name there, the run, the name in the run, the peer.
README_ROWS = (
    ("all pairs of 300 objects, antisymmetric", "bench", "complete 300, antisymmetric", "intelex"),
    ("all pairs of 300 objects, symmetric", "bench", "complete 300, symmetric", "intelex"),
    ("all pairs of 150 objects, C = 100", "bench", "complete 150, C = 100", "intelex"),
    ("few pairs per object", "bench", "sparse 20000 of 1,000 objects", "intelex"),
    ("few pairs per object", "bench", "sparse 5000 of 1,000 objects", "intelex"),
    ("everyday size", "bench", "small 1000, antisymmetric", "scikit-learn, halved Gram"),
    ("everyday size", "bench", "small 200, symmetric", "scikit-learn, halved Gram"),
)
_PEERS = {
    "intelex": "scikit-learn-intelex",
    "scikit-learn, halved Gram": "SVC on the halved Gram matrix",
}


def readme_table() -> str:
    """Training times beside those of a peer, where the lead is large and where it is not."""
    times = {
        (run["name"], row["task"], row["system"]): row for run in runs() for row in run["rows"]
    }
    found = []
    for shown, run, task, peer in README_ROWS:
        ours, theirs = times[run, task, "pairity"], times[run, task, peer]
        ratio = theirs["fit_seconds"] / ours["fit_seconds"]
        found.append(
            [
                shown,
                f"{ours['n_pairs']:,}",
                _seconds(ours["fit_seconds"]),
                f"{_seconds(theirs['fit_seconds'])} ({_PEERS[peer]})",
                f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x",
            ]
        )
    return "\n".join(markdown_table(["training", "pairs", "Pairity", "peer", "ratio"], found))


def _seconds(value: float) -> str:
    return f"{1000.0 * value:.2g} ms" if value < 0.1 else f"{value:.2g} s"


def quality_tables() -> str | None:
    """The tables of ``make quality``; None before its first whole run."""
    if not QUALITY.exists():
        return None
    return quality.markdown(json.loads(QUALITY.read_text(encoding="utf-8")))


def matching_tables() -> str:
    """What ``python -m experiments.matching`` has measured."""
    return matching.tables(json.loads(MATCHING.read_text(encoding="utf-8")))


def inference_tables() -> str:
    """What ``python -m experiments.inference`` has measured."""
    return inference.markdown(json.loads(inference.RESULTS.read_text(encoding="utf-8")))


def drift_tables() -> str | None:
    """What ``make tennis`` and ``make football`` have measured; None before their first whole runs."""
    if not all(path.exists() for path in DRIFT):
        return None
    return drift.tables(*(json.loads(path.read_text(encoding="utf-8")) for path in DRIFT))


#: Pages with tables, and what computes them.
PAGES: dict[str, Callable[[], str | None]] = {
    "README.md": readme_table,
    "docs/benchmarks.md": benchmark_tables,
    "docs/quality.md": quality_tables,
    "docs/matching.md": matching_tables,
    "docs/uncertainty.md": inference_tables,
    "docs/time.md": drift_tables,
    "docs/how-it-compares.md": lambda: peers.tables(json.loads(PEERS.read_text(encoding="utf-8"))),
    "docs/scale.md": lambda: scale.tables(BENCHMARKS),
}


def updated(page: Path, tables: str | None) -> str:
    """The text of a page with its tables as they should be."""
    text = page.read_text(encoding="utf-8")
    return text if tables is None else with_tables(text, tables)


def main() -> None:
    """Rewrite the pages whose tables are out of date."""
    for name, tables in PAGES.items():
        page = ROOT / name
        text = updated(page, tables())
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"tables of {page.relative_to(ROOT)} brought up to date")


if __name__ == "__main__":
    main()
