"""The estimator that ``pairity fit`` trains."""

from __future__ import annotations

from typing import Any

import pairity
from pairity.cli.errors import InputError
from pairity.cli.kernels import parse_kernel
from pairity.cli.settings import FitSettings

__all__ = ["make_estimator"]

_PLAIN = {"svc": "PairSVC", "logistic": "PairLogistic", "svr": "PairSVR", "ridge": "PairRidge"}
_TUNED = {"svc": "PairSVCCV", "logistic": "PairLogisticCV", "ridge": "PairRidgeCV"}


def make_estimator(settings: FitSettings, *, identity: bool) -> Any:
    """Estimator as asked for, wrapped for probabilities or draws."""
    _refuse_contradictions(settings)
    estimator = _tuned(settings) if settings.tune else _plain(settings, identity)
    if settings.draw is not None:
        return pairity.PairDrawClassifier(estimator)
    if settings.probabilities and not hasattr(estimator, "predict_proba"):
        return pairity.CalibratedPairClassifier(estimator)
    return estimator


def _refuse_contradictions(settings: FitSettings) -> None:
    regression = settings.learner in ("svr", "ridge")
    if settings.tune and (settings.penalty is not None or settings.alpha is not None):
        raise InputError("got --tune with --C or --alpha; expected one of them: --tune chooses it.")
    if settings.penalty is not None and settings.learner == "ridge":
        raise InputError("got --C for --learner ridge; expected --alpha.")
    if settings.alpha is not None and settings.learner != "ridge":
        raise InputError(f"got --alpha for --learner {settings.learner}; expected --C.")
    if regression and settings.probabilities:
        raise InputError(
            f"got --probabilities for --learner {settings.learner}; expected svc or logistic."
        )
    if regression and (settings.draw is not None or settings.positive is not None):
        raise InputError(
            f"got --positive or --draw for --learner {settings.learner}, which predicts numbers;"
            " expected svc or logistic."
        )
    if settings.draw is not None and settings.symmetry != "antisymmetric":
        raise InputError(
            f"got --draw with --symmetry {settings.symmetry}; expected antisymmetric: a draw is"
            " between win and loss."
        )


def _plain(settings: FitSettings, identity: bool) -> Any:
    """One fit; objects known by their ids alone get an effect each (Bradley-Terry)."""
    options: dict[str, Any] = {"verbose": settings.verbose}
    if settings.penalty is not None:
        options["C"] = settings.penalty
    if settings.alpha is not None:
        options["alpha"] = settings.alpha
    kernel = "linear" if identity else "gaussian"
    if settings.kernel is not None:
        kernel = parse_kernel(settings.kernel)
    return getattr(pairity, _PLAIN[settings.learner])(settings.symmetry, kernel, **options)


def _tuned(settings: FitSettings) -> Any:
    name = _TUNED.get(settings.learner)
    tuned = getattr(pairity, name, None) if name is not None else None
    if tuned is None:
        there = [learner for learner, cls in _TUNED.items() if hasattr(pairity, cls)]
        expected = f"one of {', '.join(there)}" if there else "--C or --alpha and a --kernel"
        raise InputError(f"got --tune for --learner {settings.learner}; expected {expected}.")
    kernel = "auto" if settings.kernel is None else parse_kernel(settings.kernel)
    return tuned(symmetry=settings.symmetry, kernel=kernel, verbose=settings.verbose)
