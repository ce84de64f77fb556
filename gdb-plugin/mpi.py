# SPDX-License-Identifier: BSD-3-Clause
"""The loader of gdb's mpi commands: `source …/mpi.py`, or a link to this file beside libmpi that gdb loads
by itself (libmpi.so.40.30.4-gdb.py).  The commands are in the package mpiq_gdb."""

import os
import shutil
import sys

import gdb


def _package_folders():
    """Where mpiq_gdb may be, best first: beside this file, through links too, or where mpiq is installed."""
    here = os.path.abspath(__file__)
    yield os.path.dirname(os.path.realpath(here))
    yield os.path.dirname(here)
    mpiq = os.environ.get("MPIQ") or shutil.which("mpiq")
    if mpiq:
        yield os.path.join(os.path.dirname(os.path.realpath(mpiq)), "..", "share", "mpiq")


def _load():
    # An auto-load script runs once for each libmpi that gdb loads: 64 inferiors, 64 times.
    if "mpiq_gdb" in sys.modules:
        return
    if not hasattr(gdb, "TargetConnection"):
        gdb.write("mpi commands: gdb %s is too old, they need gdb 12 or later\n" % gdb.VERSION, gdb.STDERR)
        return
    for folder in _package_folders():
        if os.path.isfile(os.path.join(folder, "mpiq_gdb", "__init__.py")):
            sys.path.insert(0, os.path.normpath(folder))
            try:
                import mpiq_gdb
            finally:
                sys.path.pop(0)
            mpiq_gdb.load()
            return
    gdb.write("mpi commands: the folder mpiq_gdb is not beside %s; install mpiq's gdb plug-in, or source its "
              "own mpi.py\n" % os.path.realpath(__file__), gdb.STDERR)


_load()
