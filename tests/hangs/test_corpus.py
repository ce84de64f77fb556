# SPDX-License-Identifier: BSD-3-Clause
"""mpiq on real jobs that hang, and on real jobs that do not."""
import pytest

import corpus


def test_answer(run, outcome):
    """The job does what it should, and the answer is what the case asks for on this library, and the recorded one."""
    result = outcome(run)
    assert not result.trouble, result.trouble
    assert not result.wrong_verdict, f"{result.wrong_verdict}\nexpected {run[0].expected}\n{result.answer}"
    assert not result.wrong_first, f"{result.wrong_first}\nexpected {run[0].expected}\n{result.answer}"
    assert not result.misread, "\n".join(result.misread)


def test_arguments_are_told():
    """Of the calls in which the jobs above hang, where they ran under the recorder: otherwise nothing was compared with it."""
    hung = [result for result in corpus.results if result.line.recorded and not result.case.healthy]
    if len(hung) < 10:
        pytest.skip("few jobs hung under the recorder")
    assert sum(result.told for result in hung) > 0
    assert sum(result.requests for result in hung) > 0
