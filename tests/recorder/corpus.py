#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs cases of the corpus under the recorder on a stock MPI library and compares each answer with what the
corpus expects of a patched one.

Usage: tests/recorder/corpus.py mpich|openmpi [--repeat N] [CASE-PATTERN...]

Needs mpicc.mpich/mpirun.mpich or mpicc.openmpi/mpirun.openmpi, and MPIQ and MPIQ_RECORDER in the environment.
Prints one line a case: ok, weaker (no proof where one is expected) or WRONG, and ends with 1 if any is WRONG.
"""
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hangs"))
import corpus # noqa: E402
import job as jobs # noqa: E402


def ranks_of(job):
    """The pids of the job's ranks: of MPICH mpiq is told them."""
    return [str(pid) for pid in sorted(job.ready, key=lambda pid: job.ready[pid])]


def look(job, library):
    targets = [str(job.pid)] if library == "openmpi" else ranks_of(job)
    done = subprocess.run([os.environ["MPIQ"], "--json", *targets], capture_output=True, text=True, timeout=120,
                          check=False)
    try:
        return corpus.json.loads(done.stdout)
    except ValueError:
        return {"verdict": f"no answer: {done.stderr.strip()[:200]}"}


def judge(case, line, answer):
    verdict = answer["verdict"]
    first = (answer.get("findings") or [{}])[0]
    if case.healthy:
        return "WRONG" if verdict in ("deadlock", "stalled") else "ok"
    if verdict not in case.verdicts:
        return "WRONG" if verdict in ("deadlock", "stalled") else "weaker"
    if not case.firsts or any(not any(corpus.wrong_field(key, value, first, case) for key, value in one.items())
                              for one in case.firsts):
        return "ok"
    return "other first"


def run(case, line, library, directory):
    executable = corpus.compile_family(line, case.family, directory)
    with jobs.Job(line, [executable, case.program], case.ranks) as job:
        job.wait_ready(case.ranks + case.get("spawned", 0))
        if not case.healthy:
            job.stand_still()
        answer = look(job, library)
        result = judge(case, line, answer)
        if result == "weaker": # what has not polled between the readings is seen at the next look
            answer = look(job, library)
            result = judge(case, line, answer)
        return result, answer


def main():
    library, *patterns = sys.argv[1:]
    repeat = 1
    if patterns[:1] == ["--repeat"]:
        repeat = int(patterns[1])
        patterns = patterns[2:]
    line = jobs.Line("4.1", HERE / "prefix" / library)
    counts = {}
    with tempfile.TemporaryDirectory() as directory:
        for case in corpus.load():
            if case.two_hosts or (patterns and not any(fnmatch.fnmatch(case.name, one) for one in patterns)):
                continue
            for _ in range(repeat):
                try:
                    result, answer = run(case, line, library, pathlib.Path(directory))
                    detail = f"{answer['verdict']} {(answer.get('findings') or [{}])[0].get('text', '')}"
                except (jobs.JobError, subprocess.TimeoutExpired) as error:
                    result, detail = "not run", str(error).splitlines()[0][:150]
                counts[result] = counts.get(result, 0) + 1
                print(f"{result:12} {case.name:40} {detail}", flush=True)
    print(counts)
    sys.exit(1 if counts.get("WRONG") else 0)


if __name__ == "__main__":
    main()
