# SPDX-License-Identifier: BSD-3-Clause
"""What the calls of Fortran's three bindings and of mpi4py were given, against what the recorder saw."""
import shutil
import subprocess

import bindings
import pytest
from support import call_records
from support import job as jobs
from support import libraries

from test_against_records import JUMP

READY = JUMP.with_name("say_ready.c")


def check(line, command, mpiq, folder):
    """Nothing that is told differs from the recorder's, and some is told."""
    snapshot = folder / "job.mpiq"
    with jobs.Job(line, command, bindings.RANKS) as job:
        job.wait_ready()
        job.stand_still()
        job.step_back()
        subprocess.run([mpiq, "snapshot", "-o", snapshot, str(job.pid)], check=False, capture_output=True)
    wrong, told, requests = call_records.differences_in(snapshot)
    print(f"{line.name}: {told} arguments told, {requests} requests")
    assert not wrong, "\n".join(wrong)
    assert told > 0


@pytest.mark.parametrize("kind", bindings.USES)
@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_fortran(library, kind, mpiq, tmp_path):
    if not shutil.which(f"mpif90.{library}") or not shutil.which("zstd"):
        pytest.skip(f"mpif90.{library} or zstd is not installed")
    source, ready, program = tmp_path / "hang.f90", tmp_path / "say_ready.o", tmp_path / "hang"
    source.write_text(bindings.fortran(bindings.SEEDS[kind], kind), encoding="utf-8")
    subprocess.run(["gcc", "-c", "-o", ready, READY], check=True)
    subprocess.run([f"mpif90.{library}", "-O2", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none", f"-J{tmp_path}",
                    "-o", program, source, ready], check=True)
    check(libraries.line(f"{library}+record"), [program], mpiq, tmp_path)


def test_python(mpiq, tmp_path):
    python = "/usr/bin/python3"
    known = subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False)
    if known.returncode or not shutil.which("mpirun.openmpi") or not shutil.which("zstd"):
        pytest.skip("mpi4py, Open MPI or zstd is not installed")
    source = tmp_path / "hang.py"
    source.write_text(bindings.python(1), encoding="utf-8")
    check(libraries.line("openmpi+record"), [python, source], mpiq, tmp_path)
