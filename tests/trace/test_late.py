# SPDX-License-Identifier: BSD-3-Clause
"""The time lost waiting: wait states, and the delays that they cost."""
import collections
import json

import pytest

from archive import WORLD, Script, real
from waiting import Trace

# Sleeps last longer than asked for.
NEAR = 0.005


def late(mpiq, anchor):
    answer = mpiq("late", anchor, "--json")
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


def waits(report):
    """Seconds by kind and rank."""
    sums = collections.Counter()
    for wait in report["waits"]:
        sums[wait["kind"], wait["rank"]] += wait["seconds"]
    return sums


def delays(report, least=NEAR):
    """By how much who was late where."""
    sums = collections.Counter()
    for delay in report["delays"]:
        sums[delay["rank"], delay.get("call") or delay.get("function")] += delay["late"]
    return {key: seconds for key, seconds in sums.items() if seconds >= least}


def costs(report, least=NEAR):
    found = {}
    for delay in report["delays"]:
        key = delay["rank"], delay.get("call") or delay.get("function")
        before = found.get(key, (0, 0))
        found[key] = before[0] + delay["short_term_cost"], before[1] + delay["long_term_cost"]
    return {key: pair for key, pair in found.items() if sum(pair) >= least}


def check_sums(mpiq, anchor):
    """mpiq's sums are those that other means come to."""
    report, trace = late(mpiq, anchor), Trace(anchor)
    assert report["trace"]["messages"] == trace.messages
    assert report["trace"]["unreceived_messages"] == trace.unreceived
    expected, found = trace.waits(), waits(report)
    for key in set(expected) | set(found):
        assert found[key] == pytest.approx(expected[key], abs=2e-6), key
    assert report["trace"]["waiting"] == pytest.approx(sum(expected.values()), abs=1e-5)
    blamed = sum(delay["short_term_cost"] + delay["long_term_cost"] for delay in report["delays"])
    assert blamed + report["trace"]["unattributed"] == pytest.approx(report["trace"]["waiting"], rel=0.02, abs=1e-4)
    return report


def test_late_sender(mpiq, tmp_path):
    script = Script(2)
    script.call(0, 0.1, 0.6, "work")
    script.send(0, 0.6, 0.61, 1, 7)
    script.recv(1, 0.1, 0.61, 0, 7)
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {("late_sender", 1): pytest.approx(0.5)}
    assert delays(report) == {(0, "work"): pytest.approx(0.5, abs=0.01)}


def test_months_of_waiting(mpiq, tmp_path):
    script = Script(2)
    script.call(0, 0.1, 9000000, "work")
    script.send(0, 9000000, 9000000.5, 1, 7)
    script.recv(1, 0.1, 9000000.5, 0, 7)
    script.finish(9000001)
    assert "costs the other ranks 9,000,000 s of waiting" in mpiq("late", script.write(tmp_path / "a")).out


def test_late_receiver(mpiq, tmp_path):
    script = Script(2)
    script.send(0, 0.1, 0.5, 1, 7, name="MPI_Ssend")
    script.call(1, 0.1, 0.45, "work")
    script.recv(1, 0.45, 0.5, 0, 7)
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {("late_receiver", 0): pytest.approx(0.35)}
    assert delays(report) == {(1, "work"): pytest.approx(0.35, abs=0.01)}


def test_no_wait_in_a_test(mpiq, tmp_path):
    script = Script(2)
    script.call(1, 0.05, 0.06, "MPI_Irecv", "irecv-request 1")
    script.call(0, 0.1, 0.6, "work")
    script.send(0, 0.6, 0.61, 1, 7)
    script.call(1, 0.1, 0.61, "MPI_Test", f"irecv 0 {WORLD} 7 4 1")
    script.finish(1)
    assert check_sums(mpiq, script.write(tmp_path / "a"))["waits"] == []


def test_only_the_largest_of_a_multiple_wait(mpiq, tmp_path):
    script = Script(3)
    for request in (1, 2):
        script.call(0, 0.01 * request, 0.01 * request + 0.001, "MPI_Irecv", f"irecv-request {request}")
    script.call(0, 0.1, 0.61, "MPI_Waitall", f"irecv 1 {WORLD} 7 4 1", f"irecv 2 {WORLD} 7 4 2")
    for rank, time in ((1, 0.3), (2, 0.6)):
        script.call(rank, 0.1, time, "work")
        script.send(rank, time, time + 0.005, 0, 7)
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {("late_sender", 0): pytest.approx(0.5)}
    assert delays(report) == {(2, "work"): pytest.approx(0.5, abs=0.01)}


def test_messages_in_the_order_of_posting(mpiq, tmp_path):
    """Receives complete in another order than they were posted: each has its own message nevertheless."""
    script = Script(2)
    for request in (1, 2):
        script.call(1, 0.01 * request, 0.01 * request + 0.001, "MPI_Irecv", f"irecv-request {request}")
    script.send(0, 0.1, 0.101, 1, 7)
    script.call(0, 0.11, 0.5, "work")
    script.send(0, 0.5, 0.501, 1, 7)
    script.call(1, 0.2, 0.51, "MPI_Wait", f"irecv 0 {WORLD} 7 4 2")
    script.call(1, 0.52, 0.53, "MPI_Wait", f"irecv 0 {WORLD} 7 4 1")
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {("late_sender", 1): pytest.approx(0.3)}


@pytest.mark.parametrize("name, operation, root, late_rank, kind, waiting", [
    ("MPI_Barrier", "barrier", "-", 2, "wait_at_barrier", {0, 1, 3}),
    ("MPI_Allreduce", "allreduce", "-", 1, "wait_at_nxn", {0, 2, 3}),
    ("MPI_Bcast", "bcast", 1, 1, "late_broadcast", {0, 2, 3}),
    ("MPI_Bcast", "bcast", 1, 0, None, set()),
    ("MPI_Gather", "gather", 3, 0, "early_reduce", {3}),
    ("MPI_Scan", "scan", "-", 1, "early_scan", {2, 3}),
])
def test_collectives(mpiq, tmp_path, name, operation, root, late_rank, kind, waiting):
    script = Script(4)
    for rank in range(4):
        begin = 0.5 if rank == late_rank else 0.1
        if rank == late_rank:
            script.call(rank, 0.1, 0.5, "work")
        script.collective(rank, begin, 0.501, name, operation, root)
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {(kind, rank): pytest.approx(0.4) for rank in waiting}
    assert delays(report) == ({(late_rank, "work"): pytest.approx(0.4, abs=0.01)} if waiting else {})


def neighborhood(mpiq, tmp_path, ranks, *lines, before=None):
    """Rank 0 is late for a neighbourhood collective."""
    script = Script(ranks, ["comm 2 cart " + ",".join(map(str, range(ranks))), *lines])
    for rank in range(ranks):
        if before:
            script.call(rank, 0.01, 0.02, before)
        if rank == 0:
            script.call(rank, 0.1, 0.5, "work")
        script.call(rank, 0.5 if rank == 0 else 0.1, 0.501, "MPI_Neighbor_allgather")
        script.call(rank, 0.51, 0.52, "MPI_Neighbor_alltoall")
    script.finish(1)
    return script.write(tmp_path / "a")


@pytest.mark.parametrize("ranks, shape, waiting", [
    (4, "4", {1}), (4, "4p", {1, 3}), (6, "2,3", {1, 3}), (6, "2,3p", {1, 2, 3}), (12, "2,3p,2", {1, 2, 4, 6}),
    (2, "2p", {1}), (2, "1p,2", {1}),
])
def test_neighbors(mpiq, tmp_path, ranks, shape, waiting):
    report = check_sums(mpiq, neighborhood(mpiq, tmp_path, ranks, f"cart 2 {shape}"))
    assert waits(report) == {("wait_for_neighbors", rank): pytest.approx(0.4) for rank in waiting}
    assert delays(report) == {(0, "work"): pytest.approx(0.4, abs=0.01)}


@pytest.mark.parametrize("lines, before", [
    ((), None), (("cart 2 4", "cart 2 2,2"), None), (("comm 3 other 0,1", "cart 2 4", "cart 3 2"), None),
    (("cart 2 5",), None), (("cart 2 4",), "MPI_Dist_graph_create_adjacent"),
])
def test_neighbors_that_are_not_known(mpiq, tmp_path, lines, before):
    assert late(mpiq, neighborhood(mpiq, tmp_path, 4, *lines, before=before))["waits"] == []


def test_a_nonblocking_collective(mpiq, tmp_path):
    script = Script(2)
    for rank in range(2):
        start = 0.1 if rank == 0 else 0.4
        if rank == 1:
            script.call(rank, 0.05, 0.4, "work")
        script.call(rank, start, start + 0.001, "MPI_Ibarrier", "nbc-request 1")
        script.call(rank, max(start + 0.01, 0.2), 0.42, "MPI_Wait", f"nbc-done barrier {WORLD} - 1")
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert waits(report) == {("wait_for_nonblocking_collective", 0): pytest.approx(0.2)}
    assert delays(report) == {(1, "work"): pytest.approx(0.2, abs=0.01)}


def test_the_cost_of_a_delay_spreads(mpiq, tmp_path):
    """Rank 0 makes rank 1 wait, and therefore late for rank 2: in the long term that is rank 0's doing."""
    script = Script(3)
    for rank in range(3):
        script.collective(rank, 0.01, 0.02, "MPI_Barrier", "barrier")
    script.call(0, 0.02, 0.52, "work")
    script.send(0, 0.52, 0.521, 1, 7)
    script.recv(1, 0.02, 0.522, 0, 7)
    script.send(1, 0.522, 0.523, 2, 8)
    script.recv(2, 0.02, 0.524, 1, 8)
    script.finish(1)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert costs(report) == {(0, "work"): (pytest.approx(0.5, abs=NEAR), pytest.approx(0.5, abs=NEAR))}
    assert delays(report) == {(0, "work"): pytest.approx(0.5, abs=NEAR)}


def test_a_balanced_program_is_not_late(mpiq, tmp_path):
    script = Script(4)
    for rank in range(4):
        for step in range(10):
            script.call(rank, 0.1 + step / 10, 0.15 + step / 10, "work")
            script.collective(rank, 0.15 + step / 10, 0.16 + step / 10, "MPI_Allreduce", "allreduce")
    script.finish(2)
    report = check_sums(mpiq, script.write(tmp_path / "a"))
    assert report["waits"] == [] and report["delays"] == []


def test_clocks_that_do_not_agree(mpiq, tmp_path):
    """Received before it was sent: counted, said, and not used."""
    script = Script(2)
    script.send(0, 0.6, 0.61, 1, 7)
    script.recv(1, 0.1, 0.3, 0, 7)
    script.finish(1)
    anchor = script.write(tmp_path / "a")
    report = check_sums(mpiq, anchor)
    assert report["waits"] == []
    assert report["trace"]["contradictions"] == 1
    assert "1 time contradicted another (clocks that do not agree)" in mpiq("late", anchor).out


def test_the_text(mpiq, tmp_path):
    script = Script(2, ["region work mesh.c 88"])
    script.call(1, 0.1, 0.6, "work")
    script.send(1, 0.6, 0.61, 0, 7)
    script.recv(0, 0.1, 0.61, 1, 7)
    script.finish(1)
    answer = mpiq("late", script.write(tmp_path / "a"))
    assert answer.out.splitlines()[2] == \
        "1. Rank 1 at mesh.c:88 (work) is late by 0.50 s in all and costs the other ranks 0.50 s of waiting (100 %)."


def test_wrong_use(mpiq, tmp_path):
    assert mpiq("late").status == 2
    assert mpiq("late", tmp_path).status == 2
    assert mpiq("late", "x.otf2", "--ranks", "1").status == 2


# ---- real ones -----------------------------------------------------------------------------------------------------

ALL = ["collkinds", "collwait", "halo_fortran", "hang_bcast", "hang_recvrecv", "hang_sendsend", "intercomm", "latesender",
       "overtake", "persistent", "pingpong", "requests", "requests_xreqtest", "ring", "ring_noxnb", "rma", "threads_omp",
       "threads_pthread", "unmatched"]
# Messages received and not received, as the programs' heads say (requests: one by a freed request).
MESSAGES = {"latesender": (5, 0), "pingpong": (80, 0), "ring": (32, 0), "ring_noxnb": (32, 0), "unmatched": (6, 8),
            "persistent": (24, 0), "intercomm": (17, 0), "threads_omp": (15, 0), "threads_pthread": (7, 0),
            "collwait": (0, 0), "collkinds": (0, 0), "overtake": (14, 0)}


@pytest.mark.parametrize("name", ALL)
def test_real_sums(mpiq, name):
    report = check_sums(mpiq, real(name))
    if name in MESSAGES:
        assert (report["trace"]["messages"], report["trace"]["unreceived_messages"]) == MESSAGES[name]


def test_real_late_sender(mpiq):
    report = late(mpiq, real("latesender"))
    assert delays(report) == {(0, "injected_delay"): pytest.approx(0.80, abs=NEAR),
                              (2, "injected_delay"): pytest.approx(0.40, abs=NEAR)}
    assert all(delay["line"] == 9 for delay in report["delays"] if delay.get("function") == "injected_delay")
    assert waits(report)["late_sender", 1] == pytest.approx(1.2, abs=NEAR)


def test_real_collectives(mpiq):
    report = late(mpiq, real("collwait"))
    assert delays(report) == {(0, "injected_delay"): pytest.approx(0.45 + 0.20, abs=NEAR),
                              (1, "injected_delay"): pytest.approx(0.50 + 0.35, abs=NEAR),
                              (2, "injected_delay"): pytest.approx(0.40 + 0.30, abs=NEAR),
                              (3, "injected_delay"): pytest.approx(0.60 + 0.25 + 0.30, abs=NEAR)}
    found = collections.Counter()
    for wait in report["waits"]:
        found[wait["kind"], wait["call"]] += wait["seconds"]
    for key, seconds in {("wait_at_nxn", "MPI_Allreduce"): 1.5, ("wait_at_nxn", "MPI_Alltoall"): 1.8,
                         ("late_broadcast", "MPI_Bcast"): 1.35, ("late_broadcast", "MPI_Scatter"): 0.9,
                         ("early_reduce", "MPI_Reduce"): 0.35, ("early_reduce", "MPI_Gather"): 0.25,
                         ("wait_at_nxn", "MPI_Allgather"): 0.6,
                         ("wait_for_nonblocking_collective", "MPI_Wait"): 0.9}.items():
        assert found[key] == pytest.approx(seconds, abs=3 * NEAR), key


def test_real_fence(mpiq):
    report = late(mpiq, real("rma"))
    assert delays(report) == {(2, "injected_delay"): pytest.approx(0.30, abs=NEAR)}
    sums = waits(report)
    for rank in (0, 1, 3):
        assert sums["wait_at_fence", rank] == pytest.approx(0.30, abs=NEAR)


@pytest.mark.parametrize("name", ["ring", "ring_noxnb", "pingpong", "halo_fortran", "persistent", "overtake", "unmatched"])
def test_real_without_waiting(mpiq, name):
    """No wait state where none was made."""
    report = late(mpiq, real(name))
    assert all(wait["longest"] < NEAR for wait in report["waits"])
    assert delays(report) == {}
