# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for a condition.  Deadlines are in seconds of this machine at rest: one that is slow or busy has longer.

A deadline matters only where a test fails, so none is short.
"""
import collections
import contextlib
import hashlib
import os
import subprocess
import time

# What an idle processor of the year 2015 does in this time.
WORK_SECONDS = 0.05
WORK = bytes(64 << 20)


class NotMet(AssertionError):
    """What has not come to be."""


def work_slowness():
    """How many times as long as on a machine at rest a piece of work takes, at least 1."""
    began = time.monotonic()
    hashlib.sha1(WORK).digest()
    return max(1.0, (time.monotonic() - began) / WORK_SECONDS)


def crowding():
    """How many want a processor, by processor, over the last minute, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def slowness():
    """How many times as long as on a machine at rest things take, at least 1: by a piece of work, and by how many
    want a processor."""
    return max(work_slowness(), crowding())


def processor_slowness():
    """The same of processor time: a processor that is shared, or whose caches are, does less in a second."""
    began = time.thread_time()
    hashlib.sha1(WORK).digest()
    return max(1.0, (time.thread_time() - began) / WORK_SECONDS)


def in_time(took, seconds, slow=slowness, tries=3):
    """What took() gives, the seconds that something took, fewer than so many of this machine at rest.  It is tried again: what
    takes too long by itself does so each time, what somebody else has held up does not."""
    found = []
    for _ in range(tries):
        found.append(took())
        factor = 1.0 if found[-1] < seconds else slow()
        if found[-1] < seconds * factor:
            return found[-1]
    raise NotMet(f"it took {min(found):.1f} s, not {seconds} s, and that {factor:.1f} times as long on this machine")


class Deadline:
    """A time to come.  A second in which N want each processor counts for a part of N.  A piece of work is measured when the
    time seems to be over, and again as long as the machine gets slower."""

    def __init__(self, seconds=60):
        self.seconds = seconds
        self.factor = 1.0 # by pieces of work
        self.spent = 0.0
        self.began = self.seen = time.monotonic()
        self.crowding = crowding()

    def age(self):
        """Seconds since its beginning."""
        return time.monotonic() - self.began

    def left(self):
        """Seconds after which it is worth asking again."""
        self._pass_by()
        return max(0.0, min(5.0, (self.seconds * self.factor - self.spent) * self.crowding))

    def passed(self):
        if self.left() > 0:
            return False
        if self.seconds > 0:
            self.factor = max(self.factor, work_slowness())
        return self.left() <= 0

    def _pass_by(self):
        now, crowded = time.monotonic(), crowding()
        self.spent += (now - self.seen) / max(self.crowding, crowded)
        self.seen, self.crowding = now, crowded


class Unchanged:
    """Whether one of few answers has come so often, and for so long nothing new, that nothing else will come; in whatever order
    they come."""

    def __init__(self, seconds=5, times=5):
        self.seconds = seconds
        self.times = times
        self.counts = collections.Counter()
        self.deadline = None

    def stays(self, value):
        """Takes in what has come now."""
        name = repr(value)
        if name not in self.counts:
            self.deadline = Deadline(self.seconds)
        self.counts[name] += 1
        return self.counts[name] >= self.times and self.deadline.passed()


def wait_until(condition, what="the condition", seconds=60, every=0.02):
    """What condition() gives once that is true.  `what` names it; callable: gives the text when it is needed."""
    deadline = Deadline(seconds)
    while True:
        met = condition()
        if met:
            return met
        if deadline.passed():
            # It may have been met while this process had no processor.
            met = condition()
            if met:
                return met
            raise NotMet(f"not within {seconds} s of a machine at rest, {deadline.age():.0f} s on this one: "
                         f"{what() if callable(what) else what}")
        time.sleep(every)


def communicate(process, seconds=60, text=None, kill=None):
    """(stdout, stderr) of a process that ends, given that input; one that does not is killed, by kill() if there is one,
    and TimeoutExpired raised, with all that it has said."""
    deadline = Deadline(seconds)
    while True:
        try:
            return process.communicate(text, deadline.left())
        except subprocess.TimeoutExpired as error:
            text = None # it is remembered
            if deadline.passed():
                (kill or process.kill)()
                with contextlib.suppress(subprocess.TimeoutExpired): # a process that it has left behind holds the pipes
                    error.output, error.stderr = process.communicate(timeout=10)
                raise


def ended(process, seconds=60):
    """The exit status of a process that ends; one that does not raises TimeoutExpired."""
    deadline = Deadline(seconds)
    while True:
        try:
            return process.wait(deadline.left())
        except subprocess.TimeoutExpired:
            if deadline.passed():
                raise


def run(words, seconds=60, check=False, **options):
    """subprocess.run of a command that ends, for its text."""
    text = options.pop("input", None)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
               "stdin": subprocess.DEVNULL if text is None else subprocess.PIPE, **options}
    with subprocess.Popen(words, **options) as process:
        out, err = communicate(process, seconds, text)
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
