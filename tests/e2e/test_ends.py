# SPDX-License-Identifier: BSD-3-Clause
"""mpiq run of a job that ends by an error or a crash: which rank ended first, by what, at which line, and what the
others were doing."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import uuid

import pytest

from support import built
from support import conditions
from support import job as jobs
from support.harmless import kill_marked
from support.schema import misfit

SOURCE = pathlib.Path(__file__).resolve().parent / "ends.c"
LINES = {mark: number for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
         for mark in re.findall(r"/\* (\w+) \*/$", text)}

# What the report's first line says after "rank 1".
ENDS = {
    "abort": ("abort", f"called MPI_Abort with code 7 at ends.c:{LINES['abort']}"),
    "exit": ("exit", f"exited with status 3 at ends.c:{LINES['exit']}, without MPI_Finalize"),
    "_exit": ("exit", f"exited with status 4 at ends.c:{LINES['_exit']}, without MPI_Finalize"),
    "segv": ("signal", f"was ended by SIGSEGV at ends.c:{LINES['segv']}"),
    "assert": ("signal", f"was ended by SIGABRT at ends.c:{LINES['assert']}"),
    "kill": ("signal", "was ended first, by SIGKILL (out of memory, or killed from outside)"),
    "truncate": ("error", f"failed in MPI_Recv at ends.c:{LINES['truncate']} with MPI_ERR_TRUNCATE"),
    "rank": ("error", f"failed in MPI_Send at ends.c:{LINES['rank']} with MPI_ERR_RANK"),
    "returned": ("exit", f"exited with status 3 at ends.c:{LINES['exit']}, without MPI_Finalize"),
}


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def library(request):
    if not shutil.which(f"mpicc.{request.param}"):
        pytest.skip(f"mpicc.{request.param} is not installed")
    return request.param


@pytest.fixture(scope="session")
def program(library, tmp_path_factory):
    path = tmp_path_factory.mktemp(library) / "ends"
    subprocess.run([f"mpicc.{library}", "-g", "-O0", SOURCE, "-o", path], check=True)
    return path


def members(ranks):
    """The numbers in "0,2-3"."""
    for part in ranks.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def words_of(library, program, how, ranks):
    return [f"mpirun.{library}", *(["--oversubscribe"] if library == "openmpi" else []), "-n", str(ranks), program, how]


def marked(mark):
    return {**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark}


def status_alone(library, program, how, directory):
    """The exit status of the job without mpiq run."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    try:
        return conditions.run(words_of(library, program, how, 4), seconds=120, env=marked(mark), cwd=directory).returncode
    finally:
        kill_marked(mark)


def run(library, program, how, directory, ranks=4):
    """(exit status of mpiq run, what it printed, its JSON or None)."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    answer = directory / "answer.json"
    try:
        done = conditions.run([built.mpiq_program(), "run", "--json-to", answer, "--", *words_of(library, program, how, ranks)],
                              seconds=120, env=marked(mark), cwd=directory)
    finally:
        kill_marked(mark)
    return done.returncode, done.stderr, json.loads(answer.read_text()) if answer.exists() else None


@pytest.mark.parametrize("how", ENDS)
def test_the_first_rank_that_ended_is_named(library, program, how, tmp_path):
    by, words = ENDS[how]
    status, said, report = run(library, program, how, tmp_path)
    if library == "openmpi":
        assert status == status_alone(library, program, how, tmp_path), said
    else:
        assert status != 0, said # MPICH adds up those that it has seen end
    assert f"finished: the job ended: rank 1 {words} (" in said, said
    assert report["verdict"] == "finished"
    assert not misfit(report)
    (gone,) = [finding for finding in report["findings"] if finding["kind"] == "rank_gone"]
    assert (gone["ranks"], gone["ending"]["by"]) == ("1", by)
    cause = report["findings"][gone.get("consequence_of", report["findings"].index(gone))]
    assert cause["kind"] == ("truncation" if how == "truncate" else "rank_gone")
    assert cause["suspects"] == "1"
    # The launcher may have ended some before they came further: these may share a line with rank 1.
    places = {None: None, "MPI_Barrier": LINES["barrier"], "MPI_Send": LINES["send"], "MPI_Recv": LINES["receive"],
              "MPI_Bcast": LINES["bcast"]}
    others = [line for line in cause["evidence"] if line["ranks"] != "1"]
    assert sorted(rank for line in others for rank in members(line["ranks"]) if rank != 1) == [0, 2, 3], said
    for line in others:
        call = line.get("call")
        assert call in places and (not call or line["site"]["line"] == places[call]), said


@pytest.mark.parametrize("how, kind", [("swapped", "collective_mismatch"), ("lengths", "collective_argument_mismatch")])
def test_what_does_not_fit_is_the_cause_and_the_end_follows(library, program, how, kind, tmp_path):
    if (library, how) == ("mpich", "swapped"):
        pytest.skip("MPICH hangs in it instead")
    _, said, report = run(library, program, how, tmp_path)
    cause, gone = report["findings"]
    assert (cause["kind"], gone["kind"], gone["consequence_of"]) == (kind, "rank_gone", 0), said
    assert gone["ending"]["by"] == "error" and gone["ending"]["error_class"] == "MPI_ERR_TRUNCATE", said
    if how == "swapped":
        assert f"rank 1 called MPI_Ireduce at ends.c:{LINES['ireduce']}" in cause["text"], said
        assert report["notes"] == []
    else:
        assert f"ank 0 called MPI_Bcast with 32 bytes at ends.c:{LINES['lengths']}" in cause["text"], said


def test_a_status_after_the_end_of_mpi(library, program, tmp_path):
    status, said, _ = run(library, program, "status", tmp_path)
    assert status != 0
    assert re.search(r"^finished: the job ended: rank ([1-3]) exited with status \1, after MPI_Finalize ", said, re.M), said


def test_what_several_ranks_did_alike_is_no_ones_fault(library, program, tmp_path):
    """Ranks that all exit with the same status after MPI_Finalize are one cause, and nobody is suspected."""
    _, said, report = run(library, program, "alike", tmp_path)
    (gone,) = report["findings"]
    assert re.search(r"^finished: the job ended: ranks? [0-3]", said, re.M), said
    assert "exited with status 5, after MPI_Finalize" in gone["text"], said
    alone = len(list(members(gone["ranks"]))) == 1 # the launcher ended the others before
    assert alone or not gone.get("suspects"), said


def test_a_command_that_fails_after_a_job_that_did_not(library, program, tmp_path):
    script = tmp_path / "script.sh"
    oversubscribe = "--oversubscribe" if library == "openmpi" else ""
    script.write_text(f"mpirun.{library} -n 3 {oversubscribe} {program} well\nexit 9\n")
    done = conditions.run([built.mpiq_program(), "run", "--", "sh", script], seconds=120,
                          env={**os.environ, **jobs.AS_ROOT}, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (9, "")


def test_many_ranks(library, program, tmp_path):
    _, said, report = run(library, program, "segv", tmp_path, ranks=32)
    assert "the job ended: rank 1 was ended by SIGSEGV" in said, said
    assert len(report["ranks"]) == 32


def test_nothing_is_left(library, program, tmp_path, monkeypatch):
    with tempfile.TemporaryDirectory(prefix="left-") as folder: # its own: other tests use /tmp meanwhile
        monkeypatch.setenv("TMPDIR", folder)
        before = set(os.listdir("/dev/shm"))
        run(library, program, "abort", tmp_path)
        after = set(os.listdir(folder)) | set(os.listdir("/dev/shm"))
    assert not [name for name in after - before if "mpiq" in name]
