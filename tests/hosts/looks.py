# SPDX-License-Identifier: BSD-3-Clause
"""mpiq at work in the beds: its answers, and whether it leaves anything behind."""
import atexit
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from support import schema
from support.answers import without_times
from support.conditions import wait_until

# mpiq makes no temporary file on the way to an answer, so none is left of one that is killed.
FILES = pathlib.Path(tempfile.mkdtemp(prefix="mpiq-looks-"))
atexit.register(shutil.rmtree, FILES, ignore_errors=True)

MPIQ_PROGRAMS = ("mpiq", "mpiq-reader", "mpiq-broker", "mpiq-dll-host")


class Looks:
    """mpiq in one of a bed's boxes; `boxes` are all of the bed."""

    def __init__(self, mpiq, box, boxes):
        self.mpiq = mpiq
        self.box = box
        self.boxes = boxes

    def text(self, *arguments, seconds=120):
        """(exit status, what it said)"""
        done = self.box.ask(self.mpiq, *arguments, seconds=seconds, environment={"TMPDIR": str(FILES)})
        return done.returncode, done.stdout + done.stderr

    def json(self, *arguments, seconds=120):
        """(exit status, its JSON, which fits the schema); None for the JSON where no host was done in time."""
        done = self.box.ask(self.mpiq, "--json", *arguments, seconds=seconds, environment={"TMPDIR": str(FILES)})
        if not done.stdout:
            assert done.returncode == 3 and re.search("it (did not answer|was not done) within", done.stderr), done.stderr
            return done.returncode, None
        value = json.loads(done.stdout)
        assert schema.misfit(value) == ""
        return done.returncode, value

    def deadlock(self, *arguments):
        """The answer at a hung job, all ranks of which are stuck; the first look may come before all have turned
        round in their wait."""
        def is_told(status, answer):
            return status == 1 and answer["verdict"] == "deadlock" and all(rank["state"] == "blocked" for rank in answer["ranks"])

        return self._until(is_told, arguments)

    def running(self, *arguments):
        """The answer at a job that works, of all its ranks.  On a busy machine a look may see nothing move, and says `unknown`,
        or lose a rank or a host: it looks again.  It never claims more."""
        def is_told(status, answer):
            assert (status, answer["verdict"]) in ((0, "running"), (3, "unknown")), answer
            assert not any(finding["proven"] for finding in answer["findings"]), answer
            return status == 0 and answer["job"]["ranks_seen"] == answer["job"]["size"]

        return self._until(is_told, arguments)

    def _until(self, is_told, arguments):
        """Looks until is_told(status, answer): that answer."""
        last = []

        def is_so():
            last[:] = self.json(*arguments)
            return last[1] and is_told(*last)

        wait_until(is_so, lambda: f"the answer, not {last}")
        return last[1]

    def start(self, *arguments):
        return self.box.start(self.mpiq, *arguments, environment={"TMPDIR": str(FILES)}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)

    def collectors(self):
        """[(box, pid in it)] of all that belongs to a mpiq anywhere in the bed."""
        return [(box, pid) for box in self.boxes for pid, words in box.processes().items()
                if words.split()[0].rsplit("/", 1)[-1] in MPIQ_PROGRAMS]

    def commands(self):
        """Pids, in mpiq's box, of the launcher's commands that hold the connections to collectors."""
        return [pid for pid, words in self.box.processes().items()
                if words.split()[0].rsplit("/", 1)[-1] in ("ssh", "srun") and " collect " in words]

    def nothing_left(self):
        """Waits until no process of mpiq's is left in any box; nor is there a file."""
        wait_until(lambda: not self.collectors(),
                   lambda: [(box.name, box.processes().get(pid)) for box, pid in self.collectors()], seconds=20, every=0.1)
        assert not list(FILES.glob("mpiq*"))


def findings(answer):
    """What a look found, without times and addresses, which differ from run to run."""
    return without_addresses(without_times(answer["findings"]))


def without_addresses(value):
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items() if key != "request"}
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    return value


class Mischief:
    """Things that go wrong in the middle of a look, at a random moment; each returns nothing and leaves nothing."""

    def __init__(self, looks, target, seed):
        self.looks = looks
        self.target = target
        self.random = random.Random(seed)

    def _after_a_while(self, longest):
        time.sleep(self.random.uniform(0, longest))

    def kill_mpiq(self, number=signal.SIGKILL):
        process = self.looks.start(*self.target)
        self._after_a_while(1.5)
        process.send(number)
        process.wait(60)

    def interrupt_mpiq(self):
        self.kill_mpiq(signal.SIGINT)

    def _hit_a_collector(self, number, guard=False):
        """Until the look is over or one was hit; guard: the one of the two processes that watches over the other."""
        process = self.looks.start("--wait", "3", *self.target)
        self._after_a_while(0.8)
        while process.popen.poll() is None:
            found = [(box, pid) for box, pid in self.looks.collectors() if "collect" in box.processes().get(pid, "")]
            if number == signal.SIGSTOP: # nobody watches over one that has not split in two yet
                boxes = [box for box, _ in found]
                found = [(box, pid) for box, pid in found if boxes.count(box) > 1]
            if found:
                box, pid = self.random.choice(found)
                if guard:
                    pid = min(other for where, other in found if where is box)
                box.ask("kill", f"-{int(number)}", pid)
                break
        process.wait(60)

    def kill_a_collector(self):
        self._hit_a_collector(signal.SIGKILL)

    def stop_a_collector(self):
        """A host that never answers."""
        self._hit_a_collector(signal.SIGSTOP)

    def stop_a_guard(self):
        """What watches over a collector does so no more."""
        self._hit_a_collector(signal.SIGSTOP, guard=True)

    def cut_a_stream(self):
        process = self.looks.start("--wait", "3", *self.target)
        self._after_a_while(0.8)
        while process.popen.poll() is None:
            found = self.looks.commands()
            if found:
                self.looks.box.ask("kill", "-KILL", self.random.choice(found))
                break
        process.wait(60)

    def all(self):
        return [self.kill_mpiq, self.kill_a_collector, self.cut_a_stream, self.stop_a_collector, self.interrupt_mpiq,
                self.stop_a_guard]
