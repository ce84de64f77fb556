# SPDX-License-Identifier: BSD-3-Clause
"""Real mpirun jobs for tests: started in a session of their own, always ended by pid.

Nothing here sleeps to be lucky: ranks say "ready" on a fifo, and a job
stands still when each rank has polled for a while (or slept) since then.
"""
import atexit
import contextlib
import mmap
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import uuid

from support import libraries
from support.conditions import NotMet, ended, wait_until

# Of core files, objects are opened where programs belong: here the tests' own are.
os.environ.setdefault("MPIQ_OBJECT_DIRS", f"{tempfile.gettempdir()}:{pathlib.Path.home()}:{libraries.TESTS.parent}")

# CPU time after which a thread that only polls inside MPI has surely reached the loop it polls in.
SPUN_NS = 30_000_000
# As good: so often it got a processor for less than this on average.  Whoever computes keeps one for milliseconds, if others
# want it; one that polls gives it away each time it finds nothing.  (On a busy machine, 30 ms of that take ten seconds.)
TURNS = 100
SHORT_TURN_NS = 300_000
# A thread whose CPU time grows by less between two samples sleeps.
ASLEEP_NS = 1_000_000

AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

PROGRESS_SLOTS = 64


# Jobs that have been started and not ended: ended with the interpreter at the latest.
running = set()
starting = threading.RLock()


class JobError(Exception):
    """The job did not do what a test needs it to do; says what, with its output."""


class NotBegun(JobError):
    """The job ended of itself before it was looked at."""


def without_late_launcher(output):
    """A job's output without what Open MPI's launcher says of a rank that did not wait for its answer (tests/conftest.py)."""
    return re.sub(r"^\[.*\] PMIX ERROR: UNREACHABLE in file \S*pmix_server\.c at line \d+\n", "", output, flags=re.M)


def step_back(pid, niceness=10):
    """Lets others go before a process, within its session and, where the kernel groups by session, outside."""
    with contextlib.suppress(OSError): # it has ended
        os.setpriority(os.PRIO_PROCESS, pid, niceness)
    with contextlib.suppress(OSError): # no such groups
        pathlib.Path(f"/proc/{pid}/autogroup").write_text(str(niceness), encoding="ascii")


def kill_ranks(pids):
    """Ends ranks.  Their launcher then ends at once, while SIGTERM makes it wait a second for each of them."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def as_job_error():
    """What has not come to be is the job's fault."""
    try:
        yield
    except NotMet as error:
        raise JobError(str(error)) from None


def stand_still(pids):
    """Waits until each of these processes, all of which are on their way into the call that hangs, has come to where it
    stays: each of its threads polls there, or sleeps."""
    first, last, standing = {}, {}, set()
    moving = []

    def all_stand():
        threads = {(pid, thread): now for pid in pids for thread, now in turns(pid).items()}
        for who, (spent, count) in threads.items():
            spun, turned = (now - then for now, then in zip((spent, count), first.setdefault(who, (spent, count))))
            polls = spun >= SPUN_NS or turned >= TURNS and spun < turned * SHORT_TURN_NS
            sleeps = who in last and spent - last[who][0] < ASLEEP_NS and thread_state(*who) not in "RD"
            if polls or sleeps:
                standing.add(who)
        last.update(threads)
        moving[:] = sorted({pid for pid, _ in threads.keys() - standing})
        return not moving

    wait_until(all_stand, lambda: f"processes {moving} to have polled or slept", every=0.03)


def environment_now():
    """A copy of os.environ, which pytest changes while threads start jobs."""
    while True:
        with contextlib.suppress(KeyError, RuntimeError):
            return dict(os.environ)


class Job:
    """A running mpirun.  A context manager: leaving it ends every process of the job."""

    def __init__(self, line, command, ranks, *, two_hosts=False, options=(), environment=None):
        self.line = line
        self.ranks = ranks
        self.mark = f"mpiq-{uuid.uuid4().hex}"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mpiq-job-", dir="/tmp"))
        self.ready = {}          # pid: rank (of spawned worlds too)
        self.through = set()     # ranks
        self._rest = b""
        self._ending = threading.RLock()
        fifo = self.directory / "ready"
        os.mkfifo(fifo)
        # Opened for writing too: no end of file when the last rank closes it.
        self._fifo = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        progress = self.directory / "progress"
        progress.write_bytes(bytes(PROGRESS_SLOTS * 8))
        with open(progress, "r+b") as file:
            self._progress = mmap.mmap(file.fileno(), 0)

        exported = {
            "MPIQ_CORPUS_READY": str(fifo),
            "MPIQ_CORPUS_PROGRESS": str(progress),
            "MPIQ_TEST_JOB": self.mark,
            **(environment or {}),
        }
        self.environment = {**environment_now(), **AS_ROOT, **exported, "TMPDIR": str(self.directory)}
        self.environment["PATH"] = f"{line.prefix / 'bin'}:{self.environment['PATH']}"
        arguments = line.launch(ranks, exported, self.directory, two_hosts)
        self.command = [*arguments, *options, *map(str, command)]
        self._output = open(self.directory / "output", "wb")
        with starting:
            self.process = subprocess.Popen(self.command, cwd=self.directory, env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=self._output,
                                            stderr=subprocess.STDOUT, start_new_session=True)
            running.add(self)

    @property
    def pid(self):
        """The launcher's pid."""
        return self.process.pid

    def output(self):
        return (self.directory / "output").read_text(errors="replace")

    def progress(self):
        """How far each rank has counted."""
        return struct.unpack(f"{PROGRESS_SLOTS}q", self._progress[:PROGRESS_SLOTS * 8])[:self.ranks]

    def listen(self, seconds=0.0):
        """Takes in what the ranks have said; waits that long for the first word."""
        if not select.select([self._fifo], [], [], seconds)[0]:
            return
        try:
            self._rest += os.read(self._fifo, 65536)
        except BlockingIOError:
            return
        *said, self._rest = self._rest.split(b"\n")
        for line in said:
            word, rank, pid = line.decode().split()
            if word == "ready":
                self.said_ready(int(pid), int(rank))
            else:
                self.through.add(int(rank))

    def said_ready(self, pid, rank):
        """The rank's next call is the one that hangs."""
        self.ready[pid] = rank

    def wait_ready(self, count=None):
        """Until that many ranks (default all) have said ready."""
        count = self.ranks if count is None else count

        def are_ready():
            ended = self.process.poll() is not None # before what they have said is taken in
            self.listen(0.05)
            if len(self.ready) < count and ended:
                raise NotBegun(f"the job ended with {self.process.returncode} before all ranks were ready:\n"
                               f"{self.output()}")
            return len(self.ready) >= count

        self._wait_until(are_ready, lambda: f"all ranks ready, not only {sorted(self.ready.values())}:\n{self.output()}")

    def stand_still(self):
        """Until each rank that said ready has polled inside its last call for long enough, or sleeps."""
        with as_job_error():
            stand_still(self.ready)

    @staticmethod
    def _wait_until(condition, what):
        with as_job_error():
            wait_until(condition, what)

    def step_back(self):
        """Leaves the processors to those who look: ranks that hang spin for nothing."""
        for pid in self.ready:
            step_back(pid)

    def wait_for_state(self, count, state):
        """Until that many of the job's ranks are in that state (R S D T t Z) and all have begun: their pids."""
        ranks, found = [], []

        def are_in_state():
            ranks[:] = [pid for pid in self.processes() if rank_of(pid) is not None]
            found[:] = [pid for pid in ranks if process_state(pid) == state]
            return len(found) >= count and len(ranks) >= self.ranks

        self._wait_until(are_in_state, lambda: f"state {state} of {count} ranks, not only {found} of {ranks}")
        return found

    def wait(self, seconds=60):
        """Until the job has ended by itself; its exit status."""
        return ended(self.process, seconds)

    def processes(self):
        """Pids of all that belongs to this job: what carries its mark in the environment."""
        return marked_processes(self.mark)

    def end(self):
        """Ends the launcher and every rank, always by pid."""
        with self._ending:
            if self in running:
                self._end()

    def _end(self):
        try:
            if self.process.poll() is None:
                # A launcher whose rank is killed ends the others and tidies up at once, while SIGTERM
                # makes it wait a second for each of them.
                self._send([self.pid], signal.SIGCONT)
                self._send(self.ready, signal.SIGKILL)
                if not self.ready:
                    self.process.terminate()
                try:
                    self.process.wait(0.3)
                except subprocess.TimeoutExpired:
                    pass
            for _ in range(50):
                left = self.processes()
                if not left:
                    break
                self._send(left, signal.SIGKILL)
                self.process.poll()
                time.sleep(0.02)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired: # a launcher that does not notice that its ranks are gone
                self.process.kill()
                ended(self.process, 30)
        finally:
            running.discard(self)
            os.close(self._fifo)
            self._progress.close()
            self._output.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def _send(self, pids, number):
        for pid in pids:
            if not carries(pid, self.mark):
                continue
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@atexit.register
def end_all():
    """Ends what is still running, and lets nothing start any more."""
    starting.acquire()
    for job in list(running):
        job.end()


def carries(pid, mark):
    """Whether it was started with that mark in its environment.  One that is being executed has none yet: that is waited
    for, or a helper on its way would be overlooked."""
    process = pathlib.Path(f"/proc/{pid}")

    def is_executed():
        return bool((process / "cmdline").read_bytes()) or (process / "statm").read_text().startswith("0 ")

    try:
        if not (process / "environ").read_bytes():
            with contextlib.suppress(NotMet): # who has wiped its command line
                wait_until(is_executed, seconds=5, every=0.001)
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def marked_processes(mark):
    """Pids of all processes that were started with that mark in their environment."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and carries(int(entry), mark)]


def thread_state(pid, thread):
    """R S D T t Z, or X when it is gone."""
    return process_state(f"{pid}/task/{thread}")


def stat_fields(pid):
    """What follows the name in its stat: state, parent, and so on."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def process_state(pid):
    """R S D T t Z, or X when it is gone."""
    try:
        return stat_fields(pid)[0]
    except OSError:
        return "X"


def parent_of(pid):
    return int(stat_fields(pid)[1])


def rank_of(pid):
    """Rank of a process in its MPI_COMM_WORLD, by its environment; None for what is no rank."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    values = dict(variable.partition(b"=")[::2] for variable in environment.split(b"\0"))
    return next((int(values[name]) for name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK") if name in values), None)


def cpu_with_children(pid):
    """CPU time of a process and of all children that it has waited for, in clock ticks."""
    return sum(map(int, stat_fields(pid)[11:15]))


def naps(pid):
    """How often the main thread of a process has given up its processor by itself."""
    said = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", said, re.M)[1])


def cpu_ns(pid):
    """CPU time of all threads of a process in nanoseconds; None when it is gone."""
    return sum(spent for spent, _ in turns(pid).values()) or None


def turns(pid):
    """{thread: (its CPU time in nanoseconds, how often it has got a processor)} of a process; {} when it is gone."""
    found = {}
    with contextlib.suppress(OSError, IndexError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                spent, _, count = map(int, file.read().split())
            found[thread] = spent, count
    return found
