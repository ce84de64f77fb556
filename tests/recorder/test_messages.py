# SPDX-License-Identifier: BSD-3-Clause
"""`mpiq history`: which receive belongs to which send."""
import json
import os
import pathlib
import re

import pytest

from support import conditions
from support import schema
from two_ranks import two_ranks

HERE = pathlib.Path(__file__).resolve().parent
LINES = {number: name for number, line in enumerate((HERE / "messages.c").read_text(encoding="utf-8").splitlines(), 1)
         for name in re.findall(r"/\* ((?:even|odd) \w+|lost|hang) \*/", line)}


@pytest.fixture(name="ask", scope="module", params=[(library, rounds) for library in ("mpich", "openmpi") for rounds in ("201", "6")],
                ids=lambda param: "-".join(param))
def fixture_ask(request, tmp_path_factory):
    """ask(words…): what mpiq says of the hung job."""
    library, rounds = request.param
    with two_ranks(library, HERE / "messages.c", tmp_path_factory.mktemp(library), rounds) as wait:
        pids = wait(lambda pids: pids)

        def ask(*words):
            return conditions.run([os.environ["MPIQ"], *words, *pids], seconds=120).stdout

        conditions.wait_until(lambda: json.loads(ask("--json"))["verdict"] == "deadlock", lambda: ask("history", "0-1"))
        yield ask


def calls(ask):
    answer = json.loads(ask("history", "0-1", "--json"))
    assert schema.misfit(answer) == ""
    return [one["calls"] for one in answer["histories"]]


def of(call):
    return LINES.get(call["site"]["line"], "") if "site" in call else ""


def test_even_belongs_to_even(ask):
    rounds, pairs = 0, 0
    for rank, own in enumerate(calls(ask)):
        for call in own:
            if not of(call).startswith(("even", "odd")):
                continue
            rounds += 1
            if "message" not in call:
                continue
            pairs += 1
            other = call["message"]
            assert other["rank"] == 1 - rank
            kind, end = of(call).split()
            assert of(other) == f"{kind} {'receive' if end == 'send' else 'send'}", (call, other)
    assert pairs >= 0.9 * rounds > 0 # all but those whose other end is older than what is kept


def test_nobody_has_received_it(ask):
    first, second = calls(ask)
    lost, = [call for call in first if of(call) == "lost"]
    assert lost["message"] == {"received": False}
    hang, = [call for call in second if of(call) == "hang"]
    assert "message" not in hang
    text = ask("history", "0")
    assert "-> nobody has received it" in text and "-> rank 1 MPI_Irecv messages.c:" in text


def test_lines_in_the_page(ask, tmp_path):
    ask("history", "0-1", "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(re.findall(r'<path class="message"', page)) >= 4
    assert "<title>tag 3 from rank 0 to rank 1</title>" in page and "tag 41 from" not in page
