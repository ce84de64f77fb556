# SPDX-License-Identifier: BSD-3-Clause
"""Types of an inferior: by C name, with the offsets of their members."""

import itertools

import gdb

_TAGS = ("struct", "union", "enum")
_AGGREGATES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
_MAX_DEPTH = 16


def _is_complete(found):
    """Whether it is defined, not only declared: `struct foo;` has a name and nothing in it."""
    found = found.strip_typedefs()
    if found.code in _AGGREGATES:
        return found.sizeof > 0 or bool(found.fields())
    return found.sizeof > 0


def _candidates(name):
    """What gdb knows under that name, the likeliest first; "struct foo" and "foo" are both tried."""
    tag, _, bare = name.partition(" ")
    if tag in _TAGS and bare:
        spellings = [name, bare] + ["%s %s" % (other, bare) for other in _TAGS if other != tag]
    else:
        bare = name
        spellings = [name] + ["%s %s" % (other, bare) for other in _TAGS]
    for spelling in spellings:
        try:
            yield gdb.lookup_type(spelling)
        except gdb.error:
            continue
    # A declaration in one file may hide the definition in another: ask all files.
    for domain in (gdb.SYMBOL_STRUCT_DOMAIN, gdb.SYMBOL_VAR_DOMAIN):
        for symbol in gdb.lookup_static_symbols(bare, domain):
            if symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF and symbol.type is not None:
                yield symbol.type


class Units:
    """Compilation units that are likely to know a type, asked before all others.

    gdb's index does not tell structs from typedefs: asked for the one where a name is the other's, it reads
    every unit that has it, and a header of Open MPI's is in hundreds.  That takes seconds."""

    def __init__(self):
        self._named = {}
        self._seen = set()

    def add(self, symtab):
        """The unit of a symtab; None is fine."""
        if symtab is None or not symtab.is_valid():
            return
        block = symtab.static_block()
        where = (symtab.objfile.filename, block.global_block.start, block.global_block.end)
        if where in self._seen:
            return
        self._seen.add(where)
        for symbol in block:
            if symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF:
                self._named.setdefault(symbol.name, []).append(symbol)

    def types(self, name):
        tag, _, bare = name.partition(" ")
        for symbol in self._named.get(bare if tag in _TAGS else name, ()):
            if symbol.is_valid() and symbol.type is not None:
                yield symbol.type


def find(name, units):
    """The gdb.Type of that name, typedefs resolved, or None."""
    if name == "bool": # C's, where a library was not built as C++
        name = "_Bool"
    for found in itertools.chain(units.types(name), _candidates(name)):
        if _is_complete(found):
            return found.strip_typedefs()
    return None


def _direct_offset(found, member, depth):
    """Byte offset of a member, also one inside anonymous members; None if there is none."""
    if depth > _MAX_DEPTH or found.code not in _AGGREGATES:
        return None, None
    anonymous = []
    for field in found.fields():
        if not hasattr(field, "bitpos"): # a static member of a C++ class has no place in it
            continue
        if field.name == member:
            return field.bitpos // 8, field.type
        if not field.name or field.is_base_class:
            anonymous.append(field)
    for field in anonymous:
        offset, inner = _direct_offset(field.type.strip_typedefs(), member, depth + 1)
        if offset is not None:
            return field.bitpos // 8 + offset, inner
    return None, None


def field_offset(found, member):
    """Byte offset of "a", or of "a.b" with a dot for each struct gone into; None if there is none."""
    total = 0
    for part in member.split("."):
        offset, inner = _direct_offset(found, part, 0)
        if offset is None:
            return None
        total += offset
        found = inner.strip_typedefs()
    return total


def byte_order():
    """"little" or "big": how the current inferior's numbers lie in memory."""
    number = gdb.lookup_type("int")
    one = b"\1" + b"\0" * (number.sizeof - 1)
    return "little" if int(gdb.Value(one, number)) == 1 else "big"


def _size(*names, default):
    for name in names:
        try:
            return gdb.lookup_type(name).sizeof
        except gdb.error:
            continue
    return default


def sizes():
    """Bytes of short, int, long, long long, a pointer, bool and size_t, and the byte order."""
    pointer = gdb.lookup_type("char").pointer().sizeof
    return [_size("short", default=2), _size("int", default=4), _size("long", default=pointer),
            _size("long long", default=8), pointer, _size("_Bool", "bool", default=1),
            _size("size_t", default=pointer), byte_order()]
