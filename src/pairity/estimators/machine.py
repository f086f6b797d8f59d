"""What estimators of pairs share: parameters, the way to a fitted function, labels and values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from pairity.losses.loss import Loss
from pairity.losses.piecewise import LossRecipe
from pairity.losses.probabilities import two_log_probabilities, two_probabilities
from pairity.pairs.parity import SYMMETRIES
from pairity.runtime.progress import Progress, say
from pairity.runtime.resources import UNLIMITED, Budget, default_limit
from pairity.runtime.validation import check_choice, check_count, check_positive, check_strength
from pairity.solvers.choices import SMO, SUPPORT_VECTORS, LowRank, Solver, SolverLike, as_solver
from pairity.solvers.plan import resolved
from pairity.solvers.problem import SolverOptions
from pairity.training.fit import Fitted, HowToFit, fit, report_outcome
from pairity.training.model import Model, label_decisions, score_decisions
from pairity.training.read import TrainingData, read, read_pairs
from pairity.training.surroundings import warn_of_work_elsewhere

Vector = NDArray[np.float64]
#: Steps of Newton's method that ``max_iter=-1`` allows a low-rank model.
MOST_NEWTON_STEPS = 200


class TakesSparseRows(BaseEstimator):
    """Base of all estimators of pairs."""

    def __sklearn_clone__(self) -> Any:
        """An unfitted copy, as scikit-learn makes it."""
        warn_of_work_elsewhere(self)
        return super().__sklearn_clone__()

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class PairMachine(TakesSparseRows):
    """Base of estimators that solve one of the paper's problems.

    A subclass adds its parameters, which solvers it takes and which loss it has; how its input is
    read and how the optimum is found is in :mod:`pairity.training`.
    """

    symmetry: str
    _: KW_ONLY
    kernel: Any = "gaussian"
    training_set: str = "halved"
    solver: SolverLike = "auto"
    memory_limit: float | None = None
    tol: float = 1e-3
    max_iter: int = -1
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    decay: float | None = None
    callback: Callable[..., object] | None = None
    verbose: bool = False

    #: What ``solver`` may be.
    _solvers: ClassVar[tuple[type[Solver], ...]] = SUPPORT_VECTORS
    #: What to do when a fit does not reach its tolerance.
    _remedy: ClassVar[str] = "raise max_iter or tol, lower C, or scale the features"

    # What a subclass says ---------------------------------------------------------------------

    def _recipe(self) -> LossRecipe:
        """Which loss, with which strength."""
        raise NotImplementedError

    def _most_steps(self, n_pairs: int) -> int:
        """What ``max_iter=-1`` stands for."""
        raise NotImplementedError

    @property
    def _has_bias(self) -> bool:
        """Whether there is a bias where the parity allows one."""
        return True

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.training_set, "training_set", ("halved", "full"))
        solver = as_solver(self.solver, self._solvers)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"got callback={self.callback!r}; expected a function, or None.")
        if self.callback is not None and isinstance(solver, LowRank):
            raise ValueError(
                "got a callback with solver='low_rank'; expected another solver: dual variables, which"
                " callbacks see, are not kept there. verbose=True shows the gap of every step."
            )
        check_positive(self.tol, "tol")
        if self.memory_limit is not None:
            check_positive(self.memory_limit, "memory_limit")
        if self.max_iter != -1:
            check_positive(self.max_iter, "max_iter")
        if self.decay is not None:
            check_positive(self.decay, "decay")
        for name in ("n_symmetric", "n_antisymmetric"):
            check_count(getattr(self, name), name, 0)

    # Fit --------------------------------------------------------------------------------------

    def _fit(self, data: TrainingData) -> Self:
        """Fit to training data that was read."""
        return self.fit_loss(data, self._recipe().of(data.targets, data.weights))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to pairs with labels, or with real targets.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Of a classifier labels of any two values.  In the antisymmetric case one value is enough
            (rows written winner first).  Estimators that learn from unlabelled pairs too take
            ``unlabelled`` where there is no label.  Of a regressor real targets; in the
            antisymmetric case that of (a, a) can only be 0.
        sample_weight : array-like of shape (n,), optional
            Factor on the loss (on C) for each row, that is each unordered pair.
        """
        self._check_parameters()
        return self._fit(read(self, X, y, sample_weight))

    def fit_loss(self, data: TrainingData, loss: Loss, *, start: Vector | None = None) -> Self:
        """Fit with a loss of your own, one entry for each row of ``pairity.training.read.read``.

        It begins from ``start``, dual variables of the rows, if there are any.  An interrupt leaves no
        model: that of an earlier fit may have had other labels.
        """
        self.__dict__.pop("_model", None)
        how = self._how_to_fit(len(data))
        start = self._start(len(data)) if start is None else start
        return self._keep(data, fit(data, loss, self.kernel, how, start), how)

    def _keep(self, data: TrainingData | None, fitted: Fitted, how: HowToFit) -> Self:
        """Store the model with its certificate: support pairs, coefficients, bias."""
        self._forget()
        if fitted.dual is None or data is None:
            self.approximation_ = fitted.approximation
        else:
            self._dual, support, n = fitted.dual, fitted.support, len(data)
            if len(fitted.dual) == n:
                self.support_ = data.rows[support]
            else:
                self.support_ = data.rows[support % n] + data.n_rows * (support // n)
            self.support_pairs_ = fitted.model.support  # type: ignore[attr-defined]
            self.dual_coef_ = fitted.model.coefficients  # type: ignore[attr-defined]
        self._model: Model = fitted.model
        self.n_iter_ = max(1, fitted.n_iter)
        self.intercept_ = fitted.model.bias
        self.objective_ = fitted.certificate.dual
        self.certificate_ = fitted.certificate
        report_outcome(type(self).__name__, fitted, how, self._remedy)
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit left and this one may not."""
        for name in ("_dual", "support_", "support_pairs_", "dual_coef_", "approximation_"):
            self.__dict__.pop(name, None)

    def _start(self, n_pairs: int) -> Vector | None:
        """The last solution, where a warm start is wanted and it has as many rows."""
        if not (getattr(self, "warm_start", False) and hasattr(self, "_dual")):
            return None
        full = self.training_set == "full" and self.symmetry != "none"
        return self._dual if len(self._dual) == (2 if full else 1) * n_pairs else None

    def _how_to_fit(self, n_pairs: int) -> HowToFit:
        """What the parameters say about the way to a solution."""
        parity, watched = SYMMETRIES[self.symmetry], self.callback is not None
        solver = resolved(self.solver, self._solvers, self.kernel, parity, watched=watched)
        low_rank = isinstance(solver, LowRank)
        most = MOST_NEWTON_STEPS if low_rank else self._most_steps(n_pairs)
        measure = "relative gap" if low_rank else "violation"
        options = SolverOptions(
            tol=float(self.tol),
            max_iter=most if self.max_iter == -1 else int(self.max_iter),
            callback=self.callback,
            memory_limit=self._budget.megabytes,
            report=Progress(float(self.tol), measure) if self.verbose else None,
            say=say if self.verbose else None,
        )
        full = self.training_set == "full"
        return HowToFit(solver, options, full, self._has_bias)

    @property
    def _budget(self) -> Budget:
        """What a fit or a prediction may use."""
        return Budget(default_limit(self.memory_limit))

    # The fitted function ----------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model, not just what was read for one."""
        return hasattr(self, "_model")

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients of the columns of wide rows, where the kernel is linear in them.

        ``decision_function(rows)`` is ``rows @ coef_.T`` and a constant, with the rows of
        :meth:`Pairs.to_rows <pairity.Pairs.to_rows>`; shape (1, columns) of classifiers and (columns,)
        of regressors.  Other kernels have none.  Errors and tests: :func:`pairity.inspection.effects`.
        """
        from pairity.estimators.linear_coefficients import row_coefficients  # few are asked for it

        model = self.__dict__.get("_model")
        found = None if model is None else row_coefficients(model)
        if found is None:
            raise AttributeError(
                f"got {type(self).__name__} with kernel={self.kernel!r}; expected a fitted model whose"
                " kernel is linear in the columns: only that has coef_."
            )
        return found[np.newaxis] if is_classifier(self) else found

    def _decide(self, X: Any) -> Vector:
        """Values of the fitted function."""
        check_is_fitted(self)
        # what is free changes from call to call, and bits must not: no limit but one that is given
        budget = UNLIMITED if self.memory_limit is None else self._budget
        with np.errstate(over="ignore", invalid="ignore"):
            decisions = self._model.decisions(read_pairs(self, X, reset=False), budget)
        finite = np.isfinite(decisions)
        if not finite.all():
            raise ValueError(
                f"got row {int(np.argmin(finite))} with features too large for this model, whose value"
                " there is not a number; expected features of the size that it was fitted to: check"
                " their units."
            )
        return decisions


@dataclass(eq=False, repr=False)
class PenalisedMachine(PairMachine):
    """Base of machines whose losses weigh C: :class:`~pairity.PairSVC` and its like."""

    _: KW_ONLY
    C: float = 1.0

    _loss: ClassVar[str] = "hinge"
    #: Whether C may be infinite.
    _can_be_hard: ClassVar[bool] = False
    #: Whether the callback gets single steps of SMO.
    _watches_steps: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        solver = as_solver(self.solver, self._solvers)
        watched = self._watches_steps and self.callback is not None
        if watched and type(solver) not in (Solver, SMO):
            raise ValueError(
                f"got a callback with solver={self.solver!r}; expected solver='smo' or 'auto': only"
                " sequential minimal optimisation has single steps to watch."
            )
        if not self._is_hard:
            check_strength(self.C, "C")

    @property
    def _is_hard(self) -> bool:
        """Whether no error is allowed: C is infinite, where a machine can do that."""
        return self._can_be_hard and isinstance(self.C, float) and math.isinf(self.C)

    def _recipe(self) -> LossRecipe:
        return LossRecipe(self._loss, float(self.C), float(getattr(self, "epsilon", 0.0)))

    def _most_steps(self, n_pairs: int) -> int:
        """Newton steps; or seconds for few pairs, however large C is."""
        if self._loss == "logistic":
            return MOST_NEWTON_STEPS
        return max(min(20_000_000, 1_000_000 + 1000 * n_pairs), 100 * n_pairs)


# Targets -----------------------------------------------------------------------------------------


class TwoLabels(ClassifierMixin):
    """Labels by the sign of a decision."""

    classes_: NDArray[Any]
    tie_label: Any

    def decision_function(self, X: Any) -> Vector:
        """Positive for ``classes_[1]``, shape (n,)."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels; ``tie_label`` where the decision is exactly 0 (two equal objects, say)."""
        return label_decisions(self.decision_function(X), self.classes_, self.tie_label)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean accuracy; a decision of exactly 0 counts one half."""
        return score_decisions(self.decision_function(X), y, self.classes_, sample_weight)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class TwoProbabilities(TwoLabels):
    """Decisions that are log-odds, and so probabilities."""

    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of ``classes_``, shape (n, 2); rows add up to 1 exactly.

        Antisymmetric: the two columns change places when a pair is swapped.
        """
        return two_probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities, exact for tiny ones too."""
        return two_log_probabilities(self.decision_function(X))


@dataclass(eq=False, repr=False)
class PairClassifier(TwoLabels, PairMachine):
    """Base of estimators of two labels."""

    _: KW_ONLY
    positive: Any = None
    class_weight: Any = None
    tie_label: Any = None

    def decision_function(self, X: Any) -> Vector:
        """Signed decision values, shape (n,): positive for ``classes_[1]``.

        The values of pairs and of swapped pairs are equal, or exact negatives, bit for bit.  The
        same pair in batches of different size may differ by rounding, a few units in the last
        place of the sum of absolute terms.
        """
        return self._decide(X)


@dataclass(eq=False, repr=False)
class PairRegressor(RegressorMixin, PairMachine):
    """Base of estimators of a real value."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Values of the fitted function, shape (n,).

        The values of pairs and of swapped pairs are equal, or exact negatives, bit for bit.
        """
        return self._decide(X)
