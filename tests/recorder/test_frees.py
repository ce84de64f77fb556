# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder says of ranks in MPI_Win_free when it can prove nothing about them."""
from test_fences import wait_of

PROGRAM = "frees.c"


def settled(states):
    """Whether both are in their last call."""
    return all(map(wait_of, states))


def test_frees(states):
    for state in states:
        assert sorted(window["name"] for window in state["windows"]) == ["attributes", "no locks"]
        assert {window["fences"] for window in state["windows"]} == {0}
    no_locks, attributes = states
    [freeing] = [window for window in no_locks["windows"] if window.get("freeing")]
    assert freeing["name"] == "no locks" and "synchronises" not in freeing
    assert no_locks["windows"][wait_of(no_locks)["window"]] == freeing
    # Its functions may do anything before the barrier: which window it waits for is not said.
    [freeing] = [window for window in attributes["windows"] if window.get("freeing")]
    assert freeing["name"] == "attributes" and freeing["synchronises"]
    wait = wait_of(attributes)
    assert (wait["call"], wait["kind"]) == ("MPI_Win_free", "rma") and "window" not in wait
