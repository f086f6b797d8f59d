"""Checks of scikit-learn that cannot apply to pairs, and what estimators say to them."""

import re

import pytest

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

#: Checks on rows of two equal objects.
SELF_PAIRS = {
    "check_classifier_data_not_an_array",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
}

#: What an estimator says to rows of odd width, and of an object with itself.
CANNOT_BE_HALVED = r"got rows with n_features=\d+.* two objects need the same number"
EQUAL_HALVES = "pairs an object with itself"


def run_check(estimator, check, reason):
    """Pass the check; or, with a reason, fail and say it."""
    if reason is None:
        check(estimator)
        return
    with pytest.raises((ValueError, AssertionError)) as caught:
        check(estimator)
    assert re.search(reason, "\n".join(_messages(caught.value)))


def _messages(error):
    """What an error says, and the errors before it that it was raised from."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__
