# SPDX-License-Identifier: BSD-3-Clause
"""Whose data unfinished neighbourhood collectives need, read back through the recorder's DLL."""
PROGRAM = "neighbours.c"

# Of rank 0's calls on each communicator: (number, local rank).
EXPECTED = {
    "round": [(1, 1), (1, 1), (2, 1), (2, 1)],
    "line": [(1, 1)],
    "pair": [(1, 1)],
    "one": [(2, 0)], # its first call is MPI_Comm_idup
    "copy": [(1, 1)],
    "many": [(1, 1 - i % 2) for i in range(70)],
    "hole": [(1, 1 - i % 2) for i in range(63)],
}


def settled(states):
    """Whether both are in their last call."""
    waits = [wait["call"] for state in states for thread in state["threads"] for wait in thread.get("waits", [])]
    return waits == ["MPI_Neighbor_allgather", "MPI_Recv"]


def test_sources(states):
    for state, expected in zip(states, (EXPECTED, {})):
        found = {comm["name"]: sorted((source["number"], source["local"]) for source in comm["sources"])
                 for comm in state["communicators"] if comm.get("sources")}
        assert found == {name: sorted(sources) for name, sources in expected.items()}
