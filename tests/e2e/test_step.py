# SPDX-License-Identifier: BSD-3-Clause
"""mpiq run --step: the example's ring stepped by keys and by lines; whoever looks meanwhile says that ranks are held."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import uuid

import pytest

from support import job as jobs
from support.answers import line_of
from support.conditions import communicate, ended, wait_until
from support.documents import blocks
from support.harmless import kill_marked
from support.terminal import Terminal

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "gdb"))

import gdb_session # noqa: E402

RING = HERE.parents[1] / "examples" / "ring.c"
RANKS = 3
RIGHT = "rank 0 has 0, all have 3\n" # after three turns


@pytest.fixture(params=["openmpi", "mpich"])
def library(request):
    return request.param


@pytest.fixture
def ring(library, programs):
    program = programs / f"ring-{library}"
    if not program.exists():
        subprocess.run([f"mpicc.{library}", "-g", "-O1", "-o", program, RING], check=True)
    return program


@pytest.fixture
def stepped(library, programs):
    program = programs / f"stepped-{library}"
    if not program.exists():
        subprocess.run([f"mpicc.{library}", "-g", "-O1", "-o", program, HERE / "stepped.c", "-pthread"], check=True)
    return program


@pytest.fixture
def mark(monkeypatch):
    """In the environment of all that a test starts."""
    one = f"mpiq-{uuid.uuid4().hex}"
    monkeypatch.setenv("MPIQ_TEST_JOB", one)
    for name, value in jobs.AS_ROOT.items():
        monkeypatch.setenv(name, value)
    yield one
    kill_marked(one)


@pytest.fixture
def command(library, ring):
    """command(PROGRAM...): what starts the ring, or a program on two ranks."""
    several = ["--oversubscribe"] if library == "openmpi" else []
    return lambda program=None, ranks=RANKS: [f"mpirun.{library}", *several, "-n",
                                              *map(str, [2, *program] if program else [ranks, ring, 3])]


@pytest.fixture
def step(command, mpiq, tmp_path, mark):
    """step(WORDS...): a terminal in which the ring (or program=[...] on two ranks) is stepped."""
    terminals = []

    def start(*words, redirected=False, **what):
        program = command(**what)
        program = ["sh", "-c", f"exec {shlex.join(program)} >out"] if redirected else program
        terminals.append(Terminal([mpiq.path, "run", "--step", *words, "--", *program], tmp_path, columns=130))
        terminals[-1].mark = mark
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.__exit__()


def rows(screen):
    """What the screen says of each rank: a line, without its mark."""
    lines = screen.splitlines()
    return {int(line[1:].split()[0]): line for line in lines if line[1:].split() and line[1:].split()[0].isdigit()}


def data_of(screen):
    """What it says of the data of calls."""
    return [line.strip() for line in screen.splitlines() if "data:" in line]


def wait_for_rows(terminal, *texts):
    """Until the row of each rank has its text: the screen."""
    def are_there(screen):
        found = rows(screen)
        return len(found) == len(texts) and all(text in found[rank] for rank, text in enumerate(texts)) and screen

    return terminal.until(are_there, texts)


def wait_until_held(terminal, *texts):
    """Until each rank is held before a call, and its row has its text: the screen.  A key reaches only those that are held."""
    def are_held(screen):
        found = rows(screen)
        return len(found) == len(texts) and all(" held " in found[rank] and text in found[rank]
                                                for rank, text in enumerate(texts)) and screen

    return terminal.until(are_held, ("held", *texts))


def test_screen(step):
    """The call, whom it is about as a picture, tag, communicator, data and line; and what follows."""
    terminal = step()
    send, receive = (line_of(RING, f"MPI_{call}(") for call in ("Issend", "Recv"))
    wait_until_held(terminal, *[f"MPI_Issend to {(rank + 1) % RANKS} tag 7 on MPI_COMM_WORLD  ring.c:{send} main"
                                for rank in range(RANKS)])
    # The verdict is that of two looks: of the first ones the earlier may be from before the hold.
    screen = terminal.wait_for("unknown: cannot tell whether the job hangs: all ranks are held by mpiq run --step",
                               "3 ranks: 3 held before a call, 0 in a call")
    assert [row[8:].split("MPI_", maxsplit=1)[0].strip() for row in rows(screen).values()] == [
        "held    [0]..>1", "held         [1]..>2", "held     0<.......[2]"]
    assert data_of(screen) == [f"data: 1 MPI_INT: {rank}" for rank in range(RANKS)]
    terminal.type("a")
    wait_for_rows(terminal, *[f"MPI_Recv from MPI_ANY_SOURCE tag 7 on MPI_COMM_WORLD  ring.c:{receive} main"] * RANKS)
    terminal.until(lambda screen: not data_of(screen), "no data")
    terminal.type("q")
    assert RIGHT in terminal.wait_for("status 0")


@pytest.mark.parametrize("library", ["openmpi"], indirect=True)
def test_readme(step):
    """The screen that README shows, after the keys that lead there.  (In MPICH a rank that is held before a call takes no
    message further, so others stay in their calls for a key longer.)"""
    shown = next(block for block in blocks(RING.parents[1] / "README.md") if "run --step" in block.text)
    _, *lines = shown.text.splitlines()
    assert lines[-1] == "…"
    terminal = step(ranks=4)
    # MPI_Wait names the MPI_Issend that it waits for: only the line tells the two apart.
    sends = [f"MPI_Issend to {to} tag 7 on MPI_COMM_WORLD  ring.c:{line_of(RING, 'MPI_Issend(')} main" for to in (1, 2, 3, 0)]
    for key, calls in [("a", sends), ("a", ["MPI_Recv from MPI_ANY_SOURCE"] * 4),
                       ("a", [f"MPI_Wait for MPI_Issend to {to} tag 7 on MPI_COMM_WORLD" for to in (1, 2, 3, 0)]),
                       ("s", sends), ("s", ["MPI_Recv from 3 ", *sends[1:]])]:
        wait_until_held(terminal, *calls)
        terminal.type(key)
    wait_for_rows(terminal, "  in  ", *["held"] * 3)
    terminal.wait_for(*[line.rstrip() for line in lines[:-1]])
    terminal.type("q")
    terminal.wait_for("status 0")


def test_one_rank(step):
    """A rank alone: what it waits for in its call, with a line to whoever may send it."""
    terminal = step()
    wait_until_held(terminal, *["MPI_Issend"] * RANKS)
    terminal.type("Down", "s")
    wait_until_held(terminal, "MPI_Issend", "MPI_Recv", "MPI_Issend")
    terminal.type("s")
    wait_for_rows(terminal, "held", "  in  ", "held")
    wait_for_rows(terminal, "", "0<--[1]-->2", "")
    terminal.type("s")
    terminal.wait_for("this rank is not held before a call")
    terminal.type("q")
    assert RIGHT in terminal.wait_for("status 0")


def call_of(row):
    """The call that a rank is held before; None: it is not held."""
    return row.split("MPI_", maxsplit=1)[1].split()[0] if " held " in row else None


def step_to(terminal, last, calls):
    """Lets each rank in turn make its next call, until all are held before `last`.  Notes what they were held before: a
    rank may have to be in a call for another one to end its own."""
    selected = 0

    def rows_now():
        return wait_until(lambda: len(rows(terminal.screen())) == RANKS and rows(terminal.screen()), terminal.screen)

    while not all(calls[rank] and calls[rank][-1] == last for rank in range(RANKS)):
        for rank in range(RANKS):
            call = call_of(rows_now()[rank])
            if not call or (calls[rank] and calls[rank][-1] == last):
                continue
            calls[rank].append(call)
            if call == last:
                continue
            terminal.type(*["Down" if rank > selected else "Up"] * abs(rank - selected), *["s"])
            selected = rank
            wait_until(lambda: call_of(rows_now()[rank]) != call, terminal.screen) # pylint: disable=cell-var-from-loop
    terminal.type(*["Up"] * selected)


def test_to_the_end(step):
    """Call by call, the job comes to its own end, and what it has printed is there."""
    terminal = step()
    wait_until_held(terminal, *["MPI_Issend"] * RANKS)
    calls = {rank: [] for rank in range(RANKS)}
    step_to(terminal, "Reduce", calls)
    assert calls == {rank: ["Issend", "Recv", "Wait"] * 3 + ["Reduce"] for rank in range(RANKS)}
    wait_until_held(terminal, *["MPI_Reduce root 0 MPI_SUM on MPI_COMM_WORLD"] * RANKS)
    terminal.until(lambda screen: data_of(screen) == [f"data: 1 MPI_INT: {rank}" for rank in range(RANKS)], "the data of each")
    # The root waits for all the others.
    terminal.type("s")
    wait_for_rows(terminal, "  in  ", "held", "held")
    wait_for_rows(terminal, "[0]-->1--->2", "", "")
    terminal.type("a")
    wait_until_held(terminal, *["MPI_Finalize"] * RANKS)
    terminal.type("a")
    assert RIGHT in terminal.wait_for("status 0")


def test_breakpoints(step):
    """By call and by line, from the command line and typed."""
    line = line_of(RING, "MPI_Wait(")
    terminal = step("--break", "MPI_Reduce", "--break", f"ring.c:{line},rank=1")
    wait_until_held(terminal, *["MPI_Issend"] * RANKS)
    terminal.type("c")
    wait_for_rows(terminal, "", f"[breakpoint 2]  ring.c:{line}", "")
    terminal.type("d", "2", "Enter")
    wait_until(lambda: "1 MPI_Reduce" in terminal.screen() and "2 ring.c" not in terminal.screen(), terminal.screen)
    terminal.type("b", "x", "Enter")
    terminal.wait_for("'x' is not a breakpoint: name a call")
    terminal.type("c")
    wait_for_rows(terminal, *["MPI_Reduce root 0 MPI_SUM on MPI_COMM_WORLD [breakpoint 1]"] * RANKS)
    terminal.type("q")
    assert RIGHT in terminal.wait_for("status 0")


def test_killed(step, tmp_path):
    """Nobody stays held: the job ends with the right result."""
    terminal = step(redirected=True)
    wait_until_held(terminal, *[""] * RANKS)
    own, = subprocess.run(["pgrep", "-P", str(terminal.pid())], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    os.kill(int(own), signal.SIGKILL)
    wait_until(lambda: (tmp_path / "out").read_text() == RIGHT, lambda: (tmp_path / "out").read_text())


def test_other_views(step, mpiq, tmp_path):
    """A rank that is held is said to be, and nobody who waits for it is stuck."""
    terminal = step(redirected=True)
    wait_until_held(terminal, *[""] * RANKS)
    terminal.type("s")
    wait_until_held(terminal, "MPI_Recv", "MPI_Issend", "MPI_Issend")
    terminal.type("s")
    wait_for_rows(terminal, "  in  ", "held", "held")
    ranks = sorted(pid for pid in jobs.marked_processes(terminal.mark) if pathlib.Path(f"/proc/{pid}/exe").resolve().name.startswith("ring-"))
    report = mpiq.json("--stall-after", "0.1", *ranks)
    assert report["verdict"] == "unknown"
    assert report["text"] == "cannot tell whether the job hangs: ranks 1 and 2 are held by mpiq run --step"
    assert [(rank["state"], rank.get("held_before")) for rank in report["ranks"]] == [
        ("blocked", None), ("held", "MPI_Issend"), ("held", "MPI_Issend")]
    assert not any(rank["stuck"] for rank in report["ranks"])
    assert "held by mpiq run --step before MPI_Issend at ring.c:" in mpiq("why", "0", *ranks).out
    assert mpiq("ranks", *ranks).out.count("before MPI_Issend") == 2
    views = {view: mpiq(*view.split(), *ranks).out for view in ("queues", "collectives", "comms", "stacks", "history 0-2")}
    stacks = [f"main at ring.c:{line_of(RING, f'MPI_{call}(')}\n  MPI_{call}{of}" for call, of in (("Recv", " in libmpi"), ("Issend", "\n"))]
    assert all(stack in views["stacks"] + "\n" for stack in stacks), views["stacks"]
    assert not re.search(r"wrappers|dispatch|hold_|libmpiq", views["stacks"])
    assert f"MPI_Recv at ring.c:{line_of(RING, 'MPI_Recv(')}" in views["queues"]
    looked = mpiq("watch", "--plain", snapshot(mpiq, tmp_path, ranks)).out
    assert " unknown 3 ranks: 2 held, 1 receiving" in looked
    views["watch"] = looked
    page = tmp_path / "page.html"
    mpiq("--html", page, *ranks)
    views["page"] = page.read_text()
    assert '"state":"held"' in views["page"] and '"state":"stuck"' not in views["page"]
    for rank in ranks[:2] if shutil.which("gdb") else []: # the one that waits, and one that is held
        said = gdb_session.run(["mpi report", "mpi ranks"], pid=rank, MPIQ=mpiq.path).both
        assert "held by mpiq run --step" in said and re.search(r"\bheld +before MPI_Issend", said), said
        views[f"gdb of {rank}"] = said
    for view, text in views.items():
        assert not re.search(r"deadlock|stalled|\bstuck\b", re.sub("<(style|script).*?</\\1>", "", text, flags=re.S)), (view, text)
    terminal.type("q")
    terminal.wait_for("status 0")
    assert (tmp_path / "out").read_text() == RIGHT


def snapshot(mpiq, tmp_path, ranks):
    mpiq("snapshot", "-o", tmp_path / "job.mpiq", *ranks)
    return tmp_path / "job.mpiq"


def test_rows(step, stepped):
    """Ranks of another communicator are shown as ranks of the job; a breakpoint names it."""
    terminal = step("--break", "comm=rows,rank=1", program=[stepped, "rows"])
    wait_until_held(terminal, "MPI_Comm_split", "MPI_Comm_split")
    terminal.type("c")
    wait_for_rows(terminal, "", "MPI_Recv from MPI_ANY_SOURCE any tag on rows [breakpoint 1]")
    terminal.type("p", "s")
    terminal.type("q")
    assert "rows have 44" in terminal.wait_for("status 0")
    terminal = step("--break", "comm=rows", program=[stepped, "rows"])
    wait_until_held(terminal, "MPI_Comm_split", "MPI_Comm_split")
    terminal.type("c")
    wait_for_rows(terminal, "[0]..>1   MPI_Send to 1 tag 9 on rows [breakpoint 1]", "0<..[1]")
    terminal.wait_for("data: 1 MPI_INT: 44")
    terminal.type("q")
    assert "rows have 44" in terminal.wait_for("status 0")


@pytest.fixture
def lines(command, mpiq, mark):
    """lines(WORDS...): the step mode without a screen, as a process with pipes."""
    started = []

    def start(*words, **what):
        one = subprocess.Popen([mpiq.path, "run", "--step", "--plain", *words, "--", *command(**what)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "MPIQ_TEST_JOB": mark})
        started.append(one)
        return one

    yield start
    for one in started:
        one.kill()
        one.communicate()


def read_until(process, *texts):
    """What it prints until the last printed screen has a line with each of these."""
    said = []
    for line in process.stdout:
        said.append(line)
        screen = "".join(said).rpartition("RANK  STATE")[2]
        if all(text in screen for text in texts):
            return "".join(said)
    raise AssertionError("".join(said))


def test_plain(lines):
    """The same without a screen: keys come as lines, and mistakes are told."""
    process = lines()

    def say(text):
        process.stdin.write(f"{text}\n")
        process.stdin.flush()

    said = read_until(process, "0  held    [0]..>1", "1  held         [1]..>2", f"2  held     0<.......[2]  MPI_Issend to 0 tag 7 on MPI_COMM_WORLD  ring.c:{line_of(RING, 'MPI_Issend(')}", "data: 1 MPI_INT: 2")
    assert "\033" not in said and "3 ranks: 3 held before a call, 0 in a call" in said
    say("s 1")
    read_until(process, ">    1  held", "MPI_Recv from MPI_ANY_SOURCE tag 7")
    for text, answer in [("s 7", "there is no rank 7"), ("x", "'x' is not a key: ? shows them"), ("a 1", "'a 1' is not a key"),
                         ("d 4", "there is no breakpoint 4"), ("b x", "'x' is not a breakpoint"), ("?", "b WHERE   set a breakpoint")]:
        say(text)
        while answer not in (line := process.stdout.readline()):
            assert line
    say("b MPI_Reduce")
    say("c")
    read_until(process, *[f"{rank}  held " for rank in range(RANKS)], "MPI_Reduce root 0 MPI_SUM on MPI_COMM_WORLD [breakpoint 1]")
    say("r")
    say("q")
    rest = process.stdout.read()
    assert "all ranks are held by mpiq run --step" in rest and rest.endswith(RIGHT) and ended(process) == 0


@pytest.mark.parametrize("library", ["openmpi"], indirect=True)
def test_plain_from_a_file(lines):
    """A line at a time is done: each key waits for what the one before it did.  At the end the job goes on."""
    process = lines()
    said, _ = communicate(process, text="a\n" * 11)
    assert ended(process) == 0 and RIGHT in said
    calls = dict.fromkeys(re.findall(r"held [^M]*MPI_(Issend|Recv|Wait|Reduce) ", said))
    assert list(calls) == ["Issend", "Recv", "Wait", "Reduce"]
    assert "MPI_Reduce root 0" in said and "MPI_Finalize" in said


def test_poll(step, stepped):
    """A loop of MPI_Test is left by one key."""
    terminal = step(program=[stepped, "poll"])
    wait_until_held(terminal, "MPI_Irecv from 1 tag 3", "MPI_Send to 0 tag 3")
    terminal.type("s")
    wait_until_held(terminal, "MPI_Test for MPI_Irecv from 1 tag 3 on MPI_COMM_WORLD  ", "")
    terminal.type("s")
    wait_until_held(terminal, "MPI_Test for MPI_Irecv from 1 tag 3 on MPI_COMM_WORLD, 2 times", "")
    terminal.type("o")
    wait_until(lambda: " held " not in rows(terminal.screen()).get(0, " held "), terminal.screen)
    terminal.type("Down", "s")
    wait_for_rows(terminal, "MPI_Finalize", "MPI_Finalize")
    terminal.type("q")
    assert "polled for 41" in terminal.wait_for("status 0")


def test_jump(step, stepped):
    """Out of a hold: the call is never made, and the rank is held before its next one."""
    terminal = step(program=[stepped, "jump"])
    wait_for_rows(terminal, "held    [0]..>1   MPI_Ssend", "held")
    pids = [pid for pid in jobs.marked_processes(terminal.mark) if pathlib.Path(f"/proc/{pid}/exe").resolve().name.startswith("stepped-")]
    for pid in pids:
        if "jump" in pathlib.Path(f"/proc/{pid}/cmdline").read_text() and "SigCgt" in pathlib.Path(f"/proc/{pid}/status").read_text():
            caught = int(re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1], 16)
            if caught >> (signal.SIGUSR1 - 1) & 1:
                os.kill(pid, signal.SIGUSR1)
    wait_for_rows(terminal, "MPI_Send to 1 tag 6", "MPI_Recv from 0 tag 6")
    terminal.type("q")
    assert "jumped to 42" in terminal.wait_for("status 0")


def test_threads(step, stepped):
    """Each thread of a rank has a row."""
    terminal = step(program=[stepped, "threads"])
    terminal.wait_for("4 ranks and threads: 4 held before a call")
    terminal.until(lambda screen: re.search(r"0/\d+  held .* MPI_Send to 1 tag 2[03]", screen), "the row of a thread")
    wait_until(lambda: "status " in terminal.screen() or terminal.type("a"), terminal.screen, every=0.2)
    assert "threads have 43" in terminal.wait_for("status 0")


def test_types(step, stepped):
    """The first elements of what a call sends, by their type."""
    terminal = step(program=[stepped, "types"])
    for call, data in [("MPI_Sendrecv_replace to 1 tag 1 and from MPI_PROC_NULL tag 1", "12 MPI_DOUBLE: 0 0.5 1 1.5 2 2.5 3 3.5 ..."),
                       ("to 1 tag 2 and from MPI_PROC_NULL any tag", "4 MPI_FLOAT: 1.5 -2 0.25 3"),
                       ("to 1 tag 3", "17 MPI_CHAR: \"hello, .[31mranks\""),
                       ("to 1 tag 4", "3 MPI_BYTE: 0 127 255"),
                       ("to 1 tag 5", "1 MPI_LONG_LONG_INT: -5000000000"),
                       ("to 1 tag 6", "(8 bytes)"),
                       ("MPI_Bcast root 0", "4 MPI_FLOAT: 1.5 -2 0.25 3"),
                       ("MPI_Allreduce MPI_MAX", "MPI_IN_PLACE"),
                       ("MPI_Type_free", "held")]:
        wait_until_held(terminal, call, re.search(r"tag \d|MPI_[BAT]\w+", call)[0])
        screen = terminal.wait_for(data)
        assert "?" not in "".join(data_of(screen)), screen
        terminal.type("a")
    wait_until_held(terminal, "MPI_Finalize", "MPI_Finalize")
    terminal.type("a")
    assert "types have -5000000000" in terminal.wait_for("status 0")


def test_python(step, library, tmp_path):
    """A line of Python, where one call of the interpreter stands for many lines."""
    if library != "openmpi":
        pytest.skip("mpi4py is built with Open MPI here")
    program = tmp_path / "lines.py"
    program.write_text("from mpi4py import MPI\nworld = MPI.COMM_WORLD\nworld.Barrier()\nworld.Barrier()\n"
                       "world.Barrier()\nprint('barriers')\n")
    terminal = step("--break", "lines.py:4", program=["/usr/bin/python3", program])
    wait_until_held(terminal, *["MPI_Barrier on MPI_COMM_WORLD  lines.py:3"] * 2)
    terminal.type("c")
    wait_until_held(terminal, *["MPI_Barrier on MPI_COMM_WORLD, 2 times [breakpoint 1]  lines.py:4"] * 2)
    terminal.type("c")
    assert "barriers" in terminal.wait_for("status 0")


def test_refused(mpiq):
    answer = mpiq("run", "--step", "--", "true")
    assert (answer.status, answer.err) == (125, "mpiq: a screen needs a terminal\n")
    answer = mpiq("run", "--step", "--check", "--", "true")
    assert answer.status == 2 and "use --step or --check, not both" in answer.err
    answer = mpiq("run", "--break", "MPI_Send", "--", "true")
    assert answer.status == 2 and "--break goes with --step only" in answer.err
    answer = mpiq("run", "--plain", "--", "true")
    assert answer.status == 2 and "run takes --plain with --step only" in answer.err
    answer = mpiq("run", "--step", "--break", "nonsense", "--", "true")
    assert answer.status == 2 and "'nonsense' is not a breakpoint" in answer.err
