"""The page: numbers and charts put into a template, one file without anything outside it."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from typing import Any

from pairity.app.report import charts, wording
from pairity.app.report.gathering import gather
from pairity.app.report.report_data import Matrix, ReportData, Setting
from pairity.io.store import whole_file
from pairity.pairs.data import Pairs

#: Control characters, which no page may hold, become the sign for an unknown one.
_UNPRINTABLE = {code: "\ufffd" for code in (*range(32), 127) if chr(code) not in "\t\n\r"}


def render(data: ReportData) -> str:
    """The report as HTML.

    Whatever is not markup of a template is escaped.  A content security policy in the page forbids
    all that it does not need: no network, no scripts but its own (known by its hash).
    """
    style, script = charts.resource("style.css"), charts.resource("script.js")
    page: str = (
        charts.environment()
        .get_template("report.html")
        .render(
            data=data,
            words=wording,
            bounds=_figure_bounds(data.settings),
            matrix=_matrix_numbers(data.matrix),
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    return page.translate(_UNPRINTABLE)


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _figure_bounds(settings: tuple[Setting, ...]) -> tuple[float, float]:
    """Ends of the line on which the first figure of all settings is drawn."""
    ends = []
    for setting in settings:
        name = wording.lead(setting)
        figure = setting.figures.get(name)
        if figure is not None and not math.isnan(figure.value):
            reach = 2.0 * (figure.error or 0.0)
            ends += [figure.value - reach, figure.value + reach, setting.guess[name]]
    if not ends:
        return 0.0, 1.0
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low) or 0.05
    return low - room, min(1.0, high + room) if high <= 1.0 else high + room


def _matrix_numbers(matrix: Matrix | None) -> dict[str, Any] | None:
    """Names and values for the pointer."""
    if matrix is None:
        return None
    values = [
        [None if math.isnan(value) else round(value, 4) for value in row]
        for row in matrix.values.tolist()
    ]
    return {"names": matrix.names, "values": values, "quantity": matrix.quantity}


def write_report(
    model: Any, pairs: Pairs, y: Any, path: str | os.PathLike[str], **options: Any
) -> ReportData:
    """Write what a fitted model has learned, and how sure that is, as one HTML page.

    The learner is fitted again on folds, with the kernel and the strength of the model, to measure
    it on pairs whose objects are both known, one new, or both new.  The page needs no network; the
    same arguments give the same bytes.  It appears whole or not at all.  The numbers are returned.

    Parameters
    ----------
    model, pairs, y, **options
        Those of ``gather``: ``title``, ``feature_names``, ``label_names``,
        ``object_names``, ``objects``, ``groups``, ``object_groups``, ``test``, ``test_name``,
        ``limits``, ``dates`` and ``random_state``.
    path : str or path-like
        Where to; an existing file is replaced in one step.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.app.report import write_report
    >>> games = Pairs.complete(np.random.default_rng(0).normal(size=(12, 2)))
    >>> won = np.where(games.objects[games.first, 0] > games.objects[games.second, 0], 1, -1)
    >>> model = PairSVC("antisymmetric", kernel="linear").fit(games, won)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     numbers = write_report(model, games, won, os.path.join(directory, "report.html"))
    >>> numbers.settings[0].name, numbers.swap.holds
    ('both objects seen', True)
    """
    data = gather(model, pairs, y, **options)
    page = render(data).encode("utf-8", "replace")
    with whole_file(path) as stream:
        stream.write(page)
    return data
