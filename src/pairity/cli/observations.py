"""What a table of pairs observes: repetitions, contradictions, and the symmetry they speak for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pairity.tables.identities import text_of

__all__ = ["describe_labels", "describe_pairs", "symmetry_of"]

#: Standard errors from chance at which comparisons of both orders speak for a symmetry.
_CLEAR = 3.0
_MOST_LABELS = 12


def describe_pairs(first: Any, second: Any) -> dict[str, Any]:
    """Counts of objects and of repeated, reversed and self pairs."""
    table = _ordered(first, second)
    key = ["low", "high"]
    distinct = table.drop_duplicates(key)
    orders = table.drop_duplicates([*key, "turned"]).groupby(key, dropna=False).size()
    names = set(first.dropna()) | set(second.dropna())
    counts = table[table["low"] != table["high"]].groupby([*key, "turned"]).size()
    content: dict[str, Any] = {
        "objects in pairs": len(names),
        "distinct pairs": len(distinct),
        "rows that repeat a pair": len(table) - len(distinct),
        "pairs written in both orders": int((orders > 1).sum()),
        "pairs of an object with itself": int((first == second).sum()),
    }
    both = counts.unstack("turned", fill_value=0)
    if both.shape[1] == 2 and (both[False] == both[True]).all():
        content["note on rows"] = (
            "every pair is there in both orders equally often: if these are mirror images, keep one"
        )
    return content


def describe_labels(first: Any, second: Any, column: Any, problems: list[str]) -> dict[str, Any]:
    """Label counts, contradictions, and what repeated pairs say about a swap."""
    n_missing = int(column.isna().sum())
    if n_missing:
        problems.append(f"{n_missing} missing label(s) in column {column.name!r}")
    labels = column.dropna().map(text_of)
    counts = labels.value_counts().sort_index()
    content: dict[str, Any] = {}
    if len(counts) <= _MOST_LABELS:
        content["labels"] = {str(label): int(count) for label, count in counts.items()}
    else:
        content["labels"] = f"{len(counts)} different values"
    if len(counts) < 2 and len(labels):
        content["note on labels"] = "one label only: enough for an antisymmetric model of winners"
    table = _ordered(first, second).assign(label=column.map(text_of, na_action="ignore"))
    table = table.dropna(subset=["label", "low", "high"])
    within = table.groupby(["low", "high", "turned"])["label"].nunique()
    content["pairs with different labels in one order"] = int((within > 1).sum())
    sides = _two_sided(table)
    same, total = _across_orders(sides)
    chance = float((sides["label"].value_counts(normalize=True) ** 2).sum())
    content["comparisons of both orders"] = {"same label": same, "other label": total - same}
    content["symmetry"] = symmetry_of(same, total, chance)
    return content


def _ordered(first: Any, second: Any) -> Any:
    """Each pair by its two texts in order, and whether it was written the other way."""
    low, high = first.to_numpy(dtype=object), second.to_numpy(dtype=object)
    turned = np.array([str(a) > str(b) for a, b in zip(low, high, strict=True)], dtype=bool)
    return pd.DataFrame(
        {"low": np.where(turned, high, low), "high": np.where(turned, low, high), "turned": turned}
    )


def _two_sided(table: Any) -> Any:
    """Rows with two labels: as they are, without the middle one of three, or by sign."""
    if table["label"].nunique() <= 2:
        return table
    values = pd.to_numeric(table["label"], errors="coerce")
    if values.isna().any():
        return table
    if values.nunique() == 3:
        middle = float(np.median(values.unique()))
        return table[values != middle]
    return table.assign(label=np.sign(values))[values != 0]


def _across_orders(table: Any) -> tuple[int, int]:
    """Comparisons of an observation with one of the same pair in the other order: same, all."""
    proper = table[table["low"] != table["high"]]
    key = ["low", "high"]
    counts = proper.groupby([*key, "turned"]).size().unstack("turned", fill_value=0)
    if counts.shape[1] < 2:
        return 0, 0
    by_label = proper.groupby([*key, "label", "turned"]).size().unstack("turned", fill_value=0)
    same = int((by_label[False] * by_label[True]).sum())
    return same, int((counts[False] * counts[True]).sum())


def symmetry_of(same: int, total: int, chance: float) -> str:
    """What labels of pairs written in both orders speak for.

    ``same`` of ``total`` comparisons of an observation (a, b) with an observation (b, a) have the
    same label, and ``chance`` of them would if labels had nothing to do with the pair.
    """
    if not total:
        return "cannot be seen: no pair is written in both orders; what the labels mean decides"
    share = same / total
    error = (max(chance * (1.0 - chance), 1e-9) / total) ** 0.5
    said = f"{share:.0%} of comparisons of both orders have the same label, {chance:.0%} by chance"
    if share - chance > _CLEAR * error:
        return f"symmetric: {said}"
    if chance - share > _CLEAR * error:
        return f"antisymmetric: {said}"
    return f"neither clearly: {said}"
