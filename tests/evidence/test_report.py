"""Verdicts on made-up data of every kind, on real data, and what the report shows."""

import numpy as np
import pytest

from pairity import PairRidge, Pairs, PairSVC, parity_report
from pairity.datasets import load_restaurants, load_train_choice
from pairity.exceptions import KernelError
from pairity.inspection.which_symmetry import _drawn
from pairity.kernels import Gaussian, Mixed, Tensor
from pairity.model_selection import ObjectKFold, PairKFold


def made_up(kind, seed, n=220, m=40):
    """Pairs of objects with three features, in arbitrary order, and what decides them."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(m, 3))
    direction = rng.normal(size=3)
    g = objects @ direction / np.linalg.norm(direction)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    a, b = objects[first], objects[second]
    odd = g[first] - g[second]
    close = 2.4 - 2.0 * np.linalg.norm(a - b, axis=1) / np.sqrt(3.0)
    value = {
        "strength": odd,
        "circle": 2.0 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]),
        "alike": close,
        "sum": g[first] + g[second],
        "both": odd + close,
        "both, mostly odd": odd + 0.6 * (g[first] + g[second]),
        "host": odd + 0.7,
        "noise": np.zeros(n),
    }[kind]
    return Pairs(objects, first, second), value + 0.3 * rng.normal(size=n)


LAWS = {
    "strength": "antisymmetric",
    "circle": "antisymmetric",
    "alike": "symmetric",
    "sum": "symmetric",
    "both": "mixed",
    "both, mostly odd": "mixed",
    "host": "mixed",
    "noise": "undecided",
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize(("kind", "law"), LAWS.items())
def test_verdicts(kind, law, labels, seed):
    pairs, values = made_up(kind, seed)
    y = np.where(values > 0, "yes", "no") if labels else values
    report = parity_report(pairs, y, cv=PairKFold(3, new=(0, 1, 2)))
    assert report.verdict == law
    assert report.symmetry == {"mixed": "none", "undecided": None}.get(law, law)


def turned(pairs, mask):
    first = np.where(mask, pairs.second, pairs.first)
    return Pairs(pairs.objects, first, np.where(mask, pairs.first, pairs.second))


@pytest.mark.parametrize(("kind", "sign"), [("strength", -1), ("alike", 1)])
def test_the_order_of_writing_does_not_matter(kind, sign, rng):
    pairs, values = made_up(kind, 3)
    y = np.where(values > 0, 1, -1)
    mask = rng.random(len(y)) < 0.5
    again = parity_report(turned(pairs, mask), np.where(mask, sign * y, y))
    assert again.verdict == parity_report(pairs, y).verdict == LAWS[kind]


def test_winner_first():
    """Every label is 1: the order is the answer, and can be told from the features."""
    pairs, values = made_up("strength", 4)
    report = parity_report(turned(pairs, values < 0), np.ones(len(values), dtype=int))
    assert report.verdict == "antisymmetric"
    assert "all labels are 1, so the order in which pairs are written is the label" in str(report)
    assert "right by it alone" in str(report)
    pairs, _ = made_up("noise", 4)
    report = parity_report(pairs, ["match"] * len(pairs))
    assert report.verdict == "undecided"
    assert "no better than chance" in report.sentence


def test_an_advantage_of_the_first_is_recognised_and_cured():
    """A host is written first: mixed.  Told so by an antisymmetric +1: antisymmetric."""
    pairs, values = made_up("host", 5)
    report = parity_report(pairs, values)
    assert report.verdict == "mixed"
    assert "Who is written first has an advantage of its own" in report.sentence
    told = Pairs(pairs.objects, pairs.first, pairs.second, antisymmetric=np.ones(len(pairs)))
    cured = parity_report(told, values)
    assert cured.verdict == "antisymmetric"
    error = report.comparison.scores["antisymmetric"].error
    assert cured.comparison.scores["antisymmetric"].error < 0.6 * error


def test_advice_for_mixed_data_is_good():
    """The mixture that the report names predicts new pairs better than either law."""
    pairs, values = made_up("both", 6, n=600)
    train, test = np.arange(300), np.arange(300, 600)
    report = parity_report(pairs[train], values[train])
    even, odd = report.comparison.strengths
    kernel, scores = Gaussian(2.0), {}
    for symmetry, chosen in [
        ("none", Mixed(kernel, even, odd)),
        ("symmetric", kernel),
        ("antisymmetric", kernel),
    ]:
        model = PairRidge(symmetry, kernel=chosen, alpha=0.1).fit(pairs[train], values[train])
        scores[symmetry] = model.score(pairs[test], values[test])
    assert report.symmetry == "none"
    assert scores["none"] > max(scores["symmetric"], scores["antisymmetric"]) + 0.05


def test_pairs_in_both_orders_decide_where_features_cannot(rng):
    """Features are noise, but labels of a pair in both orders are always opposite."""
    there = Pairs.complete(rng.normal(size=(14, 2)))[:60]
    y = rng.choice([-1, 1], size=60)
    odd = parity_report(there.with_mirrored(), np.r_[y, -y])
    assert (odd.verdict, odd.mirrored.n_opposite) == ("antisymmetric", 60)
    assert "no model learned enough" in odd.sentence
    even = parity_report(there.with_mirrored(), np.r_[y, y])
    assert (even.verdict, even.mirrored.n_agree) == ("symmetric", 60)


def test_evidence_that_contradicts_is_a_mixture(rng):
    """Close pairs get 'yes', which no order changes; far ones were recorded in both, opposite."""
    pairs, values = made_up("alike", 7)
    far = Pairs.complete(10.0 + rng.normal(size=(11, 3)) * 1e-3)[:50].with_mirrored()
    joined = Pairs(
        np.vstack([pairs.objects, far.objects]),
        np.r_[pairs.first, far.first + pairs.n_objects],
        np.r_[pairs.second, far.second + pairs.n_objects],
    )
    half = rng.choice([-1.0, 1.0], size=50)
    y = np.r_[np.sign(values), half, -half]
    report = parity_report(joined, y)
    assert report.mirrored.leans == "antisymmetric"
    assert report.verdict == "mixed"
    assert "both parts are there" in report.sentence


def test_real_choices_are_antisymmetric():
    choices = load_train_choice()
    report = parity_report(choices.pairs, choices.y, groups=choices.groups, max_pairs=300)
    assert report.verdict == "antisymmetric"
    assert report.n_compared <= 300 < report.n_pairs == 2929
    assert report.comparison.scores["antisymmetric"].share_right > 0.6
    assert report.comparison.scores["symmetric"].share_right < 0.56


def test_real_restaurants_are_symmetric():
    restaurants = load_restaurants()
    report = parity_report(restaurants.pairs, restaurants.y, max_pairs=300)
    assert report.verdict == "symmetric"
    scores = report.comparison.scores
    assert scores["symmetric"].share_right > scores["constant"].share_right + 0.05


def test_the_verdict_agrees_with_what_estimators_find():
    pairs, values = made_up("circle", 8)
    y = np.where(values > 0, 1, -1)
    report = parity_report(pairs, y)
    other = "symmetric" if report.symmetry == "antisymmetric" else "antisymmetric"
    scores = {
        symmetry: PairSVC(symmetry, kernel=Gaussian(2.0))
        .fit(pairs[:150], y[:150])
        .score(pairs[150:], y[150:])
        for symmetry in (report.symmetry, other)
    }
    assert scores[report.symmetry] > scores[other] + 0.2


# What is shown -------------------------------------------------------------------------------


def test_table_and_text():
    pytest.importorskip("pandas", reason="pandas comes with the command line extra")
    pairs, values = made_up("alike", 0)
    report = parity_report(pairs, np.where(values > 0, 1, -1))
    lines = str(report).splitlines()
    assert lines[0].startswith("SYMMETRIC: a symmetric model has ")
    assert lines[0].endswith("use symmetry='symmetric'.")
    assert lines[1] == f"Pairs in both orders: {report.mirrored}."
    names = [line["model"] for line in report.table()]
    assert [line.split("  ")[1] for line in lines[3:]] == names
    frame = report.to_frame()
    assert list(frame.columns) == ["model", "error", "share_right", "difference", "standard_error"]
    best = frame["error"][2:].idxmin()
    assert frame["difference"][best] == 0.0
    gaps = frame["error"] - frame["error"][best]
    assert np.allclose(frame["difference"], gaps)
    numbers = parity_report(pairs, values)
    assert "share_right" not in numbers.table()[0]
    assert " %" not in "".join(str(numbers).splitlines()[3:])


def test_same_seed_same_report():
    pairs, values = made_up("both", 1)
    texts = [str(parity_report(pairs, values, max_pairs=100, random_state=s)) for s in (5, 5, 6)]
    assert texts[0] == texts[1] != texts[2]


def test_other_kernels_and_splitters():
    pairs, values = made_up("strength", 2)
    y = np.where(values > 0, 1, -1)
    for options in ({"kernel": Gaussian(2.0)}, {"kernel": "linear", "cv": ObjectKFold(4)}):
        assert parity_report(pairs, y, **options).verdict == "antisymmetric"
    with pytest.raises(KernelError, match="a balanced kernel, for an antisymmetric model"):
        parity_report(pairs, y, kernel=Tensor(Gaussian(1.0)))


def test_draws_are_of_whole_pairs():
    units = np.repeat(np.arange(50), [1, 2, 3, 4, 5] * 10)
    chosen = _drawn(units, 60, 0)
    assert 55 < len(chosen) <= 60
    kept, counts = np.unique(units[chosen], return_counts=True)
    assert np.array_equal(counts, np.bincount(units)[kept])
    assert np.array_equal(_drawn(units, 1000, 0), np.arange(len(units)))
    assert len(_drawn(np.zeros(40, dtype=int), 10, 0)) == 10  # one pair alone cannot be whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_pairs": 3}, "got max_pairs=3"),
        ({"groups": [1, 2]}, r"got groups of shape \(2,\) for 220 pairs"),
        ({"identity": "names"}, "got identity='names'"),
    ],
)
def test_refusals(options, message):
    pairs, values = made_up("noise", 0)
    with pytest.raises(ValueError, match=message):
        parity_report(pairs, values, **options)


def test_refused_data():
    with pytest.raises(ValueError, match="got ndarray; expected Pairs"):
        parity_report(np.zeros((3, 4)), [1, -1, 1])
    with pytest.raises(ValueError, match="got 0 pairs"):
        parity_report(made_up("noise", 0)[0][:0], [])
