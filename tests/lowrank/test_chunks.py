"""Pairs sorted by their first object: nothing is lost, in any block, chunk or sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.losses import hinge
from pairity.solvers.low_rank import design as chunks
from pairity.solvers.low_rank.design import PairChunk, Rows, arrange

objects = st.integers(0, 6)
many_pairs = st.lists(st.tuples(objects, objects), max_size=40)
sizes = st.sampled_from([1, 2, 5, 100])


def arranged(pairs):
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return arrange(first, second, 7)


def listed(rows):
    """The pairs of sorted rows, one by one."""
    return [
        (int(row), int(rows.second[place]))
        for number, row in enumerate(rows.rows)
        for place in range(rows.ends[number], rows.ends[number + 1])
    ]


@given(pairs=many_pairs)
def test_all_pairs_are_there_once_and_sorted(pairs):
    rows, came_from = arranged(pairs)
    assert listed(rows) == sorted(pairs)
    assert len(rows) == len(pairs)
    assert sorted(came_from) == list(range(len(pairs)))
    assert [pairs[place] for place in came_from] == listed(rows)
    assert (np.diff(rows.rows) > 0).all()
    assert (np.diff(rows.ends) > 0).all()


@given(pairs=many_pairs, size=sizes)
def test_blocks_cover_every_pair_once(pairs, size):
    rows, _ = arranged(pairs)
    before = chunks._BLOCK
    try:
        chunks._BLOCK = size
        blocks = rows.blocks
    finally:
        chunks._BLOCK = before
    assert bool(blocks) == bool(pairs)
    places = [place for block in blocks for place in range(len(pairs))[block.pairs]]
    assert places == list(range(len(pairs)))
    numbers = [row for block in blocks for row in range(block.first_row, block.last_row)]
    assert numbers == list(range(len(rows.rows)))
    for block in blocks:
        ends = rows.ends[block.first_row], rows.ends[block.last_row]
        assert (block.pairs.start, block.pairs.stop) == ends


@given(pairs=many_pairs, data=st.data())
def test_kept_pairs_are_those_and_no_others(pairs, data):
    rows, _ = arranged(pairs)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    kept = kept.astype(bool)
    found = rows.keep(kept)
    assert listed(found) == [
        pair for pair, wanted in zip(listed(rows), kept, strict=True) if wanted
    ]
    assert (np.diff(found.ends) > 0).all()


@pytest.mark.parametrize("pairs", [[], [(3, 1)], [(2, 2)]])
def test_none_and_one(pairs):
    rows, _ = arranged(pairs)
    assert listed(rows) == pairs
    assert len(rows.blocks) == len(pairs)
    assert listed(rows.keep(np.zeros(len(pairs), dtype=bool))) == []


@given(pairs=many_pairs, wanted=st.integers(1, 60))
def test_samples_are_evenly_spread(pairs, wanted):
    rows, _ = arranged(pairs)
    labels = np.where(np.arange(len(pairs)) % 3 > 0, 1.0, -1.0)
    group = np.arange(len(pairs), dtype=float)[:, np.newaxis]
    some = PairChunk(rows, group, hinge(labels, np.ones(len(pairs)))).sample(wanted)
    step = max(1, len(pairs) // wanted)
    places = list(range(0, len(pairs), step))
    assert len(some) == len(places)
    assert listed(some.order) == [listed(rows)[place] for place in places]
    assert some.group[:, 0].tolist() == [float(place) for place in places]
    assert np.array_equal(some.losses.take(slice(None)).above, labels[places])


def test_few_pairs_of_many_objects_need_little():
    """Rows are those of objects that come first, however many objects there are."""
    rows, _ = arrange(np.array([10**6, 5]), np.array([3, 10**6]), 10**6 + 1)
    assert isinstance(rows, Rows)
    assert listed(rows) == [(5, 10**6), (10**6, 3)]
