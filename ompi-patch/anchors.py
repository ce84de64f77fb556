# SPDX-License-Identifier: BSD-3-Clause
"""Puts a hook into a release's file: where it was made for, or where what it needs stands.

A hook is a unified diff.  Where all its context is found in the function that the hunk names, or in the one behind
it, that place is meant.  Where it is not, lines of context are left out from the outside in, until what is left stands
in one place only of these two, or else of the file.  One line with a name in it must stay, or a line that the hook
takes away; how lines are indented no longer matters then.  So an #include that came or went beside it does not refuse
a release, and what a hook changes is never guessed.

`…` in an old line stands for any text, and in the new lines for that text, in the order of the old ones.

Hunks that follow each other with `| or` behind their second @@ are ways to say the same for different releases: the
first that fits is taken.
"""

import re

INCLUDE = re.compile(r'\s*#\s*include\s+["<]')


class Misplaced(Exception):
    """A hunk fits nowhere, or in more than one place."""


class Hunk:
    """One hunk: lines as (sign, text), the line it was made for, the function it names."""

    def __init__(self, head, lines):
        match = re.match(r"@@ -(\d+)\S* \+\d+\S* @@ ?(.*)", head)
        self.start = int(match[1])
        self.is_alternative = match[2].startswith("| or")
        self.section = match[2].removeprefix("| or").strip()
        self.lines = [(line[:1] or " ", line[1:]) for line in lines]

    def old(self):
        return [text for sign, text in self.lines if sign != "+"]

    def context(self):
        """How many lines of context it begins and ends with."""
        signs = "".join(sign for sign, _ in self.lines)
        return len(signs) - len(signs.lstrip(" ")), len(signs) - len(signs.rstrip(" "))

    def only_includes(self):
        changed = [text for sign, text in self.lines if sign != " "]
        return all(sign != "-" for sign, _ in self.lines) and all(INCLUDE.match(text) for text in changed)

    def without(self, before, after):
        """The lines with that many fewer of context at both ends."""
        return self.lines[before : len(self.lines) - after]


def hunks_of(patch):
    """(path, hunks) of each file of a patch."""
    for part in re.split(r"^(?=--- a/)", patch, flags=re.MULTILINE)[1:]:
        head, *hunks = re.split(r"^(?=@@ )", part, flags=re.MULTILINE)
        path = re.search(r"^\+\+\+ b/(\S+)", head, re.MULTILINE)[1]
        yield path, [Hunk(text.splitlines()[0], text.splitlines()[1:]) for text in hunks]


def stands(wanted, line):
    """Whether an old line of a hunk is this line: the texts that `…` stands for, or None."""
    if "…" not in wanted:
        return [] if wanted == line else None
    match = re.fullmatch("(.*)".join(map(re.escape, wanted.split("…"))), line)
    return match and list(match.groups())


def places(file, wanted, first, last, indented=True):
    """Every index between first and last at which the wanted lines stand."""
    if not indented:
        file, wanted = [line.strip() for line in file], [line.strip() for line in wanted]
    return [at for at in range(first, last - len(wanted) + 1)
            if all(stands(text, line) is not None for text, line in zip(wanted, file[at:]))]


def edited(file, at, lines):
    """The new lines of a hunk that stands at an index, and how many old ones they replace."""
    new, texts, old = [], [], at
    for sign, text in lines:
        if sign == "+":
            parts = text.split("…")
            new.append(parts[0] + "".join(texts.pop(0) + part for part in parts[1:]))
        else:
            if sign == "-":
                texts += stands(text.strip(), file[old].strip())
            else:
                new.append(file[old])
            old += 1
    return new, old - at


def sections_of(file, name):
    """(first, last) line of the function or structure that a hunk names; and with the next one, before which a hunk may
    begin.  None if there are several of that name."""
    heads = [at for at, line in enumerate(file) if name and line.startswith(name)]
    if len(heads) != 1:
        return []
    ends = [at + 1 for at in range(heads[0] + 1, len(file)) if file[at].startswith("}")] + 2 * [len(file)]
    return [(heads[0], ends[0]), (heads[0], ends[1])]


def holds(lines):
    """Whether these lines of a hunk are enough to find a place by."""
    return any(sign == "-" or sign == " " and re.search(r"\w{2}", text) for sign, text in lines)


def behind_includes(file, hunk):
    """The hunk's new lines behind the last #include that is in no #if but the header's own guard."""
    depth, last = 0, None
    guard = any(re.match(r"#\s*ifndef\s+\w+_H(AS_BEEN_INCLUDED)?_?\b", line) for line in file)
    for at, line in enumerate(file):
        depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
        if INCLUDE.match(line) and depth <= guard:
            last = at
        if re.match(r"[{}]", line):
            break
    if last is None:
        raise Misplaced("no #include to stand behind")
    return last + 1, [line for line in hunk.lines if line[0] == "+"]


def reduced(file, hunk, regions):
    """(index, lines) of the place that a hunk has in one of the regions by part of its context, or None."""
    before, after = hunk.context()
    for left_out in range(1, before + after + 1):
        fits = {}
        for top in range(max(0, left_out - after), min(before, left_out) + 1):
            lines = hunk.without(top, left_out - top)
            if not holds(lines):
                continue
            old = [text for sign, text in lines if sign != "+"]
            found = next((found for first, last in regions
                          if (found := places(file, old, first, last, indented=False))), [])
            if len(found) == 1:
                changed = found[0] + next(n for n, (sign, _) in enumerate(lines) if sign != " ")
                fits.setdefault(changed, (found[0], lines))
        # An #include is as good in one place as in the other.
        if len(fits) > 1 and not hunk.only_includes():
            raise Misplaced("its context stands in more than one place")
        if fits:
            return fits[min(fits)]
    return None


def place(file, hunk, expected):
    """(index, lines, whole): where a hunk goes, with the context that is left of it; whether that is all of it."""
    sections, everywhere = sections_of(file, hunk.section), [(0, len(file))]
    for regions in (sections, everywhere):
        for first, last in regions:
            if found := places(file, hunk.old(), first, last):
                return min(found, key=lambda at: abs(at - expected)), hunk.lines, True
        if found := reduced(file, hunk, regions):
            return (*found, False)
    if hunk.only_includes():
        return (*behind_includes(file, hunk), False)
    raise Misplaced("what it needs is not there")


def apply(text, hunks):
    """(text with the hunks in it, numbers of those that went in by part of their context)"""
    ends = text.endswith("\n")
    file, offset, moved = text.splitlines(), 0, []
    groups = []
    for number, hunk in enumerate(hunks, 1):
        if hunk.is_alternative:
            groups[-1].append((number, hunk))
        else:
            groups.append([(number, hunk)])
    for group in groups:
        for number, hunk in group:
            try:
                at, lines, whole = place(file, hunk, hunk.start - 1 + offset)
            except Misplaced as problem:
                if number == group[-1][0]:
                    raise Misplaced(f"hunk {number}: {problem}") from None
                continue
            new, old = edited(file, at, lines)
            file[at : at + old] = new
            if whole:
                offset = at - (hunk.start - 1) + len(new) - old
            else:
                moved.append(number)
            break
    return "\n".join(file) + ("\n" if ends else ""), moved
