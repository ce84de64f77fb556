# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks of a program under the recorder, on each installed MPI library, read through the recorder's DLL."""
import json
import pathlib
import subprocess

import pytest

from support.built import built
from two_ranks import two_ranks

HERE = pathlib.Path(__file__).resolve().parent


def dump(pid):
    """Reads through the recorder's DLL alone; mpiq would also read Open MPI's own queues."""
    return json.loads(subprocess.run([built("tests/rank/rank-dump"), "--dll", built("mqs/libmpiq_record_msgq.so"), pid],
                                     check=True, capture_output=True).stdout)


@pytest.fixture(name="states", params=["mpich", "openmpi"])
def fixture_states(request, tmp_path):
    """The states of the two ranks of the module's PROGRAM, in rank order, once both are ready and the module's
    settled(), if any, accepts them."""
    settled = getattr(request.module, "settled", lambda states: True)

    def settled_states(pids):
        states = [dump(pid) for pid in pids]
        return states if settled(states) else None

    with two_ranks(request.param, HERE / request.module.PROGRAM, tmp_path) as wait:
        yield wait(settled_states)
