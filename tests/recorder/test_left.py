# SPDX-License-Identifier: BSD-3-Clause
"""Calls that error and signal handlers leave by a jump or an exception: they are over, and prove nothing."""
import json
import os
import pathlib
import subprocess

import pytest
from test_fences import wait_of
from two_ranks import two_ranks

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = "left.cc"
CALLS = ["MPI_Send", "MPI_Recv", "MPI_Comm_dup", "MPI_Comm_dup", "MPI_Send", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Irecv", "MPI_Wait", "MPI_Recv"]


def settled(states):
    return wait_of(states[1]) is not None


def test_records(states):
    """Read through the queue library alone, without the stacks: nothing is said of the calls that were left."""
    left, waits = states
    assert wait_of(left) is None and "operations" not in left
    assert (wait_of(waits)["call"], wait_of(waits)["operations"][0]["tag"]) == ("MPI_Recv", 7)
    assert [operation["tag"] for operation in waits["operations"]] == [7]
    for state in states:
        assert not [problem for problem in state.get("problems", []) if problem["what"] == "waits"]
        unclear = {comm["name"]: [channel.get("unclear", False) for channel in comm.get("channels", [])]
                   for comm in state["communicators"]}
        assert unclear == {"MPI_COMM_WORLD": [True], "MPI_COMM_SELF": [], "hidden": [True], "counted": [False]}
        calls = [call["call"] for call in state["history"] if call["call"] in CALLS]
        assert calls == CALLS
        assert all(call["end_ns"] for call in state["history"][:-1])


def look(pids):
    """mpiq's answer: none where no rank could be read in time."""
    answer = subprocess.run([os.environ["MPIQ"], "--json", *pids], capture_output=True, text=True, check=False)
    assert answer.stdout or answer.returncode == 3, answer.stderr
    return answer


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_verdict(library, tmp_path):
    with two_ranks(library, HERE / PROGRAM, tmp_path) as wait:
        def in_place(pids):
            answer = look(pids)
            if not answer.stdout:
                return False
            report = json.loads(answer.stdout)
            # One sleeps, the other waits, nobody acts: it may go on.
            assert (report["verdict"], answer.returncode) in (("running", 0), ("unknown", 3)), answer.stdout
            states = [(rank["state"], rank.get("call")) for rank in report["ranks"]]
            return states == [("asleep", None), ("blocked", "MPI_Recv")]

        wait(in_place)


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_unseen(library, tmp_path):
    """While rank 0 sleeps, and when both wait for good: nothing is said to wait for the call that it left, which is over."""
    with two_ranks(library, HERE / "unseen.c", tmp_path) as wait:
        def both_wait_for_good(pids):
            answer = look(pids)
            if not answer.stdout:
                return False
            report = json.loads(answer.stdout)
            waits_for = report["ranks"][0].get("waits_for", {}).get("text", "")
            assert "tag 4" not in waits_for
            assert "tag 5" not in waits_for or report["ranks"][0].get("call") == "MPI_Send", answer.stdout # at that moment
            assert report["verdict"] in ("running", "unknown") or "tag 6" in waits_for, answer.stdout
            return report["verdict"] not in ("running", "unknown") and report["ranks"][1].get("call") == "MPI_Recv" and pids

        answer = subprocess.run([os.environ["MPIQ"], "history", "0", "--json", *wait(both_wait_for_good)],
                                capture_output=True, text=True, check=False)
        calls = [(call["call"], call["tag"], "open" in call) for call in json.loads(answer.stdout)["history"]["calls"][-3:]]
        assert calls == [("MPI_Recv", 4, False), ("MPI_Send", 5, False), ("MPI_Recv", 6, True)]
