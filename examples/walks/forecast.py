"""Forecasting matches: national teams since 2018, asked about 2024 and after.  FOLDER of results.csv."""

import sys
from pathlib import Path

import pandas as pd

from pairity import PairDrawClassifier, PairLogistic, Pairs
from pairity.model_selection import log_loss

games = pd.read_csv(Path(sys.argv[1]) / "results.csv").query("date >= '2018'")
games = games.assign(home=1 - games["neutral"])
columns = {"first": "home_team", "second": "away_team", "antisymmetric": ["home"]}
pairs = Pairs.from_frame(games, **columns)
past = (games["date"] < "2024").to_numpy()
model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear", C=0.3))
model.fit(pairs[past], games["y"][past])
chances = pd.DataFrame(model.predict_proba(pairs[~past]), columns=["lost", "draw", "won"])
shown = games[~past][["home_team", "away_team", "y"]].reset_index(drop=True)
print(shown.join(chances.round(2)).head().to_string())
loss = log_loss(shown["y"], chances, classes=[-1, 0, 1])
print(f"log-loss {loss:.3f} on {len(shown)} games")
