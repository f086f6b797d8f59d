"""Tables in Markdown, and the pages that show them between two marks."""

from __future__ import annotations

__all__ = ["markdown_table", "tables_in", "with_tables"]

#: The tables of a page stand between these two lines.
_BEGIN, _END = "<!-- tables: begin -->", "<!-- tables: end -->"


def markdown_table(header: list[str], rows: list[list[str]]) -> list[str]:
    """The lines of a table, and an empty one."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines] + [""]


def tables_in(page: str) -> str:
    """What stands between the two marks of a page."""
    return page.split(_BEGIN)[1].split(_END)[0].strip("\n") + "\n"


def with_tables(page: str, tables: str) -> str:
    """A page with the tables between its marks replaced."""
    before, rest = page.split(_BEGIN)
    return f"{before}{_BEGIN}\n{tables.strip(chr(10))}\n{_END}{rest.split(_END)[1]}"
