"""From raw tables to matches: with and without labels, one table and two, Python and shell."""

import json
import sys

import numpy as np
import pytest
from sklearn.metrics import f1_score

pd = pytest.importorskip("pandas", reason="pandas comes with the matching extra")
pytest.importorskip("rapidfuzz", reason="RapidFuzz comes with the matching extra")

from experiments.matching.people import people  # noqa: E402

from pairity import PairLogistic  # noqa: E402
from pairity.exceptions import DataError  # noqa: E402
from pairity.matching import Labelled, PrecisionRecall, Records, Share, match  # noqa: E402
from pairity.matching.mixture import fit_mixture, levels_of  # noqa: E402
from pairity.matching.precision_recall import best_threshold  # noqa: E402

N = 120


@pytest.fixture(scope="module")
def tables():
    return people(N, seed=3)


def truth():
    return [f"a{row}" for row in range(N // 2)], [f"b{row}" for row in range(N // 2)]


@pytest.fixture(scope="module")
def unsupervised(tables):
    return match(*tables)


def test_without_a_label(unsupervised):
    scores = unsupervised.evaluate(truth())
    assert scores["candidates"].value == 1.0
    assert scores["matches"].recall.value > 0.9
    assert scores["matches"].precision.value > 0.8
    assert unsupervised.constraint == "one-to-one"
    table = unsupervised.to_frame()
    assert table["first"].is_unique
    assert table["second"].is_unique
    assert (table["decision"].diff().dropna() <= 0).all()


def test_swapping_the_tables_changes_nothing(tables, unsupervised):
    back = match(tables[1], tables[0]).to_frame()
    there = unsupervised.to_frame()
    pairs = dict(
        zip(zip(there["first"], there["second"], strict=True), there["decision"], strict=True)
    )
    again = dict(
        zip(zip(back["second"], back["first"], strict=True), back["decision"], strict=True)
    )
    assert pairs.keys() == again.keys()
    np.testing.assert_allclose(list(pairs.values()), [again[key] for key in pairs], rtol=1e-6)


def test_labels_train_a_symmetric_model(tables):
    half = [ids[: N // 4] for ids in truth()]
    found = match(*tables, labels=tuple(half), model=PairLogistic("symmetric", kernel="linear"))
    assert found.candidate_recall.value == 1.0
    rest = tuple(ids[N // 4 :] for ids in truth())
    scores = found.evaluate(rest)
    assert scores["matches"].f1.value > 0.9
    first, second = found.candidates.first[:50], found.candidates.second[:50]
    assert (found.decide(first, second) == found.decide(second, first)).all()
    np.testing.assert_allclose(found.decide(first, second), found.decisions[:50], rtol=1e-9)


def test_the_automatic_model_says_how_good_it_is(tables):
    first, second = truth()
    others = [f"b{(row + 7) % N}" for row in range(N // 2)]
    labels = [*first, *first], [*second, *others], [1] * (N // 2) + [0] * (N // 2)
    found = match(*tables, labels=labels)  # few pairs: a linear model
    assert found.quality is not None
    assert found.quality.n_matches == N // 2
    assert found.quality.f1.value > 0.9
    asked = found.suggest(5)
    assert not set(zip(asked["first"], asked["second"], strict=True)) & set(
        zip(*truth(), strict=True)
    )


def test_one_table_is_grouped(tables):
    left, right = tables
    found = match(pd.concat([left, right], ignore_index=True))
    assert found.constraint == "transitive"
    groups = found.groups_frame().set_index("id")["group"]
    together = [groups[f"a{row}"] == groups[f"b{row}"] for row in range(N // 2)]
    assert np.mean(together) > 0.85
    matched = found.matched
    ends = found.candidates.first, found.candidates.second
    assert ((found.groups[ends[0]] == found.groups[ends[1]]) == matched).all()


def test_groups_larger_than_the_candidates_of_a_record(tables):
    """Twelve copies of each of ten persons, three neighbours each: groups say what candidates cannot."""
    left, _ = tables
    copies = pd.concat([left.head(10)] * 12, ignore_index=True)
    copies["id"] = [f"{name}-{row}" for row, name in enumerate(copies["id"])]
    found = match(copies, neighbours=3)
    person = np.tile(np.arange(10), 12)
    first, second = np.triu_indices(len(copies), 1)
    ids = copies["id"].to_numpy()
    labels = ids[first], ids[second], (person[first] == person[second]).astype(int)
    scores = found.evaluate(labels)
    assert scores["candidates"].value < 0.5
    assert scores["matches"].f1.value > 0.95


def test_labels_that_contradict_one_to_one(tables):
    first, second = truth()
    labels = [*first, *first], [*second, *second[1:], second[0]], [1] * N
    model = PairLogistic("symmetric", kernel="linear")
    with pytest.raises(ValueError, match="one-to-one"):
        match(tables[0], constraint="one-to-one")
    several = Labelled.read(labels, Records.read(*tables)).share_with_several
    assert several == 1.0
    others = [f"b{(row + 7) % N}" for row in range(N // 2)]
    labels = (
        [*first, *first, *first],
        [*second, *second[1:], second[0], *others],
        [1] * N + [0] * (N // 2),
    )
    assert match(*tables, labels=labels, model=model).constraint == "none"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((["a0"], ["b0"], ["perhaps"]), "got the label 'perhaps'; expected 1 for a match"),
        ((["a0"],), "got 1 columns of labels"),
        ((["zz"], ["b0"]), "got the id 'zz' in the first column of labels"),
        ((["a0", "a1"], ["b0"]), "got 2 first and 1 second ids"),
    ],
)
def test_bad_labels_are_refused(tables, labels, message):
    with pytest.raises(DataError, match=message):
        match(*tables, labels=labels)


def test_wilson_interval_and_f1():
    # R 4.3, binom::binom.wilson(8, 10): 0.4901625 to 0.9433178
    share = Share.of(8, 10)
    assert (share.low, share.high) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    said = np.array([True, True, True, False, False, False])
    true = np.array([True, True, False, True, False, False])
    found = PrecisionRecall.of(said, true)
    assert found.f1.value == pytest.approx(f1_score(true, said))
    assert found.f1.low <= found.f1.value <= found.f1.high


def test_the_threshold_has_the_largest_f1():
    random = np.random.default_rng(0)
    decisions = np.round(random.normal(size=60), 1)
    true = decisions + random.normal(size=60) > 0.5
    best = max(f1_score(true, decisions > cut) for cut in np.append(decisions, -9.0))
    assert f1_score(true, decisions > best_threshold(decisions, true)) == pytest.approx(best)


def test_evidence_finds_the_two_classes():
    random = np.random.default_rng(0)
    same = random.uniform(size=4000) < 0.05
    values = np.where(
        same[:, np.newaxis], random.beta(8, 1, (4000, 4)), random.beta(2, 4, (4000, 4))
    )
    missing = random.uniform(size=values.shape) < 0.1
    levels = levels_of(values, missing)
    assert set(np.unique(levels[missing])) == {0}
    start = np.where(values[:, 0] > 0.9, 0.9, 0.01)
    fitted = fit_mixture(("a", "b", "c", "d"), levels, start, 4000.0)
    assert fitted.share == pytest.approx(same.mean(), abs=0.01)
    assert f1_score(same, fitted.log_odds(levels) > 0) > 0.9
    total = fitted.weights(levels).sum(axis=1) + np.log(fitted.share / (1 - fitted.share))
    np.testing.assert_allclose(fitted.log_odds(levels), total, rtol=1e-12)


def test_the_shell(tables, tmp_path, monkeypatch):
    pytest.importorskip("click", reason="click comes with the command line extra")
    from click.testing import CliRunner

    from pairity.app.cli.commands import main

    monkeypatch.chdir(tmp_path)
    for name, table in zip(("left.csv", "right.parquet"), tables, strict=True):
        table.to_csv(name, index=False) if name.endswith("csv") else table.to_parquet(name)
    pd.DataFrame(dict(zip("ab", truth(), strict=True))).to_csv("true.csv", index=False)
    command = ["match", "left.csv", "right.parquet", "--held-out", "true.csv", "--json"]
    command += ["--groups-output", "groups.csv", "--suggestions", "next.csv", "--number", "3"]
    done = CliRunner().invoke(main, [*command, "--output", "matches.csv"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    written = pd.read_csv("matches.csv")
    assert said["matches"] == len(written)
    assert said["records"] == [N, N]
    assert said["columns"]["surname"] == "name"
    assert len(pd.read_csv("groups.csv")) == 2 * N
    assert len(pd.read_csv("next.csv")) == 3
    assert "recall" in said["held-out pairs, by the matches"]
    again = CliRunner().invoke(main, [*command, "--output", "matches.csv"])
    assert again.exit_code == 2
    wrong = CliRunner().invoke(main, ["match", "left.csv", "--kind", "name", "--output", "x.csv"])
    assert wrong.exit_code == 2
    assert "expected COL=KIND" in wrong.output
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    without = CliRunner().invoke(main, ["match", "left.csv", "--output", "x.csv"])
    assert without.exit_code == 2
    assert "pip install 'pairity[matching]'" in without.output
