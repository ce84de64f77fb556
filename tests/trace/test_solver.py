# SPDX-License-Identifier: BSD-3-Clause
"""A real run of the solver in which one rank is slow, traced by tracer.c."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import answers, built, conditions
from test_late import check_sums

SOLVER = answers.ROOT / "examples" / "solver.c"
TRACER = pathlib.Path(__file__).with_name("tracer.c")
RANKS, SLOW, STEPS, PAUSE = 4, 2, 6, 0.25
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
               "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(name="anchor", params=["mpich", "openmpi"])
def fixture_anchor(request, mpiq, tmp_path): # pylint: disable=unused-argument
    """Its archive: rank SLOW pauses in each step."""
    compiler, mpirun = f"mpicc.{request.param}", f"mpirun.{request.param}"
    if not shutil.which(compiler) or not shutil.which(mpirun):
        pytest.skip(f"{compiler} is not installed")
    program = tmp_path / "solver"
    subprocess.run([compiler, "-g", "-O0", "-c", "-finstrument-functions", "-o", tmp_path / "solver.o", SOLVER], check=True)
    subprocess.run([compiler, "-g", "-o", program, tmp_path / "solver.o", TRACER], check=True)
    run = [program, "--steps", str(STEPS)]
    parts = [["-n", str(SLOW), *run], ["-n", "1", *run, "--pause", str(round(PAUSE * 1000))],
             ["-n", str(RANKS - SLOW - 1), *run]]
    more = ["--oversubscribe"] if request.param == "openmpi" else []
    command = [mpirun, *more, *parts[0], ":", *parts[1], ":", *parts[2]]
    conditions.run(command, check=True, env={**os.environ, **ENVIRONMENT, "TRACER_DIR": str(tmp_path)})
    lines = [line for rank in range(RANKS) for line in (tmp_path / str(rank)).read_text().splitlines()]
    offsets = sorted({word for line in lines for word in line.split() if word.startswith("0x")})
    said = subprocess.run(["addr2line", "-f", "-e", program, *offsets], check=True, capture_output=True, text=True).stdout
    names, head = {}, [f"ranks {RANKS}", "comm 0 MPI_COMM_WORLD " + ",".join(map(str, range(RANKS)))]
    for offset, name, place in zip(offsets, said.splitlines()[::2], said.splitlines()[1::2]):
        names[offset] = name
        head.append(f"region {name} solver.c {re.search(r':([0-9]+)', place)[1]}")
    lines.sort(key=lambda line: int(line.split()[1]))
    text = "\n".join(head + [re.sub(r"0x[0-9a-f]+", lambda found: names[found[0]], line) for line in lines]) + "\n"
    subprocess.run([built.built("tests/trace/make_trace"), tmp_path / "archive"], input=text, text=True, check=True)
    return tmp_path / "archive" / "traces.otf2"


def test_a_slow_rank(mpiq, anchor):
    report = check_sums(mpiq, anchor)
    line = 1 + SOLVER.read_text().splitlines().index("static void solve(struct rod *rod, const struct options *options)")
    first = max(report["delays"], key=lambda delay: delay["short_term_cost"] + delay["long_term_cost"])
    assert (first["rank"], first.get("call"), first["function"], first["file"]) == (SLOW, None, "solve", "solver.c")
    assert first["line"] in (line, line + 1) # the compiler's: of its name, or of its body
    # The pauses of all steps but the last one, after which only rank 0 waits for anybody; that much of it even on a machine
    # on which others are slow as well.
    assert first["late"] >= PAUSE * STEPS / 2
    assert report["trace"]["messages"] == STEPS * 2 * (RANKS - 1)
    assert report["trace"]["collectives"] == STEPS + 1
    assert report["trace"]["unreceived_messages"] == 0
    out = mpiq("late", anchor).out.splitlines()
    assert out[2].startswith(f"1. Rank {SLOW} at solver.c:{first['line']} (solve) is late by ")
