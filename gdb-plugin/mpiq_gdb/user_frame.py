# SPDX-License-Identifier: BSD-3-Clause
"""The frame of the user's that called MPI."""

import os
import re

import gdb

from . import inferiors, stacks

# MPI_Bcast, PMPI_Bcast, MPIX_Comm_agree; Fortran's spellings, and Open MPI's names for what is behind them.  The
# list has MPIX_ with the name, but not MPI_.
_PREFIX = r"(?:mpi_(?!mpix_)|(?=mpix_))"
_C_NAME = re.compile(r"P?(?:MPI_(?!MPIX_)|(?=MPIX_))([A-Z]\w*)\Z")
_ANY_NAME = re.compile(rf"(?:p?{_PREFIX}|o(?=\w+_f\Z){_PREFIX})(\w+?)(?:_f08ts|_f08|_f)?_{{0,2}}\Z", re.IGNORECASE)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _functions():
    """MPI's functions, from the list that mpiq itself was built with: installed beside us, or in the build."""
    for path in ("mpi_functions.txt", "../lib/rank/mpi_functions.txt"):
        try:
            with open(os.path.join(_HERE, path), encoding="ascii") as lines:
                return {line.strip().lower(): line.strip() for line in lines}
        except OSError:
            pass
    return {}


_FUNCTIONS = _functions()


def _is_mpi(frame):
    """A function of MPI's by its name, in an MPI library or, linked statically, in the program (C's names)."""
    name = frame.name() or ""
    c_name = _C_NAME.match(name)
    if c_name and _FUNCTIONS.get(c_name[1].lower()) == c_name[1]:
        return True
    other = _ANY_NAME.match(name)
    library = os.path.basename(gdb.solib_name(frame.pc()) or "")
    return (bool(other) and other[1].lower() in _FUNCTIONS
            and library.startswith("lib") and "mpi" in library)


def _of_thread(thread):
    """(the frame that called MPI or None, the innermost frame outside of libraries or None)."""
    caller = own = None
    inside = False
    try:
        for count, frame in enumerate(stacks.frames(thread)):
            if count == stacks.MAX_FRAMES:
                break
            if inside:
                caller, inside = frame, False
            if _is_mpi(frame):
                inside = True
            elif own is None and gdb.solib_name(frame.pc()) is None and frame.name():
                own = frame
    except gdb.error:
        pass # as far as the stack can be walked
    return caller, own


def select(inferior):
    """Makes the user's frame of inferior gdb's selected one: the caller of the outermost MPI function, in
    the thread that is in MPI; without one the innermost frame that is not a library's; else where it is."""
    inferiors.switch(inferior)
    threads = [thread for thread in reversed(inferior.threads()) if not thread.is_running()]
    main = inferiors.main_thread(inferior)
    threads.sort(key=lambda thread: main is None or thread.num != main.num)
    elsewhere = None
    for thread in threads:
        caller, own = _of_thread(thread)
        if caller is not None:
            thread.switch()
            caller.select()
            return
        if own is not None and elsewhere is None:
            elsewhere = thread, own
    if elsewhere is not None:
        elsewhere[0].switch()
        elsewhere[1].select()
    elif main is not None:
        main.switch()
