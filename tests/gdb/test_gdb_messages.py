# SPDX-License-Identifier: BSD-3-Clause
"""What messages hold, and what handles stand for: of a patched library and of one built with -g, and of a
process wherever gdb has it from."""
import pathlib
import re

import pytest

import gdb_session
from hung_job import HERE, HungJob
from support import conditions
from support import libraries
from test_gdb_job import gdb_says
from test_gdb_places import needs_gdbserver, stripped_copy

PARTICLES = ["[0] = {int = 7, double[3] = {0.5, 1.5, 2.5}, char[8] = \"left\\000\\000\\000\"}",
             "[1] = {int = 9, double[3] = {-1, -2, -3}, char[8] = \"right\\000\\000\"}"]

# Rank 0's sends in the order in which they were posted: a piece of the envelope, the datatype, the contents.
SENDS = [
    ("synchronous send to rank 1, tag 11, MPI_COMM_WORLD: 2 particle, 72 bytes, pending",
     "2 x particle, resized to 40 bytes, of (struct of 1 MPI_INT, 3 MPI_DOUBLE, 8 MPI_CHAR)", PARTICLES),
    ("tag 12, ", "1 x vector of 3 blocks, stride 4, of 1 MPI_DOUBLE", ["double[3] = {12, 22, 32}"]),
    ("tag 14, ", "1 x vector of 2 blocks, stride 20 bytes, of 1 (vector of 2 blocks, stride 2, of 1 MPI_INT)",
     ["int[4] = {100, 102, 105, 107}"]),
    ("tag 15, ", "2 x MPI_C_DOUBLE_COMPLEX", ["complex double[2] = {1 + 2i, 3 - 4i}"]),
    ("tag 16, ", "2 x MPI_DOUBLE_INT", ["[0] = {double = 0.25, int = 3}", "[1] = {double = 0.75, int = 1}"]),
    ("tag 17, ", "1 x vector of 20000 blocks, stride 2, of 1 MPI_INT", ["int[20000] = {0, 1, 2, 3, 4, 5, "]),
    ("tag 19, ", "1 x vector of 262144 blocks, stride 4, of 1 MPI_INT", ["int[262144] = {0, -4, -8, -12, "]),
    ("buffered send to rank 1, tag 18, ", "1 x vector of 20000 blocks, stride 2, of 1 MPI_INT",
     ["The library's copy at 0x", "int[20000] = {"]),
]

HANDLES = {
    "side": "side, rank 0 of 2, context id ",
    "nobody": "MPI_COMM_NULL",
    "nothing": "MPI_REQUEST_NULL",
    "particle": "particle: resized to 40 bytes, of (struct of 1 MPI_INT, 3 MPI_DOUBLE, 8 MPI_CHAR)",
    "column": "vector of 3 blocks, stride 4, of 1 MPI_DOUBLE",
    "first": "receive from rank 1, tag 10, 6 MPI_DOUBLE: pending",
    "requests[1]": "receive from any rank, tag 13, 2 MPI_INT: pending",
    "members": "2 ranks: 0-1",
    "status": "from rank 1, tag 30, 8 bytes",
}


@pytest.fixture(scope="module", params=["4.1", "5.0", "4.1-stock", "5.0-stock"])
def job(request, tmp_path_factory):
    """envelopes, hung: of the patched libraries and of the unpatched ones that were built with -g."""
    line = libraries.lines().get(request.param)
    if line is None:
        pytest.skip("%s names no Open MPI" % libraries.PREFIX_VARIABLES[request.param])
    program = line.compile([HERE / "envelopes.c"], tmp_path_factory.mktemp("programs") / "envelopes", "-O0")
    with HungJob(line, [program], 2) as hanging:
        yield hanging.stuck()


def check_sends(answer):
    at = 0
    for envelope, datatype, contents in SENDS:
        for piece in (envelope, datatype, *contents):
            at = answer.find(piece, at)
            assert at >= 0, (piece, answer)


SHOW_SENDS = ["mpi message 0 sends %d" % number for number in range(len(SENDS))]


def test_sends(mpiq, job):
    answer, _ = gdb_says(mpiq, job.pids[0], *SHOW_SENDS)
    check_sends(answer)


def test_sends_of_a_rank_that_is_not_attached(mpiq, job):
    answer, said = gdb_says(mpiq, job.pids[1], *SHOW_SENDS)
    check_sends(answer)
    assert "Inferior 2" not in said.both


@needs_gdbserver
def test_sends_through_gdbserver(mpiq, job):
    answer, _ = gdb_says(mpiq, None, "set sysroot /",
                         "target remote | gdbserver --attach - %d 2>/dev/null" % job.pids[0], *SHOW_SENDS)
    check_sends(answer)


def test_core(mpiq, job, tmp_path):
    core = job.make_core(0, tmp_path)
    answer, _ = gdb_says(mpiq, None, *SHOW_SENDS, "mpi rank 0", *["print %s" % name for name in HANDLES],
                         arguments=["/proc/%d/exe" % job.pids[0], core])
    check_sends(answer)
    assert "MPI_COMM_NULL" in answer and "2 ranks: 0-1" in answer
    _, said = gdb_says(mpiq, None, "mpi message 1", arguments=["/proc/%d/exe" % job.pids[0], core])
    assert "rank 1 has no core open here" in said.err


def test_receives(mpiq, job):
    answer, _ = gdb_says(mpiq, job.pids[0], "mpi message 0 receives", "mpi message 0 receives 0",
                         "set print elements 2", "mpi message 0 receives 0")
    assert "   1  receive from any rank, tag 13, side: 2 MPI_INT, 8 bytes, pending\n" in answer
    assert "6 x MPI_DOUBLE\nThe receive's buffer, as it is now, at 0x" in answer
    assert "\ndouble[6] = {1, 2, 3, 4, 5, 6}\n" in answer
    assert "\ndouble[6] = {1, 2...}\n" in answer


def test_unexpected(mpiq, job):
    """The one whose sender has gone on is bytes, until somebody says what it is; of the other one the sender
    knows."""
    answer, _ = gdb_says(mpiq, job.pids[0], "mpi message 0 unexpected 0", "mpi message 0 unexpected 0 as int",
                         "mpi message 0 unexpected 1")
    assert "message from rank 1, tag 20, MPI_COMM_WORLD: 12 bytes, pending" in answer
    assert "Only the sender knows its datatype" in answer
    assert "byte[12] = {0x47, 0x0, 0x0, 0x0, 0x48, " in answer
    assert "int [3] = {71, 72, 73}" in answer
    assert "As held by its sender, rank 1, whose send is still pending:\n5 x MPI_LONG\n" in answer
    assert "long[5] = {1000, 2000, 3000, 4000, 5000}" in answer


def test_as_a_type_of_the_program(mpiq, job):
    answer, _ = gdb_says(mpiq, job.pids[0], "mpi message 0 sends 0 as struct particle")
    assert "{id = 9, position = {-1, -2, -3}, name = \"right\\000\\000\"}" in answer


NOT_THERE = {
    "mpi message": "mpi message takes a rank, a queue",
    "mpi message 0 left 0": "there is no queue 'left': sends, receives or unexpected",
    "mpi message 0 sends 99": "rank 0 has no number 99 among its pending sends: the last one is 7",
    "mpi message 1 receives 0": "rank 1 has no posted receives",
    "mpi message 5 sends 0": "there is no rank 5: mpiq knows ranks 0 to 1 of this job",
    "mpi message 0 sends 0 as struct nothing": "'struct nothing' is not a type here",
    "mpi message 0 unexpected 0 as struct particle": "do not hold a whole struct particle, which has 40",
}


def test_what_is_not_there(mpiq, job):
    answer, said = gdb_says(mpiq, job.pids[0], *NOT_THERE, "echo gdb is alive\\n")
    for command, sentence in NOT_THERE.items():
        assert sentence in said.err, command
    assert "gdb is alive" in answer


def test_handles(mpiq, job):
    """Each is printed as what it stands for, and plain if that is wanted."""
    answer, _ = gdb_says(mpiq, job.pids[0], "mpi rank 0", *["print %s" % name for name in HANDLES],
                         "print/r nothing", "set mpi handles off", "print side", "print nobody")
    lines = [text for text in answer.splitlines() if text.startswith("$")]
    for text, (name, wanted) in zip(lines, HANDLES.items()):
        assert wanted in text, (name, text)
    for text in lines[len(HANDLES):]:
        assert "MPI_COMM_NULL" not in text and "side" not in text and "MPI_REQUEST_NULL" not in text
    assert len(lines) == len(HANDLES) + 3


def test_handles_that_stand_for_nothing(mpiq, job):
    """They are printed as gdb prints them, and nothing else happens."""
    answer, said = gdb_says(mpiq, job.pids[0], "mpi rank 0", "print (MPI_Comm) 0", "print (MPI_Request) 64",
                            "print (MPI_Datatype) &status", "print (MPI_Group) -1", "print *(MPI_Status *) 8")
    assert "$1 = (MPI_Comm) 0x0\n" in answer
    assert "$2 = (MPI_Request) 0x40\n" in answer
    assert "Cannot access memory at address 0x8" in said.err


def test_machine_interface(mpiq, job):
    """A front end shows them too: among the variables of a frame, and as a variable of its own."""
    commands = "-enable-pretty-printing\n-target-attach %d\n-interpreter-exec console \"mpi rank 0\"\n" \
               "-stack-list-variables --simple-values\n-var-create - * side\n-interpreter-exec console " \
               "\"mpi message 0 sends 0\"\n-target-detach\n-gdb-exit\n" % job.pids[0]
    command = ["gdb", "-nx", "-q", "-i=mi3", "-iex", "set debuginfod enabled off", "-iex",
               "source %s" % gdb_session.LOADER]
    done = conditions.run(command, seconds=gdb_session.SECONDS, input=commands,
                          env=gdb_session.environment(MPIQ=mpiq, TERM="xterm"))
    assert re.search(r'name="nobody",type="MPI_Comm",value="0x[0-9a-f]+ MPI_COMM_NULL"', done.stdout), done.stdout
    assert re.search(r'name="var1",.*value="0x[0-9a-f]+ side, rank 0 of 2, context id ', done.stdout)
    assert '~"[1] = {int = 9, double[3] = {-1, -2, -3}' in done.stdout
    assert "\\033" not in done.stdout


def test_handles_without_mpiq(job):
    said = gdb_session.run(["mpi rank 0", "frame function hang", "print nobody"], pid=job.pids[0],
                           PATH="/usr/bin:/bin")
    assert "$1 = (MPI_Comm) 0x" in said.out


@pytest.mark.usefixtures("own_build")
def test_stripped_patched_library(mpiq, line, tmp_path):
    """The library's own tables say as much as debug information."""
    library = stripped_copy(line, tmp_path)
    program = line.compile([HERE / "envelopes.c"], tmp_path / "envelopes", "-O0")
    command = ["env", "LD_LIBRARY_PATH=%s" % library,
               "OMPI_MCA_mca_base_component_path=%s" % (library / "openmpi"), program]
    with HungJob(line, command, 2) as hanging:
        hanging.stuck()
        answer, _ = gdb_says(mpiq, hanging.pids[0], *SHOW_SENDS, "mpi rank 0", "echo <handles>\\n",
                             *["print %s" % name for name in HANDLES])
        assert str(library) in (pathlib.Path("/proc/%d/maps" % hanging.pids[0])).read_text(encoding="utf-8")
    sends, handles = answer.split("<handles>\n")
    check_sends(sends)
    for wanted in HANDLES.values():
        assert wanted in handles
