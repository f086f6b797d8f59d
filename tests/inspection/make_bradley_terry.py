"""Make bradley_terry.json: what statsmodels says of a leaderboard with two style columns.

    pip install statsmodels && python tests/inspection/make_bradley_terry.py

Votes of 15 judges on 6 objects, drawn with a seed.  The design has the differences of indicators, object
0 the reference, then the style columns; errors by cluster are with statsmodels' correction, its default.
"""

import json
from pathlib import Path

import numpy as np
import statsmodels
import statsmodels.api as sm

N_OBJECTS, N_VOTES, N_JUDGES = 6, 400, 15
STRENGTHS = np.array([0.0, -0.4, 0.8, 0.5, 0.1, 0.6])
STYLES = np.array([0.5, -0.01])  # tone, length


def drawn() -> dict:
    """Votes and margins."""
    random = np.random.default_rng(18)
    first = random.integers(0, N_OBJECTS, N_VOTES)
    second = (first + random.integers(1, N_OBJECTS, N_VOTES)) % N_OBJECTS
    style = (random.normal(size=(N_VOTES, 2)) * [1.0, 35.0]).round(3)
    judge = random.integers(0, N_JUDGES, N_VOTES)
    odds = STRENGTHS[first] - STRENGTHS[second] + style @ STYLES
    won = (random.random(N_VOTES) < 1.0 / (1.0 + np.exp(-odds))).astype(int)
    margin = (odds + random.normal(size=N_VOTES)).round(3)
    columns = {
        "first": first,
        "second": second,
        "style": style,
        "judge": judge,
        "won": won,
        "margin": margin,
    }
    return {name: values.tolist() for name, values in columns.items()}


def design_of(votes: dict) -> np.ndarray:
    """Differences to object 0, then styles."""
    table = np.zeros((N_VOTES, N_OBJECTS))
    rows = np.arange(N_VOTES)
    table[rows, votes["first"]] += 1.0
    table[rows, votes["second"]] -= 1.0
    return np.hstack([table[:, 1:], votes["style"]])


def logistic(votes: dict, design: np.ndarray, **options):
    """GLM with binomial outcomes, to rounding."""
    model = sm.GLM(np.array(votes["won"]), design, family=sm.families.Binomial())
    return model.fit(tol=1e-15, maxiter=200, tol_criterion="params", **options)


def main() -> None:
    """Draw, fit, write."""
    votes = drawn()
    design = design_of(votes)
    plain = logistic(votes, design)
    groups = {"groups": np.array(votes["judge"])}
    clustered = logistic(votes, design, cov_type="cluster", cov_kwds=groups)
    without = [logistic(votes, np.delete(design, column, axis=1)) for column in (5, 6)]
    gaussian = sm.GLM(np.array(votes["margin"]), design).fit()
    source = f"tests/inspection/make_bradley_terry.py with statsmodels {statsmodels.__version__}"
    golden = {
        "source": source,
        **votes,
        "logistic": {
            "params": plain.params.tolist(),
            "bse": plain.bse.tolist(),
            "pvalues": plain.pvalues.tolist(),
        },
        "clustered": {"bse": clustered.bse.tolist()},
        "likelihood_ratio": [2.0 * (plain.llf - other.llf) for other in without],
        "gaussian": {"params": gaussian.params.tolist(), "bse": gaussian.bse.tolist()},
    }
    path = Path(__file__).with_name("bradley_terry.json")
    path.write_text(json.dumps(golden) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
