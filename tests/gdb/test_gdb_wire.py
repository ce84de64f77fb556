# SPDX-License-Identifier: BSD-3-Clause
"""gdb's side of the wire: what a client learns of a rank that hangs."""
import json
import os
import pathlib
import re
import struct

import pytest


def ok(reply):
    assert reply.startswith("ok"), reply
    return reply[3:]


def replies(wire, pid, requests, **how):
    """The replies of the one wire that gdb serves."""
    answer, _ = wire.ask(requests, pid=pid, **how)
    assert len(answer["wires"]) == 1
    return answer["wires"][0]


def test_hello_offers_direct_reading(wire, hung):
    answer, said = wire.ask(["hello 1", "hello 2", "end"], pid=hung.pids[1])
    assert answer["wires"] == [["ok 1 %d" % hung.pids[1],
                                "err unsupported gdb's side of the wire speaks version 1", "ok"]], said.both
    arguments = answer["arguments"]
    assert arguments[0] == "ranks"
    assert arguments[-1] == str(hung.pids[1])
    assert arguments[arguments.index("--color") + 1] == "never"


def test_memory_is_the_process_own(wire, hung):
    """The bytes that gdb reads are those that the system shows."""
    pid = hung.pids[1]
    said = replies(wire, pid, ["symbol ompi_mpi_comm_world", "read {0} 352", "read {0} 0", "read 0x10 8",
                               "read {0} 2000000", "read {0} 1048576"])
    address = int(ok(said[0]), 16)
    data = bytes.fromhex(ok(said[1]))
    with open("/proc/%d/mem" % pid, "rb") as memory:
        memory.seek(address)
        # The library counts on in what may lie behind it, so a part that a hung rank leaves alone.
        assert memory.read(352)[:64] == data[:64]
    assert any(data[:64])
    assert said[2] == "ok"
    assert said[3] == "err unmapped no memory at 0x10"
    assert said[4].startswith("err usage ")
    assert said[5].startswith(("ok ", "err short "))


def test_copied_symbol_is_the_executable_s(wire, hung, program):
    """ompi_mpi_comm_world is copied into the executable, and only that copy is alive."""
    pid = hung.pids[0]
    said = replies(wire, pid, ["symbol ompi_mpi_comm_world"])
    address = int(ok(said[0]), 16)
    maps = pathlib.Path("/proc/%d/maps" % pid).read_text(encoding="utf-8").splitlines()
    images = [line for line in maps if line.endswith(str(program))]
    low = int(images[0].split("-")[0], 16)
    inside = max(int(line.split("-")[1].split(" ")[0], 16) for line in images)
    # .bss may go on behind the last page of the file.
    assert low <= address < inside + 0x10000


def test_symbols(wire, hung):
    said = replies(wire, hung.pids[1], [
        "symbol MPIR_dll_name", "symbol take_step", "symbol PMPI_Recv", "symbol malloc",
        "symbol no_such_thing", "symbol late", "symbol x + 1", "read {0} 256"])
    for reply in said[:4]:
        assert re.fullmatch("ok 0x[0-9a-f]+", reply)
    assert said[4] == "err not-found no symbol no_such_thing"
    assert said[5] == "err not-found no symbol late" # a local variable of the user's is no symbol
    assert said[6].startswith("err usage ")
    assert b"libompi_dbg_msgq" in bytes.fromhex(ok(said[7]))


@pytest.mark.usefixtures("own_build")
def test_types_and_members(wire, hung):
    said = replies(wire, hung.pids[1], [
        "type struct ompi_communicator_t", "type ompi_communicator_t", "field {0} c_my_rank",
        "type mca_pml_ob1_recv_request_t", "field {3} req_recv", "field {3} req_recv.req_base.req_peer",
        "type no_such_type", "field {0} no_such_member", "field 999 x", "field {3} req_recv.req_nothing",
        "type unsigned long", "type struct step", "field {11} residual", "type struct mca_pml_ob1_hdr_t",
        "type step*"])
    assert ok(said[0]).split()[1] == ok(said[1]).split()[1]
    assert int(ok(said[2])) > 0
    assert int(ok(said[5])) > int(ok(said[4]))
    assert said[6] == "err not-found no type no_such_type that is defined"
    assert said[7].startswith("err not-found ")
    assert said[8].startswith("err usage ")
    assert said[9].startswith("err not-found ")
    assert ok(said[10]).split()[1] == "8"
    assert ok(said[11]).split()[1] == "16"
    assert said[12] == "ok 8"
    assert said[13].startswith("ok ") # a union that was asked for as a struct
    assert said[14].startswith("err usage ")


def test_sizes(wire, hung):
    said = replies(wire, hung.pids[0], ["sizes"])
    native = [struct.calcsize(code) for code in ("h", "i", "l", "q", "P", "?", "N")]
    assert ok(said[0]) == " ".join(map(str, native)) + " little"


def test_status_and_threads(wire, hung, program):
    pid = hung.pids[2]
    said = replies(wire, pid, ["status", "threads"])
    status = json.loads(ok(said[0]))
    assert status["pid"] == pid
    assert status["core"] is False
    assert status["uid"] == os.getuid()
    assert status["state"] == "R" # it polled when gdb stopped it
    assert status["traced"] is False # by somebody else
    assert status["cpu_ns"] > 0
    assert status["executable"] == str(program)
    threads = json.loads(ok(said[1]))
    assert [thread["tid"] for thread in threads] == sorted(map(int, os.listdir("/proc/%d/task" % pid)))
    assert threads[0]["state"] == "R"
    assert [thread["state"] for thread in threads[1:]] == ["S"] * (len(threads) - 1) # the library's helpers
    assert threads[0]["name"].startswith("wrong_turn")


@pytest.mark.usefixtures("own_build")
@pytest.mark.parametrize("rank, call", [(1, "PMPI_Recv"), (3, "PMPI_Bcast")])
def test_stack(wire, hung, rank, call):
    pid = hung.pids[rank]
    said = replies(wire, pid, ["stack %d" % pid, "stack 1"])
    stack = json.loads(ok(said[0]))
    names = [frame.get("function") for frame in stack["frames"]]
    assert call in names
    user = stack["frames"][names.index(call) + 1]
    assert user["function"] == "take_step"
    assert os.path.basename(user["file"]) == "wrong_turn.c"
    assert user["line"] > 0
    assert os.path.basename(user["object"]).startswith("wrong_turn")
    assert stack["frames"][names.index(call)]["object"].endswith(".so.40")
    assert names[-1] == "main"
    assert stack["truncated"] is False
    assert any(frame.get("inlined") for frame in stack["frames"]) # the wait is, in an -O2 library
    assert said[1].startswith("err not-found ")


def test_environment(wire, hung):
    said = replies(wire, hung.pids[3], ["environment OMPI_COMM_WORLD_RANK", "environment NO_SUCH_VARIABLE",
                                         "environment A=B"])
    assert said[0] == 'ok "3"'
    assert said[1].startswith("err not-found ")
    assert said[2].startswith("err usage ")


def test_unknown_request_is_how_the_protocol_grows(wire, hung):
    said = replies(wire, hung.pids[0], ["sing 1", "forget", "read 0x1", "read x y", "hello", "_do_read 1 1"])
    assert said[0].startswith("err unsupported ")
    assert said[1] == "ok"
    assert all(reply.startswith("err usage ") for reply in said[2:5])
    assert said[5].startswith("err unsupported ")


def test_selection_is_left_alone(wire, hung):
    """Asking moves neither thread nor frame nor language of the user's."""
    pid = hung.pids[1]
    where = ["thread 2", "frame 1", "set language pascal"]
    show = ["printf \"at %d\\n\", $_thread", "info frame", "show language"]
    _, said = wire.ask(["stack %d" % pid, "symbol ompi_mpi_comm_world", "type struct step"], pid=pid,
                       commands=where + ["echo BEFORE\\n"] + show + ["echo ASK\\n"],
                       after=["echo AFTER\\n"] + show)
    before = said.out.split("BEFORE\n")[1].split("ASK\n")[0]
    after = said.out.split("AFTER\n")[1].split("[Inferior")[0]
    assert "frame at" in before and "pascal" in before
    assert before == after


def test_all_attached_inferiors_are_served(wire, hung):
    pids = [hung.pids[1], hung.pids[2]]
    answer, _ = wire.ask(["status", "environment OMPI_COMM_WORLD_RANK", "symbol take_step",
                          "stack %d" % pids[1]],
                         pid=pids[0], commands=["add-inferior -no-connection", "inferior 2",
                                                "attach %d" % pids[1], "inferior 1"])
    assert len(answer["wires"]) == 2
    for rank, (said, pid) in enumerate(zip(answer["wires"], pids), 1):
        assert json.loads(ok(said[0]))["pid"] == pid
        assert ok(said[1]) == '"%d"' % rank
        assert said[2].startswith("ok 0x")
        assert said[3].startswith("ok" if rank == 2 else "err not-found ")
    assert answer["arguments"][-1] == str(pids[0])
