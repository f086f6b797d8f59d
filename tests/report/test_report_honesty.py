"""Figures that do not mislead: simple rules, surprises that are some, members, losses above 0."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

pd = pytest.importorskip("pandas", reason="pandas comes with the command line extra")
pytest.importorskip("jinja2", reason="Jinja2 comes with the command line extra")

from made import tournament  # noqa: E402

from pairity import PairClassifierCV, PairDrawClassifier, PairLogistic, Pairs, PairSVCCV  # noqa: E402
from pairity.app.report import Limits, gather, render  # noqa: E402
from pairity.app.report.pictures import distribution  # noqa: E402
from pairity.app.report.subject import Subject  # noqa: E402
from pairity.app.report.unseen import hold_out, with_chances  # noqa: E402
from pairity.app.report.wording import in_short  # noqa: E402
from pairity.kernels import Additive, Identity, Linear  # noqa: E402
from pairity.model_selection.searches import at_the_edge  # noqa: E402

SMALL = Limits(folds=3, refits=3, shuffles=2, explained=60)


def at_home(n=400, seed=0, flipped=0.2):
    """Games that the side at home wins, but for some; who plays says nothing; some on neutral ground."""
    rng = np.random.default_rng(seed)
    first = rng.integers(20, size=n)
    second = (first + rng.integers(1, 20, size=n)) % 20
    home = rng.choice([-1.0, 0.0, 1.0], size=n)
    won = np.where(rng.random(n) < flipped, -1.0, 1.0) * np.where(home == 0.0, 1.0, home)
    won = np.where(home == 0.0, rng.choice([-1.0, 1.0], size=n), won).astype(int)
    return Pairs(rng.normal(size=(20, 2)), first, second, antisymmetric=home[:, np.newaxis]), won


def test_the_home_side_alone_is_the_baseline():
    pairs, y = at_home()
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    names = {"objects": ["x", "y"], "symmetric": [], "antisymmetric": ["home"]}
    data = gather(model, pairs, y, limits=SMALL, feature_names=names)
    seen = data.settings[0]
    home = pairs.antisymmetric[:, 0]
    right = home * y == 1
    share = right[home != 0].mean()
    assert seen.rule == "home alone"
    accuracy = (right.sum() + 0.5 * np.sum(home == 0)) / len(y)
    assert seen.guess["accuracy"] == pytest.approx(accuracy)
    loss = -share * np.log(share) - (1 - share) * np.log(1 - share)
    neutral = np.mean(home == 0)
    assert seen.guess["log-loss"] == pytest.approx((1 - neutral) * loss + neutral * np.log(2))
    said = " ".join(in_short(data))
    assert "A simple rule (home alone) gets" in said
    assert "clearly better" not in said  # the model knows no more than that
    assert "no better than that" in said


def test_the_order_of_writing_is_no_rule():
    pairs, y = at_home()
    turned = np.random.default_rng(1).random(len(y)) < 0.5
    other, labels = pairs.with_swapped(turned), np.where(turned, -y, y)
    guesses = [
        gather(PairLogistic("antisymmetric", kernel="linear").fit(p, z), p, z, limits=SMALL)
        for p, z in ((pairs, y), (other, labels))
    ]
    for one, two in zip(*(data.settings for data in guesses), strict=True):
        assert one.guess == pytest.approx(two.guess)


def test_draws_have_a_rule_too():
    pairs, y = at_home()
    y = np.where(np.arange(len(y)) % 4 == 0, 0, y)
    model = PairDrawClassifier(PairLogistic("antisymmetric", kernel="linear"), cv=3).fit(pairs, y)
    seen = gather(model, pairs, y, limits=SMALL).settings[0]
    assert seen.rule == "antisymmetric0 alone"
    assert 0.4 < seen.guess["accuracy"] < 0.75


def test_what_was_likely_is_no_surprise():
    """All listed outcomes were less likely than another one, and none is told twice."""
    pairs, y, _ = tournament(10)
    pairs = Pairs(pairs.objects, np.tile(pairs.first, 3), np.tile(pairs.second, 3), ids=pairs.ids)
    y = np.tile(y, 3)
    y[:3] = -y[:3]
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, y)
    found = gather(model, pairs, y, limits=SMALL).surprising
    assert found
    assert all(one.predicted < 0.5 for one in found)
    told = [frozenset([one.first, one.second]) for one in found]
    assert len(set(told)) == len(told)


def test_importance_is_in_the_units_of_the_headline():
    pairs, y = at_home()
    data = gather(
        PairLogistic("antisymmetric", kernel="linear").fit(pairs, y), pairs, y, limits=SMALL
    )
    assert data.features_score == "accuracy"
    assert "Drop of the accuracy (" in data.features_note
    page = render(data)
    assert f"{100 * data.features[0].mean:+.1f} points" in page
    assert "two colours" not in page


def test_members_of_the_automatic_model():
    pairs, y = at_home(260)
    model = PairClassifierCV("antisymmetric", cv=2).fit(pairs, y)
    data = gather(model, pairs, y, limits=SMALL)
    whole = data.settings[0]
    assert whole.key == "whole"
    assert whole.figures["log-loss"].value == pytest.approx(-model.best_score_, rel=1e-6)
    assert {one.name for one in data.members} == set(model.members_)
    for one in data.members:
        member = model.members_[one.name]
        assert (one.weight, one.loss) == (member.weight, member.loss)
        if one.gain is not None:
            assert one.gain == pytest.approx(member.without + model.best_score_)
    assert "Members of the automatic model" in render(data)


def test_the_edge_of_the_path():
    pairs, y, _ = tournament(12)
    low = PairSVCCV("antisymmetric", kernel="linear", Cs=[1e-6, 1e-5], cv=3).fit(pairs, y)
    assert at_the_edge(low).startswith(f"the best C, {low.best_params_['C']:g}, is the")
    one = PairSVCCV("antisymmetric", kernel="linear", Cs=[1.0], cv=3).fit(pairs, y)
    assert at_the_edge(one) == ""
    assert "that was tried" in render(gather(low, pairs, y, limits=SMALL))


def test_names_of_objects(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from pairity.app.cli.commands import main

    monkeypatch.chdir(tmp_path)
    pairs, y, _ = tournament(10)
    names = [f"Ms. {chr(65 + k)}" for k in range(9)] + ["Ms. A"]
    table = {"id": np.arange(10), "who": names}
    for k, column in enumerate(pairs.objects.T):
        table[f"x{k}"] = column
    pd.DataFrame(table).to_csv("players.csv", index=False)
    pd.DataFrame({"a": pairs.first, "b": pairs.second, "y": y}).to_csv("games.csv", index=False)
    options = "--first a --second b --label y --objects players.csv --symmetry antisymmetric"
    more = "--kernel identity+linear --output m.pairity --report r.html --name who --json"
    result = CliRunner().invoke(main, ["fit", "games.csv", *options.split(), *more.split()])
    assert result.exit_code == 0, result.output
    assert "who" not in json.loads(result.stdout).get("feature names", {}).get("objects", [])
    page = (tmp_path / "r.html").read_text()
    assert "Ms. C<" in page
    assert "Ms. A (9)<" in page  # ids tell equal names apart
    ranked = CliRunner().invoke(main, ["rank", "m.pairity", "--output", "ranked.csv"])
    assert ranked.exit_code == 0, ranked.output
    order = pd.read_csv("ranked.csv").sort_values("rank")["id"].tolist()
    called = [f"{names[k]} ({k})" if k in (0, 9) else names[k] for k in order]
    rows = page[page.index('id="ranking-table"') :].split('<th scope="row" class="name">')[1:11]
    assert [row.split("<")[0] for row in rows] == called  # the model is asked by ids, not by names


def test_who_an_object_is_counts_where_ids_tell_it():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 12, (2, 400))
    first, second = first[first != second], second[first != second]
    pairs = Pairs(
        sp.eye_array(12, format="csr"), first, second, ids=[f"team {k}" for k in range(12)]
    )
    y = np.where(first < second, 1, -1)
    model = PairLogistic("antisymmetric", kernel=Identity()).fit(pairs, y)
    (drop,) = gather(model, pairs, y, limits=SMALL).features
    assert drop.name == "which object it is"
    assert drop.mean > 0.2
    beside = Pairs(rng.normal(size=(12, 1)), first, second, ids=pairs.ids)
    model = PairLogistic("antisymmetric", kernel=Identity() + Additive(Linear())).fit(beside, y)
    drops = {one.name: one.mean for one in gather(model, beside, y, limits=SMALL).features}
    assert len(drops) == 2
    assert drops["which object it is"] > 0.05 + min(drops.values())


def test_rows_that_say_the_same_are_one_line_of_influence():
    pairs, y, _ = tournament(8)
    again = pairs[np.tile(np.arange(len(pairs)), 3)].with_swapped(
        np.arange(3 * len(pairs)) % 2 == 0
    )
    labels = np.where(np.arange(3 * len(pairs)) % 2 == 0, -1, 1) * np.tile(y, 3)
    model = PairLogistic("antisymmetric", kernel="linear").fit(again, labels)
    found = gather(model, again, labels, limits=SMALL).influential
    told = [frozenset((one.first, one.second)) for one in found]
    assert len(set(told)) == len(told)
    assert {one.times for one in found} == {3}
    assert sum(one.share for one in found) < 1.0


def test_later_pairs_are_shown_though_others_are_more():
    pairs, y, _ = tournament(14)
    times = np.maximum(np.arange(len(pairs)) - 40, 0) // 4
    dated = Pairs(pairs.objects, pairs.first, pairs.second, ids=pairs.ids, time=times)
    model = PairLogistic("antisymmetric", kernel="linear").fit(dated, y)
    data = gather(model, dated, y, limits=SMALL)
    later, one_new, _ = data.settings
    assert later.n_pairs < one_new.n_pairs
    assert data.reliability.setting == data.distribution.setting == "later pairs"


def test_histograms_count_pairs_once():
    """A pair of one new object is held out twice, once for either object; it is one pair."""
    pairs, y, _ = tournament(14)
    subject = Subject.read(PairLogistic("antisymmetric", kernel="linear").fit(pairs, y), pairs, y)
    held, chances = with_chances(subject, hold_out(subject, "one_new", SMALL, 0, None, None))
    n_pairs = len(np.unique(held.rows))
    assert len(held.rows) > n_pairs
    counts = distribution(subject, "one_new", held, chances).counts
    assert sum(map(sum, counts.values())) == pytest.approx(n_pairs)


def test_pairs_with_times_are_tested_on_later_ones():
    pairs, y, _ = tournament(14)
    times = np.arange(len(pairs)) // 4
    dated = Pairs(pairs.objects, pairs.first, pairs.second, ids=pairs.ids, time=times)
    model = PairLogistic("antisymmetric", kernel="linear").fit(dated, y)
    data = gather(model, dated, y, limits=SMALL)
    assert [setting.key for setting in data.settings] == ["later", "one_new", "both_new"]
    held = hold_out(Subject.read(model, dated, y), "later", SMALL, 0, None, None)
    starts = [times[held.rows[held.folds == fold]].min() for fold in range(3)]
    ends = [times[held.rows[held.folds == fold]].max() for fold in range(3)]
    assert 0 < starts[0] <= ends[0] < starts[1] <= ends[1] < starts[2]
    assert held.n_train == round(np.mean([np.sum(times < start) for start in starts]))
    assert "pairs that came later than all it was trained on" in " ".join(in_short(data))
    assert "all earlier ones as training pairs" in render(data)
