"""``python -m docs.making.outside SITE``: does a built site ask for anything from the network?

Looks at what a browser loads by itself: scripts, style sheets, pictures, fonts, frames.  Links
that a reader may click on are free to lead anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

#: Attributes by which elements load something.
_LOADING = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
#: Links of a head that load nothing.
_HARMLESS = {"canonical", "next", "prev", "alternate", "author", "license", "help"}
_REMOTE = re.compile(r"^\s*(?:https?:)?//", flags=re.IGNORECASE)
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", flags=re.IGNORECASE)


class _Page(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Attributes that load, and styles."""
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        if not (tag == "link" and set(given.get("rel", "").split()) & _HARMLESS):
            for name in _LOADING.get(tag, ()):
                parts = (
                    given.get(name, "").split(",") if name == "srcset" else [given.get(name, "")]
                )
                self.loaded += [part.strip() for part in parts if _REMOTE.match(part)]
        self.loaded += _IN_STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Style sheets inside the page."""
        if self._in_style:
            self.loaded += _IN_STYLE.findall(data)

    def handle_endtag(self, tag: str) -> None:
        """The end of a style sheet."""
        if tag == "style":
            self._in_style = False


def loaded_by(text: str, suffix: str) -> list[str]:
    """Addresses outside the site that a page (".html", ".svg") or a style sheet (".css") loads."""
    if suffix == ".css":
        return _IN_STYLE.findall(text)
    page = _Page()
    page.feed(text)
    return page.loaded


def outside(site: Path) -> Iterator[tuple[Path, str]]:
    """Every file of a site that loads something from elsewhere, and what."""
    for path in sorted(site.rglob("*")):
        if path.suffix in {".html", ".svg", ".css"}:
            for address in loaded_by(path.read_text(encoding="utf-8"), path.suffix):
                yield path.relative_to(site), address


def main(site: Path) -> None:
    """Print what was found; exit code 1 if there is anything, 2 if there is no site."""
    if not (site / "index.html").exists():
        print(
            f"got no index.html in {site}; expected a built site: run make docs.", file=sys.stderr
        )
        sys.exit(2)
    found = list(outside(site))
    for path, address in found:
        print(f"{path} loads {address}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
