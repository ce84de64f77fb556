# SPDX-License-Identifier: BSD-3-Clause
"""What the DLL says of real jobs, on each release line, patched and not; test_stock.py shows what of it the
release's own DLL gets wrong."""

import json
import os

import pytest

from live import PREFIXES, SHIPPED, Job, communicator, gdb_server, in_gdb, our_dll, with_tag
from support import conditions
from support.answers import EXIT_STATUS
from support.built import built
from support.conditions import wait_until

PENDING, MATCHED, COMPLETE = range(3)
SEND, BSEND, SSEND, RSEND, RECEIVE, PROBE, MESSAGE, COLLECTIVE, OTHER, PSEND, PRECV = range(11)
PERSISTENT, INTERNAL, EAGER, INACTIVE, FREED, OUT_OF_ORDER = 1, 2, 4, 8, 16, 32
INTER, HIDDEN, GIVEN_UP, SELF, WORLD = 1, 2, 4, 8, 16

LINES = list(PREFIXES)


class Looks:
    """A job seen by one DLL."""

    def __init__(self, job, dll):
        self.job = job
        self.dll = dll

    def at(self, rank, *options):
        return self.job.look(self.dll, rank, *options)


def envelope(operation):
    return operation["actual_peer"], operation["actual_tag"], operation["actual_bytes"]


# Each check holds of the Forum's functions alone, so that the stock DLL can be asked the same.

def check_unexpected(looks):
    world = communicator(looks.at(1), "MPI_COMM_WORLD")
    assert [envelope(message) for message in world["unexpected"]] == [(0, 101, 11), (0, 102, 1 << 20), (2, 104, 0)]
    dup = [comm for comm in looks.at(1)["communicators"] if comm["unique_id"] == "0x3"][0]
    assert [envelope(message) for message in dup["unexpected"]] == [(0, 103, 12)]


def check_waitall(looks):
    world = communicator(looks.at(0), "MPI_COMM_WORLD")
    assert [(op["tag"], op["status"]) for op in world["receives"]] == [(20, PENDING), (21, COMPLETE), (22, PENDING)]


def check_probe(looks):
    world = communicator(looks.at(0), "MPI_COMM_WORLD")
    assert [(op["tag"], op["peer"], op["status"]) for op in world["receives"]] == [(30, 1, PENDING)]


def check_mprobe(looks):
    world = communicator(looks.at(0), "MPI_COMM_WORLD")
    assert [(op["status"], envelope(op)) for op in world["receives"]] == [(MATCHED, (1, 31, 8))]


def check_posted_order(looks):
    world = communicator(looks.at(0), "MPI_COMM_WORLD")
    pending = [op["tag"] for op in world["receives"] if op["status"] == PENDING and not op["tag_wild"]]
    assert pending == [40, 41, 42, 43, 44, 47]


def check_states(looks):
    receives = communicator(looks.at(0), "MPI_COMM_WORLD")["receives"]
    assert with_tag(receives, 45)["status"] == COMPLETE
    assert envelope(with_tag(receives, 45)) == (1, 45, 12)
    assert with_tag(receives, 46)["status"] == COMPLETE
    assert with_tag(receives, 46)["bytes"] == 20
    assert with_tag(receives, 47)["status"] == PENDING


def check_wildcards(looks):
    wild = [op for op in communicator(looks.at(0), "MPI_COMM_WORLD")["receives"] if op["tag_wild"]]
    assert [(op["peer_local"], op["peer"], op["bytes"]) for op in wild] == [(-1, -1, 56)]


def check_system_buffer(looks):
    sends = communicator(looks.at(0), "MPI_COMM_WORLD")["sends"]
    assert {op["tag"]: op["system_buffer"] for op in sends} == {50: 0, 51: 0, 52: 0, 53: 1, 54: 0}
    assert with_tag(sends, 54)["bytes"] == 32
    assert with_tag(sends, 50)["bytes"] == 1 << 20


def check_datatype_name(looks):
    lines = [line["line"] for line in with_tag(communicator(looks.at(0), "MPI_COMM_WORLD")["sends"], 54)["extra"]]
    assert "4 x pairs of ints, by a name that is longer th" in lines
    assert "1048576 x MPI_CHAR" in [
        line["line"] for line in with_tag(communicator(looks.at(0), "MPI_COMM_WORLD")["sends"], 50)["extra"]]


def check_terminated(looks):
    for send in communicator(looks.at(0), "MPI_COMM_WORLD")["sends"]:
        assert all(line["terminated"] for line in send["extra"])


def check_world_ranks(looks):
    look = looks.at(0)
    half = communicator(look, "odd and even")
    assert half["group"] == [2, 0]
    receive = with_tag(half["receives"], 60)
    assert (receive["peer_local"], receive["peer"]) == (0, 2)
    send = with_tag(half["sends"], 63)
    assert (send["actual_peer_local"], send["actual_peer"]) == (0, 2)


def check_intercommunicator(looks):
    bridge = communicator(looks.at(0), "bridge")
    receive = with_tag(bridge["receives"], 61)
    assert (receive["peer_local"], receive["peer"]) == (0, 3)
    assert bridge["group"] == [2, 0]


def check_no_null_communicator(looks):
    assert all(comm["size"] > 0 for comm in looks.at(0)["communicators"])


def check_later(looks):
    """The second look, after a communicator was made: all ranks say ready once more then."""
    job = looks.job
    made = "kill -USR1 %s; until [ $(grep -c ^ready %s) -eq 8 ]; do sleep 0.1; done" % (
        " ".join(str(pid) for pid in job.pids.values()), job.output)
    look = looks.at(0, "--looks", "2", "--between", made)
    assert communicator(look, "later")["group"] == [3, 2, 1, 0]
    assert communicator(look, "MPI_COMM_WORLD")["group"] == [0, 1, 2, 3]


def check_session(looks):
    ids = {communicator(looks.at(rank), "session's")["unique_id"] for rank in range(4)}
    assert len(ids) == 1


def check_spawned(looks):
    receives = [op for comm in looks.at(0)["communicators"] for op in comm.get("receives", []) if op["tag"] == 70]
    assert [(op["peer_local"], op["peer"]) for op in receives] == [(0, -1)]


CHECKS = [
    ("unexpected", check_unexpected),
    ("waitall", check_waitall),
    ("probe", check_probe),
    ("mprobe", check_mprobe),
    ("requests", check_posted_order),
    ("requests", check_states),
    ("requests", check_wildcards),
    ("sends", check_system_buffer),
    ("sends", check_datatype_name),
    ("sends", check_terminated),
    ("communicators", check_world_ranks),
    ("communicators", check_intercommunicator),
    ("communicators", check_no_null_communicator),
    ("later", check_later),
    ("spawn", check_spawned),
    ("session", check_session),
]
def names(rows):
    return ["%s-%s" % (case, check.__name__[6:]) for case, check in rows]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("case,check", CHECKS, ids=names(CHECKS))
def test_ours(jobs, line, case, check):
    if case == "session" and line.startswith("4.1"):
        pytest.skip("4.1 has no sessions")
    if case == "later":
        with Job(line, case) as job:
            check(Looks(job, our_dll()))
        return
    check(Looks(jobs(line, case), our_dll()))


# What only the extension tells.

@pytest.mark.parametrize("line", LINES)
def test_kinds_and_flags(jobs, line):
    sends = communicator(jobs(line, "sends").look(our_dll(), 0), "MPI_COMM_WORLD")["sends"]
    assert {op["tag"]: op["kind"] for op in sends} == {50: SEND, 51: SSEND, 52: SSEND, 53: BSEND, 54: SSEND}
    assert with_tag(sends, 52)["flags"] == PERSISTENT
    receives = communicator(jobs(line, "requests").look(our_dll(), 0), "MPI_COMM_WORLD")["receives"]
    assert with_tag(receives, 46)["flags"] == PERSISTENT | INACTIVE
    assert with_tag(receives, 47)["flags"] == PERSISTENT
    probe = communicator(jobs(line, "probe").look(our_dll(), 0), "MPI_COMM_WORLD")["receives"]
    assert [op["kind"] for op in probe] == [PROBE]
    held = communicator(jobs(line, "mprobe").look(our_dll(), 0), "MPI_COMM_WORLD")["receives"]
    assert [op["kind"] for op in held] == [MESSAGE]


PARTITIONED = ("partitions", "missing", "which", "moves")


@pytest.mark.parametrize("line", LINES)
def test_partitioned(jobs, line):
    """Which partitions are missing, and on what request of the library's own the next one goes."""
    if line.startswith("4.1"):
        pytest.skip("4.1 has no partitioned requests")
    looks = [jobs(line, "partitioned").look(our_dll(), rank, "--internal") for rank in (0, 1)]
    world = [communicator(look, "MPI_COMM_WORLD") for look in looks]
    sends = {op["tag"]: op for op in world[0]["sends"] if "partitions" in op}
    receives = {op["tag"]: op for op in world[1]["receives"] if "partitions" in op}
    assert {tag: tuple(op[key] for key in PARTITIONED) for tag, op in sends.items()} == {
        70: (6, 3, "2-3,5", 0), 71: (2, -1, "", 0), 72: (3, -1, "", 0)}
    assert {tag: tuple(op[key] for key in PARTITIONED) for tag, op in receives.items()} == {
        70: (6, 3, "2-3,5", 0), 71: (2, 1, "1", 0), 72: (3, 3, "0-2", 0), 73: (4, -1, "", 1)}
    assert [(tag, op["kind"], op["peer"], op["bytes"], op["status"], op["flags"]) for tag, op in sends.items()] == [
        (70, PSEND, 1, 48, PENDING, PERSISTENT), (71, PSEND, 1, 16, COMPLETE, PERSISTENT),
        (72, PSEND, 1, 24, COMPLETE, PERSISTENT | INACTIVE)]
    assert {(op["kind"], op["peer"], op["status"], op["flags"]) for op in receives.values()} == {
        (PRECV, 0, PENDING, PERSISTENT)}
    lines = [line["line"] for line in receives[70]["extra"]]
    assert "not arrived: 3 of 6 partitions" in lines and "2-3,5" in lines
    # Its messages are the library's own, all but the one that set it up.
    own = {op["request"]: op for comm in looks[1]["communicators"] for op in comm["receives"] if "partitions" not in op}
    for tag, op in receives.items():
        inner = own[op["inner"]]
        assert (inner["peer"], inner["status"]) == (0, PENDING)
        assert bool(inner["flags"] & INTERNAL) == (tag != 73)
    hidden = jobs(line, "partitioned").look(our_dll(), 1)
    assert not any(op["request"] in own and own[op["request"]]["flags"] & INTERNAL
                   for comm in hidden["communicators"] for op in comm["receives"])


@pytest.mark.parametrize("line", LINES)
def test_unexpected_kinds(jobs, line):
    unexpected = communicator(jobs(line, "unexpected").look(our_dll(), 1), "MPI_COMM_WORLD")["unexpected"]
    assert [op["flags"] for op in unexpected] == [EAGER, 0, EAGER]
    assert [op["buffer"] != "0x0" for op in unexpected] == [True, False, False]


@pytest.mark.parametrize("line", LINES)
def test_communicator_flags(jobs, line):
    look = jobs(line, "communicators").look(our_dll(), 0)
    flags = {comm["name"]: comm["flags"] for comm in look["communicators"]}
    assert flags["MPI_COMM_WORLD"] == WORLD
    assert flags["MPI_COMM_SELF"] == SELF
    assert flags["odd and even"] == 0
    assert flags["bridge"] == INTER
    assert flags["gone"] == GIVEN_UP
    bridge = communicator(look, "bridge")
    assert [vpid for _, vpid in bridge["remote_members"]] == [3, 1]
    hidden = [comm for comm in look["communicators"] if comm["flags"] & HIDDEN]
    assert [comm["parent"] for comm in hidden] == [bridge["handle"]]
    # Both halves of the split have the same context id and differ in their members.
    other = communicator(jobs(line, "communicators").look(our_dll(), 1), "odd and even")
    half = communicator(look, "odd and even")
    assert half["context1"] == other["context1"]
    assert half["group_hash"] != other["group_hash"]


@pytest.mark.parametrize("line", LINES)
def test_identity(jobs, line):
    identities = [jobs(line, "requests").look(our_dll(), rank)["identity"] for rank in range(4)]
    for rank, identity in enumerate(identities):
        assert identity["vpid"] == rank
        assert identity["jobid"] == identities[0]["jobid"]
        assert identity["world_size"] == 4
        assert identity["phase"] == 3
        assert identity["thread_level"] == 0
        assert identity["pml"] == "ob1"
        assert identity["queues"] == 1
        assert identity["library"].startswith("Open MPI " + line.split()[0])
        assert identity["recording"] == (-1 if "unpatched" in line else 1)
        assert identity["layout_source"] == (2 if "unpatched" in line else 1)


@pytest.mark.parametrize("line", LINES)
def test_spawned_world_is_named(jobs, line):
    look = jobs(line, "spawn").look(our_dll(), 0)
    inter = [comm for comm in look["communicators"] if comm["flags"] & INTER][0]
    assert inter["remote_members"][0][0] != look["identity"]["jobid"]
    assert inter["receives"][0]["peer_jobid"] == inter["remote_members"][0][0]
    child = jobs(line, "spawn").look(our_dll(), 1000)
    assert child["identity"]["jobid"] == inter["remote_members"][0][0]
    assert child["identity"]["vpid"] == 0


@pytest.mark.parametrize("line", LINES)
def test_nonblocking(jobs, line):
    look = jobs(line, "nonblocking").look(our_dll(), 0, "--internal")
    world = communicator(look, "MPI_COMM_WORLD")
    assert world["nonblocking"] == 3
    assert len(world["outstanding"]) == 1
    inner = [op for op in world["receives"] if op["flags"] & INTERNAL]
    assert [op["peer"] for op in inner] == [1]
    if "unpatched" not in line:
        assert world["outstanding"][0]["collective"] == "MPI_Ibcast"
        assert world["outstanding"][0]["number"] == 3
        assert inner[0]["collective"] == "MPI_Ibcast"
        assert world["collectives"] == {"MPI_Ibarrier": [2, 0], "MPI_Ibcast": [1, 1]}
        (wait,) = look["waits"]
        assert wait["call"] == "MPI_Wait"
        assert [(op["kind"], op["collective"]) for op in wait["operations"]] == [(COLLECTIVE, "MPI_Ibcast")]
        assert wait["operations"][0]["request"] == world["outstanding"][0]["request"]


@pytest.mark.parametrize("line", LINES)
def test_nonblocking_after_freed_communicators(jobs, line):
    """One was started.  Three hidden ones make a communicator; without the patch those of freed ones, two here, cannot be
    told from the user's: docs/INTERFACE.md says so."""
    world = communicator(jobs(line, "freed").look(our_dll(), 0), "MPI_COMM_WORLD")
    assert world["nonblocking"] == (1 + 2 * 3 if "unpatched" in line else 1)


@pytest.mark.parametrize("line", LINES)
def test_internal_traffic_is_apart(jobs, line):
    job = jobs(line, "blocking")
    assert communicator(job.look(our_dll(), 0), "MPI_COMM_WORLD")["receives"] == []
    receives = communicator(job.look(our_dll(), 0, "--internal"), "MPI_COMM_WORLD")["receives"]
    # From whom depends on the algorithm.
    assert [(op["flags"], op["bytes"]) for op in receives] == [(INTERNAL, 36)]


@pytest.mark.parametrize("line", [line for line in LINES if "unpatched" not in line])
def test_collective_state(jobs, line):
    for rank in range(4):
        world = communicator(jobs(line, "blocking").look(our_dll(), rank, "--internal"), "MPI_COMM_WORLD")
        inside = rank != 1
        assert world["collectives"] == {"MPI_Barrier": [1, 0], "MPI_Bcast": [1 + inside, int(inside)],
                                        "MPI_Allreduce": [1, 0]}
        assert world["ordered"] == 3 + inside
        recent = [(call["collective"], call["number"], call["done"]) for call in world["recent"]]
        assert recent == [("MPI_Bcast", 4, 0)] * inside + [("MPI_Allreduce", 3, 1), ("MPI_Bcast", 2, 1), ("MPI_Barrier", 1, 1)]
        if inside:
            call = world["recent"][0]
            assert (call["count"], call["datatype"], call["bytes"], call["root"]) == (9, "MPI_INT", 36, 1)
    allreduce = world["recent"][-3]
    assert allreduce["op"] == "MPI_SUM"


@pytest.mark.parametrize("line", [line for line in LINES if "unpatched" not in line])
def test_waits(jobs, line):
    expected = {
        "blocking": ("MPI_Bcast", [RECEIVE]),
        "probe": ("MPI_Probe", [PROBE]),
        "waitall": ("MPI_Waitall", [RECEIVE] * 3),
    }
    for case, (call, operations) in expected.items():
        look = jobs(line, case).look(our_dll(), 0)
        (wait,) = look["waits"]
        assert wait["call"] == call
        assert wait["tid"] == jobs(line, case).pids[0]
        assert wait["begin_ns"] >= 0  # stamped once it has polled long enough
        assert [op["kind"] for op in wait["operations"]] == operations
    assert wait["need"] == 3 # the one that is complete by now was not when the wait began
    assert [op["status"] for op in wait["operations"]] == [PENDING, COMPLETE, PENDING]
    # A rank outside MPI waits for nothing.
    assert jobs(line, "blocking").look(our_dll(), 1)["waits"] == []


@pytest.mark.parametrize("line", LINES)
def test_eager_sends(jobs, line):
    """One that only waits for room is told from one that waits for its receive; requests are told as they lie in the
    library's chunks, several of them here."""
    sends = communicator(jobs(line, "flood").look(our_dll(), 0), "MPI_COMM_WORLD")["sends"]
    waiting = [op for op in sends if op["tag"] == 56 and op["status"] == PENDING]
    assert len(waiting) > 100
    assert {op["flags"] for op in waiting} == {EAGER}
    assert with_tag(sends, 57)["flags"] == 0
    assert [op["sequence"] for op in waiting] == sorted(op["sequence"] for op in waiting)


@pytest.mark.parametrize("line", LINES)
def test_buffered_send_on_its_way(jobs, line):
    """Complete for its caller, not delivered: what MPI_Buffer_detach waits for, though it names no request."""
    look = jobs(line, "detach").look(our_dll(), 0)
    (send,) = communicator(look, "MPI_COMM_WORLD")["sends"]
    assert (send["tag"], send["kind"], send["status"]) == (55, BSEND, PENDING)
    if "unpatched" not in line:
        (wait,) = look["waits"]
        assert (wait["call"], wait["need"]) == ("MPI_Buffer_detach", 1)
        assert [op["request"] for op in wait["operations"]] == [send["request"]]


def until(look, enough):
    """Threads get to where they wait one after another: looks until it is enough."""
    wait_until(lambda: enough(look()), look, every=0.2)
    return look()


@pytest.mark.parametrize("line", LINES)
def test_threads(jobs, line):
    """MPI_THREAD_MULTIPLE: four threads of one process, each in a wait of its own."""
    job = jobs(line, "threads")
    look = until(lambda: job.look(our_dll(), 0), lambda look: len(look["waits"]) == 4)
    assert look["identity"]["thread_level"] == 3
    waits = look["waits"]
    assert sorted([op["tag"] for op in wait["operations"]] for wait in waits) == [[110], [111], [112], [113, 114]]
    assert sorted(wait["need"] for wait in waits) == [1, 1, 1, 2]
    world = communicator(look, "MPI_COMM_WORLD")
    queued = {op["request"]: op["tag"] for op in world["sends"] + world["receives"]}
    assert {op["request"]: op["tag"] for wait in waits for op in wait["operations"]} == queued
    if "unpatched" in line:
        assert {wait["tid"] for wait in waits} == {0}
    else:
        calls = {wait["operations"][0]["tag"]: wait["call"] for wait in waits}
        assert calls == {110: "MPI_Recv", 111: "MPI_Recv", 112: "MPI_Ssend", 113: "MPI_Waitall"}
        threads = {int(thread) for thread in os.listdir("/proc/%d/task" % job.pids[0])}
        assert len({wait["tid"] for wait in waits}) == 4
        assert {wait["tid"] for wait in waits} <= threads


@pytest.mark.parametrize("line", [line for line in LINES if "unpatched" in line])
def test_waits_without_the_patch(jobs, line):
    """The requests that hold a sync object, and no made-up kind or thread."""
    (wait,) = jobs(line, "waitall").look(our_dll(), 0)["waits"]
    assert (wait["tid"], wait["kind"], wait["need"], wait["call"]) == (0, 0, 2, "")
    assert [op["tag"] for op in wait["operations"]] == [20, 22]


@pytest.mark.parametrize("line", LINES)
def test_channels_agree(jobs, line):
    job = jobs(line, "unexpected")
    channels = {}
    for rank in range(4):
        for peer, sent, expected in communicator(job.look(our_dll(), rank), "MPI_COMM_WORLD")["channels"]:
            channels[rank, peer] = sent, expected
    for (rank, peer), (sent, _) in channels.items():
        if (peer, rank) in channels:
            assert sent == channels[peer, rank][1]


@pytest.mark.parametrize("line", LINES)
def test_other_pml(line):
    """A PML that is not ob1: communicators and collective state are there, queues are not, and all say so.  The one that
    every build has, "monitoring", is told by an unpatched library; a patched one names what lies under it, and is made to
    say ucx."""
    with Job(line, "blocking", options=("--mca", "pml_monitoring_enable", "1")) as job:
        pml = "monitoring"
        if "unpatched" not in line:
            assert len(communicator(job.look(our_dll(), 0, "--internal"), "MPI_COMM_WORLD")["receives"]) == 1
            pml = "ucx"
            for at, letter in enumerate(pml):
                in_gdb(job.pids[0], "set var ompi_mqs_root.pml[%d] = %d" % (at, ord(letter)))
        look = job.look(our_dll(), 0)
        assert "no information: PML " + pml in look["said"]["process_message"]
        assert (look["identity"]["queues"], look["identity"]["pml"]) == (0, pml)
        world = communicator(look, "MPI_COMM_WORLD")
        assert world["group"] == [0, 1, 2, 3]
        for queue in ("sends", "receives", "unexpected"):
            assert (queue not in world, world[queue + "_error"]["code"]) == (True, 1)
        if "unpatched" not in line:
            assert world["collectives"]["MPI_Bcast"] == [2, 1]
            assert [wait["call"] for wait in look["waits"]] == ["MPI_Bcast"]


@pytest.mark.parametrize("line", [line for line in LINES if "unpatched" not in line])
@pytest.mark.parametrize("case,rank", [("requests", 0), ("unexpected", 1), ("communicators", 0), ("nonblocking", 0)])
def test_tables_are_enough(jobs, line, case, rank):
    """A patched library is read by its own tables: no type is asked for, so debug information changes nothing."""
    job = jobs(line, case)
    look = job.look(our_dll(), rank, "--internal")
    assert look["types_asked"] == 0
    stripped = job.look(our_dll(), rank, "--internal", "--stripped")
    for what in ("identity", "communicators", "waits", "process_calls"):
        assert stripped[what] == look[what]


def errors(said):
    """Every error in what mqs_client printed."""
    if isinstance(said, dict):
        if set(said) == {"code", "text"}:
            return [said]
        said = list(said.values())
    return [error for part in said for error in errors(part)] if isinstance(said, list) else []


@pytest.mark.parametrize("line", LINES)
def test_process_that_runs(line):
    """Read while it runs, look after look: what has moved under the reader ends in a code with its sentence."""
    with Job(line, "busy", 2) as job:
        looks = []

        def many_saw_it_whole():
            job.look(our_dll(), 0, "--internal", "--looks", "60")
            assert len(job.looks) == 60
            looks.extend(job.looks)
            found = errors(job.looks)
            moved = [error["code"] for error in found if error["code"] != 1]  # 1: not kept, moving or not
            assert all(code >= 200 for code in moved) and all(len(error["text"]) > 20 for error in found)
            return sum(all(error["code"] == 1 for error in errors(look)) for look in looks) > 10

        # On a busy machine few are fast enough.
        wait_until(many_saw_it_whole, lambda: f"more than 10 of {len(looks)} looks that saw it whole")


KINDS = ("send", "bsend", "ssend", "rsend", "receive", "probe", "message", "collective", "other", "psend", "precv")


def as_mpiq_says(comm, operation):
    """An operation that mqs_client printed, in the words of mpiq's report."""
    said = {
        "communicator": comm["name"],
        "peer": "any" if operation["peer_local"] == -1 else operation["peer"],
        "peer_local": "any" if operation["peer_local"] == -1 else operation["peer_local"],
        "tag": "any" if operation["tag_wild"] else operation["tag"],
        "bytes": operation["bytes"],
        "status": ("pending", "matched", "complete")[operation["status"]],
        "kind": KINDS[operation["kind"]],
        "persistent": bool(operation["flags"] & PERSISTENT),
        "system_buffer": bool(operation["system_buffer"]),
        "buffer": None if operation["buffer"] == "0x0" else operation["buffer"],
        "datatype": operation["datatype"] or None,
        "inactive": True if operation["flags"] & INACTIVE else None,
    }
    if operation["status"] != PENDING:
        for name in ("actual_peer", "actual_tag", "actual_bytes"): # of its last start: not said once that is over
            said[name] = None if said["inactive"] else operation[name]
    return said


@pytest.mark.parametrize("line", [*LINES, *SHIPPED])
@pytest.mark.parametrize("case,rank", [("unexpected", 1), ("requests", 0), ("sends", 0), ("waitall", 0),
                                       ("communicators", 0), ("mprobe", 0)])
def test_through_gdb(jobs, line, case, rank):
    """An independent client over gdb's wire prints the same queues as mpiq, which reads the memory itself."""
    job = jobs(line, case)
    look = job.look(our_dll(), rank, server=gdb_server)
    command = [str(built("cli/mpiq")), "queues", "--json", "--dll", str(our_dll()), str(job.process.pid)]
    result = conditions.run(command, seconds=120)
    # The other ranks are outside MPI, and may go on; where all are asleep there, nobody can tell.
    assert result.returncode in (EXIT_STATUS["running"], EXIT_STATUS["unknown"]), result.stderr
    ranks = [entry for entry in json.loads(result.stdout)["ranks"] if entry["rank"] == rank]
    assert len(ranks) == 1
    for queue in ("sends", "receives", "unexpected"):
        theirs = [as_mpiq_says(comm, operation) for comm in look["communicators"] for operation in comm[queue]]
        ours = [{name: operation.get(name) for name in said} for operation, said in zip(ranks[0][queue], theirs)]
        assert ours == theirs and len(ranks[0][queue]) == len(theirs)
    assert sum(len(ranks[0][queue]) for queue in ("sends", "receives", "unexpected")) > 0


def test_environment():
    """The tests above are skipped one by one; this says once what they ran on."""
    print({name: os.environ.get(variable) for name, variable in PREFIXES.items()}, built("tests/mqs/mqs_client"))
