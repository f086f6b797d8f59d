"""Held-out score over the strengths that a search tried."""

from __future__ import annotations

from pairity.report.charts.axes import Frame, Scale, nice_ticks, short
from pairity.report.charts.svg import drawing, number, tag, text
from pairity.report.data import SearchCurve, SearchFacts

__all__ = ["validation_curve"]

_WIDTH, _PLOT = 400.0, 314.0
_CLASSES = ("one", "two", "three", "four")


def validation_curve(found: SearchFacts) -> str:
    """One line a kernel, a band of one standard error, and the choice."""
    curves = found.curves
    strengths = [value for curve in curves for value in curve.strengths]
    means = [value for curve in curves for value in curve.means]
    errors = [value for curve in curves for value in curve.errors]
    low = min(m - e for m, e in zip(means, errors, strict=True))
    high = max(m + e for m, e in zip(means, errors, strict=True))
    room = 0.05 * (high - low) or 0.1
    frame = Frame(
        Scale(min(strengths), max(strengths), 60.0, 384.0, logarithmic=True),
        Scale(low - room, high + room, 276.0, 26.0),
    )
    x_ticks = [(value, short(float(f"{value:.3g}"))) for value in sorted(set(strengths))]
    x_ticks = x_ticks[:: 1 + (len(x_ticks) - 1) // 8]
    y_ticks = [(value, short(value)) for value in nice_ticks(low - room, high + room)]
    lines, keys = [], []
    for place, curve in enumerate(curves[: len(_CLASSES)]):
        lines.append(_line(frame, curve, _CLASSES[place], found.strength))
        if len(curves) > 1:
            keys.append(_key(place, curve.kernel))
    best = frame.x(found.best)
    chosen = tag("line", x1=best, x2=best, y1=26.0, y2=276.0, class_="zero")
    minus = "minus " if "loss" in found.scoring or "error" in found.scoring else ""
    axes = frame.draw(x_ticks, y_ticks, found.strength, f"held-out {minus}{found.scoring}")
    about = f"Validation curve; the best {found.strength} is {found.best:g}"
    height = _PLOT + 16.0 * len(keys)
    return drawing(_WIDTH, height, about, axes, chosen, *lines, *keys)


def _line(frame: Frame, curve: SearchCurve, class_: str, strength: str) -> str:
    places = [
        (frame.x(c), mean, error)
        for c, mean, error in zip(curve.strengths, curve.means, curve.errors, strict=True)
    ]
    upper = [(x, frame.y(mean + error)) for x, mean, error in places]
    lower = [(x, frame.y(mean - error)) for x, mean, error in reversed(places)]
    band = tag("polygon", points=_points([*upper, *lower]), class_=f"band {class_}")
    middle = [(x, frame.y(mean)) for x, mean, _ in places]
    line = tag("polyline", points=_points(middle), class_=f"curve {class_}")
    dots = [
        tag(
            "circle",
            cx=x,
            cy=frame.y(mean),
            r=3.5,
            class_=f"bar solid {class_}",
            data_tip=f"{strength} = {c:g}: {mean:.4g} ± {error:.2g} ({curve.kernel})",
        )
        for c, (x, mean, error) in zip(curve.strengths, places, strict=True)
    ]
    return band + line + "".join(dots)


def _points(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)


def _key(place: int, name: str) -> str:
    y = _PLOT + 4.0 + 16.0 * place
    shown = name if len(name) <= 48 else name[:47] + "…"
    swatch = tag(
        "rect",
        x=24.0,
        y=y - 9.0,
        width=11.0,
        height=11.0,
        rx=2.0,
        class_=f"bar solid {_CLASSES[place]}",
    )
    return swatch + text(shown, 40.0, y, class_="key")
