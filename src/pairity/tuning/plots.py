"""The validation curve as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["plot_validation_curve"]


def plot_validation_curve(search: Any, axes: Any = None) -> Any:
    """Mean held-out score over C (or alpha), one line a kernel, with the spread over folds.

    Parameters
    ----------
    search : PairSVCCV, PairLogisticCV or PairRidgeCV
        A fitted search.
    axes : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(search, "cv_results_")
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "got no matplotlib to draw with; expected it installed: pip install 'pairity[cli]'."
        ) from error
    if axes is None:
        axes = plt.figure(figsize=(6.0, 4.0), layout="constrained").subplots()
    table, name = search.cv_results_, search._strength
    strengths = np.array(table[f"param_{name}"], dtype=np.float64)
    n_strengths = len(np.unique(strengths))
    for start in range(0, len(strengths), n_strengths):
        rows = np.arange(start, start + n_strengths)
        rows = rows[np.argsort(strengths[rows])]
        mean = np.asarray(table["mean_test_score"])[rows]
        spread = np.asarray(table["std_test_score"])[rows] / np.sqrt(search.n_splits_)
        label = _short(table["param_kernel"][start])
        (line,) = axes.plot(strengths[rows], mean, marker="o", label=label)
        axes.fill_between(
            strengths[rows], mean - spread, mean + spread, alpha=0.2, color=line.get_color(), lw=0
        )
    axes.axvline(search.best_params_[name], color="0.5", ls="--", lw=1)
    axes.set_xscale("log")
    axes.set_xlabel(name)
    is_loss = "loss" in search.scoring or "error" in search.scoring
    axes.set_ylabel(f"held-out {'minus ' if is_loss else ''}{search.scoring.replace('_', ' ')}")
    if len(strengths) > n_strengths:
        axes.legend(fontsize="small")
    return axes


def _short(kernel: Any) -> str:
    shown = str(kernel)
    return shown if len(shown) <= 40 else shown[:37] + "..."
