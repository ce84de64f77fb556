# SPDX-License-Identifier: BSD-3-Clause
"""What one rank does to its reader costs that rank: the others are read, what is said of them does not change, and
it comes in time."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

import pytest

from support import job as jobs
from support import libraries
from support.answers import without_times
from support.conditions import communicate, ended, slowness, wait_until

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 4
VICTIM = 3
# Seconds that one rank may hold up all others, where nothing else is at work: MPIQ_LATENESS=1 on a machine that is
# quiet. Elsewhere nobody can tell how long a process waits for its turn, and only a report that hangs is a failure.
STRICT = bool(os.environ.get("MPIQ_LATENESS"))
LATE = 2 if STRICT else 60
TRIES = 3 if STRICT else 1

# What the report says of the victim, and what the reader has done.
FAULTS = {
    "late": r"reading it timed out after [\d.]+ s",
    "hang": r"reading it timed out after [\d.]+ s",
    "spin": r"reading it timed out after [\d.]+ s",
    "crash": r"the process that read it crashed \(signal 11, Segmentation fault\)",
    "end": r"the process that reads ranks has ended",
    "memory": r"memory",
    "nonsense": r"the process that reads ranks sent a malformed reply",
}


@pytest.fixture(scope="module")
def line():
    """Any Open MPI, as it is installed: nothing here is about its records."""
    found = libraries.lines()
    for name in ("4.1-debian", "4.1-stock", "5.0-stock", "4.1", "5.0"):
        if name in found:
            return found[name]
    pytest.skip("no MPIQ_OMPI_… variable names an Open MPI")


@pytest.fixture(scope="module")
def program(line, programs):
    return line.compile([HERE / "three_and_one.c"], programs / "three_and_one", "-ldl")


@contextlib.contextmanager
def hung(line, program, **environment):
    with jobs.Job(line, [program], RANKS, environment=environment) as started:
        started.wait_ready()
        started.stand_still()
        started.step_back()
        yield started


@pytest.fixture(scope="module")
def job(line, program):
    with hung(line, program) as job:
        yield job


@pytest.fixture(scope="module")
def faulty(compiled, mpiq, programs):
    """faulty(job, fault): the environment in which readers have that fault over the victim."""
    library = compiled((HERE / "faulty_reader.c").read_text(encoding="utf-8"), "-shared", "-fPIC", "-D_GNU_SOURCE")
    reader = pathlib.Path(mpiq.path).parent.parent / "lib" / "rank" / "mpiq-reader"
    wrapper = programs / "mpiq-reader"
    wrapper.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {reader} "$@"\n')
    wrapper.chmod(0o755)

    def environment(job, fault):
        return {**os.environ, "MPIQ_READER": str(wrapper), "MPIQ_TEST_FAULT": fault,
                "MPIQ_TEST_VICTIM": str(pid_of(job, VICTIM))}

    return environment


def pid_of(job, rank):
    return next(pid for pid, number in job.ready.items() if number == rank)


def look(mpiq, job, *options, **more):
    """The report as JSON, and the seconds that it took."""
    begin = time.monotonic()
    answer = mpiq("--pause", "0.05", *options, "--json", job.pid, **more)
    return answer.json, time.monotonic() - begin


def proven(mpiq, job, *options, **more):
    """The same of the look that proves the circle: a rank that gets no processor between its two halves is not seen to poll,
    and then nothing is known."""
    reports = []

    def is_proven():
        reports[:] = look(mpiq, job, *options, **more)
        assert reports[0]["verdict"] in ("deadlock", "unknown"), reports[0]
        return reports[0]["verdict"] == "deadlock"

    wait_until(is_proven, lambda: reports[0])
    return reports


def honest_part(report):
    """What it says of ranks 0 to 2, without what passes by."""
    rows = [rank for rank in report["ranks"] if rank.get("rank") in (0, 1, 2)]
    for row in rows:
        for what in ("cpu_seconds", "state"):
            row.pop(what, None)
    return without_times([report["verdict"], report["findings"][0], rows])


def assert_in_time(what, usual, seconds):
    """The seconds of looks with a fault, beside those of looks without."""
    delays = [slow - statistics.median(usual) for slow in seconds]
    load = os.getloadavg()[0]
    print(f"{what}: {statistics.median(usual):.2f} s without, delayed by {', '.join(f'{delay:.2f}' for delay in delays)} s"
          f" (load {load:.1f})")
    assert max(delays) < LATE * slowness()


def problems_of(report, rank):
    return " ".join(problem["text"] for row in report["ranks"] if row["rank"] == rank
                    for problem in row.get("problems", []))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("options", [[], ["--stop"]], ids=["", "stop"])
def test_a_fault_costs_its_rank(fault, options, job, faulty, mpiq):
    usual, seconds = [], []
    for _ in range(TRIES):
        truth, took = proven(mpiq, job, *options)
        usual.append(took)
        assert (truth["findings"][0]["kind"], truth["findings"][0]["ranks"]) == ("wait_cycle", "0-2")
        report, took = proven(mpiq, job, *options, env=faulty(job, fault))
        seconds.append(took)
        assert honest_part(report) == honest_part(truth)
        assert re.search(FAULTS[fault], problems_of(report, VICTIM)), problems_of(report, VICTIM)
        assert not any(problems_of(report, rank) for rank in range(VICTIM))
    assert_in_time(" ".join([fault, *options]), usual, seconds)


def test_if_every_reader_fails_the_report_says_so_of_each_rank(job, faulty, mpiq):
    """Every rank's reader ends over it: a report all the same, which says so of each."""
    environment = {**faulty(job, "crash"), "MPIQ_TEST_VICTIM": "any"}
    report, _ = look(mpiq, job, env=environment)
    assert report["verdict"] == "unknown" or report["findings"] == []
    for rank in range(RANKS):
        assert re.search(FAULTS["crash"], problems_of(report, rank))


def test_ctrl_z_leaves_no_rank_stopped(job, faulty, mpiq):
    """mpiq would stop while a reader hangs over a rank that it has stopped: it waits until the look is over."""
    process = mpiq.start("--stop", "--pause", "0.05", job.pid, env=faulty(job, "freeze"), process_group=0)
    victim = pid_of(job, VICTIM)
    try:
        wait_until(lambda: jobs.process_state(victim) == "t" or process.poll() is not None, "a frozen rank", every=0.005)
        os.kill(process.pid, signal.SIGTSTP)
        wait_until(lambda: jobs.process_state(process.pid) == "T" or process.poll() is not None, "a stopped mpiq", every=0.005)
        assert process.poll() is None
        assert [jobs.process_state(pid) for pid in job.ready if jobs.process_state(pid) in "tT"] == []
        os.kill(process.pid, signal.SIGCONT)
        assert ended(process) in (1, 3) # unknown, where a rank got no processor
    finally:
        process.kill()
        process.wait()


# ---- a library that is cut -----------------------------------------------------------------------------


@pytest.fixture
def library(compiled, tmp_path):
    """Large enough to have pages that nobody has read yet."""
    text = "int hostile(void) { return 1; }\nconst char padding[1 << 20] = {1};\n"
    path = tmp_path / "libhostile.so"
    shutil.copy(compiled(text, "-shared", "-fPIC"), path)
    return path


def test_a_library_cut_before_it_is_read(line, program, library, mpiq):
    with hung(line, program, MPIQ_LIBRARY=str(library)) as job:
        truth, usual = proven(mpiq, job)
        os.truncate(library, 5000)
        report, seconds = proven(mpiq, job)
    assert honest_part(report) == honest_part(truth)
    assert_in_time("a library that is cut", [usual], [seconds])


def test_a_library_cut_while_it_is_read(line, program, library, mpiq):
    """Between the looks, while the reader has it mapped."""
    with hung(line, program, MPIQ_LIBRARY=str(library)) as job:
        truth, _ = proven(mpiq, job)
        process = mpiq.start("--pause", "2", "--json", job.pid, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "MPIQ_TEST_JOB": "cut-" + job.mark})
        wait_until(lambda: maps(library, "cut-" + job.mark) or process.poll() is not None, "mpiq has mapped the library")
        assert process.poll() is None
        os.truncate(library, 0)
        out, _ = communicate(process)
        again, _ = proven(mpiq, job)
    assert process.returncode in (1, 3) # unknown, where a rank got no processor
    assert honest_part(again) == honest_part(truth)
    assert process.returncode == 3 or honest_part(json.loads(out)) == honest_part(truth)


def maps(path, mark):
    """Whether a reader has that file mapped."""
    for pid in jobs.marked_processes(mark):
        with contextlib.suppress(OSError):
            if (pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "mpiq-reader"
                    and str(path) in pathlib.Path(f"/proc/{pid}/maps").read_text()):
                return True
    return False


# ---- another root ---------------------------------------------------------------------------------------

LIBRARY = """
#include <unistd.h>
static int sleeps_in_another_root(void) { return (int)pause(); }
int nap(void) { return sleeps_in_another_root(); }
"""
SLEEPER = "int nap(void); int main(void) { return nap(); }"


ENTERED = 'mount --bind "$1" "$1" && cd "$1" && pivot_root . old && exec /bin/sleeper'
ROOTS = {"chroot": lambda jail: ["chroot", jail, "/bin/sleeper"],
         "container": lambda jail: ["unshare", "--mount", "sh", "-c", ENTERED, "sh", jail]}


@pytest.mark.parametrize("kind", ROOTS)
def test_a_process_beneath_another_root_is_read(kind, compiled, mpiq, root, tmp_path):
    """By a confined reader, and by the files beneath its own root: a static function of a library has its name
    nowhere else."""
    library = compiled(LIBRARY, "-O0", "-shared", "-fPIC", "-Wl,-soname,libnap.so")
    program = compiled(SLEEPER, "-O0", library)
    jail = tmp_path / "jail"
    needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True,
                                                       check=True).stdout)
    for file in needed:
        (jail / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, jail / file[1:])
    (jail / "bin").mkdir(exist_ok=True)
    shutil.copy(program, jail / "bin" / "sleeper")
    shutil.copy(library, jail / "bin" / "libnap.so")
    as_rank = {"PMIX_NAMESPACE": "jail", "PMIX_RANK": "0", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1",
               "LD_LIBRARY_PATH": "/bin"}
    (jail / "old").mkdir()
    process = subprocess.Popen(ROOTS[kind](jail), env={**os.environ, **as_rank})
    try:
        wait_until(lambda: jobs.process_state(process.pid) == "S" and "sleeper" in os.readlink(f"/proc/{process.pid}/exe"),
                   "the sleeper asleep")
        answer = mpiq("ranks", "--json", process.pid)
        assert "sleeps_in_another_root" in answer.out, answer.out + answer.err
    finally:
        process.kill()
        process.wait()
