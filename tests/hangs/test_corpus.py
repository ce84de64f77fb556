# SPDX-License-Identifier: BSD-3-Clause
"""mpiq on real jobs that hang, and on real jobs that do not."""
import pytest

import corpus
from support import libraries

# Of the jobs that hang, for how many the first finding has to name the ranks and the call at fault.
SHARE_NAMED = 0.95
# The same, and the proof, on a stock library under the recorder.
SHARE_RECORDED = 0.8


def test_verdict(run, outcome):
    """The verdict is right, and the job does what it should."""
    result = outcome(run)
    assert not result.trouble, result.trouble
    assert not result.wrong_verdict, f"{result.wrong_verdict}\nexpected {run[0].expected}\n{result.answer}"


@pytest.mark.parametrize("name", [line.name for line in libraries.sample() if line.recorded])
def test_recorder_proves_and_names(name):
    """Under the recorder, most verdicts and first findings are those of a patched library (docs/STOCK.md: which not)."""
    hung = [result for result in corpus.results if result.line.name == name and result.case.firsts]
    if not hung:
        pytest.skip(f"no job that hangs was looked at on {name}")
    weaker = [f"{result.case.name}: {result.verdict}, {result.wrong_first}" for result in hung
              if result.wrong_first or result.verdict not in result.case.verdicts]
    assert len(weaker) <= (1 - SHARE_RECORDED) * len(hung), "\n".join(weaker)


def test_first_findings_name_the_fault():
    """On the patched lines, the first finding names the ranks and the call."""
    hung = [result for result in corpus.results if result.line.patched and result.case.firsts]
    if not hung:
        pytest.skip("no job that hangs was looked at")
    wrong = [f"{result.line.name} {result.case.name}: {result.wrong_first}"
             for result in hung if result.wrong_first or result.wrong_verdict]
    assert len(wrong) <= (1 - SHARE_NAMED) * len(hung), "\n".join(wrong)
