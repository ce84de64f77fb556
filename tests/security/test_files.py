# SPDX-License-Identifier: BSD-3-Clause
"""Files that we write, and snapshots that strangers mail."""
import os
import stat
import subprocess

import pytest
from snapshots import RANK, snapshot


@pytest.fixture(autouse=True)
def has_zstd():
    if subprocess.run(["sh", "-c", "command -v zstd"], capture_output=True, check=False).returncode != 0:
        pytest.skip("zstd is not installed")


@pytest.fixture
def good(tmp_path):
    return snapshot(tmp_path / "good.mpiq", RANK)


WRITERS = [["snapshot", "-o"], ["report", "--html"]]


@pytest.mark.parametrize("writer", WRITERS, ids=["snapshot", "html"])
def test_files_are_written_for_the_user_alone(writer, good, mpiq, tmp_path):
    old = os.umask(0)
    try:
        answer = mpiq(*writer, tmp_path / "new", good)
    finally:
        os.umask(old)
    assert "cannot" not in answer.err
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.mpiq", "new"]


@pytest.mark.parametrize("writer", WRITERS, ids=["snapshot", "html"])
@pytest.mark.parametrize("what", ["link", "dangling", "fifo", "device", "directory"])
def test_nothing_in_the_way_is_written_through(what, writer, good, mpiq, tmp_path):
    place = tmp_path / "place"
    victim = tmp_path / "victim"
    if what == "link":
        victim.write_text("precious")
        place.symlink_to(victim)
    elif what == "dangling":
        place.symlink_to(victim)
    elif what == "fifo":
        os.mkfifo(place)
    elif what == "directory":
        place.mkdir()
    else:
        place = "/dev/null"
    answer = mpiq(*writer, place, good)
    assert answer.status == 2
    assert "cannot be written" in answer.err
    assert not victim.exists() or victim.read_text() == "precious"
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# Each of which makes no sense somewhere.
CRAFTED = {
    "no texts": {**RANK, "problems": [{}, {"what": "queues"}, {"text": "?"}]},
    "no such frame": {**RANK, "threads": [{"tid": 1, "user_frame": 7, "mpi_frame": 9, "frames": []}]},
    "no such communicator": {**RANK, "operations": [{"queue": "sends", "comm": 7}]},
    "no library": {**RANK, "queues_read": 0},
    "huge world": {**RANK, "world_size": 2147483647},
}
READABLE = ("no texts", "no library", "huge world")


@pytest.mark.parametrize("name", CRAFTED)
@pytest.mark.parametrize("view", ["doctor", "report", "queues", "ranks"])
def test_a_crafted_snapshot_does_no_harm(name, view, mpiq, tmp_path):
    answer = mpiq(view, snapshot(tmp_path / "crafted.mpiq", CRAFTED[name]))
    # The doctor is well where the file can be read; the other views have nothing to go by.
    assert answer.status == (0 if view == "doctor" and name in READABLE else 3), answer.err


def test_many_problems_of_one_rank_leave_room_for_others(mpiq, tmp_path):
    """A rank with forty problems, and what could not be read of another one."""
    many = [{"code": "corrupt", "what": "queues", "text": f"damage {number}"} for number in range(40)]
    ranks = [{**RANK, "name": [7, number], "pid": number + 1, "world_size": 2, "problems": problems}
             for number, problems in enumerate((many, [{"code": "corrupt", "what": "stack", "text": "no stack"}]))]
    said = mpiq("report", snapshot(tmp_path / "crafted.mpiq", *ranks)).out
    assert "damage 0" in said
    assert "no stack" in said


ESCAPES = "\u009b31m\x1b]52;c;cm0gLXJm\x07\nmpiq: fine\u202e"


@pytest.mark.parametrize("view", ["doctor", "report", "ranks", "queues"])
def test_what_a_target_says_is_escaped(view, mpiq, tmp_path):
    state = {**RANK, "executable": "/bin/" + ESCAPES, "host": ESCAPES, "library": ESCAPES, "pml": ESCAPES,
             "queues_read": 0, "source": "debug-info", "problems": [{"code": "corrupt", "what": ESCAPES, "text": ESCAPES}]}
    answer = mpiq(view, snapshot(tmp_path / "crafted.mpiq", state))
    said = answer.out + answer.err
    assert "\x1b" not in said and "\x07" not in said and "\u009b" not in said and "\u202e" not in said
    assert not any(line.startswith("mpiq: fine") for line in said.splitlines())
