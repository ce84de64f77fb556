# SPDX-License-Identifier: BSD-3-Clause
"""An incomplete list of requests is not taken for a complete one."""
PROGRAM = "lost.c"


def test_queues_count_as_unread(states):
    full, empty = states
    assert "queues_read" not in full and empty["queues_read"] == 1
    assert "operations" not in full
    assert {problem["what"] for problem in full["problems"]} == {"queues"}
