# SPDX-License-Identifier: BSD-3-Clause
"""Hosts with nothing but ssh: namespaces joined by a bridge, an sshd in each, with keys of the bed's own.

login is where a user sits and where mpirun runs; h1 to h4 are where the ranks run.  Files are shared, as on most
clusters; processes, shared memory, names and networks are not.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

from box import Box
from support.conditions import wait_until

HOSTS = 4
NETWORK = "10.78.0."

SERVER = """
Port 22
HostKey {directory}/host-key
AuthorizedKeysFile {directory}/user-key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
PrintMotd no
PidFile none
SetEnv TMPDIR={temporary}
"""

CLIENT = """
Host *
    IdentityFile {directory}/user-key
    UserKnownHostsFile {directory}/known-hosts
    BatchMode yes
"""


def why_no_ssh():
    """None where sshd and ssh are installed, else the reason why not."""
    missing = [name for name in ("sshd", "ssh", "ssh-keygen")
               if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    return f"{', '.join(missing)} missing: openssh-server and openssh-client have it" if missing else None


class Cluster:
    """A login host and four others."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mpiq-ssh-", dir="/tmp"))
        self.boxes = {}
        try:
            self._start()
        except BaseException:
            self.end()
            raise

    @property
    def login(self):
        return self.boxes["login"]

    @property
    def hosts(self):
        return [f"h{number}" for number in range(1, HOSTS + 1)]

    def _start(self):
        for name in ("host-key", "user-key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bed", "-f",
                            self.directory / name], check=True)
        key = " ".join((self.directory / "host-key.pub").read_text(encoding="ascii").split()[:2])
        (self.directory / "known-hosts").write_text(f"* {key}\n", encoding="ascii")
        for name in ("login", *self.hosts):
            self.boxes[name] = Box(name, self.directory)
        self._connect()
        for number, box in enumerate(self.boxes.values(), 1):
            self._set_up(number, box)
        for name in self.hosts:
            self._wait_for_ssh(name)

    def _connect(self):
        """A pair of interfaces for each host: one end is the host's, the other a port of login's bridge.  Made where
        they belong: nothing appears outside the boxes, not even for a moment."""
        commands = ["ip link add hosts type bridge", "ip link set hosts up", f"ip addr add {NETWORK}1/24 dev hosts"]
        commands += [f"ip link add {name} type veth peer name to-{name}\nip link set {name} master hosts up"
                     for name in self.hosts]
        self.login.run("sh", "-ec", "\n".join(commands))
        # Pids are those outside: only the network is entered.
        moves = "\n".join(f"ip link set to-{name} netns {self.boxes[name].pid}" for name in self.hosts)
        subprocess.run(["nsenter", f"--target={self.login.pid}", "--net", "sh", "-ec", moves], check=True)

    def _set_up(self, number, box):
        lines = [f"{NETWORK}{other} {name}" for other, name in enumerate(self.boxes, 1)]
        # What the account's shell runs first may take a minute, wait for a lock or print: not here.
        start = pathlib.Path.home() / ".bashrc"
        box.put_over({
            **({str(start): ""} if start.exists() else {}),
            "/etc/hosts": "\n".join(["127.0.0.1 localhost", *lines, ""]),
            "/etc/ssh/ssh_config": CLIENT.format(directory=self.directory),
            # An account without a password may be locked for sshd.
            "/etc/shadow": "root:*:19000:0:99999:7:::\n",
        })
        if box.name == "login":
            return
        box.run("sh", "-ec", f"""mount -t tmpfs run /run
                              mkdir /run/sshd
                              ip link set to-{box.name} name eth0
                              ip addr add {NETWORK}{number}/24 dev eth0
                              ip link set eth0 up""")
        configuration = self.directory / f"sshd-{box.name}.conf"
        configuration.write_text(SERVER.format(directory=self.directory, temporary=box.environment["TMPDIR"]), encoding="ascii")
        with open(self.directory / f"sshd-{box.name}.log", "wb") as log:
            box.start(shutil.which("sshd", path="/usr/sbin:/sbin:/usr/bin"), "-D", "-e", "-f", configuration,
                      stdout=log, stderr=subprocess.STDOUT)

    def _wait_for_ssh(self, name):
        log = self.directory / f"sshd-{name}.log"
        wait_until(lambda: self.login.ask("ssh", name, "hostname").stdout.strip() == name,
                   lambda: f"ssh to {name}: {log.read_text(errors='replace')}", every=0.05)

    def end(self):
        for box in self.boxes.values():
            box.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
