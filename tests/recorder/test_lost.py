# SPDX-License-Identifier: BSD-3-Clause
"""A list of requests that is not whole is not taken for one."""
PROGRAM = "lost.c"


def test_queues_count_as_unread(states):
    full, empty = states
    assert "queues_read" not in full and empty["queues_read"] == 1
    assert "operations" not in full
    assert {problem["what"] for problem in full["problems"]} == {"queues"}
