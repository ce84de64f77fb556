#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the recorded answers are what the cases of the corpus ask for: strictly, on every library.

Usage: tests/replay/expectations.py REPLAY [--open]

REPLAY is the program that says what mpiq makes of the recordings.  --open lists the weaker answers that are still to
be mended.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "hangs")]

import calls # noqa: E402
import corpus # noqa: E402
import lines # noqa: E402
import packs # noqa: E402


# The libraries that a case is recorded on wherever it is; those of the roots are recorded where a root has been made.
EVERYWHERE = ("4.1", "5.0", "4.1-debian", "openmpi+record", "mpich", "mpich+record")


class Recorded:
    """What mpiq says about one recording."""

    def __init__(self, text):
        self.line, self.name, self.date, self.commit, answer = text.split(" ", 4)
        self.line = self.line.replace("_", ":")
        self.answer = json.loads(answer)

    @property
    def level(self):
        return corpus.level_of(self.line, self.answer)


def replayed(program, recorded=packs.RECORDED, line=None):
    """Every recorded answer, or those of one library."""
    words = [program, "--json", recorded] + ([line.replace(":", "_")] if line else [])
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, errors="surrogateescape")
    return [Recorded(text) for text in done.stdout.splitlines()]


def sources(recorded=packs.RECORDED):
    """The source lines as they were when recorded: {(library, case): {"file.c:12": text}}."""
    found = {}
    for path in sorted(recorded.glob("*/*.zst")):
        for name, text in packs.read(path).items():
            found[path.parent.name.replace("_", ":"), name] = dict(
                line.split(" ", 2)[1:] for line in text.splitlines()
                if line.startswith("source ") and line.count(" ") > 1)
    return found


def wrong(case, recorded, source):
    """Why a recorded answer is not what the case asks for on that library, or ""."""
    return corpus.wrong_answer(case.at(recorded.line, recorded.level), recorded.answer, source)


def complaints(program, recorded=packs.RECORDED):
    """What is wrong with the recorded answers, and with what the cases allow."""
    cases = {case.name: case for case in corpus.load()}
    source = sources(recorded)
    answers = replayed(program, recorded)
    yield from calls.complaints(answers, cases.values())
    yield from lines.complaints(answers, cases.values())
    for one in answers:
        case = cases.get(one.name)
        if not case:
            yield f"{one.line} {one.name}: recorded, but no case any more"
            continue
        if not case.on_line(one.line):
            yield f"{one.line} {one.name}: recorded, but the case is not for that library"
        reason = wrong(case, one, source.get((one.line, one.name), {}))
        weaker = case.weaker(one.line)
        if reason:
            yield f"{one.line} {case.family}: {one.name}: {reason}{' (weaker)' if weaker else ''}"
        if weaker:
            if not corpus.wrong_answer(case.as_asked(one.level), one.answer, source.get((one.line, one.name), {})):
                yield f"{one.line} {case.family}: {one.name}: is what the case asks for: its weaker answer can go"
    yield from unrecorded(answers, cases.values())
    for case in cases.values():
        for entry in case.get("weaker", []):
            if not entry.get("why"):
                yield f"{case.family}: {case.program}: a weaker answer without a reason"


def unrecorded(answers, cases):
    """The cases that a library has no recording of without a reason, and the reasons without such a case."""
    recorded = {(one.line, one.name) for one in answers}
    for case in cases:
        excused = {line for entry in case.get("unrecorded", []) if entry.get("why") for line in entry["lines"]}
        for line in EVERYWHERE if not case.two_hosts else ():
            there = (line, case.name) in recorded
            if case.on_line(line) and not there and line not in excused:
                yield f"{line} {case.family}: {case.name}: not recorded"
            elif there and line in excused:
                yield f"{line} {case.family}: {case.name}: recorded: its `unrecorded` can go"


def still_open():
    """The weaker answers that are to be mended."""
    for case in corpus.load():
        for entry in case.get("weaker", []):
            if entry.get("open") and not case.two_hosts and entry.get("ranks", case.ranks) == case.ranks:
                yield f"{', '.join(entry['lines'])} | {case.family}: {case.name} | {entry['why']}"


def main():
    found = list(still_open() if "--open" in sys.argv[2:] else complaints(sys.argv[1]))
    print("\n".join(found))
    print(f"{len(found)} {'answers to be mended' if '--open' in sys.argv[2:] else 'complaints'}")
    sys.exit(bool(found) and "--open" not in sys.argv[2:])


if __name__ == "__main__":
    main()
