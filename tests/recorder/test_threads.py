# SPDX-License-Identifier: BSD-3-Clause
"""A million random calls from four threads at once: every count is exact."""
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
THREADS = 4


def number(text):
    return int(text, 16)


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_counts(library, tmp_path):
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    build = pathlib.Path(os.environ["MPIQ_BUILD"])
    program, ready = tmp_path / "threads", tmp_path / "ready"
    subprocess.run([f"mpicc.{library}", "-g", "-O1", "-pthread", "-o", program, HERE / "threads.c"], check=True)
    environment = {**os.environ, "MPIQ_RECORDER": str(build / "recorder/libmpiq_record.so"),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with subprocess.Popen([HERE / "prefix" / library / "bin" / "mpirun", "-n", "1", program, ready],
                          env=environment) as job:
        try:
            end = time.monotonic() + 300
            while not ready.exists() or not ready.read_text().endswith("\n"):
                if job.poll() == 77:
                    pytest.skip(f"{library} has no MPI_THREAD_MULTIPLE here")
                assert job.poll() is None and time.monotonic() < end
                time.sleep(0.1)
            pid, *counted = map(int, ready.read_text().split())
            state = json.loads(subprocess.run([build / "tests/rank/rank-dump", str(pid)], check=True,
                                              capture_output=True).stdout)
        finally:
            job.terminate()
    workers = [counted[4 * i:4 * i + 4] for i in range(THREADS)] # messages, bytes, barriers, allreduces
    by_name = {comm["name"]: comm for comm in state["communicators"]}
    check_messages(by_name["shared"]["channels"][0], workers)
    for i, (_, _, barriers, allreduces) in enumerate(workers):
        own = by_name[f"own {i}"]
        assert {one["collective"]: one["count"] for one in own["counts"]} == {
            "MPI_Barrier": barriers, "MPI_Allreduce": allreduces}
        assert own["ordered"] == barriers + allreduces
        assert not any(one.get("active") for one in own["counts"])
    assert "operations" not in state # no request is left
    assert "problems" not in state
    assert len(state["history"]) >= THREADS * 255 # of threads that have ended, too


def check_messages(channel, workers):
    messages = sum(worker[0] for worker in workers)
    sizes = sum(worker[1] for worker in workers)
    assert messages > 10000
    assert (channel["sent"], channel["expected"]) == (messages + 1, messages + 1) # the numbers of the next
    assert channel["counted"] and channel["bytes_known"] and "unclear" not in channel
    for received in (False, True):
        tags = [one for one in channel["tags"] if one.get("received", False) == received]
        single = {number(one["tags"]): (number(one["messages"]), number(one["bytes"]))
                  for one in tags if "cell" not in one}
        cells = [one for one in tags if "cell" in one]
        for tag, counts in single.items():
            assert counts == tuple(workers[tag - 1][:2])
        # the tags beyond those counted one by one stand once in each of three tables
        rest = [worker for tag, worker in enumerate(workers, 1) if tag not in single]
        assert sum(number(one["messages"]) for one in cells) == 3 * sum(worker[0] for worker in rest)
        assert sum(number(one["bytes"]) for one in cells) == 3 * sum(worker[1] for worker in rest)
        assert sum(counts[1] for counts in single.values()) + sum(worker[1] for worker in rest) == sizes
