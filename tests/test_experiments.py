"""Experiments run, and documents show the results that were measured."""

import json
from pathlib import Path

import numpy as np
import pytest
from experiments import transductive
from experiments.inference import coverage, suggestions

ROOT = Path(__file__).resolve().parent.parent


def test_the_learners_page_shows_the_measured_table():
    text = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
    shown = text.split("<!-- experiments/results/transductive.md -->")[1].split("<!-- end -->")[0]
    rows = json.loads((transductive.RESULTS / "transductive.json").read_text(encoding="utf-8"))
    assert shown.strip() == "\n".join([transductive.HEADER, *map(transductive.line, rows)])
    assert {row["seeds"] for row in rows} == {10}


@pytest.mark.parametrize("make", [transductive.train_choice, transductive.restaurants])
def test_one_draw_of_the_transductive_experiment(make, monkeypatch):
    monkeypatch.setattr(transductive, "N_PAIRS", 200)
    task = make()
    scores = transductive.run_once(task, 3, 1.0)
    assert set(scores) == {*transductive.MACHINES, "majority"}
    assert all(0.0 <= value <= 1.0 for value in scores.values())


def test_standardised_features_keep_the_swap_law(rng):
    from pairity import Pairs

    pairs = Pairs(rng.normal(size=(6, 2)), [0, 1, 2], [3, 4, 5], None, rng.normal(3.0, size=(3, 1)))
    done = transductive.standardised(pairs)
    np.testing.assert_array_equal(
        transductive.standardised(pairs.swap()).to_rows(), done.swap().to_rows()
    )


def test_one_simulation_of_coverage():
    case = coverage.Case(8, "balanced", per_object=10)
    shares = coverage.one_run(case, np.random.default_rng(0))
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_votes_that_suggestions_need():
    contest = suggestions.Contest(suggestions.simulated, 60, 20)
    ours, theirs = (suggestions.curve(contest, 0, strategy) for strategy in ("order", None))
    assert ours.n_votes.tolist() == theirs.n_votes.tolist() == [20, 40, 60]
    assert ours.missed[0].tolist() == theirs.missed[0].tolist()  # from the same start
    same = suggestions.share_needed([theirs, theirs], [theirs, theirs], "leaders")
    assert same["share"] <= 1.0
    assert same["spread"] == 0.0
