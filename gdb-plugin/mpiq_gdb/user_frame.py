# SPDX-License-Identifier: BSD-3-Clause
"""The frame of the user's that called MPI."""

import os
import re

import gdb

from . import inferiors, stacks

# MPI_Bcast, PMPI_Bcast; Fortran's spellings count only inside an MPI library, for a user's own function
# may be called mpi_setup.
_C_NAME = re.compile(r"P?MPI_[A-Z]\w*\Z")
_ANY_NAME = re.compile(r"p?mpi_\w+\Z", re.IGNORECASE)


def _is_mpi(frame):
    name = frame.name() or ""
    if _C_NAME.match(name):
        return True
    return bool(_ANY_NAME.match(name)) and "mpi" in os.path.basename(gdb.solib_name(frame.pc()) or "")


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
