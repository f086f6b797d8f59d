"""Both reports in a real browser: quiet, alone, sorted, searched, and looked at."""

from pathlib import Path

import numpy as np
import pytest
from browser import Browser, executable
from made import SMALL, matcher, photographs, ranker, tournament

from pairity import PairClassifierCV, PairDrawClassifier, Pairs
from pairity.app.report import write_report

SHOTS = Path(__file__).resolve().parents[2] / "build" / "report-screenshots"

pytestmark = pytest.mark.skipif(
    executable() is None, reason="no Chromium is installed (on Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def browser():
    running = Browser()
    try:
        running.start()
    except RuntimeError as error:
        pytest.skip(f"{executable()} is installed but does not start: {error}")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    directory = tmp_path_factory.mktemp("reports")
    pairs, y, _ = tournament(26)
    odd = directory / "antisymmetric.html"
    names = ["strength", "<b>hair</b>"]
    write_report(ranker(pairs, y), pairs, y, odd, limits=SMALL, feature_names=names)
    pairs, y = photographs()
    even = directory / "symmetric.html"
    write_report(matcher(pairs, y), pairs, y, even, limits=SMALL)
    dated = directory / "dated.html"
    write_report(*seasons(), dated, limits=SMALL, dates=True)
    return {"antisymmetric": odd, "symmetric": even, "dated": dated}


def seasons():
    """An automatic model of games with dates, draws, a home side and names of some length."""
    pairs, y, margin = tournament(26)
    home = np.random.default_rng(0).choice([-1.0, 1.0], size=len(pairs))
    pairs = Pairs(
        pairs.objects,
        pairs.first,
        pairs.second,
        antisymmetric=home[:, np.newaxis],
        ids=[f"Liechtenstein {row}" for row in range(26)],
        time=18_000 + np.arange(len(pairs)),
    )
    y = np.where(np.abs(margin) < 0.3, 0, y)
    model = PairDrawClassifier(PairClassifierCV("antisymmetric", cv=2), cv=2)
    return model.fit(pairs, y), pairs, y


#: Tables, charts and cards of which a part is out of sight until somebody scrolls.
TOO_WIDE = (
    "[...document.querySelectorAll('.scroll, .card, .tile, figure')]"
    ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.innerText.slice(0, 60))"
)


#: Colours do not depend on the width, nor lengths on colours: each of them once for each page.
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)], ids=["narrow", "dark"])
@pytest.mark.parametrize("name", ["antisymmetric", "symmetric", "dated"])
def test_a_page_is_quiet_alone_and_fits(browser, reports, name, width, dark):
    browser.open(reports[name], width, dark=dark)
    assert browser.run("document.querySelectorAll('section').length") >= 5
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(TOO_WIDE) == []
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in background[4:-1].split(","))
    assert (light < 200) == dark
    browser.screenshot(SHOTS / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    assert browser.complaints() == []
    assert browser.requests() == [reports[name].resolve().as_uri()]


ROWS = "[...document.querySelectorAll('#ranking-table tbody tr')]"


def test_a_click_sorts_and_another_one_turns_round(browser, reports):
    browser.open(reports["antisymmetric"], 1280)

    def column(place):
        return browser.run(f"{ROWS}.map(r => r.cells[{place}].textContent)")

    def click(place):
        browser.run(f"document.querySelectorAll('#ranking-table thead th')[{place}]"
                    ".querySelector('button').click()")  # fmt: skip

    ranks = [int(text) for text in column(0)]
    assert ranks == sorted(ranks)
    click(0)
    click(0)
    assert [int(text) for text in column(0)] == sorted(ranks, reverse=True)
    click(1)
    assert column(1) == sorted(column(1))
    click(3)
    scores = [float(text.replace("−", "-")) for text in column(3)]
    assert scores == sorted(scores, reverse=True)
    sort = "document.querySelectorAll('#ranking-table thead th')[3].getAttribute('aria-sort')"
    assert browser.run(sort) == "descending"
    assert browser.complaints() == []


def test_typing_finds_and_emptying_brings_back(browser, reports):
    browser.open(reports["antisymmetric"], 1280)
    visible = f"{ROWS}.filter(r => !r.hidden).map(r => r.cells[1].textContent)"
    assert len(browser.run(visible)) == 20  # of 26, until asked for more
    for typed, expected in (("TEAM 13", {"team 13"}), ("nobody", set())):
        browser.run(
            "(() => { const box = document.querySelector('[data-search=ranking-table]');"
            f" box.value = '{typed}'; box.dispatchEvent(new Event('input')); }})()"
        )
        assert set(browser.run(visible)) == expected
    browser.run(
        "(() => { const box = document.querySelector('[data-search=ranking-table]');"
        " box.value = ''; box.dispatchEvent(new Event('input'));"
        " document.querySelector('#ranking .more').click(); })()"
    )
    assert len(browser.run(visible)) == 26


def test_the_pointer_shows_a_cell_of_the_matrix_and_its_swap(browser, reports):
    browser.open(reports["antisymmetric"], 1280)
    box = browser.run(
        "(() => { const m = document.querySelector('svg.matrix .cells .ground');"
        " m.scrollIntoView({block: 'center'}); const b = m.getBoundingClientRect();"
        " return [b.x, b.y, b.width, b.height]; })()"
    )
    browser.settle()
    size = box[2] / 26
    browser.move(box[0] + 5.5 * size, box[1] + 1.5 * size)  # second row, sixth column
    said = browser.run("document.querySelector('.matrix-tip').textContent")
    names = browser.run("JSON.parse(document.getElementById('matrix-data').textContent).names")
    assert said.startswith(f"{names[1]} beside {names[5]}: ")
    chances = [float(part.split("%")[0].split(":")[-1]) for part in said.split("swapped")]
    assert sum(chances) == pytest.approx(100.0, abs=0.11)


def test_values_appear_under_the_pointer(browser, reports):
    browser.open(reports["symmetric"], 1280)
    place = browser.run(
        "(() => { const d = document.querySelector('#scores .dot'); d.scrollIntoView("
        "{block: 'center'}); const b = d.getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    browser.settle()
    browser.move(*place)
    assert "predicted" in browser.run("document.querySelector('.tip').textContent")
    assert browser.run("document.querySelector('.tip').hidden") is False


def test_the_browser_would_report_a_mistake(browser, tmp_path):
    """The checks above can fail: a page that throws and one that asks for something."""
    page = tmp_path / "broken.html"
    page.write_text("<!DOCTYPE html><img src='missing.png'><script>undefinedName()</script>")
    browser.open(page, 390)
    assert browser.complaints()
    assert len(browser.requests()) == 2
