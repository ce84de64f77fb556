# SPDX-License-Identifier: BSD-3-Clause
"""Operations and groups in words."""

_KINDS = {"send": "send", "bsend": "buffered send", "ssend": "synchronous send", "rsend": "ready send",
          "receive": "receive", "probe": "probe", "message": "message", "collective": "non-blocking collective",
          "other": "request", "psend": "partitioned send", "precv": "partitioned receive"}
_FROM = ("receive", "probe", "message", "precv")


def count_of(number, word):
    """"1 byte", "2 bytes"."""
    return "%d %s%s" % (number, word, "" if number == 1 else "s")


def tag_words(tag):
    """"tag 99"; "any tag" of None."""
    return "any tag" if tag is None else "tag %d" % tag


def datatype(operation):
    """"6 MPI_DOUBLE"; "" where it has none."""
    if not operation.get("datatype") or operation.get("count", -1) < 0:
        return ""
    return "%d %s" % (operation["count"], operation.get("datatype_name") or "of an unnamed datatype")


def envelope(operation):
    """"receive from rank 1, tag 10, MPI_COMM_WORLD": who, as ranks of the communicator."""
    kind = operation.get("kind", "other")
    if kind in ("collective", "other"):
        return operation.get("collective") or _KINDS[kind]
    peer = operation.get("peer_local", -1)
    tag = operation.get("tag")
    # Of a persistent request that was not started, the actual ones are left over from its last use.
    if not operation.get("inactive"):
        tag = operation.get("actual_tag", tag)
        if "actual_local" in operation and kind in _FROM:
            peer = operation["actual_local"]
    parts = ["%s%s %s %s" % ("persistent " if operation.get("persistent") else "", _KINDS.get(kind, kind),
                             "from" if kind in _FROM else "to", "any rank" if peer < 0 else "rank %d" % peer),
             tag_words(tag)]
    if operation.get("communicator"):
        parts.append(operation["communicator"])
    return ", ".join(parts)


def state(operation):
    """"pending", "complete", "not started"."""
    words = [name for flag, name in (("inactive", "not started"), ("cancelled", "cancelled"))
             if operation.get(flag)]
    if not operation.get("inactive"):
        words.insert(0, operation["status"])
    if operation.get("freed"):
        words.append("freed by the program")
    return ", ".join(words)


def ranges(numbers):
    """"0-3,7", in the order given."""
    ret = []
    for number in numbers:
        if ret and number == ret[-1][1] + 1:
            ret[-1][1] = number
        else:
            ret.append([number, number])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in ret)
