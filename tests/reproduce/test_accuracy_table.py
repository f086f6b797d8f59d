"""A small Table 3: the procedure of Section 6, and that it is free of leaks."""

from __future__ import annotations

import numpy as np
import pytest

from pairity.app.reproduce import accuracy_table
from pairity.app.reproduce.accuracy_table import PENALTIES, AccuracyTable, reproduce_accuracy
from pairity.datasets.made import LabelledPairs, all_ordered
from pairity.kernels import Bilinear, OrderInvariant


@pytest.fixture(scope="module", params=[3, 4])
def table(request):
    return reproduce_accuracy(request.param, seed=0, repetitions=2)


def test_the_seven_penalties():
    assert pytest.approx([5.0**k for k in (-3, -2, -1, 0, 1, 2, 3)]) == PENALTIES


def test_the_order_invariant_kernel_wins_the_first_repetitions(table):
    found = table.compare()
    assert (found.wins, found.ties, found.losses) == (2, 0, 0)
    assert 80.0 < found.mean_plain < found.mean_invariant <= 100.0


def test_outcomes_are_consistent(table):
    for repetition in table.repetitions:
        for outcome in (repetition.plain, repetition.invariant):
            best = max(outcome.validation)
            assert len(outcome.validation) == 7
            assert outcome.C_smallest <= outcome.C
            assert outcome.validation[PENALTIES.index(outcome.C)] == pytest.approx(best)
            assert outcome.validation[PENALTIES.index(outcome.C_smallest)] == pytest.approx(best)
            # 100 validation pairs, 9,900 test pairs
            assert best == pytest.approx(round(best))
            assert outcome.accuracy * 99.0 == pytest.approx(round(outcome.accuracy * 99.0))


def test_fewer_repetitions_are_the_first_of_more(table):
    one = reproduce_accuracy(table.scenario, seed=0, repetitions=1)
    assert one.repetitions[0] == table.repetitions[0]


def test_every_repetition_ticks():
    ticks = []
    reproduce_accuracy(4, seed=1, repetitions=1, tick=lambda: ticks.append(1))
    assert len(ticks) == 1


def test_set_sizes_and_freedom_from_leaks(monkeypatch):
    seen = []

    def spy(kernel, symmetry, C, train, test):
        seen.append((symmetry, C, train, test))
        return 50.0

    monkeypatch.setattr(accuracy_table, "accuracy", spy)
    reproduce_accuracy(3, repetitions=1)
    sizes = {(len(train.pairs), len(test.pairs)) for _, _, train, test in seen}
    assert sizes == {(380, 20), (600, 9900)}
    assert [symmetry for symmetry, *_ in seen].count("none") == len(seen) // 2
    for _, _, train, test in seen:
        known = {tuple(row) for row in train.pairs.objects}
        assert not known & {tuple(row) for row in test.pairs.objects}
    folds = [test for _, C, train, test in seen if PENALTIES[0] == C and len(train.pairs) == 380]
    held_out = {tuple(row) for fold in folds[:5] for row in fold.pairs.objects}
    assert len(held_out) == 25  # every object is held out once


def test_ties_among_scores_go_to_the_largest_penalty_and_the_smallest_is_kept(monkeypatch):
    scores = dict(zip(PENALTIES, [60, 90, 90, 80, 90, 70, 60], strict=True))
    monkeypatch.setattr(accuracy_table, "accuracy", lambda kernel, symmetry, C, *sets: scores[C])
    outcome = reproduce_accuracy(3, repetitions=1).repetitions[0].plain
    assert (outcome.C_smallest, outcome.C) == (PENALTIES[1], PENALTIES[4])


def test_a_training_set_of_one_class_gives_the_constant_machine():
    objects = np.random.default_rng(0).normal(size=(4, 2))
    pairs = all_ordered(objects)
    train = LabelledPairs(pairs, np.ones(len(pairs)))
    test = LabelledPairs(pairs, np.where(np.arange(len(pairs)) < 3, 1.0, -1.0))
    kernel = OrderInvariant(Bilinear(np.eye(8)))
    assert accuracy_table.accuracy(kernel, "symmetric", 1.0, train, test) == 25.0


def test_comparison_with_the_paper_needs_no_repetitions():
    assert AccuracyTable(4, ()).compare_paper().wins == 18
