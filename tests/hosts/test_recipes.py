# SPDX-License-Identifier: BSD-3-Clause
"""The recipes for Slurm in docs/CLUSTER.md, as they stand there."""
import json
import os
import pathlib
import re
import textwrap

import cluster_job
from cluster_job import RANKS, ClusterJob
from looks import Looks
from support.answers import ROOT

RECIPES = ROOT / "docs" / "CLUSTER.md"
HEADLINE = "1. Rank 1 never entered the MPI_Bcast that the other 7 ranks are waiting in."


class Script(cluster_job.Batch):
    """A batch script of the documentation, whose solver is ours."""

    def __init__(self, slurm, mpiq, script):
        path = f"{pathlib.Path(mpiq).parent}:{os.environ['PATH']}"
        super().__init__(slurm, [], {**cluster_job.OPEN_MPI, "PATH": path})
        self.script = script

    def start(self, program, *arguments):
        text = self.script.replace("./solver", " ".join(map(str, [program, *arguments])))
        self.number = self.slurm.submit(text, environment=self.environment)


def script():
    """The one that saves a report before the time limit."""
    found = re.search(r"^    #!/bin/bash\n(?:    .*\n|\n)*", RECIPES.read_text(encoding="utf-8"), flags=re.M)
    return textwrap.dedent(found.group(0))


def test_a_report_before_the_time_limit(slurm, mpiq, solvers):
    starter = Script(slurm, mpiq, script())
    with ClusterJob(starter, solvers("Open MPI"), "--hang") as job:
        job.hung()
        text = slurm.directory / f"report-{starter.number}.txt"
        report = slurm.directory / f"report-{starter.number}.json"
        slurm.box.run("scancel", "--batch", "--signal=USR1", starter.number)
        slurm.until("the report", lambda: report.exists() or not job_runs(slurm, starter), 120)
        assert HEADLINE in text.read_text(encoding="utf-8").splitlines()
        assert json.loads(report.read_text(encoding="utf-8"))["job"]["ranks_seen"] == RANKS
        assert job_runs(slurm, starter), "the job ended with its report"


def job_runs(slurm, starter):
    return slurm.state(starter.number) == "RUNNING"


def test_guarded_from_the_start(slurm, mpiq, solvers):
    """mpiq run ends a job that hangs on several nodes, with the report."""
    starter = cluster_job.Batch(slurm, [mpiq, "run", "--", "srun", "--mpi=pmix"], cluster_job.OPEN_MPI)
    with ClusterJob(starter, solvers("Open MPI"), "--hang") as job:
        assert slurm.wait(starter.number, 150) == "FAILED"
        assert HEADLINE in job.output().splitlines()
        Looks(mpiq, slurm.box, [slurm.box]).nothing_left()
