"""What tuned estimators share: kernels and strengths tried on held-out pairs, the best one kept."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.machine import PairMachine
from pairity.kernels.standardized import as_kernel
from pairity.model_selection.combination import Combination, choose_combination
from pairity.model_selection.held_out import GivenRows, read_splits, shared_weights
from pairity.model_selection.held_out_path import HeldOutPath, held_out_path
from pairity.model_selection.scoring import (
    Criterion,
    FoldScores,
    Scoring,
    results_table,
    warn_of_single_labels,
    with_both_classes,
)
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Orientation, Parity
from pairity.runtime.progress import Steps, say
from pairity.runtime.resources import Budget, default_limit, give_back
from pairity.runtime.validation import check_choice, check_count, check_positive
from pairity.solvers.plan import solve_roughly
from pairity.training.fit import prepare
from pairity.training.read import TrainingData, hand_on, read

#: Share of a standard error that makes no difference between strengths.
_ALL_BUT = 0.1
#: Folds that train on less than this share of the pairs say little about strengths for all.
_SMALL_FOLDS = 0.6

Vector = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Read:
    """Training data with each pair in its one order, and the folds.

    A search is full of choices: in one order (:mod:`pairity.pairs.parity`) none of them can depend
    on how a pair is written.  ``signs`` lead back to the targets and decisions as written.
    """

    data: TrainingData
    splits: list[Split]
    signs: Vector

    @property
    def held(self) -> NDArray[np.intp]:
        """Held-out rows of all folds, one after the other."""
        return np.concatenate([test for _, test in self.splits])

    @property
    def shares(self) -> list[Vector]:
        """Weights of the held-out rows of each fold."""
        return shared_weights(self.data.weights, [test for _, test in self.splits])


@dataclass(eq=False, repr=False)
class PairSearch(BaseEstimator):
    """Base of estimators that choose kernel and strength on held-out pairs, then fit once more.

    A subclass says which learner it tunes and stores the parameters named here.
    """

    symmetry: str
    _: KW_ONLY
    kernel: Any = "auto"
    cv: Any = None
    path_tol: float = 0.05
    patience: int | None = 2
    tol: float = 1e-3
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    memory_limit: float | None = None
    random_state: int = 0
    verbose: bool = False

    #: The estimator that is tuned, the name of its strength (C or alpha), and the parameters that
    #: are handed on to it as they are.
    _learner_type: ClassVar[type[PairMachine]]
    _strength: ClassVar[str]
    _passed_on: ClassVar[tuple[str, ...]] = (
        "symmetry",
        "tol",
        "n_symmetric",
        "n_antisymmetric",
        "memory_limit",
        "verbose",
    )

    # What a subclass says ---------------------------------------------------------------------

    def _strengths(self) -> Vector:
        """Values to try."""
        raise NotImplementedError

    def _factor(self, strength: float) -> float:
        """What a strength multiplies the weights of the losses by."""
        return strength

    def _refit_strength(self, strength: float, factor: float) -> float:
        """The strength whose losses weigh ``factor`` times as much."""
        return strength * factor

    def _criterion(self, parity: Parity | None) -> Criterion:
        """What the choice of a kernel minimises."""
        raise NotImplementedError

    def _scorings(self, parity: Parity | None) -> dict[str, Scoring]:
        """Scores by name, all of them reported."""
        raise NotImplementedError

    # Fit --------------------------------------------------------------------------------------

    def _learner(self, kernel: Any, strength: float) -> PairMachine:
        """The estimator that is tuned, with this kernel and strength."""
        passed_on: dict[str, Any] = {name: getattr(self, name) for name in self._passed_on}
        passed_on[self._strength] = strength
        return self._learner_type(kernel=kernel, **passed_on)

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.scoring, "scoring", tuple(self._scorings(SYMMETRIES[self.symmetry])))
        check_positive(self.path_tol, "path_tol")
        self._strengths()
        self._check_kernel()
        if self.patience is not None:
            check_count(self.patience, "patience")

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Read, try, refit; everything that a fit leaves behind but the class names."""
        self._check_parameters()
        strengths = self._strengths()
        data = read(self, X, y, sample_weight)
        folds = self._folds(data, X, groups)
        candidates = self._candidates(folds)
        paths = self._paths(candidates, folds, strengths)
        self._tabulate(candidates, paths, folds, strengths)
        best = self.best_params_
        self.refit_factor_ = _refit_factor(folds)
        strength = self._refit_strength(best[self._strength], self.refit_factor_)
        self.best_estimator_ = self._learner(best["kernel"], strength)
        hand_on(self, self.best_estimator_)
        give_back()
        self.best_estimator_._fit(data)
        self.kernel_ = best["kernel"]

    def _folds(self, data: TrainingData, X: Any, groups: Any) -> Read:
        # ids tell objects apart where features change from pair to pair
        pairs = X[data.rows] if isinstance(X, Pairs) else data.pairs
        groups = None if groups is None else np.asarray(groups)
        given = GivenRows(pairs, data.targets, groups, data.rows, data.n_rows)
        stratify = data.parity is not Parity.ODD and data.classes is not None
        splits = read_splits(self.cv, given, stratify=stratify)
        if stratify:
            splits = with_both_classes(splits, data.targets)
            warn_of_single_labels(splits, data.targets)
        signs = np.ones(len(data))
        if data.parity is not None:
            turned = Orientation.of_compact(data.pairs).turned
            signs = np.where(turned, data.parity.sign, 1.0)
            pairs = data.pairs.with_swapped(turned)
            data = replace(data, pairs=pairs, targets=signs * data.targets)
        return Read(data, splits, signs)

    def _check_kernel(self) -> None:
        listed = isinstance(self.kernel, list | tuple)
        if listed and not len(self.kernel):
            raise ValueError("got no kernels to try; expected at least one, or 'auto'.")
        for kernel in self.kernel if listed else [self.kernel]:
            if not (isinstance(kernel, str) and kernel == "auto"):
                as_kernel(kernel)

    def _candidates(self, folds: Read) -> list[Any]:
        """Kernels to try; "auto" stands for the best combination of families."""
        given = self.kernel if isinstance(self.kernel, list | tuple) else [self.kernel]
        self.combination_: Combination | None = None
        found = []
        for kernel in given:
            if isinstance(kernel, str) and kernel == "auto":
                self.combination_ = choose_combination(
                    folds.data.pairs,
                    folds.data.targets,
                    folds.data.weights,
                    folds.data.parity,
                    folds.splits,
                    self._criterion(folds.data.parity),
                    random_state=int(self.random_state),
                    budget=Budget(default_limit(self.memory_limit)),
                    say=say if self.verbose else None,
                )
                kernel = self.combination_.kernel
                give_back()
            found.append(kernel)
        return found

    def _paths(self, candidates: list[Any], folds: Read, strengths: Vector) -> list[HeldOutPath]:
        factors = [self._factor(float(strength)) for strength in strengths]
        n_fits = len(candidates) * len(strengths) * len(folds.splits)
        steps = Steps(f"validation, {n_fits} fits", n_fits) if self.verbose else None
        paths = []
        for kernel in candidates:
            learner = self._learner(kernel, float(strengths[0]))
            how = learner._how_to_fit(len(folds.data))
            loss = replace(learner._recipe(), strength=1.0).of(
                folds.data.targets, folds.data.weights
            )
            data = prepare(folds.data, loss, kernel, how)
            options = replace(
                how.options,
                max_iter=100_000 + 100 * len(folds.data),
                tol=float(self.path_tol),
                rough=True,
                callback=None,
                report=None,
                say=None,
            )
            score = partial(self._scorer(folds), self.scoring)
            watch = _Patience(score, self.patience, len(folds.splits), steps)
            paths.append(held_out_path(data, folds.splits, factors, options, solve_roughly, watch))
        return paths

    def _scorer(self, folds: Read) -> Function[[str, list[Vector]], Vector]:
        """Scores of the folds: a function of the name of a score and of the decisions."""
        targets, weights = [folds.data.targets[test] for _, test in folds.splits], folds.shares
        scorings = self._scorings(folds.data.parity)

        def score(name: str, decisions: list[Vector]) -> Vector:
            if np.isnan(decisions[0]).any():  # not tried
                return np.full(len(targets), np.nan)
            return scorings[name](decisions, targets, weights)

        return score

    def _tabulate(
        self, candidates: list[Any], paths: list[HeldOutPath], folds: Read, strengths: Vector
    ) -> None:
        """Scores of all settings, the best of them, and its held-out decisions."""
        score, names = self._scorer(folds), list(self._scorings(folds.data.parity))
        settings: list[FoldScores] = []
        extra: dict[str, list[float]] = {}
        for kernel, path in zip(candidates, paths, strict=True):
            for place, strength in enumerate(strengths):
                decisions = [fold[place] for fold in path.decisions]
                scores = {name: score(name, decisions) for name in names}
                for name, values in scores.items():
                    extra.setdefault(f"mean_test_{name}", []).append(_mean(values))
                params = {"kernel": kernel, self._strength: float(strength)}
                settings.append(FoldScores(params, scores[self.scoring], path.seconds[place]))
        table = results_table(settings, {name: np.array(v) for name, v in extra.items()})
        self.cv_results_ = table
        self.n_splits_ = len(folds.splits)
        self.best_index_ = self._weakest_of_the_best(table, len(strengths))
        self.best_score_ = float(table["mean_test_score"][self.best_index_])
        self.best_params_ = dict(settings[self.best_index_].params)
        kernel, place = divmod(self.best_index_, len(strengths))
        self.held_out_rows_ = folds.held
        signs = folds.signs[folds.held]
        chosen = np.concatenate([fold[place] for fold in paths[kernel].decisions])
        self.held_out_decisions_ = signs * chosen
        self._held_out = signs * folds.data.targets[folds.held], np.concatenate(folds.shares)
        if self.verbose:
            say(
                f"best of {len(settings)}: {self._strength} {self.best_params_[self._strength]:g},"
                f" score {self.best_score_:.4g}"
            )

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

    @property
    def support_(self) -> NDArray[np.intp]:
        """Rows with nonzero dual variables of the model that was kept."""
        return self._kept().support_

    @property
    def support_pairs_(self) -> Pairs:
        """The support pairs of the model that was kept."""
        return self._kept().support_pairs_

    @property
    def dual_coef_(self) -> Vector:
        """Coefficients of the support rows of the model that was kept."""
        return self._kept().dual_coef_

    @property
    def intercept_(self) -> float:
        """Bias; exactly 0.0 in the antisymmetric case."""
        return self._kept().intercept_

    @property
    def objective_(self) -> float:
        """Optimal value of the dual of the model that was kept."""
        return self._kept().objective_

    @property
    def certificate_(self) -> Any:
        """Certificate of the model that was kept."""
        return self._kept().certificate_

    @property
    def n_iter_(self) -> int:
        """Steps of the fit that was kept."""
        return self._kept().n_iter_


def _refit_factor(folds: Read) -> float:
    """Factor on the weights of the losses in the fit that is kept.

    Where objects are held out, folds train on few of the pairs, and on all pairs a strength that
    was good for them is too much: decisions grow, and probabilities fitted to those of the folds
    are too sure.  Weights times the share of the pairs keep the total weight that was validated.
    """
    share = float(np.mean([folds.data.weights[train].sum() for train, _ in folds.splits]))
    share /= float(folds.data.weights.sum())
    return share if share < _SMALL_FOLDS else 1.0


def _mean(values: Vector) -> float:
    return np.nan if np.isnan(values).all() else float(np.nanmean(values))


class _Patience:
    """Ends a path after so many strengths in a row that are clearly worse than the best one.

    Clearly: by more than a standard error over the folds.  Strong penalties take most of the time
    of a path, and where noise sets in they are never the choice.
    """

    def __init__(
        self,
        score: Function[[list[Vector]], Vector],
        patience: int | None,
        n_folds: int,
        steps: Steps | None,
    ) -> None:
        self._score, self._patience = score, patience
        self._n_folds, self._steps = n_folds, steps
        self._best, self._error, self._worse = -np.inf, 0.0, 0

    def __call__(self, place: int, decisions: list[Vector]) -> bool:
        if self._steps is not None:
            for _ in decisions:
                self._steps()
        if self._patience is None:
            return False
        values = self._score(decisions)
        score = _mean(values)
        if score > self._best:
            self._best, self._worse = score, 0
            self._error = float(np.nanstd(values)) / np.sqrt(self._n_folds)
        elif score < self._best - self._error:
            self._worse += 1
        return self._worse >= self._patience
