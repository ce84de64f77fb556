# SPDX-License-Identifier: BSD-3-Clause
"""That a job goes on undisturbed, and that nothing is left of what looked at it."""
import contextlib
import os
import pathlib
import re
import signal

from support import job as jobs
from support.conditions import NotMet, wait_until


def assert_right_result(job):
    """Told to stop, it ends by itself and has gone through every round undisturbed."""
    assert job.process.poll() is None, job.output()
    (job.directory / "stop").touch()
    assert job.wait(120) == 0, job.output()
    assert re.fullmatch(r"right after [1-9]\d* rounds\n", jobs.without_late_launcher(job.output()))


def thread_states(pid):
    """The states of all threads: R S D T t Z."""
    states = set()
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            states.add((thread / "stat").read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            pass
    return states


def assert_nothing_stopped(job):
    """No thread of a rank stays stopped or traced."""
    def stopped():
        return [pid for pid in job.ready if jobs.carries(pid, job.mark) and thread_states(pid) & {"T", "t"}]

    wait_until(lambda: job.process.poll() is not None or not stopped(), lambda: f"threads of {stopped()} were left stopped",
               seconds=20)


def program(pid):
    """The name of a process's program; empty once it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def left_of(mark):
    """Who carries the mark, as "PID PROGRAM".  Not gdb's own children: it forks one to learn what ptrace can do, which
    stops itself and stays so where gdb is killed at that moment."""
    return [f"{pid} {program(pid)}" for pid in jobs.marked_processes(mark) if program(pid) not in ("", "gdb")]


def end_marked(mark):
    """What is left of those that carry the mark a while after they should have ended; it is killed."""
    with contextlib.suppress(NotMet):
        wait_until(lambda: not left_of(mark), seconds=20)
    left = left_of(mark)
    kill_marked(mark)
    return left


def kill_marked(mark):
    """Ends all that carry the mark."""
    for pid in jobs.marked_processes(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
