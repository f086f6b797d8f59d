"""How a tuned model came to its kernel and strength."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pairity.report.data import SearchCurve, SearchFacts
from pairity.tuning.search import PairSearch

__all__ = ["search_facts"]

_LONGEST = 60


def search_facts(model: Any) -> SearchFacts | None:
    """Weights of kernel families and validation curves of a search; None of other models."""
    search = _search_in(model)
    if search is None or not hasattr(search, "cv_results_"):
        return None
    table, name = search.cv_results_, search._strength
    strengths = np.array(table[f"param_{name}"], dtype=np.float64)
    n_strengths = len(np.unique(strengths))
    curves = []
    for start in range(0, len(strengths), n_strengths):
        rows = start + np.argsort(strengths[start : start + n_strengths], kind="stable")
        spread = np.asarray(table["std_test_score"])[rows] / np.sqrt(search.n_splits_)
        curves.append(
            SearchCurve(
                kernel=_short(table["param_kernel"][start], search),
                strengths=tuple(strengths[rows].tolist()),
                means=tuple(np.asarray(table["mean_test_score"])[rows].tolist()),
                errors=tuple(spread.tolist()),
            )
        )
    found = search.combination_
    return SearchFacts(
        scoring=str(search.scoring).replace("_", " "),
        strength=name,
        best=float(search.best_params_[name]),
        best_kernel=int(search.best_index_) // n_strengths,
        curves=tuple(curves),
        weights=_sorted(found.weights, -1.0) if found is not None else (),
        family_losses=_sorted(found.family_losses, 1.0) if found is not None else (),
        n_splits=int(search.n_splits_),
    )


def _search_in(model: Any) -> PairSearch | None:
    """The search inside pipelines and calibrations."""
    while True:
        if isinstance(model, PairSearch):
            return model
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif hasattr(model, "estimator_"):
            model = model.estimator_
        else:
            return None


def _sorted(values: dict[str, float], sign: float) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(values.items(), key=lambda item: (sign * item[1], item[0])))


def _short(kernel: Any, search: PairSearch) -> str:
    """Name of a kernel in a legend."""
    if search.combination_ is not None and kernel is search.combination_.kernel:
        return "sum of families"
    shown = str(kernel)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
