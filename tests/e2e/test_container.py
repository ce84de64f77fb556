# SPDX-License-Identifier: BSD-3-Clause
"""A job in a container of its own: its paths, its numbers of processes and threads, and its host name are
others than ours, and the report is the same."""
import subprocess

import pytest

from support import libraries
from support.answers import line_of
from support.solver_job import SOLVER, SolverJob

BOX = """#!/bin/sh
exec unshare --mount --uts --pid --fork --kill-child --mount-proc sh -c '
    mount -t tmpfs none /mnt && cp {program} /mnt/solver && hostname box && exec {mpirun} "$@"' sh "$@"
"""


class Boxed(libraries.Line):
    """A release line whose mpirun runs in a container, which alone has /mnt/solver."""

    def __init__(self, line, program, folder):
        super().__init__(line.name, line.prefix)
        self.script = folder / "mpirun"
        self.script.write_text(BOX.format(program=program, mpirun=line.command("mpirun")))
        self.script.chmod(0o755)

    def command(self, program):
        return str(self.script) if program == "mpirun" else super().command(program)


@pytest.fixture(scope="module")
def boxed(line, solver, tmp_path_factory):
    done = subprocess.run(["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "true"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no container can be made here: {done.stderr.strip()}")
    with SolverJob(Boxed(line, solver, tmp_path_factory.mktemp("box")), "/mnt/solver", "--hang") as job:
        job.wait_for_last_step()
        job.stand_still()
        yield job


@pytest.mark.parametrize("options", [[], ["--stop"]], ids=["", "stop"])
def test_job_in_a_container(boxed, options, mpiq):
    answer = mpiq("--json", *options, boxed.pid)
    assert (answer.status, answer.err) == (1, "")
    report = answer.json
    assert report["job"]["hosts"] == ["box"]
    assert [rank["pid"] for rank in report["ranks"]] == [boxed.pids[rank] for rank in range(4)]
    first = report["findings"][0]
    assert (first["kind"], first["ranks"], first["missing"]) == ("collective_incomplete", "0,2-3", "1")
    assert {(site["ranks"], site["line"]) for site in first["sites"]} == {
        ("0,2-3", line_of(SOLVER, "MPI_Bcast(parameters")), ("1", line_of(SOLVER, "MPI_Recv(&answer"))}
