"""The paper's tables as stored: golden checks against what the paper and MATH.md section 4 say."""

from __future__ import annotations

import numpy as np
import pytest

from pairity.app.reproduce.accuracy_table import compare
from pairity.app.reproduce.paper import ACCURACIES, COEFFICIENTS, STATED
from pairity.app.reproduce.render import paper_coefficients
from pairity.app.reproduce.support_tables import (
    order_invariant_matrix,
    printed_ratio,
    smallest_ratio,
    tridiagonal,
)

# From MATH.md 4 (ix), recomputed there from the printed accuracies.
MATH = {3: (89.48, 94.52, 18, 1, 1, 1.7e-4), 4: (92.46, 94.74, 18, 0, 2, 1.5e-3)}


@pytest.mark.parametrize("scenario", [3, 4])
def test_table_3_has_the_means_wins_and_p_of_its_numbers(scenario):
    printed = ACCURACIES[scenario]
    assert len(printed["K_P"]) == len(printed["K_P^o"]) == 20
    found = compare(printed["K_P"], printed["K_P^o"])
    plain, invariant, wins, ties, losses, p_value = MATH[scenario]
    assert found.mean_plain == pytest.approx(plain, abs=0.0051)
    assert found.mean_invariant == pytest.approx(invariant, abs=0.0051)
    assert (found.wins, found.ties, found.losses) == (wins, ties, losses)
    assert found.p_value == pytest.approx(p_value, rel=0.02)


def test_the_text_of_the_paper_counts_one_win_too_many_in_scenario_3():
    assert STATED[3] == (19, 0.0001)
    assert compare(ACCURACIES[3]["K_P"], ACCURACIES[3]["K_P^o"]).wins == 18
    assert STATED[4] == (18, 0.0015)


def test_a_comparison_without_differences_shows_nothing():
    found = compare([90.0, 91.0], [90.0, 91.0])
    assert (found.wins, found.ties, found.losses, found.p_value) == (0, 2, 0, 1.0)


def test_swapping_the_kernels_swaps_wins_and_losses():
    printed = ACCURACIES[3]
    there = compare(printed["K_P"], printed["K_P^o"])
    back = compare(printed["K_P^o"], printed["K_P"])
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == pytest.approx(back.p_value)


@pytest.mark.parametrize(
    ("table", "counts"),
    [
        (1, {"a": 6, "b": 8, "c": 32, "d": 6, "e": 6}),
        (2, {"a": 12, "b": 18, "c": 32, "d": 11, "e": 12}),
    ],
)
def test_tables_1_and_2_have_the_printed_numbers_of_support_vectors(table, counts):
    assert {part: len(values) for part, values in COEFFICIENTS[table].items()} == counts


@pytest.mark.parametrize("table", [1, 2])
@pytest.mark.parametrize("part", list("abcde"))
def test_printed_coefficients_are_feasible_and_mirrored_but_for_k_p(table, part):
    there, back = paper_coefficients(table, part).reshape(2, -1)
    sign = -1.0 if table == 2 else 1.0
    total = np.sum(there) + np.sum(back)  # sum(y alpha) = 0, to rounding
    misprint = 0.09 if (table, part) == (1, "c") else 0.0
    assert total == pytest.approx(misprint, abs=32 * 5e-5)
    assert np.abs([there, back]).max() <= 1.0
    assert np.array_equal(there, sign * back) == (part != "d")


@pytest.mark.parametrize(("off_diagonal", "values"), [(0.2, (10.8, 9.2)), (0.5, (15.0, 11.0))])
def test_footnote_11_speaks_of_an_off_diagonal_of_one_half(off_diagonal, values):
    P = tridiagonal(off_diagonal)
    ones = np.ones(8)
    mirrored = np.array([1, 1, 1, 1, -1, -1, 1, 1.0])
    assert (ones @ P @ ones, mirrored @ P @ mirrored) == pytest.approx(values)
    assert np.linalg.eigvalsh(P)[0] > 0.05


def test_table_1_cannot_have_been_made_with_the_off_diagonal_of_the_text():
    assert printed_ratio() == pytest.approx(0.6497, abs=1e-4)
    assert printed_ratio() + 1e-3 < smallest_ratio(0.2) == pytest.approx(0.7795, abs=1e-4)
    assert printed_ratio() > smallest_ratio(0.5) == pytest.approx(0.5858, abs=1e-4)


def test_the_order_invariant_matrix_gives_the_kernel_of_formula_38():
    from pairity import Pairs
    from pairity.kernels import Bilinear, OrderInvariant

    rows = np.random.default_rng(3).normal(size=(5, 8))
    pairs = Pairs.from_rows(rows, 2, 2)
    P = tridiagonal(0.2)
    expected = OrderInvariant(Bilinear(P)).gram(pairs)
    assert np.allclose(rows @ order_invariant_matrix(P) @ rows.T, expected, rtol=0, atol=1e-12)
