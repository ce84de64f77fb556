# SPDX-License-Identifier: BSD-3-Clause
"""The .patch files: made from what is in the tree now, and fit for the release as it comes."""

import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATCHES = ROOT / "ompi-patch"
RELEASES = sorted(path.stem.removeprefix("openmpi-") for path in PATCHES.glob("openmpi-*.patch"))
CACHE = pathlib.Path(os.environ.get("MPIQ_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "mpiq")

# What autotools would run again for, had the patch touched it.
GENERATED = re.compile(r"(^|/)(configure|configure\.ac|acinclude\.m4|aclocal\.m4|Makefile\.(am|in)|.*\.m4)$")


def touched(release):
    text = (PATCHES / f"openmpi-{release}.patch").read_text()
    return re.findall(r"^\+\+\+ b/(\S+)$", text, re.MULTILINE)


@pytest.fixture(scope="module", params=RELEASES)
def pristine(request, tmp_path_factory):
    """(release, directory) of an untouched release, from the builder's cache or Open MPI's git; only the files that
    matter."""
    release = request.param
    tarball = CACHE / "sources" / f"openmpi_{release}.orig.tar.xz"
    target = tmp_path_factory.mktemp(release)
    wanted = set(touched(release))
    if os.environ.get("MPIQ_OMPI_GIT"):
        commit = json.loads((PATCHES / "releases.json").read_text())[release]["commit"]
        with tarfile.open(fileobj=io.BytesIO(subprocess.run(
                ["git", "-C", os.environ["MPIQ_OMPI_GIT"], "archive", commit, "ompi"], check=True,
                stdout=subprocess.PIPE).stdout)) as archive:
            members = [member for member in archive if member.name in wanted]
            archive.extractall(target, members, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return release, target
    if not tarball.exists():
        pytest.skip(f"the builder has not fetched {tarball.name}, and MPIQ_OMPI_GIT names no clone of Open MPI")
    with tarfile.open(tarball) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            if path in wanted:
                member.name = path
                archive.extract(member, target, filter="data") if hasattr(tarfile, "data_filter") else \
                    archive.extract(member, target)
    return release, target


@pytest.mark.parametrize("release", RELEASES)
def test_no_generated_file_is_touched(release):
    assert [path for path in touched(release) if GENERATED.search(path)] == []


def test_the_patch_is_fresh(pristine, tmp_path):
    release, source = pristine
    made = tmp_path / "made.patch"
    subprocess.run([sys.executable, PATCHES / "generate", "--source", source, "--output", made, release],
                   check=True, stdout=subprocess.DEVNULL)
    assert made.read_bytes() == (PATCHES / f"openmpi-{release}.patch").read_bytes(), \
        f"run ompi-patch/generate for {release}"


def test_the_patch_applies_cleanly(pristine):
    release, source = pristine
    done = subprocess.run(["patch", "-p1", "--dry-run", "--fuzz=0", "--force", "-i",
                           PATCHES / f"openmpi-{release}.patch"], cwd=source, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert "offset" not in done.stdout and "fuzz" not in done.stdout


def test_our_headers_are_included_whatever_is_configured(pristine, tmp_path):
    """Our #include lines stand in no #if block but a header's own guard: a build without fault tolerance, say,
    needs them as well."""
    release, source = pristine
    inside = []
    for path in touched(release):
        if (source / path).exists():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes((source / path).read_bytes())
    subprocess.run(["patch", "-p1", "-s", "--force", "-i", PATCHES / f"openmpi-{release}.patch"], cwd=tmp_path,
                   check=True)
    for path in touched(release):
        if path.startswith("ompi/mqs/"):
            continue
        stack = []
        for number, line in enumerate((tmp_path / path).read_text(errors="replace").splitlines(), 1):
            if match := re.match(r"\s*#\s*(if|ifdef|ifndef)\b\s*(.*)", line):
                stack.append(match[0])
            elif re.match(r"\s*#\s*endif\b", line):
                stack.pop()
            elif re.match(r'\s*#\s*include\s+"ompi/mqs/', line):
                guards = [entry for entry in stack if not re.match(r"\s*#\s*ifndef\s+\w+_H(_HAS_BEEN_INCLUDED)?_?\b", entry)]
                if guards:
                    inside.append(f"{path}:{number}: {guards}")
    assert inside == []


TEMPLATE = """\
#include "ompi_config.h"

PROTOTYPE ERROR_CLASS bcast(BUFFER buffer, COUNT count, DATATYPE datatype, INT root, COMM comm)
{
    int err;

    if (MPI_PARAM_CHECK) {
        err = MPI_SUCCESS;
    }

    err = comm->c_coll->coll_bcast(buffer, count, datatype, root, comm, comm->c_coll->coll_bcast_module);
    OMPI_ERRHANDLER_RETURN(err, comm, err, FUNC_NAME);
}
"""


def test_a_template_stays_one_function():
    """Open MPI's main makes several functions of a template's body: it gets the statement, and is not split in two."""
    sys.path.insert(0, str(PATCHES))
    loader = importlib.machinery.SourceFileLoader("generate", str(PATCHES / "generate"))
    generate = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", loader))
    loader.exec_module(generate)
    statement = "OMPI_MQS_ENTER(bcast, comm, count, datatype, NULL, root)"
    expected = TEMPLATE.replace('config.h"\n', f'config.h"\n{generate.INCLUDE}').replace(
        "MPI_SUCCESS;\n    }\n", f"MPI_SUCCESS;\n    }}\n\n    {statement}\n")
    assert generate.with_entry("ompi/mpi/c/bcast.c.in", TEMPLATE, statement, True) == expected


def tree(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_the_series_is_the_patch_in_steps(pristine, tmp_path):
    """Each step applies on those before it, includes no header that comes later, and all of them are the patch."""
    release, source = pristine
    work, series = tmp_path / "work", tmp_path / "series"
    shutil.copytree(source, work)
    subprocess.run([sys.executable, PATCHES / "generate", "--source", source, "--series", series, release],
                   check=True, stdout=subprocess.DEVNULL)
    steps = sorted(series.iterdir())
    assert [step.name for step in steps] == ["0001-locations.patch", "0002-layout.patch", "0003-calls.patch",
                                             "0004-waits.patch"]
    for step in steps:
        before = tree(work)
        done = subprocess.run(["patch", "-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "-i", step],
                              cwd=work, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0 and "offset" not in done.stdout, done.stdout
        after = tree(work)
        assert after != before
        assert not re.search(rb"series: \w+ \*/|OMPI_MQS_TEMPLATES", b"".join(after.values()))
        missing = {header for text in after.values() for header in re.findall(rb'#include "(ompi/mqs/\w+\.h)"', text)
                   if not (work / header.decode()).exists()}
        assert missing == set(), step.name
    whole = tmp_path / "whole"
    shutil.copytree(source, whole)
    subprocess.run(["patch", "-p1", "-s", "--force", "-i", PATCHES / f"openmpi-{release}.patch"], cwd=whole,
                   check=True)
    assert tree(work) == tree(whole)


def test_a_changed_source_is_refused(pristine, tmp_path):
    release, source = pristine
    for path in touched(release):
        if (source / path).exists():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes((source / path).read_bytes())
    victim = next((tmp_path / "ompi/mpi/c").glob("bcast.c*"))
    victim.write_text(victim.read_text().replace("MPI_PARAM_CHECK", "SOMETHING_ELSE"))
    done = subprocess.run([sys.executable, PATCHES / "generate", "--source", tmp_path, "--output",
                           tmp_path / "out", release], check=False, text=True, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert f"ompi/mpi/c/{victim.name}: has no `if (MPI_PARAM_CHECK)`" in done.stderr


def test_the_table_of_releases_is_what_was_found():
    subprocess.run([PATCHES / "try-release", "--table", "--check"], check=True)


def test_an_unknown_line_is_refused():
    done = subprocess.run([PATCHES / "build", "3.1.6"], check=False, text=True, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "no patch for Open MPI 3.1.6" in done.stderr


@pytest.mark.parametrize("found, asked, told", [
    ({}, "4.1.6", "is not the source of Open MPI"),
    ({"VERSION": "major=5\nminor=0\nrelease=9\n"}, "4.1.6", "is Open MPI 5.0, not 4.1.6")])
def test_another_source_is_told(tmp_path, found, asked, told):
    if found:
        (tmp_path / "ompi/mpi/c").mkdir(parents=True)
    for name, text in found.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([PATCHES / "generate", "--source", tmp_path, "--output", tmp_path / "made.patch", asked],
                          check=False, text=True, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert f"{tmp_path} {told}" in done.stderr


def test_a_release_without_source_asks_for_it():
    done = subprocess.run([PATCHES / "build", "4.1.6"], check=False, text=True, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "--source openmpi-4.1.6.tar.bz2" in done.stderr
