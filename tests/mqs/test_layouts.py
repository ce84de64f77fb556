# SPDX-License-Identifier: BSD-3-Clause
"""Built-in layouts: what they give on a library without debug information is what debug information gives, and a
wrong one gives the same, or says that it does not know; it never gives anything else."""

import json

import pytest

from live import SHIPPED, Job, communicator, our_dll, stripped_copy
from support import conditions
from support.built import built

UNPATCHED = ["4.1 unpatched", "5.0 unpatched"]
RELEASES = {"4.1 unpatched": "4.1.4", "5.0 unpatched": "5.0.7"}
BUILT_IN = 3 # mqs_layout_built_in

CASES = ["unexpected", "requests", "sends", "waitall", "probe", "mprobe", "nonblocking", "communicators", "early", "freed",
         "threads", "detach"]

# What the way of reading decides, and not the process.
COUNTERS = {"fetches", "fetched_bytes", "symbols_asked", "types_asked", "layout"}


def without_counters(look):
    look = {name: value for name, value in look.items() if name not in COUNTERS | {"said"}}
    look["identity"] = {name: value for name, value in look["identity"].items() if name != "layout_source"}
    return look


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("line", UNPATCHED)
def test_the_same_as_debug_information(jobs, line, case):
    """Every rank, every value: without types the DLL says the same as with them."""
    job = jobs(line, case)
    for rank in sorted(job.pids):
        expected = without_counters(job.look(our_dll(), rank, "--internal"))
        found = job.look(our_dll(), rank, "--internal", "--stripped")
        assert found["layout"] == {"source": BUILT_IN, "release": RELEASES[line], "variant": "", "failed": 0,
                                   "failures": []}
        assert without_counters(found) == expected


@pytest.mark.parametrize("case", ["requests", "unexpected"])
@pytest.mark.parametrize("line", UNPATCHED)
def test_memory_that_was_used_before(line, case):
    """Members that the library has not set yet hold anything, as in a heap that others have used: no check of a layout
    is about those.  MALLOC_PERTURB_ makes glibc fill all memory that it gives out."""
    with Job(line, case, 4, options=["-x", "MALLOC_PERTURB_=90"]) as job:
        for rank in sorted(job.pids):
            expected = without_counters(job.look(our_dll(), rank, "--internal"))
            found = job.look(our_dll(), rank, "--internal", "--stripped")
            assert found["layout"]["failures"] == []
            assert without_counters(found) == expected


def every_layout(job, rank, dll):
    """[(name, what the DLL says)] with each of a test DLL's built-in layouts in turn."""
    done = conditions.run([str(built("tests/mqs/mqs_client")), "--internal", "--stripped", "--force", str(built(dll)),
                           str(built("tests/mqs/mqs_serve_live")), str(job.pids[rank])], seconds=300, check=True)
    return [(said["name"], said) for said in json.loads(done.stdout)["forced"]]


# A value that says of itself that it is not known.
NOT_KNOWN = {"nonblocking": -1, "bytes": -1, "actual_bytes": -1, "datatype": "", "need": 0, "queues": 0, "count": -1}


def wrong_parts(found, expected, path=""):
    """Where `found` says something else than `expected` without saying that it does not know."""
    if found == expected:
        return []
    if isinstance(expected, dict) and isinstance(found, dict):
        wrong = []
        for name, value in expected.items():
            if name not in found:
                if name + "_error" not in found and not (name.endswith("_error") or name == "channels"):
                    wrong.append("%s/%s is missing" % (path, name))
            elif name in NOT_KNOWN and found[name] == NOT_KNOWN[name]:
                continue
            elif name != "extra": # the words for the same
                wrong += wrong_parts(found[name], value, path + "/" + name)
        return wrong + ["%s/%s is not there" % (path, name) for name in found
                        if name not in expected and not name.endswith("_error")]
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        return [part for at, pair in enumerate(zip(found, expected)) for part in wrong_parts(*pair, "%s[%d]" % (path, at))]
    return ["%s is %r, not %r" % (path, found, expected)]


def test_wrong_parts_finds_them():
    expected = {"sends": [{"tag": 1, "bytes": 4}], "nonblocking": 2}
    assert wrong_parts(expected, expected) == []
    assert wrong_parts({"sends_error": {}, "nonblocking": -1}, expected) == []
    assert wrong_parts({"sends": [], "nonblocking": 2}, expected)
    assert wrong_parts({"sends": [{"tag": 2, "bytes": 4}], "nonblocking": 2}, expected)
    assert wrong_parts({"sends": [{"tag": 1, "bytes": 4}], "nonblocking": 3}, expected)
    assert wrong_parts({"nonblocking": 2}, expected)


# Built with -g; as the distribution ships it; stripped by us.
LINES = [*UNPATCHED, *SHIPPED, "4.1 stripped", "5.0 stripped"]


@pytest.fixture(scope="module", params=LINES)
def everything(request, tmp_path_factory):
    """A job with all that a library keeps, and of ranks 0 and 1 what the DLL has to say."""
    line, how = (request.param.split() + [""])[:2]
    copy = stripped_copy(line + " unpatched", tmp_path_factory.mktemp("stripped") / "prefix") if how == "stripped" else None
    with Job(line if line in SHIPPED else line + " unpatched", "everything", moved_to=copy) as job:
        # Types are asked for first: those that are there give what the layouts are held against.
        job.expected = {rank: without_counters(job.look(our_dll(), rank, "--internal")) for rank in (0, 1)}
        told = job.expected[0]["identity"]["library"]
        assert "4.1.4" in told if line == "debian" else RELEASES[line + " unpatched"] in told
        yield job


def tags(operations):
    return sorted((operation["tag"], operation["bytes"]) for operation in operations if operation["tag"] >= 0)


def test_everything_is_there(everything):
    """What the program did, known without any library: what wrong layouts are held against is right."""
    zero, one = (everything.expected[rank] for rank in (0, 1))
    assert tags(communicator(zero, "MPI_COMM_WORLD")["receives"]) == [(tag, 40) for tag in range(40, 45)]
    assert tags(communicator(zero, "MPI_COMM_WORLD")["sends"]) == [(102, 1 << 20)]
    assert tags(communicator(zero, "the dup")["sends"]) == [(103, 12)]
    assert any(operation["tag"] < 0 for operation in communicator(zero, "MPI_COMM_WORLD")["receives"]) # MPI_Ibcast's own
    assert tags(communicator(one, "MPI_COMM_WORLD")["unexpected"]) == [(101, 11), (102, 1 << 20), (104, 0)]
    assert tags(communicator(one, "the dup")["unexpected"]) == [(103, 12)]


def test_wrong_layout(everything):
    """Layouts of every other release and variant: right, or refused with the check that failed."""
    refused, partly, right = set(), set(), set()
    for rank, expected in everything.expected.items():
        for name, said in every_layout(everything, rank, "tests/mqs/mqs_forced.so"):
            if not said.get("looks"):
                assert "do not match the built-in layout: " in said["process_message"]
                refused.add(name)
                continue
            look = said["looks"][-1]
            layout = look["layout"]
            found = without_counters(look)
            assert wrong_parts(found, expected) == [], "%s: %r" % (name, layout)
            if found == expected:
                right.add(name)
            else:
                assert layout["failed"] > 0 and layout["failures"], name
                partly.add(name)
    assert len(refused) > 50 and right
    # With CUDA, 4.1 has the communicators of the default and other requests.
    assert partly or "5.0" in everything.expected[0]["identity"]["library"]


# In 4.1, nothing in the process tells that its library was configured with --enable-heterogeneous: headers of eager
# messages have two bytes more there, which are taken for the message's (docs/PORTING.md).  Here it is the other way
# round, and an empty message is shorter than its header.
TWO_BYTES = "4.1.4 heterogeneous"


def without_eager_messages(look):
    return {**look, "communicators": [
        {name: value for name, value in comm.items() if name not in ("unexpected", "unexpected_error")}
        for comm in look["communicators"]]}


def check_two_bytes(found, expected):
    """The empty message costs its communicator's list; others, whose senders wait, have their length in the header."""
    for ours, theirs in zip(found["communicators"], expected["communicators"], strict=True):
        if any(message["bytes"] == 0 for message in theirs["unexpected"]):
            assert "unexpected" not in ours and ours["unexpected_error"]
        else:
            assert ours["unexpected"] == theirs["unexpected"]


def test_configured_otherwise(everything):
    """Layouts of libraries that were configured in ways that the DLL has no layouts of."""
    names = set()
    for rank, expected in everything.expected.items():
        for name, said in every_layout(everything, rank, "tests/mqs/mqs_forced_others.so"):
            names.add(name)
            if not said.get("looks"):
                assert "do not match the built-in layout: " in said["process_message"]
                continue
            found = without_counters(said["looks"][-1])
            right = expected
            if name == TWO_BYTES and "4.1" in expected["identity"]["library"]:
                check_two_bytes(found, expected)
                found, right = without_eager_messages(found), without_eager_messages(expected)
            assert wrong_parts(found, right) == [], "%s: %r" % (name, said["looks"][-1]["layout"])
    assert names >= {"4.1.4 heterogeneous", "5.0.7 heterogeneous", "4.1.4 CUDA, debug", "5.0.7 CUDA, debug"}


def test_before_mpi_is_initialized():
    """There is nothing to check a layout against, and so nothing is read; nothing is called wrong either."""
    job = Job("4.1 unpatched", "idle", 2)
    try:
        launcher = job.process.pid # a process without MPI
        done = conditions.run([str(built("tests/mqs/mqs_client")), "--stripped", str(our_dll()),
                               str(built("tests/mqs/mqs_serve_live")), str(launcher)])
        assert done.returncode == 0, done.stderr
        assert "is not an Open MPI program" in json.loads(done.stdout)["image_message"]
    finally:
        job.end()
