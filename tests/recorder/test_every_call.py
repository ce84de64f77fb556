# SPDX-License-Identifier: BSD-3-Clause
"""Every wrapped function, called with known arguments on each installed MPI library.  Checks what the recorder noted of
each call (name, communicator, peer, tag, bytes, line), its counts, and the requests left.  functions.h lists what has
to be called."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from test_table import TABLE, declared, rows
from support.conditions import wait_until
from support.job import kill_ranks

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = sorted(HERE.glob("every_call*.c"))
LIBRARIES = ["mpich", "openmpi"]
PARTS = ["messages", "requests", "collectives", "nonblocking", "persistent", "neighbours", "communicators", "windows",
         "files", "objects"]
NONE, MPI_ANY = -99, {"mpich": (-2, -1), "openmpi": (-1, -1)}

# What these programs do not call, and why.
NOT_CALLED = {
    "needs processes of another world": r"MPI_Comm_(spawn|spawn_multiple|accept|connect|join)$",
    "needs sessions": r"MPI_(Comm_create_from_group|Intercomm_create_from_groups)$",
    "ends the program": r"MPI_(Finalize|Abort)$",
}

Call = collections.namedtuple("Call", "name line comm peer tag bytes")


def ledger_of(path, library, large):
    """What was called, as the history should show it."""
    calls = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line, comm, peer, tag, size, call = text.split("\t")
        found = re.match(r"N\((\w+)\)|(MPI_\w+)", call)
        name = found[2] or f"MPI_{found[1]}" + ("_c" if large else "")
        source, any_tag = MPI_ANY[library]
        calls.append(Call(name, int(line), None if comm == "-" else comm,
                          "any" if int(peer) == source else None if int(peer) == NONE else int(peer),
                          "any" if int(tag) == any_tag else None if int(tag) == NONE else int(tag),
                          None if int(size) == NONE else int(size)))
    return calls


def history_of(state):
    """The recorder's history in the same form, without MPI_Init."""
    def comm(call):
        return state["communicators"][call["comm"]].get("name") if "comm" in call else None
    return [Call(call["call"], call.get("place", {}).get("line"), comm(call),
                 "any" if call.get("any_source") else call.get("peer_local", call.get("root")),
                 "any" if call.get("any_tag") else call.get("tag"), call.get("bytes"))
            for call in state["history"] if not call["call"].startswith("MPI_Init")]


def states_of(library, command, folder, variables):
    """Runs a command on two ranks, which write their pids to ready.RANK in that folder and idle.  Returns their states,
    read through the DLL."""
    build = pathlib.Path(os.environ["MPIQ_BUILD"])
    environment = {**variables, "MPIQ_RECORDER": str(build / "recorder/libmpiq_record.so"),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    mpirun = HERE / "prefix" / library / "bin" / "mpirun"
    with open(folder / "output", "w+", encoding="utf-8") as output, \
            subprocess.Popen([mpirun, "--oversubscribe", "-n", "2", *command], env=environment, stdout=output,
                             stderr=output) as job:
        try:
            ready = [folder / "ready.0", folder / "ready.1"]

            def both_ready():
                output.seek(0)
                said = all(path.exists() and path.read_text().endswith("\n") for path in ready)
                assert said or job.poll() is None, output.read()
                return said

            wait_until(both_ready, lambda: output.seek(0) or output.read(), seconds=100)
            dump = [build / "tests/rank/rank-dump", "--dll", build / "mqs/libmpiq_record_msgq.so"]
            return [json.loads(subprocess.run([*dump, path.read_text().strip()], check=True,
                                              capture_output=True).stdout) for path in ready]
        finally:
            if job.poll() is None:
                kill_ranks(int(path.read_text()) for path in ready if path.exists() and path.read_text().endswith("\n"))
            job.terminate()


def run(library, program, part, folder):
    """What states_of returns for one part of every_call."""
    variables = {**os.environ, "EVERY_CALL_FILE": str(folder / "file"),
                 **({"MPIQ_CHECK": "/nowhere/rank"} if part == "objects" else {})}
    return states_of(library, [program, part, folder / "ledger", folder / "ready"], folder, variables)


class Library:
    """Results of all parts on one library: {(part, large): [(ledger, state) of each rank]}."""

    def __init__(self, name, folder):
        self.name = name
        self.functions = declared(name, folder)
        self.large = [False, True] if "MPI_Send_c" in self.functions else [False]
        self.results = {}
        for large in self.large:
            program = folder / f"every_call{large}"
            subprocess.run([f"mpicc.{name}", "-g", "-w", *(["-DLARGE"] if large else []), "-o", program, *SOURCES],
                           check=True)
            for part in PARTS:
                self.results[part, large] = self._run(program, part, large)

    def _run(self, program, part, large):
        with tempfile.TemporaryDirectory(prefix="mpiq-every-") as folder:
            folder = pathlib.Path(folder)
            states = run(self.name, program, part, folder)
            return [(ledger_of(folder / f"ledger.{rank}", self.name, large), state)
                    for rank, state in enumerate(states)]


@pytest.fixture(name="library", params=LIBRARIES, scope="module")
def fixture_library(request, tmp_path_factory):
    if not shutil.which(f"mpicc.{request.param}"):
        pytest.skip(f"mpicc.{request.param} is not installed")
    return Library(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("part", PARTS)
def test_history_is_exact(library, part):
    for large in library.large:
        for ledger, state in library.results[part, large]:
            assert history_of(state) == ledger


def test_every_function_was_called(library):
    """And is in a history; otherwise its wrapper is missing or bypassed."""
    called = {call["call"] for ranks in library.results.values() for _, state in ranks for call in state["history"]}
    left_out = re.compile("|".join(NOT_CALLED.values()))
    expected = {name for name in rows() if name in library.functions and not left_out.match(name)}
    assert len(expected) > 200
    assert expected - called == set()
    assert called <= expected


COUNTED = ["collectives", "nonblocking", "persistent", "neighbours", "communicators"]


@pytest.mark.parametrize("part", COUNTED)
def test_counts_are_exact(library, part):
    """Each remaining communicator counts the collectives called on it, and all of them have ended."""
    for large in library.large:
        for ledger, state in library.results[part, large]:
            for comm in state["communicators"]:
                counts = {one["collective"]: one["count"] for one in comm.get("counts", [])}
                assert not any(one.get("active") for one in comm.get("counts", []))
                called = collections.Counter(call.name.removesuffix("_c") for call in ledger
                                             if call.comm == comm.get("name") and is_collective(call.name))
                assert counts == called


def is_collective(name):
    """Whether functions.h has a class for it."""
    row = re.search(rf'[XL]\({name.removeprefix("MPI_").removesuffix("_c")}, \w+, "[^"]*", (\w+)\)', TABLE.read_text())
    return row[1] != "none"


def test_requests_that_are_left(library):
    for large in library.large:
        for rank, (_, state) in enumerate(library.results["messages", large]):
            left = {one.get("tag", "any"): one for one in state.get("operations", [])}
            assert sorted(left, key=str) == [31, "any"]
            assert (left[31]["kind"], left[31]["peer_local"], left[31]["bytes"], left[31]["datatype"]) == (
                "receive", 1 - rank, 12, "MPI_INT")
            assert "peer_local" not in left["any"] and left["any"]["bytes"] == 5
        for rank, (_, state) in enumerate(library.results["requests", large]):
            left = {one["tag"]: one for one in state.get("operations", [])}
            assert sorted(left) == [71, 72]
            assert left[71]["persistent"] and left[71]["inactive"] and left[71]["peer_local"] == 1 - rank
            assert left[72]["persistent"] and not left[72].get("inactive") and left[72]["bytes"] == 8
        for part in ("nonblocking", "persistent", "neighbours", "communicators", "windows", "files"):
            for _, state in library.results[part, large]:
                assert "operations" not in state


def test_channels_are_exact(library):
    """Every send is counted, and the other rank has received them all."""
    for large in library.large:
        for rank, (ledger, state) in enumerate(library.results["messages", large]):
            other = library.results["messages", large][1 - rank][1]
            for comm in state["communicators"]:
                for channel in comm.get("channels", []):
                    calls = [call.name for call in ledger if call.comm == comm["name"]]
                    sends = sum(bool(re.match(r"MPI_(I?[sbr]?send(recv(_replace)?)?)(_c)?$", name, re.I)) for name in calls)
                    same = next(one for one in other["communicators"] if one["context"] == comm["context"])
                    back = next(one for one in same["channels"] if one["peer_local"] == rank)
                    assert channel["sent"] == sends + 1 # the number of the next
                    assert back["expected"] == channel["sent"]
                    assert "unclear" not in channel
