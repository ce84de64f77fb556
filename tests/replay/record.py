#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records cases of the corpus as snapshots of two looks, for tests/replay to diagnose again without MPI.

Usage: tests/replay/record.py [--line NAME]... [--raw DIRECTORY] [--missing] [--jobs N] [CASE...]

Runs each case (all: of no name) on each library that it has (default: those that the environment names), looks at it
as the live corpus does, and packs what was read into tests/replay/recorded/LINE/FAMILY.zst.  --raw keeps what was
read as it is, and --missing leaves out what is kept there already.  --pack packs what is kept there, and runs nothing.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "hangs")]

import corpus # noqa: E402
import packs # noqa: E402
from support import job as jobs # noqa: E402
from support import libraries # noqa: E402
from support.built import mpiq_program # noqa: E402

# Seconds between the two readings of each look at a job that hangs; what is wanted comes at one of the first.
PAUSES = [None, None, 1, 3, 5, 5, 5]
LOOK_SECONDS = 120


class NotRecorded(Exception):
    """Why a case has no recording on this library."""


def look(mpiq, pid, path, *options):
    """One look at a job, written to path; its answer."""
    said = ""
    for words in (["snapshot", "-o", path, *options, str(pid)], ["--json", path]):
        try:
            done = subprocess.run([mpiq, *words], capture_output=True, text=True, timeout=LOOK_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise NotRecorded(str(error)) from error
        said += done.stderr
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise NotRecorded(f"no answer: {said}") from error


def unread(answer):
    """The ranks of which something could not be read in time: a machine that has no processor to give."""
    return [rank["rank"] for rank in answer["ranks"] if rank["state"] == "unreadable" or any(
        re.search("does not stop|timed out|did not stop", problem["text"]) for problem in rank.get("problems", []))]


def is_settled(case, line, answer):
    """Whether another look could hardly tell more."""
    if unread(answer):
        return False
    verdict = answer["verdict"]
    if corpus.level_of(line.name, answer) == corpus.OUTSIDE: # nothing is proven there
        return True
    if case.healthy:
        return verdict in case.verdicts
    if verdict in ("deadlock", "stalled"):
        return True
    return verdict in case.verdicts and (verdict != "running" or not corpus.wrong_first(case, answer)[0])


def record(case, line, executable, mpiq, path):
    """Starts the case, looks at it until an answer stands, and ends it."""
    with jobs.Job(line, [executable, case.program], case.ranks) as job:
        job.wait_ready(case.ranks + case.get("spawned", 0))
        if not case.healthy:
            job.stand_still()
            job.step_back()
        for pause in PAUSES:
            answer = look(mpiq, job.pid, path, *corpus.pause_option(pause))
            if is_settled(case, line, answer):
                break
        job.listen()
        came_out = {rank for rank in job.through if (0, rank) in case.stuck}
    if came_out and not case.healthy:
        raise NotRecorded(f"ranks {sorted(came_out)} came out of a case that is to hang")
    return answer


def record_to(raw, case, line, executable, mpiq):
    """A recording kept in the directory raw; what came of it in a few words."""
    path = raw / line.name / f"{case.name}.mpiq"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        try:
            answer = record(case, line, executable, mpiq, part)
        except jobs.JobError:
            answer = record(case, line, executable, mpiq, part)
    except (jobs.JobError, NotRecorded) as error:
        return f"NOT RECORDED: {error}"
    meta = {"date": datetime.date.today().isoformat(), "commit": packs.commit(),
            "ranks": [rank for rank in unread(answer)]}
    path.with_suffix(".json").write_text(json.dumps(meta), encoding="utf-8")
    part.replace(path)
    return answer["verdict"] + (f", ranks {unread(answer)} unread" if unread(answer) else "")


def run(options, raw):
    cases = [case for case in corpus.load() if not case.two_hosts and not (options.quick and not case.get("quick"))
             and (not options.cases or {case.name, case.program, case.family} & set(options.cases))]
    lines = [libraries.line(name) for name in options.line] or libraries.named("")
    mpiq = mpiq_program()
    with tempfile.TemporaryDirectory(prefix="mpiq-record-") as directory, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        programs = {(line.name, family): pool.submit(corpus.compile_family, line, family, pathlib.Path(directory))
                    for line in lines for family in sorted({case.family for case in cases})}
        runs = {}
        for line in lines:
            for case in cases:
                if not case.on(line) or options.missing and (raw / line.name / f"{case.name}.mpiq").exists():
                    continue

                def start(case=case, line=line):
                    return record_to(raw, case, line, programs[line.name, case.family].result(), mpiq)

                runs[pool.submit(start)] = (line, case)
        for done in concurrent.futures.as_completed(runs):
            line, case = runs[done]
            try:
                text = done.result()
            except libraries.NotCompiled as error:
                text = f"NOT RECORDED: {error}"
            print(f"{line.name} {case.family} {case.name}: {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--line", action="append", default=[])
    parser.add_argument("--raw", type=pathlib.Path)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the quick set alone")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(4, 1 + (os.cpu_count() or 1)))
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        raw = options.raw or pathlib.Path(directory)
        if not options.pack:
            run(options, raw)
        if options.pack or not options.raw:
            families = {}
            for case in corpus.load():
                if not case.two_hosts:
                    families.setdefault(case.family, []).append(case.name)
            packs.pack(raw, families)


if __name__ == "__main__":
    main()
