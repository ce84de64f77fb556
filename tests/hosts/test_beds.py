# SPDX-License-Identifier: BSD-3-Clause
"""The beds themselves: jobs run there and end right, ranks are where they should be, and nothing outlives the tests."""
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import cluster_job
from box import alive
from cluster_job import ClusterJob
from support.conditions import wait_until

HERE = pathlib.Path(__file__).resolve().parent

# A bed in a process of its own, which says which processes it has.
ALONE = """
import sys, time
sys.path[:0] = {paths!r}
import slurm_bed, ssh_bed
bed = {bed}()
boxes = [bed.box] if hasattr(bed, "box") else list(bed.boxes.values())
print(bed.directory, *[box.pid for box in boxes], flush=True)
time.sleep(100)
"""

# What no other test sees come to its end.
STARTERS = {
    "srun, MPICH": lambda get: cluster_job.srun_mpich(get("slurm"), get("recorder")),
    "Hydra's fork launcher": lambda get: cluster_job.hydra_by_fork(get("machine"), get("recorder")),
    "mpirun by an agent": lambda get: cluster_job.mpirun_by_agent(get("machine"), "Open MPI"),
}


@pytest.mark.parametrize("name", STARTERS)
def test_a_job_comes_to_its_end(request, solvers, name):
    solver = solvers("MPICH" if "MPICH" in name or "Hydra" in name else "Open MPI")
    starter = STARTERS[name](request.getfixturevalue)
    with ClusterJob(starter, solver, "--steps", "20") as job:
        job.ends_right()


@pytest.mark.parametrize("bed", ["slurm_bed.Slurm", "ssh_bed.Cluster"])
def test_nothing_outlives_the_tests(request, bed):
    """Whoever kills the tests has killed the bed: no daemon of it is left, nor can a box be entered."""
    request.getfixturevalue("slurm" if "slurm" in bed else "cluster") # skips where there is none
    with subprocess.Popen([sys.executable, "-c", ALONE.format(paths=[str(HERE), str(HERE.parent)], bed=bed)], stdout=subprocess.PIPE,
                          text=True) as alone:
        directory, *pids = alone.stdout.readline().split()
        assert pids and all(map(alive, pids))
        alone.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, pids)), lambda: f"the end of {list(filter(alive, pids))}")
    left = [entry for entry in os.listdir("/proc") if entry.isdigit() and mentions(entry, directory)]
    subprocess.run(["rm", "-r", directory], check=True)
    assert left == [] and not any(map(alive, pids))


def mentions(pid, directory):
    try:
        return directory.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
