# SPDX-License-Identifier: BSD-3-Clause
"""Real jobs for the DLL's tests: start one, wait until it is where it stays, let a DLL look at each rank."""

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from support import conditions
from support.built import built
from support.conditions import ended, wait_until
from support.job import AS_ROOT, stand_still, step_back

HERE = pathlib.Path(__file__).resolve().parent


ROOT = HERE.parent.parent
PREFIXES = {
    "4.1": "MPIQ_OMPI_41",
    "5.0": "MPIQ_OMPI_50",
    "4.1 unpatched": "MPIQ_OMPI_41_STOCK",
    "5.0 unpatched": "MPIQ_OMPI_50_STOCK",
}
# As the distribution ships it, stripped: for those tests that ask for no debug information.
SHIPPED = {"debian": "MPIQ_OMPI_DEBIAN"}
PATIENCE = 60


def prefix(line):
    variable = {**PREFIXES, **SHIPPED}[line]
    path = os.environ.get(variable)
    if not path or not command(pathlib.Path(path), "mpirun").exists():
        pytest.skip("%s does not name an Open MPI" % variable)
    return pathlib.Path(path)


def command(path, name):
    """A program of an Open MPI; the name alone may stand for another MPI library's, where several are installed."""
    own = path / "bin" / (name + ".openmpi")
    return own if own.exists() else path / "bin" / name


def stripped_copy(line, to):
    """A copy of a line's prefix with all stripped that can be."""
    shutil.copytree(prefix(line), to, symlinks=True)
    for path in [*(to / "lib").rglob("*.so*"), *(to / "bin").iterdir()]:
        if not path.is_symlink() and path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            subprocess.run(["strip", "--strip-all", str(path)], check=True)
    return to


def our_dll():
    return built("mqs/libompi_dbg_msgq.so")


def stock_dll(line):
    """The one that the release's own build installed; an unpatched build has it."""
    dll = prefix(line.split()[0] + " unpatched") / "lib" / "openmpi" / "libompi_dbg_msgq.so"
    if not dll.exists():
        pytest.skip("%s is not there" % dll)
    return dll


@functools.lru_cache(maxsize=None)
def programs():
    """Where those of this process are, as long as it runs."""
    return tempfile.TemporaryDirectory(prefix="mqs-live-")


@functools.lru_cache(maxsize=None)
def states(compiler, **environment):
    """tests/mqs/programs/states.c, compiled once by each compiler."""
    program = pathlib.Path(programs().name, f"states-{states.cache_info().misses}")
    subprocess.run([compiler, "-g", str(HERE / "programs" / "states.c"), "-o", str(program)], check=True,
                   env={**os.environ, **environment})
    return str(program)


class Job:
    """A job of tests/mqs/programs/states.c, from its start to its end; with moved_to on a copy of the line's prefix."""

    def __init__(self, line, case, size=4, options=(), expected=None, moved_to=None):
        self.prefix = moved_to or prefix(line)
        moved = {"OPAL_PREFIX": str(moved_to), "LD_LIBRARY_PATH": str(moved_to / "lib"),
                 "PATH": "%s:%s" % (moved_to / "bin", os.environ["PATH"])} if moved_to else {}
        self.environment = {**os.environ, **AS_ROOT, **moved}
        self.directory = tempfile.TemporaryDirectory(prefix="mqs-live-")
        self.output = pathlib.Path(self.directory.name, "output")
        program = states(str(command(self.prefix, "mpicc")), **moved)
        with open(self.output, "w", encoding="utf-8") as output:
            # A group of its own, so that what it starts can be ended with it.
            self.process = subprocess.Popen(
                [str(command(self.prefix, "mpirun")), "--oversubscribe", "-n", str(size), *options, program, case],
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.environment,
                start_new_session=True)
        try:
            self.pids = self.wait_for(expected or size)
        except BaseException:
            self.end()
            raise

    def ready(self):
        return re.findall(r"^ready (\d+) (\d+)$", self.output.read_text(errors="replace"), re.M)

    def wait_for(self, count):
        """Pids by rank once so many have said ready, and stand still."""
        wait_until(lambda: len(self.ready()) >= count or self.process.poll() is not None, "ranks that are ready")
        if len(self.ready()) < count:
            raise RuntimeError("the job did not get ready: " + self.output.read_text(errors="replace"))
        pids = {int(rank): int(pid) for rank, pid in self.ready()}
        stand_still(pids.values())
        for pid in pids.values():
            step_back(pid)
        return pids

    def signal(self, number):
        """Sends it to all ranks."""
        for pid in getattr(self, "pids", {}).values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def end(self):
        # A launcher whose rank is killed ends the others at once, while SIGTERM makes it wait a second for each of them.
        self.signal(signal.SIGKILL)
        for seconds, signal_ in ((2, signal.SIGTERM), (10, signal.SIGKILL), (10, None)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                ended(self.process, seconds)
                break
            if signal_:
                self.process.send_signal(signal_)
        self.directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def ask(self, dll, rank, *options, server=None, processor=None):
        """mqs_client's look at a rank through a DLL, whatever comes of it.  processor: seconds of it after which the look is
        ended by SIGXCPU."""
        command = [*(["prlimit", f"--cpu={processor}:{2 * processor}"] if processor else []),
                   str(built("tests/mqs/mqs_client")), *options, str(dll)]
        command += server(self.pids[rank]) if server else [str(built("tests/mqs/mqs_serve_live")), str(self.pids[rank])]
        # Names are printed as they are read, and a process that runs may change them meanwhile.
        return conditions.run(command, seconds=PATIENCE, errors="backslashreplace", env=self.environment)

    def look(self, dll, rank, *options, server=None):
        """What a DLL says of a rank: the last look of mqs_client (self.looks: all), with what it said before the first."""
        result = self.ask(dll, rank, *options, server=server)
        assert result.returncode == 0, result.stderr
        said = json.loads(result.stdout)
        self.looks = said.get("looks", [])
        look = said["looks"][-1] if said.get("looks") else {"communicators": []}
        look["said"] = {name: value for name, value in said.items() if name != "looks"}
        return look


def communicator(look, name):
    found = [comm for comm in look["communicators"] if comm["name"] == name]
    assert len(found) == 1, "%d communicators are named %s" % (len(found), name)
    return found[0]


def with_tag(operations, tag):
    found = [operation for operation in operations if operation["tag"] == tag and not operation["tag_wild"]]
    assert len(found) == 1, "%d operations have tag %d" % (len(found), tag)
    return found[0]


def gdb_server(pid):
    """gdb, attached to the process, as the wire's server."""
    return [str(HERE / "serve_gdb"), str(pid)]


def in_gdb(pid, command):
    """One command; what comes after it is said only if it succeeded."""
    script = "python gdb.execute('%s'); print('it is done')" % command
    done = conditions.run(["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-p", str(pid), "-ex", script],
                          seconds=PATIENCE)
    assert "it is done" in done.stdout, done.stderr[-500:]
