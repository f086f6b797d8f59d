"""The site of documents: pages, links, included code, tables from results, nothing from the network."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from docs.making import docstrings, outside, picture, tables

import pairity

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "making" not in path.parts)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SNIPPET = re.compile(r'--8<-- "([^"]+)"')


def without_code(text):
    """A page without its code blocks, in which brackets mean other things."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Anchors of the headings of a page, as MkDocs makes them."""
    titles = re.findall(r"^#+ (.+)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles]
    return {re.sub(r"[-\s]+", "-", title) for title in plain}


def named(page):
    return str(page.relative_to(ROOT))


# Pages and links ------------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_and_there():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = re.findall(r": (\S+\.md)$", text, flags=re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in PAGES)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=named)
def test_links_lead_somewhere(page):
    for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {link}"


def test_code_is_included_from_the_source_tree():
    found = {page.name: SNIPPET.findall(page.read_text(encoding="utf-8")) for page in PAGES}
    included = [path for paths in found.values() for path in paths]
    for path in included:
        file, _, section = path.partition(":")
        assert (ROOT / file).is_file(), path
        assert file.startswith(("src/pairity/", "examples/walks/"))
        if section:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert text.count(f"--8<-- [start:{section}]") == text.count(f"[end:{section}]") == 1
    assert found["add-a-kernel.md"]
    assert found["add-a-loss.md"]


# Reference ------------------------------------------------------------------------------------


def test_every_public_name_is_in_the_reference():
    for module in docstrings.MODULES:
        home = importlib.import_module(f"pairity.{module}")
        assert docstrings.exported(module) == list(home.__all__)
        assert f"::: pairity.{module}\n" in (DOCS / "api" / f"{module}.md").read_text()
    shown = docstrings.shown_names()
    names = [name for name in pairity.__all__ if name != "__version__"]
    assert [name for name in names if f"pairity.{name}" not in shown] == []
    first = (DOCS / "api" / "pairity.md").read_text()
    assert tuple(re.findall(r"^        - (\w+)$", first, re.MULTILINE)) == docstrings.ON_FIRST_PAGE


def test_every_page_shows_all_names_of_its_module():
    """But for those of the first page; a module of the same name would hide a function."""
    for module in docstrings.MODULES:
        page = (DOCS / "api" / f"{module}.md").read_text()
        listed = set(re.findall(r"^        - (\w+)$", page, re.MULTILINE))
        names = set(docstrings.exported(module))
        assert not listed or listed | set(docstrings.ON_FIRST_PAGE) >= names, module
        folder = docstrings.PACKAGE / module.replace(".", "/")
        modules = {path.stem for path in folder.glob("*.py")}
        assert names & modules == set(), module


def test_every_public_module_has_a_page():
    package = Path(pairity.__file__).parent
    outside_the_library = {"app"}
    # for those who work on Pairity
    inside = {"losses", "operators", "runtime", "solvers", "training"}
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert folders - outside_the_library - inside <= set(docstrings.MODULES)


def test_roles_become_links_or_code():
    text = "As :class:`~pairity.PairSVC`, :func:`save`, :meth:`fit` and :mod:`pairity.losses`."
    assert docstrings.as_markdown(text, "pairity.io.store.load") == (
        "As [`PairSVC`][pairity.PairSVC], [`save`][pairity.io.save], `fit` and `pairity.losses`."
    )


def test_tables_and_sections_become_markdown():
    text = """Says.

=====  =========
name   meaning
=====  =========
``a``  one | two
       and more
``b``  three
=====  =========

Parameters
----------
first, second : int
    Numbers.

    Two of them.
rest
    As elsewhere.

Examples
--------
>>> 1 + 1
2
"""
    made = docstrings.as_markdown(text)
    assert [line for line in made.splitlines() if line] == [
        "Says.",
        "| name | meaning |",
        "| --- | --- |",
        r"| ``a`` | one \| two and more |",
        "| ``b`` | three |",
        "**Parameters**",
        "-   `first`, `second` (int): Numbers.",
        "    Two of them.",
        "-   `rest`: As elsewhere.",
        "**Examples**",
        "```pycon",
        ">>> 1 + 1",
        "2",
        "```",
    ]


# Results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tables.PAGES)
def test_pages_show_the_results_that_were_measured(name):
    page = ROOT / name
    made = tables.updated(page, tables.PAGES[name]())
    assert made == page.read_text(encoding="utf-8"), "run python -m docs.making.tables"


def test_tables_of_benchmarks_are_those_of_the_files(tmp_path, monkeypatch):
    rows = [
        {"task": "t", "system": "pairity", "n_pairs": 10, "fit_seconds": 0.5, "violation": 1e-4},
        {"task": "t", "system": "peer", "n_pairs": 10, "fit_seconds": 2.0, "unfinished": True},
    ]
    (tmp_path / "bench.json").write_text(json.dumps({"machine": {"cores": 2}, "rows": rows}))
    monkeypatch.setattr(tables, "BENCHMARKS", tmp_path)
    lines = tables.benchmark_tables().splitlines()
    assert "| t | peer | > 4x |  |" in lines
    assert "| t | pairity | 10 | 0.5 | 1.0e-04 |  |  |" in lines
    assert "| t | peer | 10 | > 2 |  |  |  |" in lines
    assert "Machine: cores 2." in lines


def test_the_picture_is_of_measured_numbers():
    points = picture.growth()
    rows = json.loads((tables.BENCHMARKS / "bench.json").read_text(encoding="utf-8"))["rows"]
    measured = {(row["system"], row["n_pairs"], row["fit_seconds"]) for row in rows}
    assert set(points) == {"pairity", "scikit-learn"}
    assert all((name, *point) in measured for name, some in points.items() for point in some)
    errors = picture.swap_errors()
    assert (errors["pairity"] == 0.0).all()
    assert np.abs(errors["scikit-learn"]).max() > 0.03
    assert "611 held-out" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(errors["pairity"]) == 611


# Nothing from the network -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ('<script src="https://cdn.example/x.js"></script>', ".html"),
        ('<link rel="stylesheet" href="//fonts.example/css">', ".html"),
        ('<link rel="preconnect" href="https://fonts.example">', ".html"),
        ('<img srcset="a.png 1x, https://pictures.example/b.png 2x">', ".html"),
        ('<div style="background: url(https://pictures.example/b.png)">', ".html"),
        ("<style>@import 'https://fonts.example/css';</style>", ".html"),
        ('<image xlink:href="http://pictures.example/b.png"/>', ".svg"),
        ("@font-face { src: url('https://fonts.example/f.woff2') }", ".css"),
    ],
)
def test_what_a_browser_would_load_is_found(text, suffix):
    assert len(outside.loaded_by(text, suffix)) == 1


def test_links_and_own_files_are_no_loads():
    text = """<link rel="canonical" href="https://pairity.example/"><link rel="icon" href="icon.png">
    <script src="assets/x.js"></script><a href="https://elsewhere.example">there</a>
    <svg xmlns="http://www.w3.org/2000/svg"></svg><p>url(https://in.the/text)</p>"""
    assert outside.loaded_by(text, ".html") == []
    assert outside.loaded_by("a { background: url(../b.png) }", ".css") == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built with every warning an error."""
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(package, reason="MkDocs comes with the docs extra: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder


def test_the_built_site_is_whole(site):
    assert list(outside.outside(site)) == []
    text = re.sub("<[^>]+>", "", (site / "add-a-kernel.html").read_text(encoding="utf-8"))
    assert "class Identity(" in text
    assert (site / "experiments" / "results" / "graphs.png").exists()
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    assert str(ROOT) not in "".join(pages)


def test_search_works_from_the_disk(site):
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome-stable"))), None)
    if browser is None:
        pytest.skip("no Chromium is installed to look at the site with")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    address = (site / "index.html").as_uri() + "?q=diffusion"
    command = [browser, *options, "--virtual-time-budget=20000", "--dump-dom", address]
    page = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.search(r"md-search-result__meta\">\d+ matching documents", page)
