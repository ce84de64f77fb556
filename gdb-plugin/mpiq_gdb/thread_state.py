# SPDX-License-Identifier: BSD-3-Clause
"""What a thread did when gdb stopped it: the system shows it as traced from then on."""

import gdb

# What the kernel leaves as the result of a system call that waited when the stop came: EINTR, and the codes
# by which it calls it again (ERESTARTSYS, …NOINTR, …NOHAND, …_RESTARTBLOCK).
_INTERRUPTED = (-4, -512, -513, -514, -516)


def before(thread):
    """"S": it slept in a system call; "R": it ran; "?": this machine's registers do not tell.  The caller
    holds a Selection."""
    try:
        thread.switch()
        frame = gdb.newest_frame()
        call = _signed(frame.read_register("orig_rax"))
        result = _signed(frame.read_register("rax"))
    except (gdb.error, ValueError):
        return "?"
    return "S" if call >= 0 and result in _INTERRUPTED else "R"


def _signed(value):
    number = int(value) & 0xffffffffffffffff
    return number - (1 << 64) if number >> 63 else number
