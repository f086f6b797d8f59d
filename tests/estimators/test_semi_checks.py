"""scikit-learn's own checks on the learners that need pairs without a label.

The checks label every row, which these learners refuse in a sentence.  So that the checks can run
all the same, every third row counts as unlabelled here; all else is the estimator as it is.  What
a symmetry adds to the checks (rows that are no two objects) is the same code in all learners and
checked on the supervised ones.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import pairity.training.read
from learners import LEARNERS

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ESTIMATORS = [learner.estimator for learner in LEARNERS if not learner.supervised]

#: Checks that cannot apply, and why.
LEFT_OUT = {
    # a row of weight 2 is not two rows when every third row is unlabelled, and one node of a graph
    # is not two nodes
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    # one row cannot be labelled and unlabelled: refused, but not in the words asked for
    "check_fit2d_1sample",
}


def every_third_row(values, marker):
    """Rows taken as unlabelled; of two classes, one whose rows would all be hidden keeps them."""
    hidden = np.arange(len(values)) % 3 == 2
    labels = values.tolist()
    for label in set(labels) if len(set(labels)) <= 2 else ():
        mine = np.array([value == label for value in labels])
        if hidden[mine].all():
            hidden[mine] = False
    return hidden


@pytest.fixture
def some_rows_unlabelled(monkeypatch):
    monkeypatch.setattr(pairity.training.read, "_is_unlabelled", every_third_row)


def checks():
    for make in ESTIMATORS:
        for estimator, check in estimator_checks_generator(make("none", tol=1e-7)):
            settings = [f"{key}={value}" for key, value in check.keywords.items()]
            label = "-".join([make.__name__, check.func.__name__, *settings])
            yield check.func.__name__, pytest.param(estimator, check, id=label)


@pytest.mark.usefixtures("some_rows_unlabelled")
@pytest.mark.parametrize(
    ("estimator", "check"), [parameters for name, parameters in checks() if name not in LEFT_OUT]
)
def test_check(estimator, check):
    check(estimator)


def test_every_check_left_out_exists():
    assert {name for name, _ in checks()} >= LEFT_OUT


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("symmetry", ["none", "symmetric", "antisymmetric"])
def test_without_that_the_checks_are_refused_in_a_sentence(make, symmetry):
    rows = np.random.default_rng(1).normal(size=(12, 4))
    with pytest.raises(ValueError, match=r"got labels for all 12 pairs, none of them 0; expected"):
        make(symmetry).fit(rows, np.tile([1, 2], 6))
    with pytest.raises(ValueError, match="got labels for all 1 pairs"):
        make(symmetry).fit(rows[:1], [1])
