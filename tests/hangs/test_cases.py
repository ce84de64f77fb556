# SPDX-License-Identifier: BSD-3-Clause
"""The cases themselves, and the one who runs them."""
import re

import pytest

import corpus
from support import built
from support import job as jobs
from support import libraries


def test_corpus_is_large_enough():
    """80 programs that hang, 40 that do not; 40 again on two hosts; no name in two families."""
    cases = corpus.load()
    hang = [case for case in cases if case.firsts and not case.two_hosts]
    assert len(hang) >= 80
    assert len([case for case in cases if case.healthy and not case.two_hosts]) >= 40
    assert len([case for case in cases if case.two_hosts]) >= 40
    names = [case.name for case in cases]
    assert len(names) == len(set(names))


def test_each_program_is_expected():
    """Each case in the sources has its expectation, and the other way round."""
    for family in corpus.families():
        source = (corpus.HERE / f"{family}.c").read_text(encoding="utf-8")
        written = set()
        for macro, name in re.findall(r"^(CASE\w*|SKIPPED|SWAPPED|OTHERS_IN_BARRIER|ONE_OF_FOUR|EAGER_WITHOUT_ROOM|RANK_1)\((\w+)",
                                      source, re.M):
            written.add(name + {"SKIPPED": "_skipped", "SWAPPED": "_swapped",
                                 "ONE_OF_FOUR": "_skipped_among_others"}.get(macro, ""))
        expected = {case.program for case in corpus.load() if case.family == family}
        assert written == expected, family


@pytest.mark.parametrize("program, advances", [("another_thread_sleeps", False), ("two_threads_play", True)])
def test_job_that_does_not_advance_is_seen(program, advances, mpiq, tmp_path):
    """Of a job that was taken for one that goes on, and stands still, the runner says so."""
    line = built.line(libraries.for_most_tests()[-1])
    case = next(case for case in corpus.load() if case.program == program)
    result = corpus.Result(case, line)
    with jobs.Job(line, [corpus.compile_family(line, case.family, tmp_path), program], case.ranks) as job:
        job.wait_ready(case.ranks)
        job.stand_still()
        corpus.watch_healthy(result, job, mpiq, 1, within=corpus.ADVANCES_WITHIN if advances else 0)
    assert bool(result.trouble) != advances, result.trouble


@pytest.mark.parametrize("name", list(libraries.PREFIX_VARIABLES))
def test_line_is_there(name):
    if name not in libraries.lines():
        pytest.skip(f"{libraries.PREFIX_VARIABLES[name]} names no Open MPI")
