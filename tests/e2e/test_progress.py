# SPDX-License-Identifier: BSD-3-Clause
"""What takes more than a second says on a terminal what it is at; the answer stays as it is, and a pipe gets nothing of it."""
import os
import pathlib
import pty
import shutil
import subprocess

import pytest

from support.conditions import ended, wait_until
from support.harmless import assert_nothing_stopped

SECONDS = 120
WIPED = "\r\x1b[K"
NOT_YET = "it has started no ranks yet (MPIR_proctable is empty): the job is starting; ask again in a moment"


def on_terminal(*command):
    """(exit status, what is on stdout, what came on the terminal that stderr is)"""
    ours, theirs = pty.openpty()
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                          text=True) as process:
        os.close(theirs)
        said = bytearray()
        try:
            while piece := os.read(ours, 1 << 16):
                said.extend(piece)
        except OSError: # its last user has closed the terminal
            pass
        out = process.stdout.read()
    os.close(ours)
    return process.returncode, out, said.decode()


def shown(said):
    """The lines that stood there, one after the other."""
    assert said.endswith(WIPED), said
    return [line for line in said.split(WIPED) if line]


def test_between_two_looks(hung, mpiq):
    # --pause is longer than the second in which nothing is said
    status, out, said = on_terminal(mpiq.path, "--pause", "2", hung.pid)
    lines = shown(said)
    assert "mpiq: look 1 of 2: 4 of 4 ranks read" in lines, said
    assert all(line.startswith("mpiq: ") and "\n" not in line for line in lines)
    piped = mpiq("--pause", "2", hung.pid)
    assert piped.err == ""
    assert (status, out.splitlines()[0]) == (piped.status, piped.out.splitlines()[0])
    assert_nothing_stopped(hung)


def test_a_short_look_says_nothing(mpiq, hung, tmp_path):
    assert mpiq("snapshot", "-o", tmp_path / "job.mpiq", hung.pid).status == 0
    status, out, said = on_terminal(mpiq.path, "--color", "never", tmp_path / "job.mpiq")
    if said: # a machine so busy that it took more than a second
        assert "reading " in shown(said)[0]
    assert (status, out) == (1, mpiq(tmp_path / "job.mpiq").out)


@pytest.fixture
def starting(tmp_path, allow_root):
    """The pid of an mpirun that waits for another host for ever."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("Open MPI is not installed")
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\nexec sleep 1000000\n")
    agent.chmod(0o755)
    process = subprocess.Popen(["mpirun.openmpi", "--mca", "plm_rsh_agent", str(agent), "--host", "elsewhere", "-n", "1", "true"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=allow_root)
    # Before that it has no table of its ranks that could be empty.
    wait_until(lambda: "/libopen-rte.so" in pathlib.Path(f"/proc/{process.pid}/maps").read_text(), "mpirun's libraries")
    yield process.pid
    process.terminate()
    ended(process)


@pytest.fixture
def allow_root():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_a_job_that_starts_is_waited_for(starting, mpiq):
    status, out, said = on_terminal(mpiq.path, starting)
    waiting, rest = said.split(WIPED)[1:3]
    assert waiting == "mpiq: waiting for the job to start its ranks"
    assert rest == f"mpiq: mpirun {starting}: {NOT_YET}\r\n"
    assert (status, out) == (3, "")
    piped = mpiq(starting)
    assert (piped.status, piped.out, piped.err) == (3, "", f"mpiq: mpirun {starting}: {NOT_YET}\n")
