"""Effects with their errors and tests, against statsmodels (make_bradley_terry.py)."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pairity import PairDrawClassifier, PairLogistic, PairLogisticCV, PairRidge, Pairs, PairSVC
from pairity.inspection import effects, posterior
from pairity.kernels import Gaussian, Identity, Linear, Standardized

GOLDEN = json.loads(Path(__file__).with_name("bradley_terry.json").read_text())
STYLES = {"antisymmetric": ["tone", "length"]}
#: A penalty so weak that rounding is all that it adds.
WEAK = 1e6


def votes(dense=False):
    table = np.eye(6) if dense else sp.eye_array(6, format="csr")
    ends = GOLDEN["first"], GOLDEN["second"]
    return Pairs(table, *ends, antisymmetric=GOLDEN["style"], ids=list("abcdef"))


def fitted(kernel="linear", C=WEAK, **options):
    won = np.array(GOLDEN["won"])
    return PairLogistic("antisymmetric", kernel=kernel, C=C, **options).fit(votes(), won)


def against_reference(table):
    """Differences to object 0 and the styles, as the design of statsmodels has them."""
    contrast = np.hstack([-np.ones((5, 1)), np.eye(5)])
    contrast = np.block([[contrast, np.zeros((5, 2))], [np.zeros((2, 6)), np.eye(2)]])
    covariance = contrast @ table.covariance @ contrast.T
    return contrast @ table.estimates, np.sqrt(np.diag(covariance))


@pytest.mark.parametrize("dense", [False, True])
def test_indicator_columns_have_the_names_of_their_objects(dense):
    model = PairLogistic("antisymmetric", kernel="linear").fit(votes(dense), GOLDEN["won"])
    assert effects(model, kinds=["objects"]).names == tuple("abcdef")
    flags = votes(dense).with_features(
        np.eye(6)[:, :2] + 1.0 * (np.arange(6) > 3)[:, None], *_groups()
    )
    flagged = PairLogistic("antisymmetric", kernel="linear").fit(flags, GOLDEN["won"])
    assert effects(flagged, kinds=["objects"]).names == ("objects[0]", "objects[1]")


@pytest.mark.parametrize("kernel", ["linear", Standardized(Linear())], ids=repr)
def test_bradley_terry_with_styles_is_that_of_statsmodels(kernel):
    table = effects(fitted(kernel), names=STYLES)
    assert table.names == (*"abcdef", "tone", "length")
    estimates, errors = against_reference(table)
    np.testing.assert_allclose(estimates, GOLDEN["logistic"]["params"], rtol=1e-6)
    np.testing.assert_allclose(errors, GOLDEN["logistic"]["bse"], rtol=1e-6)
    np.testing.assert_allclose(table.p_values[6:], GOLDEN["logistic"]["pvalues"][5:], rtol=1e-5)
    assert table["length"] == table.estimates[7]


def test_clustered_errors_are_those_of_statsmodels():
    table = effects(fitted(), clusters=GOLDEN["judge"], names=STYLES)
    assert table.n_clusters == 15
    _, errors = against_reference(table)
    np.testing.assert_allclose(errors, GOLDEN["clustered"]["bse"], rtol=1e-6)


def test_likelihood_ratios_are_those_of_statsmodels():
    table = effects(fitted(), kinds=["antisymmetric"], test="likelihood_ratio")
    np.testing.assert_allclose(table.statistics, GOLDEN["likelihood_ratio"], rtol=1e-6)


def test_regression_is_that_of_statsmodels():
    # coefficients of rows are residuals over alpha/2: a smaller alpha loses their sums in rounding
    model = PairRidge("antisymmetric", kernel="linear", alpha=1e-5)
    estimates, errors = against_reference(effects(model.fit(votes(), GOLDEN["margin"])))
    np.testing.assert_allclose(estimates, GOLDEN["gaussian"]["params"], rtol=1e-6)
    np.testing.assert_allclose(errors, GOLDEN["gaussian"]["bse"], rtol=1e-6)


def test_names_beside_styles():
    """Identity() for the objects and columns for the styles: the same model."""
    model = fitted(Identity() + Linear(), C=3.0)
    with_names = effects(model, kinds=["antisymmetric"], names=STYLES)
    plain = PairLogistic("antisymmetric", kernel=Identity() + Linear(), C=3.0)
    other = votes(dense=True).with_features(np.zeros((6, 1)), *_groups())
    again = effects(plain.fit(other, GOLDEN["won"]), kinds=["antisymmetric"], names=STYLES)
    assert again.names == with_names.names == ("tone", "length")
    assert np.abs(again.estimates).min() > 0


def _groups():
    pairs = votes()
    return pairs.symmetric, pairs.antisymmetric


def test_writing_order_does_not_matter():
    turned = np.random.default_rng(0).random(400) < 0.5
    won = np.where(turned, 1 - np.array(GOLDEN["won"]), GOLDEN["won"])
    model = PairLogistic("antisymmetric", kernel="linear", C=2.0)
    model.fit(votes().with_swapped(turned), won)
    one, two = (
        effects(model, clusters=GOLDEN["judge"]),
        effects(fitted(C=2.0), clusters=GOLDEN["judge"]),
    )
    np.testing.assert_allclose(one.estimates, two.estimates, atol=1e-9)
    np.testing.assert_allclose(one.covariance, two.covariance, atol=1e-9)


def test_effects_are_what_the_model_predicts():
    random = np.random.default_rng(1)
    first, second = random.integers(0, 6, 80), random.integers(6, 12, 80)
    groups = random.normal(size=(80, 1)), random.normal(size=(80, 1))
    pairs = Pairs(100.0 + random.normal(size=(12, 3)), first, second, *groups)
    y = random.choice(["no", "yes"], 80)
    model = PairLogistic("symmetric", kernel=Standardized(Linear()), tol=1e-10).fit(pairs, y)
    table = effects(model)
    assert table.kinds == ("objects",) * 3 + ("symmetric",)
    assert table.names[3] == "symmetric[0]"
    both = pairs.objects[first] + pairs.objects[second]
    linear = np.hstack([both, groups[0]]) @ table.estimates
    assert np.ptp(model.decision_function(pairs) - linear) < 1e-9


def test_clusters_of_one_row_are_independent_rows():
    """Many objects of few votes: the penalty counts, and outcomes vary as the model says."""
    random = np.random.default_rng(0)
    first = random.integers(0, 50, 3000)
    second = (first + random.integers(1, 50, 3000)) % 50
    strength, style = random.normal(size=50), random.normal(size=(3000, 1))
    odds = strength[first] - strength[second] + style[:, 0]
    won = np.where(random.random(3000) < 1 / (1 + np.exp(-odds)), 1, -1)
    pairs = Pairs(np.eye(50), first, second, antisymmetric=style)
    model = PairLogistic("antisymmetric", kernel="linear", C=0.02).fit(pairs, won)
    plain, clustered = effects(model), effects(model, clusters=np.arange(3000))
    ratios = clustered.errors / plain.errors
    assert abs(ratios.mean() - 1.0) < 0.03
    assert ratios.min() > 0.8


def test_errors_by_object_follow_the_formula():
    model = fitted(C=5.0, tol=1e-10)
    table = effects(model, clusters="object", kinds=["antisymmetric"])
    pairs = votes()
    design = np.zeros((400, 8))
    design[np.arange(400), pairs.first] += 1.0
    design[np.arange(400), pairs.second] -= 1.0
    design[:, 6:] = pairs.antisymmetric
    design[:, :6] /= np.sqrt(2.0)
    chance = model.predict_proba(pairs)[:, 1]
    scores = design * (np.array(GOLDEN["won"]) - chance)[:, None]
    hessian = (design * (chance * (1 - chance))[:, None]).T @ design + np.eye(8) / 10.0
    middle = np.zeros((8, 8))
    for i in range(400):
        for j in range(400):
            if {pairs.first[i], pairs.second[i]} & {pairs.first[j], pairs.second[j]}:
                middle += np.outer(scores[i], scores[j])
    inverse = np.linalg.inv(hessian)
    values, vectors = np.linalg.eigh((inverse @ middle @ inverse)[6:, 6:])
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    expected += (inverse @ inverse)[6:, 6:] / 10.0  # what the penalty takes
    np.testing.assert_allclose(table.covariance, expected, rtol=1e-6)


def test_effects_beside_draws_are_in_the_units_of_the_scores():
    """A unit of a column changes the decision of the model by its effect, draws or not."""
    outcome = np.where(GOLDEN["won"], 1, -1) * (np.arange(400) % 5 > 0)
    machine = PairLogistic("antisymmetric", kernel="linear", tol=1e-9)
    model, pairs = PairDrawClassifier(machine).fit(votes(), outcome), votes()
    table = effects(model, kinds=["antisymmetric"])
    more = pairs.antisymmetric + np.array([0.0, 1.0])
    longer = pairs.with_features(pairs.objects, pairs.symmetric, more)
    change = model.decision_function(longer) - model.decision_function(pairs)
    np.testing.assert_allclose(change, table.estimates[1], rtol=1e-6)
    inside = effects(model.estimator_, kinds=["antisymmetric"])
    np.testing.assert_allclose(table.statistics, inside.statistics, rtol=1e-6)
    assert abs(table.estimates[1]) < 0.95 * abs(inside.estimates[1])


def test_tables_and_texts():
    table = effects(fitted(C=1.0), names=STYLES, level=0.8)
    frame = table.to_frame()
    assert list(frame["name"]) == list(table.names)
    assert "80% intervals" in str(table)
    assert ((table.lower < table.estimates) & (table.estimates < table.upper)).all()
    assert len(table) == 8


def test_searches_and_refusals():
    pairs, won = votes(), np.array(GOLDEN["won"])
    search = PairLogisticCV("antisymmetric", kernel="linear").fit(pairs, won)
    assert len(effects(search)) == 8
    with pytest.raises(ValueError, match="which has no posterior"):
        effects(PairSVC("antisymmetric", kernel="linear").fit(pairs, won))
    curved = PairLogistic("antisymmetric", kernel=Gaussian(1.0)).fit(pairs, won)
    with pytest.raises(ValueError, match="not an inner product of few features"):
        effects(curved)
    with pytest.raises(ValueError, match="one value for each of the 400 rows"):
        effects(search, clusters=[1, 2])
    with pytest.raises(ValueError, match="one cluster only"):
        effects(search, clusters=np.zeros(400))
    with pytest.raises(ValueError, match="got test='luck'"):
        effects(search, test="luck")
    with pytest.raises(ValueError, match="got kinds='things'"):
        effects(search, kinds=["things"])
    squares = PairLogistic("symmetric", kernel="polynomial").fit(pairs, won)
    with pytest.raises(ValueError, match=r"not linear in these columns|few features"):
        effects(squares)


def test_posterior_of_a_low_rank_model():
    pairs, won = votes(dense=True), np.array(GOLDEN["won"])
    kernel = Linear()
    exact = PairLogistic("antisymmetric", kernel=kernel, tol=1e-9).fit(pairs, won)
    low = PairLogistic("antisymmetric", kernel=kernel, solver="low_rank", tol=1e-9)
    found = posterior(low.fit(pairs, won), training=(pairs, won))
    np.testing.assert_allclose(found.std(pairs), exact.decision_std(pairs), rtol=1e-3)
