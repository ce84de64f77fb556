# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that the freezer of a control group holds, as docker pause and scontrol suspend do."""
import os
import pathlib

import pytest

from support import job as jobs
from support.conditions import wait_until

# By version of control groups: the file that freezes and thaws, what is written there, and where it says that it is done.
VERSIONS = {1: ("freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"),
            2: ("cgroup.freeze", "1", "0", "cgroup.events", "frozen 1")}


def hierarchy(version):
    """Where that version's freezer is mounted."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        mount, kind = line.split(" - ")
        kind, _, options = kind.split(" ")
        if kind == ("cgroup2" if version == 2 else "cgroup") and (version == 2 or "freezer" in options.split(",")):
            return pathlib.Path(mount.split(" ")[4])
    pytest.skip(f"no freezer of control groups, version {version}, is mounted")


class Freezer:
    """A group of its own below the one that this process is in."""

    def __init__(self, version):
        self.file, self.freezes, self.thaws, self.tells, self.done = VERSIONS[version]
        mount = hierarchy(version)
        groups = [line.split(":") for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
        own = next(path for _, names, path in groups if ("freezer" in names.split(",") if version == 1 else not names))
        self.above = mount / own.lstrip("/")
        self.directory = self.above / f"mpiq-{os.getpid()}"
        try:
            self.directory.mkdir()
        except OSError as error:
            pytest.skip(f"no control group can be made: {error}")

    def hold(self, pids):
        """Puts processes into the group and freezes it."""
        for pid in pids:
            try:
                (self.directory / "cgroup.procs").write_text(str(pid), encoding="ascii")
            except OSError as error:
                pytest.skip(f"no process can be put into a control group: {error}")
        (self.directory / self.file).write_text(self.freezes, encoding="ascii")
        wait_until(lambda: self.done in (self.directory / self.tells).read_text(), "the group to be frozen")

    def thaw(self):
        """Lets them go on, where they were."""
        (self.directory / self.file).write_text(self.thaws, encoding="ascii")
        for pid in (self.directory / "cgroup.procs").read_text().split():
            (self.above / "cgroup.procs").write_text(pid, encoding="ascii")

    def end(self):
        """Leaves nothing behind."""
        self.thaw()
        self.directory.rmdir()

    def advice(self):
        """What the report says of how to go on."""
        return f", and writing {self.thaws} to {self.directory / self.file} thaws "


@pytest.fixture(params=VERSIONS)
def freezer(request):
    group = Freezer(request.param)
    yield group
    group.end()


@pytest.fixture
def ranks(running, mpiq):
    """The pids of a job that makes progress, by rank."""
    mpiq.until(lambda answer: answer.status == 0 and "the job makes progress" in answer.out, running.pid)
    return {jobs.rank_of(pid): pid for pid in running.processes() if jobs.rank_of(pid) is not None}


def states(answer):
    return [rank["state"] for rank in sorted(answer.json["ranks"], key=lambda rank: rank["rank"])]


def test_job_that_is_frozen(freezer, running, ranks, mpiq):
    """Whatever its ranks were at when they froze: it neither runs nor is it stuck."""
    freezer.hold(ranks.values())
    answer = mpiq("--json", running.pid)
    assert (answer.status, answer.json["verdict"]) == (4, "stalled"), answer.out + answer.err
    assert states(answer) == ["frozen"] * 4
    text = " ".join(mpiq(running.pid).out.split())
    assert text.startswith("stalled: nothing moves: all ranks are frozen by the freezer of their control group (")
    assert f" 1. Ranks 0-3 are frozen by the freezer of their control group{freezer.advice()}them. " in text
    assert mpiq("--stop", running.pid).status == 4
    freezer.thaw()
    mpiq.until(lambda answer: answer.status == 0, running.pid, never=("deadlock",))


def test_rank_that_is_frozen(freezer, running, ranks, mpiq):
    """The others wait for it, and it is the one to look at."""
    freezer.hold([ranks[2]])
    answer = mpiq.until(lambda answer: answer.json["verdict"] == "stalled", running.pid, never=("deadlock",))
    cause = answer.json["findings"][0]
    assert (cause["kind"], cause["ranks"]) == ("rank_stopped", "2")
    assert cause["text"].startswith(f"rank 2 is frozen by the freezer of its control group{freezer.advice()}it; 3 ranks ")
    assert all(finding.get("consequence_of") == 0 for finding in answer.json["findings"][1:])
    assert states(answer)[2] == "frozen"
    freezer.thaw()
    mpiq.until(lambda answer: answer.status == 0, running.pid, never=("deadlock",))
