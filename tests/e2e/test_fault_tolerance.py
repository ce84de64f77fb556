# SPDX-License-Identifier: BSD-3-Clause
"""A job that hangs in an operation of fault tolerance: who is missing and where the others are. Not proven: a revoked
communicator or a failed process would end these waits."""
import pytest

from support import job as jobs
from support.answers import ROOT, line_of

SOURCE = ROOT / "tests" / "e2e" / "agree.c"


@pytest.fixture(name="hung_in", scope="module")
def fixture_hung_in(line, programs):
    """Starts the program, hung in one of the three."""
    if not list(line.prefix.glob("include/mpi-ext.h")) or line.release == "4.1":
        pytest.skip(f"Open MPI {line.release} has no fault tolerance")
    program = line.compile([SOURCE], programs / line.name / "agree")
    started = []

    def start(how):
        started.append(jobs.Job(line, [program, how], 3, options=("--with-ft", "ulfm")))
        started[-1].wait_ready()
        started[-1].stand_still()
        return started[-1]

    yield start
    for job in started:
        job.end()


@pytest.mark.parametrize("how, call, collective", [("agree", "MPIX_Comm_agree", "MPIX_Comm_agree"),
                                                   ("shrink", "MPIX_Comm_shrink", "MPIX_Comm_shrink"),
                                                   ("iagree", "MPI_Wait", "MPIX_Comm_iagree")])
def test_the_missing_rank_is_named(hung_in, mpiq, how, call, collective):
    answer = mpiq("--json", hung_in(how).pid)
    assert (answer.status, answer.json["verdict"]) == (3, "unknown")
    finding = answer.json["findings"][0]
    assert (finding["kind"], finding["proven"]) == ("collective_incomplete", False)
    assert (finding["collective"], finding["ranks"], finding["missing"]) == (collective, "0,2", "1")
    sites = [(site["ranks"], site["call"], site["function"], site["line"]) for site in finding["sites"]]
    assert sites == [("0,2", call, "mpix_decide", line_of(SOURCE, f"line of the {how} ")),
                     ("1", "MPI_Recv", "main", line_of(SOURCE, "line of the receive"))]
