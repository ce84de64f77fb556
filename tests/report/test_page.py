# SPDX-License-Identifier: BSD-3-Clause
"""The page in a headless Chromium: no errors, pictures, filter, sorting, keyboard, a narrow screen, print, light and dark,
10^5 ranks."""
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

from browser import CHROMIUM, Browser

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "replay"))

import packs # noqa: E402

BUILD = pathlib.Path(os.environ.get("MPIQ_BUILD", "build"))
RECORDED = pathlib.Path(__file__).resolve().parent.parent / "replay" / "recorded"
# Kinds of findings: a circle, a message never sent, one gone astray, a rank missing, one that ended, calls that differ.
CASES = ["receives_in_a_ring_5", "one_message_forgotten_24", "wrong_destination", "barrier_skipped", "one_dead",
         "barrier_allreduce_swapped", "ping_pong"]

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium")


@pytest.fixture(scope="module")
def browser():
    one = Browser()
    yield one
    one.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run([BUILD / "tests/replay/replay", "--pages", RECORDED, "openmpi+record", folder], check=True)
    return folder


def made(folder, ranks):
    """The page of a made-up hang: all but one are in a collective."""
    said = subprocess.run([BUILD / "bench/job-bench", str(ranks), "page"], capture_output=True, text=True, check=True).stdout
    path = folder / f"made-{ranks}.html"
    path.write_text(said.split("\n", 1)[1])
    return path


# A command that shows something of a job, and what its page has of its own.
COMMANDS = {"why 0": "and back to step 1: a circle", "ranks": "of 24 ranks", "queues": "Posted receives", "collectives": "MPI_Barrier",
            "comms": "MPI_COMM_WORLD", "stacks": "Stacks", "history 0,23": "Last MPI calls of rank 23"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Of a recorded case."""
    path = tmp_path_factory.mktemp("snapshot") / "job.mpiq"
    for pack in sorted((RECORDED / "openmpi+record").glob("*.zst")):
        lines = packs.decompressed(pack.read_bytes()).decode().split("\ncase ")
        for case in lines:
            if case.removeprefix("case ").startswith("one_message_forgotten_24 "):
                ranks = [line for line in case.splitlines() if re.match(r"[12] {", line)]
                path.write_bytes(packs.SNAPSHOT + packs.compressed("".join(f"{line}\n" for line in ranks).encode()))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_a_command(browser, tmp_path, snapshot, command):
    """Its own part first, then who waits for whom and the ranks, with the style and the script of all pages."""
    page = tmp_path / "page.html"
    done = subprocess.run([os.environ["MPIQ"], *command.split(), "--html", page, snapshot], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    for width in (1200, 360):
        browser.open(page, width=width)
        assert browser.errors == []
        assert browser.ask("document.documentElement.scrollWidth") <= width
    text = browser.ask("document.body.innerText")
    assert text.startswith("deadlock: none of the 24 ranks can continue")
    assert COMMANDS[command] in text and "Who waits for whom" in text
    assert len(rows(browser)) == 24


def rows(browser, table="#ranks-tools"):
    return browser.ask(f"[...document.querySelectorAll('{table} tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")


@pytest.mark.parametrize("case", CASES)
def test_no_errors_light_and_dark(browser, pages, case):
    seen = set()
    for dark in (False, True):
        browser.open(pages / f"{case}.html", dark=dark)
        assert browser.errors == []
        seen.add(browser.ask("getComputedStyle(document.body).backgroundColor"))
        assert browser.ask("document.querySelectorAll('h1').length") == 1
    assert len(seen) == 2


@pytest.mark.parametrize("case", CASES)
def test_a_narrow_screen(browser, pages, case):
    browser.open(pages / f"{case}.html", width=360, height=800)
    assert browser.ask("document.documentElement.scrollWidth") <= 360
    lines = browser.ask("""[...document.querySelectorAll('.nb')].filter(one => one.getClientRects().length > 1)
                           .map(one => one.textContent)""")
    assert lines == [] # "rank 0" stands on one line


@pytest.mark.parametrize("case,red", [("receives_in_a_ring_5", 5), ("one_message_forgotten_24", 2), ("ping_pong", 0)])
def test_the_ranks_of_a_circle_are_red(browser, pages, case, red):
    browser.open(pages / f"{case}.html")
    colours = browser.ask("""[...document.querySelectorAll('svg.waits .node')].map(node =>
        [node.classList.contains('circle'), getComputedStyle(node.querySelector('rect')).stroke])""") or []
    assert [circle for circle, _ in colours].count(True) == red
    assert len({stroke for circle, stroke in colours if circle}) <= 1
    assert not {stroke for circle, stroke in colours if circle} & {stroke for circle, stroke in colours if not circle}
    edges = browser.ask("document.querySelectorAll('svg.waits .edge.circle').length")
    assert edges == red # each waits for the next one


def test_boxes_do_not_overlap(browser, pages):
    for case in CASES:
        browser.open(pages / f"{case}.html")
        overlaps = browser.ask("""(() => {
            const boxes = [...document.querySelectorAll('svg.waits .node rect')].map(one => one.getBoundingClientRect());
            return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
        })()""")
        assert overlaps == 0, case


def test_a_stray_message_is_dashed(browser, pages):
    browser.open(pages / "wrong_destination.html")
    assert browser.ask("getComputedStyle(document.querySelector('svg.waits .edge.stray')).strokeDasharray") not in ("none", None)


def test_filter_and_sort(browser, pages):
    browser.open(pages / "one_message_forgotten_24.html")
    assert len(rows(browser)) == 24
    browser.ask("document.getElementById('filter-ranks').focus()")
    browser.type("0,20-23")
    assert [row[0] for row in rows(browser)] == ["0", "20", "21", "22", "23"]
    browser.ask("document.querySelector('#ranks-tools th button').click()")
    assert [row[0] for row in rows(browser)] == ["23", "22", "21", "20", "0"]
    assert browser.ask("document.querySelector('#ranks-tools th').getAttribute('aria-sort')") == "descending"
    browser.ask("""(() => { const list = [...document.querySelectorAll('#ranks-tools select')][1];
                   list.value = 'MPI_Waitall'; list.dispatchEvent(new Event('change')); })()""")
    assert [row[0] for row in rows(browser)] == ["0"]
    assert browser.ask("document.getElementById('rank-count').textContent") == "1 of 24 ranks"
    browser.type("x")
    assert browser.ask("document.getElementById('filter-ranks').getAttribute('aria-invalid')") == "true"
    assert browser.errors == []


def test_the_keyboard_opens_a_rank(browser, pages):
    browser.open(pages / "one_message_forgotten_24.html")
    browser.ask("document.getElementById('grid').focus()")
    for key in ("End", "Enter"):
        browser.key(key)
    text = browser.ask("document.getElementById('rank').innerText")
    assert text.startswith("Rank 23\n")
    assert browser.ask("document.activeElement.textContent") == "Rank 23"
    assert "back to rank 23: a circle" in text
    assert "MPI_Barrier, 10 s so far" in text # its last calls
    browser.ask("document.querySelector('button.open').focus()")
    browser.key("Enter")
    text = browser.ask("document.getElementById('rank').innerText")
    assert text.startswith("Rank 0\n") and "receive from rank 23, tag 42 on MPI_COMM_WORLD" in text
    assert browser.errors == []


def test_zoom_in_time(browser, pages):
    browser.open(pages / "one_message_forgotten_24.html")
    width = "document.querySelector('svg.history').getBoundingClientRect().width"
    bar = "document.querySelector('svg.history .call.stuck').getBoundingClientRect().width"
    before = browser.ask(width), browser.ask(bar)
    press = "[...document.querySelectorAll('#time .tools button')].find(one => one.textContent == '{}').click()"
    browser.ask(press.format("Zoom in"))
    assert browser.ask(width) > 1.5 * before[0] and browser.ask(bar) > 1.9 * before[1]
    browser.ask(press.format("All"))
    assert (browser.ask(width), browser.ask(bar)) == before
    assert browser.errors == []


def test_print(browser, pages):
    browser.open(pages / "wrong_destination.html")
    assert browser.printed().startswith(b"%PDF")
    browser.open(pages / "wrong_destination.html", media="print")
    assert browser.ask("getComputedStyle(document.querySelector('.tools')).display") == "none"
    browser.ask("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.ask("document.querySelectorAll('details:not([open])').length") == 0


def test_colours_can_be_told_apart(browser, pages):
    """By their brightness alone, or by the letter that each of them has: no two states share both."""
    browser.open(pages / "ping_pong.html")
    assert browser.ask("new Set(Object.values(letters)).size == states.length")
    assert browser.ask("new Set(states.map(colour)).size == states.length")


@pytest.mark.parametrize("ranks", [9, 64, 100000])
def test_many_ranks(browser, tmp_path, ranks):
    path = made(tmp_path, ranks)
    assert path.stat().st_size <= 2_000_000
    begin = time.monotonic()
    browser.open(path)
    counted = browser.ask("document.getElementById('rank-count').textContent")
    took = time.monotonic() - begin
    assert counted == f"{ranks} of {ranks} ranks"
    print(f"{ranks} ranks: {path.stat().st_size} bytes, {took:.2f} s")
    spent = browser.ask("performance.getEntriesByType('navigation')[0].loadEventEnd")
    print(f"loaded in {spent:.0f} ms")
    browser.ask("document.getElementById('grid').focus()")
    browser.key("End")
    assert browser.ask("document.getElementById('grid-told').textContent").startswith(f"rank {ranks - 1}: stuck")
    assert len(rows(browser)) == min(ranks, 100)
    assert browser.errors == []
