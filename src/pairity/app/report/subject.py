"""What a report is about: a fitted model, taken apart as far as the report needs it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from pairity.app.report.report_data import ModelFacts
from pairity.estimators.machine import PairMachine
from pairity.estimators.unwrap import describe_layers, direction, learner_of, machine_of
from pairity.exceptions import ConvergenceWarning
from pairity.inspection.fitted_function import values_of
from pairity.model_selection import PairDrawClassifier
from pairity.model_selection.held_out import Trainer, parity_of
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.validation import plain_repr

#: Targets that the labels of a model stand for, in their order.
STEPS = {"labels": (-1.0, 1.0), "draws": (-1.0, 0.0, 1.0)}


def names_of(pairs: Pairs, called: Mapping[str, str]) -> list[str]:
    """Names of the rows of the object table: what ids are called, ids, or numbers."""
    if pairs.ids is None:
        return [f"object {row}" for row in range(pairs.n_objects)]
    return [called.get(name, name) for name in map(str, pairs.ids.tolist())]


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
    called: Mapping[str, str] = field(default_factory=dict)  # texts of ids -> names of objects

    @property
    def ahead(self) -> str:
        """What says that the first object of a pair is ahead."""
        if self.kind == "numbers":
            return "values above 0: the first object is ahead"
        label = self.class_names[-1 if direction(self.model, self.parity) > 0.0 else 0]
        return f"label {label}: the first object is ahead"

    @classmethod
    def read(
        cls, model: Any, pairs: Any, y: Any, label_names: Any = None, called: Any = None
    ) -> Subject:
        """Check what users pass."""
        if not isinstance(pairs, Pairs):
            raise ValueError(
                f"got pairs of type {type(pairs).__name__}; expected Pairs, what the model was"
                " fitted to: Pairs.from_rows(rows) gives those of wide rows."
            )
        machine = machine_of(model)
        if not isinstance(machine, PairMachine) or not hasattr(machine, "certificate_"):
            raise ValueError(
                f"got {type(model).__name__} without a fitted learner of pairs inside; expected a"
                " fitted PairSVC or its like, alone or in a pipeline, search or calibration."
            )
        last = model[-1] if isinstance(model, Pipeline) else model
        kind = "draws" if isinstance(last, PairDrawClassifier) else "numbers"
        if kind != "draws" and is_classifier(machine):
            kind = "labels"
        classes = tuple(model.classes_.tolist()) if kind != "numbers" else ()
        names: Mapping[Any, Any] = label_names or {}
        if not isinstance(names, Mapping):  # an object with values and names side by side
            names = dict(zip(names.values, names.names, strict=True))
        labels = np.asarray(y)
        if labels.shape != (len(pairs),):
            raise ValueError(
                f"got y of shape {labels.shape} for {len(pairs)} pairs; expected one per pair."
            )
        if not len(pairs):
            raise ValueError("got 0 pairs; expected those that the model was fitted to.")
        direction(model, parity_of(machine))  # refused here where labels do not say who is ahead
        return cls(
            model=model,
            learner=learner_of(model),
            machine=machine,
            parity=parity_of(machine),
            kind=kind,
            classes=classes,
            class_names=tuple(str(names.get(value, value)) for value in classes),
            pairs=pairs,
            y=labels,
            targets=read_targets(labels, kind, classes),
            called={str(id): str(name) for id, name in dict(called or {}).items()},
        )

    @property
    def is_odd(self) -> bool:
        """Whether a swap changes the sign of decisions."""
        return self.parity is Parity.ODD

    @property
    def predicts_by_chance(self) -> bool:
        """Whether labels are predicted by a probability above one half, not by a decision above 0."""
        return self.kind == "labels" and hasattr(self.model, "predict_proba")

    def some(self, rows: Places) -> Subject:
        """The same model beside some of the pairs."""
        return replace(self, pairs=self.pairs[rows], y=self.y[rows], targets=self.targets[rows])

    def columns(self, targets: Vector) -> Places:
        """Which class each target stands for."""
        return np.searchsorted(STEPS[self.kind], targets)

    def label_of(self, target: float) -> str:
        """A label as people know it, or a number."""
        if self.kind == "numbers":
            return f"{target:.4g}"
        return self.class_names[STEPS[self.kind].index(target)]

    @cached_property
    def names(self) -> list[str]:
        """Names of the rows of the object table."""
        return names_of(self.pairs, self.called)

    def pair_names(self, row: int) -> tuple[str, str, str]:
        """The two objects of a pair and its outcome, as people know them."""
        ends = self.names[self.pairs.first[row]], self.names[self.pairs.second[row]]
        return *ends, self.label_of(float(self.targets[row]))

    def values(self, pairs: Pairs) -> Vector:
        """Decisions or predictions of the model."""
        return values_of(self.model, pairs)

    @property
    def _is_of_decided(self) -> bool:
        """Whether the learner is a classifier inside a model of draws, which sees decided games."""
        return self.kind == "draws" and is_classifier(self.machine)

    def refit(self, rows: Places) -> tuple[Any, bool]:
        """The learner fitted to some of the pairs, and whether it converged; None if it cannot."""
        if self._is_of_decided:
            rows = rows[self.targets[rows] != 0.0]
        trainer = Trainer(_silent(self.learner), self.pairs, self._labels(), None)
        two = self.kind == "labels" or self._is_of_decided
        if not len(rows) or (two and not self.is_odd and len(np.unique(self.targets[rows])) < 2):
            return None, True
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names = np.array(self.classes if self.kind == "labels" else (-1, 1))
            model = trainer.fit(rows, names if two else None)
        converged = not any(issubclass(item.category, ConvergenceWarning) for item in caught)
        return model, converged

    @property
    def trained_rows(self) -> Places:
        """Places that the learner was fitted to: of games with draws, the decided ones."""
        return np.flatnonzero((self.targets != 0.0) | (not self._is_of_decided))

    @property
    def trained_on(self) -> tuple[Pairs, NDArray[Any]]:
        """Pairs and targets that the learner was fitted to."""
        return self.pairs[self.trained_rows], self._labels()[self.trained_rows]

    def _labels(self) -> NDArray[Any]:
        """What the learner is fitted to: inside a model of draws, signs."""
        return self.targets.astype(np.int64) if self.kind == "draws" else self.y

    def facts(self) -> ModelFacts:
        """Estimator, kernel, strength."""
        machine = self.machine
        name = "alpha" if hasattr(machine, "alpha") else "C"
        strength = getattr(machine, "alpha_", getattr(machine, name, None))
        shown = f"{strength:g}" if isinstance(strength, int | float) else str(strength)
        return ModelFacts(
            estimator=describe_layers(self.model),
            symmetry=machine.symmetry,
            kernel=str(machine._model.kernel),
            strength=f"{name} = {shown}",
            kind=self.kind,
            labels=self.class_names,
            n_support=len(getattr(machine, "support_", range(machine.certificate_.n_support))),
            features="; ".join(
                f"{error.n_components:,} similarities to landmarks, which lose"
                f" {100.0 * error.share:.2g} % of the kernel and at most"
                f" {100.0 * error.largest:.2g} % of an object"
                for error in getattr(machine, "approximation_", ())
            ),
        )


def read_targets(labels: NDArray[Any], kind: str, classes: tuple[Any, ...]) -> Vector:
    """Signs, outcomes or numbers."""
    if kind == "numbers":
        return np.asarray(labels, dtype=np.float64)
    targets = np.full(len(labels), np.nan)
    for value, step in zip(classes, STEPS[kind], strict=True):
        targets[labels == value] = step
    if np.isnan(targets).any():
        row = int(np.argmax(np.isnan(targets)))
        raise ValueError(
            f"got label {plain_repr(labels[row])} in row {row}; expected one of {list(classes)}, the"
            " labels that the model knows."
        )
    return targets


def _silent(learner: Any) -> Any:
    """An unfitted clone that neither prints nor calls back."""
    copy = clone(learner)
    quiet = {
        name: False if name.endswith("verbose") else None
        for name, value in copy.get_params().items()
        if name.endswith(("verbose", "callback")) and value
    }
    return copy.set_params(**quiet)
