#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all tests of a build and closes with the counts: CUnit programs through meson, the rest by pytest.

Usage: tests/run.py BUILD [units|quick|all].  units: what needs no MPI job.  quick: a part of the rest, too.
"""
import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml

from support import libraries

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
MESON_SKIP = 77

# What takes longest, begun first: parts, and all other parts of a folder.
LONGEST = ["hosts/test_many_hosts", "latent/test_latent", "e2e/test_run", "mqs/test_live", "gdb/test_gdb_job", "calls/test_against_records",
           "e2e/test_step", "hangs on openmpi+record", "recorder/test_languages", "patch", "mqs", "hangs", "latent", "security", "calls",
           "e2e", "gdb", "hosts"]
# Folders whose files are run one by one, so that several sides share them.
BY_FILE = {"calls", "e2e", "gdb", "hosts", "latent", "mqs", "recorder", "security"}
# The pids at which the sides begin: Open MPI names files after the launcher's pid, so no two sides use the same ones.  One
# side more than most machines for tests have processors, because many tests wait.
FIRST_PIDS = (1000, 11000, 22000)
# Folders that are left to the whole run, as tests marked `whole` are: they need libraries that we build, other hosts, or many
# looks.
NOT_QUICK = {"hosts", "mqs", "patch", "security"}
# Files too: what this one compares, tests/hangs compares at the jobs that it has started anyway.
NOT_QUICK_FILES = {"calls/test_against_records"}
# Numbers that are smaller in the quick run: ranks of a job of very many, seconds of torture.
QUICK = {"MPIQ_JOB_TEST_RANKS": "20000", "MPIQ_TORTURE": "4"}
# Of a test that has not ended by then something is wrong, on a busy machine too: meson's 30 seconds, that many times.
UNIT_PATIENCE = 20

# Runs the words after the first with processes, /proc and /dev/shm of their own, as long as we live; the first is the pid to
# begin at.  The shell stays, to take in processes whose parents have ended.
OWN_PROCESSES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL",
                 "sh", "-c",
                 'mount -t tmpfs none /dev/shm && echo "$0" >/proc/sys/kernel/ns_last_pid && "$@"; exit $?']
PRINTING = threading.Lock()
# What failed, by name, for the end of the output.
FAILED = []
# How many seconds each part took.
TIMES = {}


def run_units(build, tier):
    """Meson's tests: (passed, failed, skipped), counted in CUnit's test functions where a program has them."""
    left_out = [] if tier == "all" else ["--no-suite", "mutations"] # minutes
    result = subprocess.run(["meson", "test", "-C", build, "--print-errorlogs", "--no-rebuild", "-t", str(UNIT_PATIENCE),
                             *left_out],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(result.stdout, flush=True)
    log = os.path.join(build, "meson-logs", "testlog.txt")
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    passed = failed = skipped = 0
    for part in re.split(r"^=+ \d+/\d+ =+$", text, flags=re.M)[1:]:
        failed_before = failed
        outcome = re.search(r"^result:\s+(.*)$", part, flags=re.M)
        counts = re.search(r"^\s*tests\s+\d+\s+(\d+)\s+(\d+)\s+(\d+)", part, flags=re.M)
        if outcome and f"exit status {MESON_SKIP}" in outcome.group(1):
            skipped += 1
        elif counts and int(counts.group(1)) > 0:
            passed += int(counts.group(2))
            failed += int(counts.group(3))
        elif result.returncode == 0 or (outcome and outcome.group(1).startswith("exit status 0")):
            passed += 1
        else:
            failed += 1
        if failed > failed_before:
            name = re.search(r"^test:\s+(.*)$", part, flags=re.M)
            FAILED.append(f"meson test '{name.group(1) if name else '?'}'")
    if result.returncode != 0 and failed == 0:
        failed = 1
        FAILED.append("meson test (a test ended with an error, none by name)")
    return passed, failed, skipped


def can_part():
    """Whether a part of the tests can have its own processes and shared memory, out of sight of the others."""
    if os.geteuid() != 0 or (os.cpu_count() or 1) < 2:
        return False
    tried = subprocess.run([*OWN_PROCESSES, "1000", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False, start_new_session=True)
    return tried.returncode == 0


def parts(tier):
    """What is run by pytest: [(name, arguments)], in the order in which it begins.  tests/hangs goes library by library, so
    that the sides share it."""
    folders = sorted({file.parent.name for file in HERE.glob("*/test_*.py")} - (NOT_QUICK if tier == "quick" else set()))
    quick = tier == "quick"
    lines = libraries.quick() if quick else [line.name for line in libraries.named("")]
    live = HERE / "hangs" / "test_corpus.py"
    options = ["--part", "quick" if quick else "usual", "--looks", "2", "--jobs", "2"]
    by_line = [(f"hangs on {name}", [live, "--lines", name, *options]) for name in lines]
    found = []
    for name in folders:
        if name in BY_FILE:
            found += [(f"{name}/{file.stem}", [file]) for file in sorted(HERE.glob(f"{name}/test_*.py"))
                      if not (quick and f"{name}/{file.stem}" in NOT_QUICK_FILES)]
            continue
        chosen = [HERE / name]
        if name == "hangs":
            left_out = {live, HERE / "hangs" / "test_run_corpus.py"} if quick else {live}
            chosen = sorted(set(HERE.glob("hangs/test_*.py")) - left_out)
        found.append((name, chosen))

    def place(part):
        return next((i for i, name in enumerate(LONGEST) if part[0] == name or part[0].startswith((f"{name}/", f"{name} "))),
                    len(LONGEST))

    return sorted(found + by_line, key=place) if quick else by_line + sorted(found, key=place)


def run_part(build, tier, name, arguments, first_pid, counts):
    """One part of the end-to-end tests, with what they print in one piece; adds to counts."""
    report = os.path.join(build, f"pytest-{re.sub('[ :/]', '-', name)}.xml")
    if os.path.exists(report):
        os.remove(report)
    command = [sys.executable, "-m", "pytest", *map(str, arguments), "-q", "-rs", f"--junitxml={report}",
               "-p", "no:cacheprovider", "--durations=5", "--durations-min=5", *(["-m", "not whole"] if tier == "quick" else [])]
    if first_pid is not None:
        command = [*OWN_PROCESSES, str(first_pid), *command]
    # A session of its own, if others run beside it: Linux may share out the processors by session, and each job, whose ranks
    # spin, has one.  All sides in one session would get no more than one job.
    began = time.monotonic()
    result = subprocess.run(command, cwd=SOURCE, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL, start_new_session=first_pid is not None)
    total, errors, failures, skipped = 0, 0, 0, 0
    if os.path.exists(report):
        suite = xml.parse(report).getroot().find("testsuite")
        total, errors, failures, skipped = (int(suite.get(key))
                                            for key in ("tests", "errors", "failures", "skipped"))
        FAILED.extend(f"tests/{name}: {case.get('classname')} {case.get('name')}" for case in suite.iter("testcase")
                      if case.find("failure") is not None or case.find("error") is not None)
    failed = errors + failures
    if failed == 0 and (result.returncode != 0 or total == 0):
        failed, total = 1, total + 1
        FAILED.append(f"tests/{name}: pytest ended with {result.returncode}")
    with PRINTING:
        print(f"tests/{name}:", flush=True)
        sys.stdout.buffer.write(result.stdout)
        TIMES[f"tests/{name}"] = time.monotonic() - began
        print(f"tests/{name}: {TIMES[f'tests/{name}']:.0f} s\n", flush=True)
        counts.append((total - failed - skipped, failed, skipped))


def keep_session_directory():
    """Keeps the directory that all of a user's Open MPI 4.1 launchers share from being empty.

    The last launcher to end removes it if it is empty; another that is just starting in it then fails."""
    top = pathlib.Path(os.environ.get("TMPDIR", "/tmp"), f"ompi.{socket.gethostname().split('.')[0]}.{os.geteuid()}")
    top.mkdir(mode=0o700, exist_ok=True)
    (top / "tests").mkdir(mode=0o700, exist_ok=True)


def run_pytest(build, tier):
    """The end-to-end tests, several parts at a time where they can be kept apart: (passed, failed, skipped)."""
    if tier == "units":
        return 0, 0, 0
    keep_session_directory()
    waiting = queue.SimpleQueue()
    chosen = parts(tier)
    for part in chosen:
        waiting.put(part)
    counts = []

    def work(first_pid):
        while True:
            try:
                name, arguments = waiting.get_nowait()
            except queue.Empty:
                return
            run_part(build, tier, name, arguments, first_pid, counts)

    workers = [threading.Thread(target=work, args=(pid,)) for pid in (FIRST_PIDS if can_part() else (None,))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return tuple(sum(column) for column in zip(*counts)) if len(counts) == len(chosen) else (0, 1, 0)


def main():
    """Prints what each part took, what failed, and the sum on the last line; fails if anything failed or nothing ran."""
    build = os.path.abspath(sys.argv[1])
    tier = sys.argv[2] if sys.argv[2:] else "all"
    # A shell that runs this in the background has it ignored, and so would all that is started here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if tier != "all":
        for name, number in QUICK.items():
            os.environ.setdefault(name, number)
    began = time.monotonic()
    counts = run_units(build, tier)
    TIMES["units"] = time.monotonic() - began
    counts = [sum(pair) for pair in zip(counts, run_pytest(build, tier))]
    for name, seconds in sorted(TIMES.items(), key=lambda item: -item[1]):
        print(f"{seconds:6.0f} s  {name}")
    for name in FAILED:
        print(f"failed: {name}")
    print("{} passed, {} failed, {} skipped".format(*counts), flush=True)
    sys.exit(0 if counts[1] == 0 and counts[0] > 0 else 1)


if __name__ == "__main__":
    main()
