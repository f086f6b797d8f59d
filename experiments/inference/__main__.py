"""The tables of docs/uncertainty.md, all of them or those named: coverage, suggestions, judges."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from experiments.inference import coverage as covered
from experiments.inference import suggestions
from experiments.tables import markdown_table
from pairity import PairLogistic, Pairs
from pairity.inspection import judges, rank_objects


def coverage_table(n_runs: int = 100) -> list[str]:
    """Coverage of every case."""
    rows = [
        [
            str(found.case.n_objects),
            found.case.design,
            found.case.truth + (", clustered" if found.case.clustered else ""),
            *(
                f"{100 * share:.1f}"
                for share in (found.scores, found.all_scores, found.effects, found.predictions)
            ),
            str(found.n_runs),
        ]
        for found in covered.coverages(n_runs)
    ]
    header = [
        "objects",
        "design",
        "truth",
        "scores",
        "all at once",
        "effects",
        "predictions",
        "runs",
    ]
    lines = markdown_table(header, rows)
    right, wrong = (covered.regression_coverage(n_runs, width) for width in (1.5, 4.5))
    return [
        *lines,
        f"Ridge regression, function drawn from the kernel: {100 * right:.1f} %; kernel three"
        f" times as wide: {100 * wrong:.1f} %.",
        "",
    ]


def suggestion_table(n_seeds: int = 20) -> list[str]:
    """Votes needed."""
    rows = []
    for name, voters, n_votes, batch in (
        ("simulated, 30 objects", suggestions.simulated, 800, 10),
        ("games of 60 football teams", suggestions.football, 1600, 20),
        ("votes on 59 language models", suggestions.language_models, 1600, 40),
    ):
        races = [
            suggestions.race(voters, seed, n_votes, batch, "scores") for seed in range(n_seeds)
        ]
        share, spread = suggestions.shares_needed(races)
        needed = [
            f"{100 * one:.0f} ± {100 * two:.0f}" for one, two in zip(share, spread, strict=True)
        ]
        rows.append([name, str(n_votes), *needed, str(n_seeds)])
    header = [
        "votes",
        "random votes",
        "needed for the margins, %",
        "for the ten leaders, %",
        "seeds",
    ]
    return markdown_table(header, rows)


def judge_table(n_seeds: int = 20) -> list[str]:
    """How well bad judges are told from good ones, and what the ranking gains."""
    found = np.array(list(_judged(n_seeds)))
    mean, least = found.mean(axis=0), found.min(axis=0)
    rows = [
        ["AUC, answers at random", f"{mean[0]:.3f}", f"{least[0]:.3f}"],
        ["AUC, always the first", f"{mean[1]:.3f}", f"{least[1]:.3f}"],
        ["error of scores without judges", f"{mean[2]:.3f}", f"{least[2]:.3f}"],
        ["error of scores with judges", f"{mean[3]:.3f}", f"{least[3]:.3f}"],
    ]
    return markdown_table(["of 40 judges with 60 votes, 5 and 5 are bad", "mean", "least"], rows)


def _judged(n_seeds: int) -> Iterator[tuple[float, ...]]:
    m, n_judges, each = 20, 40, 60
    for seed in range(n_seeds):
        random = np.random.default_rng(seed)
        strength, who = random.normal(size=m), np.repeat(np.arange(n_judges), each)
        first = random.integers(0, m, len(who))
        second = (first + random.integers(1, m, len(who))) % m
        slopes, biases = random.lognormal(0, 0.2, n_judges), 0.2 * random.normal(size=n_judges)
        slopes[:10], biases[5:10] = 0.0, 3.0
        odds = slopes[who] * (strength[first] - strength[second]) + biases[who]
        won = np.where(random.random(len(who)) < expit(odds), 1, -1)
        pairs = Pairs(np.eye(m), first, second)
        model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
        panel, place = judges(model, who), np.arange(n_judges)
        some = (place < 5) | (place >= 10)
        truth = strength - strength.mean()
        errors = [
            float(np.sqrt(np.mean((rank_objects(one, np.eye(m), n_cycles=0).scores - truth) ** 2)))
            for one in (model, panel)
        ]
        tossing = roc_auc_score((place < 5)[some], -panel.slopes[some])
        yield tossing, roc_auc_score((place >= 5) & (place < 10), panel.biases), *errors


if __name__ == "__main__":
    tables = {"coverage": coverage_table, "suggestions": suggestion_table, "judges": judge_table}
    for name in sys.argv[1:] or tables:
        print(*tables[name](), sep="\n", flush=True)
