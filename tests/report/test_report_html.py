# SPDX-License-Identifier: BSD-3-Clause
"""The pages that test_report compares with: well-formed, complete in themselves, nothing of the job's in their marks."""
import html.parser
import pathlib

import pytest

PAGES = sorted((pathlib.Path(__file__).resolve().parent / "expected").glob("*.html"))
VOID = {"meta"}


class Page(html.parser.HTMLParser):
    """Notes every element; one that is closed in the wrong place is an error."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = set()
        self.words = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick", "onload"}, attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_there_are_pages():
    assert len(PAGES) >= 4


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_is_well_formed(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    assert page.open == []
    assert page.seen <= {"html", "head", "meta", "style", "title", "body", "header", "main", "h1", "h2", "h3", "p", "span", "dl",
                         "dt", "dd", "time", "article", "div", "table", "tr", "th", "td", "section", "details", "summary", "svg",
                         "g", "defs", "script", "marker", "path", "rect", "text"}


def test_names_of_the_job_are_text():
    path = next(path for path in PAGES if path.stem == "mixture")
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert any('odd \\x1b[31m"ones" \\u00e4' in words for words in page.words)
