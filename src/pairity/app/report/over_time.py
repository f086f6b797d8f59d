"""Pairs with times: scores period by period, and the strengths of leaders over time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pairity.app.report.report_data import Period, TimeFacts, Trajectory
from pairity.app.report.subject import Subject
from pairity.app.report.unseen import HeldOut
from pairity.inspection import trajectories
from pairity.model_selection import DatedForecasts
from pairity.pairs.arrays import Vector

#: Objects that are drawn, those they are compared with, and moments of a line.
_DRAWN, _COMPARED, _MOMENTS = 4, 12, 30
_LEVEL = 0.9


def over_time(
    subject: Subject, held: HeldOut, chances: Vector | None, leaders: Any, *, dates: bool
) -> TimeFacts | None:
    """What there is to say of pairs with times; ``leaders`` are ids, the best first."""
    if subject.pairs.time is None:
        return None
    facts = TimeFacts(dates, _periods(subject, held, chances), (), None)
    if leaders is None or not _drifts(subject, leaders):
        return facts
    clock = subject.pairs.clock[:, 0]
    moments = np.linspace(clock.min(), clock.max(), _MOMENTS)
    found = trajectories(subject.machine, leaders[:_COMPARED], moments, level=_LEVEL)
    ends: Any = (found.lower, found.upper)
    if found.std is None:
        ends = (found.values, found.values)
    lines = [
        Trajectory(str(name), *(tuple(np.asarray(row).tolist()) for row in rows))
        for name, *rows in zip(found.ids, found.values, *ends, strict=True)
    ]
    drawn = tuple(lines[:_DRAWN])
    level = None if found.std is None else _LEVEL
    return replace(facts, moments=tuple(moments.tolist()), level=level, lines=drawn)


def _drifts(subject: Subject, leaders: list[Any]) -> bool:
    """Whether strengths change with time, of objects that the learner knows by the same names."""
    kernel, pairs = subject.machine._model.kernel, getattr(subject.machine, "support_pairs_", None)
    if pairs is None or pairs.ids is None or pairs.n_symmetric or not subject.is_odd:
        return False
    known = set(pairs.ids.tolist())
    return any(part.of_time for part in kernel.walk()) and all(name in known for name in leaders)


def _periods(subject: Subject, held: HeldOut, chances: Vector | None) -> tuple[Period, ...]:
    """Scores of the blocks of later pairs, each foretold from all pairs before it."""
    if chances is None or not held.in_time:
        return ()
    targets, classes = subject.targets[held.rows], np.arange(len(subject.classes))
    clock = subject.pairs.clock[held.rows, 0]
    happened = subject.columns(targets)
    forecasts = DatedForecasts(clock, chances, happened, classes, held.folds)
    return tuple(
        Period(row["from"], int(row["pairs"]), {name: row[name] for name in forecasts.scores()})
        for row in forecasts.to_frame().to_dict("records")
    )
