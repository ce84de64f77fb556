# SPDX-License-Identifier: BSD-3-Clause
"""mpiq on real jobs that hang, and on real jobs that do not."""


def test_answer(run, outcome):
    """The job does what it should, and the answer is what the case asks for on this library, and the recorded one."""
    result = outcome(run)
    assert not result.trouble, result.trouble
    assert not result.wrong_verdict, f"{result.wrong_verdict}\nexpected {run[0].expected}\n{result.answer}"
    assert not result.wrong_first, f"{result.wrong_first}\nexpected {run[0].expected}\n{result.answer}"
