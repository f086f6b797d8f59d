"""Are judges found who answer at random, or always take the first, and is the ranking better for it?

Of 40 judges with 60 votes each on 20 objects, 5 answer at random and 5 always prefer the first position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from pairity import PairLogistic, Pairs
from pairity.inspection import judges, rank_objects

N_OBJECTS, N_JUDGES, N_EACH = 20, 40, 60
#: Judges who answer at random, and after them those who take the first.
TOSSING, TAKING = slice(0, 5), slice(5, 10)
MEASURES = (
    "AUC of the slope, for those who answer at random",
    "AUC of the bias, for those who always take the first",
    "error of scores, judges taken as alike",
    "error of scores, by judge",
)


def one_run(seed: int) -> tuple[float, ...]:
    """The measures of one simulation."""
    random = np.random.default_rng(seed)
    strength, who = random.normal(size=N_OBJECTS), np.repeat(np.arange(N_JUDGES), N_EACH)
    first = random.integers(0, N_OBJECTS, len(who))
    second = (first + random.integers(1, N_OBJECTS, len(who))) % N_OBJECTS
    slopes, biases = random.lognormal(0, 0.2, N_JUDGES), 0.2 * random.normal(size=N_JUDGES)
    slopes[TOSSING] = slopes[TAKING] = 0.0
    biases[TAKING] = 3.0
    odds = slopes[who] * (strength[first] - strength[second]) + biases[who]
    won = np.where(random.random(len(who)) < expit(odds), 1, -1)
    objects = np.eye(N_OBJECTS)
    model = PairLogistic("antisymmetric", kernel="linear").fit(Pairs(objects, first, second), won)
    panel = judges(model, who)
    tosses, takes = np.zeros((2, N_JUDGES), dtype=bool)
    tosses[TOSSING] = takes[TAKING] = True
    truth = strength - strength.mean()
    errors = [
        float(np.sqrt(np.mean((rank_objects(one, objects, n_cycles=0).scores - truth) ** 2)))
        for one in (model, panel)
    ]
    return (
        float(roc_auc_score(tosses[~takes], -panel.slopes[~takes])),
        float(roc_auc_score(takes, panel.biases)),
        *errors,
    )


def judged(n_seeds: int) -> dict[str, Any]:
    """Means and worst values over seeds."""
    found = np.array([one_run(seed) for seed in range(n_seeds)])
    worst = [*found[:, :2].min(axis=0), *found[:, 2:].max(axis=0)]
    rows = {
        name: {"mean": float(mean), "worst": float(least)}
        for name, mean, least in zip(MEASURES, found.mean(axis=0), worst, strict=True)
    }
    better = int(np.sum(found[:, 3] < found[:, 2]))
    return {"seeds": n_seeds, "ranking better in": better, "measures": rows}
