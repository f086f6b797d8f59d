"""The estimator that ``pairity fit`` trains."""

from __future__ import annotations

from typing import Any

import pairity
from pairity.cli.errors import InputError
from pairity.cli.kernels import parse_kernel
from pairity.cli.settings import FitSettings
from pairity.kernels import Gaussian, Kernel, Linear, Nystroem, Product, Standardized
from pairity.kernels.resolve import as_kernel

__all__ = ["make_estimator", "make_low_rank"]

#: Landmarks of the default kernel of a low-rank model.
_LANDMARKS = 256

_PLAIN = {"svc": "PairSVC", "logistic": "PairLogistic", "svr": "PairSVR", "ridge": "PairRidge"}
_TUNED = {"svc": "PairSVCCV", "logistic": "PairLogisticCV", "ridge": "PairRidgeCV"}


def make_estimator(settings: FitSettings, *, identity: bool) -> Any:
    """Estimator as asked for, wrapped for probabilities or draws.

    Objects known by their ids alone (``identity``) get an effect each: Bradley-Terry.
    """
    _refuse_contradictions(settings)
    default = "linear" if identity else "gaussian"
    estimator = _tuned(settings) if settings.tune else _plain(settings, default)
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


def make_low_rank(settings: FitSettings, *, identity: bool) -> Any:
    """Estimator for workers: one whose kernel has few features of objects."""
    _refuse_contradictions(settings)
    default: Any = "linear"
    if not identity:
        grouped = settings.symmetric_feature or settings.antisymmetric_feature
        inner = Standardized(Product(Gaussian("median")) + Linear()) if grouped else "gaussian"
        default = Nystroem(inner, _LANDMARKS)
    estimator = _plain(settings, default)
    if _has_bare_gaussian(as_kernel(estimator.kernel)):
        raise InputError(
            f"got --kernel {settings.kernel} with --distributed; expected one with few features of"
            f" objects: wrap it, as in \"nystroem('gaussian', {_LANDMARKS})\"."
        )
    return estimator


def _has_bare_gaussian(kernel: Kernel) -> bool:
    """Whether a Gaussian is there that no landmarks stand for."""
    if isinstance(kernel, Nystroem):
        return False
    return isinstance(kernel, Gaussian) or any(map(_has_bare_gaussian, kernel.children()))


def _plain(settings: FitSettings, kernel: Any) -> Any:
    """One fit, with this kernel if none is named."""
    options: dict[str, Any] = {"verbose": settings.verbose}
    if settings.tol is not None:
        options["tol"] = settings.tol
    if settings.penalty is not None:
        options["C"] = settings.penalty
    if settings.alpha is not None:
        options["alpha"] = settings.alpha
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
    options = {} if settings.tol is None else {"tol": settings.tol}
    return tuned(symmetry=settings.symmetry, kernel=kernel, verbose=settings.verbose, **options)
