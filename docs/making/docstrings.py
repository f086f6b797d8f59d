"""Docstrings as Markdown: roles and tables of reStructuredText, which is what Python tools read.

``:class:`~pairity.PairSVC``` becomes a link where the reference has a page for it, and code
otherwise; a table between rows of ``=`` becomes a table of Markdown; sections as NumPy writes them
("Parameters" over a row of ``-``) become lists, examples become code.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

try:
    from griffe import Extension
except ImportError:  # comes with the docs extra; the functions below do without
    Extension = object

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "pairity"
_ROLE = re.compile(r":(class|func|meth|mod|attr):`(~?)([\w.]+)`")
_BORDER = re.compile(r"=+(?: +=+)+")
_SECTION = re.compile(r"^(\w+)\n-+\n", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(\S[^\n]*)\n?((?:(?:[ ]+[^\n]*)?(?:\n|$))*)", flags=re.MULTILINE)


class Docstrings(Extension):
    """Rewrites docstrings before they are shown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value, obj.canonical_path)


def as_markdown(text: str, path: str = "pairity") -> str:
    """The docstring of the object at ``path``."""
    return _ROLE.sub(lambda found: _link(found, path), with_sections(with_tables(text)))


def _link(found: re.Match[str], path: str) -> str:
    role, short, name = found.groups()
    shown = name.rsplit(".", 1)[-1] if short else name
    # a method without its class is one of the class that is described
    target = None if role == "meth" and "." not in name else target_of(name, path)
    return f"[`{shown}`][{target}]" if target else f"`{shown}`"


def target_of(name: str, path: str) -> str | None:
    """Where the reference shows a name that a docstring mentions; None if it does not."""
    shown = shown_names()
    if name in shown:
        return shown[name]
    part = path.split(".")[1] if path.count(".") > 1 else ""
    last = name.rsplit(".", 1)[-1]
    for candidate in (f"pairity.{name}", f"pairity.{part}.{name}", f"pairity.{last}"):
        if candidate in shown:
            return shown[candidate]
    return None


#: Names of ``pairity`` itself that are shown on its page; the others are on those of their modules.
ON_FIRST_PAGE = (
    "Pairs",
    "PairSVC",
    "PairLogistic",
    "PairSVR",
    "PairRidge",
    "TransductivePairSVC",
    "LaplacianPairSVC",
)
#: Modules with a page.
MODULES = (
    "pairs",
    "kernels",
    "estimators",
    "model_selection",
    "inspection",
    "active",
    "matching",
    "app.report",
    "distributed",
    "io",
    "datasets",
    "testing",
    "exceptions",
)


@cache
def shown_names() -> dict[str, str]:
    """Every public name as it may be written, and the anchor that it has in the reference."""
    found = {f"pairity.{name}": f"pairity.{name}" for name in ON_FIRST_PAGE}
    for module in MODULES:
        found[f"pairity.{module}"] = f"pairity.{module}"
        for name in exported(module):
            anchor = f"pairity.{module}.{name}"
            found[anchor] = anchor
            found.setdefault(f"pairity.{name}", anchor)
    return found


def exported(module: str) -> list[str]:
    """``__all__`` of a module, read and not imported."""
    folder = PACKAGE / module.replace(".", "/")
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def with_sections(text: str) -> str:
    """Sections of the numpydoc format as headed lists, examples as code."""
    before, *rest = _SECTION.split(text)
    parts = [before.rstrip()]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            shown = re.sub(
                r"(?:^>>>(?:[^\n]+\n?)+)+", _fenced, body.strip("\n"), flags=re.MULTILINE
            )
        elif title == "Notes":
            shown = body.strip("\n")
        else:
            shown = "\n".join(_item(*entry) for entry in _ENTRY.findall(body.strip("\n")))
        parts.append(f"**{title}**\n\n{shown}")
    return "\n\n".join(parts)


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{found.group().rstrip()}\n```\n"


def _item(head: str, body: str) -> str:
    """``name : type`` and what is said about it, as an item of a list."""
    names, _, kind = head.partition(" : ")
    shown = ", ".join(f"`{name.strip()}`" for name in names.split(",")) if kind or body else names
    shown += f" ({kind})" if kind else ""
    return indent(f"{shown}: {dedent(body).strip()}" if body.strip() else shown, "    ").replace(
        "    ", "-   ", 1
    )


def with_tables(text: str) -> str:
    """Simple tables of reStructuredText as tables of Markdown."""
    lines, done = text.split("\n"), []
    while lines:
        line = lines.pop(0)
        if not _BORDER.fullmatch(line.strip()):
            done.append(line)
            continue
        starts = [found.start() for found in re.finditer("=+", line)]
        parts: list[list[str]] = [[]]
        while lines and (row := lines.pop(0)).strip():
            if _BORDER.fullmatch(row.strip()):
                parts.append([])
            else:
                parts[-1].append(row)
        done += ["", *_table(parts, starts), ""]
    return "\n".join(done)


def _table(parts: list[list[str]], starts: list[int]) -> list[str]:
    """A header, where there is one, is what stands between the first two borders."""
    has_header = len(parts) == 3
    header = _cells(parts[0], starts)[0] if has_header else [""] * len(starts)
    rows = _cells(parts[1] if has_header else parts[0], starts)
    lines = [header, ["---"] * len(starts), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _cells(rows: list[str], starts: list[int]) -> list[list[str]]:
    """Cells of each row; a row with an empty first cell goes on with the one before."""
    found: list[list[str]] = []
    for row in rows:
        ends = [*starts[1:], None]
        cells = [
            row[start:end].strip().replace("|", r"\|")
            for start, end in zip(starts, ends, strict=True)
        ]
        if cells[0] or not found:
            found.append(cells)
        else:
            found[-1] = [f"{old} {new}".strip() for old, new in zip(found[-1], cells, strict=True)]
    return found
