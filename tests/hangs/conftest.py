# SPDX-License-Identifier: BSD-3-Clause
"""Runs the selected part of the corpus, a few jobs side by side, while pytest asks for one result after another.

MPIQ_CORPUS          full: every case, 50 looks at each that does not hang; else the quick part
MPIQ_CORPUS_LOOKS    how many looks at each that does not hang
MPIQ_CORPUS_JOBS     how many jobs at a time (default: as many as there are processors, at most 4)
MPIQ_CORPUS_TABLE    a file that gets the table of results too
MPIQ_CORPUS_FAILURES a file that gets every wrong answer with what was expected
"""
import concurrent.futures
import json
import os
import pathlib
import signal
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import corpus # noqa: E402
import job as jobs # noqa: E402

FULL = os.environ.get("MPIQ_CORPUS") == "full"
LOOKS_AT_HEALTHY = int(os.environ.get("MPIQ_CORPUS_LOOKS") or (50 if FULL else 4))


def pytest_configure():
    """A run that is terminated ends its jobs, as one that is interrupted does."""
    signal.signal(signal.SIGTERM, lambda *_: (jobs.end_all(), os._exit(128 + signal.SIGTERM)))


def selected_lines():
    """The quick part runs on the patched libraries only."""
    found = jobs.lines()
    return [line for line in found.values() if FULL or line.patched]


def pytest_generate_tests(metafunc):
    if "run" in metafunc.fixturenames:
        runs = [(case, line) for line in selected_lines() for case in corpus.load()
                if case.on(line) and (FULL or (case.get("quick") and not case.two_hosts))]
        metafunc.parametrize("run", runs, ids=[f"{line.name}-{case.family}-{case.name}" for case, line in runs])


@pytest.fixture(scope="session")
def mpiq():
    path = os.environ.get("MPIQ")
    if not path or not os.access(path, os.X_OK):
        pytest.skip("MPIQ names no mpiq program")
    return path


@pytest.fixture(scope="session")
def outcome(request, mpiq, tmp_path_factory):
    """The result of a run, waited for."""
    runs = [item.callspec.params["run"] for item in request.session.items
            if "run" in getattr(getattr(item, "callspec", None), "params", {})]
    directory = tmp_path_factory.mktemp("corpus")
    no_two_hosts = jobs.why_no_two_hosts()
    workers = int(os.environ.get("MPIQ_CORPUS_JOBS") or min(4, os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        programs = {(line.name, family): pool.submit(corpus.compile_family, line, family, directory)
                    for line in {id(line): line for _, line in runs}.values() for family in corpus.families()}

        def start(case, line):
            executable = programs[line.name, case.family].result()
            return corpus.run(case, line, executable, mpiq, LOOKS_AT_HEALTHY)

        futures = {(case, line.name): pool.submit(start, case, line) for case, line in runs
                   if not (case.two_hosts and no_two_hosts)}

        def wait(run):
            case, line = run
            if (case, line.name) not in futures:
                pytest.skip(no_two_hosts)
            result = futures[case, line.name].result()
            corpus.results.append(result)
            return result

        try:
            yield wait
        finally:
            for future in futures.values():
                future.cancel()


def pytest_terminal_summary(terminalreporter):
    results = corpus.results
    if not results:
        return
    terminalreporter.section("corpus")
    text = corpus.table(results)
    terminalreporter.write_line(text)
    hung = [result for result in results if result.case.firsts]
    terminalreporter.write_line(
        f"{len(results)} runs, {sum(result.looks for result in results)} looks, "
        f"{sum(bool(result.wrong_verdict) for result in results)} wrong verdicts, "
        f"{sum(bool(result.trouble) for result in results)} that did not run; "
        f"first finding right in {sum(not result.wrong_first for result in hung)} of {len(hung)}")
    if os.environ.get("MPIQ_CORPUS_TABLE"):
        pathlib.Path(os.environ["MPIQ_CORPUS_TABLE"]).write_text(text + "\n", encoding="utf-8")
    if os.environ.get("MPIQ_CORPUS_FAILURES"):
        pathlib.Path(os.environ["MPIQ_CORPUS_FAILURES"]).write_text(failures(), encoding="utf-8")


def failures():
    """Every wrong answer, worst first: what was expected, how to see it again, what mpiq said."""
    bad = [result for result in corpus.results if result.wrong_verdict or result.wrong_first or result.trouble]
    bad.sort(key=lambda result: (not result.trouble, not result.wrong_verdict))
    parts = []
    for result in bad:
        case = result.case
        parts.append(f"## {result.line.name} {case.family}: {case.name} ({case.ranks} ranks)\n\n"
                     + "".join(f"- {reason}\n" for reason in
                               (result.trouble, result.wrong_verdict, result.wrong_first) if reason)
                     + f"- expected {json.dumps(case.expected)}\n"
                     + (f"- stderr: {result.stderr.strip()[:1000]}\n" if result.stderr.strip() else "")
                     + f"\n    {json.dumps(result.answer)[:6000]}\n")
    return "\n".join(parts)
