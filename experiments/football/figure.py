"""The reliability diagram of the chosen machine on the first split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pairity.model_selection import ReliabilityCurve, plot_reliability


def draw(results: dict, path: Path) -> None:
    """Observed over predicted, one curve an outcome."""
    result = results["splits"][0]
    curves = {}
    for name in ("win", "draw", "loss"):
        bins = {key: np.asarray(value) for key, value in result["reliability"][name].items()}
        bins.pop("calibration error")
        curves[name] = ReliabilityCurve(**bins, confidence=0.95)
    figure = Figure(figsize=(5.0, 5.0), layout="tight")
    axes = plot_reliability(curves, ax=FigureCanvasAgg(figure).figure.add_subplot())
    axes.set_title(f"International football, {result['split']['name']}")
    figure.savefig(path, dpi=110)
