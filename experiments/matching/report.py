"""The tables of docs/matching.md, from the measured results."""

from __future__ import annotations

import re
from typing import Any

from experiments.tables import markdown_table

#: F1 on the test pairs of Amazon-Google: Magellan and Ditto after Narayan et al., PVLDB 16(4), 2022,
#: table 1; DeepMatcher after Mudgal et al., SIGMOD 2018.
PUBLISHED = {"Magellan, published": 49.1, "DeepMatcher, published": 69.3, "Ditto, published": 75.6}


#: Jobs with tables of persons or real ones, as the tables call them.
_NAMES = {
    "products": "Amazon, Google",
    "restaurants": "restaurants",
    "citations-first": "citations, first look",
    "citations": "citations",
    "people": "persons",
    "labelled-people": "persons",
}


def tables(kept: dict[str, Any]) -> str:
    """All of them."""
    return "\n".join([*_models(kept), *_commands(kept)])


def _models(kept: dict[str, Any]) -> list[str]:
    """Scores on held-out pairs of real tables, beside a forest and published ones."""
    rows = []
    for job in _NAMES:
        found = kept.get(job, {})
        if "forest" not in found:
            continue
        methods = {
            "`pairity match`, labels": found["labels"],
            "tuned random forest, same features": found["forest"]["all features"],
            "tuned random forest, features of the two records": found["forest"]["the two records"],
            "`pairity match`, no labels": found["none"],
        }
        for method, one in methods.items():
            # without labels the constraint is most of what is known
            what = "held-out pairs" + (", by the matches" if one is found["none"] else "")
            seconds = f"{one['processor seconds']:.0f}"
            rows.append([_NAMES[job], method, *_scores(one[what]), seconds])
        published = PUBLISHED if job == "products" else {}
        rows += [
            [_NAMES[job], name, "", "", f"{value:.1f}", ""] for name, value in published.items()
        ]
    header = ["tables", "decisions about held-out pairs", "precision, %", "recall, %", "F1, %"]
    return markdown_table([*header, "processor, s"], rows)


def _commands(kept: dict[str, Any]) -> list[str]:
    rows = []
    for job, name in _NAMES.items():
        for said, one in kept.get(job, {}).items():
            if said == "forest":
                continue
            rows.append(
                [
                    f"{name}: {_sizes(one['records'])}",
                    said if said == "none" else one["learnt from"].split(":")[0],
                    one["candidates"].split(" of ")[0],
                    _percent(one["candidates among held-out matches"]),
                    _scores(one["held-out pairs, by the matches"])[2],
                    f"{one['wall seconds']:.0f}" if one["cores"] > 1 else "",
                    f"{one['processor seconds']:.0f}",
                    f"{one['peak MB']:,}",
                ]
            )
    header = ["tables", "labels", "candidates", "recall of candidates, %", "F1 of the matches, %"]
    return markdown_table([*header, "two cores, s", "processor, s", "peak, MB"], rows)


def _sizes(records: int | list[int]) -> str:
    numbers = [records] if isinstance(records, int) else records
    return " and ".join(f"{number:,}" for number in numbers)


def _scores(found: dict[str, Any]) -> list[str]:
    return [_percent(found[name]) for name in ("precision", "recall", "f1")]


def _percent(share: str) -> str:
    """A share with its interval, as in "0.812 (0.780 to 0.843)", in percent."""
    value, low, high = (f"{100 * float(text):.1f}" for text in re.findall(r"[0-9.]+", share))
    return f"{value} ({low} to {high})"
