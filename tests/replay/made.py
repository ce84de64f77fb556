#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the job states that made/states.txt lists from the tests that make them, for tests/replay to diagnose again.

Usage: tests/replay/made.py BUILD [--check]: writes made/states; --check: only sees that the tests make them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import packs # noqa: E402

MADE = HERE / "made"
STATES, ANSWERS, LIST = MADE / "states", MADE / "answers", MADE / "states.txt"


def listed():
    """{program of tests/job: [TEST:N]} in order."""
    found, program = {}, None
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            program = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(program, []).append(line.split(" | ")[0])
    return found


def made_by(build, program, names):
    """The states of those names that the program makes: {TEST:N: text}."""
    with tempfile.TemporaryDirectory() as directory:
        # Of a program that makes jobs at random, as many as are wanted.
        count = [str(max(int(name.rsplit(":", 1)[1]) for name in names))] if program == "random" else []
        environment = {**os.environ, "MPIQ_MADE_STATES": directory, "MPIQ_JOB_TEST_RANKS": "60"}
        subprocess.run([build / f"tests/job/test_{program}", *count], env=environment, stdout=subprocess.DEVNULL,
                       check=False) # a test that fails is another's matter
        text = (pathlib.Path(directory) / f"test_{program}.made").read_text(encoding="utf-8")
    return packs.cases_of(text)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for program, names in listed().items():
        made = made_by(build, program, names)
        missing = [name for name in names if name not in made]
        if missing:
            sys.exit(f"tests/job/test_{program} does not make {', '.join(missing)}, which {LIST} lists")
        if "--check" in sys.argv[2:]:
            continue
        path = STATES / "made" / f"{program}.zst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packs.compressed("".join(made[name] for name in names).encode()))


if __name__ == "__main__":
    main()
