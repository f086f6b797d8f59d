"""The strongest cycles are those that trying all triples finds."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity import Pairs
from pairity.inspection import flow as triangles_module
from pairity.inspection import hodge as cycles_module
from pairity.inspection import observed_flow, strongest_cycles


def naive_cycles(flow):
    """Strengths of all cycles, strongest first, and the number of triangles."""
    margin = {}
    for i, j, value in zip(flow.first.tolist(), flow.second.tolist(), flow.values, strict=True):
        margin[i, j], margin[j, i] = value, -value
    strengths, n_triangles = {}, 0
    for triple in combinations(range(flow.n_objects), 3):
        if all(edge in margin for edge in combinations(triple, 2)):
            n_triangles += 1
            for i, j, k in permutations(triple):
                links = margin[i, j], margin[j, k], margin[k, i]
                if i < min(j, k) and min(links) > 0:
                    strengths[i, j, k] = min(links)
    return strengths, n_triangles


def flow_of(seed, m, share, digits):
    rng = np.random.default_rng(seed)
    pairs = Pairs.complete(np.zeros((m, 1)))
    pairs = pairs[rng.random(len(pairs)) < share]
    return observed_flow(pairs, rng.normal(size=len(pairs)).round(digits))


@pytest.mark.parametrize("way", ["matrix", "rounds", "list", "chunks"])
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 10),
    share=st.floats(0.2, 1.0),
    digits=st.integers(0, 6),
    number=st.integers(0, 12),
)
def test_cycles_are_those_of_all_triples(way, seed, m, share, digits, number):
    flow = flow_of(seed, m, share, digits)
    with pytest.MonkeyPatch.context() as patch:
        if way == "rounds":
            patch.setattr(cycles_module, "_EDGES_AT_FIRST", 3)
        if way in ("list", "chunks"):
            patch.setattr(cycles_module, "_OBJECTS_IN_MATRIX", -1)
        if way == "chunks":
            patch.setattr(triangles_module, "_ENTRIES_AT_A_TIME", 4)
        found = strongest_cycles(flow, number)
    strengths, n_triangles = naive_cycles(flow)
    assert (found.n_triangles, found.n_cyclic) == (n_triangles, len(strengths))
    expected = sorted(strengths.values(), reverse=True)[:number]
    assert [cycle.strength for cycle in found.cycles] == expected
    for cycle in found.cycles:
        assert strengths[cycle.objects] == cycle.strength
        assert cycle.total >= 3 * cycle.strength


def test_a_transitive_order_has_no_cycle():
    pairs = Pairs.complete(np.zeros((30, 1)))
    found = strongest_cycles(observed_flow(pairs, np.ones(len(pairs))))
    assert (found.cycles, found.n_cyclic, found.n_triangles) == ((), 0, 4060)


def test_kendalls_count_of_cyclic_triads():
    """In a tournament: C(m, 3) - sum over objects of C(wins, 2)."""
    rng = np.random.default_rng(4)
    pairs = Pairs.complete(np.zeros((41, 1)))
    y = rng.choice([-1, 1], size=len(pairs))
    wins = np.bincount(np.where(y > 0, pairs.first, pairs.second), minlength=41)
    expected = 41 * 40 * 39 // 6 - int(np.sum(wins * (wins - 1) // 2))
    assert strongest_cycles(observed_flow(pairs, y), 3).n_cyclic == expected
