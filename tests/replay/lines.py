# SPDX-License-Identifier: BSD-3-Clause
"""The same program has the same first cause on all libraries of which the same facts are known: where it has not, its
case says why, by the reason of a weaker answer there or by an entry `differs`."""
import collections
import re

# Libraries that know the same: those whose calls are recorded, by the patch or the recorder, and those that are read by
# built-in layouts.  Of the others CALLS.md tells.
GROUPS = {"calls recorded": ("patched", "recorder"), "layouts": ("layouts",)}
FIELDS = ("kind", "collective", "communicator", "ranks", "missing", "suspects", "field")
# Communicators that the program gave no name: the library did, or mpiq.
UNNAMED = re.compile(r"MPI COMM(UNICATOR)? \d+ .*|communicator [0-9a-f]+|MPI_COMM_PARENT|MPI_COMM_SELF")

# One case on libraries that know the same: the first cause of most of them, and {library: (its own, why)} of the others.
Difference = collections.namedtuple("Difference", "case group usual others")


def first_cause(answer):
    """Verdict and first finding as far as they are the program's and not the library's."""
    first = (answer["findings"] or [{}])[0]
    fields = [first.get(field) for field in FIELDS]
    return (answer["verdict"], *("" if UNNAMED.fullmatch(str(value)) else value for value in fields))


def reason(case, line):
    """Why the case may have another first cause on that library; None: it may not."""
    entry = case.weaker(line) or next((one for one in case.get("differs", []) if line in one["lines"]), None)
    return entry and entry["why"]


def differences(recorded, cases):
    """All differences in order; recorded: all recorded answers."""
    answers = collections.defaultdict(dict)
    for one in recorded:
        for group, levels in GROUPS.items():
            if one.level in levels:
                answers[one.name, group][one.line] = first_cause(one.answer)
    for case in cases:
        for group in GROUPS:
            by_line = answers.get((case.name, group), {}) if case.firsts else {}
            if len(set(by_line.values())) > 1:
                plain = {line: cause for line, cause in by_line.items() if not reason(case, line)} or by_line
                usual = collections.Counter(plain.values()).most_common(1)[0][0]
                yield Difference(case, group, usual, {line: (cause, reason(case, line))
                                                      for line, cause in by_line.items() if cause != usual})


def complaints(recorded, cases):
    """The differences without a reason, and the reasons without a difference."""
    explained = set()
    for found in differences(recorded, cases):
        for line, (cause, why) in found.others.items():
            explained.add((found.case.name, line))
            if not why:
                yield f"{line} {found.case.family}: {found.case.name}: {words(cause)}; others that know as much: {words(found.usual)}"
    for case in cases:
        for line in (line for entry in case.get("differs", []) for line in entry["lines"]):
            if (case.name, line) not in explained and not case.two_hosts:
                yield f"{line} {case.family}: {case.name}: does not differ: its entry can go"


def words(cause):
    """A first cause in a few words."""
    verdict, kind, collective, communicator, ranks, missing, suspects, field = cause
    parts = [kind or "no finding", collective, f"on {communicator}" if communicator else "",
             f"ranks {ranks}" if ranks else "", f"missing {missing}" if missing else "",
             f"suspect {suspects}" if suspects and suspects != missing else "", field or ""]
    return f"{verdict}: {' '.join(filter(None, parts))}"


def rows(recorded, cases):
    """The differences as rows of a table."""
    yield ["case", "libraries", "there", "elsewhere", "reason"]
    for found in differences(recorded, cases):
        alike = {}
        for line, how in found.others.items():
            alike.setdefault(how, []).append(line)
        for (cause, why), lines in alike.items():
            yield [f"{found.case.family}: {found.case.name}", ", ".join(lines), words(cause), words(found.usual), why or ""]
