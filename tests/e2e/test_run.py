# SPDX-License-Identifier: BSD-3-Clause
"""mpiq run: a job that hangs is reported and ended, one that does not is left to itself."""
import contextlib
import os
import pty
import signal
import sys
import time
import uuid

import job as jobs
import pytest
from test_harmless import end_marked


@pytest.fixture
def run(line, mpiq, tmp_path):
    """run(WORDS, SOLVER WORDS): the Popen of mpiq run with the solver on three ranks, all of whose processes end
    with the test."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    started = []

    def start(words, program, **options):
        environment = {**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark}
        mpirun = [line.command("mpirun"), "--oversubscribe", "-n", "3"]
        with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
            started.append(mpiq.start("run", "--hang-after", "1", *words, "--", *mpirun, *program, stdout=out,
                                      stderr=err, env=environment, cwd=tmp_path))
        started[-1].mark = mark
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    end_marked(mark)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_job_that_hangs(run, solver, tmp_path):
    process = run([], [solver, "--hang"])
    assert process.wait(60) == 1
    said = (tmp_path / "err").read_text()
    assert said.startswith("deadlock: none of the 3 ranks can continue"), said
    assert said.count("deadlock:") == 1
    assert [pid for pid in jobs.marked_processes(process.mark) if jobs.process_state(pid) not in (None, "Z")] == []


def test_a_script_whose_job_hangs(line, mpiq, solver, tmp_path):
    """The script is ended, and so is the job that it leaves behind."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\n{line.command('mpirun')} --oversubscribe -n 3 {solver} --hang\necho went on\n")
    script.chmod(0o755)
    try:
        answer = mpiq("run", "--hang-after", "1", "--", script,
                      env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
        assert (answer.status, answer.out) == (1, "")
        assert [pid for pid in jobs.marked_processes(mark) if jobs.process_state(pid) not in (None, "Z")] == []
    finally:
        end_marked(mark)


def test_a_page_of_a_job_that_hangs(run, solver, tmp_path):
    process = run(["--html", "job.html"], [solver, "--hang"])
    assert process.wait(60) == 1
    assert (tmp_path / "job.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "err").read_text() == "mpiq: the job hangs: job.html says why\n"


def test_a_job_that_hangs_and_is_kept(run, solver, tmp_path):
    """It is told once, however often it is looked at, and what mpiq is sent is for the job."""
    process = run(["--keep"], [solver, "--hang"])
    wait_for(lambda: "deadlock:" in (tmp_path / "err").read_text())
    time.sleep(4) # some looks more
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) != 0
    assert (tmp_path / "err").read_text().count("deadlock:") == 1


def test_a_job_that_does_not_hang(run, solver, tmp_path):
    process = run([], [solver, "--steps", "20", "--pause", "200"])
    assert process.wait(60) == 0
    assert (tmp_path / "out").read_text() == "heat 1000.000000\n"
    assert (tmp_path / "err").read_text() == ""


def test_a_command_that_fails(mpiq):
    assert mpiq("run", "--", "sh", "-c", "exit 5").status == 5
    answer = mpiq("run", "--", "/nonexistent/program")
    assert answer.status == 127
    assert answer.err == "mpiq: cannot start /nonexistent/program: No such file or directory\n"


COUNT = """
import os, signal, sys, time
count = 0
def take(number, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, take)
print("ready", flush=True)
end = time.monotonic() + 30
while count == 0 and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.5)
print("count", count, flush=True)
"""


def test_an_interrupt_at_the_terminal_comes_once(mpiq):
    """The terminal sends it to mpiq and to the job: that is once for each."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(mpiq.path, [mpiq.path, "run", "--", sys.executable, "-c", COUNT])
    said = b""
    with contextlib.suppress(OSError): # the terminal's end
        while piece := os.read(terminal, 4096):
            if b"ready" in piece:
                os.write(terminal, b"\x03")
            said += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"count 1" in said, said
