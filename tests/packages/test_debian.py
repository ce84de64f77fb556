# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages, in fresh roots of Debian's releases: installed, used on their MPI libraries, removed."""
import os
import pathlib
import subprocess

import pytest

from support.conditions import run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent / "roots" / "root"


@pytest.fixture(scope="module")
def packages():
    if not os.environ.get("MPIQ_DEBS"):
        pytest.skip("MPIQ_DEBS names no packages: ./dev package makes them and runs this")
    return os.environ["MPIQ_DEBS"]


@pytest.mark.parametrize("suite", ["bookworm", "trixie", "forky"])
def test_they_explain_a_hang_and_leave_nothing_behind(packages, suite):
    root = pathlib.Path(subprocess.run([ROOT, "path", suite], check=True, capture_output=True, text=True).stdout.strip())
    if os.geteuid() != 0 or not root.is_dir():
        pytest.skip(f"there is no {root} (tests/roots/root make {suite}), or this is not root")
    done = run([HERE / "in_root", root, packages], seconds=900, stderr=subprocess.STDOUT)
    print(done.stdout)
    assert done.returncode == 0
