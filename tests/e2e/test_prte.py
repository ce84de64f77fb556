# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that prun starts in one prte: each is a job of its own, whatever the others do."""
import os
import pathlib
import subprocess
import uuid

import pytest

from support import built, libraries
from support import job as jobs
from support.conditions import ended, wait_until
from support.harmless import end_marked
from support.solver_job import RANKS, SOLVER


@pytest.fixture
def prte(tmp_path):
    """Starts programs by prun: prte(word...) gives the pids of the ranks, in no order.  prte.pid is the one that runs
    them."""
    if "5.0" not in libraries.lines():
        pytest.skip("MPIQ_OMPI_50 names no Open MPI")
    line = built.line("5.0")
    programs = line.prefix / "bin"
    mark = f"mpiq-{uuid.uuid4().hex}"
    environment = {**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    solver = line.compile([SOLVER], tmp_path / "solver")
    uri = tmp_path / "uri"
    server = subprocess.Popen([programs / "prte", "--report-uri", uri], env=environment, **quiet)

    def ranks_with(words):
        said = b"".join(str(word).encode() + b"\0" for word in [solver, *words])
        return [pid for pid in jobs.marked_processes(mark) if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() == said]

    def start(*words):
        subprocess.Popen([programs / "prun", "--dvm-uri", f"file:{uri}", "--map-by", ":oversubscribe", "-n", str(RANKS), solver, *words],
                         env=environment, **quiet)
        return wait_until(lambda: len(ranks_with(words)) == RANKS and ranks_with(words), f"the ranks of {words}")

    start.pid = server.pid
    try:
        wait_until(lambda: uri.exists() and uri.read_text(encoding="utf-8"), "prte")
        yield start
    finally:
        server.terminate() # it ends its jobs
        ended(server)
        end_marked(mark)


def test_one_hangs_and_one_works(prte, mpiq):
    hung, working = prte("--hang"), prte("--steps", "100000000")
    answer = mpiq.until(lambda answer: answer.status == 1, hung[0], never=("stalled", "finished"))
    assert {rank["pid"] for rank in answer.json["ranks"]} == set(hung)
    answer = mpiq.until(lambda answer: answer.status == 0, working[0], never=("deadlock", "stalled", "finished"))
    assert {rank["pid"] for rank in answer.json["ranks"]} == set(working)
    for words in ([], [prte.pid]):
        answer = mpiq(*words)
        assert answer.status == 2
        assert f"mpiq {min(hung)} (solver, {RANKS} ranks)" in answer.err and f"mpiq {min(working)} (solver, " in answer.err
