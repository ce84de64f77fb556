# SPDX-License-Identifier: BSD-3-Clause
"""Fortran and Python under the recorder: the report names the program's own lines."""
import os
import tempfile
import pathlib
import re
import shutil
import subprocess

import pytest

from support import conditions

HERE = pathlib.Path(__file__).resolve().parent


def line_of(source, text):
    lines = (HERE / source).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def report(library, *command):
    """What `mpiq run` says of a job of four ranks that hangs, without times."""
    mpirun = [f"mpirun.{library}", *(["--oversubscribe"] if library == "openmpi" else []), "-n", "4"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        answer = conditions.run([os.environ["MPIQ"], "run", "--", *mpirun, *command], seconds=120, env=environment,
                                cwd=folder)
        assert len(list(pathlib.Path(folder).glob("mpiq-*.mpiq"))) == 1, answer.stderr
    assert answer.returncode == 124, answer.stderr
    return re.sub(r" +", " ", re.sub(r" \d+(\.\d)? s ", " ", answer.stderr))


def assert_reported(wanted, said):
    """That said() has those lines.  Two ranks may be proven to be stuck before the others have come, where these get no
    processor: then the job is started again."""
    deadline = conditions.Deadline()
    text = said()
    while not all(line in text for line in wanted) and not deadline.passed():
        text = said()
    for line in wanted:
        assert line in text


@pytest.mark.parametrize("library, kind", [("mpich", "mpif"), ("openmpi", "f08"), pytest.param("mpich", "f08", marks=pytest.mark.whole),
                                           pytest.param("openmpi", "mpif", marks=pytest.mark.whole)])
def test_fortran(library, kind, tmp_path):
    if not shutil.which(f"mpif90.{library}"):
        pytest.skip(f"mpif90.{library} is not installed")
    source = f"solver_{kind}.f90"
    subprocess.run([f"mpif90.{library}", "-g", "-O0", f"-J{tmp_path}", "-o", tmp_path / "solver", HERE / source],
                   check=True)
    def at(call):
        # gfortran 12 gives a call with MPI_STATUS_IGNORE of mpi_f08 the first line of its block.
        own = call == "call MPI_Wait" or call == "call MPI_Irecv"
        return "*" if kind == "f08" and own else line_of(source, call) + (call == "call MPI_Irecv")

    def said(*words):
        return re.sub(r"(MPI_Wait solver_f08.f90):\d+", r"\1:*", report(library, tmp_path / "solver", *words))

    rank_1 = (f" rank 1 MPI_Wait {source}:{at('call MPI_Irecv')} refine_mesh "
              f"receive posted at {source}:{line_of(source, 'call MPI_Irecv')}: tag 99 from rank 3")
    others = (f" ranks 0,2-3 MPI_Bcast {source}:{at('call MPI_Bcast')} share_parameters "
              "collective 6 on MPI_COMM_WORLD")
    assert_reported([others, rank_1], said)
    others = (f" ranks 0,2-3 MPI_Wait {source}:{at('call MPI_Wait')} share_parameters for MPI_Ibcast started at "
              f"{source}:{at('call MPI_Ibcast')}, collective 6 on MPI_COMM_WORLD")
    assert_reported([others, rank_1], lambda: said("nonblocking"))


@pytest.mark.parametrize("how", ["blocking", "nonblocking"])
def test_python(how):
    python = "/usr/bin/python3"
    known = subprocess.run([python, "-c", "import mpi4py, sys; sys.exit(sys.version_info[:2] != (3, 11))"],
                           capture_output=True, check=False)
    if known.returncode:
        pytest.skip("no mpi4py for CPython 3.11 here")
    line = line_of("solver.py", "world.Bcast" if how == "blocking" else "request.Wait()")
    assert_reported(
        [f" ranks 0,2-3 {'MPI_Bcast' if how == 'blocking' else 'MPI_Wait'} solver.py:{line} share_parameters ",
         f" rank 1 MPI_Wait solver.py:{line_of('solver.py', 'source=') + 1} refine_mesh "],
        lambda: report("openmpi", python, HERE / "solver.py", how))


@pytest.mark.parametrize("how", ["lock", "lock_for_hours", "exception"])
def test_end_of_python(how):
    python = "/usr/bin/python3"
    known = subprocess.run([python, "-c", "import mpi4py, sys; sys.exit(sys.version_info[:2] != (3, 11))"],
                           capture_output=True, check=False)
    if known.returncode:
        pytest.skip("no mpi4py for CPython 3.11 here")
    text = report("openmpi", python, HERE / "ends.py", how)
    if how == "exception":
        assert "1. Rank 1 never entered the MPI_Barrier" in text
        assert " rank 1 MPI_Finalize in python3.11 its script has ended, perhaps by an exception\n" in text
        return
    assert text.startswith("deadlock: ") or "\ndeadlock: " in text
    assert (f" rank 0 asleep ends.py:{line_of('ends.py', 'until the other')} background "
            "another thread, for Python's interpreter lock that the one in MPI_Comm_dup has\n") in text
