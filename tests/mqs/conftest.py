# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that several tests of a module look at; a case is started once a line."""

import pytest

from live import Job

SIZES = {"spawn": (2, 3)}


@pytest.fixture(scope="module")
def jobs():
    started = {}

    def get(line, case):
        if (line, case) not in started:
            size, expected = SIZES.get(case, (4, None))
            started[line, case] = Job(line, case, size, expected=expected)
        return started[line, case]

    yield get
    for job in started.values():
        job.end()
