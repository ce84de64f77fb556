# SPDX-License-Identifier: BSD-3-Clause
"""One rank whose memory lies, in as many ways as there are seeds: what is said of the honest ranks stays right,
and comes in time."""
import os
import pathlib
import time

import pytest

from support import job as jobs
from support.answers import EXIT_STATUS, without_times
from support.conditions import in_time

HERE = pathlib.Path(__file__).resolve().parent
HONEST = "0-2"
# All of them: MPIQ_LIES=500, some five minutes.
LIES = int(os.environ.get("MPIQ_LIES", "40"))
FIRST = int(os.environ.get("MPIQ_FIRST_LIE", "1"))
AGAIN = 5
UNKNOWN = EXIT_STATUS["unknown"]
LATE = 6 # seconds, of a look that takes one: two looks, each held up by two seconds at most


class Liar:
    """The job, and the way to its rank 3."""

    def __init__(self, job, orders, answers):
        self.job = job
        self.orders = open(orders, "w", buffering=1, encoding="ascii")
        self.answers = open(answers, "rb", buffering=0)

    def lie(self, seed):
        self.orders.write(f"{seed}\n")
        assert self.answers.read(1) == b"."


@pytest.fixture(scope="module")
def liar(line, programs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("liar")
    for name in ("orders", "answers"):
        os.mkfifo(folder / name)
    executable = line.compile([HERE / "liar.c"], programs / "liar", "-ldl", "-Wl,-z,now")
    environment = {f"MPIQ_LIAR_{name.upper()}": str(folder / name) for name in ("orders", "answers")}
    with jobs.Job(line, [executable], 4, environment=environment) as job:
        job.wait_ready()
        liar = Liar(job, folder / "orders", folder / "answers")
        job.stand_still()
        job.step_back()
        yield liar


def honest_part(report):
    """What it says of ranks 0 to 2: their finding and their rows, without what passes by."""
    first = report["findings"][0]
    rows = [rank for rank in report["ranks"] if rank.get("rank") in (0, 1, 2)]
    return without_times([
        {key: first.get(key) for key in ("kind", "ranks", "steps", "sites")},
        [{key: row.get(key) for key in ("rank", "pid", "state", "call", "site", "receives", "sends")} for row in rows]])


def test_a_liar_does_not_change_what_is_said_of_honest_ranks(liar, mpiq):
    truth = mpiq.of_hung("--pause", "0.05", liar.job.pid).json
    assert (truth["findings"][0]["kind"], truth["findings"][0]["ranks"]) == ("wait_cycle", HONEST)
    expected = honest_part(truth)
    answers, wrong = [], []

    def look():
        begin = time.monotonic()
        answers.append(mpiq("--json", "--pause", "0.05", liar.job.pid))
        return time.monotonic() - begin

    for seed in range(FIRST, FIRST + LIES):
        liar.lie(seed)
        # A rank that gets no processor between the looks is not seen to poll: then nothing is known, and it is asked again.
        for _ in range(AGAIN):
            in_time(look, LATE)
            if answers[-1].status != UNKNOWN:
                break
        if answers[-1].status != 1 or honest_part(answers[-1].json) != expected:
            wrong.append((seed, answers[-1].status, answers[-1].err, answers[-1].out[:2000]))
    assert wrong == []
    assert liar.job.process.poll() is None
