"""Results as tables: means and spreads, ours against the best peer, swap violation, seconds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.quality.methods import OURS, PART
from experiments.tables import markdown_table

RESULTS = Path(__file__).resolve().parents[1] / "results"
PAGE = RESULTS.parents[1] / "docs" / "quality.md"
#: Measures: title, factor, digits, whether more is better.
MEASURES = {
    "accuracy": ("accuracy, %", 100.0, 1, True),
    "auc": ("AUC, %", 100.0, 1, True),
    "log_loss": ("log-loss, thousandths", 1000.0, 0, False),
}


@dataclass(frozen=True)
class Comparison:
    """Ours less the best peer on the same splits; positive is better for ours."""

    peer: str
    gain: float
    error: float

    @property
    def holds(self) -> bool:
        """Within one standard error of the best peer, or better."""
        return self.gain >= -self.error


def values_of(results: dict, task: str, method: str, measure: str) -> np.ndarray:
    """One number a split, in the order of splits; empty if the method was not run."""
    factor = MEASURES[measure][1]
    found = [row for row in results["results"] if row["task"] == task and row["method"] == method]
    return factor * np.array([row["averaged"][measure] for row in found])


def best_method(results: dict, task: str, measure: str, methods: list[str]) -> str | None:
    """The method of best mean."""
    means = {name: values_of(results, task, name, measure) for name in methods}
    means = {name: float(values.mean()) for name, values in means.items() if len(values)}
    choose = max if MEASURES[measure][3] else min
    return choose(means, key=means.__getitem__) if means else None


def compare(results: dict, task: str, measure: str) -> Comparison | None:
    """Ours against the peer of best mean, chosen in hindsight, on the splits that both have."""
    peers = [name for name in results["methods"] if name not in (OURS, PART)]
    best = best_method(results, task, measure, peers)
    if best is None:
        return None
    factor = MEASURES[measure][1]
    ours, theirs = (
        {row["split"]: factor * row["averaged"][measure] for row in _of(results, task, method)}
        for method in (OURS, best)
    )
    apart = np.array([ours[split] - theirs[split] for split in ours if split in theirs])
    if len(apart) < 2:
        return None
    sign = 1.0 if MEASURES[measure][3] else -1.0
    error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
    return Comparison(best, sign * float(apart.mean()), error)


def _of(results: dict, task: str, method: str | None = None) -> list[dict]:
    return [
        row
        for row in results["results"]
        if row["task"] == task and (method is None or row["method"] == method)
    ]


def _sizes(results: dict) -> list[str]:
    rows = []
    for task in results["tasks"]:
        some = _of(results, task["name"])
        means = [f"{np.mean([row[key] for row in some]):.0f}" for key in ("n_train", "n_test")]
        numbers = [str(task[key]) for key in ("n_objects", "n_pairs")]
        splits = str(len({row["split"] for row in some}))
        kinds = [task["question"], task["symmetry"], task["setting"]]
        rows.append([f"`{task['name']}`", *kinds, *numbers, *means, splits])
    header = ["task", "question", "labels", "setting", "objects", "pairs"]
    return markdown_table([*header, "trained on", "tested on", "splits"], rows)


def _means(results: dict, measure: str) -> list[str]:
    digits = MEASURES[measure][2]
    rows = []
    for task in results["tasks"]:
        best = best_method(results, task["name"], measure, results["methods"])
        cells = [f"`{task['name']}`"]
        for method in results["methods"]:
            values = values_of(results, task["name"], method, measure)
            shown = f"{values.mean():.{digits}f}" if len(values) else ""
            if len(values) > 1:
                shown += f" ± {values.std(ddof=1):.{digits}f}"
            cells.append(f"**{shown}**" if method == best else shown)
        rows.append(cells)
    return markdown_table(["", *results["methods"]], rows)


def _comparisons(results: dict) -> list[str]:
    rows = []
    for task in results["tasks"]:
        cells = [f"`{task['name']}`"]
        for measure, (_, _, digits, _) in MEASURES.items():
            found = compare(results, task["name"], measure)
            if found is None:
                cells.append("")
                continue
            shown = f"{found.gain:+.{digits}f} ± {found.error:.{digits}f} ({found.peer})"
            cells.append(shown if found.holds else f"**{shown}**")
        rows.append(cells)
    return markdown_table(["", *(measure[0] for measure in MEASURES.values())], rows)


def _by_method(results: dict, cell: Callable[[list[dict]], str]) -> list[str]:
    rows = [
        [
            f"`{task['name']}`",
            *(
                cell(some) if (some := _of(results, task["name"], method)) else ""
                for method in results["methods"]
            ),
        ]
        for task in results["tasks"]
    ]
    return markdown_table(["", *results["methods"]], rows)


def _violation(some: list[dict]) -> str:
    found = [row["violation"] for row in some]
    largest = max(row["largest"] for row in found)
    mean, flipped = (np.mean([row[key] for row in found]) for key in ("mean", "flipped"))
    return "0" if largest == 0.0 else f"{largest:.2g}, {mean:.1g}, {100.0 * flipped:.1f} %"


def _seconds(some: list[dict]) -> str:
    return f"{np.mean([row['seconds'] for row in some]):.1f}"


#: The peer whose time the price is measured in.
PRICED_IN = "lightgbm"


def _prices(results: dict) -> list[str]:
    """Time over that of boosted trees, and peak memory."""
    rows = []
    for task in results["tasks"]:
        unit = sum(row["seconds"] for row in _of(results, task["name"], PRICED_IN))
        cells = [f"`{task['name']}`"]
        for method in (OURS, PART):
            some = _of(results, task["name"], method)
            known = unit > 0.0 and len(some) == len(_of(results, task["name"], PRICED_IN))
            cells.append(f"{sum(row['seconds'] for row in some) / unit:.1f}" if known else "")
            sizes = [row["megabytes"] for row in some if row.get("megabytes")]
            cells.append(f"{max(sizes):.0f}" if sizes else "")
        rows.append(cells)
    header = ["", f"{OURS}, times {PRICED_IN}", "peak MB", f"{PART}, times {PRICED_IN}", "peak MB"]
    return [
        "**Price**: processor time as a multiple of that of tuned LightGBM in the same run, and the"
        " peak of resident memory (libraries and data included).",
        "",
        *markdown_table(header, rows),
    ]


def _averaging(results: dict) -> list[str]:
    """What averaging the two orders does to the log-loss of methods that violate the swap."""
    rows = []
    for method in results["methods"]:
        some = [row for row in results["results"] if row["method"] == method]
        if not any(row["violation"]["largest"] > 1e-9 for row in some):
            continue
        gains = [
            [row["plain"][key] - row["averaged"][key] for row in some]
            for key in ("log_loss", "accuracy")
        ]
        rows.append(
            [method, f"{1000.0 * np.mean(gains[0]):+.2f}", f"{-100.0 * np.mean(gains[1]):+.2f}"]
        )
    return markdown_table(
        ["", "log-loss lower by, thousandths", "accuracy higher by, points"], rows
    )


def markdown(results: dict) -> str:
    """All tables, with a line on each."""
    lines = _sizes(results)
    for measure, (title, _, _, more) in MEASURES.items():
        best = "highest" if more else "lowest"
        lines += [
            f"**{title[0].upper()}{title[1:]}**, mean ± standard deviation over splits; {best} in bold.",
            "",
            *_means(results, measure),
        ]
    if OURS in results["methods"] and len(results["methods"]) > 1:
        lines += [
            "**Ours less the best peer** (of that measure, chosen in hindsight), signed so that"
            " positive is better for us, ± standard error of the paired differences; losses of"
            " more than one standard error in bold.",
            "",
            *_comparisons(results),
        ]
    lines += [
        "**Swap violation** of the plain probabilities: largest, mean, share of contradicting"
        " decisions; 0 where the two orders agree to the last bit.",
        "",
        *_by_method(results, _violation),
        "What averaging the two orders gains, over all tasks:",
        "",
        *_averaging(results),
        "**Processor seconds** to tune and fit, mean over splits.",
        "",
        *_by_method(results, _seconds),
        *_prices(results),
    ]
    for name, reason in results["skipped"].items():
        lines += [f"`{name}` was skipped: {reason}.", ""]
    return "\n".join(lines)


def write_tables(results: dict, folder: Path) -> None:
    """JSON and Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1)
    (folder / "quality.json").write_text(text + "\n", encoding="utf-8")
    (folder / "quality.md").write_text(f"# Quality\n\n{markdown(results)}", encoding="utf-8")
