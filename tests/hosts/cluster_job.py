# SPDX-License-Identifier: BSD-3-Clause
"""The solver as a job on the beds' hosts: eight ranks, two a host, started in the ways that clusters start jobs."""
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess

from support import job as jobs
from support import libraries
from support.conditions import wait_until

RANKS = 8
RIGHT = "heat 1000.000000\n" # what the solver prints when it has come to its end
FOREVER = ("--steps", "100000000")


@dataclasses.dataclass(frozen=True)
class Library:
    """An MPI library: Debian's by the suffix of its programs, ours by a prefix that a variable names."""
    wanted: str
    suffix: str = ""
    variable: str = ""

    def program(self, name):
        """Its mpicc, mpirun, …; None where the library is not here."""
        if not self.variable:
            return name + self.suffix
        prefix = os.environ.get(self.variable)
        return f"{prefix}/bin/{name}" if prefix else None

    @property
    def line(self):
        return "5.0" if "50" in self.variable else "4.1"


LIBRARIES = {
    "MPICH": Library("mpich and libmpich-dev have it", ".mpich"),
    "Open MPI": Library("openmpi-bin and libopenmpi-dev have it", ".openmpi"),
    "patched 5.0": Library("MPIQ_OMPI_50 names none", variable="MPIQ_OMPI_50"),
}

# Nodes of the Slurm bed are one machine under four names, where shared memory fails.
OPEN_MPI = {**jobs.AS_ROOT, "OMPI_MCA_btl": "self,tcp"}


def running(program):
    """Pids of a program's processes, as seen from outside the beds."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(program):
                found.append(int(entry))
        except OSError:
            continue
    return found


class ClusterJob:
    """The solver, started by `starter` (one of the classes below); a context manager that ends it."""

    def __init__(self, starter, program, *arguments):
        self.program = program
        self.ready = pathlib.Path(starter.directory) / "ready"
        self.starter = starter
        self.arguments = arguments
        self._start()

    def _start(self):
        self.ready.unlink(missing_ok=True)
        self.starter.start(self.program, *self.arguments, "--ready", self.ready)

    def _is_ready(self):
        return self.ready.exists() and len(self.ready.read_text().split()) >= RANKS

    def _died(self):
        """Whether a rank crashed while it connected, as happens in Open MPI's TCP now and then.  Under srun, the other ranks
        stay and wait for it."""
        return "Segmentation fault" in self.output()

    def hung(self, seconds=60):
        """Waits until each rank has said that its next call is the one that hangs, and stands still there.  A job
        that crashed before that, with nobody looking, is started again, at most twice."""
        for _ in range(2):
            self._until(lambda: self._is_ready() or self._died(), seconds)
            if self._is_ready():
                break
            self.end()
            self._start()
        self._until(self._is_ready, seconds)
        pids = running(self.program)
        assert len(pids) == RANKS, (pids, self.output())
        jobs.stand_still(pids)
        return self.step_back()

    def works(self, seconds=60):
        """Waits until all ranks run and have left MPI_Init behind."""
        self._until(lambda: len(running(self.program)) == RANKS and
                    all((jobs.cpu_ns(pid) or 0) > jobs.SPUN_NS for pid in running(self.program)), seconds)
        return self.step_back()

    def step_back(self):
        for pid in running(self.program):
            jobs.step_back(pid)
        return self

    def _until(self, done, seconds):
        wait_until(done, lambda: f"the job has not come so far:\n{self.output()}", seconds, every=0.05)

    def output(self):
        return self.starter.output()

    def ends_right(self, seconds=60):
        """It ends by itself within that time, and has printed the right result last."""
        assert self.starter.wait(seconds), f"the job failed:\n{self.output()}"
        assert jobs.without_late_launcher(self.output()).endswith(RIGHT), self.output()

    def end(self):
        for pid in running(self.program):
            with contextlib.suppress(ProcessLookupError): # its launcher ends the others when it misses one
                os.kill(pid, signal.SIGKILL)
        self.starter.end()
        self._until(lambda: not running(self.program), 20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Batch:
    """A batch job of the Slurm bed: eight tasks on four nodes."""

    def __init__(self, slurm, command, environment=None):
        self.slurm = slurm
        self.box = slurm.box
        self.directory = slurm.directory
        self.command = command
        self.environment = environment
        self.number = None

    def start(self, *arguments):
        self.number = self.slurm.batch(" ".join(map(str, [*self.command, *arguments])), "--nodes=4",
                                       "--ntasks-per-node=2", environment=self.environment)

    @property
    def target(self):
        return f"slurm:{self.number}"

    def output(self):
        return self.slurm.output(self.number)

    def wait(self, seconds):
        return self.slurm.wait(self.number, seconds) == "COMPLETED"

    def end(self):
        self.slurm.cancel(self.number)


class Launched:
    """A launcher in a box; hosts: the names that it knows its own host by."""

    def __init__(self, box, command, environment=None, hosts=("machine",)):
        self.box = box
        self.hosts = list(hosts)
        self.directory = box.directory
        self.command = command
        self.environment = environment
        self.process = None

    def start(self, *arguments):
        with open(self.directory / "output", "wb") as out:
            self.process = self.box.start(*self.command, *arguments, environment=self.environment, stdout=out,
                                          stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def target(self):
        """The launcher's pid in its box."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("NSpid:"):
                return line.split()[-1]
        raise AssertionError("the launcher has ended")

    def output(self):
        return (self.directory / "output").read_text(errors="replace")

    def wait(self, seconds):
        return self.process.wait(seconds) == 0

    def end(self):
        try:
            self.process.wait(2) # its ranks are gone: it ends by itself
        except subprocess.TimeoutExpired:
            self.process.send(signal.SIGKILL)
            self.process.wait(10)


def srun_mpich(slurm, recorder):
    return Batch(slurm, ["srun", "--mpi=pmi2", "env", f"LD_PRELOAD={recorder}"])


def srun_openmpi(slurm):
    return Batch(slurm, ["srun", "--mpi=pmix"], OPEN_MPI)


def mpirun_in_batch(slurm, library):
    """mpirun starts its daemons by srun."""
    return Batch(slurm, [LIBRARIES[library].program("mpirun"), "--oversubscribe", "-n", RANKS, "--map-by", "node"],
                 OPEN_MPI)


def mpirun_by_ssh(cluster, library):
    """Two ranks a host; mpirun itself is on the login host."""
    hosts = ",".join(f"{host}:2" for host in cluster.hosts)
    return Launched(cluster.login, [LIBRARIES[library].program("mpirun"), "--host", hosts, "-n", RANKS],
                    jobs.AS_ROOT)


def hydra_by_ssh(cluster, recorder):
    return Launched(cluster.login, ["mpiexec.hydra", "-launcher", "ssh", "-hosts", ",".join(cluster.hosts), "-n", RANKS,
                                    "-ppn", "2", "-genv", "LD_PRELOAD", recorder])


def hydra_by_fork(machine, recorder):
    """Proxies for four host names, all of them on this machine."""
    return Launched(machine, ["mpiexec.hydra", "-launcher", "fork", "-hosts", "n1,n2,n3,n4", "-n", RANKS, "-ppn", "2",
                              "-genv", "LD_PRELOAD", recorder])


def mpirun_by_agent(machine, library):
    """An agent in place of ssh: other host names on this machine."""
    agent = "--prtemca plm_ssh_agent" if LIBRARIES[library].line == "5.0" else "--mca plm_rsh_agent"
    hosts = ["n1", "n2", "n3", "n4"]
    return Launched(machine, [LIBRARIES[library].program("mpirun"), *agent.split(),
                              libraries.HERE / "two_hosts_agent", "--host", ":2,".join(hosts) + ":2",
                              "-n", RANKS], OPEN_MPI, hosts)


def one_host(machine, library, recorder=None):
    """The same job on one host."""
    preload = ["-genv", "LD_PRELOAD", recorder] if library == "MPICH" else ["--oversubscribe"]
    return Launched(machine, [LIBRARIES[library].program("mpirun"), *preload, "-n", RANKS], OPEN_MPI)

