"""Links in a graph: which airports have a direct flight?  FOLDER of airports.csv and routes.csv."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from pairity import PairLogistic, Pairs
from pairity.model_selection import ObjectKFold

folder = Path(sys.argv[1])
airports, routes = (pd.read_csv(folder / name) for name in ("airports.csv", "routes.csv"))
busy = routes[["a", "b"]].stack().value_counts().index[:120].to_numpy()
every = Pairs.complete(airports.loc[busy, ["lat", "lon"]], ids=airports.loc[busy, "code"])
flown = set(map(frozenset, routes[["a", "b"]].to_numpy().tolist()))
ends = busy[np.column_stack([every.first, every.second])].tolist()
y = np.array([frozenset(pair) in flown for pair in ends])
train, test = next(ObjectKFold(5, random_state=0).split(every, y))
model = PairLogistic("symmetric", kernel="tensor", C=10.0).fit(every[train], y[train])
area = roc_auc_score(y[test], model.decision_function(every[test]))
print(f"{y.mean():.0%} of {len(y)} pairs are flown; AUC on pairs of two new airports: {area:.3f}")
