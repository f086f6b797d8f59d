"""scikit-learn's own checks on the two classifiers; those that cannot apply are declared and fail."""

import re

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pairity import CalibratedPairClassifier, PairDrawClassifier, PairLogistic, PairSVC

pytestmark = [
    pytest.mark.filterwarnings("ignore::pairity.exceptions.PairityWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning"),
]

ODD_WIDTH = r"got rows with n_features=\d+.* two objects need the same number"
EQUAL_HALVES = "pairs an object with itself"
NOT_NAMED = "do not say which is the loss, the draw and the win"
ONE_SCORE = ""  # decision_function is one score for three outcomes; the checks want three columns

#: Why an antisymmetric classifier of two labels fails a check: what it says.
ANTISYMMETRIC = {
    **dict.fromkeys(
        [
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
        ],
        ODD_WIDTH,
    ),
    **dict.fromkeys(
        [
            "check_classifier_data_not_an_array",
            "check_sample_weights_not_an_array",
            "check_sample_weights_not_overwritten",
            "check_sample_weights_pandas_series",
            "check_sample_weights_shape",
        ],
        EQUAL_HALVES,
    ),
}

#: The same for three outcomes: many checks have two labels 1 and 2, or texts.
DRAWS = {
    **ANTISYMMETRIC,
    **dict.fromkeys(
        [
            "check_classifier_data_not_an_array",
            "check_classifiers_classes",
            "check_dtype_object",
            "check_sample_weights_not_an_array",
            "check_sample_weights_not_overwritten",
            "check_sample_weights_pandas_series",
            "check_sample_weights_shape",
        ],
        NOT_NAMED,
    ),
    "check_classifiers_train": ONE_SCORE,
    "check_decision_proba_consistency": ONE_SCORE,
}

CONFIGURATIONS = {
    "calibrated": (CalibratedPairClassifier(PairSVC("none", tol=1e-10), cv=2), {}),
    "antisymmetric": (
        CalibratedPairClassifier(PairSVC("antisymmetric", tol=1e-8)),
        ANTISYMMETRIC,
    ),
    "draws": (PairDrawClassifier(PairLogistic("antisymmetric", tol=1e-8)), DRAWS),
}


def checks():
    for name, (model, declared) in CONFIGURATIONS.items():
        for estimator, check in estimator_checks_generator(model):
            settings = [f"{key}={value}" for key, value in check.keywords.items()]
            label = "-".join([name, check.func.__name__, *settings])
            reason = declared.get(check.func.__name__)
            yield pytest.param(estimator, check, reason, id=label)


def messages(error):
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_check(estimator, check, reason):
    if reason is None:
        check(estimator)
        return
    with pytest.raises((ValueError, AssertionError)) as caught:
        check(estimator)
    assert re.search(reason, "\n".join(messages(caught.value)))


def test_every_declared_check_exists():
    for model, declared in CONFIGURATIONS.values():
        names = {check.func.__name__ for _, check in estimator_checks_generator(model)}
        assert names >= set(declared)
