"""The tables of docs/matching.md, from the measured results."""

from __future__ import annotations

import re
from typing import Any

from experiments.tables import markdown_table

#: F1 on the test pairs of Amazon-Google: Magellan and Ditto after Narayan et al., PVLDB 16(4), 2022,
#: table 1; DeepMatcher after Mudgal et al., SIGMOD 2018.
PUBLISHED = {"Magellan, published": 49.1, "DeepMatcher, published": 69.3, "Ditto, published": 75.6}


def tables(kept: dict[str, Any]) -> str:
    """All of them."""
    return "\n".join([*_products(kept), *_commands(kept)])


def _products(kept: dict[str, Any]) -> list[str]:
    rows = []
    if "products" in kept:
        labels, none = (kept["products"][key] for key in ("labels", "none"))
        rows.append(["`pairity match`, labels of the split", *_scores(labels["held-out pairs"])])
        rows.append(
            ["`pairity match`, no labels", *_scores(none["held-out pairs, by the matches"])]
        )
    if "forest" in kept:
        whole, alone = (kept["forest"][key] for key in ("all features", "the two records"))
        rows.append(["tuned random forest, same features", *_scores(whole)])
        rows.append(["tuned random forest, features of the two records", *_scores(alone)])
    rows += [[name, "", "", f"{value:.1f}"] for name, value in PUBLISHED.items()]
    header = ["Amazon and Google, 2,293 test pairs", "precision, %", "recall, %", "F1, %"]
    return markdown_table(header, rows)


def _commands(kept: dict[str, Any]) -> list[str]:
    rows = []
    names = {
        "products": "Amazon, Google",
        "restaurants": "restaurants",
        "people": "persons",
        "labelled-people": "persons",
    }
    for job, name in names.items():
        for said, one in kept.get(job, {}).items():
            left, right = one["records"]
            rows.append(
                [
                    f"{name}: {left:,} and {right:,}",
                    said if said == "none" else one["learnt from"].split(":")[0],
                    one["candidates"].split(" of ")[0],
                    _percent(one["candidates among held-out matches"]),
                    _scores(one["held-out pairs, by the matches"])[2],
                    f"{one['processor seconds']:.0f}",
                    f"{one['largest MB so far']:,}",
                ]
            )
    header = ["tables", "labels", "candidates", "recall of candidates, %", "F1 of the matches, %"]
    return markdown_table([*header, "processor, s", "peak, MB"], rows)


def _scores(found: dict[str, Any]) -> list[str]:
    return [_percent(found[name]) for name in ("precision", "recall", "f1")]


def _percent(share: str) -> str:
    """A share with its interval, as in "0.812 (0.780 to 0.843)", in percent."""
    value, low, high = (f"{100 * float(text):.1f}" for text in re.findall(r"[0-9.]+", share))
    return f"{value} ({low} to {high})"
