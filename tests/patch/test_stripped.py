# SPDX-License-Identifier: BSD-3-Clause
"""A library without symbols and debug information, in another place than it was built for, tells as much as
one with them where it was installed."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from patched import AS_ROOT, PREFIXES, ROOT, Library
from support.built import built
from test_through_dll import compare


def moved_environment(prefix):
    return {"OPAL_PREFIX": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib"),
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def stripped(library, tmp_path_factory):
    """The same library, moved and stripped of all that can be."""
    prefix = tmp_path_factory.mktemp(f"moved-{library.line}") / "prefix"
    shutil.copytree(library.prefix, prefix, symlinks=True)
    for path in [*(prefix / "lib").rglob("*.so*"), *(prefix / "bin").iterdir()]:
        with open(path, "rb") as file:
            elf = file.read(4) == b"\x7fELF"
        if elf and not path.is_symlink():
            subprocess.run(["strip", "--strip-all", path], check=True)
    moved = Library(library.line, prefix, tmp_path_factory.mktemp(f"stripped-{library.line}"))
    moved.environment = moved_environment(prefix)
    return moved


def test_it_is_moved_and_stripped(stripped):
    """What the other tests stand on."""
    sections = subprocess.run(["readelf", "-SW", stripped.prefix / "lib" / "libmpi.so"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    assert ".dynsym" in sections and ".symtab" not in sections and ".debug_info" not in sections
    program = stripped.build("off.c")
    told = subprocess.run(["ldd", program], check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, **stripped.environment}).stdout
    loaded = [line.split("=>")[1].split()[0] for line in told.splitlines() if "libmpi.so" in line]
    assert loaded and all(path.startswith(str(stripped.prefix)) for path in loaded), told


@pytest.fixture(params=["installed", "stripped"])
def either(request, library, stripped):
    return stripped if request.param == "stripped" else library


def test_where_the_dll_is(either):
    """mpimsgq_dll_locations follows the prefix to where it is now."""
    either.passes(1, either.build("locations.c"), either.prefix / "lib" / "openmpi" / "libompi_dbg_msgq.so")


def test_where_no_dll_is(library, tmp_path):
    library.passes(1, library.build("locations.c"), mca=[("ompi_debugger_dll_path", str(tmp_path))])


@pytest.mark.parametrize("source", ["every_collective.c", "constructors.c"])
def test_the_dll_reads_what_was_called(stripped, tmp_path, source):
    compare(stripped, tmp_path, source, 1)


def test_the_dlls_live_tests_pass_on_it(stripped):
    """All that tests/mqs asks of real jobs, of this library alone."""
    built("mqs/libompi_dbg_msgq.so")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MPIQ_OMPI")}
    environment.update(AS_ROOT)
    environment.update(stripped.environment)
    environment[PREFIXES[stripped.line]] = str(stripped.prefix)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           pathlib.Path("tests", "mqs", "test_live.py"), "-k", # one needs gdb to know types
                           f"{stripped.line} and not unpatched and not other_pml"],
                          cwd=ROOT, env=environment, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout, done.stdout
