# SPDX-License-Identifier: BSD-3-Clause
"""mpiq watch at a Slurm job of four nodes: what it shows, and that the job ends with its right result whatever happens."""
import re
import signal
import subprocess

import pytest

import cluster_job
from cluster_job import RANKS, ClusterJob
from looks import Looks
from support.terminal import Terminal

STEPS = ("--steps", "20", "--pause", "1000") # of a second each


@pytest.fixture
def job_of(slurm, solvers, recorder):
    """job_of(arguments…): the solver on four nodes, by srun and MPICH, under the recorder."""
    def start(*arguments):
        return ClusterJob(cluster_job.srun_mpich(slurm, recorder), solvers("MPICH"), *arguments)

    return start


@pytest.fixture
def looks(slurm, mpiq):
    return Looks(mpiq, slurm.box, [slurm.box])


def watch(slurm, mpiq, job, directory):
    environment = [f"{name}={value}" for name, value in slurm.box.environment.items() if name in ("SLURM_CONF", "PATH")]
    return Terminal(["env", *environment, *slurm.box.command(mpiq, "watch", "--interval", "1", job.starter.target)], directory)


def test_hung_and_resized(job_of, slurm, mpiq, looks, tmp_path):
    with job_of("--hang") as job:
        job.hung()
        looks.deadlock(job.starter.target)
        first = looks.text(job.starter.target)[1].split(" (", maxsplit=1)[0]
        with watch(slurm, mpiq, job, tmp_path) as terminal:
            screen = terminal.wait_for("deadlock: ", "Who waits for whom", "suspect: look there first", "look 2", seconds=120)
            assert first in screen
            terminal.resize(60, 15)
            screen = terminal.until(lambda screen: "q quit" in screen.splitlines()[14] and screen, "the smaller screen")
            assert max(map(len, screen.splitlines())) <= 60
            terminal.resize(100, 30)
            terminal.wait_for("Who waits for whom")
            terminal.type("a")
            terminal.wait_for("RANK", "HOST", "n1", "n4")
            terminal.type("q")
            terminal.wait_for("status 0")
        looks.nothing_left()


def test_the_job_ends(job_of, slurm, mpiq, looks, tmp_path):
    with job_of(*STEPS) as job:
        job.works()
        with watch(slurm, mpiq, job, tmp_path) as terminal:
            # On a slow machine it may end before that.
            terminal.until(lambda screen: f" {RANKS} ranks" in screen and re.search(r"\blook ([2-9]|\d\d)", screen)
                           or "the job has ended" in screen, "two looks", seconds=120)
            job.ends_right(600)
            terminal.type("q")
            terminal.wait_for("status ")
        looks.nothing_left()


def test_mpiq_killed(job_of, slurm, mpiq, looks, tmp_path):
    with job_of(*STEPS) as job:
        job.works()
        with watch(slurm, mpiq, job, tmp_path) as terminal:
            terminal.until(lambda screen: re.search(r"\blook ([2-9]|\d\d)", screen), "two looks", seconds=120)
            own = subprocess.run(["pgrep", "-f", f"^{mpiq} watch"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
            for pid in own:
                subprocess.run(["kill", f"-{signal.SIGKILL}", pid], check=False)
            terminal.wait_for("status ")
        looks.nothing_left()
        job.ends_right(600)
