# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder says of blocked ranks, read back through its DLL: waits, epochs and locks."""
PROGRAM = "blocked.c"


def waits(state):
    return [wait for thread in state["threads"] for wait in thread.get("waits", [])]


def settled(states):
    """Whether both are in their last call."""
    return all(waits(state) for state in states)


def test_waits(states):
    for rank, (kind, call, need) in enumerate([("all", "MPI_Waitall", 2), ("any", "MPI_Waitany", 1)]):
        [wait] = waits(states[rank])
        assert (wait["kind"], wait["call"], wait["need"]) == (kind, call, need)
        assert wait["episode"] == len(states[rank]["history"]) and wait["begin_ns"] > 0
        operations = wait["operations"]
        assert [(one["kind"], one.get("peer_local"), one["tag"], one["bytes"]) for one in operations] == [
            ("receive", 1 - rank, 71, 4), ("receive", None, 72, 4)]
        assert {one["request"] for one in operations} == {one["request"] for one in states[rank]["operations"]}


def test_windows(states):
    windows = [{window["name"]: window for window in state["windows"]} for state in states]
    assert all(set(own) == {"locked", "asked", "posted", "closed"} for own in windows)
    for name in windows[0]:
        assert windows[0][name]["id"] == windows[1][name]["id"]
        assert [own[name]["local_rank"] for own in windows] == [0, 1]
        assert {own[name]["made"]["function"] for own in windows} == {"make_window"}
    assert windows[1]["locked"]["locks"] == [{"target_local": 0, "type": "exclusive", "held": True}]
    assert windows[1]["asked"]["locks"] == [{"target_local": 0, "type": "shared"}]
    assert "locks" not in windows[0]["locked"] and windows[1]["locked"]["access"] == "lock"
    assert windows[0]["posted"]["exposure"] == "post" and windows[0]["posted"]["exposure_group"] == [{"local": 1}]
    assert "exposure" not in windows[1]["posted"] and "exposure_group" not in windows[1]["posted"]
    for rank, own in enumerate(windows):  # between epochs: those of all epochs so far
        closed = own["closed"]
        assert "exposure" not in closed and "access" not in closed
        assert closed["exposure_group"] == closed["access_group"] == [{"local": 1 - rank}]
