# SPDX-License-Identifier: BSD-3-Clause
"""mpiq run: a job that hangs is reported and ended, one that does not is left to itself."""
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import uuid

import pytest

from support import job as jobs
from support.conditions import communicate, ended, wait_until
from support.harmless import kill_marked

# With what stderr says how to leave a hung job alive.
KEEP = " proved the deadlock; with --keep it would be left alive"


@pytest.fixture
def run(line, mpiq, tmp_path):
    """run(WORDS, SOLVER WORDS): the Popen of mpiq run with the solver on three ranks, all of whose processes end
    with the test."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    started = []

    def start(words, program, **options):
        environment = {**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark}
        mpirun = [line.command("mpirun"), "--oversubscribe", "-n", "3", "nice"] # who hangs spins for nothing
        with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
            started.append(mpiq.start("run", "--hang-after", "5", *words, "--", *mpirun, *program, stdout=out,
                                      stderr=err, env=environment, cwd=tmp_path))
        started[-1].mark = mark
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    kill_marked(mark)


def gone(mark):
    """No process of a job is left; one that was killed may take a moment to end."""
    wait_until(lambda: all(jobs.process_state(pid) in "XZ" for pid in jobs.marked_processes(mark)), "the end of the job")


def test_a_job_that_hangs(run, solver, tmp_path):
    process = run([], [solver, "--hang"])
    assert ended(process) == 124
    said = (tmp_path / "err").read_text()
    assert said.startswith("deadlock: none of the 3 ranks can continue"), said
    assert said.count("deadlock:") == 1
    gone(process.mark)


def test_a_script_whose_job_hangs(line, mpiq, solver, tmp_path):
    """The script is ended, and so is the job that it leaves behind."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\n{line.command('mpirun')} --oversubscribe -n 3 {solver} --hang\necho went on\n")
    script.chmod(0o755)
    try:
        answer = mpiq("run", "--hang-after", "5", "--", script, cwd=tmp_path,
                      env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
        assert (answer.status, answer.out) == (124, "")
        gone(mark)
    finally:
        kill_marked(mark)


def test_files_of_a_job_that_hangs(run, mpiq, solver, tmp_path):
    process = run(["--html", "job.html", "--json-to", "job.json"], [solver, "--hang"])
    assert ended(process) == 124
    assert (tmp_path / "job.html").read_text().startswith("<!doctype html>")
    err = (tmp_path / "err").read_text()
    said = [text for text in err.splitlines() if text.startswith("mpiq: ")]
    assert err.startswith("deadlock: "), err
    assert said[:2] == ["mpiq: wrote job.html", "mpiq: wrote job.json"], said
    (snapshot,) = tmp_path.glob("mpiq-*.mpiq")
    assert said[2] == f"mpiq: wrote the snapshot {snapshot.name}: mpiq report {snapshot.name}"
    assert said[3].startswith("mpiq: ending the job: two looks ") and said[3].endswith(KEEP), said
    assert len(said) == 4
    assert json.loads((tmp_path / "job.json").read_text())["verdict"] == "deadlock"
    assert mpiq("report", snapshot).status == 1


def test_a_job_that_hangs_and_is_kept(run, solver, tmp_path):
    """It is told once, however often it is looked at, and what mpiq is sent is for the job."""
    process = run(["--keep"], [solver, "--hang"])
    wait_until(lambda: "deadlock:" in (tmp_path / "err").read_text())
    spent = jobs.cpu_with_children(process.pid)
    wait_until(lambda: jobs.cpu_with_children(process.pid) > 2 * spent or process.poll() is not None, "some looks more")
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert ended(process) != 0
    assert (tmp_path / "err").read_text().count("deadlock:") == 1


def test_a_job_that_does_not_hang(run, solver, tmp_path):
    process = run([], [solver, "--steps", "20", "--pause", "200"])
    assert ended(process) == 0
    assert (tmp_path / "out").read_text() == "heat 1000.000000\n"
    assert (tmp_path / "err").read_text() == ""


HEALTHY = ["naps", "tool", "writer", "computes", "writes", "polled", "polled_with_naps", "exchanges",
           "exchanges_with_naps"]
HUNG = ["polls_for_ever", "polls_and_naps_for_ever", "sleeps_for_ever"]
HANG_AFTER = 5


@pytest.fixture(scope="session")
def activity(line, programs):
    return line.compile([pathlib.Path(__file__).with_name("activity.c")], programs / line.name / "activity")


def started(mpiq, line, program, *arguments, keep=False, stderr=subprocess.PIPE, **variables):
    """mpiq run with the program on two ranks that give the processor away while they wait."""
    environment = {**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": f"mpiq-{uuid.uuid4().hex}",
                   "OMPI_MCA_mpi_yield_when_idle": "1", **variables}
    process = mpiq.start("run", "--hang-after", str(HANG_AFTER), *(["--keep"] if keep else []), "--",
                         line.command("mpirun"), "--oversubscribe", "-n", "2", program, *arguments,
                         stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment, cwd=program.parent)
    process.mark = environment["MPIQ_TEST_JOB"]
    return process


def end(process):
    process.kill()
    kill_marked(process.mark)


def said_by(process, seconds=120):
    """(status, stdout, stderr), and no process of the job is left."""
    try:
        out, err = communicate(process, seconds, kill=lambda: end(process))
        gone(process.mark)
    finally:
        end(process)
    return process.returncode, out, err


def said_by_each(mpiq, line, activity, names, seconds):
    """{name: what said_by gives} of jobs that run at once; none of them is left."""
    running = {name: started(mpiq, line, activity, name, str(seconds)) for name in names}
    try:
        return {name: said_by(process) for name, process in running.items()}
    finally:
        for process in running.values():
            end(process)


def test_work_outside_mpi_is_no_hang(line, mpiq, activity):
    """However long it takes: here twice --hang-after.  Output and status are the program's own."""
    for name, (status, out, err) in said_by_each(mpiq, line, activity, HEALTHY, 2 * HANG_AFTER).items():
        assert (status, out) == (7, "done\n" * 2), f"{name}: {err}"
        assert "mpiq: ending" not in err and "stalled" not in err, f"{name}: {err}"
        assert err.count("mpiq: MPI has made no progress ") <= 1, f"{name}: {err}"


def test_a_job_in_which_nothing_moves_is_ended(line, mpiq, activity):
    """It cannot be proven to be stuck: it polls, or sleeps."""
    for name, (status, out, err) in said_by_each(mpiq, line, activity, HUNG, 0).items():
        assert (status, out) == (124, ""), f"{name}: {err}"
        # Where the machine is busy, a nap may first look like work: that is said once, and the job goes on.
        assert re.search("^stalled: ", err, re.M), f"{name}: {err}"
        # What the launcher and the ranks say of their end comes after it, and is theirs.
        said = [text for text in err.splitlines() if text.startswith("mpiq: ")]
        said = [text for text in said if not text.startswith("mpiq: MPI has made no progress for ")]
        assert len(said) == 2 and said[0].startswith("mpiq: wrote the snapshot "), f"{name}: {err}"
        assert said[1].startswith("mpiq: ending the job: nothing has moved for "), f"{name}: {err}"
        assert said[1].endswith(" s (--hang-after); with --keep it would be left alive"), f"{name}: {err}"


def test_a_launcher_that_ends_is_not_asked(line, mpiq, activity, tmp_path):
    """Its ranks were all here and have ended.  A PMIx query that reaches it while it shuts down can make it hang for ever.
    (Here it is stopped, so that there is time for a look.)"""
    if line.release != "5.0":
        pytest.skip("its launcher cannot be asked through PMIx")
    said = tmp_path / "said"
    process = started(mpiq, line, activity, "exchanges", "1000", stderr=said.open("w"), MPIQ_DEBUG="hosts,watch")
    try:
        wait_until(lambda: len(ranks_of(process.mark)) == 2 and said.read_text().count(" started\n") == 2, said.read_text)
        launcher = jobs.parent_of(ranks_of(process.mark)[0])
        os.kill(launcher, signal.SIGSTOP)
        jobs.kill_ranks(ranks_of(process.mark).values())
        wait_until(lambda: "the launcher is not asked" in said.read_text(), said.read_text)
        assert "is asked through PMIx" not in said.read_text()
        os.kill(launcher, signal.SIGCONT)
        assert ended(process) == 128 + signal.SIGKILL
    finally:
        end(process)


def test_a_page_follows_the_verdict(line, mpiq, solver, tmp_path):
    """With --keep: here a rank is stopped for a while, and then it goes on."""
    page = tmp_path / "job.html"
    err = tmp_path / "err"
    mark = f"mpiq-{uuid.uuid4().hex}"
    process = mpiq.start("run", "--keep", "--hang-after", "5", "--snapshot", tmp_path / "job.mpiq", "--html", page, "--", line.command("mpirun"),
                         "--oversubscribe", "-n", "2", solver, "--steps", "1000000", "--pause", "100",
                         stdout=subprocess.DEVNULL, stderr=err.open("w"),
                         env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
    try:
        wait_until(lambda: len(ranks_of(mark)) == 2, "two ranks")
        # It steps: ranks have begun to nap in between.
        naps = {pid: jobs.naps(pid) for pid in ranks_of(mark).values()}
        wait_until(lambda: all(jobs.naps(pid) > before + 20 for pid, before in naps.items()), "ranks that step")
        os.kill(ranks_of(mark)[1], signal.SIGSTOP)
        wait_until(lambda: page.exists() and ">stalled" in page.read_text())
        os.kill(ranks_of(mark)[1], signal.SIGCONT)
        wait_until(lambda: ">running" in page.read_text(), err.read_text)
        wait_until(lambda: verdicts_in(err)[-2:] == ["stalled", "running"], err.read_text)
        wait_until(lambda: err.read_text().count(f"mpiq: wrote {page}\n") == len(verdicts_in(err)), err.read_text)
        assert process.poll() is None
    finally:
        process.kill()
        kill_marked(mark)
    # A job that takes long to start, or whose rank was stopped as it started, is told of before.
    *first, stalled, running = verdicts_in(err)
    assert (stalled, running) == ("stalled", "running") and set(first) <= {"unknown", "running"}, err.read_text()


def verdicts_in(err):
    return [text.split(":")[0] for text in err.read_text().splitlines() if text.startswith(("stalled", "running", "unknown", "deadlock"))]


def ranks_of(mark):
    ranks = {jobs.rank_of(pid): pid for pid in jobs.marked_processes(mark)}
    return {rank: pid for rank, pid in ranks.items() if rank is not None}


def test_a_command_that_fails(mpiq):
    assert mpiq("run", "--", "sh", "-c", "exit 5").status == 5
    answer = mpiq("run", "--", "/nonexistent/program")
    assert answer.status == 127
    assert answer.err == "mpiq: cannot start /nonexistent/program: No such file or directory\n"
    assert mpiq("run", "--", "/etc/passwd").status == 126


def test_a_parent_that_ignores_its_children(mpiq):
    """What that leaves to mpiq would keep the command's status from it."""
    answer = subprocess.run(["sh", "-c", "trap '' CHLD; exec \"$0\" run -- sh -c 'exit 7'", mpiq.path], check=False)
    assert answer.returncode == 7


@pytest.mark.parametrize("words", [["--html", "no/page"], ["--json-to", "no/answer"], ["--snapshot", "no/job.mpiq"],
                                   ["--html", "."], ["--hang-after", "0"], ["--hang-after", "4.9"], ["--json"],
                                   ["--check=everything"]], ids=" ".join)
def test_what_cannot_be_is_refused_before_anything_runs(words, mpiq, tmp_path):
    answer = mpiq("run", *words, "--", "touch", "ran", cwd=tmp_path)
    assert (answer.status, answer.out) == (2, ""), answer.err
    assert answer.err.count("\n") == 1 and answer.err.startswith("mpiq: ")
    assert not list(tmp_path.iterdir())


HEARTBEAT = pathlib.Path(__file__).with_name("heartbeat.c")


LEAVES = """#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    FILE *file;
    int pid = 0;
    if (atoi(rank) == 1) {
        file = fopen("leaves.new", "w");
        fprintf(file, "%d ", (int)getpid());
        fclose(file);
        return rename("leaves.new", "leaves.pid");
    }
    /* Open MPI ends the job if some are in MPI_Init when one leaves. */
    while (!(file = fopen("leaves.pid", "r")))
        usleep(1000);
    if (fscanf(file, "%d", &pid) != 1)
        return 1;
    while (kill(pid, 0) == 0)
        usleep(1000);
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_a_rank_that_leaves_before_mpi_init_is_named(library, mpiq, tmp_path):
    """It has no process that could be read, and the others wait in MPI_Init for ever."""
    if not shutil.which(f"mpirun.{library}"):
        pytest.skip(f"no {library} here")
    (tmp_path / "leaves.c").write_text(LEAVES)
    subprocess.run([f"mpicc.{library}", "-g", "-o", tmp_path / "leaves", tmp_path / "leaves.c"], check=True)
    many = ["--oversubscribe"] if library == "openmpi" else []
    mark, said = f"mpiq-{uuid.uuid4().hex}", tmp_path / "said"
    with mpiq.start("run", "--hang-after", "5", "--", f"mpirun.{library}", *many, "-n", "3", tmp_path / "leaves",
                    stdout=subprocess.DEVNULL, stderr=said.open("w"), cwd=tmp_path,
                    env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark}) as process:
        try:
            wait_until(lambda: "1. Rank 1 has not entered the MPI_Init that the other 2 ranks are waiting in" in said.read_text(),
                       said.read_text)
        finally:
            process.kill()
            kill_marked(mark)
    assert "running" not in said.read_text()


SERVER = """#include <mpi.h>
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int rank;
    MPI_Comm client;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
    return MPI_Finalize();
}
"""


def test_a_server_without_clients_lives(mpiq, tmp_path):
    """Another job may connect at any time.  (Debian's MPICH has no ports with UCX.)"""
    if not shutil.which("mpicc.openmpi"):
        pytest.skip("mpicc.openmpi is not installed")
    (tmp_path / "server.c").write_text(SERVER)
    subprocess.run(["mpicc.openmpi", "-g", "-o", tmp_path / "server", tmp_path / "server.c"], check=True)
    mark, said = f"mpiq-{uuid.uuid4().hex}", tmp_path / "said"
    process = mpiq.start("run", "--hang-after", "5", "--", "mpirun.openmpi", "--oversubscribe", "-n", "2",
                         tmp_path / "server", stdout=subprocess.DEVNULL, stderr=said.open("w"), cwd=tmp_path,
                         env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
    try:
        goes_on = "(server) waits for another job in MPI_Comm_accept or MPI_Comm_connect: the job goes on"
        wait_until(lambda: goes_on in said.read_text() or process.poll() is not None, said.read_text)
        assert process.poll() is None, said.read_text()
        assert not re.search("^(stalled|deadlock|running): ", said.read_text(), re.M), said.read_text()
    finally:
        process.kill()
        process.wait()
        kill_marked(mark)


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_a_job_whose_heart_beats_is_reported_once_and_lives(library, mpiq, tmp_path):
    """Nothing tells a thread that naps or computes for ever from one that will act."""
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    subprocess.run([f"mpicc.{library}", "-g", "-pthread", "-o", tmp_path / "beat", HEARTBEAT], check=True)
    mark = f"mpiq-{uuid.uuid4().hex}"
    many = ["--oversubscribe"] if library == "openmpi" else []
    verdicts = {"thread": "running: rank 1 is asleep in ", "poll": "running: rank 1 is asleep in ",
                "worker sends": "running: ", "worker tells": "running: "}
    errors = {how: tmp_path / f"{how}-err" for how in verdicts}
    running = {}
    try:
        for how, err in errors.items():
            running[how] = mpiq.start("run", "--hang-after", "5", "--", f"mpirun.{library}", *many, "-n", "3",
                                      tmp_path / "beat", how, stderr=err.open("w"), cwd=tmp_path,
                                      env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
        wait_until(lambda: all("mpiq: MPI has made no progress for " in err.read_text() for err in errors.values()))
        (tmp_path / "let go").touch()
        for how, process in running.items():
            assert ended(process) == 0, errors[how].read_text()
    finally:
        for process in running.values():
            process.kill()
        kill_marked(mark)
    for how, err in errors.items():
        said = [text for text in err.read_text().splitlines() if text.startswith(("mpiq: ", "running: ", "stalled: "))]
        assert len(said) == 2 and said[0].startswith(verdicts[how]), said
        assert "(beat) computes or wakes outside MPI: the job goes on" in said[1]


COUNT = """
import os, signal, sys, time
count = 0
def take(number, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, take)
print("ready", flush=True)
end = time.monotonic() + 300
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
