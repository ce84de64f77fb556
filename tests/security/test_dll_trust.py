# SPDX-License-Identifier: BSD-3-Clause
"""Whose message-queue library is loaded: an announced one only from a live process that may name code for us."""
import os
import pathlib
import shutil
import subprocess

import pytest
from ready_process import ready_process
from support import conditions

# A process that announces a library, and is no MPI library's; it tells that it runs.
ANNOUNCER = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
char MPIR_dll_name[1024];
int main(int count, char **words)
{
    snprintf(MPIR_dll_name, sizeof MPIR_dll_name, "%s", words[1]);
    puts("ready");
    fflush(stdout);
    return count + (int)pause();
}
"""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
CONTAINER = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]


@pytest.fixture(scope="module")
def announcer(compiled):
    return compiled(ANNOUNCER, "-rdynamic")


@pytest.fixture
def library(build, tmp_path):
    """A good DLL where nobody else can write."""
    source = build / "tests" / "rank" / "good_dll.so"
    if not source.exists():
        pytest.skip(f"{source} is not built")
    path = tmp_path / "good_dll.so"
    shutil.copy(source, path)
    path.chmod(0o755)
    return path


def read(build, target, **options):
    """What rank-dump makes of it, which chooses DLLs as mpiq does."""
    done = conditions.run([build / "tests" / "rank" / "rank-dump", "--no-stacks", str(target)],
                          env={**os.environ, "MPIQ_TEST_WHERE": "0"}, **options)
    return done.stdout + done.stderr


LOADED = '"name":"MPI_COMM_WORLD"'


def test_one_of_our_own_is_loaded(announcer, library, build):
    with ready_process(announcer, library) as pid:
        assert LOADED in read(build, pid)


def test_never_from_a_core_file(announcer, library, build, tmp_path, mpiq):
    if shutil.which("gcore") is None:
        pytest.skip("gcore is not installed: it comes with gdb")
    with ready_process(announcer, library) as pid:
        conditions.run(["gcore", "-o", tmp_path / "core", str(pid)], seconds=120, check=True, text=False)
    core = next(tmp_path.glob("core.*"))
    said = read(build, core)
    assert LOADED not in said
    assert "is not loaded because it is not a live process of this machine" in said
    assert "MPI_COMM_WORLD" not in mpiq("--json", core, env={**os.environ, "MPIQ_TEST_WHERE": "0"}).out


def test_not_from_another_user(announcer, library, build, root):
    library.parent.chmod(0o755)
    with ready_process(*NOBODY, announcer_for_all(announcer), library) as pid:
        said = read(build, pid)
    assert LOADED not in said
    assert "is not loaded because it belongs to another user" in said


def announcer_for_all(announcer):
    for folder in [announcer, *announcer.parents]:
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    return announcer


def test_not_from_a_container(announcer, library, build, root):
    probe = subprocess.run([*CONTAINER, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("no container can be made here")
    with ready_process(*CONTAINER, announcer, library) as pid:
        child = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        said = read(build, child)
    assert LOADED not in said
    assert "is not loaded because it runs in a container" in said


def test_not_from_root_without_rights(announcer, library, build, root):
    with ready_process("setpriv", "--bounding-set=-all", "--inh-caps=-all", announcer, library) as pid:
        said = read(build, pid)
    assert LOADED not in said
    assert "is not loaded because it has fewer rights than you" in said


@pytest.mark.parametrize("change", ["file", "folder", "owner"])
def test_not_one_that_others_could_have_written(change, announcer, library, build, root):
    if change == "file":
        library.chmod(0o777)
    elif change == "folder":
        library.parent.chmod(0o777)
    else:
        os.chown(library, 65534, 65534)
    with ready_process(announcer, library) as pid:
        said = read(build, pid)
    assert LOADED not in said
    assert "is not loaded because" in said


def test_a_fifo_is_no_library(announcer, build, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with ready_process(announcer, tmp_path / "fifo") as pid:
        assert "is not a file" in read(build, pid)
