# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the corpus under `mpiq run`: one that hangs is reported and ended, one that does not ends by itself."""
import concurrent.futures
import contextlib
import re
import subprocess
import uuid

import pytest

import corpus
from support import job as jobs
from support import libraries
from support.conditions import NotMet, wait_until

HANG_AFTER = 20
SILENT = "mpiq: MPI has made no progress "
OWN_STATUS = 7 # corpus.c: of a program that ends itself
SAMPLE = {"naps_between_barriers", "polls_and_dozes", "iscan_skipped", "lock_kept_over_a_barrier_2",
          "tests_for_nobody", "one_in_nanosleep", "one_reads_a_pipe", "computes_in_a_pool", "naps_long",
          "tool_naps_and_writes", "polls_and_naps_long", "user_function_named_mpi_computes"}


def seconds():
    """For how long a program works that does not hang: longer than it takes to be called still."""
    return HANG_AFTER + 5


class Watched:
    """An MPI library whose jobs are started by `mpiq run`."""

    def __init__(self, line, mpiq, directory):
        self.line = line
        self.mpiq = mpiq
        self.snapshot = str(directory / f"{uuid.uuid4().hex}.mpiq")

    def __getattr__(self, name):
        return getattr(self.line, name)

    def launch(self, *arguments, **options):
        words = self.line.launch(*arguments, **options)
        return [self.mpiq, "run", "--hang-after", str(HANG_AFTER), "--snapshot", self.snapshot, "--", *words]


def selected(families, named):
    """The programs to run: of these families (none: a sample), on these lines (none: the patched ones)."""
    families = families.split()
    lines = libraries.named(named) if named else libraries.lines().values()

    def is_selected(case, line):
        if families:
            return families == ["full"] or case.family in families
        return case.name in SAMPLE and line.patched

    return [(case, line) for line in lines for case in corpus.load()
            if case.on(line) and not case.two_hosts and is_selected(case, line) and (case.healthy or case.firsts)]


def pytest_generate_tests(metafunc):
    if "watched" in metafunc.fixturenames:
        wanted = selected(metafunc.config.option.run, metafunc.config.option.lines)
        metafunc.parametrize("watched", wanted, ids=[f"{line.name}-{case.name}" for case, line in wanted])


@pytest.fixture(name="executables", scope="module")
def compiled(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


def is_ended(case):
    """Whether `mpiq run` ends it: not where a rank computes for ever, which may come to an end for all it knows."""
    return not case.healthy and not {"deadlock", "stalled"}.isdisjoint(case.verdicts)


def run(case, line, mpiq, directory):
    """One program to its end: (exit status or None, output, processes that are left)."""
    executable = corpus.compile_family(line, case.family, directory)
    environment = {"MPIQ_CORPUS_SECONDS": str(seconds())} if case.healthy else {}
    with jobs.Job(Watched(line, mpiq, directory), [executable, case.program], case.ranks, environment=environment) as job:
        try:
            if case.healthy or is_ended(case):
                status = job.wait(240)
            else:
                status = outlives_its_report(job)
        except subprocess.TimeoutExpired:
            return None, job.output(), []
        return status, job.output(), job.processes()


def outlives_its_report(job):
    """The exit status of a job that ends within as long again as it takes to be reported."""
    with contextlib.suppress(NotMet):
        wait_until(lambda: SILENT in job.output() or job.process.poll() is not None, seconds=3 * HANG_AFTER, every=0.1)
    return job.process.wait(HANG_AFTER)


@pytest.fixture(name="ended", scope="module")
def runs_side_by_side(request, mpiq, executables):
    """What came of a program, waited for; a few run at the same time."""
    wanted = [item.callspec.params["watched"] for item in request.session.items
              if "watched" in getattr(getattr(item, "callspec", None), "params", {})]
    for line, family in {(id(line), case.family): (line, case.family) for case, line in wanted}.values():
        corpus.compile_family(line, family, executables)
    with concurrent.futures.ThreadPoolExecutor(request.config.option.jobs or 2) as pool:
        futures = {(case, line.name): pool.submit(run, case, line, mpiq, executables) for case, line in wanted}
        try:
            yield lambda case, line: futures[case, line.name].result()
        finally:
            for future in futures.values():
                future.cancel()


def test_run(watched, ended):
    case, line = watched
    status, output, left = ended(case, line)
    told = re.findall(r"^mpiq: .*", output, re.M)
    if case.healthy or not is_ended(case):
        # Where MPI is silent for long, that is said, and the job lives.
        assert all(line.startswith(SILENT) for line in told), told
    if not case.healthy and not is_ended(case):
        assert status is None, output
        return
    assert status is not None, f"still running:\n{output}"
    assert not left, output
    if case.healthy:
        assert status == OWN_STATUS, output
    elif line.patched:
        (verdict,) = re.findall(r"^(deadlock|stalled): ", output, re.M)
        # What one look calls a deadlock is one here; what it calls running stands still, in the end.  A case that one
        # look may call either has a wait that only some runs show.
        if case.verdicts == ["deadlock"] or "deadlock" not in case.verdicts:
            assert verdict == ("deadlock" if case.verdicts == ["deadlock"] else "stalled"), output
        assert status == 124, output
        assert told, output


@pytest.mark.parametrize("line", [line for line in libraries.lines().values() if line.patched], ids=lambda line: line.name)
def test_rank_that_is_not_started_yet(line, mpiq, executables, tmp_path):
    """While ranks are being started, one without a process of its own has not ended: no deadlock is proven by it."""
    program = corpus.compile_family(line, "startup", executables)
    # Without the launcher's variables nobody can tell that it is rank 1; a look while it still has them would see it end.
    cleared = tmp_path / "cleared"
    script = (f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec env -i sh -c ": >{cleared}; exec sleep 600"; '
              f'exec {program} one_finalizes_early')
    with jobs.Job(line, ["sh", "-c", script], 2) as job:
        wait_until(cleared.exists, job.output)

        def is_seen_in_init():
            answer, _, _ = corpus.look(mpiq, job.pid)
            assert answer is None or answer["verdict"] != "deadlock", answer
            # Rank 1 cannot be found, so it cannot be read; the other may still be at work there.
            return answer and answer["verdict"] == "unknown" and any(
                (rank.get("call") or "").startswith("MPI_Init") for rank in answer["ranks"])

        wait_until(is_seen_in_init, job.output)
