"""The systems compared: how each is set up, fitted and asked for predictions.

Peers get the doubled rows ``[x_a, x_b]``, ``[x_b, x_a]``, as their users do, their own kernel
cache (4 GB) and both cores.  All stop at the same KKT tolerance: 1e-3 on problem (13).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tasks import Task
from pairity import Pairs, PairSVC

TOL = 1e-3
CACHE_MB = 4000


@dataclass(frozen=True)
class Fitted:
    """Dual variables on the full set I (rows, then mirrored rows), and a way to decide."""

    alpha: np.ndarray
    model: Any


class Pairity:
    name = "pairity"

    def prepare(self, task: Task, pairs: Pairs, labels: np.ndarray) -> tuple:
        return pairs, labels

    def fit(self, task: Task, pairs: Pairs, labels: np.ndarray) -> PairSVC:
        # one violation on the halved antisymmetric set is two on the full one
        tol = TOL / 2 if task.symmetry == "antisymmetric" else TOL
        return PairSVC(task.symmetry, task.kernel, task.C, tol=tol).fit(pairs, labels)

    def alpha(self, model: PairSVC, n_pairs: int) -> np.ndarray:
        beta = np.zeros(n_pairs)
        beta[model.support_] = np.abs(model.dual_coef_)
        return np.concatenate([beta, beta]) / 2.0

    def prepare_prediction(self, pairs: Pairs) -> Pairs:
        return pairs

    def predict(self, model: PairSVC, pairs: Pairs) -> np.ndarray:
        return model.decision_function(pairs)


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

    def alpha(self, model: Any, n_pairs: int) -> np.ndarray:
        alpha = np.zeros(2 * n_pairs)
        alpha[np.asarray(model.support_)] = np.abs(np.asarray(model.dual_coef_)).ravel()
        return alpha

    def prepare_prediction(self, pairs: Pairs) -> np.ndarray:
        return np.asarray(pairs.to_rows())

    def predict(self, model: Any, rows: np.ndarray) -> np.ndarray:
        return model.decision_function(rows)


class ScikitLearn(_OnDoubledRows):
    name = "scikit-learn"

    def make(self, task: Task) -> Any:
        from sklearn.svm import SVC

        return SVC(gamma=task.gamma, C=task.C, tol=TOL, cache_size=CACHE_MB)


class Intelex(_OnDoubledRows):
    name = "intelex"

    def make(self, task: Task) -> Any:
        from sklearnex.svm import SVC

        return SVC(gamma=task.gamma, C=task.C, tol=TOL, cache_size=CACHE_MB)


class ThunderSvm(_OnDoubledRows):
    name = "thundersvm"

    def make(self, task: Task) -> Any:
        from thundersvm import SVC

        return SVC(kernel="rbf", gamma=task.gamma, C=task.C, tol=TOL, n_jobs=-1)


SYSTEMS = {system.name: system for system in (Pairity(), ScikitLearn(), Intelex(), ThunderSvm())}
