# SPDX-License-Identifier: BSD-3-Clause
"""The environment variables of an inferior, from the system or out of its memory."""

import gdb

from . import inferiors, types

_PAGE = 4096
_MAX_VARIABLES = 65536
_MAX_STRING = 1 << 20


def _pieces(inferior, address):
    """The memory from address on, no piece across the end of a page: what follows may not be mapped."""
    while True:
        size = _PAGE - address % _PAGE
        yield bytes(inferior.read_memory(address, size))
        address += size


def _string(inferior, address):
    """A C string's bytes, cut at a bound."""
    text = b""
    for piece in _pieces(inferior, address):
        end = piece.find(b"\0")
        text += piece if end < 0 else piece[:end]
        if end >= 0 or len(text) >= _MAX_STRING:
            return text


def _words(inferior, address, size, order):
    """The pointers of an array, up to a NULL or a bound."""
    rest = b""
    count = 0
    for piece in _pieces(inferior, address):
        rest += piece
        while len(rest) >= size:
            word = int.from_bytes(rest[:size], order)
            rest = rest[size:]
            count += 1
            if word == 0 or count > _MAX_VARIABLES:
                return
            yield word


def _of_memory(inferior):
    """Through the C library's variable; it starts as what the process was started with."""
    with inferiors.Selection():
        inferiors.switch(inferior)
        size = gdb.lookup_type("char").pointer().sizeof
        order = types.byte_order()
        where = int(gdb.parse_and_eval("&'environ'"))
        array = int.from_bytes(bytes(inferior.read_memory(where, size)), order)
        return [_string(inferior, address) for address in _words(inferior, array, size, order)]


def _of_proc(pid):
    with open("/proc/%d/environ" % pid, "rb") as file:
        return file.read().split(b"\0")


def variable(inferior, name):
    """A variable's value, or None; gdb.error or OSError where it cannot be read."""
    native = inferiors.kind(inferior) == "native"
    start = name.encode() + b"="
    for entry in _of_proc(inferior.pid) if native else _of_memory(inferior):
        if entry.startswith(start):
            return entry[len(start):].decode("utf-8", "replace")
    return None
