# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of an inferior's threads."""

import os
import re

import gdb

# What "info symbol" says; it leaves the file out where there is only one.
_IN_SECTION = re.compile(r" in section \S+(?: of (.*))?$", re.MULTILINE)

# A recursion of the user's may be endless; mpiq needs the ends that matter.
MAX_FRAMES = 256


def frames(thread):
    """The frames of a thread, innermost first, inlined functions as frames of their own."""
    thread.switch()
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def source(frame):
    """File and line where the frame is, (None, 0) if not known."""
    place = frame.find_sal()
    if place is None or place.symtab is None:
        return None, 0
    file = place.symtab.filename
    # As other ranks have it, which mpiq reads: with the folder that it was compiled in.
    return file if os.path.isabs(file) else place.symtab.fullname(), place.line


def symtabs(thread):
    """The symtabs of a thread's functions, as far as its stack can be walked."""
    ret = []
    try:
        for _, frame in zip(range(MAX_FRAMES), frames(thread)):
            place = frame.find_sal()
            if place is not None and place.symtab is not None:
                ret.append(place.symtab)
    except gdb.error:
        pass
    return ret


def object_of(pc):
    """Path of the mapped file that holds pc, or None."""
    library = gdb.solib_name(pc)
    if library:
        return library
    match = _IN_SECTION.search(gdb.execute("info symbol 0x%x" % pc, to_string=True))
    if match is None:
        return None
    path = match.group(1) or gdb.current_progspace().filename
    return path if path and path.startswith("/") else None # the kernel's own page is no file


def describe(frame):
    """One frame as the wire says it."""
    pc = frame.pc()
    ret = {"pc": pc}
    function = frame.name()
    if function:
        ret["function"] = function
    file, line = source(frame)
    if file:
        ret["file"] = file
    if line:
        ret["line"] = line
    mapped = object_of(pc)
    if mapped:
        ret["object"] = mapped
    if frame.type() == gdb.INLINE_FRAME:
        ret["inlined"] = True
    return ret


def _function_at(pc):
    """The innermost function at pc by the debug information, inlined ones included; None."""
    try:
        block = gdb.block_for_pc(pc)
    except RuntimeError:
        return None
    while block is not None and block.function is None:
        block = block.superblock
    return block.function.name if block is not None else None


def place(address):
    """What a call that returns to address was made from, as the wire says it."""
    pc = max(address - 1, 0) # a call may be the last instruction of a line
    frame = {"pc": address}
    mapped = object_of(pc)
    if mapped is None:
        return {"frames": [], "truncated": False}
    frame["object"] = mapped
    line = gdb.current_progspace().find_pc_line(pc)
    if line.symtab is not None:
        file = line.symtab.filename
        frame["file"] = file if os.path.isabs(file) else line.symtab.fullname()
        frame["line"] = line.line
    function = _function_at(pc)
    if function:
        frame["function"] = function
    return {"frames": [frame], "truncated": False}


def stack(thread):
    """The stack of a thread as the wire says it; the caller holds a Selection."""
    ret = {"frames": [], "truncated": False}
    last = None
    try:
        for frame in frames(thread):
            if len(ret["frames"]) == MAX_FRAMES:
                ret["truncated"], ret["why"] = True, "only the innermost %d frames are read" % MAX_FRAMES
                return ret
            ret["frames"].append(describe(frame))
            last = frame
        if last is not None and last.unwind_stop_reason() not in (gdb.FRAME_UNWIND_NO_REASON,
                                                                  gdb.FRAME_UNWIND_OUTERMOST):
            ret["truncated"] = True
            ret["why"] = gdb.frame_stop_reason_string(last.unwind_stop_reason())
    except gdb.error as error:
        ret["truncated"], ret["why"] = True, str(error)
    return ret
