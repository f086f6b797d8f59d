"""Results as tables: scores, differences to the reference with their errors, home advantage."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.football.protocol import MAIN, REFERENCE

#: The table of a page stands between these two lines.
BEGIN, END = "<!-- experiments/results/football.md -->", "<!-- end -->"
NAMES = {
    "decided games, logistic": "`PairDrawClassifier`, `PairLogistic` on decided games",
    "decided games, hinge": "`PairDrawClassifier`, `PairSVC` on decided games",
    "-1, 0 and 1, squared": "`PairDrawClassifier`, `PairRidge` on -1, 0, 1",
    "boosted trees, both orders": "boosted trees, trained and averaged over both orders",
}


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def score_table(result: dict) -> list[str]:
    """One row a forecaster; the default of PairDrawClassifier is in bold."""
    head = ["", "RPS", "difference", "log-loss", "difference", "most probable outcome is right"]
    lines = [_line(head), _line(["---"] * len(head))]
    for row in result["scores"]:
        name = NAMES.get(row["method"], row["method"])
        cells = [f"**{name}**" if row["method"] == MAIN else name]
        for score in ("rps", "log-loss"):
            cells.append(f"{row[score]:.4f}")
            difference, error = row[f"{score} difference"], row[f"{score} error"]
            same = row["method"] == REFERENCE
            cells.append("" if same else f"{difference:+.4f} ± {error:.4f}")
        lines.append(_line([*cells, f"{row['accuracy']:.1%}"]))
    return lines


def _percent(chances: list[float]) -> str:
    loss, drawn, win = (f"{chance:.0%}" for chance in chances)
    return f"win {win}, draw {drawn}, loss {loss}"


def split_text(result: dict) -> list[str]:
    """Title, scores and what was learnt of one split."""
    split, sizes, home = result["split"], result["sizes"], result["home"]
    swap, reliability = result["swap"], result["reliability"]
    errors = ", ".join(
        f"{name} {100 * reliability[name]['calibration error']:.1f}"
        for name in ("win", "draw", "loss")
    )
    learned = ", ".join(
        f"{year}: {block['points learned']:.0f} ({block['points tuned for Elo']:.0f})"
        for year, block in zip(split["starts"], home, strict=True)
    )
    return [
        f"**{split['name']}** ({sizes['test']:,} matches):",
        "",
        *score_table(result),
        "",
        f"Two equal teams, last block: {_percent(home[-1]['at home'])} at home,"
        f" {_percent(home[-1]['neutral'])} on neutral ground. Home advantage in rating points, as"
        f" learned before each block (as tuned for Elo): {learned}. Mean calibration error in"
        f" percent: {errors}. Probabilities that a swap does not mirror exactly:"
        f" {swap['not mirrored']} of {3 * sizes['test']:,}; rows that do not add up to 1:"
        f" {swap['sums that are not 1']}.",
        "",
    ]


def markdown(results: dict) -> str:
    """All splits."""
    lines: list[str] = []
    for result in results["splits"]:
        lines += split_text(result)
    return "\n".join(lines).rstrip() + "\n"


def with_table(page: str, text: str) -> str:
    """A page with the text between its two marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{text}{END}{rest.split(END, 1)[1]}"


def write(results: dict, folder: Path) -> None:
    """football.json and football.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "football.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    title = "# Football: win, draw and loss\n\n"
    about = (
        "Lower is better. Differences are to the tuned Elo with goal margins, match by match, with"
        " standard errors clustered by month. Written by `make football`.\n\n"
    )
    (folder / "football.md").write_text(title + about + markdown(results), encoding="utf-8")
