# SPDX-License-Identifier: BSD-3-Clause
"""As whom readers and helpers run, and what they still have: looked at while a library loops in one."""
import contextlib
import os
import pathlib
import re
import uuid

import pytest

from ready_process import ready_process
from support import job as jobs
from support.conditions import wait_until

SLEEPER = """
#include <stdio.h>
#include <unistd.h>
int main(void) { puts("ready"); fflush(stdout); return (int)pause(); }
"""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OURS = ("mpiq-reader", "mpiq-broker", "mpiq-dll-host")


def proc(pid, name):
    return pathlib.Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")


def status(pid):
    return dict(re.findall(r"^(\w+):[ \t]*(.*)$", proc(pid, "status"), flags=re.M))


@contextlib.contextmanager
def at_work(mpiq, build, target):
    """mpiq on a target with a library that never comes to an end: {name: pid} of its processes."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    environment = {**os.environ, "MPIQ_TEST_WHERE": "21", "MPIQ_TEST_JOB": mark, "MPIQ_SECRET": "ours alone"}
    process = mpiq.start("--dll", build / "tests" / "rank" / "looping_dll.so", target, env=environment)
    try:
        found = {}

        def all_there():
            assert process.poll() is None, found
            found.clear()
            for pid in jobs.marked_processes(mark):
                with contextlib.suppress(OSError):
                    if status(pid)["Seccomp"] == "2" or proc(pid, "comm").strip() == "mpiq-broker":
                        found[proc(pid, "comm").strip()] = pid
            return set(found) == set(OURS)

        wait_until(all_there, lambda: f"{OURS}, not only {found}")
        yield found
    finally:
        process.kill()
        process.wait()
        wait_until(lambda: not jobs.marked_processes(mark), "the end of all helpers")


@pytest.fixture(scope="module")
def sleeper(compiled):
    program = compiled(SLEEPER)
    for folder in [program, *program.parents]:
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    return program


def assert_confined(pid, name):
    said = status(pid)
    assert said["NoNewPrivs"] == "1"
    assert name == "mpiq-broker" or said["Seccomp"] == "2"
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert proc(pid, "stat").rsplit(")", 1)[1].split()[4] == "0", "it has a terminal"
    assert "MPIQ_SECRET" not in proc(pid, "environ")
    assert {entry.split("=")[0] for entry in proc(pid, "environ").split("\0") if entry} <= {
        "MPIQ_TEST_WHERE", "MPIQ_TEST_JOB", "MPIQ_OBJECT_DIRS"}
    limits = proc(pid, "limits")
    assert re.search(r"Max core file size +0 +0", limits)
    assert not re.search(r"Max address space +unlimited", limits)
    for fd in range(3):
        assert os.readlink(f"/proc/{pid}/fd/{fd}") == "/dev/null"


def test_a_reader_of_our_own_ranks_is_confined(sleeper, mpiq, build):
    with ready_process(sleeper) as pid, at_work(mpiq, build, pid) as found:
        for name, process in found.items():
            assert_confined(process, name)
            assert status(process)["Uid"].split()[0] == str(os.geteuid())


def test_a_reader_of_other_ranks_runs_confined_as_their_owner(sleeper, mpiq, build, root):
    """Root looks at somebody else's process: nothing that reads it is root, or can become it."""
    with ready_process(*NOBODY, sleeper) as pid, at_work(mpiq, build, pid) as found:
        for name, process in found.items():
            assert_confined(process, name)
            said = status(process)
            assert set(said["Uid"].split() + said["Gid"].split()) == {"65534"}
            assert said["Groups"].strip() == ""
            assert int(said["CapPrm"], 16) == int(said["CapEff"], 16) == int(said["CapInh"], 16) == 0


def test_a_fifo_is_no_target(mpiq, tmp_path):
    os.mkfifo(tmp_path / "core")
    for view in ([], ["doctor"], ["ask", '{"ask":"queue"}']):
        answer = mpiq(*view, tmp_path / "core")
        assert answer.status == 2, answer.out + answer.err
        assert "is not a file" in answer.err # who opens it waits for ever
