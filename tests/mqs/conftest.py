# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that several tests of a module look at."""
import signal

import pytest
from live import Job

SIZES = {"spawn": (2, 3)}

# All that the tests of a module look at on one line.
AT_ONCE = 20


def pytest_collection_modifyitems(items):
    """Line by line within each file, so that tests share jobs: each is started once."""
    files = {}
    for item in items:
        files.setdefault(item.fspath, len(files))

    def line_of(item):
        return str(item.callspec.params.get("line", "")) if hasattr(item, "callspec") else ""

    items.sort(key=lambda item: (files[item.fspath], line_of(item)))


@pytest.fixture(scope="module")
def jobs():
    """jobs(line, case): that job, which goes on; those that were asked for before are stopped, for what polls in them
    would take processors from the others."""
    started = {} # those used last come last

    def get(line, case):
        for other in list(started.values())[-1:]:
            other.signal(signal.SIGSTOP)
        job = started.pop((line, case), None)
        if job:
            job.signal(signal.SIGCONT)
        else:
            if len(started) == AT_ONCE:
                started.pop(next(iter(started))).end()
            size, expected = SIZES.get(case, (4, None))
            job = Job(line, case, size, expected=expected)
        started[line, case] = job
        return job

    yield get
    for job in started.values():
        job.end()
