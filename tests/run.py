#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all tests of a build and closes with the counts: CUnit programs through meson, the rest by pytest.

Usage: tests/run.py BUILD.  MPIQ_QUICK leaves out the tests that need an MPI job.
"""
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
MESON_SKIP = 77


def run_units(build):
    """Meson's tests: (passed, failed, skipped), counted in CUnit's test functions where a program has them."""
    result = subprocess.run(["meson", "test", "-C", build, "--print-errorlogs", "--no-rebuild"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(result.stdout, flush=True)
    log = os.path.join(build, "meson-logs", "testlog.txt")
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    passed = failed = skipped = 0
    for part in re.split(r"^=+ \d+/\d+ =+$", text, flags=re.M)[1:]:
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
    if result.returncode != 0 and failed == 0:
        failed = 1
    return passed, failed, skipped


def run_pytest(build):
    """The end-to-end tests: (passed, failed, skipped)."""
    report = os.path.join(build, "pytest.xml")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", f"--junitxml={report}", "-p", "no:cacheprovider",
               HERE]
    if os.environ.get("MPIQ_QUICK"):
        return 0, 0, 0
    status = subprocess.run(command, cwd=SOURCE, check=False).returncode
    suite = xml.parse(report).getroot().find("testsuite")
    total, errors, failures, skipped = (int(suite.get(name))
                                        for name in ("tests", "errors", "failures", "skipped"))
    failed = errors + failures
    if status not in (0, 1) and failed == 0:
        failed = 1
    return total - failed - skipped, failed, skipped


def main():
    """Prints the sum on the last line, and fails if anything failed or nothing ran."""
    build = os.path.abspath(sys.argv[1])
    # A shell that runs this in the background has it ignored, and so would all that is started here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    counts = [sum(pair) for pair in zip(run_units(build), run_pytest(build))]
    print("{} passed, {} failed, {} skipped".format(*counts), flush=True)
    sys.exit(0 if counts[1] == 0 and counts[0] > 0 else 1)


if __name__ == "__main__":
    main()
