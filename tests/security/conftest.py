# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of hostile ranks, files and libraries need: mpiq, and Open MPI of each line."""
import os
import pathlib
import subprocess

import pytest

from support import libraries
from support.answers import Mpiq
from support.built import mpiq_program

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def mpiq():
    return Mpiq(mpiq_program())


@pytest.fixture(scope="session")
def build():
    path = os.environ.get("MPIQ_BUILD")
    if not path:
        pytest.skip("MPIQ_BUILD does not name the build directory")
    return pathlib.Path(path)


@pytest.fixture(scope="session")
def line():
    """A patched Open MPI: what is hostile is so with either line."""
    found = libraries.lines().get("4.1") or libraries.lines().get("5.0")
    if found is None:
        pytest.skip("MPIQ_OMPI_41 names no Open MPI")
    return found


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="session")
def root():
    if os.geteuid() != 0:
        pytest.skip("takes root, to be several users")


@pytest.fixture(scope="session")
def compiled(programs):
    """compiled(source, *options): a program or library of a C text, without MPI."""
    count = 0

    def build_one(text, *options):
        nonlocal count
        count += 1
        source = programs / f"program-{count}.c"
        source.write_text(text)
        executable = programs / f"program-{count}"
        done = subprocess.run(["gcc", "-g", "-Wall", "-Wextra", "-o", executable, source, *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return executable

    return build_one
