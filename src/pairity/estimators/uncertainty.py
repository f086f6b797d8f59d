"""What machines with a posterior can do: say how sure they are, and learn more pairs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from pairity.losses.loss import Logistic, Loss, Squared
from pairity.losses.probabilities import moderated, two_probabilities
from pairity.pairs.arrays import Vector
from pairity.runtime.validation import check_choice, check_level
from pairity.training.labels import one_per_pair
from pairity.training.model import PairModel
from pairity.training.read import (
    Observations,
    TrainingData,
    half_life_weights,
    read,
    read_pairs,
    read_weights,
)


class WithPosterior:
    """Machines whose fit is the mode of a posterior: :class:`~pairity.PairRidge`, ``PairLogistic``."""

    observed_: Observations

    def fit_loss(self, data: TrainingData, loss: Loss, *, start: Vector | None = None) -> Self:
        """Fit with a loss of your own, one entry for each row of ``pairity.training.read.read``.

        What was observed is kept where the loss is that of the estimator itself, and support pairs
        are: intervals follow from it.
        """
        super().fit_loss(data, loss, start=start)  # type: ignore[misc]
        machine: Any = self
        strength = machine._recipe().strength
        own = isinstance(loss, Logistic if isinstance(self, ClassifierMixin) else Squared)
        own = own and isinstance(machine._model, PairModel)
        if own and np.array_equal(loss.weights, strength * data.weights):  # type: ignore[attr-defined]
            self.observed_ = observations_of(machine, data)
        return self

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to all pairs that were seen before and to new ones, from the last solution on.

        The result is that of a fit to all of them, to the tolerance, and has its certificate; dual
        variables of new pairs start from 0, where the last model is.  Rows are counted from the first
        pair ever seen.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            New pairs, of the columns that the model was fitted to.
        y : array-like of shape (n,)
            Their labels or targets.
        sample_weight : array-like of shape (n,), optional
            Factors on their loss.
        """
        from pairity.pairs.same_objects import one_after_another  # few models are updated

        check_is_fitted(self)
        machine: Any = self
        machine._check_parameters()
        pairs = read_pairs(self, X, reset=False)
        seen: Observations | None = getattr(self, "observed_", None)
        if seen is None or getattr(self, "class_weight", None) is not None:
            raise ValueError(
                f"got a {type(self).__name__} that cannot be updated (it keeps no training pairs, or has"
                " class weights, which new pairs would change); expected a fitted one of another kind:"
                " fit it to all pairs."
            )
        classifies = is_classifier(self)
        targets = one_per_pair(y, len(pairs), "label" if classifies else "target")
        known: Any = seen.targets
        if classifies:  # signs are labels again, as users write them
            known = machine.classes_[(seen.targets > 0.0).astype(np.intp)]
        given = seen.weights
        if machine.decay is not None:  # they fade anew, from the latest time of all
            given = given / half_life_weights(seen.pairs.clock[:, 0], machine.decay)
        weights = np.concatenate([given, read_weights(sample_weight, len(pairs))])
        both = one_after_another(seen.pairs, pairs)
        data = read(self, both, np.concatenate([known, targets]), weights)
        if machine.training_set == "full" and data.parity is not None:
            return machine._fit(data)
        loss = machine._recipe().of(data.targets, data.weights)
        start = np.concatenate([machine._dual, np.zeros(len(data) - len(machine._dual))])
        return self.fit_loss(data, loss, start=start)

    def _forget(self) -> None:
        super()._forget()  # type: ignore[misc]
        self.__dict__.pop("observed_", None)

    def _posterior(self, observed: Observations | None = None) -> Any:
        """The posterior of what was observed."""
        machine: Any = self
        check_is_fitted(machine)
        if observed is None:
            observed = getattr(self, "observed_", None)
        if observed is None:
            raise ValueError(
                f"got a {type(self).__name__} that keeps no training pairs (a low-rank model, a loss of"
                " your own, or a file of an older version); expected what it was fitted to:"
                " pairity.inspection.posterior(model, training=(pairs, y)), or fit it again."
            )
        from pairity.training.posterior import posterior_of  # few fits are asked for it

        kind = "logistic" if is_classifier(machine) else "squared"
        options = {"has_bias": machine._has_bias, "budget": machine._budget}
        return posterior_of(machine._model, observed, kind, **options)

    def decision_std(self, X: Any) -> Vector:
        """Posterior standard deviation of the fitted function, shape (n,).

        The same for pairs and for swapped pairs, bit for bit; exactly 0.0 for an object with itself
        in the antisymmetric case.  Of a regressor the prior variance is estimated, of a classifier
        it is that of the penalty (:mod:`pairity.training.posterior`).
        """
        posterior = self._posterior()
        return posterior.std(read_pairs(self, X, reset=False))

    def predict_averaged_proba(self, X: Any) -> Vector:
        """Probabilities of ``classes_`` averaged over the posterior, shape (n, 2), of a classifier.

        ``predict_proba`` takes the fitted function at its word.  Of objects with few pairs, or whose
        last pair was long ago, less is known: the mean probability is nearer to 1/2 (MacKay's
        approximation of the integral).  Rows add up to 1 and change places under a swap, exactly.
        """
        posterior = self._posterior()
        if not is_classifier(self):
            raise ValueError(
                f"got a {type(self).__name__}, which has no labels; expected a classifier: use"
                " predict_interval for numbers."
            )
        variance = posterior.variance(read_pairs(self, X, reset=False))
        return two_probabilities(moderated(self._decide(X), variance))  # type: ignore[attr-defined]

    def predict_interval(self, X: Any, level: float = 0.9, of: str = "function") -> Vector:
        """Lower and upper ends of an interval, shape (n, 2).

        Under a swap they stay, or are exchanged and change their sign (probabilities p become
        1 - p), bit for bit.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows.
        level : float
            Coverage aimed at, between 0 and 1.
        of : {"function", "outcome"}
            Interval of the fitted function (decisions of a classifier); or of a new observation of
            a regressor, noise included, and of the probability of ``classes_[1]``.
        """
        check_level(level)
        check_choice(of, "of", ("function", "outcome"))
        posterior = self._posterior()
        pairs = read_pairs(self, X, reset=False)
        variance, centre = posterior.variance(pairs), self._decide(X)  # type: ignore[attr-defined]
        classifier = is_classifier(self)
        if of == "outcome" and not classifier:
            variance = variance + posterior.noise
        reach = float(norm.ppf(0.5 + level / 2.0)) * np.sqrt(variance)
        ends = np.column_stack([centre - reach, centre + reach])
        if of == "outcome" and classifier:
            return np.column_stack([two_probabilities(end)[:, 1] for end in ends.T])
        return ends


def observations_of(machine: Any, data: TrainingData) -> Observations:
    """Training data as a machine keeps them: its own support pairs where they are all of them."""
    support = getattr(machine, "support_pairs_", None)
    pairs = support if support is not None and len(support) == len(data) else data.pairs
    strength = float(machine._recipe().strength)
    return Observations(pairs, data.targets, data.weights, strength, data.rows, data.n_rows)
