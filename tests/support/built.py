# SPDX-License-Identifier: BSD-3-Clause
"""What was built and is tested: MPIQ names the mpiq program, MPIQ_BUILD the build directory."""
import os
import pathlib

import pytest

from support import libraries


def mpiq_program():
    """The path of mpiq, as text; without one the test is skipped."""
    path = os.environ.get("MPIQ")
    if not path or not os.access(path, os.X_OK):
        pytest.skip("MPIQ names no mpiq program")
    return path


def built(name):
    """A file of the build directory; without it the test is skipped."""
    build = os.environ.get("MPIQ_BUILD")
    if not build and os.environ.get("MPIQ"):
        build = pathlib.Path(os.environ["MPIQ"]).resolve().parent.parent
    path = pathlib.Path(build or "/nonexistent") / name
    if not path.exists():
        pytest.skip(f"{name} is not built, or MPIQ_BUILD does not name the build directory")
    return path


def recorder():
    """The recorder that belongs to mpiq."""
    return built("recorder/libmpiq_record.so")


def line(name):
    """An MPI library by its name; where the environment names none, the test is skipped."""
    if name in libraries.PREFIX_VARIABLES and name not in libraries.lines():
        pytest.skip(f"{libraries.PREFIX_VARIABLES[name]} names no Open MPI {name}")
    return libraries.line(name)
