#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""shares.py BUILD [PROGRAMS [--arm]]: how much is told of what calls were given, by compiler, options and type, as a table.

--arm: of 64-bit Arm, under an emulator; else of x86-64.  Each row is of PROGRAMS generated programs (default 10), whose
calls say themselves what they were given.  Exits 1 if anything that is told is wrong.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import emulated
import generate
import messages

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = ["-O0", "-O0 -g", "-O0 -s", "-Og", "-Og -g", "-O1", "-O1 -g", "-O2", "-O2 -g", "-O2 -s", "-O2 -flto", "-O2 -fno-plt",
           "-O2 -no-pie -fomit-frame-pointer", "-O2 -march=haswell", "-O3", "-O3 -g", "-O3 -march=haswell", "-Os"]


HARD_OPTIONS = ["-O0", "-O2", "-O2 -march=haswell", "-O3"]
FORTRAN_OPTIONS = ["-O0", "-O0 -g", "-Og", "-Og -g", "-O1", "-O1 -g", "-O2", "-O2 -g", "-O2 -s", "-O2 -flto", "-O3"]
# For 64-bit Arm, whose programs run under an emulator.
ARM_COMPILERS = {"gcc": "aarch64-linux-gnu-gcc", "clang": "clang --target=aarch64-linux-gnu",
                 "gfortran": "aarch64-linux-gnu-gfortran"}
ARM_OPTIONS = ["-O0", "-O1 -g", "-O2", "-O2 -g", "-O2 -s", "-O2 -mbranch-protection=standard", "-O3"]


def build(compiler, options, source, folder):
    """The program of that source."""
    libraries = ["-L", folder, "-lgiven", f"-Wl,-rpath,{folder}"]
    subprocess.run([*compiler.split(), "-w", *options.split(), "-o", folder / "program", source, *libraries], check=True, cwd=folder)
    return folder / "program"


def said_of(check, program, folder, arm):
    """What check-words says of a program."""
    if arm:
        return emulated.checked(check, program, folder)
    return subprocess.run([check, program], capture_output=True, text=True, check=False).stdout


def sums_of(check, compiler, options, sources, folder):
    """{kind: [known, words]}, calls and wrong words of the programs of these texts."""
    known, calls, wrong = {}, 0, 0
    for ending, text in sources:
        source = folder / f"program.{ending}"
        source.write_text(text, encoding="utf-8")
        said = said_of(check, build(compiler, options, source, folder), folder, "aarch64" in compiler)
        for name, told, words in re.findall(r"^(\w+) (\d+) of (\d+)$", said, re.M):
            sums = known.setdefault(name, [0, 0])
            sums[0], sums[1] = sums[0] + int(told), sums[1] + int(words)
        last = re.search(r"(\d+) calls, .* (\d+) wrong", said)
        calls, wrong = calls + int(last[1]), wrong + int(last[2])
    return known, calls, wrong


def table(check, folder, rows, columns):
    """Prints a table of (compiler, options, sources); returns calls and wrong words."""
    calls, wrong = 0, 0
    print(f"| compiler | options | calls | {' | '.join(columns)} | wrong |\n|{'---|' * (len(columns) + 4)}")
    for compiler, options, sources in rows:
        known, row_calls, row_wrong = sums_of(check, compiler, options, sources, folder)
        shares = " | ".join(f"{100 * known[name][0] // max(known[name][1], 1)} %" for name in columns)
        print(f"| {compiler} | {options} | {row_calls} | {shares} | {row_wrong} |", flush=True)
        calls, wrong = calls + row_calls, wrong + row_wrong
    return calls, wrong


MESSAGE = ["peer", "tag", "count", "type", "comm", "buffer", "status"]
HARD = ["int", "long", "pointer"]


def arm(place, programs=10):
    """Prints the table of 64-bit Arm."""
    check = pathlib.Path(place) / "tests/calls/check-words"
    seeds = range(1, programs + 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([ARM_COMPILERS["gcc"], "-O2", "-shared", "-fPIC", "-o", folder / "libgiven.so", HERE / "given.c"],
                       check=True)
        rows = [(compiler, options, [("f90", messages.fortran(seed)) if name == "gfortran" else ("c", messages.program(seed))
                                     for seed in seeds])
                for name, compiler in ARM_COMPILERS.items() for options in ARM_OPTIONS]
        return told([table(check, folder, rows, MESSAGE)])


def told(sums):
    """Prints the sum of tables; returns what to exit with."""
    calls, wrong = sum(one[0] for one in sums), sum(one[1] for one in sums)
    print(f"\n{calls} calls, {wrong} wrong words")
    return 1 if wrong or not calls else 0


def main(place, programs=10):
    """Prints the tables of x86-64."""
    check = pathlib.Path(place) / "tests/calls/check-words"
    seeds = range(1, programs + 1)
    mpi = {"c": [("c", messages.program(seed)) for seed in seeds], "cc": [("cc", messages.program(seed)) for seed in seeds],
           "f90": [("f90", messages.fortran(seed)) for seed in seeds]}
    hard = [("c", generate.program(seed + 1)) for seed in seeds]
    rows = [(compiler, options, mpi["c"]) for compiler in ["gcc", "clang"] for options in OPTIONS]
    rows += [(compiler, options, mpi["cc"]) for compiler in ["g++", "clang++"] for options in ["-O0", "-O2", "-O2 -g", "-O3"]]
    rows += [("gfortran", options, mpi["f90"]) for options in FORTRAN_OPTIONS]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "libgiven.so", HERE / "given.c"], check=True)
        first = table(check, folder, rows, MESSAGE)
        print()
        second = table(check, folder, [(compiler, options, hard) for compiler in ["gcc", "clang"]
                                       for options in HARD_OPTIONS], HARD)
    return told([first, second])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit((arm if "--arm" in sys.argv else main)(sys.argv[1], *map(int, sys.argv[2:3])))
