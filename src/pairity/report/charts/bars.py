"""Small bars for the lines of a table."""

from __future__ import annotations

from pairity.report.charts.axes import Scale
from pairity.report.charts.svg import drawing, tag

__all__ = ["interval_bar", "plain_bar", "share_bar"]

_WIDTH, _HEIGHT = 160.0, 18.0


def interval_bar(
    value: float,
    lower: float | None,
    upper: float | None,
    bounds: tuple[float, float],
    mark: float | None = None,
) -> str:
    """A point with its interval on a line from ``bounds[0]`` to ``bounds[1]``."""
    place = Scale(bounds[0], bounds[1], 5.0, _WIDTH - 5.0)
    middle = _HEIGHT / 2.0
    parts = [tag("line", x1=0.0, x2=_WIDTH, y1=middle, y2=middle, class_="grid")]
    if mark is not None and bounds[0] <= mark <= bounds[1]:
        x = place(mark)
        parts.append(tag("line", x1=x, x2=x, y1=2.0, y2=_HEIGHT - 2.0, class_="zero"))
    about = f"{value:.4g}"
    if lower is not None and upper is not None:
        x = place(lower)
        parts.append(
            tag(
                "rect",
                x=x,
                y=middle - 2.5,
                width=max(1.0, place(upper) - x),
                height=5.0,
                rx=2.5,
                class_="interval",
            )
        )
        about += f" ({lower:.4g} to {upper:.4g})"
    parts.append(tag("circle", cx=place(value), cy=middle, r=4.0, class_="dot", data_tip=about))
    return drawing(_WIDTH, _HEIGHT, about, *parts, class_="line")


def plain_bar(value: float, spread: float, bounds: tuple[float, float]) -> str:
    """A bar from 0, to the left where the value is below, with its spread."""
    place = Scale(min(0.0, bounds[0]), bounds[1], 2.0, _WIDTH - 2.0)
    start, end = sorted((place(0.0), place(value)))
    middle = _HEIGHT / 2.0
    about = f"{value:.4g}" + (f" ± {spread:.2g}" if spread else "")
    side = "one" if value >= 0.0 else "two"
    parts = [
        tag(
            "rect",
            x=start,
            y=middle - 6.0,
            width=max(0.75, end - start),
            height=12.0,
            rx=2.0,
            class_=f"bar {side}",
            data_tip=about,
        )
    ]
    if spread:
        parts.append(
            tag(
                "line",
                x1=place(value - spread),
                x2=place(value + spread),
                y1=middle,
                y2=middle,
                class_="whisker",
            )
        )
    return drawing(_WIDTH, _HEIGHT, about, *parts, class_="line")


def share_bar(parts: list[tuple[str, float, str]]) -> str:
    """Parts of a whole side by side: name, share, class."""
    total = sum(share for _, share, _ in parts) or 1.0
    x, drawn = 0.0, []
    for name, share, class_ in parts:
        width = 400.0 * share / total
        if width > 0.0:
            drawn.append(
                tag(
                    "rect",
                    x=x,
                    y=0.0,
                    width=width,
                    height=22.0,
                    class_=f"bar solid {class_}",
                    data_tip=f"{name}: {100.0 * share:.1f} %",
                )
            )
        x += width
    about = ", ".join(f"{name} {100.0 * share:.1f} %" for name, share, _ in parts)
    return drawing(400.0, 22.0, about, *drawn, class_="whole", stretched=True)
