# SPDX-License-Identifier: BSD-3-Clause
"""The example solver as a job."""

from support import job as jobs
from support.answers import ROOT
from support.conditions import wait_until

SOLVER = ROOT / "examples" / "solver.c"
RANKS = 4


class SolverJob(jobs.Job):
    """The example, which speaks of readiness in its own way: a line with its rank in a file."""

    def __init__(self, line, executable, *arguments):
        super().__init__(line, [executable, *arguments, "--ready", "said"], RANKS)

    def wait_for_last_step(self):
        said = self.directory / "said"

        def all_said():
            assert self.process.poll() is None, self.output()
            return said.exists() and len(said.read_text().split()) >= RANKS

        wait_until(all_said, "the solver's ranks at their last step")
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
