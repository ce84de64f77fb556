# SPDX-License-Identifier: BSD-3-Clause
"""What the release's own DLL gets wrong and ours right, item by item, on real jobs of both release lines: each check
passes with our DLL and fails with the other one, loaded in its place (mpiq --dll).

Where mpiq's report cannot show an item, mqs_client does, which loads either DLL as well and prints what it says word
for word; the item says why.  docs/INTERFACE.md has the list with what the release's own DLL answers."""

import collections
import json
import os
import signal
import subprocess

import pytest

import test_live
from live import AS_ROOT, PREFIXES, Job, communicator, in_gdb, our_dll, prefix, stock_dll
from support import conditions
from support.answers import EXIT_STATUS
from support.built import built
from support.conditions import wait_until

WRONG = (AssertionError, KeyError)
PATIENCE = 120
MIB = 1 << 20


class Reports:
    """A job as one DLL shows it: in mpiq's reports, or in what mqs_client prints of a rank."""

    def __init__(self, job, dll):
        self.job = job
        self.dll = dll
        self.kept = {}

    def mpiq(self, view, *options):
        """A view as JSON.  Some ranks are outside MPI, so the job may go on; where all are asleep there, or with the stock
        DLL, which may not read a process at all, nobody can tell."""
        if (view, options) not in self.kept:
            command = [str(built("cli/mpiq")), view, "--json", *options, "--dll", str(self.dll), str(self.job.process.pid)]
            result = conditions.run(command, seconds=PATIENCE)
            answer = self.kept[view, options] = json.loads(result.stdout)
            assert result.returncode == EXIT_STATUS[answer["verdict"]], result.stderr
            assert self.dll != our_dll() or answer["verdict"] in ("running", "unknown")
        return self.kept[view, options]

    def queue(self, rank, name, *options):
        return one([entry for entry in self.mpiq("queues", *options)["ranks"] if entry["rank"] == rank])[name]

    def communicators(self, name):
        return [comm for comm in self.mpiq("comms", "--all")["communicators"] if comm["name"] == name]

    def communicator(self, name):
        return one(self.communicators(name))

    def at(self, rank, *options):
        return self.job.look(self.dll, rank, *options)


def one(found):
    assert len(found) == 1
    return found[0]


def of_tag(operations, tag):
    return one([operation for operation in operations if operation["tag"] == tag])


def fields(operations, *names):
    return [tuple(operation.get(name) for name in names) for operation in operations]


# By mpiq.

def unexpected(reports):
    messages = reports.queue(1, "unexpected")
    world = [message for message in messages if message["communicator"] == "MPI_COMM_WORLD"]
    assert fields(world, "peer", "tag", "bytes") == [(0, 101, 11), (0, 102, MIB), (2, 104, 0)]
    others = [message for message in messages if message not in world]
    assert fields(others, "peer", "tag", "bytes") == [(0, 103, 12)]


def early(reports):
    """The sender's next number was raised by hand: what it sent then has overtaken one that will never come."""
    assert fields(reports.queue(1, "unexpected"), "peer", "tag", "bytes") == [(0, 120, 5), (0, 121, MIB)]


def waits_are_pending(reports):
    assert fields(reports.queue(0, "receives"), "tag", "status") == [(20, "pending"), (21, "complete"), (22, "pending")]


def blocking_calls(reports):
    """Of threads that are in MPI_Recv, MPI_Ssend and MPI_Waitall: each request holds the address of a sync object."""
    receives = fields(reports.queue(0, "receives"), "tag", "peer", "status")
    assert sorted(receives) == [(110, 1, "pending"), (111, 2, "pending"), (113, 3, "pending"), (114, 3, "pending")]
    assert fields(reports.queue(0, "sends"), "tag", "peer", "status", "kind") == [(112, 1, "pending", "ssend")]


def probe(reports):
    assert fields(reports.queue(0, "receives"), "tag", "peer", "status", "kind") == [(30, 1, "pending", "probe")]


def matched_probe(reports):
    assert fields(reports.queue(0, "receives"), "tag", "status", "kind", "actual_bytes") == [(31, "matched", "message", 8)]


def other_world(reports):
    assert fields(reports.queue(0, "receives"), "tag", "peer", "peer_local") == [(70, "w1:0", 0)]


def intercommunicator(reports):
    bridge = reports.communicator("bridge")
    assert (bridge["members"], bridge["intercommunicator"]) == ("0-3", True)
    assert of_tag(reports.queue(0, "receives"), 61)["peer"] == 3


def hidden_communicators(reports):
    bridge = reports.communicator("bridge")
    hidden = [comm for comm in reports.mpiq("comms", "--all")["communicators"] if comm.get("internal")]
    assert [(comm["members"], comm["serves"]) for comm in hidden] == [("0,2", bridge["comm"]), ("1,3", bridge["comm"])]


def self_but_not_null(reports):
    own = reports.communicator("MPI_COMM_SELF")
    assert own["members"] == "0-3"
    assert reports.communicators("MPI_COMM_NULL") == []


def same_id_everywhere(reports):
    comm = reports.communicator("session's")
    assert comm["members"] == "0-3"


def bytes_as_posted(reports):
    receives = reports.queue(0, "receives")
    assert fields([of_tag(receives, 45), of_tag(receives, 46)], "bytes") == [(16,), (20,)]
    assert of_tag(receives, 45)["actual_bytes"] == 12


def complete_and_inactive(reports):
    receives = reports.queue(0, "receives")
    assert fields([of_tag(receives, tag) for tag in (45, 46, 47)], "status", "inactive") == [
        ("complete", None), ("complete", True), ("pending", None)]


def posted_order(reports):
    assert fields(reports.queue(0, "receives"), "tag") == [(tag,) for tag in (45, 40, 41, 42, 43, 44, 47, "any", 46)]


def sends_in_posted_order(reports):
    assert fields(reports.queue(0, "sends"), "tag") == [(tag,) for tag in (50, 51, 52, 53, 54)]


def kinds_of_sends(reports):
    """A buffered send that is not delivered is pending, whatever its caller was told."""
    assert fields(reports.queue(0, "sends"), "kind", "status") == [
        (kind, "pending") for kind in ("send", "ssend", "ssend", "bsend", "ssend")]


def internal_traffic(reports):
    assert reports.queue(0, "receives") == []
    assert fields(reports.queue(0, "receives", "--all"), "internal", "bytes") == [(True, 36)]


# By mqs_client.

def by_client(check):
    """A check of test_live.py: what mqs_client prints of the Forum's functions alone."""
    def run(reports):
        check(test_live.Looks(reports.job, reports.dll))

    run.__name__ = check.__name__[6:]
    return run


def other_line(reports):
    """Names, by the DLL of the other release line: c_name is an array in 4.1 and a pointer in 5.0."""
    assert {comm["name"] for comm in reports.at(0)["communicators"]} >= {"MPI_COMM_WORLD", "odd and even", "bridge"}


# How a job gets to where the checks look at it, beyond being started.

def raise_sequence(job):
    """Rank 0's number of messages sent to rank 1 goes up by one, as if one had been sent and lost."""
    in_gdb(job.pids[0], "set var ((mca_pml_ob1_comm_t *) ompi_mpi_comm_world.comm.c_pml_comm)->procs[1]->send_sequence += 1")
    for rank in (0, 1):
        told = len(job.ready())
        os.kill(job.pids[rank], 10)
        wait_until(lambda: len(job.ready()) != told, "the signal is taken") # pylint: disable=cell-var-from-loop


def break_list(job):
    first = "mca_pml_base_recv_requests.fl_allocations.opal_list_sentinel.opal_list_next"
    in_gdb(job.pids[0], "set var %s->opal_list_next = %s" % (first, first))


Item = collections.namedtuple("Item", "case check prepare")
Item.__new__.__defaults__ = (None,)

BY_MPIQ = [
    Item("unexpected", unexpected),
    Item("early", early, raise_sequence),
    Item("waitall", waits_are_pending),
    Item("threads", blocking_calls),
    Item("probe", probe),
    Item("mprobe", matched_probe),
    Item("spawn", other_world),
    Item("communicators", intercommunicator),
    Item("communicators", hidden_communicators),
    Item("communicators", self_but_not_null),
    Item("session", same_id_everywhere),
    Item("requests", bytes_as_posted),
    Item("requests", complete_and_inactive),
    Item("requests", posted_order),
    Item("sends", sends_in_posted_order),
    Item("sends", kinds_of_sends),
    Item("blocking", internal_traffic),
]

# Not in mpiq's report: it looks anew each time; it names the peer of a send as it was posted, not as matched; it has
# the datatype's name from the extension, not from the text; and it has no world rank for a wildcard.
BY_CLIENT = [
    Item("later", by_client(test_live.check_later)),
    Item("communicators", by_client(test_live.check_world_ranks)),
    Item("sends", by_client(test_live.check_datatype_name)),
    Item("requests", by_client(test_live.check_wildcards)),
]

UNPATCHED = [line for line in PREFIXES if "unpatched" in line]


def ids(items):
    return ["%s-%s" % (item.case, item.check.__name__) for item in items]


@pytest.fixture(scope="module")
def prepared(jobs):
    """Jobs as the checks want them; one that was changed is nobody else's."""
    changed = {}

    def get(line, item):
        if item.case == "session" and line.startswith("4.1"):
            pytest.skip("4.1 has no sessions")
        if item.case == "later":
            # Looked at once: the first look starts what the second one sees.
            job = Job(line, item.case)
            changed[line, item.check, len(changed)] = job
            return job
        if item.prepare is None:
            return jobs(line, item.case)
        if (line, item.check) not in changed:
            changed[line, item.check] = Job(line, item.case)
            item.prepare(changed[line, item.check])
        return changed[line, item.check]

    yield get
    for job in changed.values():
        job.end()


@pytest.mark.parametrize("line", PREFIXES)
@pytest.mark.parametrize("item", BY_MPIQ, ids=ids(BY_MPIQ))
def test_ours(prepared, line, item):
    item.check(Reports(prepared(line, item), our_dll()))


@pytest.mark.parametrize("line", UNPATCHED)
@pytest.mark.parametrize("item", BY_MPIQ + BY_CLIENT, ids=ids(BY_MPIQ + BY_CLIENT))
def test_the_releases_own(prepared, line, item):
    """The checks can fail, and do with the release's own DLL.  (Ours pass those by mqs_client in test_live.py.)"""
    with pytest.raises(WRONG):
        item.check(Reports(prepared(line, item), stock_dll(line)))


@pytest.mark.parametrize("line", UNPATCHED)
def test_names_of_the_other_line(jobs, line):
    other = [name for name in UNPATCHED if name != line][0]
    job = jobs(line, "communicators")
    other_line(Reports(job, our_dll()))
    with pytest.raises(WRONG + (ValueError,)):
        other_line(Reports(job, stock_dll(other)))


@pytest.mark.parametrize("line", UNPATCHED)
def test_broken_list(line):
    """A chunk of requests is made its own follower: that ends with a sentence, the unexpected messages are still told; the
    release's own DLL follows it for ever.  (mpiq ends a DLL that takes too long, so its report shows no difference.)"""
    with Job(line, "idle", 2) as job:
        break_list(job)
        world = communicator(job.look(our_dll(), 0), "MPI_COMM_WORLD")
        assert "list of requests is corrupt" in world["receives_error"]["text"]
        assert world["unexpected"] == []
        assert job.ask(stock_dll(line), 0, processor=5).returncode == -signal.SIGXCPU


@pytest.mark.parametrize("line", ["4.1", "5.0"])
def test_process_names_its_dll(jobs, line):
    """mpimsgq_dll_locations is the library's: filled by the patch, not by the release."""
    for name, filled in ((line, True), (line + " unpatched", False)):
        pid = jobs(name, "unexpected").pids[0]
        locations = read_locations(pid)
        assert bool(locations) == filled
        if filled:
            assert str(prefix(name)) in locations[0] and os.path.exists(locations[0])


def read_locations(pid):
    """The list of strings that mpimsgq_dll_locations points to."""
    with subprocess.Popen([str(built("tests/mqs/mqs_serve_live")), str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, **AS_ROOT}) as server:
        def ask(text):
            server.stdin.write(text.encode() + b"\n")
            server.stdin.flush()
            answer = server.stdout.readline().decode().split()
            return answer[1] if answer[0] == "ok" and len(answer) > 1 else None

        def pointer(address):
            return int.from_bytes(bytes.fromhex(ask("read 0x%x 8" % address)), "little")

        ask("hello 1")
        found = []
        at = pointer(int(ask("symbol mpimsgq_dll_locations"), 0))
        while at and pointer(at):
            text = bytes.fromhex(ask("read 0x%x 256" % pointer(at)) or "")
            found.append(text.split(b"\0")[0].decode())
            at += 8
        ask("end")
    return found
