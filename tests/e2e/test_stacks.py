# SPDX-License-Identifier: BSD-3-Clause
"""mpiq stacks: the tree of all ranks' stacks, of jobs on this machine's Open MPI and MPICH, live and from a snapshot."""
import pathlib
import re
import shutil
import subprocess

import pytest

from support import built
from support import job as jobs
from support.answers import line_of

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "stacks.c"
PYTHON_SOURCE = HERE / "stacks.py"
PYTHON = "/usr/bin/python3" # the one that Debian's mpi4py belongs to


@pytest.fixture(name="shipped", scope="module", params=["openmpi", "mpich"])
def fixture_shipped(request):
    """This machine's library, as it is shipped."""
    if not shutil.which(f"mpirun.{request.param}"):
        pytest.skip(f"no {request.param} here")
    return built.line(request.param)


@pytest.fixture(name="program", scope="module")
def fixture_program(shipped, programs):
    return shipped.compile([SOURCE], programs / f"stacks-{shipped.name}", "-O0", "-pthread")


def paths(branches, above=()):
    """Each branch's end: its ranks, and the functions with their lines from the outermost on."""
    for branch in branches:
        frames = (*above, *((frame.get("function"), frame.get("line")) for frame in branch["frames"]))
        yield branch["ranks"], branch["threads"], frames
        yield from paths(branch.get("branches", []), frames)


def path_of(answer, ranks):
    """The innermost branch of exactly these ranks."""
    return max((frames for who, _, frames in paths(answer.json["stacks"]) if who == ranks), key=len, default=())


def at(text):
    return line_of(SOURCE, text)


def in_place(answer):
    """Whether each rank is where it stays."""
    inner = dict(path_of(answer, "2"))
    return ("pause" in inner and "MPI_Recv" in dict(path_of(answer, "1"))
            and "MPI_Barrier" in dict(path_of(answer, "0,3")))


def test_a_tree_of_all_ranks(mpiq, shipped, program, tmp_path):
    with jobs.Job(shipped, [program], 4) as job:
        live = mpiq.until(in_place, "stacks", job.pid)
        text = mpiq("stacks", job.pid).out
        threads = mpiq.until(lambda answer: sum(branch["threads"] for branch in answer.json["stacks"]) >= 8,
                             "stacks", "--threads", job.pid)
        snapshot = tmp_path / "job.mpiq"
        assert mpiq("snapshot", "-o", snapshot, job.pid).status == 0
    assert [branch["ranks"] for branch in live.json["stacks"]] == ["1", "2", "0,3"]
    assert path_of(live, "1")[:2] == (("main", at("line of the call")), ("receive", at("line of the receive")))
    assert path_of(live, "2")[1:7] == (("descend", at("line of the recursion")),) * 6
    assert path_of(live, "0,3")[0] == ("main", at("line of the barrier"))
    assert in_place(mpiq("stacks", "--json", snapshot))

    for said in (text, mpiq("stacks", snapshot).out):
        assert f"descend at stacks.c:{at('line of the recursion')} (6 times)\n" in said
        assert re.search(rf"receive at stacks.c:{at('line of the receive')}\n.*MPI_Recv in libmpi", said), said
        assert said.index("\nrank 1\n") < said.index("\nranks 0,3\n")

    workers = [frames for ranks, count, frames in paths(threads.json["stacks"])
               if (ranks, count) == ("0-3", 4) and ("work", at("line of the lock")) in frames]
    assert workers, threads.out


def test_frames_of_python_and_of_c_in_one_stack(mpiq, shipped):
    if shipped.name != "openmpi" or subprocess.run([PYTHON, "-c", "import mpi4py"], check=False).returncode:
        pytest.skip("no mpi4py for this library")
    with jobs.Job(shipped, [PYTHON, PYTHON_SOURCE], 3) as job:
        answer = mpiq.until(lambda answer: "MPI_Recv" in dict(path_of(answer, "1")), "stacks", job.pid)
    assert "_PyEval_EvalFrameDefault" not in answer.out
    line = lambda text: line_of(PYTHON_SOURCE, text)
    assert path_of(answer, "1")[:5] == (
        ("<module>", line("line of the call")), ("outer", line("line of the recursion")),
        ("outer", line("line of the recursion")), ("outer", line("line of the map")), ("inner", line("line of the receive")))
