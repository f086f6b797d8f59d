"""The tables of docs/how-it-compares.md, from the measured results."""

from __future__ import annotations

from typing import Any

from experiments.tables import markdown_table

#: What a task is called, and how its figures are shown.
_TASKS = {
    "records": "two restaurant guides, which entries are the same place (112 are)",
    "votes": "5,460 votes between 59 language models, log-loss of held-out votes",
    "distances": "same digit or not, pairs of new images",
}


def tables(kept: dict[str, Any]) -> str:
    """One line a method."""
    rows = [
        [_TASKS[task], method, _figures(found), f"{found['processor seconds']:.1f}"]
        for task, methods in kept.items()
        for method, found in methods.items()
    ]
    return "\n".join(markdown_table(["task", "package", "result", "processor, s"], rows))


def _figures(found: dict[str, float]) -> str:
    if "f1" in found:
        shares = (f"{name} {100 * found[name]:.1f} %" for name in ("precision", "recall"))
        return f"F1 {100 * found['f1']:.1f} % ({', '.join(shares)})"
    return "".join(f"{name} {found[name]:.4f}" for name in ("log-loss", "AUC") if name in found)
