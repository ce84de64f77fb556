# SPDX-License-Identifier: BSD-3-Clause
"""What is left of a job: its core files say the same as the job did."""
import subprocess

from support.answers import without_times


def test_cores_say_what_the_job_said(cores, hung, mpiq):
    alive = mpiq.of_hung(hung.pid).json
    dead = mpiq("--json", *cores)
    assert dead.status == 1, dead.out + dead.err
    assert dead.json["verdict"] == "deadlock"
    assert without_times(dead.json["findings"]) == without_times(alive["findings"])


def test_queues_of_cores(cores, hung, mpiq):
    for rank in (1, 2):
        alive = mpiq.json("queues", hung.pid)["ranks"][rank]
        dead = mpiq.json("queues", *cores)["ranks"][rank]
        assert dead["receives"] == alive["receives"]
        assert dead["unexpected"] == alive["unexpected"]


def test_one_core_of_four(cores, mpiq):
    """Three ranks are not there to be read: said, not guessed."""
    answer = mpiq("--json", cores[0])
    assert answer.json["verdict"] == "unknown"
    assert answer.status == 3, answer.err
    assert answer.json["job"]["size"] == 4
    assert answer.json["job"]["ranks_seen"] == 1


def test_files_that_are_no_whole_cores(cores, mpiq, tmp_path):
    """Each is said to be one, and none costs the ranks that can be read, nor is counted among them."""
    for name, size in (("tiny", 100), ("cut", 100000)):
        (tmp_path / name).write_bytes(cores[0].open("rb").read(size))
    with subprocess.Popen(["sleep", "600"]) as other:
        answer = mpiq(*cores, tmp_path / "tiny", tmp_path / "cut", other.pid)
        other.kill()
    assert answer.status == 1, answer.err
    assert "all 4 ranks read)" in answer.out
    notes = answer.out[answer.out.index("What could not be read"):]
    for name in ("tiny: ", "cut: ", f"process {other.pid} (sleep)"):
        assert name in notes, answer.out
    assert mpiq("--json", *cores, tmp_path / "tiny").json["job"]["ranks_seen"] == 4
