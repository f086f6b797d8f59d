"""What a report is about: a fitted model, taken apart as far as the report needs it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from pairity.calibration import PairDrawClassifier
from pairity.calibration.trainer import Trainer, parity_of
from pairity.estimators.base import PairMachine
from pairity.estimators.logistic import PairLogistic
from pairity.exceptions import ConvergenceWarning
from pairity.explain.fitted import values_of
from pairity.kernels.nystroem import FeatureError
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.report.data import ModelFacts

__all__ = ["Subject", "learner_of", "read_targets"]

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]


def learner_of(model: Any) -> Any:
    """The fitted learner inside searches and calibrations; pipelines keep their other steps.

    Fitting a clone of it again holds the kernel and the strength that a search chose.
    """
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], learner_of(model.steps[-1][1]))])
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return learner_of(getattr(model, name))
    return model


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model with what it was fitted to.

    ``targets`` are signs of labels (``classes[1]`` is +1), outcomes -1, 0 and 1 where there are
    draws, or the numbers of a regressor.
    """

    model: Any
    learner: Any
    machine: PairMachine
    parity: Parity | None
    kind: str  # "labels", "draws", "numbers"
    classes: tuple[Any, ...]
    class_names: tuple[str, ...]
    pairs: Pairs
    y: NDArray[Any]
    targets: Vector

    @classmethod
    def read(cls, model: Any, pairs: Any, y: Any, label_names: Any = None) -> Subject:
        """Check what users pass."""
        if not isinstance(pairs, Pairs):
            raise ValueError(
                f"got pairs of type {type(pairs).__name__}; expected Pairs, what the model was"
                " fitted to: Pairs.from_rows(rows) gives those of wide rows."
            )
        learner = learner_of(model)
        machine = learner[-1] if isinstance(learner, Pipeline) else learner
        if not isinstance(machine, PairMachine) or not hasattr(machine, "certificate_"):
            raise ValueError(
                f"got {type(model).__name__} without a fitted learner of pairs inside; expected a"
                " fitted PairSVC or its like, alone or in a pipeline, search or calibration."
            )
        kind = _kind(model, machine)
        classes = tuple(model.classes_.tolist()) if kind != "numbers" else ()
        labels = np.asarray(y)
        if labels.shape != (len(pairs),):
            raise ValueError(
                f"got y of shape {labels.shape} for {len(pairs)} pairs; expected one per pair."
            )
        if not len(pairs):
            raise ValueError("got 0 pairs; expected those that the model was fitted to.")
        return cls(
            model=model,
            learner=learner,
            machine=machine,
            parity=parity_of(machine),
            kind=kind,
            classes=classes,
            class_names=_class_names(classes, label_names),
            pairs=pairs,
            y=labels,
            targets=read_targets(labels, kind, classes),
        )

    @property
    def is_odd(self) -> bool:
        """Whether a swap changes the sign of decisions."""
        return self.parity is Parity.ODD

    @property
    def has_own_chances(self) -> bool:
        """Whether decisions of the learner are log-odds already."""
        return self.kind == "labels" and isinstance(self.machine, PairLogistic)

    @property
    def predicts_by_chance(self) -> bool:
        """Whether labels are predicted by a probability above one half, not by a decision above 0."""
        return self.kind == "labels" and hasattr(self.model, "predict_proba")

    def some(self, rows: Rows) -> Subject:
        """The same model beside some of the pairs."""
        return replace(self, pairs=self.pairs[rows], y=self.y[rows], targets=self.targets[rows])

    def label_of(self, target: float) -> str:
        """A label as people know it, or a number."""
        if self.kind == "numbers":
            return f"{target:.4g}"
        place = int(target) + 1 if self.kind == "draws" else int(target > 0)
        return self.class_names[place]

    def values(self, model: Any, pairs: Pairs) -> Vector:
        """Decisions or predictions of a model."""
        return values_of(model, pairs)

    def refit(self, rows: Rows) -> tuple[Any, bool]:
        """The learner fitted to some of the pairs, and whether it converged; None if it cannot."""
        if self.kind == "draws" and is_classifier(self.machine):
            rows = rows[self.targets[rows] != 0.0]
        trainer = Trainer(_silent(self.learner), self.pairs, self._labels(), None)
        two = self.kind == "labels" or (self.kind == "draws" and is_classifier(self.machine))
        if two and not self.is_odd and len(np.unique(self.targets[rows])) < 2:
            return None, True
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names = np.array(self.classes if self.kind == "labels" else (-1, 1))
            if not len(rows):
                return None, True
            model = trainer.fit_with_both_labels(rows, names) if two else trainer.fit(rows)
        converged = not any(issubclass(item.category, ConvergenceWarning) for item in caught)
        return model, converged

    @property
    def trained_on(self) -> tuple[Pairs, NDArray[Any]]:
        """Pairs and targets that the learner was fitted to: of games with draws, the decided ones."""
        if self.kind != "draws":
            return self.pairs, self.y
        rows = np.arange(len(self.pairs))
        if is_classifier(self.machine):
            rows = np.flatnonzero(self.targets != 0.0)
        return self.pairs[rows], self._labels()[rows]

    def _labels(self) -> NDArray[Any]:
        """What the learner is fitted to: inside a model of draws, signs."""
        if self.kind == "draws":
            return self.targets.astype(np.int64)
        return self.y

    def facts(self) -> ModelFacts:
        """Estimator, kernel, strength."""
        machine = self.machine
        name = "alpha" if hasattr(machine, "alpha") else "C"
        strength = getattr(machine, "alpha_", getattr(machine, name, None))
        shown = f"{strength:g}" if isinstance(strength, int | float) else str(strength)
        return ModelFacts(
            estimator=" of ".join(_names(self.model)),
            symmetry=machine.symmetry,
            kernel=str(machine._model.kernel),
            strength=f"{name} = {shown}",
            kind=self.kind,
            labels=self.class_names,
            n_support=len(getattr(machine, "support_", range(machine.certificate_.n_support))),
            features="; ".join(map(_lost, getattr(machine, "approximation_", ()))),
        )


def _lost(error: FeatureError) -> str:
    return (
        f"{error.n_components:,} similarities to landmarks, which lose {100.0 * error.share:.2g} % of"
        f" the kernel and at most {100.0 * error.largest:.2g} % of an object"
    )


def read_targets(labels: NDArray[Any], kind: str, classes: tuple[Any, ...]) -> Vector:
    """Signs, outcomes or numbers."""
    if kind == "numbers":
        return np.asarray(labels, dtype=np.float64)
    steps = (-1.0, 1.0) if kind == "labels" else (-1.0, 0.0, 1.0)
    targets = np.full(len(labels), np.nan)
    for value, step in zip(classes, steps, strict=True):
        targets[labels == value] = step
    if np.isnan(targets).any():
        row = int(np.argmax(np.isnan(targets)))
        raise ValueError(
            f"got label {labels[row]!r} in row {row}; expected one of {list(classes)}, the labels"
            " that the model knows."
        )
    return targets


def _kind(model: Any, machine: PairMachine) -> str:
    last = model[-1] if isinstance(model, Pipeline) else model
    if isinstance(last, PairDrawClassifier):
        return "draws"
    return "labels" if is_classifier(machine) else "numbers"


def _class_names(classes: tuple[Any, ...], given: Any) -> tuple[str, ...]:
    """Names of labels: a mapping, or an object with ``values`` and ``names`` side by side."""
    known: dict[Any, Any] = {}
    if isinstance(given, Mapping):
        known = dict(given)
    elif given is not None:
        known = dict(zip(given.values, given.names, strict=True))
    return tuple(str(known.get(value, value)) for value in classes)


def _names(model: Any) -> list[str]:
    """Names of an estimator and of what is inside it."""
    if isinstance(model, Pipeline):
        return ["Pipeline", *_names(model.steps[-1][1])]
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return [type(model).__name__, *_names(getattr(model, name))]
    return [type(model).__name__]


def _silent(learner: Any) -> Any:
    """An unfitted clone that neither prints nor calls back."""
    copy = clone(learner)
    quiet = {
        name: value
        for name, value in copy.get_params().items()
        if name.endswith(("verbose", "callback")) and value
    }
    for name in quiet:
        copy.set_params(**{name: False if name.endswith("verbose") else None})
    return copy
