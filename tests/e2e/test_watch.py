# SPDX-License-Identifier: BSD-3-Clause
"""mpiq watch: on a terminal, as lines, and played back; the job goes on whatever happens to either."""
import os
import pathlib
import re
import signal
import subprocess

import pytest

from support import built
from support import job as jobs
from support.conditions import communicate, ended, wait_until
from support.harmless import assert_nothing_stopped, assert_right_result
from support.terminal import Terminal

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3


@pytest.fixture
def checksum(line, programs):
    """The job that knows its right result, at work."""
    executable = line.compile([HERE / "checksum.c"], programs / line.name / "checksum")
    with jobs.Job(line, [executable], RANKS) as job:
        job.wait_ready()
        yield job


def watch(mpiq, job, directory, *before):
    return Terminal([*before, mpiq.path, "watch", "--interval", "0.5", job.pid], directory)


def at_look(terminal, number, *texts):
    """Until the screen of that look, or of one after it, has all of them: it."""
    def is_there(screen):
        look = re.search(r"\blook (\d+)", screen)
        return look and int(look[1]) >= number and all(text in screen for text in texts) and screen

    return terminal.until(is_there, [f"look {number}", *texts])


def test_hung(hung, mpiq, tmp_path):
    """The verdict, the cells and who waits for whom are those of the report; keys lead on from there."""
    report = mpiq(hung.pid).out
    assert report.startswith("deadlock: "), report
    with watch(mpiq, hung, tmp_path) as terminal:
        screen = at_look(terminal, 2, "deadlock: ", "Who waits for whom", "suspect: look there first")
        assert report.split(" (", maxsplit=1)[0] in screen
        assert "stuck" in screen
        terminal.type("w", "1", "Enter")
        chain = mpiq("why", "1", hung.pid).out
        terminal.wait_for(chain.splitlines()[2].split(" (", maxsplit=1)[0])
        terminal.type("h", "1", "Enter")
        terminal.wait_for(mpiq("history", "1", hung.pid).out.splitlines()[2][:40])
        terminal.type("a")
        terminal.wait_for("RANK", "PID")
        terminal.type("w", "9", "9", "Enter")
        terminal.wait_for("the job has no rank 99")
        terminal.type("m")
        terminal.wait_for("Who waits for whom")
        terminal.type("q")
        terminal.wait_for("status 0")
    assert_nothing_stopped(hung)


def test_resized(hung, mpiq, tmp_path):
    with watch(mpiq, hung, tmp_path) as terminal:
        terminal.wait_for("deadlock: ", "Who waits for whom")
        terminal.resize(60, 15)
        screen = terminal.until(lambda screen: "q quit" in screen.splitlines()[14] and screen.startswith("deadlock: ") and screen,
                                "the smaller screen").splitlines()
        assert len(screen) == 15 and max(map(len, screen)) <= 60
        terminal.resize(100, 30)
        wait_until(lambda: "q quit" in terminal.screen().splitlines()[29], terminal.screen)
        terminal.wait_for("Who waits for whom")


def test_pause_and_steps(checksum, mpiq, tmp_path):
    with watch(mpiq, checksum, tmp_path) as terminal:
        at_look(terminal, 3, "running: ")
        terminal.type("Space")
        terminal.wait_for(", paused")
        terminal.type("Left")
        wait_until(lambda: " of " in terminal.screen().splitlines()[-2], terminal.screen)
        terminal.type("Space")
        wait_until(lambda: ", every" in terminal.screen().splitlines()[-2], terminal.screen)
        terminal.type("q")
        terminal.wait_for("status 0")
    assert_nothing_stopped(checksum)
    assert_right_result(checksum)


def test_saved(hung, mpiq, tmp_path):
    with watch(mpiq, hung, tmp_path) as terminal:
        terminal.wait_for("deadlock: ", "Who waits for whom")
        terminal.type("s")
        terminal.wait_for("wrote mpiq-")
        terminal.type("p")
        wait_until(lambda: [page for page in tmp_path.glob("mpiq-*.html") if "</html>" in page.read_text()], terminal.screen)
    snapshot, = tmp_path.glob("mpiq-*.mpiq")
    page, = tmp_path.glob("mpiq-*.html")
    assert mpiq(snapshot).status == 1
    assert "<html" in page.read_text()
    # What was saved is played back: each file is a look.
    played = mpiq("watch", "--plain", snapshot, snapshot)
    assert played.status == 0 and len(played.out.splitlines()) == 2
    assert all(" deadlock " in line for line in played.out.splitlines())
    with Terminal([mpiq.path, "watch", snapshot, snapshot], tmp_path) as terminal:
        terminal.wait_for("Who waits for whom", "look 2, the last one")
        terminal.type("Left")
        terminal.wait_for("look 1 of 2")
        terminal.type("q")
        terminal.wait_for("status 0")


def test_rank_killed(checksum, mpiq, tmp_path):
    """It is gone, which is said; the others stay."""
    with watch(mpiq, checksum, tmp_path) as terminal:
        terminal.wait_for("running: ")
        victim = next(pid for pid, rank in checksum.ready.items() if rank == 1)
        os.kill(victim, signal.SIGKILL)
        # The launcher ends the others.
        terminal.wait_for("the job has ended")
        terminal.type("q")
        terminal.wait_for("status 0")
    checksum.wait()


def test_job_ended(checksum, mpiq, tmp_path):
    with watch(mpiq, checksum, tmp_path) as terminal:
        terminal.wait_for("running: ")
        assert_right_result(checksum)
        terminal.wait_for("the job has ended")
        terminal.type("q")
        terminal.wait_for("status 0")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_killed(number, checksum, mpiq, tmp_path):
    """The job goes on, and nobody is left who reads it."""
    with watch(mpiq, checksum, tmp_path) as terminal:
        terminal.wait_for("running: ")
        own, = subprocess.run(["pgrep", "-P", str(terminal.pid())], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        readers = subprocess.run(["pgrep", "-P", own], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        os.kill(int(own), number)
        terminal.wait_for("status 0" if number == signal.SIGTERM else "status 137")
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in readers), "the end of the readers")
    assert_nothing_stopped(checksum)
    assert_right_result(checksum)


def test_plain(checksum, mpiq):
    """A line a look, until the job has ended."""
    process = subprocess.Popen([mpiq.path, "watch", "--plain", "--interval", "0.2", str(checksum.pid)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [process.stdout.readline() for _ in range(4)]
    assert_right_result(checksum)
    rest, said = communicate(process)
    assert ended(process) == 0
    assert said.endswith("mpiq: the job has ended\n")
    for text in lines:
        time, verdict, count = text.split()[:3]
        assert time.count(":") == 2 and count == str(RANKS)
        assert verdict in ("running", "unknown")
    assert all(line.count("\n") == 1 for line in [*lines, *rest.splitlines(keepends=True)])


@pytest.mark.parametrize("name", ["", "dumb", "no-such-terminal"])
def test_terminal_without_a_screen(name, hung, mpiq, tmp_path):
    with watch(mpiq, hung, tmp_path, "env", f"TERM={name}") as terminal:
        shown = terminal.wait_for("status 2")
        assert "--plain prints a line for each look" in shown


def test_no_terminal(hung, mpiq):
    answer = mpiq("watch", hung.pid)
    assert answer.status == 2 and answer.out == ""
    assert answer.err == "mpiq: a screen needs a terminal: --plain prints a line for each look\n"


def test_wrong_options(mpiq):
    assert mpiq("report", "--plain").status == 2
    assert mpiq("watch", "--interval", "0").status == 2
    assert mpiq("watch", "--json").status == 2
    assert mpiq("watch", "--stop").status == 2


@pytest.mark.parametrize("name", ["openmpi", "mpich", "mpich+record"])
def test_libraries(name, programs, mpiq, tmp_path):
    """As they are installed, and MPICH under the recorder: watched from its first second to its end."""
    library = built.line(name)
    executable = library.compile([HERE / "checksum.c"], programs / name / "checksum")
    with jobs.Job(library, [executable], RANKS) as job:
        job.wait_ready()
        with watch(mpiq, job, tmp_path) as terminal:
            at_look(terminal, 2, "Who waits for whom")
            terminal.resize(60, 15)
            at_look(terminal, 3)
            terminal.resize(100, 30)
            terminal.wait_for("Who waits for whom")
            assert_right_result(job)
            terminal.wait_for("the job has ended")
            terminal.type("q")
            terminal.wait_for("status 0")
