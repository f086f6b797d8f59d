"""LogisticRegression as a peer: every solver with the widest tolerance that reaches the certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

#: KKT violation that ours and theirs have to reach.
ASKED = 1e-3
#: Tolerances that are tried, scikit-learn's own first.
_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def peers(rows: Any, labels: np.ndarray, solvers: tuple[str, ...]) -> dict[str, LogisticRegression]:
    """Models with C = 1 by name, of the solvers that reach the certificate at all."""
    found = {}
    for solver in solvers:
        for tol in _TOLERANCES:
            options = {"C": 1.0, "fit_intercept": False, "max_iter": 1000, "tol": tol}
            model = LogisticRegression(solver=solver, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(rows, labels)
            if violation(model, rows, labels) <= ASKED:
                found[f"LogisticRegression, {solver}, tol {tol:g}"] = model
                break
    return found


def violation(model: LogisticRegression, rows: Any, labels: np.ndarray) -> float:
    """How far ``|theta| = expit(-y f)`` are from the probabilities at the decisions they define."""
    signs = np.where(labels > 0, 1.0, -1.0)
    shares = expit(-signs * (rows @ model.coef_.ravel()))
    decisions = rows @ (rows.T @ (signs * shares))
    return float(np.abs(expit(-signs * decisions) - shares).max())
