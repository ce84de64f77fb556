# SPDX-License-Identifier: BSD-3-Clause
"""How far ranks have come in a window's collective calls, read back through the recorder's DLL."""
PROGRAM = "fences.c"

# Fences begun, and whether the last one has to wait for all, by rank where they differ.
EXPECTED = {
    "none": (0, (True, False)), # rank 0 frees it
    "first": (1, False),
    "both": (2, True),
    "no precede": (2, False),
    "no succeed": (2, False),
    "no put": (2, False),
    "other promises": (2, True),
    "memory at rank 1": (2, (False, True)),
    "lock": (2, False),
    "lock all": (2, False),
    "post and start": (2, False),
    "failed": (0, False),
    "dynamic": (2, False),
    "last": ((1, 2), (False, True)),
}


def wait_of(state):
    return next((wait for thread in state["threads"] for wait in thread.get("waits", [])), None)


def settled(states):
    """Whether both are in their last call."""
    waits = [wait_of(state) for state in states]
    return all(waits) and [wait["call"] for wait in waits] == ["MPI_Win_free", "MPI_Win_fence"]


def of_rank(value, rank):
    return value[rank] if isinstance(value, tuple) else value


def test_progress(states):
    for rank, state in enumerate(states):
        windows = {window["name"]: window for window in state["windows"]}
        assert {name: (window["fences"], window.get("synchronises", False)) for name, window in windows.items()} == {
            name: (of_rank(fences, rank), of_rank(synchronises, rank))
            for name, (fences, synchronises) in EXPECTED.items()}
        assert [name for name, window in windows.items() if window.get("freeing")] == (["none"] if rank == 0 else [])


def test_waits(states):
    for state, kind, name in zip(states, ("win-free", "fence"), ("none", "last")):
        wait = wait_of(state)
        assert (wait["kind"], state["windows"][wait["window"]]["name"]) == (kind, name)
