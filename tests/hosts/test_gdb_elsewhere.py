# SPDX-License-Identifier: BSD-3-Clause
"""A rank on another host, asked for in gdb: what to type to go there, and that it leads there."""
import re
import shutil

import pytest

import cluster_job
from cluster_job import ClusterJob
from support.answers import ROOT


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
def test_the_command_that_leads_to_a_rank(cluster, mpiq, solvers):
    starter = cluster_job.mpirun_by_ssh(cluster, "Open MPI")
    with ClusterJob(starter, solvers("Open MPI"), "--hang") as job:
        job.hung()
        said = cluster.login.ask("gdb", "-batch", "-nx", "-ex", f"source {ROOT / 'gdb-plugin' / 'mpi.py'}",
                                 "-ex", f"set mpi mpiq {mpiq}", "-ex", f"mpi attach {starter.target} 1", seconds=120)
        found = re.search(r"rank 1 is process (\d+) on h1: type (ssh -t h1 gdb -p \1) in another terminal",
                          said.stdout + said.stderr)
        assert found, said
        there = cluster.login.ask(*found.group(2).split(), "-batch", "-nx", "-ex", "backtrace", seconds=120)
    assert "in refine_mesh" in there.stdout, there
