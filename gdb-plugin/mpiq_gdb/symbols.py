# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of an inferior's symbols."""

import gdb


def _address(symbol):
    """Where a symbol's object is, or None: a local variable has no address that outlives its frame."""
    if symbol is None or symbol.needs_frame or not (symbol.is_variable or symbol.is_function):
        return None
    address = symbol.value().address
    return None if address is None else int(address)


def _is_local(name):
    """Whether the selected frame has a variable of that name, which would be taken for the symbol."""
    try:
        symbol, _ = gdb.lookup_symbol(name)
    except gdb.error: # no frame is selected
        return False
    return symbol is not None and symbol.needs_frame


def find(name):
    """(address, symtab of its unit or None) of a function or variable, or None.

    gdb searches in the order in which objects were loaded, the executable first, and knows copy
    relocations.  With debug information first; then what is in the tables of symbols alone, which is all
    that a stripped library has."""
    for lookup in (gdb.lookup_global_symbol, gdb.lookup_static_symbol):
        try:
            symbol = lookup(name)
            address = _address(symbol)
        except gdb.error:
            continue
        if address is not None:
            return address, symbol.symtab
    if _is_local(name):
        return None
    try:
        return int(gdb.parse_and_eval("&'%s'" % name)), None
    except gdb.error:
        return None
