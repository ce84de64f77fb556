# SPDX-License-Identifier: BSD-3-Clause
"""One run of one program below one Open MPI, ended for certain."""

import os
import pathlib
import re
import signal
import subprocess
import uuid

AS_ROOT = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                  "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}
MARK = "MPIQ_CONFORMANCE_RUN"
PATIENCE = 60 # seconds, and at most twice that for a program that asks for it
GOOD = re.compile(r"^\s*(no errors|test passed)\s*$", re.IGNORECASE | re.MULTILINE)


def environment(prefix):
    return {**os.environ, **AS_ROOT, "LD_LIBRARY_PATH": str(prefix / "lib"),
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


def mpirun(prefix, ranks):
    return [str(prefix / "bin" / "mpirun"), "-n", str(ranks), "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]


def library_of(prefix, program):
    """The libmpi that a program gets when it is started below prefix."""
    done = subprocess.run([*mpirun(prefix, 1), "-x", "LD_TRACE_LOADED_OBJECTS=1", str(program)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, env=environment(prefix))
    found = re.search(r"libmpi\.so\S* => (\S+)", done.stdout)
    return pathlib.Path(found[1]).resolve() if found else None


def end_marked(mark):
    """Ends what a run has left: processes that carry its mark."""
    wanted = f"{MARK}={mark}".encode()
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (directory / "environ").read_bytes():
                os.kill(int(directory.name), signal.SIGKILL)
        except OSError:
            continue


def result(test, status, output):
    """pass or fail, as MPICH's own runner judges."""
    judge = test.options.get("resultTest", "")
    if judge in ("TestStatus", "TestErrFatal"):
        return "pass" if status != 0 else "fail"
    good = GOOD.search(output) is not None
    return "pass" if good and (status == 0) == (judge != "TestStatusNoErrors") else "fail"


def run(prefix, program, test):
    """(pass, fail or timeout; what it printed)."""
    mark = uuid.uuid4().hex
    limit = min(2 * PATIENCE, max(PATIENCE, int(test.options.get("timeLimit", 0))))
    # A program that is to be ended by mpirun itself.
    ended = ["--timeout", test.options.get("timeLimit", "10")] if test.options.get("resultTest") == "TestErrFatal" else []
    with subprocess.Popen([*mpirun(prefix, test.ranks), *ended, str(program), *test.args], text=True, errors="replace",
                          cwd=program.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          env={**environment(prefix), MARK: mark}) as job:
        try:
            output = job.communicate(timeout=limit)[0]
            return result(test, job.returncode, output), output
        except subprocess.TimeoutExpired:
            job.terminate()
            try:
                output = job.communicate(timeout=10)[0]
            except subprocess.TimeoutExpired:
                job.kill()
                end_marked(mark)
                output = job.communicate()[0]
            return "timeout", output
        finally:
            end_marked(mark)
