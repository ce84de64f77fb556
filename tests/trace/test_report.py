# SPDX-License-Identifier: BSD-3-Clause
"""A trace is diagnosed like any other job."""
import pytest

from archive import Script, real


def report(mpiq, script, tmp_path, *options):
    return mpiq("report", *options, script.write(tmp_path / "a"))


def test_a_trace_without_fault(mpiq, tmp_path):
    script = Script(2)
    script.send(0, 0.1, 0.2, 1, 7)
    script.recv(1, 0.1, 0.2, 0, 7)
    script.finish(1)
    answer = report(mpiq, script, tmp_path)
    assert answer.out == "finished: the job ended, and the trace shows nothing wrong (make_trace, trace; both ranks read)\n"
    assert answer.status == 0


def test_messages_never_received(mpiq, tmp_path):
    script = Script(2)
    for i in range(5):
        script.send(0, 0.1 + i / 100, 0.105 + i / 100, 1, 9)
    for i in range(2):
        script.recv(1, 0.2 + i / 100, 0.205 + i / 100, 0, 9)
    script.finish(1)
    answer = report(mpiq, script, tmp_path)
    assert "1. Rank 1 never received the last 3 of 5 messages with tag 9 that rank 0 sent by MPI_Send at " \
           "solver.c:10 on MPI_COMM_WORLD.\n" in answer.out
    assert answer.out.startswith("finished: the job ended, and the trace shows one thing wrong")


def test_requests_never_completed(mpiq, tmp_path):
    script = Script(2)
    script.call(0, 0.1, 0.2, "MPI_Irecv", "irecv-request 5")
    script.finish(1)
    answer = report(mpiq, script, tmp_path)
    assert "1. Rank 0 never completed or freed the request that MPI_Irecv at solver.c:10 started.\n" in answer.out


def test_a_freed_receive_may_have_taken_a_message(mpiq, tmp_path):
    """Of a receive that was freed a trace does not say what it took."""
    script = Script(2)
    script.call(0, 0.1, 0.2, "MPI_Irecv", "irecv-request 5")
    script.call(0, 0.3, 0.4, "MPI_Request_free")
    script.send(1, 0.5, 0.6, 0, 3)
    script.finish(1)
    assert "shows nothing wrong" in report(mpiq, script, tmp_path).out


def test_a_cancelled_receive_took_none(mpiq, tmp_path):
    script = Script(2)
    script.call(0, 0.1, 0.2, "MPI_Irecv", "irecv-request 5")
    script.call(0, 0.3, 0.4, "MPI_Wait", "cancelled 5")
    script.send(1, 0.5, 0.6, 0, 3)
    script.finish(1)
    assert "Rank 0 never received the message with tag 3" in report(mpiq, script, tmp_path).out


def test_a_matched_probe_leaves_receives_uncertain(mpiq, tmp_path):
    """MPI_Mrecv writes no record of what it receives."""
    script = Script(2)
    script.call(0, 0.1, 0.7, "MPI_Mrecv")
    script.send(1, 0.5, 0.6, 0, 3)
    script.finish(1)
    assert "shows nothing wrong" in report(mpiq, script, tmp_path).out


def test_collectives_that_not_all_called(mpiq, tmp_path):
    script = Script(4)
    for rank in range(4):
        script.collective(rank, 0.1, 0.2, "MPI_Barrier", "barrier")
        if rank != 1:
            script.collective(rank, 0.3, 0.4, "MPI_Bcast", "bcast", 2)
        script.collective(rank, 0.5, 0.6, "MPI_Barrier", "barrier")
    script.finish(1)
    answer = report(mpiq, script, tmp_path)
    assert "1. Collective 2 on MPI_COMM_WORLD: rank 1 called MPI_Barrier at solver.c:10, ranks 0,2-3 called MPI_Bcast at solver.c:10." in answer.out


def test_another_root(mpiq, tmp_path):
    script = Script(3)
    for rank in range(3):
        script.collective(rank, 0.1, 0.2, "MPI_Bcast", "bcast", 1 if rank == 2 else 0)
    script.finish(1)
    assert "     root 1: rank 2\n     root 0: ranks 0-1\n" in report(mpiq, script, tmp_path).out


def test_overlapping_requests_are_numbered_as_they_started(mpiq, tmp_path):
    """Two collectives at once, completed in either order, are no mismatch."""
    script = Script(2)
    for rank in range(2):
        script.call(rank, 0.1, 0.11, "MPI_Ibcast", "nbc-request 1")
        script.call(rank, 0.2, 0.21, "MPI_Iallreduce", "nbc-request 2")
        done = ["nbc-done bcast 0 0 1", "nbc-done allreduce 0 - 2"]
        script.call(rank, 0.3, 0.4, "MPI_Waitall", *(done if rank else reversed(done)))
    script.finish(1)
    assert "shows nothing wrong" in report(mpiq, script, tmp_path).out


def open_receives():
    """Two ranks, each in a receive when the trace ends."""
    script = Script(2)
    for rank in range(2):
        script.at(rank, 1 + rank, "enter MPI_Recv")
    return script


def test_a_trace_that_ends_in_receives_is_a_deadlock(mpiq, tmp_path):
    answer = report(mpiq, open_receives(), tmp_path)
    assert answer.status == 1
    assert answer.out.startswith("deadlock: none of the 2 ranks can continue")
    assert "ranks 0-1  MPI_Recv  solver.c:10 main" in answer.out
    assert "the trace does not say which message" in answer.out


def test_a_message_under_way_ends_no_job(mpiq, tmp_path):
    script = open_receives()
    script.send(0, 0.5, 0.6, 1, 7)
    answer = report(mpiq, script, tmp_path)
    assert answer.status != 1


@pytest.mark.parametrize("name", ["MPI_Mrecv", "MPI_Win_fence", "MPI_Neighbor_allgather", "MPI_Waitall"])
def test_a_call_of_which_nothing_is_known_proves_nothing(mpiq, tmp_path, name):
    script = Script(2)
    script.at(0, 1, "enter MPI_Recv")
    script.at(1, 1, f"enter {name}")
    assert report(mpiq, script, tmp_path).status != 1


def test_sends_in_a_circle(mpiq, tmp_path):
    script = Script(3)
    for rank in range(3):
        script.at(rank, 1, "enter MPI_Ssend", f"send {(rank + 1) % 3} 0 6 4")
    answer = report(mpiq, script, tmp_path)
    assert answer.status == 1
    assert "1. Ranks 0-2 send to each other in a circle, and none has posted the receive.\n" in answer.out


def test_a_collective_that_one_never_entered(mpiq, tmp_path):
    script = Script(3)
    for rank in range(3):
        if rank != 1:
            script.at(rank, 1, "enter MPI_Barrier", "begin")
    script.at(1, 1, "enter MPI_Recv")
    answer = report(mpiq, script, tmp_path)
    assert answer.status == 1
    assert "Rank 1 never entered the MPI_Barrier" in answer.out


def test_exit_in_a_signal_handler_ends_no_call(mpiq, tmp_path):
    """Its regions are left at the end of the program, but MPI_Recv received nothing."""
    script = Script(2)
    for rank in range(2):
        script.at(rank, 1, "enter MPI_Recv", "enter on_alarm")
        script.at(rank, 4, "leave on_alarm", "leave MPI_Recv", "leave main", "program-end")
    answer = report(mpiq, script, tmp_path)
    assert answer.status == 1
    assert "3.0 s" in answer.out


def test_a_rank_that_computes_may_send(mpiq, tmp_path):
    script = open_receives()
    script.events = [event for event in script.events if event[2] != "enter MPI_Recv" or event[0] == 0]
    script.at(1, 3, "enter work")
    answer = report(mpiq, script, tmp_path)
    assert answer.out.startswith("running: rank 1 is computing")


def test_a_time_in_the_middle(mpiq, tmp_path):
    script = Script(2)
    script.call(0, 0.1, 1.1, "work")
    script.send(0, 1.2, 1.3, 1, 7)
    script.recv(1, 0.2, 1.3, 0, 7)
    script.finish(2)
    anchor = script.write(tmp_path / "a")
    answer = mpiq("report", "--at", "0.8", anchor)
    assert answer.out.startswith("running: rank 0 is computing at work(), called at solver.c:10; 1 rank has waited 0.6 s for it"), answer.out
    assert mpiq("report", anchor).out.startswith("finished")


def test_a_location_without_its_file(mpiq, tmp_path):
    script = Script(2)
    script.send(0, 0.1, 0.2, 1, 7)
    script.recv(1, 0.1, 0.2, 0, 7)
    script.finish(1)
    anchor = script.write(tmp_path / "a")
    (tmp_path / "a/traces/1.evt").unlink()
    answer = mpiq("report", anchor)
    assert "rank 1: events: its events, in 1.evt, are missing" in answer.out
    assert "never received" not in answer.out


def test_a_location_without_its_definitions(mpiq, tmp_path):
    script = Script(2)
    script.send(0, 0.1, 0.2, 1, 7)
    script.recv(1, 0.1, 0.2, 0, 7)
    script.finish(1)
    anchor = script.write(tmp_path / "a")
    (tmp_path / "a/traces/1.def").unlink()
    answer = mpiq("report", anchor)
    assert "its definitions, in 1.def, are missing" in answer.out
    assert "never received" not in answer.out


def test_a_file_cut_short(mpiq, tmp_path):
    script = Script(2)
    for i in range(200):
        script.send(0, 0.1 + i / 1000, 0.1005 + i / 1000, 1, 7)
        script.recv(1, 0.1 + i / 1000, 0.1005 + i / 1000, 0, 7)
    script.finish(1)
    anchor = script.write(tmp_path / "a")
    file = tmp_path / "a/traces/1.evt"
    file.write_bytes(file.read_bytes()[:3000])
    answer = mpiq("report", anchor)
    assert "rank 1: events: 1.evt is cut short" in answer.out
    assert "never received" not in answer.out
    assert answer.status == 0


def test_what_is_no_archive(mpiq, tmp_path):
    path = tmp_path / "traces.otf2"
    path.write_bytes(b"OTF2 it is not")
    answer = mpiq("report", path)
    assert answer.status == 3
    assert answer.err == f"mpiq: the trace {path}: its anchor file cannot be read\n"


# ---- real ones -----------------------------------------------------------------------------------------------------

FINE = ["collkinds", "collwait", "halo_fortran", "intercomm", "latesender", "overtake", "persistent", "pingpong",
        "requests", "requests_xreqtest", "ring", "ring_noxnb", "rma", "threads_omp", "threads_pthread"]


@pytest.mark.parametrize("name", FINE)
def test_real_without_fault(mpiq, name):
    answer = mpiq("report", real(name))
    assert answer.out.startswith("finished: the job ended, and the trace shows nothing wrong"), answer.out


def test_real_unmatched(mpiq):
    out = mpiq("report", real("unmatched")).out
    assert out.startswith("finished: the job ended, and the trace shows 5 things wrong")
    for words in ("Rank 1 never received the last 3 of 5 messages with tag 9 that rank 0 sent",
                  "Rank 3 never received the 2 messages with tag 8 that rank 2 sent",
                  "Rank 0 never received the message with tag 7 that rank 3 sent",
                  "Rank 1 never received the message with tag 5 that rank 1 sent",
                  "Rank 1 never received the message with tag 9 that rank 0 sent by MPI_Send at unmatched.c:12 on "
                  'communicator "dup"'):
        assert words in out


def test_real_hangs(mpiq):
    answer = mpiq("report", real("hang_recvrecv"))
    assert answer.status == 1 and "ranks 0-1  MPI_Recv  hang.c:32 main  3.0 s" in answer.out
    answer = mpiq("report", real("hang_sendsend"))
    assert answer.status == 1
    assert "1. Ranks 0-2 send to each other in a circle" in answer.out
    answer = mpiq("report", real("hang_bcast"))
    assert "Collective 3 on MPI_COMM_WORLD: rank 1 called MPI_Barrier at hang.c:32, ranks 0,2-3 called MPI_Bcast at hang.c:32." in answer.out
