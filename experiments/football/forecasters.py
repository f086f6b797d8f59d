"""Forecasters of win, draw and loss, fitted to the rows of a past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from experiments.football.matches import Matches
from pairity import PairDrawClassifier, PairLogistic, PairRidge, Pairs, PairSVC
from pairity.model_selection import TimeSplit

#: Slope and threshold are fitted to scores of games later than those that a fold trained on.
FOLDS = TimeSplit(3)


@dataclass(frozen=True, eq=False)
class Table:
    """Matches with their odd features."""

    matches: Matches
    features: np.ndarray  # (n, q)
    names: Sequence[str]

    def with_columns(self, names: Sequence[str]) -> Table:
        """Some of the features."""
        kept = [self.names.index(name) for name in names]
        return Table(self.matches, self.features[:, kept], list(names))


class Ours:
    """A linear antisymmetric machine on odd features and on who the teams are, with draws.

    Objects are the teams, one indicator column each times ``identity``; 0 leaves them out.
    """

    def __init__(self, estimator: Any, identity: float) -> None:
        self.estimator = estimator
        self.identity = identity

    def fit(self, table: Table, rows: np.ndarray) -> Ours:
        self.scale_ = np.sqrt((table.features[rows] ** 2).mean(axis=0))
        self.n_teams_ = 1 if not self.identity else len(table.matches.teams)
        self.model_ = PairDrawClassifier(clone(self.estimator), cv=FOLDS).fit(
            self.pairs(table, rows), table.matches.outcome[rows], groups=table.matches.day[rows]
        )
        return self

    def pairs(self, table: Table, rows: np.ndarray) -> Pairs:
        """Matches as pairs of teams, features divided by their size in the past."""
        matches = table.matches
        teams = np.zeros((len(matches.teams), 1))
        if self.identity:
            teams = self.identity * np.eye(len(matches.teams))
        features = table.features[rows] / self.scale_
        return Pairs(teams, matches.first[rows], matches.second[rows], antisymmetric=features)

    def equal_teams(self, features: np.ndarray) -> Pairs:
        """Games of two unknown teams that differ in the given features only."""
        place = np.zeros(len(features), dtype=int)
        teams = np.zeros((2, self.n_teams_))
        return Pairs(teams, place, place + 1, antisymmetric=features / self.scale_)

    def predict_proba(self, table: Table, rows: np.ndarray) -> np.ndarray:
        return self.model_.predict_proba(self.pairs(table, rows))

    @property
    def setting(self) -> dict[str, float]:
        """What was tuned."""
        penalty = "alpha" if hasattr(self.estimator, "alpha") else "C"
        return {penalty: getattr(self.estimator, penalty), "identity": self.identity}


class Trees:
    """scikit-learn's boosted trees on the same features in both orders, averaged over the orders."""

    def __init__(self, leaves: int, trees: int) -> None:
        self.leaves, self.trees = leaves, trees

    def fit(self, table: Table, rows: np.ndarray) -> Trees:
        features, outcome = table.features[rows], table.matches.outcome[rows]
        self.model_ = HistGradientBoostingClassifier(
            learning_rate=0.1,
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            early_stopping=False,
            random_state=0,
        ).fit(np.vstack([features, -features]), np.concatenate([outcome, -outcome]))
        return self

    def predict_proba(self, table: Table, rows: np.ndarray) -> np.ndarray:
        features = table.features[rows]
        there, back = self.model_.predict_proba(features), self.model_.predict_proba(-features)
        return 0.5 * (there + back[:, ::-1])

    @property
    def setting(self) -> dict[str, float]:
        """What was tuned."""
        return {"leaves": self.leaves, "trees": self.trees}


PENALTIES = (0.003, 0.01, 0.1)
IDENTITIES = (0.0, 0.5)


def machines(kind: str, identities: Sequence[float] = IDENTITIES) -> list[Ours]:
    """Candidates of one kind of machine: every penalty with every strength of the identities."""

    def estimator(penalty: float) -> Any:
        if kind == "logistic":
            return PairLogistic("antisymmetric", kernel="linear", C=penalty)
        if kind == "hinge":
            return PairSVC("antisymmetric", kernel="linear", C=penalty)
        return PairRidge("antisymmetric", kernel="linear", alpha=1.0 / penalty)

    return [Ours(estimator(penalty), identity) for identity in identities for penalty in PENALTIES]


def trees() -> list[Trees]:
    """As many candidates as of a machine."""
    return [Trees(leaves, number) for leaves in (4, 8) for number in (30, 60, 90)]
