# SPDX-License-Identifier: BSD-3-Clause
"""The page of late in a headless Chromium: its lanes show who waited when, and who was waited for."""
import pytest

from archive import Script
from report.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium")

# The edges of bars of a class in a rank's lane, as shares of the lane: left, right, and the largest height.
BARS = """(() => {
    const lanes = [...document.querySelectorAll('svg.late .floor')].map(one => one.getBoundingClientRect());
    const names = [...document.querySelectorAll('svg.late .lane')].map(one => one.textContent);
    return names.map((name, i) => ['waited', 'caused'].map(kind => {
        const bars = [...document.querySelectorAll('svg.late rect.' + kind)].map(one => one.getBoundingClientRect())
            .filter(bar => bar.top >= lanes[i].top - 0.5 && bar.bottom <= lanes[i].bottom + 0.5);
        return bars.length ? [Math.min(...bars.map(bar => (bar.left - lanes[i].left) / lanes[i].width)),
                              Math.max(...bars.map(bar => (bar.right - lanes[i].left) / lanes[i].width)),
                              Math.max(...bars.map(bar => bar.height / lanes[i].height))] : null;
    })).reduce((all, bars, i) => ({...all, [names[i]]: bars}), {});
})()"""


@pytest.fixture(scope="module", name="browser")
def fixture_browser():
    one = Browser()
    yield one
    one.close()


@pytest.fixture(name="page")
def fixture_page(mpiq, tmp_path):
    """Rank 1 waits for rank 0 from 0.2 to 0.6 of 1 s; rank 2 waits for nobody."""
    script = Script(3, ["region wo<rk mesh.c 88"])
    script.call(0, 0.1, 0.6, "wo<rk")
    script.send(0, 0.6, 0.61, 1, 7)
    script.recv(1, 0.2, 0.61, 0, 7)
    script.finish(1)
    path = tmp_path / "late.html"
    answer = mpiq("late", "--html", path, script.write(tmp_path / "a"))
    assert answer.status == 0 and answer.out == ""
    assert answer.err == f"mpiq: wrote the page {path}\n"
    return path


def test_lanes(browser, page):
    for dark in (False, True):
        browser.open(page, dark=dark)
        assert browser.errors == []
    assert browser.ask("document.querySelectorAll('h1').length") == 1
    assert browser.ask("document.querySelector('h1').textContent").startswith("late: the ranks waited 0.40 s in all")
    bars = browser.ask(BARS)
    assert set(bars) == {"rank 0", "rank 1"}
    assert bars["rank 0"][0] is None and bars["rank 1"][1] is None
    for bar in (bars["rank 0"][1], bars["rank 1"][0]):
        assert bar == [pytest.approx(0.2, abs=0.02), pytest.approx(0.6, abs=0.02), pytest.approx(1, abs=0.01)]
    assert browser.ask("document.querySelector('#lanes').textContent").rstrip().endswith(
        "1 other rank waited less, or not at all.")


def test_the_same_as_the_text(browser, page):
    browser.open(page)
    text = browser.ask("document.body.innerText").replace("\u00a0", " ")
    assert "1. Rank 0 at mesh.c:88 (wo<rk) is late by" in text
    assert "Late Sender" in text and "Who was late" in text


def test_a_narrow_screen(browser, page):
    browser.open(page, width=360, height=800)
    assert browser.ask("document.documentElement.scrollWidth") <= 360
