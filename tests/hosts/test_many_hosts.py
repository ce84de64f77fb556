# SPDX-License-Identifier: BSD-3-Clause
"""A job on several hosts, one command: the answer that one host gives, and no harm whatever goes wrong.

MPIQ_LOOKS and MPIQ_ROUNDS ask for more looks at healthy jobs and more faults than a test run has time for.
"""
import os

import pytest

import cluster_job
from cluster_job import FOREVER, RANKS, ClusterJob
from looks import Looks, Mischief, findings

HEALTHY_LOOKS = int(os.environ.get("MPIQ_LOOKS", "3"))
ROUNDS = int(os.environ.get("MPIQ_ROUNDS", "6"))

# How jobs are started: {name: (bed, MPI library, starter)}.
WAYS = {
    "srun, MPICH": ("slurm", "MPICH", lambda get: cluster_job.srun_mpich(get("slurm"), get("recorder"))),
    "srun, Open MPI": ("slurm", "Open MPI", lambda get: cluster_job.srun_openmpi(get("slurm"))),
    "srun, 5.0": ("slurm", "patched 5.0", lambda get: cluster_job.srun_openmpi(get("slurm"))),
    "mpirun in a batch job": ("slurm", "Open MPI", lambda get: cluster_job.mpirun_in_batch(get("slurm"), "Open MPI")),
    "5.0 in a batch job": ("slurm", "patched 5.0",
                           lambda get: cluster_job.mpirun_in_batch(get("slurm"), "patched 5.0")),
    "mpirun by ssh": ("cluster", "Open MPI", lambda get: cluster_job.mpirun_by_ssh(get("cluster"), "Open MPI")),
    "5.0 by ssh": ("cluster", "patched 5.0", lambda get: cluster_job.mpirun_by_ssh(get("cluster"), "patched 5.0")),
    "Hydra by ssh": ("cluster", "MPICH", lambda get: cluster_job.hydra_by_ssh(get("cluster"), get("recorder"))),
    "mpirun by an agent": ("machine", "Open MPI",
                           lambda get: cluster_job.mpirun_by_agent(get("machine"), "Open MPI")),
    "5.0 by an agent": ("machine", "patched 5.0",
                        lambda get: cluster_job.mpirun_by_agent(get("machine"), "patched 5.0")),
    "Hydra by fork": ("machine", "MPICH", lambda get: cluster_job.hydra_by_fork(get("machine"), get("recorder"))),
}


# At healthy jobs; all of them when more looks are asked for.
LOOKED_AT = WAYS if "MPIQ_LOOKS" in os.environ else ["srun, MPICH", "mpirun in a batch job", "mpirun by ssh", "5.0 by ssh"]


class Way:
    """One of these in its bed."""

    def __init__(self, name, get, solvers, mpiq):
        self.bed_name, self.library, starter = WAYS[name]
        self.program = solvers(self.library)
        self.starter = starter(get)
        bed = get(self.bed_name)
        boxes = {"slurm": lambda: [bed.box], "cluster": lambda: list(bed.boxes.values()), "machine": lambda: [bed]}
        self.boxes = boxes[self.bed_name]()
        self.looks = Looks(mpiq, self.starter.box, self.boxes)
        hosts = {"slurm": lambda: bed.nodes, "cluster": lambda: bed.hosts, "machine": lambda: self.starter.hosts}
        self.hosts = hosts[self.bed_name]()

    def job(self, *arguments):
        return ClusterJob(self.starter, self.program, *arguments)


@pytest.fixture
def way(request, solvers, mpiq):
    return Way(request.param, request.getfixturevalue, solvers, mpiq)


@pytest.fixture(scope="session")
def on_one_host(machine, solvers, mpiq, recorder):
    """on_one_host(library): the findings at the same hang with all ranks on one host."""
    known = {}

    def answer(library):
        if library not in known:
            starter = cluster_job.one_host(machine, library, recorder)
            with ClusterJob(starter, solvers(library), "--hang") as job:
                job.hung()
                known[library] = findings(Looks(mpiq, machine, [machine]).deadlock(starter.target))
        return known[library]

    return answer


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_the_answer_of_one_host(way, on_one_host):
    wanted = on_one_host(way.library)
    with way.job("--hang") as job:
        job.hung()
        answer = way.looks.deadlock(way.starter.target)
        way.looks.nothing_left()
    assert findings(answer) == wanted, answer
    assert wanted[0]["kind"] == "collective_incomplete" and wanted[0]["missing"] == "1"
    assert answer["job"]["size"] == answer["job"]["ranks_seen"] == RANKS
    assert answer["job"]["hosts"] == way.hosts and "hosts_unread" not in answer["job"]
    assert sorted(rank["host"] for rank in answer["ranks"]) == sorted(way.hosts * (RANKS // len(way.hosts)))


@pytest.mark.parametrize("way", LOOKED_AT, indirect=True)
def test_a_job_that_works_runs(way):
    with way.job(*FOREVER) as job:
        job.works()
        for _ in range(HEALTHY_LOOKS):
            answer = way.looks.running(way.starter.target)
            assert answer["job"]["ranks_seen"] == RANKS
        way.looks.nothing_left()


@pytest.mark.parametrize("way", ["srun, Open MPI", "mpirun by ssh"], indirect=True)
def test_no_harm_whatever_goes_wrong(way):
    """The job ends with its right result, and nothing of mpiq is left after each fault."""
    steps = 4 * ROUNDS # of a second and more, in which all sleep: longer than the rounds last
    with way.job("--steps", steps, "--pause", 1000) as job:
        job.works()
        mischief = Mischief(way.looks, ["--json", way.starter.target], seed=ROUNDS)
        for round_number in range(ROUNDS):
            mischief.all()[round_number % len(mischief.all())]()
            way.looks.nothing_left()
        job.ends_right(30 * steps)


@pytest.mark.parametrize("way", ["mpirun by ssh"], indirect=True)
def test_a_host_that_never_answers_is_named(way, cluster):
    """Its ranks count as not read.  Rank 1 waits for one of them: nothing is proven."""
    silent = cluster.boxes["h4"]
    listener = silent.run("pgrep", "-f", "sshd.*listener").split()[0]
    with way.job("--hang") as job:
        job.hung()
        silent.run("kill", "-STOP", listener)
        try:
            for wait in ("5", "15", "45", "135"): # the others answer by then, on a busy machine in the end
                sentence = f"host h4 (ranks 6-7): it did not answer within {wait} s (--wait)"
                status, answer = way.looks.json("--wait", wait, way.starter.target, seconds=300)
                _, text = way.looks.text("--wait", wait, way.starter.target, seconds=300)
                if answer and answer["job"]["ranks_seen"] == RANKS - 2 and f"  {sentence}" in text.splitlines():
                    break
        finally:
            silent.run("kill", "-CONT", listener)
        way.looks.nothing_left()
    assert f"  {sentence}" in text.splitlines()
    assert answer["verdict"] != "deadlock" and status != 1
    assert answer["job"]["ranks_seen"] == RANKS - 2
    assert answer["job"]["hosts_unread"] == [{"host": "h4", "text": sentence}]
    assert answer["job"]["hosts"] == way.hosts[:3]


@pytest.mark.parametrize("way", ["mpirun by ssh", "5.0 by ssh"], indirect=True)
def test_without_a_word_it_is_the_only_launcher_here(way, on_one_host):
    wanted = on_one_host(way.library)
    with way.job("--hang") as job:
        job.hung()
        assert findings(way.looks.deadlock()) == wanted


@pytest.mark.parametrize("way", ["mpirun by ssh"], indirect=True)
def test_hosts_by_name(way, on_one_host, mpiq):
    """By ssh, and by a command of the user's."""
    wanted = on_one_host(way.library)
    hosts = ",".join(way.hosts)
    with way.job("--hang") as job:
        job.hung()
        assert findings(way.looks.deadlock("--hosts", hosts)) == wanted
        assert findings(way.looks.deadlock("--hosts", hosts, "--via", "ssh -q {host}")) == wanted
        assert findings(way.looks.deadlock("--hosts", hosts, "--fanout", "1")) == wanted
        status, text = way.looks.text("--hosts", hosts, "--via", "ssh -q {host} /nonexistent/shell")
        assert status == 3 and f"(mpiq must be at {mpiq} on every host)" in text, text
        way.looks.nothing_left()


@pytest.mark.parametrize("way", ["srun, Open MPI"], indirect=True)
def test_doctor(way):
    """Of a job from outside it."""
    with way.job("--hang") as job:
        job.hung()
        status, text = way.looks.text("doctor", way.starter.target)
    assert status == 0 and f"ok    {RANKS} ranks found on 4 hosts" in text.splitlines(), text
    assert "read by the layout of its release" in text, text


class TwoSteps(cluster_job.Batch):
    """A batch job with two steps of four ranks, each on all nodes."""

    def start(self, *arguments):
        words = " ".join(map(str, arguments))
        step = f"srun --overlap --mpi=pmix --ntasks=4 --ntasks-per-node=1 {words} &\n"
        self.number = self.slurm.submit(f"#!/bin/sh\n{step}{step}wait\n", "--nodes=4", "--ntasks-per-node=2",
                                        environment=self.environment)


def test_several_steps_in_a_job(slurm, solvers, mpiq):
    """Which one is meant, the user is asked."""
    starter = TwoSteps(slurm, [], cluster_job.OPEN_MPI)
    looks = Looks(mpiq, slurm.box, [slurm.box])
    with ClusterJob(starter, solvers("Open MPI"), "--hang") as job:
        job.hung()
        status, text = looks.text(starter.target)
        assert status == 3 and "several MPI jobs run here" in text, text
        steps = [f"{starter.target}.{number}" for number in (0, 1)]
        assert all(f"{step} (solver-Open-MPI)" in text for step in steps), text
        for step in steps:
            answer = looks.deadlock(step)
            assert answer["job"]["ranks_seen"] == answer["job"]["size"] == 4
            assert answer["findings"][0]["missing"] == "1"
