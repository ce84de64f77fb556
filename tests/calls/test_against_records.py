# SPDX-License-Identifier: BSD-3-Clause
"""What MPI calls were given by their callers' code, against what the recorder saw: hung programs of the corpus.

Nothing that is told may be wrong.  MPIQ_CALLS=all takes every program that hangs; else those of three families.
"""
import os
import pathlib
import shutil
import subprocess

import pytest
from support import call_records
from support import job as jobs
from support import libraries

import corpus
import hung

JUMP = pathlib.Path(__file__).with_name("jump.c")
LOOPS = JUMP.with_name("loops.c")
LINES = ["openmpi+record", "mpich+record"]
# Of each program in loops.c: how many calls may have made the requests, and whether something else may have.
FILLED = {"made_at_two_places": (2, False), "one_is_made_elsewhere": (1, True), "one_is_stored": (1, True),
          "all_are_stored": (0, False), "where_all_may_write": (1, True), "one_of_two_arrays": (1, False)}


def save(mpiq, line, words, snapshot, ranks=2, spawned=0):
    """A snapshot of a job whose ranks stand still in what they call last."""
    with jobs.Job(line, words, ranks) as job:
        job.wait_ready(ranks + spawned)
        job.stand_still()
        job.step_back()
        subprocess.run([mpiq, "snapshot", "-o", snapshot, str(job.pid)], check=False, capture_output=True)


@pytest.mark.parametrize("name", LINES)
def test_arguments_agree_with_records(name, mpiq, tmp_path):
    """No argument that is told differs from the recorder's, and some are told."""
    if not shutil.which(f"mpirun.{name.split('+', maxsplit=1)[0]}") or not shutil.which("zstd"):
        pytest.skip("the MPI library or zstd is not installed")
    line = libraries.line(name)
    wrong, told, requests = [], 0, 0
    for case, executable in hung.programs(line, tmp_path, os.environ.get("MPIQ_CALLS") == "all"):
        snapshot = tmp_path / f"{case.name}.mpiq"
        save(mpiq, line, [executable, case.program], snapshot, case.ranks, case.get("spawned", 0))
        differ, some, some_requests = call_records.differences_in(snapshot)
        wrong += [f"{case.name}, {text}" for text in differ]
        told, requests = told + some, requests + some_requests
    print(f"{name}: {told} arguments told, {requests} requests")
    assert not wrong, "\n".join(wrong)
    assert told > 0 and requests > 0


@pytest.mark.parametrize("options", ["-O0", "-O2"])
@pytest.mark.parametrize("name", LINES)
def test_who_has_filled_an_array_of_requests(name, options, mpiq, tmp_path):
    """The calls of the same function, if its code says that no others can have."""
    if not shutil.which(f"mpirun.{name.split('+', maxsplit=1)[0]}") or not shutil.which("zstd"):
        pytest.skip("the MPI library or zstd is not installed")
    line = libraries.line(name)
    executable = line.compile([LOOPS, corpus.HERE / "corpus.c"], tmp_path / "loops", options, f"-I{corpus.HERE}")
    told = {}
    for program in FILLED:
        snapshot = tmp_path / f"{program}.mpiq"
        save(mpiq, line, [executable, program], snapshot)
        wrong, _, _ = call_records.differences_in(snapshot)
        assert not wrong, "\n".join(wrong)
        makers = [call_records.makers_of(thread) for state in call_records.rank_states(snapshot)
                  for thread in state.get("threads", []) if "MPI_Waitall" in thread.get("mpi_call", "")]
        told[program] = {(len(places), others) for places, others in makers}
    for program, (count, others) in FILLED.items():
        # Where a spilled address looks as if it were passed on, something else may always have made one.
        assert told[program] in ({(count, others)}, {(count, options != "-O0" and count > 0 or others)}), (program, told)


@pytest.mark.parametrize("name", LINES)
def test_a_variable_may_come_back_with_another_request(name, mpiq, tmp_path):
    """After a second return of setjmp() nothing is known of what was in memory at the first."""
    if not shutil.which(f"mpirun.{name.split('+', maxsplit=1)[0]}") or not shutil.which("zstd"):
        pytest.skip("the MPI library or zstd is not installed")
    line = libraries.line(name)
    executable = line.compile([JUMP, corpus.HERE / "corpus.c"], tmp_path / "jump", f"-I{corpus.HERE}")
    snapshot = tmp_path / "jump.mpiq"
    save(mpiq, line, [executable, "waits_after_a_jump"], snapshot)
    wrong, _, _ = call_records.differences_in(snapshot)
    assert not wrong, "\n".join(wrong)
    assert any("MPI_Wait" in thread.get("mpi_call", "") for state in call_records.rank_states(snapshot)
               for thread in state.get("threads", []))
