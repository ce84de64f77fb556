# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks of a program under the recorder, on each MPI library that is here, read through the recorder's DLL."""
import json
import pathlib
import subprocess

import pytest
from built import built
from two_ranks import two_ranks

HERE = pathlib.Path(__file__).resolve().parent


def dump(pid):
    """Through the recorder's DLL alone: beside it mpiq reads Open MPI's own queues too."""
    return json.loads(subprocess.run([built("tests/rank/rank-dump"), "--dll", built("mqs/libmpiq_record_msgq.so"), pid],
                                     check=True, capture_output=True).stdout)


@pytest.fixture(name="states", params=["mpich", "openmpi"])
def fixture_states(request, tmp_path):
    """The states of the two ranks of the module's PROGRAM, in the order of ranks: once both have said that they are
    ready, and the module's settled() is true of them, if it has one."""
    settled = getattr(request.module, "settled", lambda states: True)

    def settled_states(pids):
        states = [dump(pid) for pid in pids]
        return states if settled(states) else None

    with two_ranks(request.param, HERE / request.module.PROGRAM, tmp_path) as wait:
        yield wait(settled_states)
