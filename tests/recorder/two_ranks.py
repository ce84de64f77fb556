# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks of a program under the recorder, on one of the installed MPI libraries."""
import contextlib
import os
import pathlib
import shutil
import subprocess

import pytest

from support.built import recorder
from support.conditions import wait_until
from support.job import kill_ranks

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def two_ranks(library, source, folder, *arguments):
    """Runs the program on mpich or openmpi, or on the Open MPI with that prefix.  The program is given a file and the
    arguments, and writes a line "RANK PID" to the file for each rank that is ready.  Yields a function that waits until both are ready and the condition that it is given
    accepts their pids, in rank order; it returns what the condition returned."""
    ours = "/" in library
    compiler = "mpicxx" if source.suffix == ".cc" else "mpicc"
    compiler = f"{library}/bin/{compiler}" if ours else f"{compiler}.{library}"
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program, ready = folder / source.stem, folder / "ready"
    subprocess.run([compiler, "-g", "-o", program, source], check=True, capture_output=True)
    environment = {**os.environ, "MPIQ_RECORDER": str(recorder()),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    mpirun = ([f"{library}/bin/mpirun", "-x", f"LD_PRELOAD={recorder()}"] if ours
              else [HERE / "prefix" / library / "bin" / "mpirun"])
    with subprocess.Popen([*mpirun, "--oversubscribe", "-n", "2", program, ready, *arguments], env=environment) as job:
        def pids():
            said = ready.read_text() if ready.exists() else ""
            by_rank = dict(line.split() for line in said.splitlines()) if said.count("\n") == 2 else {}
            return [by_rank["0"], by_rank["1"]] if len(by_rank) == 2 else []

        def wait(condition):
            def met():
                assert job.poll() is None
                return condition(pids()) if pids() else None

            return wait_until(met, "both ranks ready, and where they are to be", every=0.05)

        try:
            yield wait
        finally:
            if job.poll() is None:
                kill_ranks(map(int, pids()))
            job.terminate()
