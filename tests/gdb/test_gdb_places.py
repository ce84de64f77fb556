# SPDX-License-Identifier: BSD-3-Clause
"""The wire where the process is no live one of this gdb's: core files, gdbserver; and libraries without
debug information."""
import json
import shutil
import subprocess

import pytest

import gdb_session
from hung_job import RANKS, HungJob
from test_gdb_wire import ok

needs_gdbserver = pytest.mark.skipif(shutil.which("gdbserver") is None, reason="gdbserver is not installed")

# What one asks about a rank, wherever it is.
REQUESTS = ["hello 1", "status", "threads", "environment OMPI_COMM_WORLD_RANK", "symbol ompi_mpi_comm_world",
            "type struct ompi_communicator_t", "field {5} c_my_rank", "symbol MPIR_dll_name", "read {7} 256",
            "environment NO_SUCH_VARIABLE"]


def check_rank_1(said, pid):
    assert json.loads(ok(said[1]))["pid"] == pid
    assert pid in [thread["tid"] for thread in json.loads(ok(said[2]))]
    assert ok(said[3]) == '"1"'
    assert said[4].startswith("ok 0x")
    assert int(ok(said[5]).split()[1]) > 300
    assert int(ok(said[6])) > 0
    assert b"libompi_dbg_msgq" in bytes.fromhex(ok(said[8]))
    assert said[9].startswith("err not-found ")


def open_core(program, core):
    """Commands that open a second core."""
    return ["add-inferior -no-connection -exec %s" % program, "inferior 2", "core %s" % core]


@pytest.mark.usefixtures("own_build")
def test_core(wire, hung, program, cores):
    pid = hung.pids[1]
    answer, _ = wire.ask(REQUESTS + ["stack %d" % pid], arguments=[program, cores[1]])
    said = answer["wires"][0]
    assert said[0] == "ok 1 0"
    check_rank_1(said, pid)
    status = json.loads(ok(said[1]))
    assert status["core"] is True and status["traced"] is False and status["state"] == "?"
    names = [frame.get("function") for frame in json.loads(ok(said[10]))["frames"]]
    assert names.index("take_step") == names.index("PMPI_Recv") + 1
    assert not answer["arguments"][-1].isdigit() # mpiq gets wires alone


def test_two_cores(wire, hung, program, cores):
    requests = ["status", "environment OMPI_COMM_WORLD_RANK"]
    answer, _ = wire.ask(requests, arguments=[program, cores[1]], commands=open_core(program, cores[2]))
    assert [json.loads(ok(said[0]))["pid"] for said in answer["wires"]] == [hung.pids[2], hung.pids[1]]
    assert [ok(said[1]) for said in answer["wires"]] == ['"2"', '"1"']


def test_rank_of_a_core(wire, program, cores):
    """mpi rank and the functions need no mpiq where the cores are open."""
    said = gdb_session.run([*open_core(program, cores[2]), "print $mpi_rank()", "mpi rank 1",
                            "print step->residual", "print $mpi_rank()", "print $mpi_size()", "mpi rank 3"],
                           arguments=[program, cores[1]], **wire.variables())
    assert "$1 = 2\n" in said.out
    assert "[Rank 1 is inferior 1, process " in said.out
    assert "the wrong turn" in said.out
    assert "$2 = 0.25\n$3 = 1\n$4 = %d\n" % RANKS in said.out
    assert "rank 3 has no core open here: " in said.err


@pytest.mark.usefixtures("own_build")
@needs_gdbserver
def test_gdbserver_here(wire, hung):
    """Behind a gdbserver of this machine mpiq may read by itself."""
    pid = hung.pids[1]
    answer, _ = wire.ask(REQUESTS + ["stack %d" % pid],
                         commands=["set sysroot /",
                                   "target remote | gdbserver --attach - %d 2>/dev/null" % pid])
    said = answer["wires"][0]
    assert said[0] == "ok 1 %d" % pid
    check_rank_1(said, pid)
    names = [frame.get("function") for frame in json.loads(ok(said[10]))["frames"]]
    assert names.index("take_step") == names.index("PMPI_Recv") + 1
    assert answer["arguments"][-1] == str(pid)


@needs_gdbserver
def test_gdbserver_elsewhere(wire):
    """A process that is not this machine's, though one here may have its number: the wire alone.  (Its pids
    are those of another namespace, as another machine's would be.)"""
    probe = subprocess.run(["unshare", "--pid", "--fork", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("cannot make a pid namespace: %s" % probe.stderr.decode().strip())
    program = "sleep 600"
    inner = "unshare --pid --fork --mount-proc gdbserver - %s 2>/dev/null" % program
    answer, _ = wire.ask(["hello 1", "status"], commands=["set sysroot /", "target remote | %s" % inner],
                         after=["kill"])
    said = answer["wires"][0]
    assert said[0] == "ok 1 0"
    assert "host" not in json.loads(ok(said[1]))
    assert not answer["arguments"][-1].isdigit()


def stripped_copy(line, folder):
    """The prefix's libraries and components without debug information, in a folder of their own."""
    copy = folder / "lib"
    (copy / "openmpi").mkdir(parents=True)
    for library in [*line.prefix.glob("lib/*.so.*"), *line.prefix.glob("lib/openmpi/*.so")]:
        to = copy / library.relative_to(line.prefix / "lib")
        if library.is_symlink():
            to.symlink_to(library.readlink())
        elif library.suffix != ".py":
            subprocess.run(["strip", "-o", to, library], check=True)
    return copy


@pytest.mark.usefixtures("own_build")
def test_stripped_library(wire, line, program, tmp_path):
    """Symbols are found in what strip leaves; types are not there, and that is said."""
    library = stripped_copy(line, tmp_path)
    # mpirun puts its own libraries first, so it is the last word that counts.
    command = ["env", "LD_LIBRARY_PATH=%s" % library,
               "OMPI_MCA_mca_base_component_path=%s" % (library / "openmpi"), program]
    with HungJob(line, command, RANKS) as job:
        job.stuck()
        pid = job.pids[1]
        answer, _ = wire.ask(["symbol ompi_mpi_comm_world", "symbol MPIR_dll_name", "read {1} 256",
                              "type struct ompi_communicator_t", "symbol PMPI_Recv", "stack %d" % pid,
                              "type int", "sizes"], pid=pid)
    said = answer["wires"][0]
    assert said[0].startswith("ok 0x")
    assert b"libompi_dbg_msgq" in bytes.fromhex(ok(said[2]))
    # The program knows MPI_Comm from mpi.h, which only declares what is behind it.
    assert said[3] == "err not-found no type struct ompi_communicator_t that is defined"
    assert said[4].startswith("ok 0x")
    names = [frame.get("function") for frame in json.loads(ok(said[5]))["frames"]]
    assert names.index("take_step") == names.index("PMPI_Recv") + 1
    assert ok(said[6]).split()[1] == "4"
    assert ok(said[7]) == "2 4 8 8 8 1 8 little"
