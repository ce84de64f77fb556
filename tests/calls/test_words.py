# SPDX-License-Identifier: BSD-3-Clause
"""What calls were given, told from outside, against what they say themselves: generated programs, both compilers."""
import pathlib
import re
import shutil
import subprocess

import emulated
import generate
import messages
import pytest
from support.built import built

HERE = pathlib.Path(__file__).resolve().parent

OPTIONS = ["-O0", "-Og", "-O1", "-O2", "-O3", "-Os", "-O0 -s", "-O2 -s", "-O2 -flto", "-O2 -fno-plt",
           "-O2 -no-pie -fomit-frame-pointer", "-O2 -static", "-O1 -g", "-O2 -g", "-O3 -g -gdwarf-4", "-Og -g -gsplit-dwarf",
           "-O2 -g -flto"]
# What the quick run has of them: with and without symbols and debug information, at each end of optimization.
QUICK = {"-O0", "-O0 -s", "-O2", "-O3", "-O2 -no-pie -fomit-frame-pointer", "-O1 -g", "-O2 -g"}
COMPILERS = ["gcc", "clang"]

# Compilers for 64-bit Arm; the last option is that of distributions that sign return addresses.
ARM = {"gcc": ["aarch64-linux-gnu-gcc"], "clang": ["clang", "--target=aarch64-linux-gnu"],
       "gfortran": ["aarch64-linux-gnu-gfortran"]}
ARM_OPTIONS = ["-O0", "-O1 -g", "-O2", "-O2 -s", "-O3 -g", "-O2 -no-pie -fomit-frame-pointer",
               "-O2 -mbranch-protection=standard"]


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


@pytest.mark.parametrize("options", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.whole) for one in OPTIONS])
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


@pytest.fixture(name="arm_callee", scope="session")
def fixture_arm_callee(tmp_path_factory):
    """The directory of libgiven.so for 64-bit Arm."""
    if not shutil.which("qemu-aarch64") or not shutil.which(ARM["gcc"][0]):
        pytest.skip("qemu-user or the cross compiler gcc-aarch64-linux-gnu is not installed")
    directory = tmp_path_factory.mktemp("given_arm")
    subprocess.run([*ARM["gcc"], "-O2", "-shared", "-fPIC", "-mbranch-protection=standard", "-o", directory / "libgiven.so",
                    HERE / "given.c"], check=True)
    return directory


@pytest.mark.parametrize("text", ["messages", "generate"])
@pytest.mark.parametrize("options", ARM_OPTIONS)
@pytest.mark.parametrize("compiler", ARM)
def test_no_word_on_arm_is_wrong(compiler, options, text, arm_callee, tmp_path):
    """The same of programs for 64-bit Arm, whose core files are read here."""
    if not shutil.which(ARM[compiler][0]):
        pytest.skip(f"{ARM[compiler][0]} is not installed")
    if compiler == "gfortran" and text == "generate":
        pytest.skip("that text is in C")
    source = tmp_path / f"program.{'f90' if compiler == 'gfortran' else 'c'}"
    seed = 1 + ARM_OPTIONS.index(options)
    program = messages.fortran if compiler == "gfortran" else {"messages": messages, "generate": generate}[text].program
    source.write_text(program(seed), encoding="utf-8")
    subprocess.run([*ARM[compiler], "-w", *options.split(), "-o", tmp_path / "program", source, "-L", arm_callee, "-lgiven",
                    f"-Wl,-rpath,{arm_callee}"], check=True, cwd=tmp_path)
    said = emulated.checked(built("tests/calls/check-words"), tmp_path / "program", tmp_path)
    sums = re.search(r"(\d+) calls, (\d+) words, (\d+) known, (\d+) wrong", said)
    assert sums and sums[4] == "0", said[-3000:]
    # The generated text holds what cannot be known, on purpose: structure copies, switches, joins.
    least = {"messages": 2, "generate": 4}[text]
    assert least * int(sums[3]) > int(sums[2]) > 0, said[-300:]
