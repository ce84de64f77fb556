# SPDX-License-Identifier: BSD-3-Clause
"""A million random calls from four threads at once: every count is exact."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from support.built import built, recorder
from support.conditions import wait_until

HERE = pathlib.Path(__file__).resolve().parent
THREADS = 4


def number(text):
    return int(text, 16)


def run(command, environment, ready):
    """The program's counts, the recorder's state once the program idles, and the program's error output."""
    said = ready.with_name("said")
    with said.open("w") as err, subprocess.Popen(command, env=environment, stderr=err) as job:
        try:
            wait_until(lambda: job.poll() is not None or ready.exists() and ready.read_text().endswith("\n"),
                       said.read_text, seconds=300)
            if job.poll() == 77:
                pytest.skip("there is no MPI_THREAD_MULTIPLE here")
            assert job.poll() is None, said.read_text()
            pid, *counted = map(int, ready.read_text().split())
            dump = [built("tests/rank/rank-dump"), "--dll", built("mqs/libmpiq_record_msgq.so"), str(pid)]
            state = json.loads(subprocess.run(dump, check=True, capture_output=True).stdout)
        finally:
            job.terminate()
    workers = [counted[4 * i:4 * i + 4] for i in range(THREADS)] # messages, bytes, barriers, allreduces
    return workers, state, said.read_text()


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_counts_are_exact_with_threads(library, tmp_path):
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    program, ready = tmp_path / "threads", tmp_path / "ready"
    subprocess.run([f"mpicc.{library}", "-g", "-O1", "-pthread", "-o", program, HERE / "threads.c"], check=True)
    environment = {**os.environ, "MPIQ_RECORDER": str(recorder()),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [HERE / "prefix" / library / "bin" / "mpirun", "-n", "1", program, ready]
    workers, state, _ = run(command, environment, ready)
    check_counts(workers, state, least=10000)
    assert "problems" not in state


@pytest.mark.whole # the recorder is compiled anew for it
def test_threads_do_not_race(tmp_path):
    """The recording code under the thread sanitizer, on a library in which no thread waits for another."""
    recorder, stub = HERE.parents[1] / "recorder", tmp_path / "libstub.so"
    program, ready = tmp_path / "threads", tmp_path / "ready"
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=thread", "-pthread", f"-I{HERE / 'stub'}"]
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }")
    if subprocess.run(["gcc", *flags, probe, "-o", tmp_path / "probe"], capture_output=True).returncode:
        pytest.skip("gcc has no thread sanitizer here")
    subprocess.run(["gcc", *flags, "-fPIC", "-shared", "-o", stub, HERE / "stub" / "stub.c"], check=True)
    subprocess.run(["gcc", *flags, "-fexceptions", "-fvisibility=hidden", f"-I{HERE.parents[1] / 'include'}",
                    f"-I{recorder}", *sorted(recorder.glob("*.c")), HERE / "threads.c", stub, "-ldl", "-o", program], check=True)
    options = "halt_on_error=0 exitcode=66"
    environment = {**os.environ, "TSAN_OPTIONS": options}
    workers, state, said = run([program, ready, "25000"], environment, ready)
    assert "ThreadSanitizer" not in said, said
    check_counts(workers, state, least=1000)
    # With neighbourhood and persistent collectives and windows.  Calls of all windows are noted in one ring of the process: a note may be written over while it is made.
    suppressed = tmp_path / "suppressed"
    suppressed.write_text("race:^collective_begin$\nrace:^end_blocking$\n")
    ready.unlink()
    environment["TSAN_OPTIONS"] = f"{options} suppressions={suppressed}"
    workers, state, said = run([program, ready, "25000", "more"], environment, ready)
    assert "WARNING: ThreadSanitizer" not in said, said
    check_counts(workers, state, least=1000)
    names = [comm["name"] for comm in state["communicators"]]
    windows = {names[window.get("comm", 0)]: window["fences"] for window in state["windows"]}
    assert windows == {f"own {i}": 11 + i for i in range(THREADS)} # all others are freed


def check_counts(workers, state, least):
    by_name = {comm["name"]: comm for comm in state["communicators"]}
    check_messages(by_name["shared"]["channels"][0], workers, least)
    for i, (_, _, barriers, allreduces) in enumerate(workers):
        own = by_name[f"own {i}"]
        counts = {one["collective"]: one["count"] for one in own["counts"]}
        windows = [counts.pop(f"MPI_Win_{call}", 0) for call in ("create", "free", "fence")]
        more = [counts.pop(f"MPI_{call}", 0)
                for call in ("Neighbor_allgather", "Ineighbor_allgather", "Allreduce_init")]
        assert more == [more[0], more[0], 2 * more[0]] and (more[0] > 0) == (windows[0] > 0)
        assert counts == {"MPI_Barrier": barriers, "MPI_Allreduce": allreduces}
        assert own["ordered"] == barriers + allreduces + windows[0] + 3 * more[0] # a start is not ordered
        assert not any(one.get("active") for one in own["counts"])
    assert "operations" not in state # no request is left
    assert len(state["history"]) >= THREADS * 255 # of threads that have ended, too


def check_messages(channel, workers, least):
    messages = sum(worker[0] for worker in workers)
    sizes = sum(worker[1] for worker in workers)
    assert messages > least
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
