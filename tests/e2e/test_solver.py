# SPDX-License-Identifier: BSD-3-Clause
"""The main job: the example solver has taken its wrong turn, and mpiq says why it hangs."""
import html
import os
import re

import pytest

from support.answers import ROOT, line_of, without_times
from support.conditions import wait_until

SOURCE = ROOT / "examples" / "solver.c"
BCAST_LINE = line_of(SOURCE, "MPI_Bcast(parameters")
RECEIVE_LINE = line_of(SOURCE, "MPI_Recv(&answer")


@pytest.fixture(scope="module")
def report(hung, mpiq):
    return mpiq.of_hung(hung.pid).json


def test_waiting_times_are_shown(hung, mpiq):
    """Each wait has its length, as soon as it has polled for a while."""
    def times():
        return [rank.get("since", 0) for rank in mpiq.json("ranks", hung.pid)["ranks"]]

    since = wait_until(lambda: [now for now in [times()] if min(now) > 0], times)[0]
    later = [rank["since"] for rank in mpiq.json("ranks", hung.pid)["ranks"]]
    assert all(after >= before for before, after in zip(since, later))


def test_each_view_is_a_part_of_the_report(report, hung, mpiq):
    # What the recorder saw of a rank's last calls is told by the report alone.
    report = {**report, "ranks": [{key: value for key, value in rank.items() if key != "last_calls"}
                                  for rank in report["ranks"]]}
    for view, part in (("collectives", "communicators"), ("queues", "ranks")):
        answer = mpiq.json(view, hung.pid)
        assert answer["verdict"] == "deadlock"
        assert without_times(answer[part]) == without_times(report[part]), view
    assert [rank["rank"] for rank in mpiq.json("ranks", hung.pid)["ranks"]] == [0, 1, 2, 3]
    comms = mpiq.json("comms", hung.pid)["communicators"]
    assert [comm["name"] for comm in comms][:1] == ["MPI_COMM_WORLD"]


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_why(rank, hung, mpiq):
    """Each chain ends at the same cause."""
    answer = mpiq.json("why", rank, hung.pid)
    assert answer["verdict"] == "deadlock"
    text = mpiq("why", rank, hung.pid).out
    assert f"solver.c:{RECEIVE_LINE}" in text
    assert f"solver.c:{BCAST_LINE}" in text


def test_text_of_the_report(hung, mpiq):
    answer = mpiq(hung.pid)
    assert answer.status == 1
    assert answer.err == ""
    for words in ("deadlock", "MPI_Bcast", "collective 6 on MPI_COMM_WORLD", "0,2-3", "rank 1", "99", f"solver.c:{BCAST_LINE}",
                  f"solver.c:{RECEIVE_LINE}"):
        assert words in answer.out, answer.out
    assert "\033" not in answer.out
    assert len(answer.out.splitlines()) <= 50


@pytest.mark.parametrize("view, words", [
    ("collectives", ["MPI_COMM_WORLD", "MPI_Bcast", "0,2-3", "6", "5"]),
    ("queues", ["MPI_COMM_WORLD", "99", "98"]),
    ("comms", ["MPI_COMM_WORLD", "0-3"]),
    ("ranks", ["MPI_Bcast", "MPI_Recv", f"solver.c:{BCAST_LINE}", f"solver.c:{RECEIVE_LINE}"]),
])
def test_text_of_a_view(view, words, hung, mpiq):
    answer = mpiq(view, hung.pid)
    assert answer.status == 1
    for word in words:
        assert word in answer.out, answer.out


def test_internal_traffic_on_request(hung, mpiq):
    """What the broadcast itself waits for is not the user's queue, but is there."""
    ranks = mpiq.json("queues", "--all", hung.pid)["ranks"]
    assert any(operation["tag"] != "any" and operation["tag"] < 0
               for rank in ranks for operation in rank["receives"])


def test_only_some_ranks(hung, mpiq):
    assert [rank["rank"] for rank in mpiq.json("--ranks", "1-2", hung.pid)["ranks"]] == [1, 2]


@pytest.mark.parametrize("name", ["MPI_COMM_SELF", "1"])
def test_only_one_communicator(name, hung, mpiq):
    """By its name, and by its number among the communicators."""
    every = mpiq.json("comms", hung.pid)["communicators"]
    wanted = [comm["name"] for comm in every if name in (comm["name"], str(comm["comm"]))]
    assert 0 < len(wanted) < len(every)
    for view in ("comms", "collectives"):
        found = mpiq.json(view, "--comm", name, hung.pid)["communicators"]
        assert [comm["name"] for comm in found] == wanted
    assert "MPI_COMM_WORLD" not in mpiq("comms", "--comm", "MPI_COMM_SELF", hung.pid).out


def test_width_of_the_text(hung, mpiq):
    """As whoever shows it says: COLUMNS."""
    text = mpiq(hung.pid, env={**os.environ, "COLUMNS": "80"}).out
    assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, mpiq(hung.pid).out.splitlines())) > 80


def test_color_on_request(hung, mpiq):
    assert "\033[" in mpiq("--color", "always", hung.pid).out


def test_any_rank_is_as_good_as_the_launcher(report, hung, mpiq):
    answer = mpiq.json(hung.pids[2])
    assert without_times(answer["findings"]) == without_times(report["findings"])


def test_stopped_while_read(report, hung, mpiq):
    answer = mpiq.json("--stop", hung.pid)
    assert without_times(answer["findings"]) == without_times(report["findings"])


def test_snapshot_says_the_same(report, hung, mpiq, tmp_path):
    snapshot = tmp_path / "job.mpiq"
    assert mpiq("snapshot", "-o", snapshot, hung.pid).err == f"mpiq: wrote the snapshot {snapshot}\n"
    first, second = mpiq("--json", snapshot), mpiq("--json", snapshot)
    assert first.status == 1
    assert first.out == second.out
    assert without_times(first.json["findings"]) == without_times(report["findings"])


def test_page(hung, mpiq, tmp_path):
    page = tmp_path / "job.html"
    answer = mpiq("--html", page, hung.pid)
    assert (answer.status, answer.out, answer.err) == (1, "", f"mpiq: wrote the page {page}\n")
    text = page.read_text()
    assert "<html" in text and "MPI_Bcast" in text
    for fact in ("Program", "Command", "User", "Looked at"):
        assert f"<dt>{fact}</dt><dd>" in text, fact
    here = re.findall('<span class="here">(.*?)</span>', text)
    assert here and f"{RECEIVE_LINE}  " in here[0] and "MPI_Recv(&answer" in html.unescape(here[0])


def test_a_page_has_no_source_lines_that_may_be_others(hung, mpiq, tmp_path):
    """Not of a source that is newer than the program, nor of a snapshot."""
    snapshot, page = tmp_path / "job.mpiq", tmp_path / "job.html"
    mpiq("snapshot", "-o", snapshot, hung.pid)
    mpiq("--html", page, snapshot)
    assert 'class="here"' not in page.read_text() and "<dt>Command</dt>" in page.read_text()
    before = os.stat(SOURCE)
    os.utime(SOURCE)
    try:
        mpiq("--html", page, hung.pid)
    finally:
        os.utime(SOURCE, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert 'class="here"' not in page.read_text()


@pytest.mark.parametrize("command,words", [(["why", "2"], "waits for rank 1: "), (["queues"], ""), (["ranks"], ""), (["comms"], "MPI_COMM_WORLD"),
                                           (["collectives"], "MPI_Bcast"), (["history", "0"], "MPI_Bcast")])
def test_each_command_has_its_page(hung, mpiq, tmp_path, command, words):
    page = tmp_path / "job.html"
    assert mpiq(*command, "--html", page, hung.pid).status == 1
    text = re.sub("</?span[^>]*>", "", page.read_text())
    assert words in text.split("<main>")[1].split('id="waits"')[0] and 'id="ranks-tools"' in text


def test_doctor(hung, mpiq):
    answer = mpiq("doctor", hung.pid)
    assert answer.status == 0
    assert answer.out
