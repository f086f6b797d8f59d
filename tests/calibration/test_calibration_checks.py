"""scikit-learn's own checks on the two classifiers; those that cannot apply are declared and fail."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from declared_checks import CANNOT_BE_HALVED, EQUAL_HALVES, ODD_WIDTH, SELF_PAIRS, run_check
from pairity import CalibratedPairClassifier, PairDrawClassifier, PairLogistic, PairSVC

pytestmark = [
    pytest.mark.filterwarnings("ignore::pairity.exceptions.PairityWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning"),
]

NOT_NAMED = "do not say which is the loss, the draw and the win"
ONE_SCORE = ""  # decision_function is one score for three outcomes; the checks want three columns

#: Why an antisymmetric classifier of two labels fails a check: what it says.
ANTISYMMETRIC = {
    **dict.fromkeys(ODD_WIDTH, CANNOT_BE_HALVED),
    **dict.fromkeys(SELF_PAIRS, EQUAL_HALVES),
}

#: The same for three outcomes: many checks have two labels 1 and 2, or texts.
DRAWS = {
    **ANTISYMMETRIC,
    **dict.fromkeys(
        {*SELF_PAIRS, "check_classifiers_classes", "check_dtype_object"},
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


@pytest.mark.parametrize(("estimator", "check", "reason"), list(checks()))
def test_check(estimator, check, reason):
    run_check(estimator, check, reason)


def test_every_declared_check_exists():
    for model, declared in CONFIGURATIONS.values():
        names = {check.func.__name__ for _, check in estimator_checks_generator(model)}
        assert names >= set(declared)
