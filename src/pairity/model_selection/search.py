"""What tuned estimators share: kernels and strengths tried on held-out pairs, the best one kept."""

from __future__ import annotations

import time
from collections.abc import Callable as Function
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.machine import PairMachine, TakesSparseRows, TwoProbabilities
from pairity.exceptions import CalibrationWarning, warn_the_caller
from pairity.kernels.standardized import as_kernel
from pairity.model_selection.combination import Combination, choose_combination, with_pair_effects
from pairity.model_selection.curves import Criterion, CrossEntropy, fit_sigmoid, smoothed_targets
from pairity.model_selection.folds import (
    TrainingFolds,
    Vector,
    means_of,
    nested_decisions,
    read_folds,
    results_table,
)
from pairity.model_selection.strength_paths import (
    Candidate,
    HeldOutPath,
    Patience,
    held_out_path,
    paths_of,
    shared_operator,
)
from pairity.pairs.parity import SYMMETRIES
from pairity.runtime.progress import Steps, say
from pairity.runtime.resources import Budget, default_limit, give_back
from pairity.runtime.validation import check_choice, check_count, check_positive, check_strength
from pairity.training.fit import prepare
from pairity.training.read import TrainingData, hand_on, read

#: Share of a standard error that makes no difference between strengths.
_ALL_BUT = 0.1


def _of_the_kept(name: str) -> property:
    """An attribute of the model that was kept."""
    meaning = f"``{name}`` of the model that was kept."
    return property(lambda search: getattr(search._kept(), name), doc=meaning)


@dataclass(eq=False, repr=False)
class PairSearch(TakesSparseRows):
    """Base of estimators that choose kernel and strength on held-out pairs, then fit once more.

    A subclass says which learner it tunes and stores the parameters named here.
    """

    symmetry: str
    _: KW_ONLY
    kernel: Any = "auto"
    cv: Any = None
    path_tol: float = 0.05
    patience: int | None = 1
    tol: float = 1e-3
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    memory_limit: float | None = None
    time_limit: float | None = None
    random_state: int = 0
    verbose: bool = False

    #: The estimator that is tuned, and what the choice minimises.
    _learner_type: ClassVar[type[PairMachine]]
    _criterion_type: ClassVar[type[Criterion]]
    #: The name of the strength, C or alpha, and whether losses weigh less where it is large.
    _strength: ClassVar[str] = "C"
    _is_penalty: ClassVar[bool] = False
    #: Whether it is fitted inside the automatic model, where another member has effects of pairs of
    #: objects, and where decisions are asked for by settings that other folds chose.
    _is_member: ClassVar[bool] = False
    #: Parameters that are handed on to the learner as they are.
    _passed_on: ClassVar[tuple[str, ...]] = (
        "symmetry",
        "tol",
        "n_symmetric",
        "n_antisymmetric",
        "memory_limit",
        "verbose",
    )

    # Fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose on held-out pairs, then fit the choice to all pairs.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, or targets of a regression.
        sample_weight : array-like of shape (n,), optional
            Factor on the loss (on C) for each row, in fits and in validation.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together, or times for ``TimeSplit``.
        """
        self._check_parameters()
        limit = np.inf if self.time_limit is None else float(self.time_limit)
        deadline, strengths = time.monotonic() + limit, self._strengths()
        data = read(self, X, y, sample_weight)
        folds = read_folds(self.cv, data, X, groups)
        candidates = self._candidates(folds, deadline)
        paths = self._paths(candidates, folds, strengths, deadline)
        self._tabulate([one.kernel for one in candidates], paths, folds, strengths)
        best = self.best_params_
        factor = self.refit_factor_ = folds.refit_factor()
        strength = best[self._strength]
        strength = strength / factor if self._is_penalty else strength * factor
        self.best_estimator_ = self._learner(best["kernel"], strength)
        hand_on(self, self.best_estimator_)
        give_back()
        number, place = divmod(self.best_index_, len(strengths))
        near = paths[number].starts.get(place)
        self._fit_kept(data, None if near is None else factor * folds.signs * near)
        self.kernel_ = best["kernel"]
        self._calibrate()
        return self

    def _fit_kept(self, data: TrainingData, near: Vector | None) -> None:
        """Fit the choice to all pairs; of many, Newton's method begins from what the folds found."""
        learner = self.best_estimator_
        if near is None:
            learner._fit(data)
        else:
            learner.fit_loss(data, learner._recipe().of(data.targets, data.weights), start=near)

    def _calibrate(self) -> None:
        """Fit probabilities to the held-out decisions, where these are about labels."""

    def _learner(self, kernel: Any, strength: float) -> PairMachine:
        """The estimator that is tuned, with this kernel and strength."""
        passed_on: dict[str, Any] = {name: getattr(self, name) for name in self._passed_on}
        passed_on[self._strength] = strength
        return self._learner_type(kernel=kernel, **passed_on)

    def _criterion(self) -> Criterion:
        """What the choice of a kernel minimises, and all scores that are reported."""
        return self._criterion_type(SYMMETRIES[self.symmetry])

    def _factor(self, strength: float) -> float:
        """What a strength multiplies the weights of the losses by."""
        return 1.0 / strength if self._is_penalty else strength

    def _strengths(self) -> Vector:
        """Values of C or alpha to try: numbers above 0 as given, or so many from 0.001 to 1000."""
        name = f"{self._strength}s"
        values = getattr(self, name)
        if isinstance(values, int | np.integer) and not isinstance(values, bool):
            if values < 1:
                raise ValueError(
                    f"got {name}={values}; expected at least 1 value, or a list of them."
                )
            return np.logspace(-3.0, 3.0, int(values)) if values > 1 else np.ones(1)
        strengths = np.asarray(values)
        if strengths.ndim != 1 or not len(strengths):
            raise ValueError(
                f"got {name}={values!r}; expected a number of values, or a list of them."
            )
        for value in strengths.tolist():
            check_strength(value, name)
        return strengths.astype(np.float64)

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.scoring, "scoring", tuple(self._criterion().scorings()))
        check_positive(self.path_tol, "path_tol")
        if not self._kernels():
            raise ValueError("got no kernels to try; expected at least one, or 'auto'.")
        for kernel in self._kernels():
            if not _is_auto(kernel):
                as_kernel(kernel)
        self._learner(self._kernels()[0], float(self._strengths()[0]))._check_parameters()
        check_count(self.random_state, "random_state", 0)
        if self.time_limit is not None:
            check_positive(self.time_limit, "time_limit")
        if self.patience is not None:
            check_count(self.patience, "patience")

    def _kernels(self) -> list[Any]:
        return list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel]

    def _candidates(self, folds: TrainingFolds, deadline: float) -> list[Candidate]:
        """Kernels to try; "auto" stands for the best combination of families."""
        self.combination_: Combination | None = None
        data, candidates = folds.data, list[Candidate]()
        for kernel in self._kernels():
            if not _is_auto(kernel):
                candidates.append(Candidate(kernel))
                continue
            given = data.pairs, data.targets, data.weights, data.parity, folds.splits
            self.combination_ = choose_combination(
                *given,
                self._criterion(),
                random_state=int(self.random_state),
                budget=Budget(default_limit(self.memory_limit)),
                say=say if self.verbose else None,
                deadline=deadline,
            )
            give_back()
            place, combined = len(candidates), self.combination_.kernel
            candidates.append(Candidate(combined))
            if not self._is_member:
                candidates += [Candidate(one, place) for one in with_pair_effects(combined, folds)]
        return candidates

    def _paths(
        self, candidates: list[Candidate], folds: TrainingFolds, strengths: Vector, deadline: float
    ) -> list[HeldOutPath]:
        n_fits = len(candidates) * len(strengths) * len(folds.splits)
        steps = Steps(f"validation, at most {n_fits} fits", n_fits) if self.verbose else None
        score = partial(self._scorer(folds), self.scoring)
        known: list[tuple[Any, Any]] = []  # the last kernel and its matrix

        def follow(kernel: Any, factors: Sequence[float]) -> HeldOutPath:
            learner = self._learner(kernel, float(strengths[0]))
            how = learner._how_to_fit(len(folds.data))
            recipe = replace(learner._recipe(), strength=1.0)
            loss = recipe.of(folds.data.targets, folds.data.weights)
            data = prepare(folds.data, loss, kernel, how)
            options = replace(
                how.options,
                max_iter=100_000 + 100 * len(folds.data),
                tol=float(self.path_tol),
                rough=True,
                report=None,
                say=None,
            )
            enough = Patience(score, self.patience, steps, deadline)
            if not known or known[0][0] is not kernel:
                known.clear()
                is_sum = self.combination_ is not None and kernel is self.combination_.kernel
                known.append((kernel, shared_operator(data, options.budget, in_span=is_sum)))
            given = data, known[0][1], folds.splits, factors
            return held_out_path(*given, options, enough)

        factors = [self._factor(float(strength)) for strength in strengths]
        return paths_of(candidates, factors, follow, score)

    def _scorer(self, folds: TrainingFolds) -> Function[[str, list[Vector]], Vector]:
        """Scores of the folds: a function of the name of a score and of the decisions."""
        targets, weights = [folds.data.targets[test] for _, test in folds.splits], folds.shares
        scorings = self._criterion().scorings()

        def score(name: str, decisions: list[Vector]) -> Vector:
            if np.isnan(decisions[0]).any():  # not tried
                return np.full(len(targets), np.nan)
            return scorings[name](decisions, targets, weights)

        return score

    def _tabulate(
        self, kernels: list[Any], paths: list[HeldOutPath], folds: TrainingFolds, strengths: Vector
    ) -> None:
        """Scores of all settings, the best of them, and its held-out decisions."""
        score, name = self._scorer(folds), self._strength
        decisions = [by_fold for path in paths for by_fold in path.decisions]
        scores = {
            scoring: np.array([score(scoring, by_fold) for by_fold in decisions])
            for scoring in self._criterion().scorings()
        }
        settings = [{"kernel": k, name: float(s)} for k in kernels for s in strengths]
        seconds = np.vstack([path.seconds for path in paths])
        table = self.cv_results_ = results_table(settings, scores[self.scoring], seconds)
        table |= {f"mean_test_{scoring}": means_of(scores[scoring]) for scoring in scores}
        self.n_splits_ = len(folds.splits)
        best = self.best_index_ = self._weakest_of_the_best(table, len(strengths))
        self.best_score_ = float(table["mean_test_score"][best])
        self.best_params_ = dict(settings[best])
        self.held_out_rows_ = folds.held
        signs = folds.signs[folds.held]
        self.held_out_decisions_ = signs * np.concatenate(decisions[best])
        if self._is_member:
            self._nested_decisions = nested_decisions(scores[self.scoring], decisions)
        self._held_out = signs * folds.data.targets[folds.held], np.concatenate(folds.shares)
        if self.verbose:
            chosen = self.best_params_[name]
            edge = " (at the edge of the values tried)" if chosen in strengths[[0, -1]] else ""
            say(f"best of {len(settings)}: {name} {chosen:g}{edge}, score {self.best_score_:.4g}")

    def _weakest_of_the_best(self, table: dict[str, Any], n_strengths: int) -> int:
        """The best setting, or one of the same kernel that is weaker and all but as good."""
        means = np.asarray(table["mean_test_score"])
        best = int(np.nanargmax(means))
        error = float(table["std_test_score"][best]) / np.sqrt(self.n_splits_)
        first = best - best % n_strengths
        same_kernel = np.arange(first, first + n_strengths)
        with np.errstate(invalid="ignore"):
            close = same_kernel[means[same_kernel] >= means[best] - _ALL_BUT * error]
        factors = [self._factor(table["params"][place][self._strength]) for place in close]
        return int(close[int(np.argmin(factors))])

    # What the kept model offers ----------------------------------------------------------------

    def _kept(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    support_ = _of_the_kept("support_")
    """Rows with nonzero dual variables of the model that was kept."""
    support_pairs_ = _of_the_kept("support_pairs_")
    """The support pairs of the model that was kept."""
    dual_coef_ = _of_the_kept("dual_coef_")
    """Coefficients of the support rows of the model that was kept."""
    intercept_ = _of_the_kept("intercept_")
    """Bias; exactly 0.0 in the antisymmetric case."""
    objective_ = _of_the_kept("objective_")
    """Optimal value of the dual of the model that was kept."""
    certificate_ = _of_the_kept("certificate_")
    """Certificate of the model that was kept."""
    n_iter_ = _of_the_kept("n_iter_")
    """Steps of the fit that was kept."""


@dataclass(eq=False, repr=False)
class ClassifierSearch(TwoProbabilities, PairSearch):
    """Two labels: scores, decisions, probabilities."""

    _: KW_ONLY
    Cs: Any = 7
    scoring: str = "log_loss"
    positive: Any = None
    class_weight: Any = None
    tie_label: Any = None

    _criterion_type: ClassVar[type[Criterion]] = CrossEntropy
    _passed_on: ClassVar[tuple[str, ...]] = (
        *PairSearch._passed_on,
        "positive",
        "class_weight",
        "tie_label",
    )

    def _calibrate(self) -> None:
        """The sigmoid of greatest likelihood for the held-out decisions of the choice."""
        parity = SYMMETRIES[self.symmetry]
        signs, weights = self._held_out
        targets = smoothed_targets(signs, weights, parity)
        sigmoid = fit_sigmoid(self.held_out_decisions_, targets, weights, parity)
        self.slope_, self.offset_ = sigmoid.slope, sigmoid.offset
        if sigmoid.is_flat:
            self.slope_, self.offset_ = 1.0, 0.0  # the decisions as they are, and a word about it
            warn_the_caller(
                "the decisions about held-out pairs do not grow with their labels, so that nothing"
                " was learnt that carries over and probabilities mean little: more pairs, other"
                " features, or cv=... for another setting may help.",
                CalibrationWarning,
            )

    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, ``slope f + offset`` with f of ``best_estimator_``.

        The sigmoid was fitted to held-out decisions.  Swapped pairs have equal ones, or exact
        opposites.
        """
        return self.slope_ * self._kept().decision_function(X) + self.offset_


def _is_auto(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "auto"
