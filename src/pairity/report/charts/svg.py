"""Elements of SVG as text: attributes and contents escaped, numbers short."""

from __future__ import annotations

import math
from html import escape

__all__ = ["drawing", "number", "tag", "text"]


def number(value: float) -> str:
    """A coordinate with two decimals at most."""
    if not math.isfinite(value):
        raise ValueError(f"got {value!r} as a coordinate; expected a finite number.")
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown in ("-0", "") else shown


def tag(name: str, *content: str, **attributes: str | float | None) -> str:
    """``<name attributes>content</name>``; content is markup already, attributes are not.

    ``class_`` stands for ``class`` and ``_`` in a name for ``-``; None leaves one out.
    """
    given = [
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(content)
    return f"<{name}{''.join(given)}>{inside}</{name}>" if inside else f"<{name}{''.join(given)}/>"


def _attribute(value: str | float) -> str:
    return escape(value, quote=True) if isinstance(value, str) else number(float(value))


def text(content: str, x: float, y: float, **attributes: str | float | None) -> str:
    """A label; its content is escaped."""
    return tag("text", escape(content), x=x, y=y, **attributes)


def drawing(
    width: float,
    height: float,
    description: str,
    *content: str,
    class_: str = "",
    stretched: bool = False,
) -> str:
    """A picture that scales with the page; the description is what a screen reader says."""
    return tag(
        "svg",
        *content,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_label=description,
        class_=f"chart {class_}".strip(),
        preserveAspectRatio="none" if stretched else None,
    )
