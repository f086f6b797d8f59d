"""Boosted trees, LightGBM and XGBoost, on both orders of each pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from experiments.quality.method import Problem, Vector
from experiments.quality.plain import View, view_names
from experiments.quality.task import Task
from pairity import Pairs

#: Most rounds, rounds without gain before stopping, bins of a feature, step.
ROUNDS, PATIENCE, BINS, STEP = 400, 20, 63, 0.1
#: Leaves of a tree, and least rows of a leaf, to choose from.
SIZES = ((4, 60), (8, 20), (16, 60), (31, 20))


@dataclass(eq=False)
class TreeModel:
    """A booster and the view it reads."""

    view: View
    booster: Any
    library: Any
    chosen: dict[str, Any] = field(default_factory=dict)

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1, of the pairs as they are written."""
        return self.library.predict(self.booster, self.view.rows(pairs))


class LightGBMLibrary:
    """LightGBM's own interface, on one thread."""

    def table(self, rows: np.ndarray, labels: np.ndarray, like: Any = None) -> Any:
        """Binned once, used by all settings."""
        import lightgbm

        options = {"max_bin": BINS, "verbosity": -1, "num_threads": 1, "feature_pre_filter": False}
        return lightgbm.Dataset(
            rows, labels.astype(float), reference=like, params=options, free_raw_data=False
        )

    def train(self, setting: dict, table: Any, held: Any = None, rounds: int = ROUNDS) -> Any:
        """Boost for as long as the held-out loss falls, or for a number of rounds."""
        import lightgbm

        stop = [lightgbm.early_stopping(PATIENCE, verbose=False)] if held is not None else []
        parameters = {
            "objective": "binary",
            "learning_rate": STEP,
            "num_leaves": setting["leaves"],
            "min_data_in_leaf": setting["least"],
            "feature_fraction": 0.7,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "lambda_l2": 1.0,
            "max_bin": BINS,
            "feature_pre_filter": False,
            "num_threads": 1,
            "verbosity": -1,
            "seed": 0,
            "deterministic": True,
            "force_col_wise": True,
        }
        return lightgbm.train(
            parameters,
            table,
            rounds,
            valid_sets=[held] if held is not None else [],
            callbacks=stop,
        )

    def outcome(self, booster: Any) -> tuple[float, int]:
        """Least held-out log-loss and the rounds it took."""
        return float(booster.best_score["valid_0"]["binary_logloss"]), int(booster.best_iteration)

    def predict(self, booster: Any, rows: np.ndarray) -> Vector:
        """Probabilities."""
        return booster.predict(rows, num_threads=1)


class XGBoostLibrary:
    """XGBoost's own interface, on one thread."""

    def table(self, rows: np.ndarray, labels: np.ndarray, like: Any = None) -> Any:
        """Binned once, used by all settings."""
        import xgboost

        return xgboost.QuantileDMatrix(
            rows, labels.astype(float), max_bin=BINS, ref=like, nthread=1
        )

    def train(self, setting: dict, table: Any, held: Any = None, rounds: int = ROUNDS) -> Any:
        """Boost for as long as the held-out loss falls, or for a number of rounds."""
        import xgboost

        parameters = {
            "objective": "binary:logistic",
            "eval_metric": "logloss",
            "eta": STEP,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": setting["leaves"],
            "min_child_weight": setting["least"] / 5.0,  # sums of p (1 - p), not rows
            "colsample_bytree": 0.7,
            "subsample": 0.8,
            "lambda": 1.0,
            "max_bin": BINS,
            "nthread": 1,
            "seed": 0,
        }
        return xgboost.train(
            parameters,
            table,
            rounds,
            evals=[(held, "held")] if held is not None else [],
            early_stopping_rounds=PATIENCE if held is not None else None,
            verbose_eval=False,
        )

    def outcome(self, booster: Any) -> tuple[float, int]:
        """Least held-out log-loss and the rounds it took."""
        return float(booster.best_score), int(booster.best_iteration) + 1

    def predict(self, booster: Any, rows: np.ndarray) -> Vector:
        """Probabilities."""
        import xgboost

        return booster.predict(xgboost.DMatrix(rows, nthread=1)).astype(np.float64)


class Trees:
    """Boosted trees with views, sizes and leaves tuned, rounds by early stopping on inner splits."""

    def __init__(self, name: str, library: Any) -> None:
        self.name = name
        self.library = library

    def describe(self) -> str:
        """Name and version."""
        return f"{self.name} 2"

    def applies(self, task: Task) -> bool:
        """Where the library is installed."""
        return find_spec(self.name) is not None

    def settings(self, problem: Problem) -> list[dict]:
        """Views, numbers of leaves, least rows in a leaf."""
        found = [
            {"view": view, "leaves": leaves, "least": least}
            for (leaves, least), view in product(SIZES, view_names(problem))
        ]
        return found[: problem.n_settings]

    def fit(self, problem: Problem) -> TreeModel:
        """Tune and fit."""
        settings = self.settings(problem)
        found = np.array([self._tried(problem, split, settings) for split in problem.inner])
        losses, rounds = found.mean(axis=0).T
        best = int(np.argmin(losses))
        chosen = {**settings[best], "rounds": max(1, round(rounds[best]))}
        view = View.of(chosen["view"], problem, problem.pairs, problem.y)
        table = self.library.table(*view.training_rows(problem, problem.pairs, problem.y))
        booster = self.library.train(chosen, table, rounds=chosen["rounds"])
        chosen["inner log-loss"] = float(losses[best])
        return TreeModel(view, booster, self.library, chosen)

    def _tried(self, problem: Problem, split: Any, settings: list[dict]) -> list:
        """Held-out loss and rounds of each setting on one inner split."""
        outcomes: dict[int, tuple[float, int]] = {}
        pairs, y = problem.part(split[0])
        held, truth = problem.part(split[1])
        for name in dict.fromkeys(setting["view"] for setting in settings):
            view = View.of(name, problem, pairs, y)
            table = self.library.table(*view.training_rows(problem, pairs, y))
            both = np.vstack([view.rows(held), view.rows(held.swap())])
            labels = np.concatenate([truth, -truth if problem.odd else truth]) > 0
            test = self.library.table(both, labels, like=table)
            for number, setting in enumerate(settings):
                if setting["view"] == name:
                    booster = self.library.train(setting, table, test)
                    outcomes[number] = self.library.outcome(booster)
        return [outcomes[number] for number in range(len(settings))]


def trees() -> list[Trees]:
    """Both libraries."""
    return [Trees("lightgbm", LightGBMLibrary()), Trees("xgboost", XGBoostLibrary())]
