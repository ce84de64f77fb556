# SPDX-License-Identifier: BSD-3-Clause
"""A job that hangs, by rank."""
import pathlib

import gdb_session
from support import job as jobs

HERE = pathlib.Path(__file__).resolve().parent

RANKS = 8


class HungJob(jobs.Job):
    """A job of wrong_turn's."""

    def stuck(self):
        """Itself, once all of its ranks stay where they are."""
        self.wait_ready()
        self.stand_still()
        self.step_back()
        return self

    @property
    def pids(self):
        """{rank: pid}"""
        return {rank: pid for pid, rank in self.ready.items()}

    def make_core(self, rank, folder):
        """A core file of a rank, which runs on."""
        path = folder / ("core.%d" % rank)
        said = gdb_session.run(["gcore %s" % path], pid=self.pids[rank], load=False)
        assert path.exists(), said.both
        return path
