# SPDX-License-Identifier: BSD-3-Clause
"""What calls were given, told from outside, against what they say themselves: generated programs, both compilers."""
import pathlib
import re
import shutil
import subprocess

import generate
import messages
import pytest
from support.built import built

HERE = pathlib.Path(__file__).resolve().parent

OPTIONS = ["-O0", "-Og", "-O1", "-O2", "-O3", "-Os", "-O0 -s", "-O2 -s", "-O2 -flto", "-O2 -fno-plt",
           "-O2 -no-pie -fomit-frame-pointer", "-O2 -static", "-O1 -g", "-O2 -g", "-O3 -g -gdwarf-4", "-Og -g -gsplit-dwarf",
           "-O2 -g -flto"]
COMPILERS = ["gcc", "clang"]


@pytest.fixture(name="callee", scope="session")
def fixture_callee(tmp_path_factory):
    """The directory of libgiven.so and given.o."""
    directory = tmp_path_factory.mktemp("given")
    source = HERE / "given.c"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", directory / "libgiven.so", source], check=True)
    subprocess.run(["gcc", "-O2", "-c", "-o", directory / "given.o", source], check=True)
    return directory


def check(compiler, options, source, callee, folder):
    """Runs the program of that source; (known, words), none of them wrong."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = source.with_suffix("")
    library = [callee / "given.o"] if "-static" in options else ["-L", callee, "-lgiven", f"-Wl,-rpath,{callee}"]
    subprocess.run([compiler, "-w", *options.split(), "-o", program, source, *library], check=True, cwd=folder)
    done = subprocess.run([built("tests/calls/check-words"), program], capture_output=True, text=True, check=False)
    sums = re.search(r"(\d+) calls, (\d+) words, (\d+) known, (\d+) wrong", done.stdout)
    assert done.returncode == 0 and sums, done.stdout[-3000:] + done.stderr
    return int(sums[3]), int(sums[2])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_word_is_wrong(compiler, options, callee, tmp_path):
    """Nothing that is told is wrong, and most is told."""
    source = tmp_path / "program.c"
    source.write_text(generate.program(1 + OPTIONS.index(options)), encoding="utf-8")
    known, words = check(compiler, options, source, callee, tmp_path)
    # How much depends on the compiler alone: less is a loss of ours.
    assert 2 * known > words, f"{known} of {words} words are known"


@pytest.mark.parametrize("options", ["-O0", "-O2", "-O2 -g"])
@pytest.mark.parametrize("compiler, ending", [("gcc", "c"), ("clang", "c"), ("g++", "cc"), ("clang++", "cc"), ("gfortran", "f90")])
def test_no_word_of_a_message_is_wrong(compiler, ending, options, callee, tmp_path):
    """The same of calls like those of MPI, in C, C++ and Fortran."""
    source = tmp_path / f"program.{ending}"
    text = messages.fortran(7) if ending == "f90" else messages.program(7)
    source.write_text(text, encoding="utf-8")
    known, words = check(compiler, options, source, callee, tmp_path)
    assert 5 * known > 4 * words, f"{known} of {words} words are known"
