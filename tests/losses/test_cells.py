"""Cells: the dual term of all observations of a pair, against a brute-force infimal convolution.

Numbers are multiples of 1/4 and so are all bends: a grid of that step holds every minimiser, and
sums are exact.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.losses import epsilon_insensitive, hinge
from pairity.losses.piecewise import combine, spread_over_rows

STEP = 0.25
quarters = st.integers(-12, 12).map(lambda k: k / 4)
sizes = st.integers(0, 6).map(lambda k: k / 4)
labels = st.sampled_from([-1.0, 1.0])
labelled = st.lists(st.tuples(labels, sizes), min_size=1, max_size=5).map(
    lambda table: hinge(*np.array(table).T)
)
steps = st.sampled_from([0.25, 1.0, 3.0])


@st.composite
def one_target(draw):
    """The same target several times, with weights of their own."""
    weights = np.array(draw(st.lists(sizes, min_size=1, max_size=4)))
    epsilon = draw(st.sampled_from([0.0, 0.25, 1.0]))
    return epsilon_insensitive(np.full(len(weights), draw(quarters)), weights, epsilon)


losses_of_a_pair = st.one_of(labelled, one_target())


def thetas(low, high):
    return low + STEP * np.arange(round((high - low) / STEP) + 1)


def infimal_convolution(loss):
    """Least sum of the dual terms of all rows, for each sum of their variables on the grid."""
    best = {0.0: 0.0}
    for row in range(len(loss)):
        alone = loss.take(np.array([row]))
        grid = thetas(alone.low[0], alone.high[0])
        terms = [float(alone.conjugate(np.array([t]))[0]) for t in grid]
        larger = {}
        for total, value in best.items():
            for t, term in zip(grid, terms, strict=True):
                larger[total + t] = min(larger.get(total + t, np.inf), value + term)
        best = larger
    return best


def single_cell(loss):
    cells = combine(loss, np.zeros(len(loss), dtype=np.intp), 1)
    assert cells is not None
    return cells


def cell_term(cells, theta):
    """The dual term of the cell, up to a constant: its value at ``low`` is 0."""
    low, bend, below, above = (
        float(part[0]) for part in (cells.low, cells.bend, cells.below, cells.above)
    )
    return -below * (min(theta, bend) - low) - above * max(theta - bend, 0.0)


@given(loss=losses_of_a_pair)
def test_a_cell_is_the_infimal_convolution_of_its_rows(loss):
    cells, brute = single_cell(loss), infimal_convolution(loss)
    assert (cells.low[0], cells.high[0]) == (min(brute), max(brute))
    assert cells.low[0] <= cells.bend[0] <= cells.high[0]
    lowest = brute[min(brute)]
    for theta, value in brute.items():
        assert cell_term(cells, theta) == value - lowest


@given(loss=losses_of_a_pair, point=quarters, step=steps)
def test_prox_of_a_cell_is_the_minimiser(loss, point, step):
    cells, brute = single_cell(loss), infimal_convolution(loss)
    best = float(cells.prox(np.array([point]), step)[0])
    assert cells.low[0] <= best <= cells.high[0]

    def objective(theta, term):
        return term + (theta - point) ** 2 / (2.0 * step)

    mine = objective(best, cell_term(cells, best) + brute[min(brute)])
    assert mine <= min(objective(theta, term) for theta, term in brute.items()) + 1e-12


@given(loss=losses_of_a_pair)
def test_rows_share_what_their_cell_has(loss):
    """The sum comes back, every row keeps to its bounds, and no other split is better."""
    cells, brute = single_cell(loss), infimal_convolution(loss)
    for theta, value in brute.items():
        parts = spread_over_rows(
            loss, cells, np.zeros(len(loss), dtype=np.intp), np.array([theta]), 0.0
        )
        assert parts.sum() == pytest.approx(theta, abs=1e-12)
        assert (parts >= loss.low).all()
        assert (parts <= loss.high).all()
        assert float(loss.conjugate(parts).sum()) == pytest.approx(value, abs=1e-12)


def test_shares_that_are_nearly_whole_are_whole():
    loss = epsilon_insensitive(np.array([1.0, 1.0]), np.array([1.0, 2.0]), 0.25)
    cells, place = single_cell(loss), np.zeros(2, dtype=np.intp)
    for theta, expected in [
        (3.0 - 1e-8, [1.0, 2.0]),
        (1e-8, [0.0, 0.0]),
        (-1e-8, [0.0, 0.0]),
        (-3.0 + 1e-8, [-1.0, -2.0]),
        (1.5, [0.5, 1.0]),
    ]:
        parts = spread_over_rows(loss, cells, place, np.array([theta]), 1e-6)
        assert parts.tolist() == expected


def test_contradicting_labels_bend_between_them():
    """Two wins and one loss of equal weight: theta between -1 and 2, one less for each."""
    cells = single_cell(hinge(np.array([1.0, -1.0, 1.0]), np.ones(3)))
    assert [part.tolist() for part in cells.parts()] == [[-1.0], [1.0], [2.0], [1.0], [-1.0]]


@given(data=st.data(), point=quarters, step=steps)
def test_cells_of_one_row_are_the_rows(data, point, step):
    """Whatever the order of the cells; those without a row stay at 0."""
    kind = data.draw(st.sampled_from([0.0, 0.25, None]))
    table = data.draw(st.lists(st.tuples(quarters, sizes), min_size=1, max_size=6))
    targets, weights = np.array(table).T
    if kind is None:
        loss = hinge(np.where(targets > 0, 1.0, -1.0), weights)
    else:
        loss = epsilon_insensitive(targets, weights, kind)
    places = np.array(data.draw(st.permutations(range(8))))[: len(loss)]
    cells = combine(loss, places, 8)
    points = np.linspace(point - 2.0, point + 2.0, 8)
    theta = cells.prox(points, step)
    assert np.array_equal(theta[places], loss.prox(points[places], step))
    assert not np.delete(theta, places).any()
    spread = spread_over_rows(loss, cells, places, theta, 0.0)
    np.testing.assert_allclose(spread, theta[places], rtol=0, atol=1e-15)


@given(loss=losses_of_a_pair, point=quarters, step=steps)
def test_swapped_cells(loss, point, step):
    """Written in the other order an odd pair has the opposite theta; an even one the same."""
    cells, points = single_cell(loss), np.array([point])
    theta = cells.prox(points, step)
    assert np.array_equal(cells.swapped(-1.0).prox(-points, step), -theta)
    assert np.array_equal(cells.swapped(1.0).prox(points, step), theta)
    swapped_rows = single_cell(loss.signed(np.full(len(loss), -1.0)))
    assert np.array_equal(swapped_rows.prox(-points, step), -theta)


@pytest.mark.parametrize("epsilon", [0.0, 0.25])
def test_three_different_pieces_do_not_fit(epsilon):
    two = epsilon_insensitive(np.array([1.0, 2.0]), np.ones(2), epsilon)
    three = epsilon_insensitive(np.array([1.0, 2.0, 3.0]), np.ones(3), epsilon)
    together = np.zeros(3, dtype=np.intp)
    assert combine(three, together, 2) is None
    assert combine(three, np.array([0, 1, 0]), 2) is None or epsilon == 0.0
    assert combine(three, np.array([0, 1, 2]), 3) is not None
    # absolute errors have one piece each: two targets fit
    assert (combine(two, together[:2], 1) is None) == (epsilon > 0.0)


def test_rows_of_weight_zero_do_not_count_as_pieces():
    loss = epsilon_insensitive(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0]), 0.25)
    cells = single_cell(loss)
    points = np.array([0.5])
    alone = loss.take(np.array([1]))
    assert np.array_equal(cells.prox(points, 1.0), alone.prox(points, 1.0))
    parts = spread_over_rows(loss, cells, np.zeros(3, dtype=np.intp), np.array([0.5]), 0.0)
    assert parts.tolist() == [0.0, 0.5, 0.0]


@given(targets=st.tuples(quarters, quarters), weights=st.tuples(sizes, sizes), point=quarters)
def test_two_absolute_errors_fit_a_cell(targets, weights, point):
    loss = epsilon_insensitive(np.array(targets), np.array(weights), 0.0)
    cells, brute = single_cell(loss), infimal_convolution(loss)
    lowest = brute[min(brute)]
    for theta, value in brute.items():
        assert cell_term(cells, theta) == value - lowest
