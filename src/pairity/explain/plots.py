"""Importance as a picture."""

from __future__ import annotations

from typing import Any

from pairity.explain.importance import PermutationImportance

__all__ = ["plot_importance"]


def plot_importance(
    importance: PermutationImportance, *, n: int | None = None, ax: Any = None
) -> Any:
    """Draw mean drops as bars with their spread, most important on top; returns the axes.

    Parameters
    ----------
    importance : PermutationImportance
        What :func:`~pairity.explain.permutation_importance` returned.
    n : int, optional
        Number of features to show; all by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    """
    import matplotlib.pyplot as plt

    chosen = importance.order[:n]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.0, 1.0 + 0.3 * len(chosen)), layout="constrained")
    ax.barh(
        [importance.names[place] for place in chosen],
        importance.mean[chosen],
        xerr=importance.spread[chosen],
        color="#4c72b0",
        ecolor="#555555",
    )
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.invert_yaxis()
    ax.set_xlabel(f"drop of the score ({importance.baseline:.3g}) when shuffled")
    return ax
