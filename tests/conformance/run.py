# SPDX-License-Identifier: BSD-3-Clause
"""One run of one program below one Open MPI, ended for certain."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent)) # as pytest.ini has it

from support.conditions import communicate # noqa: E402

AS_ROOT = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                  "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}
MARK = "MPIQ_CONFORMANCE_RUN"
PATIENCE = 60 # seconds for the little that is no test
GOOD = re.compile(r"^\s*(no errors|test passed)\s*$", re.IGNORECASE | re.MULTILINE)


def environment(prefix):
    return {**os.environ, **AS_ROOT, "LD_LIBRARY_PATH": str(prefix / "lib"),
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


def mpirun(prefix, ranks):
    return [str(prefix / "bin" / "mpirun"), "-n", str(ranks), "--oversubscribe",
            "--mca", "mpi_yield_when_idle", "1"]


def library_of(prefix, program):
    """The libmpi that a program gets when it is started below prefix."""
    done = subprocess.run([*mpirun(prefix, 1), "-x", "LD_TRACE_LOADED_OBJECTS=1", str(program)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
                          env=environment(prefix))
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


def run(prefix, program, test, patience):
    """(pass, fail or timeout; what it printed). patience: seconds, and twice that where a list asks for more."""
    command = [*mpirun(prefix, test.ranks), str(program), *test.args]
    if test.options.get("resultTest") == "TestErrFatal": # to be ended by mpirun itself
        command[1:1] = ["--timeout", test.options.get("timeLimit", "10")]
    found, output, _ = run_command(command, environment(prefix), program.parent, test, patience)
    return found, output


def run_command(command, variables, folder, test, patience):
    """As run, of any command, with these variables, in that folder; and its exit status, None after a timeout."""
    mark = uuid.uuid4().hex
    limit = min(2 * patience, max(patience, int(test.options.get("timeLimit", 0))))
    with subprocess.Popen(command, text=True, errors="replace",
                          cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          env={**variables, MARK: mark}) as job:
        def end():
            job.terminate()
            try:
                communicate(job, 10, kill=lambda: end_marked(mark))
            except subprocess.TimeoutExpired:
                pass

        try:
            output = communicate(job, limit, kill=end)[0]
            return result(test, job.returncode, output), output, job.returncode
        except subprocess.TimeoutExpired as error:
            return "timeout", error.output, None
        finally:
            end_marked(mark)
