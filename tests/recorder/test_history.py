# SPDX-License-Identifier: BSD-3-Clause
"""`mpiq history`: the last calls of a rank as a table, as JSON, in a snapshot and as a picture."""
import html
import json
import os
import pathlib
import re

import pytest

from support import conditions
from support import schema
from support.terminal import Terminal
from two_ranks import two_ranks

HERE = pathlib.Path(__file__).resolve().parent

LIBRARIES = ["mpich", "openmpi"]


@pytest.fixture(name="job", scope="module", params=LIBRARIES)
def fixture_job(request, tmp_path_factory):
    """Runs mpiq on the hung job."""
    with two_ranks(request.param, HERE / "history.c", tmp_path_factory.mktemp(request.param)) as wait:
        pids = wait(lambda pids: pids)

        def mpiq(*words, targets=tuple(pids)):
            return conditions.run([os.environ["MPIQ"], *words, *targets], seconds=120)

        # Rank 0 is in its last call, and rank 1 polls until its ring is full of it.
        conditions.wait_until(lambda: "open" in history(mpiq, 0)[-1] and {call["call"] for call in history(mpiq, 1)} == {"MPI_Test"},
                              lambda: history(mpiq, 0)[-2:] + history(mpiq, 1), every=0.1)
        yield mpiq


def history(job, rank, **targets):
    answer = json.loads(job("history", str(rank), "--json", **targets).stdout)
    assert schema.misfit(answer) == ""
    assert answer["history"]["rank"] == rank and answer["history"]["holds"] == "calls"
    return answer["history"]["calls"]


def line_of(text):
    lines = (HERE / "history.c").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_history_is_exactly_what_was_called(job):
    calls = history(job, 0)
    assert len(calls) == 255 # the ring has 256, the oldest of which may be written over while it is read
    assert {call["call"] for call in calls[:-66]} == {"MPI_Barrier"} # what was before them is forgotten
    assert [(call["call"], call["tag"]) for call in calls[-66:-4]] == [("MPI_Send", 5), ("MPI_Send", 6)] * 31
    came, nowhere, bcast, hang = calls[-4:]
    name = '</title><script>"&'
    for call in (came, nowhere, bcast, hang):
        assert call["communicator"] == name and call["site"]["function"] == "main"
    assert (came["call"], came["peer"], came["tag"], came["bytes"]) == ("MPI_Recv", 1, 41, 20)
    assert (nowhere["call"], nowhere["peer"], nowhere["tag"]) == ("MPI_Send", "MPI_PROC_NULL", 3)
    assert (bcast["call"], bcast["root"], bcast["bytes"]) == ("MPI_Bcast", 1, 16)
    assert "peer" not in bcast and "tag" not in bcast
    assert (hang["call"], hang["peer"], hang["tag"], hang["open"]) == ("MPI_Recv", 1, 99, True)
    assert hang["site"]["line"] == line_of("99, comm")
    assert not any("open" in call for call in calls[:-1])
    begins = [-call["ago"] for call in calls]
    assert begins == sorted(begins)
    for call, following in zip(calls, calls[1:]): # one thread's calls do not overlap
        assert call["ago"] - call["took"] >= following["ago"] - 2e-6
    assert abs(hang["ago"] - hang["took"]) < 2e-6


def test_polling_is_one_line(job):
    text = job("history", "1").stdout
    rows = re.findall(r"MPI_Test \((\d+) times\)", text)
    assert len(rows) == 1 and int(rows[0]) > 200, text
    assert "Last MPI calls of rank 1" in text and f"history.c:{line_of('MPI_Test(')}" in text


def test_ranges(job):
    """Of several ranks a list, in their order; of ranks that are not there, those that are."""
    answer = json.loads(job("history", "0-1,5", "--json").stdout)
    assert schema.misfit(answer) == "" and "history" not in answer
    assert [one["rank"] for one in answer["histories"]] == [0, 1]
    assert answer["histories"][0]["calls"][-1]["tag"] == 99
    text = job("history", "0,1").stdout
    assert text.index("Last MPI calls of rank 0") < text.index("Last MPI calls of rank 1")


def test_loops_are_folded(job):
    """Rank 0 went 31 times round two calls."""
    text = job("history", "0").stdout
    head, first, second = re.search(r"^(.* 31 times:.*)\n(.*)\n(.*)\n", text, flags=re.M).groups()
    assert re.search(r"  MPI_Send .* MPI_PROC_NULL +5 +4 ", first) and re.search(r"  MPI_Send .* MPI_PROC_NULL +6 +8 ", second)
    assert text.count("MPI_Send") == 3 and re.search(r"MPI_Barrier \(189 times\)", text), text
    assert float(head.split()[0]) >= float(first.split()[0]) >= float(second.split()[0])


@pytest.mark.parametrize("locale, option, folded, run", [
    ("C.UTF-8", "", "×31", "MPI_Barrier ×189"), ("C.UTF-8", "--plain", "31 times:", "MPI_Barrier (189 times)"),
    ("C", "", "31 times:", "MPI_Barrier (189 times)")], ids=["utf-8", "plain", "ascii"])
def test_folded_on_a_terminal(job, tmp_path, locale, option, folded, run):
    """As many times, with the sign for it where the terminal has it; columns stay below each other."""
    snapshot = tmp_path / "job.mpiq"
    job("snapshot", "-o", snapshot)
    command = ["env", f"LC_ALL={locale}", os.environ["MPIQ"], "history", *filter(None, [option]), "0", snapshot]
    with Terminal(command, tmp_path, columns=160, lines=40) as terminal:
        screen = terminal.wait_for("status ", folded, run)
    heading = next(line for line in screen.splitlines() if "COMMUNICATOR" in line)
    row = next(line for line in screen.splitlines() if run in line)
    assert row[heading.index("COMMUNICATOR") - 1:].startswith(" MPI_COMM_WORLD"), screen


def test_report_has_the_newest(job):
    report = json.loads(job("--json").stdout)
    assert schema.misfit(report) == ""
    last = report["ranks"][0]["last_calls"]
    assert len(last) == 16 and last[-1]["tag"] == 99


def test_snapshot(job, tmp_path):
    file = tmp_path / "job.mpiq"
    assert job("snapshot", "-o", file).returncode == 0
    kept = history(job, 0, targets=[file])
    assert [call["call"] for call in kept] == [call["call"] for call in history(job, 0)]
    assert kept[-1]["tag"] == 99


def test_picture(job, tmp_path):
    file = tmp_path / "page.html"

    def picture():
        return re.search(r'<svg class="history".*?</svg>', file.read_text(encoding="utf-8"), re.DOTALL).group()

    def polling():
        """In place of a bar, of rank 1: where it gets no processor for a while, it stands in one call of MPI_Test."""
        job("--html", file)
        return ">polling<" in picture()

    conditions.wait_until(polling, "rank 1 is seen polling", every=0.1)
    page = file.read_text(encoding="utf-8")
    assert page.count("<script") == 2 # data and script: the program's names are escaped
    svg = picture()
    assert sorted(re.findall(r">(rank \d)<", svg)) == ["rank 0", "rank 1"]
    titles = [html.unescape(title) for title in re.findall("<title>(.*?)</title>", svg)]
    assert any('</title><script>"&' in title for title in titles)
    hang = re.search(r'<rect class="call k2[^"]*" x="(\d+)" y="\d+" width="([\d.]+)"[^>]*><title>MPI_Recv, [^<]* so far',
                     svg)
    width = int(re.search(r'viewBox="0 0 (\d+)', svg).group(1))
    assert abs(float(hang.group(1)) + float(hang.group(2)) - (width - 8)) < 1 # up to the right edge


def test_impossible_requests_are_refused(job):
    for words, wrong in ((("history", "7"), "the job has no rank 7"), (("why", "0-1"), "is not a single rank"),
                         (("history", "0", "7654321"), "history takes one list of ranks")):
        done = job(*words)
        assert done.returncode == 2 and wrong in done.stderr
    done = job("history", targets=[])
    assert done.returncode == 2 and "history needs a rank: mpiq history 3" in done.stderr
