"""``update``: the fit to all pairs from the last solution on, of any kernel."""

import numpy as np
import pytest

from cases import random_labels, random_pairs, random_targets
from pairity import PairLogistic, PairRidge, Pairs
from pairity.exceptions import DataError
from pairity.pairs.same_objects import one_after_another


@pytest.mark.parametrize("training_set", ["halved", "full"])
@pytest.mark.parametrize("symmetry", ["symmetric", "antisymmetric", "none"])
def test_an_update_is_the_fit_to_all_pairs(symmetry, training_set):
    pairs, y = random_pairs(0, n=40), random_labels(0, 40)
    options = {"training_set": training_set, "tol": 1e-11}
    model = PairLogistic(symmetry, **options).fit(pairs[:25], y[:25])
    model.update(pairs[25:33], y[25:33]).update(pairs[33:], y[33:])
    whole = PairLogistic(symmetry, **options).fit(pairs, y)
    assert model.certificate_.holds
    np.testing.assert_allclose(
        model.decision_function(pairs), whole.decision_function(pairs), rtol=0.0, atol=1e-8
    )
    assert model.observed_.n_rows == 40


def test_weights_stay_with_their_pairs():
    pairs, y = random_pairs(1, n=30), random_targets(1, 30)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, size=30)
    weights[[2, 27]] = 0.0
    model = PairRidge("antisymmetric").fit(pairs[:20], y[:20], sample_weight=weights[:20])
    model.update(pairs[20:], y[20:], sample_weight=weights[20:])
    whole = PairRidge("antisymmetric").fit(pairs, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(pairs), whole.predict(pairs), rtol=0.0, atol=1e-10)


def test_what_cannot_be_updated_is_refused():
    pairs, y = random_pairs(2), random_labels(2, 14)
    weighted = PairLogistic("symmetric", class_weight="balanced").fit(pairs, y)
    with pytest.raises(ValueError, match="class weights"):
        weighted.update(pairs, y)
    with pytest.raises(ValueError, match="2 labels"):
        PairLogistic("symmetric").fit(pairs, y).update(pairs, y[:2])


def test_lists_of_pairs_one_after_another():
    one = Pairs([[1.0], [2.0]], [0], [1], ids=["a", "b"], time=[1.0])
    other = Pairs([[2.0], [3.0]], [0], [1], ids=["b", "c"], time=[2.0])
    both = one_after_another(one, other)
    assert both.n_objects == 3
    assert both.time.tolist() == [1.0, 2.0]
    assert both.ids[both.first].tolist() == ["a", "b"]
    assert both.ids[both.second].tolist() == ["b", "c"]
    with pytest.raises(DataError, match="times in both"):
        one_after_another(one, Pairs([[2.0], [3.0]], [0], [1], ids=["b", "c"]))
