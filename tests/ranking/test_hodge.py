"""HodgeRank: parts are orthogonal and add up, and are those of plain projections."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity import Pairs
from pairity.inspection import decompose, hodge_rank, observed_flow
from pairity.inspection import flow as curl_module


def random_flow_data(seed, m=9, share=0.5, repeats=1):
    """An incomplete set of comparisons, in either order, with outcomes and weights."""
    rng = np.random.default_rng(seed)
    ends = np.array(list(combinations(range(m), 2)))
    ends = ends[rng.random(len(ends)) < share]
    ends = rng.permuted(np.repeat(ends, repeats, axis=0), axis=1)
    pairs = Pairs(np.zeros((m, 1)), *ends.T)
    return pairs, rng.normal(size=len(ends)), rng.uniform(0.2, 3.0, size=len(ends))


def naive_projection(columns, weights, values):
    """Projection onto the columns, orthogonal in the weighted product, by dense least squares."""
    if not columns.size:
        return np.zeros_like(values)
    root = np.sqrt(weights)
    found = np.linalg.lstsq(root[:, None] * columns, root * values, rcond=None)[0]
    return columns @ found


def naive_parts(flow):
    """Gradient and curl parts straight from their definitions."""
    edges = list(zip(flow.first.tolist(), flow.second.tolist(), strict=True))
    place = {edge: number for number, edge in enumerate(edges)}
    gradients = np.zeros((len(edges), flow.n_objects))
    for number, (i, j) in enumerate(edges):
        gradients[number, [i, j]] = 1.0, -1.0
    loops = []
    for i, j, k in combinations(range(flow.n_objects), 3):
        if {(i, j), (j, k), (i, k)} <= place.keys():
            loop = np.zeros(len(edges))
            loop[[place[i, j], place[j, k], place[i, k]]] = 1.0, 1.0, -1.0
            loops.append(loop / flow.weights)
    gradient = naive_projection(gradients, flow.weights, flow.values)
    curls = np.array(loops).T if loops else np.zeros((len(edges), 0))
    return gradient, naive_projection(curls, flow.weights, flow.values - gradient)


@given(
    seed=st.integers(0, 10_000),
    m=st.integers(2, 11),
    share=st.floats(0.1, 1.0),
    repeats=st.integers(1, 2),
)
def test_parts_are_orthogonal_add_up_and_are_the_plain_projections(seed, m, share, repeats):
    pairs, y, weights = random_flow_data(seed, m, share, repeats)
    parts = hodge_rank(pairs, y, weights)
    flow = parts.flow
    found = [parts.gradient, parts.curl, parts.harmonic]
    assert np.allclose(sum(found), flow.values, atol=1e-12)
    for one, other in combinations(found, 2):
        assert abs(np.sum(flow.weights * one * other)) < 1e-10
    shares = parts.gradient_share + parts.curl_share + parts.harmonic_share
    assert shares == pytest.approx(1.0, abs=1e-9)
    assert parts.cyclic_share == pytest.approx(1.0 - parts.gradient_share, abs=1e-9)
    for part, expected in zip(found, naive_parts(flow), strict=False):
        assert np.allclose(part, expected, atol=1e-8)


@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.9))
def test_the_way_without_a_list_of_triangles_is_the_same(seed, share):
    flow = observed_flow(*random_flow_data(seed, 10, share))
    listed = decompose(flow)
    limit, curl_module._TRIANGLES_LISTED = curl_module._TRIANGLES_LISTED, -1
    try:
        other = decompose(flow)
    finally:
        curl_module._TRIANGLES_LISTED = limit
    assert np.allclose(listed.curl, other.curl, atol=1e-8)


@given(seed=st.integers(0, 10_000))
def test_the_order_in_which_a_pair_is_written_does_not_matter(seed):
    pairs, y, weights = random_flow_data(seed, repeats=2)
    one, other = hodge_rank(pairs, y, weights), hodge_rank(pairs.swap(), -y, weights)
    assert np.array_equal(one.flow.values, other.flow.values)
    assert np.array_equal(one.scores, other.scores)


@given(seed=st.integers(0, 10_000), share=st.floats(0.15, 1.0))
def test_planted_scores_are_recovered(seed, share):
    """Margins that are differences of scores: all explained, up to a shift in each part."""
    pairs, _, weights = random_flow_data(seed, 12, share)
    planted = np.random.default_rng([seed, 1]).normal(size=12)
    parts = hodge_rank(pairs, planted[pairs.first] - planted[pairs.second], weights)
    assert parts.gradient_share == pytest.approx(1.0, abs=1e-12)
    assert parts.cyclic_share < 1e-20
    for part in range(parts.n_components):
        inside = parts.components == part
        centred = planted[inside] - planted[inside].mean()
        assert np.allclose(parts.scores[inside], centred, atol=1e-9)


@pytest.mark.parametrize("m", [3, 10, 40])
def test_a_planted_transitive_tournament_is_recovered(m, rng):
    """Wins and losses only: the order comes out, and the share explained is 2 (m + 1) / (3 m).

    The scores are 2 / m apart, so pairs d places apart have the gradient 2 d / m, and
    sum_d (m - d) d^2 = m^2 (m^2 - 1) / 12.
    """
    strength = rng.permutation(m)
    pairs = Pairs.complete(np.zeros((m, 1)))
    parts = hodge_rank(pairs, np.where(strength[pairs.first] > strength[pairs.second], 1, -1))
    assert np.array_equal(np.argsort(parts.scores), np.argsort(strength))
    assert parts.gradient_share == pytest.approx(2 * (m + 1) / (3 * m), abs=1e-12)


def test_rock_paper_scissors_cannot_be_ranked():
    parts = hodge_rank(Pairs(np.eye(3), [0, 1, 2], [1, 2, 0]), [1, 1, 1])
    assert parts.gradient_share == pytest.approx(0.0, abs=1e-30)
    assert parts.curl_share == pytest.approx(1.0)
    assert parts.scores == pytest.approx(np.zeros(3), abs=1e-15)
    assert "0.0% explained by scores, 100.0% cyclic in triangles" in str(parts)


def test_a_long_loop_is_harmonic():
    loop = np.arange(6)
    parts = hodge_rank(Pairs(np.eye(6), loop, np.roll(loop, -1)), np.ones(6))
    shares = parts.gradient_share, parts.curl_share, parts.harmonic_share
    assert shares == pytest.approx((0.0, 0.0, 1.0), abs=1e-12)


def test_complete_sets_have_no_harmonic_part(rng):
    pairs = Pairs.complete(np.zeros((15, 1)))
    parts = hodge_rank(pairs, rng.normal(size=len(pairs)), rng.uniform(0.1, 2.0, size=len(pairs)))
    assert not parts.harmonic.any()
    assert parts.curl_share > 0.1


def test_parts_without_comparisons_between_them_and_objects_without_any():
    pairs = Pairs(np.eye(6), [0, 1, 3], [1, 2, 4])
    parts = hodge_rank(pairs, [1.0, 1.0, 4.0])
    assert parts.n_components == 3
    assert parts.scores == pytest.approx([1.0, 0.0, -1.0, 2.0, -2.0, 0.0])
    assert "3 parts without comparisons between them" in str(parts)


def test_observations_of_a_pair_are_averaged_by_weight():
    flow = observed_flow(Pairs(np.eye(3), [0, 1, 2], [1, 0, 1]), [1, 1, 5], [3, 1, 0])
    assert (flow.first.tolist(), flow.second.tolist()) == ([0], [1])
    assert flow.values.tolist() == [0.5]
    assert flow.weights.tolist() == [4.0]


def test_no_comparisons_and_ties_are_explained_by_equal_scores():
    for pairs, y in ((Pairs(np.eye(2), [], []), []), (Pairs(np.eye(2), [0], [1]), [0.0])):
        parts = hodge_rank(pairs, y)
        assert (parts.gradient_share, parts.curl_share, parts.cyclic_share) == (1.0, 0.0, 0.0)
        assert parts.scores.tolist() == [0.0, 0.0]


def test_the_cyclic_part_may_stay_in_one_piece():
    parts = hodge_rank(Pairs(np.eye(3), [0, 1, 2], [1, 2, 0]), [1, 1, 1], curl=False)
    assert parts.curl is None
    assert np.isnan(parts.curl_share)
    assert np.isnan(parts.harmonic_share)
    assert parts.cyclic_share == pytest.approx(1.0)


def test_too_many_triangles_are_refused(monkeypatch):
    monkeypatch.setattr(curl_module, "_TRIANGLES_LISTED", 2)
    monkeypatch.setattr(curl_module, "_OBJECTS_IN_MATRIX", 5)
    with pytest.raises(ValueError, match="more than 2 triangles among 10 objects; expected fewer"):
        hodge_rank(*random_flow_data(0, 10, 0.8)[:2])


@pytest.mark.parametrize(
    ("y", "weights", "sentence"),
    [
        (["a", "b"], None, "y that is not numbers; expected outcomes"),
        ([1.0], None, r"y of shape \(1,\); expected \(2,\) finite numbers"),
        ([1.0, np.nan], None, "finite numbers"),
        ([1, 1], [-1, 1], "negative sample weights"),
    ],
)
def test_outcomes_that_make_no_sense_are_refused(y, weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        hodge_rank(Pairs(np.eye(3), [0, 1], [1, 2]), y, weights)


def test_an_object_is_not_compared_with_itself():
    with pytest.raises(ValueError, match="row 1 that compares an object with itself"):
        hodge_rank(Pairs(np.eye(3), [0, 2], [1, 2]), [1, 1])
