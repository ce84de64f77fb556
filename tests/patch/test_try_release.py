# SPDX-License-Identifier: BSD-3-Clause
"""What try-release leaves and what it renews where a release is built in the tree of another one."""

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "ompi-patch" / "try-release"
AGO = 1_000_000_000


@pytest.fixture(scope="module")
def try_release():
    loader = importlib.machinery.SourceFileLoader("try_release", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("try_release", loader))
    loader.exec_module(module)
    return module


def files(top, texts):
    for path, text in texts.items():
        file = top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (AGO, AGO))


def test_what_differs_is_compiled_again(try_release, tmp_path):
    built, wanted = tmp_path / "built", tmp_path / "wanted"
    files(built, {"ompi/same.c": "int a;\n", "ompi/comment.c": "int a; /* an int */\n", "ompi/code.c": "int a;\n",
                  "config/ompi.m4": "old\n"})
    files(wanted, {"ompi/same.c": "int a;\n", "ompi/comment.c": "int a; /* a */\n", "ompi/code.c": "long a;\n",
                   "ompi/new.c": "int b;\n", "config/ompi.m4": "new\n"})
    try_release.overwrite(wanted, built)
    assert {path.name: path.stat().st_mtime == AGO for path in (built / "ompi").iterdir() if path.name != "new.c"} == {
        "same.c": True, "comment.c": True, "code.c": False}
    assert all((built / "ompi" / file.name).read_bytes() == file.read_bytes() for file in (wanted / "ompi").iterdir())
    assert (built / "config/ompi.m4").read_text() == "old\n"


def test_a_library_of_another_kind_is_linked_again(try_release, tmp_path):
    """4.1.1 installs a library that 4.1.2 links into another one; make saw no need to link it again, and had nothing
    to install."""
    built, wanted = tmp_path / "built", tmp_path / "wanted"
    files(built, {"mpir/Makefile.am": "noinst_LTLIBRARIES = libmpir.la\n", "mpir/libmpir.la": "convenience\n",
                  "other/Makefile.am": "noinst_LTLIBRARIES = libother.la\n", "other/libother.la": "as it is\n"})
    files(wanted, {"mpir/Makefile.am": "lib_LTLIBRARIES = libmpir.la\n",
                   "other/Makefile.am": "noinst_LTLIBRARIES = libother.la\n"})
    try_release.overwrite(wanted, built)
    assert not (built / "mpir/libmpir.la").exists()
    assert (built / "other/libother.la").exists()


def test_a_copy_that_would_not_find_itself_is_refused_before_the_build(try_release, tmp_path):
    """Files name their prefix, in place of which a copy has its own."""
    tree = tmp_path / "5.0.9"
    given = argparse.Namespace(work=tmp_path, over=tree, unpatched=True)
    with pytest.raises(try_release.Failed, match=r"library and .*5\.0\.11/no-hook are not of one length.*another --work"):
        try_release.over("5.0.11", "HEAD", given, {})
