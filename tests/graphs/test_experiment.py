"""The experiment on graphs: nothing that is held out is seen, and the page shows the stored results."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.graphs import figure, protocol, report
from experiments.graphs.candidates import CANDIDATES, Candidate, described
from experiments.graphs.known import Draw, Known, Task
from experiments.graphs.run import FIRST_SEED, TASKS, find_data
from experiments.tables import tables_in, with_tables
from sklearn.metrics import roc_auc_score

from pairity import Pairs
from pairity.kernels import Gaussian

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "experiments" / "results", ROOT / "docs" / "graph-experiment.md"


def tiny_draw(symmetry):
    """All pairs of 11 nodes, tied where they are close, or led by the larger one."""
    rng = np.random.default_rng(5)
    pairs = Pairs.complete(rng.normal(size=(11, 2)))
    difference = (pairs.objects[pairs.first] - pairs.objects[pairs.second])[:, 0]
    noisy = difference + 0.3 * rng.normal(size=len(pairs))
    return Draw(
        pairs, np.where(np.abs(noisy) < 0.8 if symmetry == "symmetric" else noisy > 0, 1.0, -1.0)
    )


def tiny_task(symmetry):
    measure = "AUC" if symmetry == "symmetric" else "accuracy"
    links = symmetry == "symmetric"
    return Task(
        "tiny", "tiny?", symmetry, measure, links, lambda folder: None, lambda data, rng: data
    )


SYMMETRIES = pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])


@pytest.fixture
def few_settings(monkeypatch):
    """Every kernel with one setting, one C and two inner folds: seconds, not minutes."""
    few = tuple(replace(candidate, settings=candidate.settings[-1:]) for candidate in CANDIDATES)
    monkeypatch.setattr(protocol, "CANDIDATES", few)
    monkeypatch.setattr(protocol, "PENALTIES", (1.0,))
    monkeypatch.setattr(protocol, "FOLDS", 2)


def with_hidden_labels_turned(draw, seed):
    """The same draw with the opposite label on every test pair."""
    _, test = protocol.split(draw, seed)
    y = draw.y.copy()
    y[test] *= -1.0
    return Draw(draw.pairs, y)


@SYMMETRIES
def test_held_out_labels_change_nothing_but_what_is_right(symmetry, few_settings):
    """The whole protocol, with true and with opposite test labels."""
    task, draw = tiny_task(symmetry), tiny_draw(symmetry)
    sizes, scores = protocol.run_seed(task, draw, 0)
    _, turned = protocol.run_seed(task, with_hidden_labels_turned(draw, 0), 0)
    assert [score.method for score in scores] == report.METHODS
    assert sizes.training + sizes.test == len(draw.pairs)
    for true, opposite in zip(scores, turned, strict=True):
        assert (true.C, true.setting) == (opposite.C, opposite.setting)
        assert true.accuracy + opposite.accuracy == pytest.approx(1.0, abs=1e-12)
        if true.auc is not None:
            assert true.auc + opposite.auc == pytest.approx(1.0, abs=1e-12)
    assert max(score.accuracy for score in scores) > 0.6


@SYMMETRIES
def test_a_leak_would_be_seen(symmetry, monkeypatch):
    task, draw = tiny_task(symmetry), tiny_draw(symmetry)
    current = {}

    def leaky(known):
        block = {symmetry: current["y"][:, np.newaxis]}
        return Pairs(known.pairs.objects, known.pairs.first, known.pairs.second, **block)

    candidate = Candidate("leaky", "plain", leaky, lambda known, setting: Gaussian(1.0), (None,))
    monkeypatch.setattr(protocol, "CANDIDATES", (candidate,))
    monkeypatch.setattr(protocol, "PENALTIES", (100.0,))
    accuracies = []
    for shown in (draw, with_hidden_labels_turned(draw, 0)):
        current["y"] = shown.y
        accuracies.append(protocol.run_seed(task, shown, 0)[1][-1].accuracy)
    assert sum(accuracies) > 1.5


@SYMMETRIES
@pytest.mark.parametrize(
    "candidate", [c for c in CANDIDATES if c.group == "means"], ids=lambda c: c.name
)
def test_neighbour_features_come_from_training_pairs_alone(symmetry, candidate):
    """They are the same, bit for bit, where the held-out pairs do not exist."""
    task, draw = tiny_task(symmetry), tiny_draw(symmetry)
    train, _ = protocol.split(draw, 0)
    seen = described(candidate, Known.of(task, draw, train)).pairs[train]
    alone = Draw(draw.pairs[train], draw.y[train])
    same = described(candidate, Known.of(task, alone, np.arange(len(train)))).pairs
    assert np.array_equal(seen.to_rows(), same.to_rows())
    assert seen.shape[1] > draw.pairs.shape[1]


@SYMMETRIES
def test_known_edges_are_training_pairs(symmetry):
    task, draw = tiny_task(symmetry), tiny_draw(symmetry)
    train, test = protocol.split(draw, 0)
    known = Known.of(task, draw, train)
    hidden = set(zip(draw.pairs.first[test], draw.pairs.second[test], strict=True))
    assert not hidden & set(zip(known.edges.first, known.edges.second, strict=True))
    assert len(known.edges) == (np.sum(draw.y[train] > 0) if task.links else len(train))
    assert np.isnan(known.labels[test]).all()


@SYMMETRIES
def test_inner_folds_are_training_pairs(symmetry):
    task, draw = tiny_task(symmetry), tiny_draw(symmetry)
    train, _ = protocol.split(draw, 0)
    held = []
    for inner, validation in protocol.inner_folds(task, draw, train, 0):
        assert set(inner) | set(validation) == set(train)
        assert not set(inner) & set(validation)
        held.extend(validation)
    assert sorted(held) == sorted(train)


def test_auc_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    y, decisions = np.where(rng.random(50) < 0.2, 1.0, -1.0), rng.integers(0, 8, 50) / 4.0
    assert protocol.auc(y, decisions) == pytest.approx(roc_auc_score(y, decisions), abs=1e-12)


def stored():
    return json.loads((RESULTS / "graphs.json").read_text(encoding="utf-8"))


def test_the_page_shows_the_stored_results():
    tables = report.markdown(stored())
    page = PAGE.read_text(encoding="utf-8")
    assert tables_in(page) == tables.strip("\n") + "\n"
    assert (RESULTS / "graphs.md").read_text(encoding="utf-8").endswith(tables)
    assert "../experiments/results/graphs.png" in page
    assert (RESULTS / "graphs.png").stat().st_size > 10_000
    changed = with_tables(page, "nothing\n")
    assert tables_in(changed) == "nothing\n"


def test_the_stored_results_are_whole():
    results = stored()
    assert results["seeds"] == 10
    assert not results["skipped"]
    assert {row["seed"] for row in results["sizes"]} == set(range(FIRST_SEED, FIRST_SEED + 10))
    assert report.task_names(results) == list(TASKS)
    assert {TASKS[name].symmetry for name in TASKS} == {"symmetric", "antisymmetric"}
    for name in TASKS:
        for method in report.METHODS:
            values = report.values_of(results, name, method, TASKS[name].measure)
            assert len(values) == 10
            assert ((values >= 0.0) & (values <= 100.0)).all()


def test_figure(tmp_path, monkeypatch):
    """Of two tasks, so that a place is left over."""
    monkeypatch.setattr(figure, "task_names", lambda results: report.task_names(results)[:2])
    figure.draw(stored(), tmp_path / "graphs.png")
    assert (tmp_path / "graphs.png").read_bytes()[:4] == b"\x89PNG"


def test_absent_data_are_skipped_with_a_reason(tmp_path):
    present, skipped = find_data(list(TASKS.values()), tmp_path)
    assert [task.name for task in present] == ["karate", "novel"]
    assert skipped["airports"] == "no airports.csv in the data folder"
    assert set(skipped) == {"airports", "cora", "models", "football"}
