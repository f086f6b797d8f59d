"""The reliability diagram; matplotlib is loaded when a diagram is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pairity.metrics.reliability import ReliabilityCurve

__all__ = ["plot_reliability"]


def plot_reliability(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve], *, ax: Any = None
) -> Any:
    """Draw observed frequencies over predicted probabilities, with their Wilson intervals.

    Points on the diagonal are probabilities that mean what they say.  The area of a point grows
    with the number of its rows.

    Parameters
    ----------
    curves : ReliabilityCurve or mapping from names to them
        What :func:`~pairity.metrics.reliability_curve` gives; several are drawn together.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "got no matplotlib; expected it for plot_reliability: pip install 'pairity[cli]'."
        ) from None
    named = {"": curves} if isinstance(curves, ReliabilityCurve) else dict(curves)
    if ax is None:
        ax = pyplot.subplots(figsize=(5.0, 5.0))[1]
    ax.plot([0.0, 1.0], [0.0, 1.0], linestyle=":", color="grey", linewidth=1.0)
    for name, curve in named.items():
        reach = np.vstack([curve.observed - curve.lower, curve.upper - curve.observed])
        bars = ax.errorbar(
            curve.predicted, curve.observed, reach, linewidth=1.0, capsize=2.0, label=name or None
        )
        ax.scatter(
            curve.predicted,
            curve.observed,
            s=10.0 + 150.0 * curve.weight,
            color=bars[0].get_color(),
        )
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed frequency")
    if any(named):
        ax.legend(loc="upper left", frameon=False)
    return ax
