"""Pairs observed in both orders: matches and counts against plain twins, the exact test."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity import Pairs
from pairity.inspection.comparison import compare_mirrored, match_orders, read_targets
from pairity.pairs.same_objects import ends_of


def naive_matches(first, second):
    """First (a, b) with first (b, a), second with second, and so on."""
    matches = []
    for low, high in sorted({(min(p), max(p)) for p in zip(first, second, strict=True)}):
        if low == high:
            continue
        there = [i for i, p in enumerate(zip(first, second, strict=True)) if p == (low, high)]
        back = [i for i, p in enumerate(zip(first, second, strict=True)) if p == (high, low)]
        matches += list(zip(there, back, strict=False))
    return matches


def naive_p_value(k, n):
    """Two-sided exact test against one half: all outcomes that are no more likely."""
    chances = [comb(n, i) / 2**n for i in range(n + 1)]
    return min(1.0, sum(c for c in chances if c <= chances[k] * (1 + 1e-9)))


@given(seed=st.integers(0, 10**6), m=st.integers(2, 6), n=st.integers(0, 40))
def test_matches_are_those_of_the_plain_twin(seed, m, n):
    rng = np.random.default_rng(seed)
    pairs = Pairs(np.zeros((m, 0)), rng.integers(m, size=n), rng.integers(m, size=n))
    ends = ends_of(pairs)
    there, back = match_orders(ends)
    assert sorted(zip(there.tolist(), back.tolist(), strict=True)) == sorted(
        naive_matches(ends.first.tolist(), ends.second.tolist())
    )


@given(seed=st.integers(0, 10**6))
def test_counts_and_test(seed):
    rng = np.random.default_rng(seed)
    pairs = Pairs(np.arange(4.0)[:, None], rng.integers(4, size=30), rng.integers(4, size=30))
    labels = rng.choice(["no", "yes"], size=30)
    labels[:2] = "no", "yes"
    ends = ends_of(pairs)
    found = compare_mirrored(ends, read_targets(labels, 30))
    matches = naive_matches(ends.first.tolist(), ends.second.tolist())
    agree = sum(labels[i] == labels[j] for i, j in matches)
    assert (found.n_agree, found.n_opposite) == (agree, len(matches) - agree)
    unordered = {tuple(sorted((ends.first[i], ends.second[i]))) for i, _ in matches}
    assert found.n_pairs == len(unordered)
    expected = naive_p_value(agree, len(matches)) if matches else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-9)


def both_orders(n):
    """n unordered pairs, each in both orders."""
    there = Pairs.complete(np.arange(8.0)[:, None])[:n]
    return there.with_mirrored()


@pytest.mark.parametrize(("sign", "law"), [(1, "symmetric"), (-1, "antisymmetric")])
def test_laws_are_recognised(sign, law, rng):
    pairs = both_orders(20)
    half = rng.choice([-1, 1], size=20)
    found = compare_mirrored(ends_of(pairs), read_targets(np.r_[half, sign * half], 40))
    assert found.leans == law
    assert found.p_value < 1e-5
    numbers = rng.normal(size=20)
    found = compare_mirrored(ends_of(pairs), read_targets(np.r_[numbers, sign * numbers], 40))
    assert found.leans == law


def test_a_constant_does_not_hide_an_odd_part(rng):
    numbers = rng.normal(size=20)
    targets = read_targets(np.r_[10.0 + numbers, 10.0 - numbers], 40)
    found = compare_mirrored(ends_of(both_orders(20)), targets)
    assert (found.leans, found.n_opposite) == ("antisymmetric", 20)


def test_what_says_nothing():
    pairs = Pairs(np.arange(3.0)[:, None], [0, 1, 2, 2], [1, 2, 2, 1])
    alone = compare_mirrored(ends_of(pairs[:3]), read_targets([1, -1, 1], 3))
    assert (alone.n_pairs, alone.n_matches, alone.p_value, alone.leans) == (0, 0, 1.0, None)
    assert str(alone) == "no pair was observed in both orders"
    level = compare_mirrored(ends_of(both_orders(3)), read_targets([1, 2, 3, 2, 2, 2], 6))
    assert (level.n_pairs, level.n_matches) == (3, 0)
    assert "say nothing" in str(level)
    some = compare_mirrored(ends_of(pairs), read_targets([1, -1, 1, 1], 4))
    assert str(some).startswith("1 pairs were observed in both orders: 0 of 1 matches agree")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, -1], "got 2 labels or targets for 3 pairs"),
        ([1.0, np.nan, 2.0], "got NaN or infinity in y"),
        (["win", "draw", "loss"], "got 3 labels .*; expected two labels, or numbers"),
    ],
)
def test_refused_targets(y, message):
    with pytest.raises(ValueError, match=message):
        read_targets(y, 3)
