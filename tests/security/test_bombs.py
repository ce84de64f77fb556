# SPDX-License-Identifier: BSD-3-Clause
"""Small snapshots that are gigabytes, or an hour's work, for whoever believes them."""
import json
import os
import shutil

import pytest
from snapshots import RANK, snapshot, zstd
from support import conditions

KILOBYTES = 256 << 10
SECONDS = 5 # of the processor
MANY = 1 << 17


@pytest.fixture(autouse=True)
def has_tools():
    for name in ("zstd", "time"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def world(rank, members, **more):
    return json.dumps({**RANK, "name": [7, rank], "pid": rank + 1, "communicators": [{
        "name": "c", "local_rank": 0, "context": ["0x0", hex(rank)],
        "local": {"hash": hex(rank + 1), "count": sum(run[2] for run in members), "members": members}}], **more})


LARGE = {
    "members": [world(0, [[7, 0, 1 << 20]] * 40)],
    "groups": [world(rank, [[7, rank, 1000000]]) for rank in range(60)],
    "line": ['{"host":"' + "a" * (200 << 20) + '"}'],
    "operations": ['{"communicators":[{"local":{"hash":1,"count":1}}],"operations":[' + ",".join(
        ['{"queue":"sends"}'] * (4 << 20)) + "]}"],
    "ranks": [json.dumps({**RANK, "name": [7, rank]}) for rank in range(40000)],
    "size": [json.dumps({**RANK, "world_size": 1000000})],
    "a rank": [world(0, [[7, 0, 1], [7, 999999, 1]])],
    "worlds": [json.dumps({**RANK, "name": [number, 100000], "world_size": 100001, "pid": number + 1})
               for number in range(200)],
}

PAIR = {"hash": "0x5", "count": 2, "members": [[7, 0, 2]]}


def rank(number, **more):
    return {**RANK, "name": [7, number], "world_size": 2, "pid": number + 1, "source": "patched", "phase": "running",
            "queues_read": 1, **more}


def communicators(*handles, **more):
    return [{"handle": hex(handle), "local": {"hash": 1, "count": 1}, **more} for handle in handles]


def in_pair(number, **more):
    return [{"local": PAIR, "local_rank": number, **more}]


def messages(queue, first, count, **more):
    return [{"queue": queue, "comm": 0, "tag": first + i, "request": hex(first + i + 1), **more} for i in range(count)]


# Each of which had somebody go through all of them for each of them.
LONG = {
    "parents": [rank(0, communicators=communicators(*range(1, MANY), parent="0xffffffff"))],
    "handles": [(1, rank(0, communicators=communicators(*range(1, MANY)))),
                (2, rank(0, communicators=communicators(*range(MANY, 1, -1))))],
    "threads": [(look, rank(0, threads=[{"tid": i} for i in range(MANY)])) for look in (1, 2)],
    "unexpected": [rank(0, communicators=in_pair(0), operations=[
        *messages("receives", 0, MANY, kind="receive", peer_local=-1),
        *messages("unexpected", MANY, MANY, kind="message", peer_local=1, peer=[7, 1])])],
    "jobs": [rank(0, communicators=[{"local_rank": 0, "local": {
        "hash": "0x5", "count": MANY, "members": [[i, 0, 1] for i in range(MANY)]}}])],
    "waits": [rank(0, communicators=in_pair(0), threads=[{"tid": 1, "waits": [{
        "kind": "all", "call": "MPI_Waitall", "need": MANY,
        "operations": messages("wait", 0, MANY, kind="receive", peer_local=1, peer=[7, 1])}]}])],
    "calls": [rank(number, communicators=in_pair(number, calls=[
        {"number": i, "collective": name} for i in range(MANY)])) for number, name in
              enumerate(("MPI_Bcast", "MPI_Barrier"))],
    "outstanding": [rank(number, communicators=in_pair(number, outstanding=[
        {"number": i, "collective": name, "request": hex(i + 1)} for i in range(MANY)])) for number, name in
                    enumerate(("MPI_Ibcast", "MPI_Ibarrier"))],
    "history": [rank(0, communicators=in_pair(0), history=[
        {"call": f"MPI_Send{i}", "begin_ns": i, "tid": i} for i in range(MANY)])],
    "facts": [rank(0, held=True, facts=[{"kind": "sent", "peer": 1, "tag": i, "count": 1} for i in range(MANY)])],
    "windows": [rank(0, communicators=in_pair(0), windows=[
        {"handle": hex(i), "id": ["0x0", hex(i)], "comm": 0, "local_rank": 0} for i in range(MANY)])],
    "locks": [rank(0, communicators=in_pair(0), windows=[
        {"comm": 0, "local_rank": 0, "locks": [{"target_local": 1}] * MANY}])],
    "problems": [rank(0, problems=[{"code": "corrupt", "what": f"w{i}", "text": f"t{i}"} for i in range(MANY)])],
    "frames": [rank(0, threads=[{"tid": 1, "frames": [{"function": f"f{i}"} for i in range(MANY)]}])],
}
# What is left of it once what is too much, or contradicts itself, is refused: ranks that may be computing.
READABLE = {"facts"}
VIEWS = {"report": ["report"], "json": ["report", "--json"], "html": ["report", "--html", "page.html"],
         "doctor": ["doctor"], "queues": ["queues"], "comms": ["comms"], "collectives": ["collectives"],
         "ranks": ["ranks"], "why": ["why", "0"], "history": ["history", "0"]}


def cost(mpiq, folder, view, path):
    """The answer's exit status and the kilobytes that it took, in less than SECONDS of processor time."""
    found = []

    def seconds():
        limit = round(4 * SECONDS * conditions.processor_slowness())
        done = conditions.run(["prlimit", f"--cpu={limit}", "time", "-f", "%M %U %S", mpiq.path, *VIEWS[view], path],
                              seconds=600, cwd=folder, encoding="utf-8", errors="replace")
        most, user, system = done.stderr.split()[-3:]
        found[:] = done.returncode, int(most)
        return float(user) + float(system)

    conditions.in_time(seconds, SECONDS, conditions.processor_slowness)
    return found


@pytest.mark.parametrize("name", LARGE)
def test_a_small_file_takes_little(name, mpiq, tmp_path):
    """A few hundred bytes, or kilobytes, that say that they are gigabytes."""
    status, kilobytes = cost(mpiq, tmp_path, "report", snapshot(tmp_path / "bomb.mpiq", *LARGE[name]))
    assert status == 3
    assert kilobytes < KILOBYTES


def test_folded_ranks_take_little(mpiq, tmp_path):
    """One rank with a long list, and two thousand that are as it is: 200 bytes."""
    one = json.dumps({**RANK, "world_size": 2000, "communicators": [{"local": {"hash": 1, "count": 1}}],
                      "operations": [{"queue": "sends"}] * 20000})
    path = tmp_path / "bomb.mpiq"
    path.write_bytes(b"mpiq snapshot 2\n" + zstd(f"1=1 {one}\n" + "+1\n" * 1900))
    status, kilobytes = cost(mpiq, tmp_path, "report", path)
    assert status == 3
    assert kilobytes < KILOBYTES


@pytest.mark.parametrize("name", LONG)
def test_a_long_list_takes_no_longer_than_it_is(name, mpiq, tmp_path):
    path = snapshot(tmp_path / "bomb.mpiq", *LONG[name])
    for view in VIEWS if os.environ.get("MPIQ_ALL_VIEWS") else ("report", "html"):
        status, _ = cost(mpiq, tmp_path, view, path)
        if view != "doctor": # it speaks of the machine
            assert status == (0 if name in READABLE else 3), view
