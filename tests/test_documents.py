"""Every Python example in the README and the documents runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def examples(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    names: dict = {}
    for number, code in enumerate(examples(page)):
        exec(compile(code, f"{page.name}, example {number}", "exec"), names)


def test_the_readme_has_an_example():
    assert examples(PAGES[0])
