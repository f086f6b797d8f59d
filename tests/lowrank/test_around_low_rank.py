"""The rest of the library on low-rank models: it works, or says in a sentence why it does not."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairity
from pairity import (
    CalibratedPairClassifier,
    ObjectTransformer,
    PairDrawClassifier,
    PairLogistic,
    PairLogisticCV,
    PairRidge,
    PairRidgeCV,
    Pairs,
    PairSVC,
    PairSVCCV,
    parity_report,
)
from pairity.app.cli.commands import main
from pairity.app.report import Limits, gather, write_report
from pairity.exceptions import KernelError
from pairity.inspection import (
    contributions,
    even_odd_parts,
    influential_pairs,
    permutation_importance,
    rank_objects,
)
from pairity.kernels import Additive, Gaussian, Identity, Nystroem, Product
from pairity.model_selection import PairKFold
from pairity.solvers.low_rank.function import LowRankModel

KERNEL = Nystroem(Product(Gaussian(1.0)) + Additive(Gaussian(1.0)), 6)
SMALL = Limits(folds=3, refits=2, shuffles=2, explained=40)


def tournament(n_objects=16, seed=0):
    """Games that the first of two features decides, with a few upsets."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(n_objects, 2))
    pairs = Pairs.complete(objects, ids=[f"team {row}" for row in range(n_objects)])
    margin = objects[pairs.first, 0] - objects[pairs.second, 0]
    y = np.where(margin + 0.3 * rng.normal(size=len(pairs)) > 0, 1, -1)
    return pairs, y, margin


GAMES, WON, MARGIN = tournament()


def machine(symmetry="antisymmetric"):
    return PairSVC(symmetry, kernel=KERNEL).fit(GAMES, WON)


# Files and the command line -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (PairSVC("antisymmetric", kernel=KERNEL), WON),
        (PairRidge("antisymmetric", kernel=KERNEL), MARGIN),
        (PairLogisticCV("antisymmetric", kernel=KERNEL, Cs=2, cv=3), WON),
        (CalibratedPairClassifier(PairSVC("antisymmetric", kernel=KERNEL), cv=3), WON),
    ],
    ids=lambda value: type(value).__name__,
)
def test_files(model, y, tmp_path):
    model.fit(GAMES, y)
    path = tmp_path / "model.pairity"
    pairity.save(model, path)
    again = pairity.load(path)
    assert (again.predict(GAMES) == model.predict(GAMES)).all()
    if hasattr(model, "decision_function"):
        assert (again.decision_function(GAMES) == model.decision_function(GAMES)).all()
    assert path.stat().st_size < 60_000  # features and parameters, no pairs
    pairity.save(again, tmp_path / "again.pairity")
    assert (tmp_path / "again.pairity").read_bytes() == path.read_bytes()


def test_predictions_do_not_change_a_file(tmp_path):
    """Features of the last table are kept in memory, and nowhere else."""
    model = machine()
    pairity.save(model, tmp_path / "before.pairity")
    model.predict(GAMES)
    pairity.save(model, tmp_path / "after.pairity")
    before, after = ((tmp_path / f"{name}.pairity").read_bytes() for name in ("before", "after"))
    assert before == after


def test_inspect(tmp_path):
    model = machine()
    pairity.save(model, tmp_path / "model.pairity")
    result = CliRunner().invoke(main, ["inspect", str(tmp_path / "model.pairity")])
    assert result.exit_code == 0, result.output
    assert "support pairs" not in result.stdout
    assert "KKT" not in result.stdout
    assert "Nystroem error" in result.stdout
    result = CliRunner().invoke(main, ["inspect", "--json", str(tmp_path / "model.pairity")])
    found = json.loads(result.stdout)
    certificate = found["certificate"]
    assert certificate["holds"] is True
    assert certificate["relative gap"] == model.certificate_.relative_gap <= 1e-3
    assert certificate["primal"] >= certificate["dual"]


# Reports and explanations -------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric"])
def test_reports(symmetry, tmp_path):
    model = machine(symmetry)
    data = gather(model, GAMES, WON, limits=SMALL)
    assert data.influential == ()
    assert data.model.n_support == model.certificate_.n_support
    assert data.certificate.measure == "relative gap"
    assert data.swap.holds
    lost = model.approximation_[0]
    assert f"{lost.n_components} similarities to landmarks" in data.model.features
    path = tmp_path / "report.html"
    write_report(model, GAMES, WON, path, limits=SMALL)
    page = path.read_text(encoding="utf-8")
    assert "KKT" not in page
    assert "similarities to landmarks, which lose" in page
    assert "Training pairs with most influence" not in page


def test_influence_needs_training_pairs():
    model = machine()
    for explain in (influential_pairs, contributions):
        with pytest.raises(ValueError, match="keeps parameters of features and no training pairs"):
            explain(model, GAMES)
    exact = PairSVC("antisymmetric", kernel=KERNEL, solver="chunking").fit(GAMES, WON)
    assert len(influential_pairs(exact, GAMES[:2])) == 2


def test_importance_and_parts_take_any_model():
    model = machine()
    found = permutation_importance(model, GAMES, WON, n_repeats=2, random_state=0)
    drops = found.drops.mean(axis=1)
    assert drops[0] > drops[1]
    parts = even_odd_parts(model, GAMES)
    assert not parts.even.any()
    assert np.array_equal(parts.odd, model.decision_function(GAMES))


def test_rankings():
    for model in (
        PairLogistic("antisymmetric", kernel=KERNEL).fit(GAMES, WON),
        PairRidge("antisymmetric", kernel=KERNEL, alpha=0.1).fit(GAMES, MARGIN),
    ):
        found = rank_objects(model, GAMES.objects)
        order = np.argsort(-found.scores)
        truth = np.argsort(-GAMES.objects[:, 0])
        assert len(set(order[:5]) & set(truth[:5])) >= 4


# Models around models -----------------------------------------------------------------------------


def test_calibration():
    model = CalibratedPairClassifier(PairSVC("antisymmetric", kernel=KERNEL), cv=3).fit(GAMES, WON)
    assert isinstance(model.estimator_._model, LowRankModel)
    chances, swapped = model.predict_proba(GAMES), model.predict_proba(GAMES.swap())
    assert np.array_equal(chances, swapped[:, ::-1])
    assert (chances.sum(axis=1) == 1.0).all()
    assert model.score(GAMES, WON) > 0.8


def test_draws():
    y = np.where(np.abs(MARGIN) < 0.3, 0, WON)
    model = PairDrawClassifier(PairSVC("antisymmetric", kernel=KERNEL), cv=3).fit(GAMES, y)
    chances, swapped = model.predict_proba(GAMES), model.predict_proba(GAMES.swap())
    assert np.array_equal(chances, swapped[:, ::-1])


@pytest.mark.parametrize("search", [PairSVCCV, PairLogisticCV, PairRidgeCV])
@pytest.mark.parametrize("kernel", [KERNEL, [KERNEL, Nystroem("gaussian", 4), "linear"]], ids=type)
def test_searches(search, kernel):
    y, strengths = (MARGIN, "alphas") if search is PairRidgeCV else (WON, "Cs")
    model = search("antisymmetric", kernel=kernel, cv=PairKFold(3), **{strengths: 3}).fit(GAMES, y)
    assert model.certificate_.holds
    assert model.score(GAMES, y) > 0.8
    values = model.predict(GAMES)
    assert np.array_equal(model.predict(GAMES.swap()), -values)
    if kernel is KERNEL:
        assert isinstance(model.best_estimator_._model, LowRankModel)
        assert not hasattr(model, "support_")


def test_held_out_decisions_of_searches_are_those_of_low_rank_models():
    """Folds are solved through Gram matrices: the same problem, the same functions."""
    splitter = PairKFold(3)
    model = PairRidgeCV(
        "antisymmetric", kernel=KERNEL, alphas=[0.5], cv=splitter, path_tol=1e-8
    ).fit(GAMES, MARGIN)
    kernel = KERNEL.fitted_to(GAMES)  # landmarks from all training pairs, as in the search
    rows, decisions = model.held_out_rows_, model.held_out_decisions_
    start = 0
    for train, test in splitter.split(GAMES, MARGIN):
        fold = PairRidge("antisymmetric", kernel=kernel, alpha=0.5, solver="low_rank", tol=1e-9)
        fold.fit(GAMES[train], MARGIN[train])
        part = slice(start, start + len(test))
        assert np.array_equal(rows[part], test)
        np.testing.assert_allclose(decisions[part], fold.predict(GAMES[test]), atol=2e-3)
        start += len(test)


@pytest.mark.filterwarnings("ignore:.*is zero for these pairs")  # of one landmark
def test_grids_over_the_number_of_landmarks():
    model = PairSVC("antisymmetric", kernel=Nystroem("gaussian", 4))
    grid = {"kernel__n_components": [1, 2, 8], "C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=PairKFold(3)).fit(GAMES, WON)
    assert isinstance(search.best_estimator_._model, LowRankModel)
    assert search.best_params_["kernel__n_components"] > 1
    (error,) = search.best_estimator_.approximation_
    assert error.n_components <= search.best_params_["kernel__n_components"]
    assert len(search.cv_results_["params"]) == 6
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_pipelines():
    model = make_pipeline(
        ObjectTransformer(StandardScaler()), PairSVC("antisymmetric", kernel=KERNEL)
    )
    model.fit(GAMES, WON)
    values = model.decision_function(GAMES)
    assert np.array_equal(model.decision_function(GAMES.swap()), -values)


def test_evidence_of_a_symmetry():
    found = parity_report(GAMES, WON, kernel=KERNEL)
    assert str(found).startswith("ANTISYMMETRIC")


# What it cannot do --------------------------------------------------------------------------------


def test_kernels_without_features_are_named():
    with pytest.raises(KernelError, match=r"got Identity\(\), which has no finite number of"):
        PairLogistic("antisymmetric", kernel=KERNEL + Additive(Identity())).fit(GAMES, WON)
    exact = PairLogistic("antisymmetric", kernel=KERNEL + Additive(Identity()), solver="newton")
    assert exact.fit(GAMES, WON).certificate_.holds


def test_too_many_objects_for_exact_solvers_name_the_way_out():
    objects = np.random.default_rng(1).normal(size=(300, 2))
    ring = Pairs(objects, np.arange(300), (np.arange(300) + 1) % 300)
    y = np.where(objects[ring.first, 0] > objects[ring.second, 0], 1, -1)
    with pytest.raises(MemoryError, match=r"kernel=Nystroem\(kernel, 256\)"):
        PairSVC("antisymmetric", kernel="gaussian", memory_limit=0.02).fit(ring, y)
    few = PairSVC("antisymmetric", kernel=Nystroem("gaussian", 4), memory_limit=1.0).fit(ring, y)
    assert few.certificate_.holds
    with pytest.raises(MemoryError, match=r"300 objects with \d+ features need about 1\.\d+ MB"):
        PairSVC("antisymmetric", kernel=Nystroem("gaussian", 100), memory_limit=1.0).fit(ring, y)
