"""Home advantage and draws: a season of made-up games, and what a model learns of it.

    python examples/home_advantage.py

Who plays at home is an *antisymmetric group feature* of a game: +1 where the first team is at home,
-1 where the second is, 0 on neutral ground.  It changes sign when the two teams are written the
other way round, so the model stays exactly antisymmetric: P(a beats b at home) = P(b loses away).
"""

from __future__ import annotations

import numpy as np

from pairity import PairDrawClassifier, PairLogistic, Pairs
from pairity.model_selection import ranked_probability_score

TEAMS, HOME, THRESHOLD = 60, 0.6, 0.7  # what is planted, to be found again


def play(seed: int) -> tuple[Pairs, np.ndarray]:
    """A season: each two teams meet once; strength, home and luck decide."""
    generator = np.random.default_rng(seed)
    strength = generator.normal(size=TEAMS)
    first, second = np.triu_indices(TEAMS, 1)
    home = generator.choice([1.0, -1.0, 0.0], p=[0.4, 0.4, 0.2], size=len(first))
    luck = generator.logistic(size=len(first))
    margin = strength[first] - strength[second] + HOME * home + luck
    outcome = np.where(margin > THRESHOLD, 1, np.where(margin < -THRESHOLD, -1, 0))
    seen = strength + 0.1 * generator.normal(size=TEAMS)  # strength is known almost
    return Pairs(seen[:, np.newaxis], first, second, antisymmetric=home), outcome


def main() -> dict[str, float]:
    """Fit two thirds of the games, say what was learnt, score the rest."""
    games, outcome = play(seed=7)
    test = np.random.default_rng(0).random(len(games)) < 1 / 3
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear"))
    model.fit(games[~test], outcome[~test])

    equal = Pairs([[0.0], [0.0]], [0, 0, 0], [1, 1, 1], antisymmetric=[1.0, 0.0, -1.0])
    print("two equal teams       loss   draw   win of the first")
    places = ["first at home", "neutral", "second at home"]
    for place, row in zip(places, model.predict_proba(equal), strict=True):
        print(f"{place:20}" + "".join(f"  {chance:.1%}" for chance in row))
    at_home, neutral, _ = model.decision_function(equal)
    print(f"home advantage: {at_home - neutral:.2f} (planted {HOME})")
    print(f"draw threshold: {model.threshold_:.2f} (planted {THRESHOLD})")

    there = model.predict_proba(games[test])
    back = model.predict_proba(games[test].swap())
    assert (there == back[:, ::-1]).all()  # swapping mirrors win and loss, bit for bit
    assert (there.sum(axis=1) == 1.0).all()
    shares = [np.mean(outcome[~test] == kind) for kind in (-1, 0, 1)]
    base = np.tile(shares, (len(there), 1))
    scores = {
        name: ranked_probability_score(outcome[test], chances)
        for name, chances in (("model", there), ("base rates", base))
    }
    for name, score in scores.items():
        print(f"ranked probability score of the {name}: {score:.4f}")
    return {"home": at_home - neutral, "threshold": model.threshold_, **scores}


if __name__ == "__main__":
    main()
