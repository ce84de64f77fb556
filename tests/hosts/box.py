# SPDX-License-Identifier: BSD-3-Clause
"""A box: namespaces of its own for processes, mounts, host name and network, in place of a host.

All that runs in a box ends with it: its first process is killed when the box is left, and by the kernel when the
tests' own process ends in whatever way.  Nothing outside is changed: files that have to be elsewhere are mounted
over, inside the box alone.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

from support.conditions import communicate, ended, wait_until

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

# The first process adopts what is left over in the box; children that it ignores leave no zombies.
FIRST = """import signal, socket, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
socket.sethostname(sys.argv[1])
print("ready", flush=True)
signal.pause()
"""


def die_with_parent():
    """For preexec_fn: the kernel kills this child when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def why_no_boxes():
    """None where boxes can be made, else the reason why not."""
    done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "--uts", "--ipc", "--net", "sh", "-c",
                           "hostname box && ip link add left type veth peer name right"],
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no hosts can be emulated here: {done.stderr.strip()}"


def children(pid):
    """Pids of a process's children."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            rest = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1] if entry.isdigit() else ""
        except OSError:
            continue
        if rest and int(rest.split()[1]) == pid:
            found.append(int(entry))
    return found


def alive(pid):
    """Whether a process is there and is more than what its parent has not asked for yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Process:
    """A command in a box: its Popen, and its own pid as seen from outside."""

    def __init__(self, popen):
        self.popen = popen
        self._pid = 0

    @property
    def pid(self):
        """Outside the box; 0 once it has ended."""
        def begun():
            self._pid = self._pid or next(iter(children(self.popen.pid)), 0)
            return self._pid or self.popen.poll() is not None

        wait_until(begun, "a process in the box", every=0.001)
        return self._pid

    def send(self, number):
        """A signal to the command itself, not to what entered the box for it."""
        if self.pid and self.popen.poll() is None:
            os.kill(self.pid, number)

    def wait(self, seconds):
        return ended(self.popen, seconds)


class Box:
    """A host with processes, mounts, a name and a network of its own."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = pathlib.Path(directory)
        self._started = []
        command = ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--uts", "--ipc", "--net",
                   sys.executable, "-S", "-c", FIRST, name]
        self._first = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       preexec_fn=die_with_parent)
        assert self._first.stdout.readline() == b"ready\n", f"the box {name} did not start"
        (self.pid,) = children(self._first.pid)
        # Launchers name their files there by host and pid; two beds at once can have the same of both.
        temporary = self.directory / f"tmp-{name}"
        temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(temporary)}
        self.run("sh", "-ec", "mount -t tmpfs shm /dev/shm; ip link set lo up")

    def command(self, *arguments):
        """What enters the box for a command."""
        return ["nsenter", f"--target={self.pid}", "--pid", "--mount", "--uts", "--ipc", "--net",
                f"--wdns={self.directory}", "--", *map(str, arguments)]

    def start(self, *arguments, environment=None, **options):
        """Leaves it running."""
        options = {"stdin": subprocess.DEVNULL, **options}
        process = Process(subprocess.Popen(self.command(*arguments), env={**self.environment, **(environment or {})},
                                           **options))
        self._started = [other for other in self._started if other.popen.poll() is None] + [process]
        return process

    def ask(self, *arguments, seconds=60, environment=None):
        """Waits for it: CompletedProcess with text."""
        process = self.start(*arguments, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        try:
            out, err = communicate(process.popen, seconds, kill=lambda: process.send(signal.SIGKILL))
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{arguments} took longer than {seconds} s: {error.output}{error.stderr}") from None
        return subprocess.CompletedProcess(arguments, process.popen.returncode, out, err)

    def run(self, *arguments, **options):
        """Waits for it, and it has to succeed: its output."""
        done = self.ask(*arguments, **options)
        assert done.returncode == 0, f"{arguments} failed on {self.name}: {done.stdout}{done.stderr}"
        return done.stdout

    def add_network(self, address):
        """An interface beside the loopback one, which MPI libraries pass over; all it reaches is the box itself."""
        self.run("sh", "-ec", f"""ip link add net0 type veth peer name net1
                              ip addr add {address}/24 dev net0
                              ip link set net0 up
                              ip link set net1 up""")

    def put_over(self, files):
        """Within the box alone, these files read so: {path: text}."""
        commands = []
        for number, (path, text) in enumerate(files.items()):
            file = self.directory / f"{self.name}-{number}"
            file.write_text(text, encoding="utf-8")
            commands.append(f"mount --bind {file} {path}")
        self.run("sh", "-ec", "\n".join(commands))

    def processes(self):
        """{pid in the box: command line} of all that runs there but the box's own."""
        found = {}
        for line in self.run("ps", "-ww", "-eo", "pid=,args=").splitlines():
            pid, _, arguments = line.strip().partition(" ")
            if int(pid) != 1 and not arguments.startswith("ps -ww"):
                found[int(pid)] = arguments
        return found

    def end(self):
        """Ends all that runs in the box."""
        if self._first.poll() is None:
            self._first.kill() # unshare takes the box's first process along, and that all others
        ended(self._first)
        self._first.stdout.close()
        for process in self._started: # nsenter stops with its child, and asks for its end only once it goes on
            if process.popen.poll() is None:
                process.popen.send_signal(signal.SIGCONT)
        wait_until(lambda: not alive(self.pid), "the end of a box")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
