"""The validation curve and the reliability diagram; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pairity.model_selection.metrics import ReliabilityCurve


def plot_validation_curve(search: Any, axes: Any = None) -> Any:
    """Draw the mean held-out score over C (or alpha), one line a kernel; returns the axes.

    The band is the standard error over folds.

    Parameters
    ----------
    search : PairSVCCV, PairLogisticCV or PairRidgeCV
        A fitted search.
    axes : matplotlib Axes, optional
        Where to draw; a new figure by default.
    """
    check_is_fitted(search, "cv_results_")
    axes = new_axes(figsize=(6.0, 4.0), layout="constrained") if axes is None else axes
    table, name = search.cv_results_, search._strength
    strengths = np.array(table[f"param_{name}"], dtype=np.float64)
    n_strengths = len(np.unique(strengths))
    for start in range(0, len(strengths), n_strengths):
        rows = np.arange(start, start + n_strengths)
        rows = rows[np.argsort(strengths[rows])]
        mean = np.asarray(table["mean_test_score"])[rows]
        spread = np.asarray(table["std_test_score"])[rows] / np.sqrt(search.n_splits_)
        kernel = str(table["param_kernel"][start])
        label = kernel if len(kernel) <= 40 else kernel[:37] + "..."
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


def new_axes(**options: Any) -> Any:
    """Axes of a new figure, or a sentence where there is no matplotlib."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "got no matplotlib to draw with; expected it installed: pip install 'pairity[cli]'."
        ) from error
    return pyplot.subplots(**options)[1]


def plot_reliability(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve], *, ax: Any = None
) -> Any:
    """Draw observed frequencies over predicted probabilities; returns the axes.

    Bars are Wilson intervals.  Points on the diagonal are probabilities that mean what they say.
    The area of a point grows with the number of its rows.

    Parameters
    ----------
    curves : ReliabilityCurve or mapping from names to them
        What :func:`~pairity.model_selection.reliability_curve` gives; several are drawn together.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    """
    named = {"": curves} if isinstance(curves, ReliabilityCurve) else dict(curves)
    ax = new_axes(figsize=(5.0, 5.0)) if ax is None else ax
    ax.plot([0.0, 1.0], [0.0, 1.0], linestyle=":", color="grey", linewidth=1.0)
    for name, curve in named.items():
        reach = np.vstack([curve.observed - curve.lower, curve.upper - curve.observed])
        bars = ax.errorbar(
            curve.predicted, curve.observed, reach, linewidth=1.0, capsize=2.0, label=name or None
        )
        areas = 10.0 + 150.0 * curve.weight
        ax.scatter(curve.predicted, curve.observed, s=areas, color=bars[0].get_color())
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set(xlabel="predicted probability", ylabel="observed frequency")
    if any(named):
        ax.legend(loc="upper left", frameon=False)
    return ax
