# SPDX-License-Identifier: BSD-3-Clause
"""The example solver as a job."""
import time

from support import job as jobs
from support.answers import ROOT

SOLVER = ROOT / "examples" / "solver.c"
RANKS = 4


class SolverJob(jobs.Job):
    """The example, which speaks of readiness in its own way: a line with its rank in a file."""

    def __init__(self, line, executable, *arguments):
        super().__init__(line, [executable, *arguments, "--ready", "said"], RANKS)

    def wait_for_last_step(self, seconds=60):
        said = self.directory / "said"
        end = time.monotonic() + seconds
        while not said.exists() or len(said.read_text().split()) < RANKS:
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < end, "the solver's ranks did not come to their last step"
            time.sleep(0.02)
        for pid in self.processes():
            rank = jobs.rank_of(pid)
            if rank is not None:
                self.said_ready(pid, rank)
        assert len(self.ready) == RANKS
        return self

    @property
    def pids(self):
        """{rank: pid}"""
        return {rank: pid for pid, rank in self.ready.items()}
