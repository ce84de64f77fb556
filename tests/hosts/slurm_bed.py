# SPDX-License-Identifier: BSD-3-Clause
"""Slurm as Debian ships it: slurmctld and a slurmd for each of four nodes, in one box, with a munge of its own."""
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile

from box import Box
from support.conditions import wait_until

NODES = 4
ADDRESS = "10.77.0.1"
PROGRAMS = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "salloc", "scancel", "squeue", "scontrol")

# Nodes are one machine in truth: each has a directory for temporary files of its own, and more processors than
# there are.
CONFIGURATION = """
ClusterName=bed
SlurmctldHost=login({address})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={directory}/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
TmpFS={directory}/tmp-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
SlurmctldPort=6817
ReturnToService=2
KillWait=2
SlurmdTimeout=60
InactiveLimit=0
NodeName=n[1-{nodes}] NodeHostname=login NodeAddr={address} Port=[17001-{last_port}] CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def why_no_slurm():
    """None where Slurm can be started, else the reason why not."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if missing:
        return f"no Slurm here ({', '.join(missing)}): slurmctld, slurmd, slurm-client and munge have it"
    return None


class Slurm:
    """Four nodes in one box, named n1 to n4; the box is the login node, too."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mpiq-slurm-", dir="/tmp"))
        self.directory.chmod(0o711) # munged insists that all may come to its socket
        self.box = None
        try:
            self.box = Box("login", self.directory)
            self._start()
        except BaseException:
            self.end()
            raise

    def _start(self):
        box, directory = self.box, self.directory
        box.environment["SLURM_CONF"] = str(directory / "slurm.conf")
        box.environment["PATH"] = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        box.add_network(ADDRESS)
        box.put_over({"/etc/hosts": f"127.0.0.1 localhost\n{ADDRESS} login {' '.join(self.nodes)}\n"})
        key = directory / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        for name in ("state", *(f"{kind}-{node}" for kind in ("spool", "tmp") for node in self.nodes)):
            (directory / name).mkdir()
        (directory / "slurm.conf").write_text(CONFIGURATION.format(
            directory=directory, address=ADDRESS, user=box.run("id", "-un").strip(), nodes=NODES,
            last_port=17000 + NODES), encoding="utf-8")
        self._daemon("munged", "munged", "--foreground", f"--key-file={key}", f"--socket={directory}/munge.socket",
                     f"--pid-file={directory}/munged.pid", f"--seed-file={directory}/munge.seed",
                     f"--log-file={directory}/munged.log", "--num-threads=2")
        self.until("munged", lambda: (directory / "munge.socket").exists())
        self._daemon("slurmctld", "slurmctld", "-D")
        for node in self.nodes:
            self._daemon(f"slurmd-{node}", "slurmd", "-D", "-N", node)
        self.until("Slurm", lambda: box.ask("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(NODES))

    @property
    def nodes(self):
        return [f"n{number}" for number in range(1, NODES + 1)]

    def _daemon(self, name, *command):
        with open(self.directory / f"{name}.out", "wb") as out:
            self.box.start(*command, stdout=out, stderr=subprocess.STDOUT)

    def until(self, what, done, seconds=30):
        """Waits for something, or says what the daemons said."""
        wait_until(done, lambda: f"{what}:\n{self.logs()}", seconds, every=0.05)

    def logs(self):
        """The end of what the daemons have said."""
        files = sorted(self.directory.glob("*.log")) + sorted(self.directory.glob("*.out"))
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-1500:]}" for file in files)

    def batch(self, command, *options, environment=None):
        """Submits a command: the job's number, once it runs, or has run."""
        return self.submit(f"#!/bin/sh\n{command}\n", *options, environment=environment)

    def submit(self, script, *options, environment=None):
        """Submits a script: the job's number, once it runs, or has run."""
        file = self.directory / "script"
        file.write_text(script, encoding="utf-8")
        number = self.box.run("sbatch", "--parsable", f"--output={self.directory}/job-%j.out", *options, file,
                              environment=environment).strip()
        self.until(f"job {number}", lambda: self.state(number) not in ("", "PENDING", "CONFIGURING"))
        return number

    def state(self, number):
        """Slurm's word for a job: PENDING, RUNNING, COMPLETED, …"""
        said = self.box.ask("scontrol", "-o", "show", "job", number).stdout
        return said.partition("JobState=")[2].split(" ")[0]

    def output(self, number):
        file = self.directory / f"job-{number}.out"
        return file.read_text(errors="replace") if file.exists() else ""

    def wait(self, number, seconds=60):
        """Until the job has ended: its last state."""
        over = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
        self.until(f"the end of job {number}", lambda: self.state(number) in over, seconds)
        return self.state(number)

    def cancel(self, number):
        """Ends a job, and waits until nothing of it is left."""
        self.box.ask("scancel", number)
        self.until(f"the end of job {number}", lambda: self.state(number) not in ("RUNNING", "COMPLETING"), 60)

    def end(self):
        if self.box:
            self.box.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
