"""The page: one well-formed file, nothing from outside, nothing of the user's left unescaped."""

import inspect
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from made import SMALL, matcher, photographs, ranker, tournament

from pairity import PairRidge, Pairs, PairSVC
from pairity.app.report import gather, render, write_report

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "a & b; &lt;",
    "\x00 zero\x1b",
    "&#60;script&#62;",
    "<!-- comment",
    "]]>",
    "' onclick='alert(3)",
    "ünïcode ☃ 𝛼",
    "\u202eright to left",
    "",
    "javascript:alert(4)",
    "x" * 300,
    "</style><style>",
    "file\tname\n",
]
VOID = {"meta", "link", "br", "input", "img"}


class Reader(HTMLParser):
    """Elements with their attributes; complains about elements that do not nest."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open, f"</{name}> without a beginning"
        assert self.open[-1] == name, f"</{name}> inside <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        inside = self.open[-1] if self.open else None
        if inside not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def hostile_page():
    pairs, y, _ = tournament(18, ids=list(HOSTILE))
    model = ranker(pairs, y)
    data = gather(
        model,
        pairs,
        y,
        title=HOSTILE[0],
        feature_names=[HOSTILE[1], HOSTILE[2]],
        label_names={1: HOSTILE[3], -1: HOSTILE[10]},
        test=(pairs, y),
        test_name=HOSTILE[2],
        limits=SMALL,
    )
    return render(data)


@pytest.fixture(scope="module")
def pages(hostile_page):
    pairs, y = photographs()
    even = render(gather(matcher(pairs, y), pairs, y, limits=SMALL))
    pairs, y, margin = tournament(9)
    model = PairRidge("antisymmetric", kernel="linear").fit(pairs, margin)
    number = render(gather(model, pairs, margin, limits=SMALL))
    free = PairSVC("none", kernel="gaussian").fit(pairs, y)
    return [hostile_page, even, number, render(gather(free, pairs, y, limits=SMALL))]


def test_elements_nest_and_ids_are_unique(pages):
    for page in pages:
        read = Reader(page)
        ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        targets = [a["href"][1:] for n, a in read.elements if n == "a"]
        assert set(targets) <= set(ids)
        assert page.startswith("<!DOCTYPE html>")


def test_nothing_comes_from_outside(pages):
    for page in pages:
        read = Reader(page)
        for name, attributes in read.elements:
            for key in ("src", "srcset", "action", "data", "poster", "xlink:href"):
                assert key not in attributes, (name, attributes)
            if "href" in attributes:
                assert attributes["href"].startswith("#") or attributes["href"] == "data:,"
            assert not any(key.startswith("on") for key in attributes), (name, attributes)
            assert "style" not in attributes
        style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
        assert "url(" not in style
        assert "@import" not in style
        assert "://" not in style
        policy = next(a["content"] for n, a in read.elements if a.get("http-equiv"))
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy


def test_hostile_names_stay_text(hostile_page):
    read = Reader(hostile_page)
    names = [name for name, _ in read.elements]
    assert names.count("script") == 2  # the numbers and the page's own
    assert names.count("style") == 1
    assert "img" not in names
    assert "\x00" not in hostile_page
    assert "\x1b" not in hostile_page
    texts = "".join(read.texts)
    for name in (HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3], HOSTILE[5], HOSTILE[11]):
        assert name in texts
    assert "{{ 7 * 7 }}" in hostile_page  # not evaluated


def test_numbers_for_the_pointer_are_json(hostile_page):
    content = re.search(
        r'<script type="application/json" id="matrix-data">(.*?)</script>', hostile_page, re.DOTALL
    )[1]
    data = json.loads(content)
    assert set(data["names"]) == set(HOSTILE)
    assert np.shape(data["values"]) == (18, 18)


def test_a_file_is_written_whole_and_twice_the_same(tmp_path):
    pairs, y, _ = tournament(9)
    model = ranker(pairs, y)
    paths = [tmp_path / "one.html", tmp_path / "two.html"]
    for path in paths:
        write_report(model, pairs, y, path, limits=SMALL)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == paths  # no temporary file is left
    assert len(paths[0].read_bytes()) < 300_000
    with pytest.raises(ValueError, match="expected one per pair"):
        write_report(model, pairs, y[:-1], paths[0])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_lone_surrogates_do_not_stop_a_report(tmp_path):
    pairs, y, _ = tournament(9)
    path = tmp_path / "r.html"
    write_report(ranker(pairs, y), pairs, y, path, limits=SMALL, title="\ud800 half a pair")
    assert "half a pair" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_page_says_what_the_numbers_say():
    pairs, y, _ = tournament()
    data = gather(ranker(pairs, y), pairs, y, limits=SMALL, title="Eighteen teams")
    page = "".join(Reader(render(data)).texts)
    accuracy = data.settings[0].figures["accuracy"]
    assert f"{100 * accuracy.value:.1f} ± {100 * accuracy.error:.1f}\u00a0%" in page
    assert "swap law exact" in page
    assert data.ranking.objects[0].name in page
    assert f"holds bit for bit on all {data.swap.n_pairs:,} pairs tried" in page
    assert "Eighteen teams" in page


def test_pairs_without_ids_are_numbered():
    pairs, y, _ = tournament(9)
    bare = Pairs(pairs.objects, pairs.first, pairs.second)
    assert "object 3" in render(gather(ranker(bare, y), bare, y, limits=SMALL))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["one"]}, "got 1 names of features"),
        ({"feature_names": 3}, "expected a list, or a mapping"),
        ({"groups": [1, 2]}, "got groups of shape"),
        ({"test": (tournament(9)[0], [1])}, "got 1 labels for 36 test pairs"),
        ({"objects": np.ones((1, 2))}, "fewer than 2 objects"),
    ],
)
def test_bad_options_are_refused(options, message):
    pairs, y, _ = tournament(9)
    with pytest.raises(ValueError, match=message):
        gather(ranker(pairs, y), pairs, y, limits=SMALL, **options)


def test_the_docstring_names_every_option():
    options = list(inspect.signature(gather).parameters)[3:]
    assert "dates" in options
    assert all(f"``{name}``" in write_report.__doc__ for name in options)
