"""scikit-learn's own suite of checks, with the few that cannot apply to pairs declared.

Many checks use rows of 3 or 5 columns, which cannot be two objects of equal width.  These run on
a second configuration, whose odd column in the middle is a group feature; so that every check
not declared below passes in one of the two.  ``tol`` is small because the checks of sample
weights compare decisions to 1e-7.
"""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from pairity import PairSVC

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # the rows of check_classifier_data_not_an_array do hold every pair in both orders
    pytest.mark.filterwarnings("ignore::pairity.exceptions.DoubledRowsWarning"),
]

TOL = 1e-10

#: Checks on rows of odd width: they pass with one group feature in the middle.
ODD_WIDTH = {
    "check_classifiers_one_label",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_sample_weights_list",
    "check_supervised_y_2d",
}

EQUAL_HALVES = "its rows have two equal halves, an object with itself: refused, for f is 0 there"

#: Checks that cannot apply to an antisymmetric machine, whatever the width.
NOT_ANTISYMMETRIC = {
    "check_class_weight_classifiers": "unequal class weights break Lemma 1 and are refused",
    "check_classifier_data_not_an_array": EQUAL_HALVES,
    "check_sample_weights_not_an_array": EQUAL_HALVES,
    "check_sample_weights_not_overwritten": EQUAL_HALVES,
    "check_sample_weights_pandas_series": EQUAL_HALVES,
    "check_sample_weights_shape": EQUAL_HALVES,
}

#: Checks on rows of odd width that have equal halves as well (small whole numbers, or zeros).
EQUAL_HALVES_AND_ODD_WIDTH = {
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
}


def expected_failures(estimator):
    if estimator.symmetry == "none":
        return {}
    declared = dict.fromkeys(
        ODD_WIDTH, "its rows have an odd number of columns, which cannot be two objects"
    )
    return declared | (NOT_ANTISYMMETRIC if estimator.symmetry == "antisymmetric" else {})


@parametrize_with_checks(
    [PairSVC(symmetry, tol=TOL) for symmetry in ("none", "symmetric", "antisymmetric")],
    expected_failed_checks=expected_failures,
)
def test_check(estimator, check):
    check(estimator)


def odd_width_checks():
    for symmetry in ("symmetric", "antisymmetric"):
        group = {"symmetric": "n_symmetric", "antisymmetric": "n_antisymmetric"}[symmetry]
        left_out = EQUAL_HALVES_AND_ODD_WIDTH if symmetry == "antisymmetric" else set()
        for estimator, check in estimator_checks_generator(
            PairSVC(symmetry, tol=TOL, **{group: 1})
        ):
            name = check.func.__name__
            if name in ODD_WIDTH - left_out:
                yield pytest.param(estimator, check, id=f"{symmetry}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(odd_width_checks()))
def test_check_on_rows_of_odd_width(estimator, check):
    check(estimator)


def test_every_declared_check_exists():
    """A check that scikit-learn renames or drops must not stay declared."""
    names = {check.func.__name__ for _, check in estimator_checks_generator(PairSVC())}
    assert names >= ODD_WIDTH | set(NOT_ANTISYMMETRIC)
    assert ODD_WIDTH >= EQUAL_HALVES_AND_ODD_WIDTH
