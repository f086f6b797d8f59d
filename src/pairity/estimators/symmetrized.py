"""Symmetrized: the swap law for any estimator of plain rows, or any function of two objects.

With g the log-odds or values of the estimator on the wide row of a pair,

    f(a, b) = (g(a, b) + g(b, a)) / 2    or    f(a, b) = (g(a, b) - g(b, a)) / 2,

the even or the odd part of g, formulas (6) and (7).  A matrix product may give a row other bits in
another place of the table.  So g sees each unordered pair once, in one order and its mirror image,
sorted by content: the table is the same whichever way the pairs are written.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.utils import ClassifierTags, RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pairity.estimators.machine import TakesSparseRows
from pairity.estimators.pair_rows import (
    COLUMNS,
    pair_rows,
    same_table,
    with_columns,
    without_objects,
)
from pairity.estimators.past_rates import PastRates, out_of_fold
from pairity.estimators.unwrap import weight_name
from pairity.losses.probabilities import two_log_probabilities, two_probabilities
from pairity.pairs.arrays import Features, Matrix, Vector, distinct_rows, joined
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Orientation, Parity, impose
from pairity.runtime.resources import threads_for_trees
from pairity.runtime.validation import check_choice, check_count
from pairity.training.model import label_decisions, score_decisions
from pairity.training.read import TrainingData, read, read_pairs

_ORDERS = ("both", "random")
_IDS, _TASKS = ("ignore", "rates", "one rate"), ("auto", "classification", "regression")
#: Training rows on which decisions are compared with probabilities, and how close they must be.
_COMPARED, _CLOSE = 200, 1e-9


def _is_function(estimator: Any) -> bool:
    return callable(estimator) and not hasattr(estimator, "fit")


def _has_chances(model: Symmetrized) -> bool:
    inner = model.estimator
    return model._classifies and (_is_function(inner) or hasattr(inner, "predict_proba"))


@dataclass(eq=False, repr=False)
class Symmetrized(TakesSparseRows):
    """Any scikit-learn classifier or regressor, or a function of two objects, with the swap law.

    The estimator is fitted to wide rows ``[x_a | x_ab | x~_ab | x_b]`` of the training pairs in
    both orders (labels or targets of the mirror images follow the law), and asked about both
    orders of a pair.  The two answers are combined in log-odds (classifiers) or values
    (regressors), so that

        antisymmetric    f(b, a) == -f(a, b),  P(a, b) + P(b, a) == 1.0,  f(a, a) == 0.0
        symmetric        f(b, a) == f(a, b)

    bit for bit, for whatever the estimator is.

    Parameters
    ----------
    estimator : estimator or function
        A classifier with ``predict_proba`` or ``decision_function``, a regressor, alone or in a
        Pipeline; or a function ``g(x_a, x_b)`` of two tables of object features, one row a pair
        (and of tables of symmetric and antisymmetric group features, where there are any), that
        returns one number a row.  Numbers of a function count as log-odds of ``classes_[1]``:
        :class:`~pairity.CalibratedPairClassifier` finds their true scale.
    symmetry : {"symmetric", "antisymmetric", "none"}
        The law; "none" asks about the pairs as they are written.
    orders : {"both", "random"}
        Training rows: each pair in both orders, or in one order drawn at random (half the rows).
        Columns that a swap leaves alone are given once.
    features : {"rows", "derived", "all", "group"} or function
        Columns: wide rows; differences and sums (antisymmetric) or sums, absolute differences and
        products (symmetric) with the group features; both; group features (and rates) alone; or a
        function of :class:`~pairity.Pairs` that returns a table with one row a pair.
    ids : {"ignore", "rates", "one rate"}
        "rates" adds what other pairs of the two objects say about them, out of fold for training
        pairs (:mod:`pairity.estimators.past_rates`); "one rate" shows one end of each of them as new.
        Objects are recognised by their ids, or by equal features where there are none.
    task : {"auto", "classification", "regression"}
        "auto" is what the estimator does, and classification of a function.
    positive : object
        Label that says that the first object is ahead, as in :class:`~pairity.PairSVC`.
    tie_label : object
        Label predicted at a decision of exactly 0, as in :class:`~pairity.PairSVC`.
    n_symmetric, n_antisymmetric : int
        Group features in the middle of wide rows.
    random_state : int
        Seed of random orders and of the folds of past rates.

    Attributes
    ----------
    estimator_ : estimator or function
        Fitted to the rows.
    classes_ : ndarray of shape (2,)
        Labels, of a classifier.
    rates_ : PastRates or None
        Of the training objects.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from pairity import Pairs, Symmetrized
    >>> objects = np.random.default_rng(0).normal(size=(20, 2))
    >>> pairs = Pairs.complete(objects)
    >>> y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> model = Symmetrized(forest, "antisymmetric").fit(pairs, y)
    >>> there, back = model.predict_proba(pairs), model.predict_proba(pairs.swap())
    >>> bool((there[:, 1] + back[:, 1] == 1.0).all())
    True
    """

    estimator: Any
    symmetry: str
    _: KW_ONLY
    orders: str = "both"
    features: Any = "rows"
    ids: str = "ignore"
    task: str = "auto"
    positive: Any = None
    tie_label: Any = None
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    random_state: int = 0

    #: Classes weigh what the estimator says.
    class_weight: ClassVar[None] = None

    # What it is -------------------------------------------------------------------------------

    @property
    def _classifies(self) -> bool:
        if self.task != "auto" or _is_function(self.estimator):
            return self.task != "regression"
        return not hasattr(self.estimator, "fit") or is_classifier(self.estimator)

    @property
    def _parity(self) -> Parity | None:
        return SYMMETRIES[self.symmetry]

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        check_choice(self.symmetry, "symmetry", tuple(SYMMETRIES))
        check_choice(self.orders, "orders", _ORDERS)
        check_choice(self.ids, "ids", _IDS)
        check_choice(self.task, "task", _TASKS)
        check_count(self.random_state, "random_state", 0)
        if not callable(self.features):
            check_choice(self.features, "features", COLUMNS)
        if isinstance(self.estimator, type):
            raise ValueError(
                f"got the class {self.estimator.__name__} as estimator; expected an instance: write"
                f" {self.estimator.__name__}()."
            )
        inner, classifies = self.estimator, self._classifies
        decides = hasattr(inner, "predict_proba") or hasattr(inner, "decision_function")
        suits = hasattr(inner, "fit") and (
            (is_classifier(inner) and decides) if classifies else is_regressor(inner)
        )
        if not (_is_function(inner) or suits):
            wanted = "a classifier with predict_proba or decision_function"
            raise ValueError(
                f"got estimator {inner!r}; expected {wanted if classifies else 'a regressor'}, or a"
                " function of two tables of object features."
            )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: a classifier of two labels or a regressor, as the estimator is."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.estimator_type = "classifier" if self._classifies else "regressor"
        if self._classifies:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        else:
            # half of a function is left of it where rows are no pairs, as in scikit-learn's checks
            tags.regressor_tags = RegressorTags(poor_score=self.symmetry != "none")
        if hasattr(self.estimator, "fit") and not isinstance(self.estimator, type):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    # Fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator to rows of the pairs.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, or real targets.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, for estimators that can weigh rows.
        """
        self._check_parameters()
        self.__dict__.pop("estimator_", None)
        data, _ = in_one_order(read(self, X, y, sample_weight))
        self.rates_ = self._rates_of(data)
        if _is_function(self.estimator):
            self._n_fitted, self._has_log_odds = 0, True
            self.estimator_ = self.estimator
            return self
        rows, targets, source = self._training_rows(data)
        estimator, options = clone(self.estimator), {}
        if sample_weight is not None:
            options[weight_name(estimator)] = data.weights[source]
        labels: Any = targets
        if data.classes is not None:
            labels = data.classes[(targets > 0).astype(np.intp)]
        with threads_for_trees(rows.shape[0]):
            estimator.fit(rows, labels, **options)
        self._note(estimator, rows)
        self.estimator_ = estimator
        return self

    def _rates_of(self, data: TrainingData) -> PastRates | None:
        given = data.pairs, data.targets, data.weights, data.parity
        return None if self.ids == "ignore" else PastRates.of(*given)

    def _note(self, estimator: Any, rows: Features) -> None:
        """How decisions are read off an estimator that was fitted to these rows."""
        self._n_fitted = int(rows.shape[0])
        self._has_log_odds = self._classifies and _says_log_odds(estimator, rows[:_COMPARED])

    def _training_rows(self, data: TrainingData) -> tuple[Features, Vector, NDArray[np.intp]]:
        """Rows of the training pairs, their targets, and the pairs they are rows of."""
        pairs, targets, n = data.pairs, data.targets, len(data)
        sides = None
        if self.ids != "ignore":
            given, one_new = (targets, data.weights, data.parity), self.ids == "one rate"
            sides = out_of_fold(pairs, *given, int(self.random_state), one_new=one_new)
        rows = self._columns(pairs, sides)
        every = np.arange(n)
        if data.parity is None:
            return rows, targets, every
        mirrored = self._columns(pairs.swap(), None if sides is None else sides[::-1])
        if data.parity is Parity.EVEN and same_table(rows, mirrored):
            return rows, targets, every
        other = data.parity.sign * targets
        if self.orders == "both":
            both = joined([rows, mirrored], 0)
            return both, np.concatenate([targets, other]), np.concatenate([every, every])
        turned = np.random.default_rng(self.random_state).random(n) < 0.5
        chosen = np.where(turned, other, targets)
        if data.parity is Parity.ODD and n > 1 and len(np.unique(np.sign(chosen))) == 1:
            turned[0] = ~turned[0]  # a classifier must see both labels
        place = np.where(turned, n, 0) + every
        return joined([rows, mirrored], 0)[place], np.where(turned, other, targets), every

    def _columns(self, pairs: Pairs, sides: tuple[Matrix, Matrix] | None) -> Features:
        """What the estimator sees of pairs as they are written."""
        if isinstance(self.features, str) and self.features == "group":
            pairs = without_objects(pairs)
        if sides is not None:
            pairs = with_columns(pairs, *sides)
        return pair_rows(pairs, self.features, self._parity)

    # The fitted function ----------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a fitted estimator."""
        return hasattr(self, "estimator_")

    def _decide(self, X: Any) -> Vector:
        """Log-odds or values that obey the law."""
        check_is_fitted(self)
        pairs = read_pairs(self, X, reset=False).compact()
        parity = self._parity
        if parity is None:
            return self._plain(pairs)
        order = Orientation.of_compact(pairs)
        pairs = pairs.with_swapped(order.turned)
        ends = np.column_stack([pairs.first, pairs.second]).astype(np.float64)
        distinct = distinct_rows(np.hstack([ends, pairs.symmetric, pairs.antisymmetric]))
        once = pairs[distinct.representative]
        values = impose(parity, self._plain(once), self._plain(once.swap()))
        return order.restored(parity, values[distinct.inverse])

    def _plain(self, pairs: Pairs) -> Vector:
        """What the estimator says about pairs as they are written."""
        if not len(pairs):
            return np.zeros(0)
        estimator = self.estimator_
        sides = None if self.rates_ is None else self.rates_.apply(pairs)
        with np.errstate(all="ignore"):
            if _is_function(estimator):
                known = pairs if sides is None else with_columns(pairs, *sides)
                tables = [known.objects[known.first], known.objects[known.second]]
                if pairs.n_symmetric or pairs.n_antisymmetric:
                    tables += [known.symmetric, known.antisymmetric]
                answers = estimator(*tables)
            else:
                answers = self._read_off(estimator, self._columns(pairs, sides))
            values = np.asarray(answers, dtype=np.float64)
        if values.shape != (len(pairs),) or not np.isfinite(values).all():
            raise ValueError(
                f"got values of shape {values.shape} from {self.estimator!r}, or some that are not"
                f" finite; expected one finite number for each of {len(pairs)} pairs."
            )
        return values

    def _read_off(self, estimator: Any, rows: Features) -> Vector:
        """Log-odds, decisions or values of a fitted estimator."""
        with threads_for_trees(rows.shape[0]):
            if not self._classifies:
                return np.ravel(estimator.predict(rows))
            if self._has_log_odds or not hasattr(estimator, "predict_proba"):
                return np.ravel(estimator.decision_function(rows))
            # no chance is smaller than one surprise in all the rows that were seen
            least = 1.0 / (self._n_fitted + 2.0)
            return logit(np.clip(estimator.predict_proba(rows)[:, 1], least, 1.0 - least))

    @available_if(lambda model: model._classifies)
    def decision_function(self, X: Any) -> Vector:
        """Log-odds of ``classes_[1]``, shape (n,); decisions of estimators without probabilities.

        A probability of 0 or 1, which forests and neighbours give, counts as 1 / (n + 2) or 1 less
        that, n being the number of rows that the estimator was fitted to.
        """
        return self._decide(X)

    @available_if(_has_chances)
    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of ``classes_``, shape (n, 2); rows add up to 1 exactly."""
        return two_probabilities(self._decide(X))

    @available_if(_has_chances)
    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities."""
        return two_log_probabilities(self._decide(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels (``tie_label`` where the decision is exactly 0), or values of a regressor."""
        values = self._decide(X)
        if not self._classifies:
            return values
        return label_decisions(values, self.classes_, self.tie_label)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean accuracy, a decision of exactly 0 counting one half; or R^2 of a regressor."""
        values = self._decide(X)
        if self._classifies:
            return score_decisions(values, y, self.classes_, sample_weight)
        return float(r2_score(y, values, sample_weight=sample_weight))


def in_one_order(data: TrainingData) -> tuple[TrainingData, Vector]:
    """The same pairs in one order, so that nothing depends on how they are written.

    The signs lead back to the targets as written.
    """
    if data.parity is None:
        return data, np.ones(len(data))
    turned = Orientation.of_compact(data.pairs).turned
    signs = np.where(turned, data.parity.sign, 1.0)
    pairs = data.pairs.with_swapped(turned)
    return replace(data, pairs=pairs, targets=signs * data.targets), signs


def _says_log_odds(estimator: Any, rows: Features) -> bool:
    """Whether decisions are log-odds: then they are exact where probabilities round to 0 or 1."""
    if not (hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba")):
        return False
    decisions = np.asarray(estimator.decision_function(rows))
    if decisions.ndim != 1:
        return False
    chances = estimator.predict_proba(rows)[:, 1]
    return bool(np.allclose(expit(decisions), chances, rtol=0.0, atol=_CLOSE))
