# SPDX-License-Identifier: BSD-3-Clause
"""The results of the corpus as Markdown: a row for each case, a column for each line, and the sums.

A result is kept as a plain dictionary (as_row), so that runs of single lines can be put together in one table.
tests/hangs/table.py RESULTS [LINE...] prints the sums, and the cases that differ from what a patched library gives.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent)) # as pytest.ini has it

from support import libraries # noqa: E402

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Written by tests/hangs: see below. -->
# The corpus: what mpiq says about programs that hang, and about programs that do not

Each case is a small MPI program in [tests/hangs](../tests/hangs), started by mpirun and looked at while it runs. A
`.toml` file beside it says what mpiq has to report. `@two_hosts`: with its ranks on two emulated hosts.

A cell has the verdict. **named** means that the first finding names the ranks and the call at fault, as expected;
otherwise the cell says what is missing. `4.1-stock` and `5.0-stock` are builds with `-g` and without the patch: what is
*not kept* there (running numbers, names of non-blocking collectives, waiting times) and so cannot be reported is given
in brackets. A verdict may be weaker there (`running` or `unknown` instead of `deadlock`), never stronger. The library
stamps a wait only after it has polled some thousand times, so on a busy machine the waiting time may be missing even
with the patch.

To regenerate this file, with prefixes as in `./dev test --all` (`MPIQ_OMPI_41`, `MPIQ_OMPI_50`, `…_STOCK`, `MPIQ`):

    tests/hangs/run --part full --results results.json --table docs/CORPUS.md

It can be done line by line: results are added to `results.json`. `./dev test --all` runs the whole corpus with 2 looks instead
of 50 at each program that does not hang, and prints the tables; the number of looks below shows which run this is.
"""


def as_row(result):
    """One result as plain data."""
    case = result.case
    return {"line": result.line.name, "family": case.family, "name": case.name, "expected": case.verdicts,
            "verdict": result.verdict, "looks": result.looks, "healthy": case.healthy, "hangs": bool(case.firsts),
            "wrong_verdict": bool(result.wrong_verdict), "named": bool(case.firsts) and not result.wrong_first,
            "lost": list(result.lost), "later": result.later, "trouble": bool(result.trouble),
            "why": result.trouble or result.wrong_verdict or result.wrong_first}


def kept(path):
    """The rows that a file keeps, of earlier runs."""
    file = pathlib.Path(path)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def merged(results, path):
    """Brings a file of rows up to date with these results."""
    rows = {(row["line"], row["name"]): row for row in kept(path)}
    rows.update({(result.line.name, result.case.name): as_row(result) for result in results})
    part = pathlib.Path(f"{path}.part") # a run that is ended just now leaves the earlier results
    part.write_text(json.dumps(list(rows.values()), indent=1), encoding="utf-8")
    part.replace(path)


def markdown(rows):
    """Rows of text as a Markdown table; the first one is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def line_names(rows):
    present = dict.fromkeys(row["line"] for row in rows)
    return [name for name in libraries.PREFIX_VARIABLES if name in present] + [
        name for name in present if name not in libraries.PREFIX_VARIABLES]


def cases(rows):
    """A row for each case."""
    names = line_names(rows)
    by_case = {}
    for row in rows:
        by_case.setdefault((row["family"], row["name"], "/".join(row["expected"])), {})[row["line"]] = row
    return markdown([["case", "expected"] + names] +
                    [[f"{family}: {name}", expected] + [cell(by_line.get(line)) for line in names]
                     for (family, name, expected), by_line in by_case.items()])


def cell(row):
    """One result in a few words."""
    if row is None:
        return "-"
    if row["trouble"]:
        return "did not run"
    text = (row["verdict"] or "no answer") + (" WRONG" if row["wrong_verdict"] else "")
    if row["hangs"]:
        lost = [word for word in row["lost"] if row["line"] not in ("4.1", "5.0") or word != "time"]
        text += ", named" if row["named"] else ", not named"
        text += f" [no {', '.join(lost)}]" if lost else ""
    if row["healthy"]:
        text += f" ({row['looks']} looks)"
    return text


SUMS = [
    ("programs that hang", lambda rows: len(hung(rows))),
    ("… verdict as with the patch", lambda rows: sum(row["verdict"] in row["expected"] for row in hung(rows))),
    ("… first finding names ranks and call", lambda rows: sum(row["named"] for row in hung(rows))),
    ("… with a waiting time", lambda rows: sum("time" not in row["lost"] for row in hung(rows))),
    ("… with all else that is expected", lambda rows: sum(not set(row["lost"]) - {"time"} for row in hung(rows))),
    ("programs that do not hang", lambda rows: sum(row["healthy"] for row in rows)),
    ("… looks at them", lambda rows: sum(row["looks"] for row in rows if row["healthy"])),
    ("… of them false deadlocks", lambda rows: sum(row["verdict"] == "deadlock" for row in rows if row["healthy"])),
    ("others (cannot be proven, or end by themselves)",
     lambda rows: sum(not row["healthy"] and not row["hangs"] for row in rows)),
    ("wrong verdicts", lambda rows: sum(row["wrong_verdict"] for row in rows)),
    ("did not run", lambda rows: sum(row["trouble"] for row in rows)),
]


def hung(rows):
    return [row for row in rows if row["hangs"]]


def sums(rows):
    """A row for each question, a column for each line."""
    names = line_names(rows)
    by_line = [[row for row in rows if row["line"] == name] for name in names]
    return markdown([[""] + names] + [[title] + [str(count(of_line)) for of_line in by_line] for title, count in SUMS])


def document(rows):
    return f"{INTRODUCTION}\n## Sums\n\n{sums(rows)}\n\n## Cases\n\n{cases(rows)}\n"


def differs(row):
    """Whether a line's answer is not the one that the corpus expects of a patched library."""
    return row["trouble"] or row["wrong_verdict"] or row["hangs"] and not (
        row["named"] and row["verdict"] in row["expected"])


def difference(row):
    """Of one that differs: what it lacks."""
    if row is None:
        return "not run"
    if not differs(row):
        return "same"
    if row["trouble"]:
        return "ends" if "came out" in row.get("why", "") else "did not run"
    later = row.get("later")
    return (row["verdict"] or "no answer") + (f", then {later}" if later and later != row["verdict"] else "") + (
        "" if row["named"] else ", other first")


def differences(rows):
    """A row for each case that some line answers in another way, a column for each line."""
    names = line_names(rows)
    by_case = {}
    for row in rows:
        by_case.setdefault(row["name"], {})[row["line"]] = row
    return markdown([["case", "expected"] + names] + [
        [name, "/".join(next(iter(found.values()))["expected"])] + [difference(found.get(line)) for line in names]
        for name, found in by_case.items() if any(map(differs, found.values()))])


if __name__ == "__main__":
    chosen = [row for row in kept(sys.argv[1]) if not sys.argv[2:] or row["line"] in sys.argv[2:]]
    print(f"{sums(chosen)}\n\n{differences(chosen)}")
