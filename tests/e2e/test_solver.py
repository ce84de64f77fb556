# SPDX-License-Identifier: BSD-3-Clause
"""The main job: the example solver has taken its wrong turn, and mpiq says why it hangs."""
import os
import socket
import time

import pytest
from answers import ROOT, line_of, without_times

SOURCE = ROOT / "examples" / "solver.c"
BCAST_LINE = line_of(SOURCE, "MPI_Bcast(parameters")
RECEIVE_LINE = line_of(SOURCE, "MPI_Recv(&answer")

# Five steps went well, so five broadcasts; then one exchange of edges each.
NUMBER = 6


@pytest.fixture(scope="module")
def report(hung, mpiq):
    answer = mpiq("--json", hung.pid)
    assert answer.status == 1, answer.err
    return answer.json


def site(call, line, function):
    return {"call": call, "file": SOURCE.name, "line": line, "function": function}


def shown_site(found):
    """Of a site what the tests know of: the base name of its file, the rest as it is."""
    return {"call": found["call"], "file": found["file"].rsplit("/", 1)[-1], "line": found["line"],
            "function": found["function"]}


def test_verdict_and_job(report, line, hung):
    assert report["schema"] == 1
    assert report["verdict"] == "deadlock"
    assert report["job"]["size"] == 4
    assert report["job"]["ranks_seen"] == 4
    assert report["job"]["mpi"].startswith(f"Open MPI {line.release}.")
    assert report["job"]["source"] == "patched"
    assert report["job"]["hosts"] == [socket.gethostname()]
    assert hung.process.poll() is None


def test_first_finding(report):
    first = report["findings"][0]
    assert first["kind"] == "collective_incomplete"
    assert first["communicator"] == "MPI_COMM_WORLD"
    assert first["collective"] == "MPI_Bcast"
    assert first["number"] == NUMBER
    assert first["ranks"] == "0,2-3"
    assert first["missing"] == "1"
    assert first["suspects"] == "1"
    assert first["text"]


def test_sites_of_the_first_finding(report):
    sites = {found["ranks"]: shown_site(found) for found in report["findings"][0]["sites"]}
    assert sites == {"0,2-3": site("MPI_Bcast", BCAST_LINE, "share_parameters"),
                     "1": site("MPI_Recv", RECEIVE_LINE, "refine_mesh")}


def test_ranks(report, hung):
    ranks = report["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    assert [rank["pid"] for rank in ranks] == [hung.pids[rank] for rank in range(4)]
    assert {rank["state"] for rank in ranks} == {"blocked"}
    assert [rank["call"] for rank in ranks] == ["MPI_Bcast", "MPI_Recv", "MPI_Bcast", "MPI_Bcast"]


def test_waiting_times(hung, mpiq):
    """Each wait has its length, as soon as it has polled for a while."""
    end = time.monotonic() + 60
    while True:
        since = [rank.get("since", 0) for rank in mpiq.json("ranks", hung.pid)["ranks"]]
        if min(since) > 0:
            break
        assert time.monotonic() < end, since
    later = [rank["since"] for rank in mpiq.json("ranks", hung.pid)["ranks"]]
    assert all(after >= before for before, after in zip(since, later))


def test_queues(report):
    """One receive is posted, and one eager message lies unexpected: nothing else."""
    ranks = report["ranks"]
    assert [rank["sends"] for rank in ranks] == [[], [], [], []]
    assert [len(rank["receives"]) for rank in ranks] == [0, 1, 0, 0]
    assert [len(rank["unexpected"]) for rank in ranks] == [0, 0, 1, 0]
    posted = ranks[1]["receives"][0]
    assert (posted["peer"], posted["peer_local"], posted["tag"], posted["bytes"]) == (3, 3, 99, 8)
    assert (posted["status"], posted["kind"], posted["blocked"]) == ("pending", "receive", True)
    assert (posted["comm"], posted["communicator"]) == (0, "MPI_COMM_WORLD")
    message = ranks[2]["unexpected"][0]
    assert (message["peer"], message["tag"], message["bytes"]) == (1, 98, 4)
    assert message["kind"] == "message"


def test_collectives(report):
    world = report["communicators"][0]
    assert (world["comm"], world["name"], world["members"]) == (0, "MPI_COMM_WORLD", "0-3")
    calls = {row["collective"]: row["calls"] for row in world["collectives"]}
    assert calls == {"MPI_Bcast": [{"ranks": "0,2-3", "count": NUMBER, "active": True},
                                   {"ranks": "1", "count": NUMBER - 1, "active": False}]}


def test_each_view_is_a_part_of_the_report(report, hung, mpiq):
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
    for words in ("deadlock", "MPI_Bcast", "#6", "0,2-3", "rank 1", "99", f"solver.c:{BCAST_LINE}",
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
    assert mpiq("snapshot", "-o", snapshot, hung.pid).err == ""
    first, second = mpiq("--json", snapshot), mpiq("--json", snapshot)
    assert first.status == 1
    assert first.out == second.out
    assert without_times(first.json["findings"]) == without_times(report["findings"])


def test_page(hung, mpiq, tmp_path):
    page = tmp_path / "job.html"
    assert mpiq("--html", page, hung.pid).status == 1
    text = page.read_text()
    assert "<html" in text and "MPI_Bcast" in text


def test_doctor(hung, mpiq):
    answer = mpiq("doctor", hung.pid)
    assert answer.status == 0
    assert answer.out
