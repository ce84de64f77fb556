#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/CORPUS.md, docs/CALLS.md and the tables of docs/STOCK.md, made from the recorded answers.

Usage: tests/replay/tables.py REPLAY [--write|--weaker]: says what is not up to date, or writes it.  --weaker: prints
the answers that are not what the case asks for: case, libraries, what is not as asked, and why it is allowed.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "hangs")]

import calls # noqa: E402
import corpus # noqa: E402
import expectations # noqa: E402
import lines # noqa: E402
from support import libraries # noqa: E402

DOCS = HERE.parent.parent / "docs"
BEGIN, END = "<!-- recorded answers: begin -->\n", "<!-- recorded answers: end -->\n"

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Written by ./dev record --answers. -->
# The corpus: what mpiq says about programs that hang, and about programs that do not

Each case is a small MPI program in [tests/hangs](../tests/hangs); the `.toml` file beside it says what mpiq has to
answer. Each was recorded on the libraries below: a snapshot of two looks ([tests/replay/recorded](../tests/replay/recorded))
and the whole answer ([tests/replay/answers](../tests/replay/answers)). `meson test replay` makes all answers again and
compares them to the letter, and holds them against what the cases ask for.

A cell has the verdict. **named**: the first finding has the ranks, the call and every other field that the case asks
for. *weaker*: a weaker answer, which the case's file allows with the reason; the list is at the end. No other answer
passes the tests. On libraries that keep their messages where mpiq cannot read them nothing is proven; how much of the
recorder's answer is said there is told by a word of [CALLS.md](CALLS.md). `-`: not recorded, because the program does not hang there or the library lacks the calls. On a level
that keeps no counts (`layouts`), running numbers are not asked for.

`./dev record CASE` records cases anew, `./dev record --answers` writes the answers and this file.
"""

DIFFERING = """\
## Libraries that differ

The same program has the same first cause on all libraries of which mpiq knows the same: those whose calls are recorded,
by the patch or the recorder, and those that are read by built-in layouts. These are the exceptions, with what most
libraries of the same kind give (*elsewhere*); a test fails if there is one without a reason.

"""
CALLS = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Written by ./dev record --answers. -->
# Without a recorder: what the arguments of waiting calls tell

Of a job that hangs on MPICH, or on Open MPI over UCX or libfabric, no message queue can be read. What a rank waits for
is then read from the arguments of its call, which are still in its caller's registers and frames: a hint, never a
proof. Each hanging program of the corpus ([CORPUS.md](CORPUS.md)) was recorded without the recorder and with it, and
the two first screens are compared, rank by rank, for the ranks that the recorder's first finding is about:

- **equal**: the same calls, and each waits for the same: peer, tag, communicator, collective, and the argument in which
  the members of a collective differ.
- **weaker**: some of that is not said, and the rest is the same.
- **none**: of no such rank it is known which call it is in.
- **wrong**: something else is said. A test fails if there is one.

*Who waits for whom*: calls, peers and collectives are the same; a tag, a communicator without a name, or an argument
may be missing.

"""


def markdown(rows):
    """Rows of text as a Markdown table; the first one is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


class Table:
    """All recorded answers by case and library."""

    def __init__(self, program):
        recorded = expectations.replayed(program)
        self.lines = sorted({one.line for one in recorded})
        self.answers = {(one.name, one.line): one for one in recorded}
        self.source = expectations.sources()
        self.cases = [case for case in corpus.load() if any((case.name, line) in self.answers for line in self.lines)]
        self.grades = calls.grades(recorded, self.cases)
        self.differing = list(lines.rows(recorded, self.cases))

    def is_named(self, case, line):
        return not self.lacks(case, line)

    def cell(self, case, line):
        one = self.answers.get((case.name, line))
        if one is None:
            return "-"
        verdict = one.answer["verdict"]
        if not libraries.proves(line):
            seen = self.grades.get((case.name, line))
            return f"{verdict}, {seen.grade}" if seen else verdict
        if not self.is_named(case, line):
            return f"{verdict}, *weaker*"
        return f"{verdict}, named" if case.firsts else verdict

    def sums(self):
        """A row for each question, a column for each library."""
        def of(line, wanted):
            return [case for case in self.cases if (case.name, line) in self.answers and wanted(case)]

        def verdict(case, line):
            return self.answers[case.name, line].answer["verdict"]

        def named(case, line):
            return self.is_named(case, line)

        questions = [
            ("library", lambda line: self.library(line)),
            ("programs that hang", lambda line: len(of(line, lambda case: case.firsts))),
            ("… answered as asked", lambda line: len(of(line, lambda case: case.firsts and named(case, line)))),
            ("… a weaker answer", lambda line: len(of(line, lambda case: case.firsts and not named(case, line)))),
            ("programs that do not hang", lambda line: len(of(line, lambda case: case.healthy))),
            ("… of them false deadlocks", lambda line: len(of(line, lambda case: case.healthy and verdict(
                case, line) in ("deadlock", "stalled")))),
            ("others (cannot be proven, or end by themselves)",
             lambda line: len(of(line, lambda case: not case.healthy and not case.firsts))),
        ]
        shown = [line for line in self.lines if libraries.proves(line)]
        return markdown([["", *shown]] + [[title, *(str(count(line)) for line in shown)] for title, count in questions])

    def calls(self):
        """How much is said on the libraries that prove nothing: the sums, and what is lacking where."""
        names = [line for line in calls.RECORDERS if line in self.lines]

        def share(line, wanted):
            of = [seen for (_, at), seen in self.grades.items() if at == line]
            count = sum(wanted(seen) for seen in of)
            return f"{count} ({100 * count // max(len(of), 1)} %)"

        sums = [["", *names],
                ["programs that hang", *(str(sum(at == line for _, at in self.grades)) for line in names)]]
        sums += [[grade, *(share(line, lambda seen, grade=grade: seen.grade == grade) for line in names)]
                 for grade in calls.GRADES]
        sums.append(["who waits for whom is equal", *(share(line, calls.says_who_waits) for line in names)])
        rows = [["case", "libraries", "", "not said"]]
        for case in self.cases:
            found = {}
            for line in names:
                seen = self.grades.get((case.name, line))
                if seen and seen.grade != "equal":
                    found.setdefault(seen, []).append(line)
            rows += [[f"{case.family}: {case.name}", ", ".join(of), seen.grade, seen.why] for seen, of in found.items()]
        return f"## Sums\n\n{markdown(sums)}\n## Cases that are not equal\n\n{markdown(rows)}"

    def library(self, line):
        return next(one.answer["job"].get("mpi", "") for (_, of), one in self.answers.items() if of == line)

    def rows(self):
        return markdown([["case", "asked for", *self.lines]] + [
            [f"{case.family}: {case.name}", "/".join(case.verdicts), *(self.cell(case, line) for line in self.lines)]
            for case in self.cases])

    def lacks(self, case, line):
        """What the answer there has otherwise than the case asks for."""
        one = self.answers[case.name, line]
        return corpus.wrong_answer(case.as_asked(one.level), one.answer, self.source.get((line, case.name), {}))

    def weaker(self, wanted=lambda line: True):
        """The weaker answers, what each lacks, and the reasons."""
        found = []
        for case in self.cases:
            for entry in case.get("weaker", []):
                alike = {}
                for line in entry["lines"]:
                    if wanted(line) and (case.name, line) in self.answers and entry.get("ranks", case.ranks) == case.ranks:
                        alike.setdefault(self.lacks(case, line), []).append(line)
                why = entry["why"] + (" **To be mended.**" if entry.get("open") else "")
                found += [[f"{case.family}: {case.name}", ", ".join(named), lacks.replace("|", "/"), why]
                          for lacks, named in alike.items()]
        return markdown([["case", "libraries", "not as asked", "reason"], *found])


def stock(table):
    """STOCK.md with its tables anew."""
    text = (DOCS / "STOCK.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table.lines = [line for line in table.lines if line not in ("4.1", "5.0")]
    made = f"{table.sums()}\n{table.weaker(lambda line: line in table.lines)}"
    return f"{before}{BEGIN}{made}{END}{after}"


def main():
    table = Table(sys.argv[1])
    if "--weaker" in sys.argv[2:]:
        print(table.weaker(), end="")
        return
    made = {"CORPUS.md": f"{INTRODUCTION}\n## Sums\n\n{table.sums()}\n## Cases\n\n{table.rows()}\n"
                         f"## Weaker answers\n\n{table.weaker()}\n{DIFFERING}{markdown(table.differing)}"}
    made["CALLS.md"] = CALLS + table.calls()
    made["STOCK.md"] = stock(table)
    stale = [name for name, text in made.items()
             if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != text]
    for name in stale:
        if "--write" in sys.argv[2:]:
            (DOCS / name).write_text(made[name], encoding="utf-8")
        else:
            print(f"docs/{name} is not what the recorded answers say: ./dev record --answers writes it")
    sys.exit(bool(stale) and "--write" not in sys.argv[2:])


if __name__ == "__main__":
    main()
