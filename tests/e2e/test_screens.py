# SPDX-License-Identifier: BSD-3-Clause
"""Every session that README and docs show is typed anew, on real jobs: each command prints what stands below it.  The
commands that they and `mpiq help` merely name are run, too.

A session goes on with the job that the one before it in the same file started, unless it starts its own.  It runs on the
MPI library that its report names; times, pids, addresses and releases are of no matter (support/documents.py).
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

import run as tests_run
from support import built
from support.answers import ROOT
from support.conditions import Deadline, wait_until
from support.documents import VERDICT, blocks, documents, timeless
from support.job import AS_ROOT

# Sessions about hosts that are not here: tests/hosts has them.
ELSEWHERE = re.compile(r"^mpiq (slurm:|flux:|--hosts|\$\(pgrep)|^srun ")
# The step mode needs a terminal: test_step has its screen.
ON_A_TERMINAL = re.compile(r"^mpiq run --step (?!--plain)")
# Of commands that are merely named: those for hosts and terminals that are not here, which tests/hosts and test_watch have.
NOT_HERE = re.compile(r"slurm:|--hosts|srun|flux:|--step(?! --plain)|^mpiq watch(?! --plain)|^mpiq record|…")
PROGRAMS = [*(ROOT / "examples" / name for name in ("solver.c", "lucky.c", "order.c")), ROOT / "tests" / "gdb" / "envelopes.c"]
# More processes than processors, and as root.
ENVIRONMENT = {**AS_ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
# So often the same answer is no accident of the machine.
AGAIN = 5
BACKGROUND = re.compile(r"\S.*[^&]&$")


def sessions():
    """(steps before it that start its job, its own steps, library)"""
    for path in documents():
        library, start = "openmpi", []
        for block in blocks(path):
            steps = block.steps
            name = VERDICT.search(block.text)
            if name:
                library = name[3] if name[4] else {"Open MPI": "openmpi", "MPICH": "mpich"}[name[2]]
            if not steps or any(ELSEWHERE.search(step.command) or ON_A_TERMINAL.search(step.command) for step in steps):
                continue
            begins = [index for index, step in enumerate(steps) if BACKGROUND.search(step.command)]
            before = [] if begins or steps[0].command.startswith("mpiq run") else start
            start = steps[:begins[-1] + 1] if begins else start
            yield pytest.param(before, steps, library, id=f"{block.file}:{block.number}")


def test_every_screen_has_its_command():
    """A report without the command above it would be compared with nothing."""
    bare = [f"{block.file}:{block.number}" for path in documents() for block in blocks(path)
            if block.is_screen and not block.steps]
    assert bare == []
    assert len(list(sessions())) >= 8


class Shell:
    """A shell in a directory with the programs of the documents, where only its own processes are seen."""

    def __init__(self, directory, library, program):
        line = built.line(library)
        words = directory / "bin"
        words.mkdir()
        for name in ("mpicc", "mpirun"):
            # A script: Hydra looks for its own programs beside the path by which it was called.
            (words / name).write_text(f'#!/bin/sh\nexec {line.command(name)} "$@"\n', encoding="utf-8")
            (words / name).chmod(0o755)
        for source in PROGRAMS:
            shutil.copy(source, directory)
            if source.name != "envelopes.c" or line.patched:
                line.compile([directory / source.name], directory / source.stem)
        (directory / "gdb-plugin").symlink_to(ROOT / "gdb-plugin")
        if not tests_run.can_part():
            pytest.skip("jobs need processes of their own here: root, and two processors")
        environment = {**os.environ, **ENVIRONMENT, "MPIQ": program,
                       "PATH": f"{words}:{pathlib.Path(program).parent}:{os.environ['PATH']}"}
        environment.pop("TERM", None)
        self.process = subprocess.Popen([*tests_run.OWN_PROCESSES, "20000", "bash", "--norc"], cwd=directory, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def say(self, command):
        """What a command prints; of one in the background, nothing."""
        if command.endswith("&"):
            command = f"{command[:-1]}>job.out 2>&1 &"
        self.process.stdin.write(f"{{ {command}\n}} </dev/null; echo '<'end'>'\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if line == "<end>\n":
                return "".join(said)
            said.append(line)
        raise AssertionError(f"the shell ended in {command}:\n{''.join(said)}")

    def end(self):
        self.process.kill() # and with it all that it started
        self.process.wait()


@pytest.fixture
def shell(request, mpiq, tmp_path):
    one = Shell(tmp_path, request.param, mpiq.path)
    yield one
    one.end()


def expected(step):
    return timeless("\n".join(step.shown).strip("\n"))


def gdb_answers(shell, steps):
    """What gdb prints for each of the commands, attached to rank 0."""
    pid = re.search(r'"pid": ?(\d+)', shell.say("mpiq ranks --json --ranks 0"))[1]
    words = ["gdb", "-nx", "-q", "-batch", "-iex", "'set debuginfod enabled off'", "-iex", "'set auto-load no'", "-p", pid]
    for step in steps:
        command = step.command.replace("PREFIX/share/mpiq", "gdb-plugin")
        words += ["-ex", "'echo <command>\\n'", "-ex", f"'{command}'"]
    return shell.say(" ".join(words) + " 2>gdb.err").split("<command>\n")[1:]


def gdb_until_shown(shell, steps):
    """The same, once each prints what is shown; or what they have printed again and again.  A rank that polls may be caught
    where its stack cannot be walked."""
    came, deadline = collections.Counter(), Deadline()
    while True:
        answers = gdb_answers(shell, steps)
        same = tuple(tuple(timeless(said)) for said in answers)
        came[same] += 1
        if all(map(is_shown, steps, answers)) or came[same] >= AGAIN or deadline.passed():
            return answers


@pytest.mark.parametrize("before, steps, shell", sessions(), indirect=["shell"])
def test_session(before, steps, shell):
    for step in before:
        shell.say(step.command)
    at = 0
    if before: # its own wait comes with its first report
        until_deadlock(shell)
    while at < len(steps):
        step = steps[at]
        if step.command.startswith("gdb -p"):
            until_deadlock(shell)
            typed = steps[at + 1:]
            for one, said in zip(typed, gdb_until_shown(shell, typed)):
                check(one, said)
            return
        said = shell.say(step.command)
        if step.command.startswith("mpiq"): # mpiq run too: its launcher may end a rank before that comes to where it is shown
            said = until_shown(shell, step, said)
        check(step, said)
        at += 1


def until_deadlock(shell):
    wait_until(lambda: shell.say("mpiq").startswith("deadlock"), lambda: shell.say("mpiq"), every=0.2)


def until_shown(shell, step, said):
    """What the command prints once that is what is shown; or what it has printed again and again with the verdict, or the
    first words, that are shown: it will say nothing else."""
    came, deadline = collections.Counter(), Deadline()
    while not is_shown(step, said) and not deadline.passed():
        came[tuple(timeless(said))] += said.partition(":")[0] == "\n".join(step.shown).partition(":")[0]
        if max(came.values()) >= AGAIN:
            break
        time.sleep(0.2)
        said = shell.say(step.command)
    return said


def is_shown(step, said):
    """… stands for anything."""
    wanted, got = expected(step), timeless(said.strip("\n"))
    text = ".*".join(re.escape(part) for part in re.split(r"\n…$|^…\n|…", "\n".join(wanted)))
    return not wanted or re.fullmatch(text, "\n".join(got), flags=re.S)


def named():
    """(where, command) of those that README and docs name without a screen."""
    for path in documents():
        for block in blocks(path):
            for number, line in enumerate(block.text.splitlines() if not block.steps else [], block.number):
                command = re.match(r"(mpiq (?!──).*?)(?: +# .*| {2,}.*)?$", line)
                if command:
                    yield f"{block.file}:{number}", command[1]


def of_help(shell):
    """The same, of the examples of all pages of help."""
    for word in re.findall(r"^  (\w+)", shell.say("mpiq --help").partition("OPTIONS")[0], flags=re.M):
        page = shell.say(f"mpiq help {word}")
        for command in re.findall(r"^ +(mpiq .*|mpirun .* mpiq .*)$", page.partition("xamples")[2], flags=re.M):
            yield f"help {word}", command


def real(command, launcher):
    """With the names that the documents use for a user's own."""
    command = re.sub(r"\b12345\b", launcher, command).replace(" [TARGET]", f" {launcher}")
    return re.sub(r"-n \d+", "-n 4", command).replace("./app", "./solver")


@pytest.mark.parametrize("shell", ["openmpi"], indirect=True)
def test_commands_without_a_screen(shell):
    """On a hung job under the recorder, its core files, snapshots and trace: each answers with a verdict's status."""
    shell.say("mpirun -n 4 mpiq record -- ./solver --hang &")
    wait_until(lambda: shell.say("mpiq").startswith("deadlock"), lambda: shell.say("mpiq"), every=0.2)
    launcher = shell.say("echo $!").strip()
    pids = re.findall(r'"pid": ?(\d+)', shell.say("mpiq ranks --json"))
    assert len(pids) == 4
    shell.say(f"mpiq snapshot -o a.mpiq {' '.join(pids[:2])}; mpiq snapshot -o b.mpiq {' '.join(pids[2:])}")
    shell.say(f"mpiq history --otf2 archive {launcher}; cp -r archive/. .; cp -r archive scorep-run; cp a.mpiq job.mpiq")
    for rank, pid in enumerate(pids):
        shell.say(f"gcore -o core.{rank} {pid}")
    wrong, run = [], []
    for where, command in [*named(), *of_help(shell)]:
        if NOT_HERE.search(command):
            continue
        shell.say("rm -rf DIR trace")
        said = shell.say(f"{real(command, launcher)}; echo status $?")
        run.append(command)
        if not re.search(r"^status [0134]$", said, flags=re.M) or "Usage" in said or not said.partition("status ")[0].strip():
            wrong.append(f"{where}: {command}\n{said}")
    assert wrong == []
    assert len(run) > 30, run


def check(step, said):
    assert is_shown(step, said), f"{step.command}:\n{said}\nshown is\n" + "\n".join(step.shown)
