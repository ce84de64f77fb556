# SPDX-License-Identifier: BSD-3-Clause
"""What of the patch belongs to which step of the series, for `generate --series`, and to which release line.

Every step holds all that the steps before it hold.  Three things tell where something belongs:

- a new file: FILES, by its name.  An #include of a file that comes later is left out;
- a part of a new file: a line `/* series: STEP */` before it and `/* series: end */` behind it, which nest and
  are in no patch;
- a hook: HOOKS, by its file; single lines and hunks of it: LINES, by what they add.

What a new file has for the lines in TEMPLATES alone stands between `#if OMPI_MQS_TEMPLATES` and `#endif
/* OMPI_MQS_TEMPLATES */`, perhaps with an `#else /* !OMPI_MQS_TEMPLATES */`: a patch has one of the two and no #if.
"""

import re

# name: subject of its commit
STEPS = {
    "locations": "debuggers: fill mpimsgq_dll_locations, at every start",
    "layout": "debuggers: tables of structure layouts, behind one exported symbol",
    "calls": "debuggers: count and remember collective calls",
    "waits": "debuggers: say what each thread waits for, and the state of windows",
}
ORDER = list(STEPS)

FILES = (
    ("layout", r"layout.*|library.*|thread.*|ompi_mqs"),
    ("calls", r"call.*|fortran|record.*|request.*"),
    ("waits", r"wait.*|window.*"),
)

HOOKS = {"debuggers": "locations", "layout": "layout", "datatype": "layout", "runtime": "layout", "ob1": "waits",
         "ucx": "waits", "waits": "waits", "window": "waits", "callback": "calls", "communicator": "calls",
         "libnbc": "calls", "persistent": "calls", "request": "calls"}

LINES = (
    ("layout", r"mqs/layout_"),
    ("waits", r"_WAIT|_completion_as\b|mqs/(wait|window)\.h|progress_(starts|ends)"),
    ("calls", r"OMPI_MQS_ENTER|mqs/call\.h"),
)

# Until the header that a file includes is there, it includes another one.
INSTEAD = {("ompi/request/request.h", "ompi/mqs/wait.h"): ("calls", "ompi/mqs/thread.h")}

# New files that only some release lines have.
ONLY = {"layout_part": ("5.0", "6.0", "6.1")}

# Lines whose MPI functions are templates, of which one makes several functions, in other libraries than the rest.
TEMPLATES = ("6.0", "6.1")

INCLUDE = re.compile(r'#include "ompi/mqs/(\w+)\.h"')


def reached(step, until):
    """Whether a step is among those up to another one."""
    return ORDER.index(step) <= ORDER.index(until)


def has_file(stem, release_line):
    """Whether a release line has a new file, by its name without the ending."""
    return release_line in ONLY.get(stem, (release_line,))


def step_of_file(stem):
    """The step that brings a new file, by its name without the ending."""
    return next(step for step, pattern in FILES if re.fullmatch(pattern, stem))


def resolved(text, release_line):
    """A new file with what it has for a release line."""
    kept, taken = [], True
    for line in text.splitlines(keepends=True):
        if line == "#if OMPI_MQS_TEMPLATES\n":
            taken = release_line in TEMPLATES
        elif line == "#else /* !OMPI_MQS_TEMPLATES */\n":
            taken = not taken
        elif line == "#endif /* OMPI_MQS_TEMPLATES */\n":
            taken = True
        elif taken:
            kept.append(line)
    return "".join(kept)


def source(text, until, release_line):
    """A new file as it is after a step, for a release line."""
    kept, stack = [], []
    for line in resolved(text, release_line).splitlines(keepends=True):
        if mark := re.match(r"/\* series: (\w+) \*/$", line):
            if mark[1] == "end":
                stack.pop()
            else:
                stack.append(mark[1])
        elif all(reached(step, until) for step in stack):
            include = INCLUDE.match(line)
            if not include or reached(step_of_file(include[1]), until):
                kept.append(line)
    if stack:
        raise ValueError(f"series: {stack[-1]} does not end")
    return "".join(kept)


def step_of_line(text, default):
    return next((step for step, pattern in LINES if re.search(pattern, text)), default)


def statements(lines):
    """Groups of added lines that stand or fall together: those until all parentheses are closed, or an #if
    block."""
    group, depth = [], 0
    for line in lines:
        group.append(line)
        depth += line.count("(") - line.count(")")
        depth += bool(re.match(r"\+\s*#\s*if", line)) - bool(re.match(r"\+\s*#\s*endif", line))
        if depth == 0:
            yield group
            group = []
    if group:
        yield group


def hunk(path, lines, default, until):
    """The lines of a hunk as far as they belong to the steps up to one; [] if it adds nothing."""
    added = [line for line in lines if line.startswith("+")]
    if any(line.startswith("-") for line in lines) or not added:
        steps = [step_of_line(line, default) for line in added]
        return lines if reached(max(steps, key=ORDER.index, default=default), until) else []
    kept = []
    for line in lines:
        if line.startswith("+") and (include := INCLUDE.search(line)):
            since, header = INSTEAD.get((path, f"ompi/mqs/{include[1]}.h"), (None, None))
            if since and reached(since, until) and not reached(step_of_file(include[1]), until):
                line = f'+#include "{header}"\n'
        kept.append(line)
    dropped = set()
    at = 0
    while at < len(kept):
        end = at
        while end < len(kept) and kept[end].startswith("+"):
            end += 1
        for group in statements(kept[at:end]):
            steps = [step_of_line(line, default) for line in group]
            if not reached(max(steps, key=ORDER.index), until):
                dropped.update(range(at, at + len(group)))
            at += len(group)
        at = max(at, end) + 1
    kept = [line for number, line in enumerate(kept) if number not in dropped]
    return kept if any(line.startswith("+") and line.strip() != "+" for line in kept) else []


def hook(name, text, until):
    """A hook's patch as far as it belongs to the steps up to one; "" if nothing does."""
    default, made = HOOKS[name], []
    for part in re.split(r"^(?=--- a/)", text, flags=re.MULTILINE)[1:]:
        head, *hunks = re.split(r"^(?=@@ )", part, flags=re.MULTILINE)
        path = re.search(r"^\+\+\+ b/(\S+)", head, re.MULTILINE)[1]
        kept = []
        for given in hunks:
            first, *lines = given.splitlines(keepends=True)
            lines = hunk(path, lines, default, until)
            if lines:
                at = re.match(r"@@ -(\d+)\S* \+(\d+)\S* @@(.*)", first)
                old = sum(not line.startswith("+") for line in lines)
                new = sum(not line.startswith("-") for line in lines)
                kept.append(f"@@ -{at[1]},{old} +{at[2]},{new} @@{at[3]}\n" + "".join(lines))
        if kept:
            made.append(head + "".join(kept))
    return "".join(made)


def entry(statement, until):
    """An entry point's statement after a step; "" if there is none yet."""
    if not reached("calls", until):
        return ""
    if reached("waits", until):
        return statement
    kept = re.match(r"OMPI_MQS_ENTER\w*\((?:[^()]|\([^()]*\))*\)", statement)
    return re.sub(r"_ON\((\w+), OMPI_MQS_COMM_OF_WINDOW\(.*\)\)", r"(\1)", kept[0]) if kept else ""
