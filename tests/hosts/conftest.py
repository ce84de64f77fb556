# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of many hosts need: beds that stand in for clusters, the solver for each MPI library, mpiq."""
import pathlib
import shutil
import subprocess

import pytest

import box
import slurm_bed
import ssh_bed
from cluster_job import LIBRARIES
from support import built
from support.solver_job import SOLVER

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def recorder():
    """Path of the recorder that belongs to mpiq."""
    return built.recorder()


@pytest.fixture(scope="session")
def solvers(tmp_path_factory):
    """solvers(library): the example, compiled for an MPI library; skips where that is not installed."""
    made = {}
    directory = tmp_path_factory.mktemp("solvers")

    def solver(name):
        compiler = LIBRARIES[name].program("mpicc")
        if not compiler or not shutil.which(compiler):
            pytest.skip(f"no {name} here: {LIBRARIES[name].wanted}")
        if name not in made:
            target = directory / f"solver-{name.replace(' ', '-')}"
            subprocess.run([compiler, "-g", "-O1", "-fno-inline", "-o", target, SOLVER], check=True)
            made[name] = target
        return made[name]

    return solver


def skip_without_boxes(reason=None):
    reason = reason or box.why_no_boxes()
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def slurm():
    """A Slurm of four nodes."""
    skip_without_boxes(slurm_bed.why_no_slurm())
    skip_without_boxes()
    with slurm_bed.Slurm() as bed:
        yield bed


@pytest.fixture(scope="session")
def cluster():
    """A login host and four others that only ssh connects."""
    skip_without_boxes(ssh_bed.why_no_ssh())
    skip_without_boxes()
    with ssh_bed.Cluster() as bed:
        yield bed


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    """One host, for launchers that can make believe there are several."""
    skip_without_boxes()
    with box.Box("machine", tmp_path_factory.mktemp("machine")) as bed:
        bed.add_network("10.79.0.1")
        bed.put_over({"/etc/hosts": "127.0.0.1 localhost\n10.79.0.1 machine\n"})
        yield bed
