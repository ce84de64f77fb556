# SPDX-License-Identifier: BSD-3-Clause
"""Rank states of real jobs: our DLL and the stock one, on patched and unpatched libraries."""
import json
import os
import pathlib
import subprocess

import pytest

from support import conditions
from support import job as jobs
from support import libraries
from support.built import built

HERE = pathlib.Path(__file__).resolve().parent


PATIENCE = 120


def dump(*arguments, **options):
    """The rank states that rank-dump prints, and what it says on stderr."""
    done = conditions.run([built("tests/rank/rank-dump"), *map(str, arguments)], seconds=PATIENCE, **options)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def line_of(file, text):
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture(scope="module", params=["4.1", "5.0", "4.1-stock", "5.0-stock"])
def line(request):
    found = libraries.lines().get(request.param)
    if found is None:
        pytest.skip(f"{libraries.PREFIX_VARIABLES[request.param]} names no Open MPI")
    return found


@pytest.fixture(scope="module")
def hung(line, tmp_path_factory):
    """Pids by rank of a hung job."""
    program = line.compile([HERE / "hung.c"], tmp_path_factory.mktemp("hung") / "hung")
    with jobs.Job(line, [program], 4) as job:
        job.wait_ready()
        job.stand_still()
        yield {rank: pid for pid, rank in job.ready.items()}


@pytest.fixture(scope="module")
def states(hung):
    """Rank states in rank order, as our DLL tells them."""
    found, said = dump(*[hung[rank] for rank in range(4)])
    assert len(found) == 4, said
    return found


def communicator(state, name):
    found = [comm for comm in state["communicators"] if comm.get("name") == name]
    assert len(found) == 1
    return found[0]


def users(state, queue):
    """The user's operations of a queue."""
    return [operation for operation in state.get("operations", [])
            if operation["queue"] == queue and not operation.get("internal")]


def test_nothing_is_missing(states):
    assert [state.get("problems") for state in states] == [None] * 4


def test_who_they_are(line, states):
    assert [state["name"][1] for state in states] == [0, 1, 2, 3]
    assert len({state["name"][0] for state in states}) == 1
    assert {state["world_size"] for state in states} == {4}
    assert {state["phase"] for state in states} == {"running"}
    assert {state["pml"] for state in states} == {"ob1"}
    assert all(state["library"].startswith("Open MPI " + line.release) for state in states)
    assert {state["source"] for state in states} == {"patched" if line.patched else "debug info"}
    assert {state.get("recording") for state in states} == ({1} if line.patched else {None})


def test_communicators_agree(states):
    world = [communicator(state, "MPI_COMM_WORLD") for state in states]
    assert [comm["local_rank"] for comm in world] == [0, 1, 2, 3]
    assert len({comm["local"]["hash"] for comm in world}) == 1
    assert len({str(comm.get("context")) for comm in world}) == 1
    # Once for all ranks of the look.
    job = states[0]["name"][0]
    assert [comm["local"].get("members") for comm in world] == [[[job, 0, 4]], None, None, None]
    halves = [communicator(state, name) for state, name in zip(states, ["even", "odd"] * 2)]
    assert [comm["local_rank"] for comm in halves] == [0, 0, 1, 1]
    assert halves[0]["context"] == halves[1]["context"]
    assert halves[0]["local"]["hash"] == halves[2]["local"]["hash"] != halves[1]["local"]["hash"]


def test_receives(states):
    for rank, state in enumerate(states):
        job = state["name"][0]
        receives = users(state, "receives")
        named = [operation for operation in receives if operation.get("tag") == 77]
        assert [(operation["peer"], operation["bytes"]) for operation in named] == [([job, (rank + 1) % 4], 40)]
        wild = [operation for operation in receives if operation.get("tag_any")]
        assert len(wild) == 1
        assert "peer" not in wild[0] and "peer_local" not in wild[0]
        assert state["communicators"][wild[0]["comm"]]["name"] == ["even", "odd"][rank % 2]
        assert len(receives) == (3 if rank == 1 else 2)
    waited_for = [operation for operation in users(states[1], "receives") if operation.get("tag") == 99]
    assert [operation["peer_local"] for operation in waited_for] == [3]


def test_unexpected_messages(states):
    assert [(message["peer_local"], message["tag"], message["bytes"]) for message in users(states[1], "unexpected")] \
        == [(0, 101, 44), (0, 102, 2000)]
    assert users(states[2], "unexpected") == []


def test_collectives(line, states):
    if not line.patched:
        assert all("counts" not in comm for state in states for comm in state["communicators"])
        return
    for rank, state in enumerate(states):
        world = {count["collective"]: count for count in communicator(state, "MPI_COMM_WORLD")["counts"]}
        assert world["MPI_Barrier"]["count"] == 1
        assert world.get("MPI_Bcast", {}).get("active", False) == (rank != 1)
        half = communicator(state, ["even", "odd"][rank % 2])
        assert [(call["number"], call["done"]) for call in half["calls"]] == [(3, True), (2, True), (1, True)]


def test_stacks(line, states):
    for rank, state in enumerate(states):
        main = next(thread for thread in state["threads"] if thread["tid"] == state["pid"])
        assert main["mpi_call"] == ("MPI_Recv" if rank == 1 else "MPI_Bcast")
        frame = main["frames"][main["user_frame"]]
        assert frame["function"] == "take_turn"
        assert frame["line"] == line_of(HERE / "hung.c", "wrong turn */" if rank == 1 else "right turn */")
        if line.patched:
            wait = main["waits"][-1]
            assert wait["operations"][0]["peer_local"] == 3 if rank == 1 else wait["collective"] == "MPI_Bcast"


def test_the_stock_dll(line, hung, states):
    if line.patched:
        pytest.skip("an unpatched library's job is enough")
    dll = line.prefix / "lib" / "openmpi" / "libompi_dbg_msgq.so"
    if not dll.exists():
        pytest.skip(f"{dll} is not there")
    stock, said = dump("--dll", dll, "--no-stacks", *[hung[rank] for rank in range(4)])
    assert len(stock) == 4, said
    # It knows nothing of names: the environment does, and gives the number that the library itself has.
    assert [state["name"] for state in stock] == [state["name"] for state in states]
    for rank, state in enumerate(stock):
        assert communicator(state, "MPI_COMM_WORLD")["local_rank"] == rank
        assert communicator(state, ["even", "odd"][rank % 2])["local"]["count"] == 2
        tags = [operation.get("tag") for operation in users(state, "receives")]
        assert 77 in tags
        assert state["problems"] == [{"code": "unsupported", "what": "operations",
                                      "text": "the unexpected messages cannot be read: no information"}]
    assert 99 in [operation.get("tag") for operation in users(stock[1], "receives")]


def test_a_bad_dll_costs_no_more_than_its_answer(hung):
    states, _ = dump("--dll", built("tests/rank/crashing_dll.so"), hung[1],
                     env={**os.environ, "MPIQ_TEST_CRASH_AT_LOAD": "1"})
    state = states[0]
    assert state["name"][1] == 1
    assert state["source"] == "calls"
    assert state["threads"][0]["mpi_call"] == "MPI_Recv"
    assert "crashed (signal 6, Aborted) while being loaded" in state["problems"][0]["text"]


@pytest.fixture
def asleep(tmp_path):
    """A process of another user, with nothing to say."""
    if os.geteuid() != 0:
        pytest.skip("only root may run a process as another user")
    program = tmp_path / "asleep"
    subprocess.run(["cc", "-o", program, HERE / "asleep.c"], check=True)
    for folder in (program, tmp_path, *tmp_path.parents[:3]):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    with subprocess.Popen([program], stdout=subprocess.PIPE, user=65534, group=65534, extra_groups=[]) as process:
        process.stdout.readline()
        yield process.pid
        process.kill()


def test_somebody_elses_dll_is_run_as_the_jobs_owner(asleep):
    """Root's helper gives up being root, and what it may not read itself comes over the wire."""
    dll = pathlib.Path(built("tests/rank/good_dll.so"))
    readable = all(os.stat(folder).st_mode & 0o005 == 0o005 for folder in (dll, *dll.parents))
    if not readable:
        pytest.skip(f"another user cannot read {dll}")
    states, said = dump("--dll", dll, "--no-stacks", asleep, env={**os.environ, "MPIQ_TEST_SAY_USER": "1"})
    assert states[0].get("communicators", [{}])[0].get("name") == "user 65534", (states, said)
    assert [operation["tag"] for operation in states[0]["operations"]] == [9]
