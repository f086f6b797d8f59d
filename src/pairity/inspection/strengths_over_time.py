"""Strengths over time: how far objects are ahead of one another at each of several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import norm

from pairity.estimators.unwrap import machine_of
from pairity.inspection.fitted_function import as_frame, margins
from pairity.inspection.flow import differences
from pairity.inspection.linear_part import posterior
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.from_tables import locate
from pairity.pairs.parity import Parity
from pairity.runtime.validation import as_times, check_level


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Mean margins of objects over one another at several times, shape (objects, times).

    Attributes
    ----------
    ids : ndarray
        Names of the objects.
    times : ndarray of float
        Times, in the unit of the pairs.
    values : ndarray of float of shape (objects, times)
        Mean margin of each object over the others.
    std : ndarray of float of the same shape, or None
        Posterior standard deviations; None where the model has none.
    level : float
        Coverage that intervals aim at.
    """

    ids: NDArray[Any]
    times: Vector
    values: Matrix
    std: Matrix | None
    level: float

    @property
    def reach(self) -> Matrix | None:
        """Half the width of the intervals."""
        return None if self.std is None else float(norm.ppf(0.5 + self.level / 2.0)) * self.std

    @property
    def lower(self) -> Matrix | None:
        """Lower ends of the intervals."""
        return None if self.reach is None else self.values - self.reach

    @property
    def upper(self) -> Matrix | None:
        """Upper ends."""
        return None if self.reach is None else self.values + self.reach

    def to_frame(self) -> Any:
        """One row for each object and time, as a pandas table."""
        n_objects, n_times = self.values.shape
        columns = {"id": np.repeat(self.ids, n_times), "time": np.tile(self.times, n_objects)}
        columns["value"] = self.values.ravel()
        if self.lower is not None and self.upper is not None:
            columns |= {"lower": self.lower.ravel(), "upper": self.upper.ravel()}
        return as_frame(columns)


def training_objects(model: Any) -> Pairs:
    """The training pairs of a model, whose table holds the objects that it knows."""
    machine = machine_of(model)
    pairs = getattr(machine, "support_pairs_", None)
    if pairs is None:
        raise ValueError(
            f"got a {type(machine).__name__} that keeps no training pairs; expected one that does, or"
            " the objects to compare: pass a table of them, or Pairs."
        )
    return pairs


def trajectories(
    model: Any, objects: Sequence[Any], times: Any, *, level: float = 0.9
) -> Trajectories:
    """How far objects are ahead of one another at each of several times.

    Parameters
    ----------
    model : fitted antisymmetric model
        One with a kernel of time (:class:`~pairity.kernels.Drift`).
    objects : sequence of ids
        At least two objects of the training pairs, by their ids (row numbers where there are none).
    times : array-like of times or dates
        Times before, between and after those of the training pairs; intervals grow with the distance
        to what was observed.
    level : float
        Coverage that the intervals of a PairLogistic or PairRidge aim at.
    """
    check_level(level)
    known = training_objects(model)
    names = np.arange(known.n_objects) if known.ids is None else known.ids
    rows = locate(objects, names, "that the model was not trained with")
    if len(rows) < 2:
        raise ValueError(f"got {len(rows)} object(s); expected at least two to compare.")
    moments = as_times(np.atleast_1d(np.asarray(times)), "times", np.size(times))
    among = all_pairs(known, rows)
    asked = [among.at(time) for time in moments.tolist()]
    mean = 1.0 / (len(rows) - 1)  # over the others
    means = sp.csr_array(mean * differences(among.first, among.second, len(rows)).T)
    table = np.column_stack([means @ margins(model, pairs, Parity.ODD) for pairs in asked])
    spread = None
    if hasattr(machine_of(model), "observed_"):
        covariance = posterior(model).covariance
        variances = [np.diagonal(covariance(pairs, means)) for pairs in asked]
        spread = np.sqrt(np.maximum(np.column_stack(variances), 0.0))
    return Trajectories(names[rows], moments, table, spread, level)


def all_pairs(known: Pairs, rows: NDArray[np.intp]) -> Pairs:
    """All pairs of some objects, on neutral ground."""
    first, second = np.triu_indices(len(rows), 1)
    if known.n_symmetric:
        raise ValueError(
            "got a model with symmetric features of pairs, which all pairs of objects do not have;"
            " expected one without: ask it for the decisions that matter."
        )
    return Pairs(
        known.objects[rows],
        first,
        second,
        antisymmetric=np.zeros((len(first), known.n_antisymmetric)),
        ids=None if known.ids is None else known.ids[rows],
    )


def plot_trajectories(
    model: Any,
    objects: Sequence[Any],
    times: Any,
    *,
    level: float = 0.9,
    dates: bool = False,
    axes: Any = None,
) -> Any:
    """Draw :func:`trajectories` with their intervals; returns the axes.

    Parameters
    ----------
    model, objects, times, level
        As in :func:`trajectories`.
    dates : bool
        Whether times are days since 1970-01-01, to be shown as dates.
    axes : matplotlib Axes, optional
        Where to draw; a new figure by default.
    """
    from pairity.model_selection.plots import new_axes

    drawn = trajectories(model, objects, times, level=level)
    axes = new_axes(figsize=(7.0, 4.0), layout="constrained") if axes is None else axes
    at: Any = drawn.times
    if dates:
        at = np.datetime64(0, "s") + (drawn.times * 86400.0).astype("timedelta64[s]")
    for row, name in enumerate(drawn.ids):
        (line,) = axes.plot(at, drawn.values[row], label=str(name))
        if drawn.lower is not None and drawn.upper is not None:
            ends = drawn.lower[row], drawn.upper[row]
            axes.fill_between(at, *ends, color=line.get_color(), alpha=0.2, lw=0)
    axes.set_xlabel("date" if dates else "time")
    axes.set_ylabel("mean margin over the others")
    axes.legend(fontsize="small")
    return axes
