"""The page: numbers and charts put into a template, one file without anything outside it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

import numpy as np

from pairity.report import charts, wording
from pairity.report.data import Matrix, RankingFacts, ReportData, Setting

__all__ = ["render"]


#: Control characters, which no page may hold, become the sign for an unknown one.
_UNPRINTABLE = {code: "\ufffd" for code in (*range(32), 127) if chr(code) not in "\t\n\r"}


def render(data: ReportData) -> str:
    """The report as HTML.

    Whatever is not markup made here is escaped.  A content security policy in the page forbids all
    that it does not need: no network, no scripts but its own (known by its hash).
    """
    environment, safe = _environment()
    style, script = _resource("style.css"), _resource("script.js")
    drawn = {name: safe(picture) for name, picture in _pictures(data).items()}
    page = str(
        environment.get_template("report.html").render(
            data=data,
            words=wording,
            charts=charts,
            safe=safe,
            sentences=list(wording.in_short(data)),
            names=_figure_names(data.settings),
            bounds=_figure_bounds(data.settings),
            ranks=None if data.ranking is None else _rank_bounds(data.ranking),
            drawn=drawn,
            matrix_data=safe(_matrix_data(data.matrix)),
            style=safe(style),
            script=safe(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    return page.translate(_UNPRINTABLE)


def _environment() -> tuple[Any, Any]:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError(
            "got no Jinja2 to write a report with; expected it installed: pip install"
            " 'pairity[cli]'."
        ) from error
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment, Markup


def _resource(name: str) -> str:
    return (files("pairity.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _pictures(data: ReportData) -> dict[str, str]:
    """Charts by name; only those that the numbers are there for."""
    found: dict[str, str] = {}
    kind = data.model.kind
    odd = data.model.symmetry == "antisymmetric"
    if data.reliability is not None:
        favourite = odd and kind == "labels"
        found["reliability"] = charts.reliability_diagram(
            data.reliability,
            kind="value" if kind == "numbers" else "favourite" if favourite else "probability",
            x_name="predicted" if kind == "numbers" else "predicted probability",
            y_name="observed",
        )
    if data.distribution is not None:
        found["distribution"] = charts.histogram(data.distribution)
    if data.matrix is not None:
        colours, labels = _scale(data.matrix, odd)
        found["matrix"] = charts.matrix_picture(data.matrix, colours)
        found["legend"] = charts.legend(labels)
    if data.search is not None:
        found["curve"] = charts.validation_curve(data.search)
    if data.ranking is not None:
        shares = data.ranking.shares
        found["shares"] = charts.share_bar(
            [
                ("explained by the ranking", max(0.0, shares.ranking), "one"),
                ("circles of three", max(0.0, shares.triangles), "two"),
                ("longer circles", max(0.0, shares.longer), "three"),
            ]
        )
    return found


def _scale(matrix: Matrix, odd: bool) -> tuple[charts.Colours, tuple[str, ...]]:
    """Colours around even odds or no difference; from low to high where no value is special."""
    if matrix.quantity == "points":
        return charts.Colours(0.5, 0.5), ("0 points", "½", "1 point")
    if matrix.quantity == "probability":
        if odd:
            return charts.Colours(0.5, 0.5), ("0 %", "50 %", "100 %")
        return charts.Colours(0.0, 1.0), ("0 %", "100 %")
    known = matrix.values[np.isfinite(matrix.values)]
    low, high = float(known.min()), float(known.max())
    if odd:
        reach = max(abs(low), abs(high))
        return charts.Colours(0.0, reach), (wording.plain(-reach), "0", wording.plain(reach))
    return charts.Colours(low, high - low), (wording.plain(low), wording.plain(high))


def _figure_names(settings: tuple[Setting, ...]) -> list[str]:
    """Names of all figures, in the order in which they are first met."""
    return list(dict.fromkeys(name for setting in settings for name in setting.figures))


def _figure_bounds(settings: tuple[Setting, ...]) -> tuple[float, float]:
    """Ends of the line on which the first figure of all settings is drawn."""
    ends = []
    for setting in settings:
        name = wording.lead(setting)
        found = setting.figures.get(name)
        if found is None or math.isnan(found.value):
            continue
        reach = 2.0 * (found.error or 0.0)
        ends += [found.value - reach, found.value + reach, setting.guess[name]]
    if not ends:
        return 0.0, 1.0
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low) or 0.05
    return low - room, min(1.0, high + room) if high <= 1.0 else high + room


def _rank_bounds(ranking: RankingFacts) -> tuple[float, float]:
    ends = [
        end
        for one in ranking.objects
        for end in (one.score, one.lower, one.upper)
        if end is not None
    ]
    return min(ends), max(ends)


def _matrix_data(matrix: Matrix | None) -> str:
    """Names and values for the pointer, as JSON that ends no element."""
    if matrix is None:
        return "null"
    values = [
        [None if math.isnan(value) else round(value, 4) for value in row]
        for row in matrix.values.tolist()
    ]
    content = {"names": matrix.names, "values": values, "quantity": matrix.quantity}
    shown = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
