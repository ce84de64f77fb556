#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""rendered_text.py: fails if code that finds or says something takes a text apart.

Findings, waits and names are data until the last step: what a sentence says stands in a field, so nobody needs to
look into the sentence.  In these folders no function that searches or scans text is called, and none that looks at
a part of a text is given a field that holds one for people.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("lib/job", "lib/report", "lib/state")

SEARCHES = re.compile(r"\b(strstr|strcasestr|memmem|v?sscanf|strtok(?:_r)?|strsep|regexec|fnmatch|wordexp)\s*\(")
PARTS = re.compile(r"\b(strn(?:case)?cmp|str(?:r?chr|pbrk|c?spn))\s*\([^;]*(?:->|\.)(?:text|note|why)\b")


def without_comments(text):
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def found(text):
    """Yields (line, function) of each call that is not allowed."""
    text = without_comments(text)
    for pattern in (SEARCHES, PARTS):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def check_the_check():
    assert [name for _, name in found('if (strstr(finding->text, "x.c:7"))')] == ["strstr"]
    assert [name for _, name in found('strncmp(evidence->note, "which ", 6)')] == ["strncmp"]
    assert not list(found('/* strstr(text) */ strcmp(call, "MPI_Recv"); mpiq_strstr_like(1);'))


def main():
    check_the_check()
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.[ch]"))]
    wrong = [f"{path.relative_to(ROOT)}:{line}: {name}" for path in files for line, name in found(path.read_text())]
    print(*wrong or [f"{len(files)} files look into no text"], sep="\n")
    return 1 if wrong or not files else 0


sys.exit(main())
