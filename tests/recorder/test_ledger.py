# SPDX-License-Identifier: BSD-3-Clause
"""The recorder's exact notes of known calls, read back through its DLL on each installed MPI library."""
import pathlib

PROGRAM = "ledger.c"


def communicator(state, name):
    return next(comm for comm in state["communicators"] if comm["name"] == name)


def channel(comm, peer):
    return next(one for one in comm["channels"] if one["peer_local"] == peer)


def number(text):
    return int(text, 16)


def test_identity_is_recorded(states):
    for rank, state in enumerate(states):
        assert state["name"][1] == rank and state["world_size"] == 2
        assert state["source"] == "recorder" and state["phase"] == "running"
    worlds = [communicator(state, "row") for state in states]
    assert worlds[0]["context"] == worlds[1]["context"]


def test_collectives_are_recorded(states):
    for state in states:
        counts = {one["collective"]: (one["count"], one.get("active", False))
                  for one in communicator(state, "MPI_COMM_WORLD")["counts"]}
        assert counts == {"MPI_Comm_dup": (1, False), "MPI_Barrier": (3, False), "MPI_Bcast": (1, False),
                          "MPI_Iallreduce": (1, False)}
        last = communicator(state, "MPI_COMM_WORLD")["calls"]
        assert [call["collective"] for call in last] == ["MPI_Iallreduce", "MPI_Bcast"] + 3 * ["MPI_Barrier"] + [
            "MPI_Comm_dup"]
        assert [call["number"] for call in last] == [6, 5, 4, 3, 2, 1]
        assert all(call["done"] for call in last)
        assert (last[1]["count"], last[1]["bytes"], last[1]["root"], last[1]["datatype"]) == (4, 16, 1, "MPI_INT")
        assert last[0]["op"] == "MPI_SUM"
        row = communicator(state, "row")["calls"]
        assert [(call["collective"], call["bytes"], call["op"]) for call in row] == [("MPI_Allreduce", 8, "MPI_MAX")]


def test_messages_are_recorded(states):
    for rank, state in enumerate(states):
        world = channel(communicator(state, "MPI_COMM_WORLD"), 1 - rank)
        assert (world["sent"], world["expected"]) == (12, 10) # the numbers of the next: 11 sent, 9 received
        assert world["counted"] and world["bytes_known"] and "unclear" not in world
        sent = {number(one["tags"]): (number(one["messages"]), number(one["bytes"]))
                for one in world["tags"] if "cell" not in one and not one.get("received")}
        assert sent == {100: (1, 8), 101: (1, 8), 102: (1, 8)}
        cells = [one for one in world["tags"] if "cell" in one]
        for received, messages in ((False, 8), (True, 6)):
            # each message stands once in each of the three tables
            assert sum(number(one["messages"]) for one in cells if one.get("received", False) == received) == (
                3 * messages)
        row = channel(communicator(state, "row"), 1 - rank)
        assert (row["sent"], row["expected"]) == (2, 2)


def test_requests_are_recorded(states):
    for rank, state in enumerate(states):
        operations = {one["tag"]: one for one in state["operations"]}
        assert sorted(operations) == [77, 78]
        assert operations[77]["kind"] == "receive" and operations[77]["peer_local"] == 1 - rank
        assert operations[77]["bytes"] == 4 and operations[77]["datatype"] == "MPI_INT"
        assert operations[78]["persistent"] and operations[78]["inactive"]


def line_of(text):
    """The number of the line of ledger.c that holds text."""
    lines = pathlib.Path(__file__).with_name(PROGRAM).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_the_call_that_made_a_communicator_is_recorded(states):
    for state in states:
        row = communicator(state, "row")
        assert (row["made_by"], row["made"]["line"]) == ("MPI_Comm_dup", line_of("MPI_Comm_dup(MPI_COMM_WORLD, &row)"))
        assert "made_by" not in communicator(state, "MPI_COMM_WORLD")


def test_call_sites_are_recorded(states):
    """Return addresses become the lines that called MPI."""
    for state in states:
        def place(one):
            return pathlib.Path(one["file"]).name, one["line"], one["function"]
        posted = next(one for one in state["operations"] if one["tag"] == 77)
        assert place(posted["started"]) == ("ledger.c", line_of("77, row, &pending"), "main")
        sends = [call for call in state["history"] if call["call"] == "MPI_Send"]
        assert {place(call["place"]) for call in sends} == {("ledger.c", line_of("MPI_Send("), "messages")}
        bcast = next(call for call in communicator(state, "MPI_COMM_WORLD")["calls"]
                     if call["collective"] == "MPI_Bcast")
        assert place(bcast["started"]) == ("ledger.c", line_of("MPI_Bcast("), "collectives")


def test_history_is_recorded(states):
    for state in states:
        calls = [call["call"] for call in state["history"]]
        assert calls[0] == "MPI_Init" and calls[1:3] == ["MPI_Comm_dup", "MPI_Comm_set_name"]
        assert calls[-2:] == ["MPI_Irecv", "MPI_Recv_init"]
        assert calls.count("MPI_Send") == 10 and calls.count("MPI_Recv") == 8 and calls.count("MPI_Barrier") == 3
        assert all(call["end_ns"] >= call["begin_ns"] > 0 for call in state["history"])
