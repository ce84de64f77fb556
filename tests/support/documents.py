# SPDX-License-Identifier: BSD-3-Clause
"""What README and docs show: sessions of a shell or of gdb, command by command, and what stands below each."""
import dataclasses
import re

from support.answers import ROOT

PROMPT = re.compile(r"(\$|\(gdb\)) (.*)")
VERDICT = re.compile(r"^(deadlock|stalled|running|unknown|finished): .*\((Open MPI|MPICH) (\d+\.\d+)(?:[^,]*), ?(patched)?", re.M)
CAUSE = re.compile(r"^\d+\. \S.*\n +ranks? \d", re.M)

# What a command prints is no program's own word: how long, which process, which address, which release, which file.
PASSING = [
    (re.compile(r"\b\d+(\.\d+)? (us|ms|s|m|h|d)\b( \d+ (us|ms|s|m|h)\b)*"), "TIME"),
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\b(process|pid) \d+"), r"\1 PID"),
    (re.compile(r"\b(Open MPI|MPICH) \d[\w.]*( in /[^,)]+)?"), r"\1 RELEASE"),
    (re.compile(r"mpiq-\d+\.mpiq"), "mpiq-JOBID.mpiq"),
    (re.compile(r"^#\d+", re.M), "#FRAME"),
    (re.compile(r"\t"), "    "),
    (re.compile(r"(?<=\S) {2,}"), "  "),
]


@dataclasses.dataclass
class Step:
    """A command, and the lines below it."""
    prompt: str
    command: str
    shown: list


@dataclasses.dataclass
class Block:
    """An indented block of a file, with its first line's number."""
    file: str
    number: int
    text: str

    @property
    def steps(self):
        """Its commands; a comment beside a command is left out."""
        found = []
        for line in self.text.splitlines():
            prompt = PROMPT.match(line)
            if prompt:
                found.append(Step(prompt[1], re.sub(r"  +# .*", "", prompt[2]).strip(), []))
            elif found:
                found[-1].shown.append(line)
        return found

    @property
    def is_screen(self):
        return bool(VERDICT.search(self.text) or CAUSE.search(self.text))


def blocks(path):
    """The indented blocks of a document, without their indentation."""
    found, lines = [], []
    text = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate([*text, "end"], 1):
        if line.startswith("    ") or (lines and not line):
            lines.append(line[4:])
        elif lines:
            found.append(Block(path.name, number - len(lines), "\n".join(lines).rstrip()))
            lines = []
    return found


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def timeless(text):
    """The same for each job: without what passes by, and without the widths of columns, which follow from it."""
    for pattern, word in PASSING:
        text = pattern.sub(word, text)
    return [line.rstrip() for line in text.splitlines()]
