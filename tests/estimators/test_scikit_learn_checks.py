"""scikit-learn's own suite of checks on every learner, with the few that cannot apply declared.

Many checks use rows of 3 or 5 columns, which cannot be two objects of equal width.  These run on
a second configuration, whose odd column in the middle is a group feature; so that every check
not declared below passes in one of the two, and every declared one fails for the reason given,
in the words of the estimator itself.  ``tol`` is small where weights are compared with repeated
rows, because those checks compare decisions to 1e-7; all others run with the estimator's own.
"""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from declared_checks import CANNOT_BE_HALVED, EQUAL_HALVES, ODD_WIDTH, SELF_PAIRS, run_check
from learners import LEARNERS

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # the rows of check_classifier_data_not_an_array do hold every pair in both orders
    pytest.mark.filterwarnings("ignore::pairity.exceptions.DoubledRowsWarning"),
    # some checks standardise their rows, and so the two halves apart
    pytest.mark.filterwarnings("ignore::pairity.exceptions.SwapLawWarning"),
]

SMALL_TOL = 1e-10
COMPARED_CLOSELY = "check_sample_weight_equivalence"
ESTIMATORS = [learner.estimator for learner in LEARNERS if learner.supervised]

#: Checks that cannot apply to an antisymmetric machine, whatever the width, and what it says.
NOT_ANTISYMMETRIC = {
    "check_class_weight_classifiers": "for an antisymmetric model; expected equal weights",
    **dict.fromkeys(SELF_PAIRS, EQUAL_HALVES),
}

#: Checks on rows of odd width that have equal halves as well (small whole numbers, or zeros).
EQUAL_HALVES_AND_ODD_WIDTH = {
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
}


def checks_of(make, symmetry, **options):
    for estimator, check in estimator_checks_generator(make(symmetry, **options)):
        name = check.func.__name__
        if name.startswith(COMPARED_CLOSELY):
            estimator = make(symmetry, tol=SMALL_TOL, **options)
        settings = [f"{key}={value}" for key, value in check.keywords.items()]
        label = "-".join([make.__name__, symmetry, name, *settings])
        yield name, pytest.param(estimator, check, id=label)


def declared_failure(estimator, name):
    """What the estimator must say where the check cannot apply, or None."""
    declared = {}
    if estimator.symmetry != "none":
        declared |= dict.fromkeys(ODD_WIDTH, CANNOT_BE_HALVED)
    if estimator.symmetry == "antisymmetric":
        declared |= NOT_ANTISYMMETRIC
    return declared.get(name)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        parameters
        for make in ESTIMATORS
        for symmetry in ("none", "symmetric", "antisymmetric")
        for _, parameters in checks_of(make, symmetry)
    ],
)
def test_check(estimator, check):
    run_check(estimator, check, declared_failure(estimator, check.func.__name__))


def odd_width_checks():
    groups = {"symmetric": "n_symmetric", "antisymmetric": "n_antisymmetric"}
    for make in ESTIMATORS:
        for symmetry, group in groups.items():
            left_out = EQUAL_HALVES_AND_ODD_WIDTH if symmetry == "antisymmetric" else set()
            for name, parameters in checks_of(make, symmetry, **{group: 1}):
                if name in ODD_WIDTH - left_out:
                    yield parameters


@pytest.mark.parametrize(("estimator", "check"), list(odd_width_checks()))
def test_check_on_rows_of_odd_width(estimator, check):
    check(estimator)


def test_every_declared_check_exists():
    """A check that scikit-learn renames or drops must not stay declared."""
    names = {name for make in ESTIMATORS for name, _ in checks_of(make, "symmetric")}
    assert names >= ODD_WIDTH | set(NOT_ANTISYMMETRIC)
    assert any(name.startswith(COMPARED_CLOSELY) for name in names)
    assert ODD_WIDTH >= EQUAL_HALVES_AND_ODD_WIDTH
