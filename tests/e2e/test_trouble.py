# SPDX-License-Identifier: BSD-3-Clause
"""Wrong usage, nothing to be read, and jobs that do not hang."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from support import job as jobs
from support.answers import Mpiq
from support.conditions import wait_until
from support.solver_job import SolverJob


@pytest.fixture
def no_mpi():
    """A process that has nothing to do with MPI."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.parametrize("arguments", [
    ["frobnicate"],
    ["--frobnicate"],
    ["--color", "blue"],
    ["--pause", "soon"],
    ["why"],
    ["snapshot"],
    ["run"],
    ["-o", "somewhere"],
    ["--js"],
    ["--json=yes"],
    ["--pause"],
    ["--keep"],
    ["--hang-after", "5"],
    ["--hang-after", "3"],
    ["--snapshot", "job.mpiq"],
    ["--objects", "/nonexistent"],
    ["why", "1", "99999999"],
    ["queues", "--comm", "MPI_COMM_WORLD"],
    ["--json", "--html", "page.html"],
    ["snapshot", "-o", "file", "--json"],
    ["snapshot", "-o", "file", "--html", "page.html"],
    ["snapshot", "-o", "file", "--ranks", "0"],
    ["doctor", "--json"],
])
def test_wrong_usage(arguments, mpiq):
    answer = mpiq(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("mpiq: ") and answer.err.endswith(" (mpiq --help shows the usage)\n")
    assert answer.err.count("\n") == 1


def test_ranks_that_are_no_list(hung, mpiq):
    answer = mpiq("--ranks", "one", hung.pid)
    assert answer.status == 2
    assert "one" in answer.err


@pytest.mark.parametrize("arguments", [["why", "99"], ["--ranks", "99"], ["queues", "--json", "--ranks", "99"]],
                         ids=" ".join)
def test_rank_that_is_not_there(arguments, hung, mpiq):
    answer = mpiq(*arguments, hung.pid)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "mpiq: the job has no rank 99: its ranks are 0-3\n"


def test_library_that_is_not_there(hung, mpiq, tmp_path):
    """Not a job that runs well, of which nothing could be read."""
    for path in (tmp_path / "no.so", tmp_path, ""):
        answer = mpiq("--dll", path, hung.pid)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err == f"mpiq: there is no message-queue library '{path}': --dll takes the path of one\n"


def test_doctor_among_several_jobs(hung, running, mpiq):
    """The machine is told all the same."""
    answer = mpiq("doctor")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("This machine\n")
    for job in (hung, running):
        assert f"mpiq {job.pid} (" in answer.out


def test_doctor_of_no_rank(no_mpi, mpiq, tmp_path):
    file = tmp_path / "core"
    file.write_bytes(b"\x7fELF\2\1\1" + bytes(9) + b"\4\0\x3e\0\1" + bytes(43))
    answer = mpiq("doctor", no_mpi, file)
    assert (answer.status, answer.err) == (0, "")
    assert "\nbad   0 ranks found here\n" in answer.out
    assert f"\nbad   process {no_mpi}, which is not a rank: " in answer.out
    assert "/core: it has no threads" in answer.out
    assert "rank -1" not in answer.out


def test_doctor_of_a_snapshot(hung, mpiq, tmp_path):
    mpiq("snapshot", "-o", tmp_path / "job.mpiq", hung.pid)
    assert "\nok    4 ranks found here\n" in mpiq("doctor", tmp_path / "job.mpiq").out


def test_communicator_that_is_not_there(hung, mpiq):
    answer = mpiq("collectives", "--comm", "MPI_COMM_NOBODY", hung.pid)
    assert (answer.status, answer.out) == (2, "")
    assert "MPI_COMM_NOBODY" in answer.err and "mpiq comms" in answer.err


def test_help(mpiq):
    answer = mpiq("--help")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("usage: mpiq")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["doctor"]])
def test_answer_that_cannot_be_written(arguments, mpiq):
    with open("/dev/full", "w", encoding="ascii") as full:
        answer = subprocess.run([mpiq.path, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert answer.returncode == 3
    assert answer.stderr == "mpiq: cannot write the answer to stdout: No space left on device\n"


def test_process_without_mpi(no_mpi, mpiq):
    answer = mpiq(no_mpi)
    assert (answer.status, answer.out) == (3, "")
    assert re.fullmatch(rf"mpiq: process {no_mpi} \(python3[.0-9]*\) is not a rank of an MPI job, or not yet: there is no "
                        r"MPI library in this process .*; .* name one with --dll\n", answer.err), answer.err


def test_process_of_root(no_mpi, mpiq):
    """As nobody: one sentence, with what to do."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can be somebody else, with setpriv")
    nobody = Mpiq("setpriv")
    answer = nobody("--reuid", "65534", "--regid", "65534", "--clear-groups", mpiq.path, no_mpi)
    assert (answer.status, answer.out) == (3, "")
    assert answer.err == f"mpiq: process {no_mpi} (python3) belongs to root: run mpiq as root\n"


def test_rank_that_cannot_be_frozen(hung, mpiq):
    """Somebody else traces it: said for that rank, which is read all the same, and so are the others."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    pid = hung.pids[2]
    with subprocess.Popen(["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid),
                           "-ex", "echo here\\n", "-ex", "shell sleep 60"], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as gdb:
        try:
            while gdb.stdout.readline() != "here\n":
                assert gdb.poll() is None
            text = " ".join(mpiq("--stop", hung.pid).out.split())
        finally:
            os.killpg(gdb.pid, signal.SIGKILL)
    assert f"rank 2: stop: not frozen: process {pid} is traced by gdb (process {gdb.pid}), and only one" in text
    assert "all 4 ranks read" in text
    mpiq.of_hung(hung.pid) # it goes on hanging


def test_process_that_is_gone(mpiq):
    process = subprocess.Popen(["true"])
    process.wait()
    answer = mpiq(process.pid)
    assert answer.status == 3
    assert str(process.pid) in answer.err


def test_job_whose_ranks_are_gone(line, solver, hung, mpiq):
    """Its launcher is still there, and so is another job: that is not the one asked for."""
    with SolverJob(line, solver, "--hang") as job:
        job.wait_for_last_step()
        os.kill(job.pid, signal.SIGSTOP) # it would end with them
        for pid in job.pids.values():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: all(jobs.process_state(pid) == "Z" for pid in job.pids.values()), "the end of all ranks")
        answer = mpiq(job.pid)
        os.kill(job.pid, signal.SIGCONT)
    assert (answer.status, answer.out) == (3, "")
    assert answer.err.startswith("mpiq: ") and str(job.pid) in answer.err and str(hung.pid) not in answer.err
    if line.release == "4.1":
        assert answer.err == (f"mpiq: mpirun {job.pid} started all its ranks on this machine, "
                              "and none of them is left\n")


def test_file_that_is_not_there(mpiq, tmp_path):
    answer = mpiq(tmp_path / "no.mpiq")
    assert answer.status == 3
    assert "no.mpiq" in answer.err


@pytest.mark.parametrize("content", [b"", b"nonsense\n", bytes(range(256)) * 64, b"\x7fELF" + bytes(60)],
                         ids=["empty", "words", "bytes", "half an ELF header"])
def test_file_that_holds_nonsense(content, mpiq, tmp_path):
    file = tmp_path / "job.mpiq"
    file.write_bytes(content)
    answer = mpiq(file)
    assert answer.status == 2
    assert answer.out == ""
    assert "job.mpiq" in answer.err


def test_job_that_runs(running, mpiq):
    # On a busy machine a look may see nothing move.
    answer = mpiq.until(lambda answer: answer.status == 0, running.pid, never=("deadlock", "stalled"))
    assert answer.json["verdict"] == "running"
    assert [finding for finding in answer.json["findings"] if finding.get("proven")] == []


def test_the_text_of_a_job_that_runs(running, mpiq):
    def is_running():
        answer = mpiq(running.pid)
        assert answer.out.startswith(("running: ", "unknown: ")), answer
        return answer.status == 0

    wait_until(is_running)
