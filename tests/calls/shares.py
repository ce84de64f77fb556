#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""shares.py BUILD [PROGRAMS]: how much is told of what calls were given, by compiler, options and type, as a table.

Each row is of PROGRAMS generated programs (default 10), whose calls say themselves what they were given.  Exits 1 if
anything that is told is wrong.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import generate

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = ["-O0", "-O0 -g", "-O0 -s", "-Og", "-O1", "-O2", "-O2 -g", "-O2 -s", "-O2 -flto", "-O2 -fno-plt",
           "-O2 -no-pie -fomit-frame-pointer", "-O3", "-Os"]
TYPES = ["int", "long", "pointer"]


def sums_of(check, compiler, options, seeds, folder):
    """{type: [known, words]}, calls and wrong words of the programs of these seeds."""
    known, calls, wrong = {name: [0, 0] for name in TYPES}, 0, 0
    for seed in seeds:
        source = folder / "program.c"
        source.write_text(generate.program(seed), encoding="utf-8")
        subprocess.run([compiler, "-w", *options.split(), "-o", folder / "program", source, "-L", folder, "-lgiven",
                        f"-Wl,-rpath,{folder}"], check=True)
        text = subprocess.run([check, folder / "program"], capture_output=True, text=True, check=False).stdout
        for name in TYPES:
            for which, number in enumerate(re.search(rf"^{name} (\d+) of (\d+)$", text, re.M).groups()):
                known[name][which] += int(number)
        last = re.search(r"(\d+) calls, .* (\d+) wrong", text)
        calls, wrong = calls + int(last[1]), wrong + int(last[2])
    return known, calls, wrong


def main(build, programs=10):
    """Prints the table."""
    bad = 0
    print("| compiler | options | calls | int | long | pointer | wrong |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "libgiven.so", HERE / "given.c"], check=True)
        for compiler in ["gcc", "clang"]:
            for options in OPTIONS:
                check = pathlib.Path(build) / "tests/calls/check-words"
                known, calls, wrong = sums_of(check, compiler, options, range(1, programs + 1), folder)
                shares = " | ".join(f"{100 * told // max(words, 1)} %" for told, words in known.values())
                print(f"| {compiler} | {options} | {calls} | {shares} | {wrong} |", flush=True)
                bad += wrong
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:3])))
