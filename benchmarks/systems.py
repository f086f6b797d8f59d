"""The systems compared: how each is set up, fitted and asked for predictions.

Work with the hinge loss is for classifiers, with the epsilon-insensitive one for regression.  No peer
has kernel logistic regression: its times stand beside those of the hinge on the same pairs.

Peers get the doubled rows ``[x_a, x_b]``, ``[x_b, x_a]``, as their users do, their own kernel
cache (4 GB) and both cores.  All stop at the same KKT tolerance: 1e-3 on problem (13).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tasks import EPSILON, Task
from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR

TOL = 1e-3
#: Relative residual of linear systems, as in Viljanen et al. 2022, or 300 iterations.
RIDGE_TOL = 1e-4
CACHE_MB = 4000


@dataclass(frozen=True)
class Fitted:
    """Dual variables on the full set I (rows, then mirrored rows), and a way to decide."""

    theta: np.ndarray
    model: Any


class Pairity:
    name = "pairity"

    def prepare(self, task: Task, pairs: Pairs, labels: np.ndarray) -> tuple:
        return pairs, labels

    def fit(self, task: Task, pairs: Pairs, labels: np.ndarray) -> Any:
        # one violation on the halved antisymmetric set is two on the full one
        tol = TOL / 2 if task.symmetry == "antisymmetric" else TOL
        common = {"symmetry": task.symmetry, "kernel": task.kernel}
        if task.loss == "squared":
            model = PairRidge(**common, alpha=1.0 / task.C, tol=RIDGE_TOL, max_iter=300)
        elif task.loss == "epsilon":
            model = PairSVR(**common, C=task.C, epsilon=EPSILON, tol=tol)
        elif task.loss == "logistic":
            model = PairLogistic(**common, C=task.C, tol=TOL)
        else:
            model = PairSVC(**common, C=task.C, tol=tol)
        return model.fit(pairs, labels)

    def theta(self, task: Task, model: Any, n_pairs: int) -> np.ndarray:
        theta = np.zeros(n_pairs)
        theta[model.support_] = model.dual_coef_
        sign = -1.0 if task.symmetry == "antisymmetric" else 1.0
        return np.concatenate([theta, sign * theta]) / 2.0

    def prepare_prediction(self, pairs: Pairs) -> Pairs:
        return pairs

    def predict(self, model: Any, pairs: Pairs) -> np.ndarray:
        decide = getattr(model, "decision_function", model.predict)
        return decide(pairs)


class _OnDoubledRows:
    """A stock SVM on the rows and their mirror images."""

    name = ""

    def prepare(self, task: Task, pairs: Pairs, labels: np.ndarray) -> tuple:
        sign = -1.0 if task.symmetry == "antisymmetric" else 1.0
        return pairs.with_mirrored().to_rows(), np.concatenate([labels, sign * labels])

    def make(self, task: Task) -> Any:
        raise NotImplementedError

    def fit(self, task: Task, rows: np.ndarray, labels: np.ndarray) -> Any:
        return self.make(task).fit(rows, labels)

    def theta(self, task: Task, model: Any, n_pairs: int) -> np.ndarray:
        theta = np.zeros(2 * n_pairs)
        theta[np.asarray(model.support_)] = np.asarray(model.dual_coef_).ravel()
        if task.loss != "hinge":
            return theta
        # which class is the positive one differs from peer to peer
        return np.asarray(self.prepare(task, *task.data())[1]) * np.abs(theta)

    def prepare_prediction(self, pairs: Pairs) -> np.ndarray:
        return np.asarray(pairs.to_rows())

    def predict(self, model: Any, rows: np.ndarray) -> np.ndarray:
        decide = getattr(model, "decision_function", model.predict)
        return decide(rows)


def _stock(task: Task, classifier: Any, regressor: Any) -> Any:
    options = {"gamma": task.gamma, "C": task.C, "tol": TOL, "cache_size": CACHE_MB}
    return classifier(**options) if task.loss == "hinge" else regressor(epsilon=EPSILON, **options)


class ScikitLearn(_OnDoubledRows):
    name = "scikit-learn"

    def make(self, task: Task) -> Any:
        from sklearn.svm import SVC, SVR

        return _stock(task, SVC, SVR)


class Intelex(_OnDoubledRows):
    name = "intelex"

    def make(self, task: Task) -> Any:
        from sklearnex.svm import SVC, SVR

        return _stock(task, SVC, SVR)


class ThunderSvm(_OnDoubledRows):
    name = "thundersvm"

    def make(self, task: Task) -> Any:
        from thundersvm import SVC

        return SVC(kernel="rbf", gamma=task.gamma, C=task.C, tol=TOL, n_jobs=-1)


SYSTEMS = {system.name: system for system in (Pairity(), ScikitLearn(), Intelex(), ThunderSvm())}
