# SPDX-License-Identifier: BSD-3-Clause
"""Runs the selected part of the corpus, a few jobs side by side, while pytest asks for one result after another."""
import concurrent.futures
import json
import os
import pathlib
import signal

import pytest

import corpus
import options
import table
from support import job as jobs
from support import libraries


def pytest_addoption(parser):
    options.add_to(parser.getgroup("corpus", "the corpus (tests/hangs/run --help)").addoption)


def pytest_configure():
    """A run that is terminated ends its jobs, as one that is interrupted does."""
    signal.signal(signal.SIGTERM, lambda *_: (jobs.end_all(), os._exit(128 + signal.SIGTERM)))


def is_selected(case, line, part, named):
    small = case.get("quick") and not case.two_hosts
    if isinstance(line, libraries.Library):
        whole = part == "full" and named
        return case.on(line) and (small or whole) and not (case.two_hosts and (line.root or line.how))
    if line.distribution and part != "full":
        return case.on(line) and small
    return case.on(line) and (small and line.patched or part != "quick")


def pytest_generate_tests(metafunc):
    if "run" in metafunc.fixturenames:
        option = metafunc.config.option
        runs = [(case, line) for line in libraries.named(option.lines) for case in corpus.load()
                if is_selected(case, line, option.part, option.lines)]
        if option.missing:
            done = {(row["line"], row["name"]) for row in table.kept(option.results)}
            runs = [(case, line) for case, line in runs if (line.name, case.name) not in done]
        metafunc.parametrize("run", runs, ids=[f"{line.name}-{case.family}-{case.name}" for case, line in runs])


@pytest.fixture(scope="session")
def outcome(request, mpiq, tmp_path_factory):
    """The result of a run, waited for."""
    runs = [item.callspec.params["run"] for item in request.session.items
            if "run" in getattr(getattr(item, "callspec", None), "params", {})]
    directory = tmp_path_factory.mktemp("corpus")
    no_two_hosts = libraries.why_no_two_hosts()
    option = request.config.option
    looks = option.looks or (50 if option.part == "full" else 4)
    workers = option.jobs or min(4, 1 + (os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        programs = {(line.name, family): pool.submit(corpus.compile_family, line, family, directory)
                    for line, family in {(line.name, case.family): (line, case.family) for case, line in runs}.values()}

        def start(case, line):
            executable = programs[line.name, case.family].result()
            return corpus.run(case, line, executable, mpiq, looks, option.again)

        futures = {(case, line.name): pool.submit(start, case, line) for case, line in runs
                   if not (case.two_hosts and no_two_hosts)}

        def wait(run):
            case, line = run
            if (case, line.name) not in futures:
                pytest.skip(no_two_hosts)
            result = futures[case, line.name].result()
            corpus.results.append(result)
            if option.results:
                table.merged([result], option.results)
            return result

        try:
            yield wait
        finally:
            for future in futures.values():
                future.cancel()


def pytest_terminal_summary(terminalreporter, config):
    results = corpus.results
    if not results:
        return
    terminalreporter.section("corpus")
    rows = [table.as_row(result) for result in results]
    terminalreporter.write_line(f"{table.cases(rows)}\n\n{table.sums(rows)}")
    if config.option.failures:
        pathlib.Path(config.option.failures).write_text(failures(), encoding="utf-8")


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
