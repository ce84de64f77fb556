# SPDX-License-Identifier: BSD-3-Clause
"""Built-in layouts: what they give on a library without debug information is what debug information gives, and a
wrong one gives the same, or says that it does not know; it never gives anything else."""

import json
import subprocess

import pytest

from built import built
from live import Job, our_dll

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


def every_layout(job, rank):
    """(name, what the DLL says) with each built-in layout in turn."""
    number = 0
    while True:
        done = subprocess.run(
            [str(built("tests/mqs/mqs_client")), "--internal", "--stripped", "--force", str(number),
             str(built("tests/mqs/mqs_forced.so")), str(built("tests/mqs/mqs_serve_live")), str(job.pids[rank])],
            capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 3: # past the last
            assert number > 50
            return
        assert done.returncode == 0, done.stderr
        yield number, json.loads(done.stdout)
        number += 1


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


@pytest.mark.parametrize("case", ["unexpected", "requests", "nonblocking", "early"])
@pytest.mark.parametrize("line", UNPATCHED)
def test_wrong_layout(jobs, line, case):
    """Layouts of every other release and variant: right, or refused with the check that failed."""
    job = jobs(line, case)
    outcomes = {"refused": 0, "partly": 0, "right": 0}
    for rank in (0, 1):
        expected = without_counters(job.look(our_dll(), rank, "--internal"))
        for number, said in every_layout(job, rank):
            if not said.get("looks"):
                assert "not laid out as that release usually is: " in said["process_message"]
                outcomes["refused"] += 1
                continue
            look = said["looks"][-1]
            layout = look["layout"]
            found = without_counters(look)
            assert wrong_parts(found, expected) == [], "layout %d: %r" % (number, layout)
            if found == expected:
                outcomes["right"] += 1
            else:
                assert layout["failed"] > 0 and layout["failures"], "layout %d" % number
                outcomes["partly"] += 1
    assert outcomes["refused"] > 50 and outcomes["right"] > 0
    # With CUDA, 4.1 has the communicators of the default and other requests.
    assert outcomes["partly"] > 0 or line.startswith("5.0")


def test_before_mpi_is_initialized():
    """There is nothing to check a layout against, and so nothing is read; nothing is called wrong either."""
    job = Job("4.1 unpatched", "idle", 2)
    try:
        launcher = job.process.pid # a process without MPI
        done = subprocess.run([str(built("tests/mqs/mqs_client")), "--stripped", str(our_dll()),
                               str(built("tests/mqs/mqs_serve_live")), str(launcher)],
                              capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "is not an Open MPI program" in json.loads(done.stdout)["image_message"]
    finally:
        job.end()
