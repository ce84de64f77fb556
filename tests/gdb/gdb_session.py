# SPDX-License-Identifier: BSD-3-Clause
"""The real gdb, scripted."""
import json
import os
import pathlib

from support import conditions

HERE = pathlib.Path(__file__).resolve().parent
LOADER = HERE.parent.parent / "gdb-plugin" / "mpi.py"
CLIENT = HERE / "wire_client.py"
SECONDS = 120


def command_line(commands, before=(), load=True):
    """gdb's arguments; nothing of the user's own settings, and no network."""
    ret = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    if load:
        ret += ["-iex", "set auto-load python-scripts off", "-iex", "source %s" % LOADER]
    for command in before:
        ret += ["-iex", command]
    for command in commands:
        ret += ["-ex", command]
    return ret


def environment(**more):
    """A user's, without what would choose an mpiq or a terminal."""
    ret = {name: value for name, value in os.environ.items() if name not in ("MPIQ", "TERM")}
    ret.update({name: str(value) for name, value in more.items()})
    return ret


class Said:
    """What gdb printed."""

    def __init__(self, done):
        self.out = done.stdout
        self.err = done.stderr
        self.both = done.stdout + done.stderr
        self.status = done.returncode


def run(commands, pid=None, before=(), load=True, arguments=(), **variables):
    """Runs gdb on those commands (attached to pid); what it said.  A Python traceback is a failure of the
    commands, whatever was asked."""
    command = command_line(commands, before, load)
    if pid is not None:
        command[4:4] = ["-p", str(pid)]
    command += map(str, arguments)
    done = conditions.run(command, seconds=SECONDS, env=environment(**variables))
    said = Said(done)
    assert "Traceback" not in said.both and "Python Exception" not in said.both, said.both
    return said


class Wire:
    """gdb with wire_client.py in mpiq's place."""

    def __init__(self, folder):
        self.folder = folder
        self.pid_file = folder / "pid"

    def variables(self, requests=(), behaviour=None):
        file = self.folder / "requests"
        file.write_text("".join(request + "\n" for request in requests))
        ret = {"MPIQ": CLIENT, "WIRE_REQUESTS": file, "WIRE_PID_FILE": self.pid_file}
        if behaviour:
            ret["WIRE_BEHAVIOUR"] = behaviour
        return ret

    def ask(self, requests, pid=None, commands=(), after=(), **how):
        """The client's JSON about those requests, and what gdb said."""
        said = run([*commands, "mpi ranks", *after], pid=pid, **how, **self.variables(requests))
        line = next((line for line in said.out.splitlines() if line.startswith('{"arguments"')), None)
        assert line is not None, said.both
        return json.loads(line), said
