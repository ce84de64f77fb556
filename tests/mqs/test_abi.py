# SPDX-License-Identifier: BSD-3-Clause
"""The DLL as a debugger finds it: the release's own header and ours say the same to a compiler, nothing but
the interface is exported, nothing but libc is needed, and the build is clean C99."""

import os
import pathlib
import re
import subprocess

import pytest

from support.built import built

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADERS = "".join((ROOT / "include" / name).read_text() for name in ("mpi_interface.h", "mqs_extensions.h"))
BASICS = """
#define BEGIN_C_DECLS
#define END_C_DECLS
#define OMPI_DECLSPEC
#include <stdbool.h>
#include <stddef.h>
"""


def table(work, header, include, dll):
    program = work / ("table" + re.sub(r"\W", "_", header))
    subprocess.run(
        ["cc", "-std=c99", "-w", "-Werror=incompatible-pointer-types", '-DHEADER="%s"' % header, "-I", str(include), "-I",
         str(work), str(HERE / "abi_table.c"), str(dll), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(dll.parent)}).stdout.splitlines()


@pytest.mark.parametrize("line", ["41", "50"])
def test_same_as_the_release_header(tmp_path, line):
    variable = "MPIQ_OMPI_SOURCE_" + line
    source = os.environ.get(variable)
    if not source:
        pytest.skip("%s does not name the release's source" % variable)
    dll = built("mqs/libompi_dbg_msgq.so")
    (tmp_path / "ompi_config.h").write_text(BASICS)
    theirs = table(tmp_path, "msgq_interface.h", pathlib.Path(source) / "ompi" / "debuggers", dll)
    ours = table(tmp_path, "mpi_interface.h", ROOT / "include", dll)
    assert len(ours) > 100
    assert ours == theirs


def test_exports():
    dll = built("mqs/libompi_dbg_msgq.so")
    lines = subprocess.run(["nm", "-D", "--defined-only", str(dll)], check=True, capture_output=True, text=True).stdout
    exported = sorted(line.split()[-1] for line in lines.splitlines())
    declared = sorted(set(re.findall(r"^extern [^;]*?(mqs_\w+)\(", HEADERS, re.M)))
    assert len(declared) == 20
    assert exported == declared


def test_needs_libc_alone():
    dll = built("mqs/libompi_dbg_msgq.so")
    lines = subprocess.run(["readelf", "-d", str(dll)], check=True, capture_output=True, text=True).stdout
    assert re.findall(r"NEEDED.*\[(.*)\]", lines) == ["libc.so.6"]
    undefined = subprocess.run(["nm", "-D", "--undefined-only", str(dll)], check=True, capture_output=True, text=True).stdout
    foreign = [name for name in undefined.split() if name.startswith(("mqs_", "ompi_", "opal_", "MPI"))]
    assert not foreign


def test_loads_at_once_in_a_stranger(tmp_path):
    dll = built("mqs/libompi_dbg_msgq.so")
    program = tmp_path / "stranger.c"
    program.write_text("""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *handle = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        puts(dlerror());
        return 1;
    }
    int (*width)(void) = (int (*)(void))dlsym(handle, "mqs_dll_taddr_width");
    char *(*text)(int) = (char *(*)(int))dlsym(handle, "mqs_dll_error_string");
    for (int i = -5; i < 1000; i++) {
        if (text(i) == NULL || *text(i) == 0)
            return 2;
    }
    return width() != sizeof(unsigned long);
}
""")
    subprocess.run(["cc", str(program), "-ldl", "-o", str(tmp_path / "stranger")], check=True)
    subprocess.run([str(tmp_path / "stranger"), str(dll)], check=True)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_builds_clean_as_c99(tmp_path, compiler):
    if subprocess.run(["which", compiler], check=False, capture_output=True).returncode != 0:
        pytest.skip("%s is not installed" % compiler)
    for source in sorted((ROOT / "mqs").glob("*.c")):
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I", str(ROOT / "include"), "-I",
                        str(ROOT / "mqs"), "-c", str(source), "-o", str(tmp_path / (source.stem + ".o"))], check=True)
