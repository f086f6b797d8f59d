"""Charts: well-formed, escaped, and with things where the numbers say."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.app.report import charts
from pairity.app.report.charts import Scale, nice_ticks, number, short
from pairity.app.report.report_data import (
    Distribution,
    Matrix,
    Reliability,
    ReliabilityBin,
    SearchCurve,
    SearchFacts,
)

DRAWN = charts.environment().get_template("charts.html").module
HOSTILE = "</text><script>alert('1')</script>&\"<"


def parsed(picture):
    return ElementTree.fromstring(picture)


def drawn(picture, name, class_=""):
    return [
        element
        for element in parsed(picture).iter(name)
        if class_ in (element.get("class") or "").split() or not class_
    ]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_ticks_are_few_round_and_inside(low, width, most):
    ticks = nice_ticks(low, low + width, most)
    assert len(ticks) <= most
    room = 1e-6 * width
    assert all(low - room <= tick <= low + width + room for tick in ticks)
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        assert round(step / 10.0 ** np.floor(np.log10(step) + 1e-9), 6) in (1.0, 2.0, 5.0)


def test_numbers_on_axes_are_short():
    assert [short(x) for x in (0.0, -0.5, 1000.0, 12345.0, 0.0001)] == [
        "0", "−0.5", "1000", "1e4", "1e-4",
    ]  # fmt: skip
    assert [number(x) for x in (1.0, -0.001, 2.345, 10.0)] == ["1", "0", "2.35", "10"]
    with pytest.raises(ValueError, match="finite"):
        number(float("nan"))


def test_a_scale_goes_from_end_to_end_and_not_further():
    scale = Scale(0.0, 10.0, 100.0, 0.0)
    assert [scale(x) for x in (0.0, 5.0, 10.0, 20.0)] == [100.0, 50.0, 0.0, 0.0]
    logarithmic = Scale(0.01, 100.0, 0.0, 4.0, logarithmic=True)
    assert logarithmic(1.0) == pytest.approx(2.0)


def test_names_cannot_leave_their_element():
    scale = parsed(DRAWN.legend((HOSTILE, "b")))
    assert scale.get("aria-label") == f"Colours from {HOSTILE} to b"
    assert scale.find("text").text == HOSTILE
    bar = parsed(DRAWN.share_bar([(HOSTILE, 1.0, "one")]))
    assert bar.get("aria-label") == f"{HOSTILE} 100.0 %"
    assert bar.find("rect").get("data-tip") == f"{HOSTILE}: 100.0 %"
    assert scale.find(".//script") is bar.find(".//script") is None


def test_points_of_reliability_are_where_they_belong():
    bins = (ReliabilityBin(0.25, 0.5, 0.4, 0.6, 10), ReliabilityBin(0.75, 1.0, 0.9, 1.0, 40))
    picture = DRAWN.reliability_diagram(
        Reliability(bins, 0.25, 0.2, "seen"), kind="probability", x_name="p", y_name="o"
    )
    first, second = drawn(picture, "circle", "dot")
    x, y = (Scale(0.0, 1.0, 48.0, 384.0), Scale(0.0, 1.0, 276.0, 26.0))
    assert float(first.get("cx")) == pytest.approx(x(0.25), abs=0.01)
    assert float(first.get("cy")) == pytest.approx(y(0.5), abs=0.01)
    assert float(second.get("r")) > float(first.get("r"))
    assert "25 %" in first.get("data-tip")
    assert len(drawn(picture, "line", "whisker")) == 2


def test_bars_are_as_high_as_their_shares():
    """Shares of each label: the three pairs of a rare one stand as high as those of many."""
    found = Distribution((0.0, 1.0, 2.0), {HOSTILE: (40, 20), "b": (0, 3)}, "seen", "score")
    bars = [bar for bar in drawn(DRAWN.histogram(found), "rect", "bar") if bar.get("data-tip")]
    heights = [float(bar.get("height")) for bar in bars]
    assert len(bars) == 3  # no bar for none
    assert heights[0] / heights[1] == pytest.approx(2.0, rel=1e-3)
    assert heights[2] / heights[0] == pytest.approx(1.5, rel=1e-3)


def test_bars_of_tables():
    picture = DRAWN.interval_bar(0.5, 0.25, 0.75, (0.0, 1.0), mark=0.0)
    (interval,) = drawn(picture, "rect", "interval")
    assert float(interval.get("width")) == pytest.approx(75.0)
    assert len(drawn(picture, "line", "zero")) == 1
    assert not drawn(DRAWN.interval_bar(0.5, None, None, (0.0, 1.0)), "rect")
    (bar,) = drawn(DRAWN.plain_bar(-0.1, 0.0, (-0.1, 0.1)), "rect", "two")
    assert float(bar.get("x")) == pytest.approx(2.0)
    shares = drawn(DRAWN.share_bar([("a", 0.75, "one"), ("b", 0.25, "two")]), "rect")
    assert [float(share.get("width")) for share in shares] == [300.0, 100.0]


def test_a_validation_curve_has_a_line_a_kernel():
    curves = tuple(
        SearchCurve(name, (0.1, 1.0, 10.0), (0.6, 0.5, 0.7), (0.1, 0.1, 0.1))
        for name in ("linear", HOSTILE)
    )
    found = SearchFacts("log loss", "C", 1.0, 0, curves, (), (), 5)
    picture = DRAWN.validation_curve(found)
    assert len(drawn(picture, "polyline")) == 2
    assert "held-out log loss" in picture


def matrix(values, names, **options):
    given_ = {"blocks": (0,) * len(names), "quantity": "probability", "order": "rank", "note": ""}
    return Matrix(tuple(names), np.array(values), **(given_ | options))


def test_cells_have_the_colour_and_strength_of_their_value():
    nan = float("nan")
    found = matrix([[nan, 0.9, 0.5], [0.1, nan, nan], [0.5, 0.52, nan]], ["a", HOSTILE, "c"])
    paths = drawn(DRAWN.matrix_picture(found, charts.Colours(0.5, 0.5)), "path")
    cells = {
        (path.get("class").split()[1], float(path.get("fill-opacity"))): path.get("d").count("M")
        for path in paths
    }
    assert cells == {("one", 0.8): 1, ("two", 0.8): 1, ("one", 0.0): 2, ("one", 0.1): 1}


def test_no_gap_between_cells():
    """Each cell ends where the next one begins, to the last decimal: no line is seen between rows."""
    n = 59
    found = matrix(np.full((n, n), 0.9), [f"a name of some length {k}" for k in range(n)])
    ((_, path),) = charts.matrix_cells(found, charts.Colours(0.5, 0.5), 100.8)
    cells = re.findall(r"M(\S+) (\S+?)h(\S+?)v(\S+?)h-(\S+?)z", path)
    assert len(cells) == n * (n - 1)
    spans = {(x, w) for x, _, w, _, _ in cells}, {(y, h) for _, y, _, h, _ in cells}
    for ends in spans:
        sorted_ = sorted((float(start), float(size)) for start, size in ends)
        assert len(sorted_) == n
        for (start, size), (following, _) in itertools.pairwise(sorted_):
            assert round(start + size, 2) == following


def test_groups_are_outlined():
    values = np.full((5, 5), 0.5)
    found = matrix(values, "abcde", blocks=(1, 1, 0, 2, 2), order="cluster")
    picture = DRAWN.matrix_picture(found, charts.Colours(0.0, 1.0))
    assert len(drawn(picture, "rect", "block")) == 2
    many = matrix(np.full((40, 40), 0.5), [f"name {k}" for k in range(40)])
    texts = drawn(DRAWN.matrix_picture(many, charts.Colours(0.0, 1.0)), "text")
    shown = [text.text for text in texts]
    assert shown[:-1] == [f"name {k}" for k in range(0, 40, 2)]  # as many as there is room for
    assert shown[-1] == "rows and columns: the same objects, in the same order"


def test_legends_have_one_or_two_sides():
    assert len(drawn(DRAWN.legend(("0", "1")), "rect", "two")) == 0
    assert len(drawn(DRAWN.legend(("-1", "0", "1")), "rect", "two")) == 10
    assert re.findall(r">(\S+)</text>", DRAWN.legend(("-1", "0", "1"))) == ["-1", "0", "1"]
