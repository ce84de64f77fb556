# SPDX-License-Identifier: BSD-3-Clause
"""MPI's handles printed as what they are: mpiq says what each stands for.

A handle is known by the name that the standard gives its type.  What is said of one is kept until a process
has moved; one that stands for nothing (it is not set yet) is printed as gdb prints it."""

import gdb

from . import inferiors, mpiq, question, words

_KINDS = {"MPI_Comm": "communicator", "MPI_Request": "request", "MPI_Datatype": "datatype",
          "MPI_Group": "group", "MPI_Status": "status"}

# {(inferior, pid, kind, address, DLL, mpiq): text or None}, of this stop.
_said = {}


def _of_communicator(answer):
    name = answer["name"] or "communicator"
    if "remote_size" in answer:
        members = "rank %d of %d, %s on the other side" % (answer["rank"], answer["size"],
                                                           words.count_of(answer["remote_size"], "rank"))
    else:
        members = "rank %d of %d" % (answer["rank"], answer["size"])
    context = ":".join(map(str, answer["context"]))
    return "%s, %s, context id %s%s" % (name, members, context, ", freed" if answer.get("freed") else "")


def _of_request(answer):
    operation = answer["operation"]
    of = words.datatype(operation)
    return "%s%s: %s" % (words.envelope(operation), ", " + of if of else "", words.state(operation))


def _of_datatype(answer):
    datatype = answer["datatype"]
    text = datatype["text"] or words.count_of(datatype["size"], "byte")
    ret = "%s: %s" % (datatype["name"], text) if datatype["name"] and not datatype["predefined"] else (
        datatype["name"] or text)
    return ret if datatype["committed"] else ret + " (not committed)"


def _of_group(answer):
    members = answer["members"]
    here = answer.get("job")
    if any(job != here for job, _ in members):
        return "%d process%s" % (answer["size"], "" if answer["size"] == 1 else "es")
    more = ", …" if len(members) < answer["size"] else ""
    ranks = words.ranges([rank for _, rank in members])
    return "%s%s%s%s" % (words.count_of(answer["size"], "rank"), ": " if ranks else "", ranks, more)


def _of_status(answer):
    parts = ["from %s" % ("any" if answer["source"] < 0 else "rank %d" % answer["source"]),
             words.tag_words(None if answer["tag"] < 0 else answer["tag"])]
    if answer["bytes"] >= 0:
        parts.append(words.count_of(answer["bytes"], "byte"))
    if answer["error"] > 0:
        parts.append("error %d" % answer["error"])
    if answer["cancelled"]:
        parts.append("cancelled")
    return ", ".join(parts)


_TEXTS = {"communicator": _of_communicator, "request": _of_request, "datatype": _of_datatype,
          "group": _of_group, "status": _of_status}


def _ask(inferior, kind, address):
    try:
        answer = question.of_inferior(inferior, {"ask": "handle", "kind": kind, "address": address})
        return answer["fixed"] if "fixed" in answer else _TEXTS[kind](answer)
    except (question.Unanswered, gdb.GdbError, gdb.error, KeyError, TypeError, ValueError):
        return None # it is printed as if nobody had asked


def describe(kind, address):
    """What a handle of the selected inferior stands for, or None."""
    inferior = gdb.selected_inferior()
    if inferiors.kind(inferior) is None or not address:
        return None
    key = (inferior.num, inferior.pid, kind, address, gdb.parameter("mpi dll"), gdb.parameter("mpi mpiq"))
    if key not in _said:
        _said[key] = _ask(inferior, kind, address)
    return _said[key]


def forget(*_):
    """A process has moved, or was written to."""
    _said.clear()


class _Said:
    """A printer of what is known already: gdb may throw the value away before it prints."""

    def __init__(self, text):
        self.text = text

    def to_string(self):
        return self.text


def _address_of(kind, value):
    if kind != "status":
        return int(value)
    return None if value.address is None else int(value.address)


class Printer:
    """gdb's list of printers asks this one about every value that it prints."""

    name = "mpi-handles"
    enabled = True
    subprinters = None

    def __call__(self, value):
        kind = _KINDS.get(value.type.unqualified().name)
        if kind is None or not gdb.parameter("mpi handles") or mpiq.is_running():
            return None
        try:
            address = _address_of(kind, value)
            text = describe(kind, address) if address else None
        except gdb.error: # of a variable that is optimized out, or not readable
            return None
        if text is None:
            return None
        return _Said(text if kind == "status" else "0x%x %s" % (address, text))


def register():
    gdb.pretty_printers.insert(0, Printer())
    for event in ("stop", "cont", "exited", "new_objfile", "inferior_call", "memory_changed",
                  "register_changed", "inferior_deleted"):
        if hasattr(gdb.events, event):
            getattr(gdb.events, event).connect(forget)
