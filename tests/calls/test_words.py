# SPDX-License-Identifier: BSD-3-Clause
"""What calls were given, told from outside, against what they say themselves: generated programs, both compilers."""
import pathlib
import re
import shutil
import subprocess

import generate
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


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_word_is_wrong(compiler, options, callee, tmp_path):
    """Nothing that is told is wrong, and most is told."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "program.c"
    source.write_text(generate.program(1 + OPTIONS.index(options)), encoding="utf-8")
    program = source.with_suffix("")
    library = [callee / "given.o"] if "-static" in options else ["-L", callee, "-lgiven", f"-Wl,-rpath,{callee}"]
    subprocess.run([compiler, "-w", *options.split(), "-o", program, source, *library], check=True, cwd=tmp_path)
    done = subprocess.run([built("tests/calls/check-words"), program], capture_output=True, text=True, check=False)
    sums = re.search(r"(\d+) calls, (\d+) words, (\d+) known, (\d+) wrong", done.stdout)
    assert done.returncode == 0 and sums, done.stdout[-3000:] + done.stderr
    # How much depends on the compiler alone: less is a loss of ours.
    assert 2 * int(sums[3]) > int(sums[2]), f"{sums[3]} of {sums[2]} words are known"
