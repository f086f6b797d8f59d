"""Warnings about data: each where it belongs, and nowhere else."""

import numpy as np
import pytest
from made import matcher, photographs, ranker, tournament

from pairity import PairLogistic, Pairs, PairSVC
from pairity.app.report.observations import describe, warn
from pairity.app.report.subject import Subject

ODD = {"symmetry": "antisymmetric", "kernel": "linear"}


def titles(pairs, y, model=None):
    model = model or PairLogistic(**ODD).fit(pairs, y)
    return {notice.title for notice in warn(Subject.read(model, pairs, y))}


def joined(pairs, *rows):
    rows = np.concatenate(rows)
    return Pairs(pairs.objects, pairs.first[rows], pairs.second[rows], ids=pairs.ids)


def test_clean_data_have_no_warning():
    pairs, y, _ = tournament()
    assert titles(pairs, y) == set()


def test_repetition_is_noted_and_contradiction_is_a_warning():
    pairs, y, _ = tournament()
    rows = np.arange(len(pairs))
    twice = joined(pairs, rows, [4])
    assert titles(twice, np.append(y, y[4])) == {"Repeated pairs"}
    assert titles(twice, np.append(y, -y[4])) == {"Repeated pairs", "Contradictions"}


def test_a_game_seen_from_both_sides_is_no_contradiction():
    pairs, y, _ = tournament()
    rows = np.arange(len(pairs))
    both = Pairs(
        pairs.objects,
        np.append(pairs.first, pairs.second[4]),
        np.append(pairs.second, pairs.first[4]),
        ids=pairs.ids,
    )
    assert titles(both, np.append(y, -y[4])) == {"Repeated pairs"}
    assert titles(both, np.append(y, y[4])) == {"Repeated pairs", "Contradictions"}
    assert len(rows) == len(both) - 1


@pytest.mark.filterwarnings("ignore::pairity.exceptions.DoubledRowsWarning")
def test_mirror_images_of_all_rows_are_a_warning():
    pairs, y, _ = tournament()
    doubled, labels = pairs.with_mirrored(), np.concatenate([y, -y])
    assert titles(doubled, labels) == {"Doubled rows", "Repeated pairs"}
    assert "Doubled rows" not in titles(doubled[:-1], labels[:-1])
    other = labels.copy()
    other[-1] *= -1
    assert "Doubled rows" not in titles(doubled, other)


def test_self_pairs_are_a_warning():
    pairs, y = photographs()
    alone = Pairs(
        pairs.objects, np.append(pairs.first, 0), np.append(pairs.second, 0), ids=pairs.ids
    )
    labels = np.append(y, "same")
    assert titles(alone, labels, matcher(alone, labels)) == {"Self pairs"}


def test_few_objects_and_lookalikes_and_constants():
    pairs, y, _ = tournament(6)
    assert titles(pairs, y) == {"Few data"}
    pairs, y, _ = tournament()
    objects = pairs.objects.copy()
    objects[3] = objects[2]
    alike = Pairs(
        np.column_stack([objects, np.ones(len(objects))]), pairs.first, pairs.second, ids=pairs.ids
    )
    assert titles(alike, y) == {"Lookalikes", "Constant features"}


def test_objects_seen_once_and_separate_parts():
    generator = np.random.default_rng(0)
    pairs = Pairs(generator.normal(size=(140, 2)), np.arange(70), np.arange(70, 140))
    y = np.where(generator.random(70) < 0.5, 1, -1)
    assert titles(pairs, y) == {"Objects seen once", "Separate parts"}


def test_a_rare_label_is_noted():
    pairs, _ = photographs()
    y = np.where(np.arange(len(pairs)) % 20 == 0, "match", "no match")
    model = PairSVC("symmetric", kernel="linear").fit(pairs, y)
    assert titles(pairs, y, model) == {"A rare label"}
    notice = next(warn(Subject.read(model, pairs, y)))
    assert "'match'" in notice.text


def test_numbers_contradict_where_their_signs_do():
    from pairity import PairRidge

    pairs, _, margin = tournament()
    twice = joined(pairs, np.arange(len(pairs)), [4])
    for factor, expected in ((0.5, {"Repeated pairs"}), (-1, {"Repeated pairs", "Contradictions"})):
        y = np.append(margin, factor * margin[4])
        assert (
            titles(twice, y, PairRidge("antisymmetric", kernel="linear").fit(twice, y)) == expected
        )


def test_counts_are_those_of_the_data():
    pairs, y, _ = tournament()
    found = describe(Subject.read(ranker(pairs, y), pairs, y, {1: "won", -1: "lost"}))
    assert (found.n_pairs, found.n_distinct, found.n_objects) == (153, 153, 18)
    assert found.n_features == (2, 0, 0)
    assert dict(found.label_counts) == {"won": (y > 0).sum(), "lost": (y < 0).sum()}
