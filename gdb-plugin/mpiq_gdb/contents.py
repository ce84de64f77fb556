# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a message as values: by the blocks of its datatype, with gdb's own formatting."""

import gdb

# C's types by what an element is and its size in bytes.
_NAMES = {
    "character": {1: "char"},
    "signed": {1: "signed char", 2: "short", 4: "int", 8: "long", 16: "__int128"},
    "unsigned": {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long",
                 16: "unsigned __int128"},
    "floating": {2: "_Float16", 4: "float", 8: "double", 16: "long double"},
    "boolean": {1: "_Bool", 4: "int"},
    "wide": {2: "short", 4: "int"},
}
_MANY = 10000


def limit():
    """How many elements gdb is set to show."""
    return gdb.parameter("print elements") or _MANY


def _type(kind, size):
    """(gdb's type, how many of it make one element, its name)"""
    if kind == "complex":
        inner = _type("floating", size // 2)[0]
        return inner, 2, "complex %s" % inner.name
    name = _NAMES.get(kind, {}).get(size)
    if name is not None:
        try:
            found = gdb.lookup_type(name)
            if found.sizeof == size:
                return found, 1, name
        except gdb.error:
            pass
    return gdb.lookup_type("unsigned char"), size, "byte"


def _fits(size):
    """How many bytes a value of elements of that size may have: gdb 13 crashes where a value out of bytes is
    larger than it is set to allow, so that it must not come to that."""
    most = gdb.parameter("max-value-size")
    most = _MANY * size if most is None or most < 0 else most
    return min(most, (limit() + 1) * size) // size * size


def _complex(data, part):
    real, imaginary = (gdb.Value(data[at:at + part.sizeof], part).format_string() for at in (0, part.sizeof))
    if imaginary.startswith("-"):
        return "%s - %si" % (real, imaginary[1:])
    return "%s + %si" % (real, imaginary)


def _shown(data, kind, size, total=None):
    """Elements of one kind that lie side by side, with their type: double[3] = {…}, int = 7.  total: how
    many there are, if data is but their beginning."""
    single, pieces, name = _type(kind, size)
    count = max(total or 0, len(data) // size)
    data = data[:_fits(size)]
    if not data:
        return "%s[%d]" % (name, count)
    if kind == "complex":
        values = [_complex(data[at:at + size], single) for at in range(0, len(data), size)][:limit()]
        text = ", ".join(values) + ("..." if count > len(values) else "")
        return "%s = %s" % (name, text) if count == 1 else "%s[%d] = {%s}" % (name, count, text)
    if count == 1 and pieces == 1:
        return "%s = %s" % (name, gdb.Value(data, single).format_string())
    whole = gdb.Value(data, single.array(len(data) // single.sizeof - 1))
    return "%s[%d] = %s" % (name, count, whole.format_string())


class _Bytes:
    """Where an element's blocks are: with the gaps of the datatype, or packed side by side."""

    def __init__(self, answer):
        self.data = bytes.fromhex(answer.get("data", ""))
        self.packed = answer["operation"].get("packed", False)
        self.start = answer.get("start", 0)
        self.extent = answer["datatype"]["extent"]
        self.size = answer["datatype"]["size"]

    def _piece(self, at, size):
        return self.data[at:at + size] if at >= 0 else b""

    def of_element(self, number, blocks):
        """[(kind, size of one, bytes, how many there are)]; no more bytes than are shown."""
        ret = []
        packed_at = number * self.size
        for block in blocks:
            whole = block["length"] * block["size"]
            most = _fits(block["size"])
            data = b""
            for turn in range(block["count"]):
                at = packed_at + turn * whole if self.packed else (
                    number * self.extent + block["displacement"] + turn * block["stride"] - self.start)
                piece = self._piece(at, whole)
                data += piece
                if not piece or len(data) >= most: # the rest was not read, or is not shown
                    break
            packed_at += block["count"] * whole
            ret.append((block["kind"], block["size"], data, block["length"] * block["count"]))
        return ret


def _joined(parts):
    """Neighbours of one kind as one, if all are of that kind: a vector of vectors is one array."""
    if len({(kind, size) for kind, size, _, _ in parts}) == 1:
        return [(*parts[0][:2], b"".join(part[2] for part in parts), sum(part[3] for part in parts))]
    return parts


def _element_text(parts):
    parts = [(kind, size, data[:len(data) - len(data) % size], total) for kind, size, data, total in parts]
    parts = [part for part in _joined(parts) if part[2]] if parts else []
    shown = [_shown(data, kind, size, total) for kind, size, data, total in parts[:limit()]]
    if len(parts) == 1:
        return shown[0]
    return "{%s%s}" % (", ".join(shown), ", ..." if len(parts) > len(shown) else "")


def lines(answer):
    """The contents of an answer to the question for them, line by line."""
    datatype = answer.get("datatype")
    data = answer.get("data")
    if not data or datatype is None:
        return []
    where = _Bytes(answer)
    blocks = datatype["blocks"]
    count = answer["operation"]["count"]
    if where.packed:
        there = len(where.data) // where.size if where.size > 0 else 0
        there = there or (1 if where.data else 0)
    else:
        there = answer.get("elements", 0)
    there = min(there, max(count, 0), limit() + 1)
    if datatype["predefined"] and len(blocks) == 1: # an array of them
        parts = [where.of_element(number, blocks)[0] for number in range(there)]
        if not parts:
            return []
        return [_shown(b"".join(part[2] for part in parts), parts[0][0], parts[0][1], count)]
    if count == 1:
        ret = [_element_text(where.of_element(0, blocks))] if there else []
    else:
        there = min(there, limit())
        ret = ["[%d] = %s" % (number, _element_text(where.of_element(number, blocks)))
               for number in range(there)]
    if ret and there < count:
        ret.append("... and %d more" % (count - there))
    return ret


def as_type(data, name):
    """Bytes as a type of the user's program: an array of it if there are several; a GdbError if that cannot
    be."""
    try:
        wanted = gdb.parse_and_eval("(%s *) 0" % name).type.target()
    except gdb.error as error:
        raise gdb.GdbError("'%s' is not a type here: %s" % (name, error))
    count = len(data[:_fits(max(wanted.sizeof, 1))]) // wanted.sizeof if wanted.sizeof else 0
    if not count:
        raise gdb.GdbError("the %d bytes available do not hold a whole %s, which has %d"
                           % (len(data), name, wanted.sizeof))
    shown = wanted if count == 1 else wanted.array(count - 1)
    return "%s = %s" % (shown, gdb.Value(data[:count * wanted.sizeof], shown).format_string())


def as_bytes(data):
    """What is known of no datatype."""
    few = data[:_fits(1)]
    whole = gdb.Value(few, gdb.lookup_type("unsigned char").array(len(few) - 1))
    return "byte[%d] = %s" % (len(data), whole.format_string(format="x", repeat_threshold=0))
