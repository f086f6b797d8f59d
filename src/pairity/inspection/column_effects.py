"""Effects of columns in original units, with standard errors, intervals and tests.

Where a kernel is linear the fitted function is

    f(a, b) = (x_a -+ x_b)' u + x_ab' v + x~_ab' v~ (+ constant),

whatever scaling the kernel does inside.  An effect is what one unit of a column adds to f: log-odds
of a :class:`~pairity.PairLogistic`, units of the target of a :class:`~pairity.PairRidge`.  It is read
off the explicit features of pairs that differ in that unit alone, and so is its variance
(:mod:`pairity.inspection.linear_part`).  Estimates are penalised: a large C (a small alpha) gives
those of maximum likelihood.  Estimates of a logistic model are the mode of the posterior, its intervals
are about the mean: with many objects of few votes each, the errors of all their scores pull the mode of
an effect to one side, by more than its own error (:mod:`pairity.inspection.posterior_shape`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, norm
from scipy.stats import t as student
from sklearn.base import is_classifier

from pairity.estimators.unwrap import direction
from pairity.inspection.fitted_function import KINDS, as_frame, margins
from pairity.inspection.linear_part import LinearPart, minimise
from pairity.inspection.posterior_shape import Shape, shape_of
from pairity.inspection.score_covariance import known_by_name, slope_of
from pairity.pairs.arrays import Matrix, Vector, as_dense
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.pairs.same_objects import at_the_latest_time
from pairity.runtime.validation import check_choice, check_level
from pairity.training.kernel_posterior import solved

#: Kind and number of a column.
Column = tuple[str, int]
#: Columns of objects that have effects of their own, at most.
_MOST_COLUMNS = 2000
#: Training pairs on which the function is compared with its effects, and how far it may be off.
_TRIED, _TOLERANCE = 200, 1e-8


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of columns, in the order of the table.

    Attributes
    ----------
    names, kinds : tuple of str
        Columns, and whether they are of objects, symmetric or antisymmetric.
    estimates, errors, lower, upper : ndarray
        Effects per unit, standard errors, and intervals at ``level``.
    statistics, p_values : ndarray
        Of the ``test`` that an effect is 0: z of Wald (Student's t by clusters), or chi-squared of the
        likelihood ratio.
    covariance : ndarray of shape (p, p)
        Of the estimates.
    n_clusters : int or None
        Clusters behind the standard errors, if any.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    estimates: Vector
    errors: Vector
    lower: Vector
    upper: Vector
    statistics: Vector
    p_values: Vector
    covariance: Matrix
    level: float
    test: str
    n_clusters: int | None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> float:
        """The estimate of a column by its name."""
        return float(self.estimates[self.names.index(name)])

    def to_frame(self) -> Any:
        """Return a pandas table, one row per column."""
        return as_frame(
            {
                "name": list(self.names),
                "kind": list(self.kinds),
                "estimate": self.estimates,
                "error": self.errors,
                "lower": self.lower,
                "upper": self.upper,
                "statistic": self.statistics,
                "p_value": self.p_values,
            }
        )

    def __str__(self) -> str:
        width = max([len(name) for name in self.names], default=0)
        clustered = "" if self.n_clusters is None else f", {self.n_clusters} clusters"
        lines = [f"{len(self)} effects, {self.level:.0%} intervals{clustered}"]
        for row, name in enumerate(self.names):
            ends = f"[{self.lower[row]:+.4g}, {self.upper[row]:+.4g}]"
            lines.append(
                f"  {name:<{width}}  {self.estimates[row]:+.4g}  {ends}  p = {self.p_values[row]:.2g}"
            )
        return "\n".join(lines)


def effects(
    model: Any,
    *,
    clusters: Any = None,
    level: float = 0.9,
    test: str = "wald",
    kinds: Sequence[str] = KINDS,
    names: Mapping[str, Sequence[str]] | None = None,
) -> Effects:
    """Effects of the columns that a fitted model is linear in.

    Parameters
    ----------
    model : fitted PairLogistic or PairRidge, or a search around one
        Its kernel linear in the columns, as ``"linear"``, ``Standardized(Linear())``, or one of them
        plus ``Identity()`` for effects of names.
    clusters : array-like of shape (n,), "object" or None
        What observations hang together by: the judge or the day of each row that the model was
        fitted to; or the objects that rows share.
    level : float
        Coverage of the intervals.
    test : {"wald", "likelihood_ratio"}
        Test that an effect is 0; the second fits the model again without each column, and knows
        nothing of clusters.
    kinds : sequence
        Which columns: those of "objects", "symmetric" or "antisymmetric" ones.
    names : mapping, optional
        Names of the columns of each kind; ids stand for indicator columns of objects.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.inspection import effects
    >>> random = np.random.default_rng(0)
    >>> first, second = random.integers(0, 5, 400), random.integers(5, 10, 400)
    >>> longer = random.normal(size=(400, 1))
    >>> pairs = Pairs(np.eye(10), first, second, antisymmetric=longer)
    >>> won = np.where(random.random(400) < 1 / (1 + np.exp(-longer[:, 0])), 1, -1)
    >>> model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
    >>> table = effects(model, kinds=["antisymmetric"], names={"antisymmetric": ["length"]})
    >>> bool(table.lower[0] < 1.0 < table.upper[0])
    True
    """
    check_level(level)
    check_choice(test, "test", ("wald", "likelihood_ratio"))
    for kind in kinds:
        check_choice(kind, "kinds", KINDS)
    part = LinearPart.of(model)
    columns = _columns(part, kinds)
    features = _features(part, columns)
    kept = (features != 0.0).any(axis=1)  # the model depends on them
    columns = [column for column, there in zip(columns, kept, strict=True) if there]
    slope = _slope(model, part)
    estimates = slope * (features @ part.parameters[: features.shape[1]])[kept]
    roots = slope * _roots(part, features)[:, kept]
    covariance = part.covariance(roots, clusters)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scatter = norm if clusters is None else student(part.degrees(clusters))
    if test == "wald":
        statistics = np.divide(estimates, errors, out=np.zeros_like(errors), where=errors > 0)
        p_values = 2.0 * scatter.sf(np.abs(statistics))
    else:
        if not is_classifier(part.machine) or clusters is not None:
            raise ValueError(
                "got test='likelihood_ratio' with clusters or for numbers; expected labels that are"
                " independent: use test='wald'."
            )
        statistics = _likelihood_ratios(part, features[kept])
        p_values = chi2.sf(statistics, 1)
    quantile = float(scatter.ppf(0.5 + level / 2.0))
    below, above = _shape(part, roots, clusters).ends(errors, quantile)
    n_clusters = None
    if clusters is not None and not isinstance(clusters, str):
        n_clusters = len(part.named_clusters(clusters)[0])
    return Effects(
        _names(part, columns, names),
        tuple(kind for kind, _ in columns),
        estimates,
        errors,
        estimates + below,
        estimates + above,
        statistics,
        p_values,
        covariance,
        level,
        test,
        n_clusters,
    )


def _slope(model: Any, part: LinearPart) -> float:
    """What decisions are a multiple by of those of the machine inside: draws, calibration."""
    if model is part.machine or part.parity is not Parity.ODD:
        return 1.0
    pairs = part.observed.pairs[:_TRIED]
    inner = direction(model, part.parity) * part.machine._model.decisions(pairs)
    return slope_of(margins(model, pairs, Parity.ODD), inner)


def _shape(part: LinearPart, roots: Matrix, clusters: Any) -> Shape:
    """How effects deviate from their estimates; clusters tell their variance, not their mean."""
    if not is_classifier(part.machine):
        return Shape.normal(roots.shape[1])
    decisions = part.design.times(part.parameters)
    return shape_of(part, part.observed, decisions, roots, mean_only=clusters is not None)


def _columns(part: LinearPart, kinds: Sequence[str]) -> list[Column]:
    seen = part.observed.pairs
    widths = seen.n_object_features, seen.n_symmetric, seen.n_antisymmetric
    if "objects" in kinds and widths[0] > _MOST_COLUMNS:
        raise ValueError(
            f"got {widths[0]} columns of objects; expected at most {_MOST_COLUMNS} effects: ask"
            " for kinds=['symmetric', 'antisymmetric'], and rank_objects for the objects."
        )
    wide = zip(KINDS, widths, strict=True)
    return [(kind, at) for kind, width in wide if kind in kinds for at in range(width)]


def _probes(seen: Pairs, columns: list[Column]) -> Pairs:
    """Pairs that differ from a pair of zeros by one unit of one column; the pair of zeros is last."""
    number = len(columns) + 1
    groups = [np.zeros((number, width)) for width in (seen.n_symmetric, seen.n_antisymmetric)]
    entries: list[tuple[int, int]] = []
    for row, (kind, at) in enumerate(columns):
        if kind == "objects":
            entries.append((row, at))
        else:
            groups[KINDS.index(kind) - 1][row, at] = 1.0
    rows, places = np.array(entries, dtype=np.intp).reshape(-1, 2).T
    shape = (number + 1, seen.n_object_features)
    table: Any = sp.csr_array((np.ones(len(rows)), (rows, places)), shape=shape)
    if not sp.issparse(seen.objects):
        table = table.toarray()
    # one id for all: what a name adds cancels
    ids = None if seen.ids is None else np.repeat(seen.ids[:1], number + 1)
    probes = Pairs(table, np.arange(number), np.full(number, number), *groups, ids=ids)
    return at_the_latest_time(probes, seen)


def _features(part: LinearPart, columns: list[Column]) -> Matrix:
    """What one unit of each column adds to the explicit features, shape (p, r).

    Refused where the function is not linear in the columns.
    """
    seen, span = part.observed.pairs, part.span
    rows = as_dense(span.features(_probes(seen, columns))[1].rows)
    features = rows[:-1] - rows[-1]
    if features.shape[1] != span.rows.shape[1]:
        raise ValueError(
            "got a kernel that tells objects apart by their features; expected ids=... in the pairs"
            " for Identity(), or a linear kernel."
        )
    some = np.unique(np.linspace(0, len(seen) - 1, min(_TRIED, len(seen))).astype(np.intp))
    touched = (features != 0.0).any(axis=0)
    values = as_dense(span.rows[some])[:, touched]
    rest = values - _units(part, seen[some], columns) @ features[:, touched]
    size = np.abs(values).max(initial=0.0)
    if np.ptp(rest, axis=0).max(initial=0.0) > _TOLERANCE * max(size, 1e-300):
        raise ValueError(
            f"got {part.machine._model.kernel!r}, which is not linear in these columns; expected a"
            " linear kernel, or kinds=[...] of those that it is linear in."
        )
    return features


def _roots(part: LinearPart, features: Matrix) -> Matrix:
    """Roots of the covariance of the effects, shape (r, p)."""
    if part.span.has_bias:
        features = np.hstack([features, np.zeros((len(features), 1))])
    return solved(part.span.factor, features.T)


def _units(part: LinearPart, pairs: Pairs, columns: list[Column]) -> Matrix:
    """The columns of pairs: difference or sum of those of objects, group features."""
    sign = -1.0 if part.parity is Parity.ODD else 1.0
    objects = as_dense(pairs.objects[pairs.first]) + sign * as_dense(pairs.objects[pairs.second])
    tables = dict(zip(KINDS, (objects, pairs.symmetric, pairs.antisymmetric), strict=True))
    chosen = [tables[kind][:, at] for kind, at in columns]
    return np.column_stack([*chosen, np.zeros((len(pairs), 0))])


def _names(
    part: LinearPart, columns: list[Column], names: Mapping[str, Sequence[str]] | None
) -> tuple[str, ...]:
    """Names given, ids for indicator columns of objects, or kinds and numbers."""
    seen, given = part.observed.pairs, dict(names or {})
    ids: dict[int, str] = {}
    if seen.ids is not None and known_by_name(seen):
        entries = sp.coo_array(seen.objects, copy=True)
        entries.eliminate_zeros()
        ids = {int(at): str(seen.ids[row]) for row, at in zip(*entries.coords, strict=True)}
    found = []
    for kind, at in columns:
        own = given.get(kind, ())
        default = ids.get(at) if kind == "objects" else None
        found.append(str(own[at]) if at < len(own) else default or f"{kind}[{at}]")
    return tuple(found)


def _likelihood_ratios(part: LinearPart, directions: Matrix) -> Vector:
    """Twice the logarithms of ratios of penalised likelihoods, with each effect and without it.

    With F of :func:`~pairity.inspection.linear_part.minimise` and losses of weight 2C, that is
    ``2 (min F with t' w = 0  -  min F) / 2C``: chi-squared of one degree where the effect is 0 and the
    penalty weak.
    """
    free = minimise(part.design, part.loss, part.parameters)
    statistics = []
    for one in directions:
        padded = np.zeros(len(part.parameters))
        padded[: len(one)] = one
        without = minimise(part.design, part.loss, part.parameters, padded)
        statistics.append(2.0 * max(without.value - free.value, 0.0) / part.scale)
    return np.array(statistics)
