# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that several tests of a module look at."""
import pytest
from live import Job

SIZES = {"spawn": (2, 3)}

# Cases come one after the other on the four lines; the ranks of more would be in each other's way.
AT_ONCE = 8


@pytest.fixture(scope="module")
def jobs():
    started = {} # those used last come last

    def get(line, case):
        job = started.pop((line, case), None)
        if job is None:
            if len(started) == AT_ONCE:
                started.pop(next(iter(started))).end()
            size, expected = SIZES.get(case, (4, None))
            job = Job(line, case, size, expected=expected)
        started[line, case] = job
        return job

    yield get
    for job in started.values():
        job.end()
