#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""rendered_text.py: fails if code that finds or says something takes a text apart.

Findings, waits and names are data until the last step: what a sentence says stands in a field, so nobody needs to
look into the sentence.  In lib/ no function that searches or scans text is called but where a folder reads what others
write, and none that looks at a part of a text is given a field that holds one for people.

Sentences are lib/words' own: lib/job, which finds what they say, formats no text, and the fields that hold them are
set there alone.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a folder may call, and why: it reads a text that is not ours.  A folder that is not here may call none of them.
READS = {
    "lib/base": ({"sscanf", "strstr"}, "files of /proc"),
    "lib/names": ({"strstr"}, "paths of objects"),
    "lib/process": ({"memmem", "sscanf", "strsep", "strstr"}, "files of /proc, paths, sections of debug information"),
    "lib/rank": ({"sscanf", "strstr"}, "files of /proc, paths, names of functions, options of its programs"),
    "lib/trace": ({"strstr"}, "names of regions in an archive"),
    "lib/hosts": ({"memmem", "sscanf", "strsep", "strstr"}, "launchers' lists and command lines, collectors' streams"),
}

SEARCHES = re.compile(r"\b(strstr|strcasestr|memmem|v?sscanf|strtok(?:_r)?|strsep|regexec|fnmatch|wordexp)\s*\(")
PARTS = re.compile(r"\b(strn(?:case)?cmp|str(?:r?chr|pbrk|c?spn))\s*\([^;]*(?:->|\.)(?:text|note|why)\b")


FORMATS = re.compile(r"\b(mpiq_arena_printf|v?asprintf|f?printf|strcat|WORDS|mpiq_buffer_\w+)\s*\(")
SAYS = re.compile(r"\b(?:finding|evidence|step|note|diagnosis|chain|value)(?:\[\w+\])?(?:->|\.)(text|note|why|value)\s*=[^=]")


def without_comments(text):
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def found(text):
    """Yields (line, function) of each call that is not allowed."""
    text = without_comments(text)
    for pattern in (SEARCHES, PARTS):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def said(folder, text):
    """Yields (line, what) of each sentence that is made outside lib/words."""
    text = without_comments(text)
    for pattern in (FORMATS, SAYS) if folder == "lib/job" else ():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def check_the_check():
    assert [name for _, name in found('if (strstr(finding->text, "x.c:7"))')] == ["strstr"]
    assert [name for _, name in found('strncmp(evidence->note, "which ", 6)')] == ["strncmp"]
    assert [name for _, name in said("lib/job", 'finding->text = mpiq_arena_printf(arena, "%s", who);')] == ["mpiq_arena_printf", "text"]
    assert not list(said("lib/job", 'if (keys[at].text == problem->text)'))
    assert not list(found('/* strstr(text) */ strcmp(call, "MPI_Recv"); mpiq_strstr_like(1);'))


def main():
    check_the_check()
    files = sorted((ROOT / "lib").rglob("*.[ch]"))
    wrong, called = [], {folder: set() for folder in READS}
    for path in files:
        path = path.relative_to(ROOT)
        folder = "/".join(path.parts[:2])
        may = READS.get(folder, (set(), ""))[0]
        wrong += [f"{path}:{line}: a sentence is made by {name}: that is for lib/words"
                  for line, name in said(folder, (ROOT / path).read_text())]
        for line, name in found((ROOT / path).read_text()):
            if name in may:
                called[folder].add(name)
            else:
                wrong.append(f"{path}:{line}: {name}")
    for folder, (may, _) in READS.items():
        wrong += [f"{folder} no longer calls {name}: take it out here" for name in sorted(may - called[folder])]
    print(*wrong or [f"{len(files)} files look into no text of ours"], sep="\n")
    return 1 if wrong or not files else 0


sys.exit(main())
