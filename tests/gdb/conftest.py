# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of gdb's mpi commands need: hung jobs of each release line, and the real gdb on them."""
import pathlib
import shutil

import pytest

import gdb_session
from hung_job import RANKS, HungJob
from support import built
from support import libraries

HERE = pathlib.Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    """Without gdb none of them says anything."""
    if shutil.which("gdb") is None:
        for item in items:
            if HERE in pathlib.Path(item.fspath).parents:
                item.add_marker(pytest.mark.skip(reason="gdb is not installed"))


@pytest.fixture(scope="session", params=libraries.for_most_tests())
def line(request):
    """An Open MPI: this machine's under the recorder, or a patched one."""
    return built.line(request.param)


@pytest.fixture
def own_build(line):
    """For tests of what a library that we build has: its types, and no recorder between a program and itself."""
    if not line.patched:
        pytest.skip("a library as it is shipped has no types, and the recorder's frames lie between")


@pytest.fixture(scope="session")
def build_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="session")
def program(line, build_folder):
    return line.compile([HERE / "wrong_turn.c"], build_folder / ("wrong_turn-" + line.name))


@pytest.fixture(scope="module")
def hung(line, program):
    """A job of eight ranks that hangs, for the tests that leave it as it is."""
    with HungJob(line, [program], RANKS) as job:
        yield job.stuck()


@pytest.fixture
def own_hung(line, program):
    """One for a test alone."""
    with HungJob(line, [program], RANKS) as job:
        yield job.stuck()


@pytest.fixture(scope="module")
def cores(hung, tmp_path_factory):
    """Core files of ranks 1 and 2."""
    folder = tmp_path_factory.mktemp("cores")
    return {rank: hung.make_core(rank, folder) for rank in (1, 2)}


@pytest.fixture
def wire(tmp_path):
    """gdb with the client of the wire in mpiq's place."""
    return gdb_session.Wire(tmp_path)
