"""The demonstration: no leaks, honest figures, exact swap law."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from pairity.app.demo import (
    _best_threshold,
    accuracy_of,
    digit_task,
    evaluate,
    render_outcome,
    train_choice_task,
    write_model,
    write_predictions,
)
from pairity.datasets import load_train_choice
from pairity.io import read_model_file
from pairity.kernels import Gaussian, Tensor
from pairity.model_selection import PairClassifierCV, PairSVCCV

#: One kernel with two values of C in the place of the automatic model, which takes a minute.
CHEAPER = {
    "train choice": Gaussian(8.0),
    "same digit": Tensor(Gaussian(2.0) * 0.1, k2=Gaussian(3.0)),
}


@pytest.fixture(scope="module", params=[train_choice_task, digit_task])
def outcome(request):
    task = request.param()
    given = {"kernel": CHEAPER[task.name], "Cs": [1.0, 10.0], "cv": task.estimator.cv}
    return evaluate(replace(task, estimator=PairSVCCV(task.symmetry, **given)))


@pytest.mark.parametrize("make_task", [train_choice_task, digit_task])
def test_the_demonstration_is_of_the_automatic_model(make_task):
    assert isinstance(make_task().estimator, PairClassifierCV)


def used(pairs):
    return set(pairs.first.tolist()) | set(pairs.second.tolist())


def test_no_traveller_is_in_both_parts():
    task, data = train_choice_task(), load_train_choice()
    assert len(task.train) + len(task.test) == 2929
    keys = {}
    for row in range(len(data)):
        key = int(data.pairs.first[row]), int(data.pairs.second[row])
        keys.setdefault(key, set()).add(int(data.groups[row]))

    def surely(pairs):
        rows = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        return {next(iter(keys[row])) for row in rows if len(keys[row]) == 1}

    assert surely(task.train)
    assert surely(task.test)
    assert not surely(task.train) & surely(task.test)


def test_scaling_sees_training_offers_only():
    task = train_choice_task()
    seen = task.train.objects[sorted(used(task.train))]
    assert np.allclose(seen.mean(axis=0), 0.0, atol=1e-12)
    assert np.allclose(seen.std(axis=0), 1.0)


def test_no_image_is_in_both_parts():
    task = digit_task()
    assert not used(task.train) & used(task.test)
    assert np.allclose(task.train.symmetric.mean(axis=0), 0.0, atol=1e-12)


def test_the_model_beats_the_simplest_rule(outcome):
    simplest = next(iter(outcome.baselines.values()))
    assert outcome.accuracy > simplest + outcome.standard_error
    assert all(0.5 < accuracy < 1.0 for accuracy in outcome.baselines.values())


def test_accuracy_is_the_score_of_the_model(outcome):
    task = outcome.task
    assert outcome.accuracy == pytest.approx(outcome.model.score(task.test, task.test_labels))


def test_certificate_and_swap_law_hold(outcome):
    assert outcome.certificate.holds
    assert outcome.swap_law_holds
    sign = -1.0 if outcome.task.symmetry == "antisymmetric" else 1.0
    swapped = outcome.model.decision_function(outcome.task.test.swap())
    assert np.array_equal(swapped, sign * outcome.decisions)


def test_a_broken_swap_law_is_reported(outcome):
    text = rendered(replace(outcome, swap_law_holds=False))
    assert "FAILS" in text
    assert "FAILS" not in rendered(outcome)


def rendered(outcome):
    console = Console(width=120, file=StringIO())
    console.print(render_outcome(outcome))
    return console.file.getvalue()


def test_predictions_are_written_to_the_last_digit(outcome, tmp_path):
    write_predictions(outcome, tmp_path)
    (path,) = tmp_path.iterdir()
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    decisions = np.array([float(row["decision"]) for row in rows])
    assert np.array_equal(decisions, outcome.decisions)
    assert [int(row["prediction"]) for row in rows] == np.sign(decisions).tolist()
    assert [int(row["label"]) for row in rows] == outcome.task.test_labels.tolist()


def test_the_model_is_written_with_a_summary(outcome, tmp_path):
    write_model(outcome, tmp_path)
    (path,) = tmp_path.iterdir()
    found = read_model_file(path)
    assert np.array_equal(found.model.decision_function(outcome.task.test), outcome.decisions)
    assert found.metadata.training["held-out accuracy"] == outcome.accuracy


def test_a_tie_counts_one_half():
    assert accuracy_of(np.array([0.0, 1.0, -1.0, 2.0]), np.array([1, 1, -1, -1])) == 0.625


def test_the_threshold_separates_what_can_be_separated():
    distance = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    threshold = _best_threshold(distance, np.array([1, 1, 1, -1, -1]))
    assert threshold == 3.5
