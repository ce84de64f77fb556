# SPDX-License-Identifier: BSD-3-Clause
"""The whole report of one hung job, by each way to its processes: alive, frozen while they are read, their core
files, and what gdb has of either, over the wire.  The tests are the same for all."""
import json
import os
import shutil
import socket

import pytest

from support import conditions
from support import schema
from support.answers import ROOT, line_of

SOURCE = ROOT / "examples" / "solver.c"
LOADER = ROOT / "gdb-plugin" / "mpi.py"
BCAST_LINE = line_of(SOURCE, "MPI_Bcast(parameters")
RECEIVE_LINE = line_of(SOURCE, "MPI_Recv(&answer")

# Five steps went well, so five broadcasts; then one exchange of edges each.
NUMBER = 6


@pytest.fixture(scope="module")
def by_gdb(mpiq):
    """The report that gdb shows after these commands of its own."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")

    def ask(*commands):
        words = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", f"source {LOADER}"]
        for command in [f"set mpi mpiq {mpiq.path}", *commands, "mpi report --json"]:
            words += ["-ex", command]
        done = conditions.run(words, seconds=120, env={**os.environ, "MPIQ": mpiq.path})
        assert '{"schema"' in done.stdout, done.stdout + done.stderr
        value, _ = json.JSONDecoder().raw_decode(done.stdout[done.stdout.index('{"schema"'):])
        assert schema.misfit(value) == ""
        return value

    return ask


@pytest.fixture(scope="module", params=["alive", "frozen", "cores", "gdb, alive", "gdb, cores"])
def report(request, hung, mpiq):
    if "gdb" not in request.param:
        words = {"alive": [hung.pid], "frozen": ["--stop", hung.pid]}.get(request.param)
        answer = mpiq("--json", *(words or request.getfixturevalue("cores")))
        assert (answer.status, answer.err) == (1, "")
        return answer.json
    ask = request.getfixturevalue("by_gdb")
    if request.param == "gdb, alive":
        return ask(f"attach {hung.pids[0]}", "mpi attach --all")
    commands = []
    for rank, core in enumerate(request.getfixturevalue("cores")):
        if rank > 0:
            commands += ["add-inferior -no-connection", f"inferior {rank + 1}"]
        commands += [f"file {hung.command[-4]}", f"core {core}"]
    return ask(*commands)


def site(call, line, function):
    return {"call": call, "file": SOURCE.name, "line": line, "function": function}


def shown_site(found):
    """Of a site what the tests know of: the base name of its file, the rest as it is."""
    return {"call": found["call"], "file": found["file"].rsplit("/", 1)[-1], "line": found["line"],
            "function": found["function"]}


def test_verdict_and_job_are_as_expected(report, line, hung):
    assert report["schema"] == 2
    assert report["verdict"] == "deadlock"
    assert report["job"]["size"] == 4
    assert report["job"]["ranks_seen"] == 4
    assert report["job"]["mpi"].startswith(f"Open MPI {line.release}.")
    assert report["job"]["source"] == ("patched" if line.patched else "recorder")
    assert report["job"]["hosts"] == [socket.gethostname()]
    assert hung.process.poll() is None


def test_first_finding_is_as_expected(report):
    first = report["findings"][0]
    assert first["kind"] == "collective_incomplete"
    assert first["communicator"] == "MPI_COMM_WORLD"
    assert first["collective"] == "MPI_Bcast"
    assert first["number"] == NUMBER
    assert first["ranks"] == "0,2-3"
    assert first["missing"] == "1"
    assert first["suspects"] == "1"
    assert first["text"]


def test_sites_of_the_first_finding_are_as_expected(report):
    sites = {found["ranks"]: shown_site(found) for found in report["findings"][0]["sites"]}
    assert sites == {"0,2-3": site("MPI_Bcast", BCAST_LINE, "share_parameters"),
                     "1": site("MPI_Recv", RECEIVE_LINE, "refine_mesh")}


def test_ranks(report, hung):
    ranks = report["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    assert [rank["pid"] for rank in ranks] == [hung.pids[rank] for rank in range(4)]
    assert {rank["state"] for rank in ranks} == {"blocked"}
    assert [rank["call"] for rank in ranks] == ["MPI_Bcast", "MPI_Recv", "MPI_Bcast", "MPI_Bcast"]


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
