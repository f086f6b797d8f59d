"""5,460 decided votes between 59 language models: choix, evalica, arena-rank.

Five folds of votes; each package fits strengths of models without features, and the log-loss of held-out
votes is that of ``1 / (1 + exp(s_b - s_a))``.  Penalties are the same where a package has one: 1/2 of
the sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import eye_array

from experiments.quality.task import DATA

Votes = NDArray[np.intp]  # (n, 2): winner, loser
Strengths = NDArray[np.float64]


def votes() -> tuple[Votes, int]:
    """Winners and losers, and the number of models."""
    table = pd.read_csv(DATA / "antisymmetric_llmfao" / "comparisons.csv").query("y != 0")
    ends, models = pd.factorize(table[["model_x", "model_y"]].to_numpy().ravel(), sort=True)
    ends = ends.reshape(-1, 2)
    won = np.where((table["y"] == 1).to_numpy()[:, np.newaxis], ends, ends[:, ::-1])
    return won, len(models)


def log_loss(method: Callable[[Votes, int], Strengths], n_folds: int = 5) -> float:
    """Mean over held-out votes."""
    won, n_models = votes()
    fold = np.random.default_rng(0).permutation(len(won)) % n_folds
    lost = np.zeros(len(won))
    for one in range(n_folds):
        strengths = method(won[fold != one], n_models)
        winner, loser = won[fold == one].T
        lost[fold == one] = np.log1p(np.exp(strengths[loser] - strengths[winner]))
    return float(lost.mean())


def with_pairity(won: Votes, n_models: int) -> Strengths:
    """Bradley and Terry with a Gaussian prior."""
    from pairity import PairLogistic, Pairs

    pairs = Pairs(eye_array(n_models, format="csr"), *won.T)
    pairs = pairs.with_swapped(np.arange(len(won)) % 2 == 1)
    y = np.where(np.arange(len(won)) % 2 == 1, -1, 1)
    model = PairLogistic("antisymmetric", kernel="linear", C=1.0).fit(pairs, y)
    every = Pairs(eye_array(n_models, format="csr"), np.arange(n_models), np.zeros(n_models, int))
    return np.asarray(model.decision_function(every))


def with_choix(won: Votes, n_models: int) -> Strengths:
    """``opt_pairwise``."""
    import choix

    return np.asarray(choix.opt_pairwise(n_models, won.tolist(), alpha=0.5))


def with_evalica(won: Votes, n_models: int) -> Strengths:
    """``bradley_terry``; no penalty."""
    import evalica

    index = pd.Index(range(n_models))
    first = [evalica.Winner.X] * len(won)
    found = evalica.bradley_terry(won[:, 0].tolist(), won[:, 1].tolist(), first, index=index)
    scores = found.scores.reindex(range(n_models)).to_numpy()
    return np.log(np.maximum(scores, 1e-9))


def with_arena_rank(won: Votes, n_models: int) -> Strengths:
    """``BradleyTerry``; no penalty, natural units."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    table = pd.DataFrame({"model_a": won[:, 0], "model_b": won[:, 1], "winner": "model_a"})
    data = PairDataset.from_pandas(table)
    model = BradleyTerry(n_competitors=len(data.competitors))
    model.fit(data)
    found = np.zeros(n_models)
    found[list(data.competitors)] = np.asarray(model.params["ratings"])
    return found


METHODS = {
    "PairLogistic": with_pairity,
    "choix, opt_pairwise": with_choix,
    "evalica, bradley_terry": with_evalica,
    "arena-rank, BradleyTerry": with_arena_rank,
}
