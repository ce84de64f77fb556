# SPDX-License-Identifier: BSD-3-Clause
"""What a launcher says is used as it was meant, and only if the launcher is one's own."""
import os
import shutil

import pytest

from cluster_job import LIBRARIES, RANKS, ClusterJob, Launched
from looks import Looks
from support import job as jobs
from support.conditions import wait_until

# In place of ssh, and says that it was used.
AGENT = """#!/bin/sh
echo "$*" >> {log}
exec ssh "$@"
"""


def launched_by_agent(cluster, library, options, environment):
    hosts = ",".join(f"{host}:2" for host in cluster.hosts)
    return Launched(cluster.login, [LIBRARIES[library].program("mpirun"), *options, "--host", hosts, "-n", RANKS],
                    {**jobs.AS_ROOT, **environment})


@pytest.mark.parametrize("library, option, variable", [
    ("Open MPI", "--mca plm_rsh_agent", ""),
    ("Open MPI", "", "OMPI_MCA_plm_rsh_agent"),
    ("patched 5.0", "--prtemca plm_ssh_agent", ""),
])
def test_the_agent_that_mpirun_was_given(cluster, mpiq, solvers, library, option, variable):
    agent, log = cluster.directory / "agent", cluster.directory / "agent-log"
    agent.write_text(AGENT.format(log=log), encoding="ascii")
    agent.chmod(0o755)
    starter = launched_by_agent(cluster, library, [*option.split(), agent] if option else [],
                                {variable: str(agent)} if variable else {})
    with ClusterJob(starter, solvers(library), "--hang") as job:
        job.hung()
        log.write_text("", encoding="ascii") # what mpirun itself started
        answer = Looks(mpiq, cluster.login, list(cluster.boxes.values())).deadlock(starter.target)
        used = log.read_text(encoding="ascii").splitlines()
    assert answer["job"]["hosts"] == cluster.hosts
    assert sorted({line.split()[0] for line in used if " collect " in line}) == cluster.hosts


def test_only_the_launchers_own_directory_is_searched(cluster, mpiq, solvers):
    """PMIx opens all below TMPDIR that is called like a launcher's word of itself.  Here lies a pipe of that name, at
    which it would wait for ever; a /tmp with a million files is as bad."""
    temporary = cluster.directory / "temporary"
    (temporary / "another").mkdir(parents=True)
    starter = launched_by_agent(cluster, "patched 5.0", [], {"TMPDIR": str(temporary)})
    with ClusterJob(starter, solvers("patched 5.0"), "--hang") as job:
        job.hung()
        os.mkfifo(temporary / "another" / f"pmix.{cluster.login.name}.tool.{starter.target}")
        answer = Looks(mpiq, cluster.login, list(cluster.boxes.values())).deadlock(starter.target)
    assert answer["job"]["hosts"] == cluster.hosts


@pytest.mark.parametrize("name", ["orterun", "prterun", "mpiexec.hydra"])
def test_a_launcher_of_another_user(machine, mpiq, name):
    """Which hosts it names, and how to get there, is somebody else's word: root does nothing by it."""
    if machine.ask("id", "-u").stdout.strip() != "0":
        pytest.skip("only root can start a process of another user")
    program = machine.directory / name
    shutil.copy(shutil.which("sleep"), program)
    machine.directory.chmod(0o755)
    started = machine.start("setpriv", "--reuid=65534", "--clear-groups", program, "100")
    launched = Launched(machine, [])
    launched.process = started
    pid = launched.target
    wait_until(lambda: str(program) in machine.processes().get(int(pid), ""), f"{program} runs")
    status, text = Looks(mpiq, machine, [machine]).text(pid)
    started.send(9)
    assert status == 3 and f"the launcher {pid} belongs to another user" in text, text
